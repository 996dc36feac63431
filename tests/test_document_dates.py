"""Which day a document says of itself, and where; what is no plausible day is not taken."""

import zipfile
from pathlib import Path

import pymupdf
import pytest

from ingest.document_dates import UNDATED, file_date, pdf_date, stated_date
from ingest.kinds import Kind

XMP = '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:Description {}/></x:xmpmeta>'
PDFS = {
    "created": ({"creationDate": "D:20240131235959-08'00'", "modDate": "D:20250101"}, "", ("2024-01-31", "created")),
    "only modified": ({"modDate": "D:202403"}, "", ("2024-03-01", "modified")),
    "a clock never set": ({"creationDate": "D:19700101", "modDate": "D:20230505"}, "", ("2023-05-05", "modified")),
    "no date": ({"creationDate": "yesterday"}, "", UNDATED),
    "a day that is none": ({"creationDate": "D:20241399"}, "", UNDATED),
    "only in XMP": ({}, 'xmp:ModifyDate="2022-01-02" xmp:CreateDate="2021-12-31T10:00:00Z"', ("2021-12-31", "created")),
}


@pytest.mark.parametrize(("fields", "xmp", "expected"), PDFS.values(), ids=PDFS)
def test_a_pdf_is_dated_by_its_fields_and_then_its_xmp(
    fields: dict[str, str], xmp: str, expected: tuple[str, str], tmp_path: Path
) -> None:
    """The day is the one that is written, whatever the zone of its clock."""
    with pymupdf.open() as document:
        document.new_page()
        document.set_metadata(fields)
        if xmp:
            document.set_xml_metadata(XMP.format(xmp))
        document.save(tmp_path / "a.pdf")
    with pymupdf.open(tmp_path / "a.pdf") as document:
        assert pdf_date(document) == expected


def test_damaged_xmp_states_no_date() -> None:
    """The document is read all the same."""
    with pymupdf.open() as document:
        page = document.new_page()
        document.xref_set_key(document.pdf_catalog(), "Metadata", f"{page.xref} 0 R")  # no stream
        written = document.tobytes()
    with pymupdf.open(stream=written, filetype="pdf") as document:
        assert pdf_date(document) == UNDATED


TEXTS: dict[str, tuple[Kind, str, tuple[str, str]]] = {
    "e-mail": ("email", "Date: Fri, 1 Mar 2024 23:30:00 -0800\nSubject: x\n\nBody", ("2024-03-01", "sent")),
    "e-mail without": ("email", "Subject: x\n\nDate: Fri, 1 Mar 2024", UNDATED),
    "e-mail, nonsense": ("email", "Date: soon\n\nBody", UNDATED),
    "meta property": (
        "html",
        "<html><head><meta content='2023-07-04T08:00' property='article:published_time'></head>",
        ("2023-07-04", "published"),
    ),
    "meta, Chinese": ("html", '<meta name="Date" content="2023年7月4日">', ("2023-07-04", "published")),
    "meta modified": ("html", '<META NAME="last-modified" CONTENT="2023-07-04">', ("2023-07-04", "modified")),
    "meta, a figure": ("html", '<meta name="date" content="2023-07-045">', UNDATED),
    "body text": ("html", "<p>date: 2023-07-04</p>", UNDATED),
    "front matter": ("markdown", '---\r\ntitle: x\r\ndate: "2024-02-29"\r\n---\r\n# x', ("2024-02-29", "published")),
    "TOML front matter": ("markdown", "+++\ndate = 2024-02-29T10:00:00Z\n+++\n", ("2024-02-29", "published")),
    "a rule is no front matter": ("markdown", "# x\n\n---\ndate: 2024-02-29\n---\n", UNDATED),
    "plain text": ("text", "Date: 2024-02-29", UNDATED),
}


@pytest.mark.parametrize(("kind", "text", "expected"), TEXTS.values(), ids=TEXTS)
def test_texts_are_dated_by_what_they_state_for_machines(
    kind: Kind, text: str, expected: tuple[str, str], tmp_path: Path
) -> None:
    """Headers, meta elements and front matter; a date in the text itself may be any day."""
    path = tmp_path / "file"
    path.write_bytes(text.encode())
    assert stated_date(path, kind) == expected


CORE = '<cp:coreProperties><dcterms:created xsi:type="dcterms:W3CDTF">2020-01-01T00:00:00Z</dcterms:created>{}</cp:c>'
ARCHIVES: dict[str, tuple[Kind, str, str, tuple[str, str]]] = {
    "changed": (
        "docx",
        "docProps/core.xml",
        CORE.format("<dcterms:modified>2024-05-06T07:08:09Z</dcterms:modified>"),
        ("2024-05-06", "modified"),
    ),
    "made": ("xlsx", "docProps/core.xml", CORE.format(""), ("2020-01-01", "created")),
    "without": ("pptx", "other.xml", CORE.format(""), UNDATED),
    "open document": ("opendocument", "meta.xml", "<dc:date>2024-05-06T07:08</dc:date>", ("2024-05-06", "modified")),
    "book": ("epub", "OEBPS/content.opf", "<dc:date>2019-09-09</dc:date>", ("2019-09-09", "published")),
}


@pytest.mark.parametrize(("kind", "part", "text", "expected"), ARCHIVES.values(), ids=ARCHIVES)
def test_office_files_and_books_are_dated_by_their_properties(
    kind: Kind, part: str, text: str, expected: tuple[str, str], tmp_path: Path
) -> None:
    """The last change counts before the making, which may be the template's."""
    path = tmp_path / "file"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(part, text)
    assert stated_date(path, kind) == expected


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04broken", b"\xff\xfe\x00"])
@pytest.mark.parametrize("kind", ["docx", "epub", "email", "html", "markdown"])
def test_damaged_files_are_undated(data: bytes, kind: Kind, tmp_path: Path) -> None:
    """What cannot be read states nothing, and loses no document."""
    path = tmp_path / "file"
    path.write_bytes(data)
    assert stated_date(path, kind) == UNDATED


def test_a_file_is_dated_by_its_time_on_disk() -> None:
    """In UTC, the same on every machine; a time that was never set is none."""
    assert file_date(1_710_000_000.0) == ("2024-03-09", "file")
    assert file_date(0.0) == file_date(1e18) == UNDATED
