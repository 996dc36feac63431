"""Highlights cover the very words, on any page; the note is the claim as text; the original is only read."""

from __future__ import annotations

import hashlib
import itertools
from pathlib import Path

import numpy as np
import pymupdf
import pytest
from numpy.typing import NDArray
from PIL import Image

from kb_qa.errors import DamagedFileError, NotFoundError, PasswordRequiredError, UnsupportedFileError
from kb_qa.geometry import BBox
from kb_qa.highlight import COLOURS, MOST_CHARACTERS, colour_of, write_highlighted
from kb_qa.marks import MarkedClaim, PageMarks


def claim(*rects: BBox, ordinal: int = 1, text: str = "Net revenue was 4,812.", page: int = 1) -> MarkedClaim:
    return MarkedClaim(ordinal, text, (ordinal,), (PageMarks(page, rects),))


def pixels(path: Path, page: int = 1, dpi: int = 72) -> NDArray[np.int16]:
    """Rows, columns, red-green-blue of the displayed page."""
    with pymupdf.open(path) as document:
        pixmap = document[page - 1].get_pixmap(dpi=dpi, alpha=False, colorspace=pymupdf.csRGB)
        return np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.width, 3).astype(np.int16)


def changed(before: Path, after: Path, page: int = 1) -> NDArray[np.bool_]:
    """Where the two pages, drawn at 144 dpi, differ."""
    difference: NDArray[np.bool_] = np.abs(pixels(before, page, 144) - pixels(after, page, 144)).max(axis=2) > 24
    return difference


def ink_box(path: Path) -> BBox:
    """Around all dark pixels of the displayed page, in points."""
    rows, columns = np.nonzero(pixels(path, dpi=144).max(axis=2) < 128)
    return BBox(columns.min() / 2, rows.min() / 2, (columns.max() + 1) / 2, (rows.max() + 1) / 2)


def one_word(path: Path, *, rotation: int = 0, cropped: bool = False, negative: bool = False, unit: int = 1) -> Path:
    """A page with `4,812` alone on it."""
    document = pymupdf.open()
    page = document.new_page(width=400, height=400)
    page.insert_text((160, 180), "4,812", fontsize=12)
    if negative:
        page.set_mediabox(pymupdf.Rect(-100, -50, 300, 350))
    if cropped:
        media = page.mediabox
        corners = (media.x0 + 40, media.y0 + 30, media.x1 - 20, media.y1 - 10)
        document.xref_set_key(page.xref, "CropBox", f"[{' '.join(map(str, corners))}]")
    if unit != 1:
        document.xref_set_key(page.xref, "UserUnit", str(unit))
    document.xref_set_key(page.xref, "Rotate", str(rotation))
    document.save(path)
    document.close()
    return path


PAGES = [
    pytest.param(
        rotation, cropped, negative, unit, id=f"{rotation}{'-cropped' * cropped}{'-negative' * negative}-{unit}"
    )
    for rotation, cropped, negative, unit in itertools.product((0, 90, 180, 270), (False, True), (False, True), (1, 2))
]


@pytest.mark.parametrize(("rotation", "cropped", "negative", "unit"), PAGES)
def test_the_marked_area_is_that_of_the_ink(
    tmp_path: Path, rotation: int, cropped: bool, negative: bool, unit: int
) -> None:
    """A1 and A2: at every rotation, CropBox, MediaBox and UserUnit the mark covers the word and hardly more."""
    path = one_word(tmp_path / "a.pdf", rotation=rotation, cropped=cropped, negative=negative, unit=unit)
    box = ink_box(path)
    write_highlighted(path, [claim(box)], tmp_path / "out.pdf")
    rows, columns = np.nonzero(changed(path, tmp_path / "out.pdf"))
    marked = BBox(columns.min() / 2, rows.min() / 2, (columns.max() + 1) / 2, (rows.max() + 1) / 2)
    assert marked.expanded(0.75).intersection(box) == box
    assert box.expanded(0.75).intersection(marked) == marked


def two_lines(path: Path, **options: object) -> Path:
    document = pymupdf.open()
    for _ in range(2):
        page = document.new_page(width=400, height=600)
        page.insert_text((60, 180), "Net revenue was", fontsize=12)
        page.insert_text((60, 200), "4,812 million.", fontsize=12)
    document.save(path, **options)
    document.close()
    return path


LINES = (BBox(60, 168, 150, 184), BBox(60, 188, 140, 204))


def notes(path: Path) -> list[tuple[int, str, str, int]]:
    """Page, author, note and number of quads of every highlight."""
    with pymupdf.open(path) as document:
        return [
            (page.number + 1, annotation.info["title"], annotation.info["content"], len(annotation.vertices) // 4)
            for page in document
            for annotation in page.annots(types=[pymupdf.PDF_ANNOT_HIGHLIGHT])
        ]


def test_one_highlight_a_claim_and_page_with_the_claim_as_its_note(tmp_path: Path) -> None:
    """S2.5: a quad a line; a claim over a page break has one highlight on each page; claims keep their numbers."""
    path = two_lines(tmp_path / "a.pdf")
    over_pages = MarkedClaim(2, "净利润为 41 万元。", (2, 3), (PageMarks(1, LINES[:1]), PageMarks(2, LINES)))
    write_highlighted(path, [claim(*LINES), over_pages], tmp_path / "out.pdf")
    assert notes(tmp_path / "out.pdf") == [
        (1, "kb-qa [1]", "Net revenue was 4,812.", 2),
        (1, "kb-qa [2] [3]", "净利润为 41 万元。", 1),
        (2, "kb-qa [2] [3]", "净利润为 41 万元。", 2),
    ]


def test_claims_are_told_apart_by_colour(tmp_path: Path) -> None:
    """Each claim's passage has the colour of its number, whatever else is marked."""
    path = two_lines(tmp_path / "a.pdf")
    write_highlighted(path, [claim(LINES[0], ordinal=2), claim(LINES[1], ordinal=5)], tmp_path / "out.pdf")
    drawn = pixels(tmp_path / "out.pdf")
    for line, ordinal in zip(LINES, (2, 5), strict=True):
        paper = drawn[int(line.y0) + 1 : int(line.y0) + 3, 70:130].reshape(-1, 3)
        assert np.abs(np.median(paper, axis=0) / 255 - colour_of(ordinal)).max() < 0.03


# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
VISIONS = {
    "normal": np.eye(3),
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]]
)


def lab(linear: NDArray[np.float64]) -> NDArray[np.float64]:
    """CIELAB, relative to white paper, of rows of linear RGB."""
    shares = np.cbrt(np.clip(linear @ TO_XYZ.T / (TO_XYZ @ np.ones(3)), 0.008856, None))
    x, y, z = shares.T
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=1)


@pytest.mark.parametrize("vision", VISIONS)
def test_colours_stay_apart_for_every_colour_vision(vision: str) -> None:
    """Any two tints, and each and white paper, differ by 25 units of CIELAB; black print on them stays readable."""
    tints = np.array([*COLOURS, (1.0, 1.0, 1.0)])
    linear = np.where(tints <= 0.04045, tints / 12.92, ((tints + 0.055) / 1.055) ** 2.4)
    seen = lab(np.clip(linear @ np.array(VISIONS[vision]).T, 0, 1))
    distances = np.linalg.norm(seen[:, None] - seen[None], axis=2)
    assert distances[~np.eye(len(tints), dtype=bool)].min() > 25
    assert lab(linear)[:, 0].min() > 60


def test_the_original_is_untouched_and_nothing_is_left_behind(tmp_path: Path) -> None:
    """The file's bytes stay; beside the target there is no partial file."""
    path = two_lines(tmp_path / "a.pdf")
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    size = write_highlighted(path, [claim(*LINES)], tmp_path / "out.pdf")
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.pdf", "out.pdf"]
    assert (tmp_path / "out.pdf").stat().st_size == size


def test_an_owner_encrypted_file_is_marked_and_stays_encrypted(tmp_path: Path) -> None:
    """B7: what opens without a password is marked; the owner's restrictions stay; a locked file is refused."""
    locks = {"encryption": pymupdf.PDF_ENCRYPT_AES_256, "owner_pw": "owner", "permissions": pymupdf.PDF_PERM_PRINT}
    path = two_lines(tmp_path / "owned.pdf", user_pw="", **locks)
    write_highlighted(path, [claim(*LINES)], tmp_path / "out.pdf")
    assert changed(path, tmp_path / "out.pdf")[2 * 170 : 2 * 180, 2 * 62 : 2 * 140].mean() > 0.5
    with pymupdf.open(tmp_path / "out.pdf") as document:
        assert "AES" in document.metadata["encryption"]
        assert not document.permissions & pymupdf.PDF_PERM_MODIFY
    with pytest.raises(PasswordRequiredError):
        write_highlighted(
            two_lines(tmp_path / "locked.pdf", user_pw="x", **locks), [claim(*LINES)], tmp_path / "no.pdf"
        )
    assert not (tmp_path / "no.pdf").exists()


def turned_photo(path: Path) -> None:
    """A JPEG that its EXIF turns by 90 degrees: stored 300 × 200, shown 200 × 300 with the dark square at (150, 20)."""
    picture = Image.new("RGB", (300, 200), "white")
    picture.paste((0, 0, 0), (20, 30, 50, 50))
    exif = Image.Exif()
    exif[274] = 6
    picture.save(path, exif=exif, dpi=(72, 72), quality=95)


@pytest.mark.parametrize(("kind", "page"), [("png", 1), ("jpg", 1), ("tif", 2), ("webp", 1)])
def test_a_picture_becomes_a_pdf_of_its_pages(tmp_path: Path, kind: str, page: int) -> None:
    """PNG, EXIF-turned JPEG, multi-page TIFF and WebP: the page looks the same, with the mark over the spot."""
    path = tmp_path / f"scan.{kind}"
    if kind == "jpg":
        turned_photo(path)
    else:
        frame = Image.new("RGB", (200, 300), "white")
        frame.paste((0, 0, 0), (150, 20, 170, 50))
        frame.save(path, dpi=(72, 72), **({"save_all": True, "append_images": [frame]} if kind == "tif" else {}))
    scale = 0.75 if kind == "webp" else 1.0  # which states no resolution: 96 dpi
    spot = BBox(*(scale * value for value in (140, 10, 180, 60)))
    write_highlighted(path, [claim(spot, page=page)], tmp_path / "out.pdf")
    drawn = pixels(tmp_path / "out.pdf", page)
    assert drawn.shape[:2] == (300 * scale, 200 * scale)
    rows, columns = np.nonzero(drawn[:, :, 2] < 60)
    marked = np.array([columns.min(), rows.min(), columns.max() + 1, rows.max() + 1])
    assert np.abs(marked - np.array(spot.as_tuple())).max() <= 1
    assert drawn[int(35 * scale), int(160 * scale)].max() < 60
    assert drawn[int(12 * scale) + 1, int(145 * scale)].tolist() == pytest.approx([255, 219, 0], abs=8)


@pytest.mark.parametrize(
    "text",
    [
        "<b>5</b> & </p>",
        "(a\\) endobj\n1 0 obj <</JS (x)>>",
        "\x00\x07\u202efdp.exe\ud800",
        "x" * 50_000,
        "a\nb 报告🙂",
        "",
    ],
    ids=["markup", "syntax", "controls", "long", "unicode", "empty"],
)
def test_a_note_is_text_alone(tmp_path: Path, text: str) -> None:
    """A claim is untrusted: nothing in it is markup, syntax or a control character, and it is not endless."""
    write_highlighted(two_lines(tmp_path / "a.pdf"), [claim(*LINES, text=text)], tmp_path / "out.pdf")
    ((_, title, content, _),) = notes(tmp_path / "out.pdf")
    assert title == "kb-qa [1]"
    assert content == text.strip("\x00\x07").replace("\u202e", "").replace("\ud800", "")[:MOST_CHARACTERS]
    with pymupdf.open(tmp_path / "out.pdf") as document:
        assert not document.embfile_count()
        for annotation in document[0].annots():
            kind = document.xref_get_key(annotation.xref, "RC")[0]
            assert kind == "null"


def test_boxes_off_the_page_or_not_finite_mark_nothing(tmp_path: Path) -> None:
    """Only what can be seen is marked; a page that is not there is an error."""
    path = two_lines(tmp_path / "a.pdf")
    off = [BBox(500, 10, 600, 20), BBox(float("nan"), 0, 10, 10), BBox(380, 10, 500, 20)]
    write_highlighted(path, [claim(*off[:2]), claim(*off, ordinal=2)], tmp_path / "out.pdf")
    assert [(title, quads) for _, title, _, quads in notes(tmp_path / "out.pdf")] == [("kb-qa [2]", 1)]
    with pytest.raises(NotFoundError, match="no page 3"):
        write_highlighted(path, [claim(*LINES, page=3)], tmp_path / "none.pdf")


@pytest.mark.parametrize(
    ("content", "error"),
    [(b"hello world", DamagedFileError), (b"<html><script>alert(1)</script></html>", UnsupportedFileError)],
    ids=["text", "html"],
)
def test_what_has_no_pages_is_refused(tmp_path: Path, content: bytes, error: type[Exception]) -> None:
    """G8: a file is judged by its bytes."""
    path = tmp_path / "report.pdf"
    path.write_bytes(content)
    with pytest.raises(error, match=r"report\.pdf"):
        write_highlighted(path, [claim(*LINES)], tmp_path / "out.pdf")
