"""Documents without geometry: what each kind yields, on files made here."""

from __future__ import annotations

import datetime
import io
import zipfile
from email.message import EmailMessage
from pathlib import Path

import docx
import openpyxl
import pptx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from hypothesis import given
from hypothesis import strategies as st
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from ingest.grids import GridCell, lay_out
from ingest.kinds import Kind, kind_of
from ingest.limits import Limits
from ingest.partition import partition
from ingest.plain_text import decode
from kb_qa.elements import Element, ParsedDocument
from kb_qa.errors import (
    DamagedFileError,
    EmptyFileError,
    LimitExceededError,
    PasswordRequiredError,
    RejectedFileError,
)
from kb_qa.geometry import Region
from tests.documents import cell, headers, outline, read, tables, texts, wrote

HANDBOOK = """# 手册

员工手册适用于全体员工。

## 假期

年假为每年15天。

- 婚假：10天
- – 3 天

| 职级 | 基本工资 |
|------|---------|
| P5 | 22000 |
| P6 | 1.10 |

# 附则

```
x = 0012
```
"""


@pytest.fixture(autouse=True)
def _scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The partitioner runs in a directory of its own."""
    monkeypatch.chdir(tmp_path)


def table_of(parsed: ParsedDocument, index: int = 0) -> Element:
    return tables(parsed)[index]


# Markdown and HTML


def test_markdown_headings_are_the_section_of_what_follows(tmp_path: Path) -> None:
    """Sections are paths, lists and tables stay whole, code keeps its zeros, a dash is no bullet."""
    parsed = read(wrote(tmp_path / "hb.md", HANDBOOK))
    assert outline(parsed) == [
        ("Title", (), "手册"),
        ("NarrativeText", ("手册",), "员工手册适用于全体员工。"),
        ("Title", ("手册",), "假期"),
        ("NarrativeText", ("手册", "假期"), "年假为每年15天。"),
        ("ListItem", ("手册", "假期"), "婚假：10天"),
        ("ListItem", ("手册", "假期"), "– 3 天"),
        ("Table", ("手册", "假期"), "职级 | 基本工资\nP5 | 22000\nP6 | 1.10"),
        ("Title", (), "附则"),
        ("CodeSnippet", ("附则",), "x = 0012"),
    ]
    assert headers(table_of(parsed), "22000") == (("P5",), ("基本工资",))
    assert {element.origin for element in parsed.elements} == {"parser"}
    assert all(element.regions == () for element in parsed.elements)


def test_front_matter_is_kept_and_gives_the_title(tmp_path: Path) -> None:
    """It is neither lost nor taken for a heading."""
    parsed = read(wrote(tmp_path / "a.md", "---\ntitle: 规定\ndate: 2024-03-05\n---\n\nTotal: 42\n"))
    assert parsed.title == "规定"
    assert texts(parsed) == ["title: 规定\ndate: 2024-03-05", "Total: 42"]


PAGE = """<!doctype html><html><head><title>季度报告</title><style>p{}</style><script>var a = 99</script></head><body>
<nav>Home</nav><h1>报告</h1><p>净利润 <b>4,812</b> 万元。<script>98</script></p>
<p style="display: none">666</p><div hidden>667</div>
<p>Revenue was 250<sup>9</sup> million, or 10<sup>6</sup> each.</p><p>– 3 lost</p>
<figure><img src="x" alt="Sales 55"><figcaption>Figure 1: sales</figcaption></figure>
<table><caption>表1（单位：万元）</caption><thead><tr><th rowspan=2>Item</th><th colspan=2>Revenue</th></tr>
<tr><th>2023</th><th>2024</th></tr></thead>
<tr><th rowspan=2>A</th><td>1.10</td><td>0012</td></tr><tr><td>3.0%</td><td>123456.78</td></tr></table>
<table role="presentation"><tr><td><p>laid out 7</p></td><td>8</td></tr></table>
<details><summary>More</summary>inside 9</details></body></html>"""


def test_html_is_read_as_a_reader_sees_it(tmp_path: Path) -> None:
    """Script, style and hidden text are no text; figures, details, signs and raised digits are kept."""
    parsed = read(wrote(tmp_path / "a.html", PAGE))
    assert (parsed.title, parsed.flags) == ("季度报告", ("text hidden by style left out",))
    assert [(element.category, element.text) for element in parsed.elements if not element.table] == [
        ("Title", "报告"),
        ("NarrativeText", "净利润 4,812 万元。"),
        ("NarrativeText", "Revenue was 250 [9] million, or 10^6 each."),
        ("UncategorizedText", "– 3 lost"),
        ("Image", "Sales 55"),
        ("FigureCaption", "Figure 1: sales"),
        ("FigureCaption", "表1（单位：万元）"),
        ("UncategorizedText", "laid out 7"),
        ("UncategorizedText", "8"),
        ("UncategorizedText", "More"),
        ("UncategorizedText", "inside 9"),
    ]


def test_spanning_labels_reach_every_cell(tmp_path: Path) -> None:
    """Headers are full paths, numerals are what is printed, the caption's scale is the table's (B3, B16)."""
    table = table_of(read(wrote(tmp_path / "a.html", PAGE)))
    assert table.text == "Item | Revenue\n2023 | 2024\nA | 1.10 | 0012\n3.0% | 123456.78"
    assert headers(table, "0012") == (("A",), ("Revenue", "2024"))
    assert headers(table, "3.0%") == (("A",), ("Revenue", "2023"))
    assert table.table is not None
    assert (table.table.scale, table.table.unit) == (4, "CNY")


@pytest.mark.parametrize("kind", ["html", "markdown"])
@pytest.mark.parametrize(
    "markup",
    [
        pytest.param("<table><tr><td colspan=99999999 rowspan=99999999>7</td></tr></table>", id="spans"),
        pytest.param("<div>" * 1000 + "7" + "</div>" * 1000, id="depth"),
        pytest.param("<p>\ue0020\ue003 7</p>", id="our marks"),
        pytest.param("<table><tr><td>7<table><tr><td>8</td><td>9</td></tr></table></td></tr></table>", id="nesting"),
        pytest.param("<p>7", id="unclosed"),
    ],
)
def test_hostile_markup_is_read_or_refused_in_time(tmp_path: Path, markup: str, kind: Kind) -> None:
    """Spans, depth and forged placeholders do no harm."""
    parsed = partition(wrote(tmp_path / "a", markup), "d", kind, limits=Limits())
    assert any("7" in text for text in texts(parsed))


def test_a_charset_that_is_declared_is_used(tmp_path: Path) -> None:
    """GB2312 in a meta tag is read as what contains it."""
    page = "<html><head><meta charset=gb2312></head><body><p>净利润４，８１２万元。</p></body></html>"
    assert texts(read(wrote(tmp_path / "a.html", page, "gb18030"))) == ["净利润４，８１２万元。"]


# Plain text


def test_paragraphs_of_plain_text(tmp_path: Path) -> None:
    """Wrapped lines are joined, others are not; headings need to stand alone; a minus is kept."""
    text = (
        "第一章 总则\n\n净利润为4,812万元。\n营业收入三亿元。\n\n- 7 days\n-5.2% was the change\n\n"
        "The net revenue was 4,812 million in 2024 according\nto the audited statement of the company in\nBasel.\n"
    )
    assert outline(read(wrote(tmp_path / "a.txt", text))) == [
        ("Title", (), "第一章 总则"),
        ("NarrativeText", ("第一章 总则",), "净利润为4,812万元。"),
        ("NarrativeText", ("第一章 总则",), "营业收入三亿元。"),
        ("ListItem", ("第一章 总则",), "- 7 days"),
        ("UncategorizedText", ("第一章 总则",), "-5.2% was the change"),
        (
            "NarrativeText",
            ("第一章 总则",),
            "The net revenue was 4,812 million in 2024 according to the audited statement of the company in Basel.",
        ),
    ]


@pytest.mark.parametrize("unit", ["word 4,812 ", "The revenue was 4,812. ", "净利润为4,812万元。", "净利4,812元与"])
def test_a_line_without_end_is_cut_between_words(tmp_path: Path, unit: str) -> None:
    """A log of megabytes in one line becomes passages of some length, and no figure is cut in two."""
    found = texts(read(wrote(tmp_path / "a.txt", unit * 3000)))
    assert max(map(len, found)) <= 4000
    assert sum(text.count("4,812") for text in found) == 3000


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_chinese_utf_16_without_a_mark_is_text(tmp_path: Path, encoding: str) -> None:
    """It holds control bytes and no zero: its characters say what it is."""
    text = "净利润为四千八百万元，同比增长百分之五。本办法自公布之日起施行。"
    parsed = read(wrote(tmp_path / "a.txt", text, encoding))
    assert (texts(parsed), parsed.flags) == ([text], (f"encoding guessed: {encoding}",))


SIMPLIFIED = "第一章 总则\n净利润为4,812万元，同比增长百分之五。营业收入三亿二千万元。本办法自2024年1月1日起施行。"
TRADITIONAL = "本公司營業收入為新台幣四千八百萬元，較去年增加百分之五。附註說明如下。"
JAPANESE = "当社の売上高は４，８１２百万円であり、前年度に比べて増加しました。"
FRENCH = "Le résultat net s’élève à 4 812 millions d’euros, en hausse de 5 % par rapport à l’année précédente."


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (SIMPLIFIED, "utf-8"),
        (SIMPLIFIED, "utf-8-sig"),
        (SIMPLIFIED, "utf-16"),
        (SIMPLIFIED, "utf-16-le"),
        (SIMPLIFIED, "utf-16-be"),
        (SIMPLIFIED, "gb18030"),
        (TRADITIONAL, "big5"),
        (JAPANESE, "shift_jis"),
        (JAPANESE, "euc_jp"),
        (FRENCH, "cp1252"),
        ("Überschüsse für das Geschäftsjahr betrugen 4.812 Mio. Größe", "latin-1"),
        ("Price: £4,812 – café", "cp1252"),
        ("Zysk netto wyniósł 4 812 mln zł, co oznacza wzrost o 5% w porównaniu z ubiegłym rokiem. Źródło.", "cp1250"),
        ("Чистая прибыль составила 4 812 млн рублей, что на 5% больше.", "cp1251"),
        ("순이익은 4,812백만원으로 전년 대비 증가하였다.", "euc_kr"),
    ],
)
def test_text_in_any_encoding_is_read(text: str, encoding: str) -> None:
    """The encoding is found without being named."""
    assert decode(text.encode(encoding))[0] == text


def test_a_guessed_encoding_is_flagged(tmp_path: Path) -> None:
    """A reader learns that the text rests on a guess."""
    assert read(wrote(tmp_path / "a.txt", SIMPLIFIED, "gb18030")).flags == ("encoding guessed: gb18030",)


# Sheets


def test_csv_cells_have_addresses_and_headers(tmp_path: Path) -> None:
    """Strings are byte for byte what the file holds; quoted line breaks stay inside their cell."""
    table = table_of(read(wrote(tmp_path / "a.csv", 'Item;2023;2024\nRevenue;"4,812";0012\n"multi\nline";;1e5\n')))
    assert table.text == "Item | 2023 | 2024\nRevenue | 4,812 | 0012\nmulti line | 1e5"
    assert cell(table, "0012").address == "C2"
    assert headers(table, "1e5") == (("multi line",), ("2024",))


def workbook(path: Path) -> Path:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "薪酬"
    for row in (
        ["薪酬表（单位：万元）"],
        ["职级", "基本工资", "比例", "日期"],
        ["P5", 22000.0, 0.125, datetime.date(2024, 3, 5)],
        ["P6", -1200, 0.2, datetime.date(2024, 3, 6)],
        [],
        ["说明", "保密"],
    ):
        sheet.append(row)
    sheet["B4"].number_format = "#,##0;(#,##0)"
    sheet["C3"].number_format = "0.0%"
    sheet["D3"].number_format = 'yyyy"年"m"月"d"日"'
    sheet["B7"] = "=B3*2"
    sheet.append(["hidden row", 99])
    sheet.row_dimensions[8].hidden = True
    second = book.create_sheet("二")
    second.merge_cells("B1:C1")
    second["A1"], second["B1"], second["B2"], second["C2"] = "Item", "Revenue", 2023, 2024
    second["A3"], second["B3"], second["C3"] = "A", 96, 87
    third = book.create_sheet("草稿")
    third["A1"] = 7
    third.sheet_state = "hidden"
    book.save(path)
    return path


def test_workbooks_show_what_the_sheet_shows(tmp_path: Path) -> None:
    """Number formats, addresses, sheet names, merged headers, hidden rows and sheets."""
    parsed = read(workbook(tmp_path / "a.xlsx"))
    salaries, revenue = table_of(parsed, 1), table_of(parsed, 3)
    assert (
        salaries.text
        == "职级 | 基本工资 | 比例 | 日期\nP5 | 22000 | 12.5% | 2024年3月5日\nP6 | (1,200) | 0.2 | 2024-03-06"
    )
    assert salaries.section == ("薪酬",)
    assert cell(salaries, "22000").address == "B3"
    assert headers(salaries, "12.5%") == (("P5",), ("比例",))
    assert salaries.table is not None
    assert (salaries.table.caption, salaries.table.scale) == ("薪酬表（单位：万元）", 4)
    assert (revenue.section, headers(revenue, "87")) == (("二",), (("A",), ("Revenue", "2024")))
    assert {element.hidden for element in parsed.elements if element.text in {"草稿", "7"}} == {"the sheet is hidden"}
    assert parsed.flags == (
        "sheet '薪酬': 2 cells in hidden rows or columns left out",
        "1 formulas have no stored value; open and save the file in a spreadsheet",
    )


def test_a_long_sheet_becomes_several_tables_with_headers(tmp_path: Path) -> None:
    """Row 1200 still knows its column, its address, and its range in its own element."""
    lines = ["id,amount"] + [f"r{number},{number}" for number in range(1200)]
    parsed = read(wrote(tmp_path / "a.csv", "\n".join(lines)))
    last = parsed.elements[-1]
    assert len(parsed.elements) == 3
    assert (headers(last, "1199"), cell(last, "1199").address) == ((("r1199",), ("amount",)), "B1201")
    assert last.text[cell(last, "1199").start : cell(last, "1199").end] == "1199"


# Word, slides, mail, books


def word_file(path: Path) -> Path:
    document = docx.Document()
    document.core_properties.title = "规定"
    document.add_heading("手册", 0)
    document.add_heading("假期", 1)
    paragraph = document.add_paragraph("收入250")
    paragraph.add_run("9").font.superscript = True
    paragraph.add_run("万元。")
    paragraph.add_run("secret 66").font.hidden = True
    document.add_heading("病假", 2)
    document.add_paragraph("– 3 天", style="List Bullet")
    table = document.add_table(3, 3)
    table.cell(0, 1).merge(table.cell(0, 2)).text = "Revenue (in millions)"
    for row, values in enumerate((("", "2023", "2024"), ("A", "1.10", "12.5%")), 1):
        for column, value in enumerate(values):
            table.cell(row, column).text = value
    document.add_heading("薪酬", 1)
    body = document.element.body
    inside = "<w:p><w:r><w:t>{}</w:t></w:r></w:p>"
    control = f"<w:sdt {nsdecls('w')}><w:sdtContent>{inside.format('In a control 41.')}</w:sdtContent></w:sdt>"
    tracked = (
        f"<w:p {nsdecls('w')}><w:ins w:id='1' w:author='x'><w:r><w:t>Inserted 42.</w:t></w:r></w:ins>"
        "<w:del w:id='2' w:author='x'><w:r><w:delText>Deleted 43.</w:delText></w:r></w:del></w:p>"
    )
    for xml in (control, tracked):
        body.insert(len(body) - 1, parse_xml(xml))
    document.save(str(path))
    return path


def test_word_documents_keep_headings_signs_and_what_stands_in_frames(tmp_path: Path) -> None:
    """Controls and insertions are read, deletions and hidden runs are not, a raised note is no digit."""
    parsed = read(word_file(tmp_path / "a.docx"))
    assert (parsed.title, parsed.flags) == ("规定", ("hidden text left out",))
    assert outline(parsed) == [
        ("Title", (), "手册"),
        ("Title", ("手册",), "假期"),
        ("NarrativeText", ("手册", "假期"), "收入250 [9]万元。"),
        ("Title", ("手册", "假期"), "病假"),
        ("ListItem", ("手册", "假期", "病假"), "– 3 天"),
        ("Table", ("手册", "假期", "病假"), "Revenue (in millions)\n2023 | 2024\nA | 1.10 | 12.5%"),
        ("Title", ("手册",), "薪酬"),
        ("NarrativeText", ("手册", "薪酬"), "In a control 41."),
        ("NarrativeText", ("手册", "薪酬"), "Inserted 42."),
    ]
    assert headers(table_of(parsed), "12.5%") == (("A",), ("Revenue (in millions)", "2024"))


def presentation(path: Path) -> Path:
    deck = pptx.Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[1])
    first.shapes.title.text = "季度总结"
    first.placeholders[1].text_frame.text = "净利润 4,812 万元"
    second = deck.slides.add_slide(deck.slide_layouts[6])
    table = second.shapes.add_table(3, 3, Inches(1), Inches(1), Inches(6), Inches(2)).table
    table.cell(0, 1).merge(table.cell(0, 2))
    for row, values in enumerate((("Item", "Revenue", ""), ("", "2023", "2024"), ("A", "1.10", "0012"))):
        for column, value in enumerate(values):
            if value:
                table.cell(row, column).text = value
    data = CategoryChartData(number_format="0.0%")
    data.categories = ["Q1", "Q2"]
    data.add_series("Margin", (0.41, 0.29))
    second.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(4), Inches(4), Inches(3), data)
    second.element.set("show", "0")
    deck.save(str(path))
    return path


def test_slides_are_pages_and_charts_are_tables(tmp_path: Path) -> None:
    """A slide has a page and no boxes; chart values, merged cells and hidden slides are seen."""
    parsed = read(presentation(tmp_path / "a.pptx"))
    assert [(page.number, page.width, page.height) for page in parsed.pages] == [(1, 720.0, 540.0), (2, 720.0, 540.0)]
    assert outline(parsed)[:2] == [("Title", (), "季度总结"), ("ListItem", ("季度总结",), "净利润 4,812 万元")]
    assert parsed.elements[1].regions == (Region(1, None),)
    assert headers(table_of(parsed), "0012") == (("A",), ("Revenue", "2024"))
    assert headers(table_of(parsed, 1), "29.0%") == (("Q2",), ("Margin",))
    assert {(element.regions, element.section, element.hidden) for element in parsed.elements[2:]} == {
        ((Region(2, None),), (), "the slide is hidden")
    }


@pytest.mark.parametrize("html", [True, False], ids=["html body", "plain body"])
def test_mail_is_its_envelope_and_its_body(tmp_path: Path, html: bool) -> None:
    """The subject heads the message; attachments are counted and not read."""
    message = EmailMessage()
    message["Subject"], message["From"], message["Date"] = "季度数据", "z@x.cn", "Mon, 04 Mar 2024 10:00:00 +0800"
    message.set_content("净利润为4,812万元。\n", charset="gb18030")
    if html:
        message.add_alternative("<p>净利润为<b>4,812</b>万元。</p>", subtype="html")
    message.add_attachment(b"%PDF-1.4 x", maintype="application", subtype="pdf", filename="x.pdf")
    path = tmp_path / "a.eml"
    path.write_bytes(message.as_bytes())
    parsed = read(path)
    assert (parsed.title, parsed.flags) == ("季度数据", ("1 attachments not read: x.pdf",))
    assert outline(parsed)[0] == ("Title", (), "季度数据")
    assert outline(parsed)[-1] == ("NarrativeText", ("季度数据",), "净利润为4,812万元。")


def book(path: Path, **replaced: str) -> Path:
    files = {
        "META-INF/container.xml": '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>',
        "OPS/book.opf": """<package xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>员工手册</dc:title>
            </metadata><manifest><item id="n" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>
            <item id="b" href="b%20c.xhtml" media-type="application/xhtml+xml"/>
            <item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest>
            <spine><itemref idref="n"/><itemref idref="b"/><itemref idref="a"/></spine></package>""",
        "OPS/nav.xhtml": "<html><body><p>contents</p></body></html>",
        "OPS/b c.xhtml": "<html><body><h1>第一章</h1><p>年假15天。</p></body></html>",
        "OPS/a.xhtml": "<html><body><h1>第二章</h1><p>病假3天。</p></body></html>",
    }
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        for name, text in (files | replaced).items():
            archive.writestr(name, text)
    return path


def test_a_book_is_read_in_the_order_of_its_spine(tmp_path: Path) -> None:
    """Not in the order of its files, and without its table of contents."""
    parsed = read(book(tmp_path / "a.epub"))
    assert parsed.title == "员工手册"
    assert outline(parsed) == [
        ("Title", (), "第一章"),
        ("NarrativeText", ("第一章",), "年假15天。"),
        ("Title", (), "第二章"),
        ("NarrativeText", ("第二章",), "病假3天。"),
    ]


# What cannot be read


def test_an_archive_is_judged_before_it_is_inflated(tmp_path: Path) -> None:
    """A bomb is refused by the sizes in its directory, and so are too many entries."""
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "x")
        archive.writestr("word/document.xml", bytes(3_000_000))
    path = tmp_path / "a.docx"
    path.write_bytes(bomb.getvalue())
    assert path.stat().st_size < 10_000
    with pytest.raises(LimitExceededError, match="inflates to 3 MB; the limit is 2 MB"):
        read(path, Limits(max_inflated_mb=2))


@pytest.mark.parametrize(
    ("name", "data", "error"),
    [
        pytest.param("a.txt", b" \n\n ", EmptyFileError, id="text of blanks"),
        pytest.param("a.html", b"<html><script>1</script></html>", EmptyFileError, id="page of scripts"),
        pytest.param("a.md", b"<!-- nothing -->", EmptyFileError, id="markdown of comments"),
        pytest.param("a.csv", b",,\n,,", EmptyFileError, id="table of blanks"),
    ],
)
def test_a_document_without_text_is_empty(
    tmp_path: Path, name: str, data: bytes, error: type[RejectedFileError]
) -> None:
    """Nothing to cite is an outcome with a reason."""
    (tmp_path / name).write_bytes(data)
    with pytest.raises(error, match="no text"):
        read(tmp_path / name)


@pytest.mark.parametrize("kind", ["docx", "pptx", "xlsx", "epub"])
def test_archives_that_hold_nonsense_are_damaged(tmp_path: Path, kind: Kind) -> None:
    """A ZIP cut in half, and one without the parts of its kind."""
    whole = book(tmp_path / "whole.epub", **{"META-INF/container.xml": "<x/>"}).read_bytes()
    for data in (whole, whole[: len(whole) // 2]):
        (tmp_path / "a").write_bytes(data)
        with pytest.raises(DamagedFileError, match=r"damaged|package document"):
            partition(tmp_path / "a", "d", kind, limits=Limits())


def test_encrypted_office_files_ask_for_their_password(tmp_path: Path) -> None:
    """Encrypted OOXML is an OLE container, and told apart from the old formats."""
    from msoffcrypto.format.ooxml import OOXMLFile

    plain = io.BytesIO(workbook(tmp_path / "plain.xlsx").read_bytes())
    with (tmp_path / "a.xlsx").open("wb") as file:
        OOXMLFile(plain).encrypt("secret", file)
    with pytest.raises(PasswordRequiredError, match="encrypted"):
        kind_of(tmp_path / "a.xlsx")


# Grids


@st.composite
def grids(draw: st.DrawFn) -> list[GridCell]:
    text = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=6)
    places = draw(st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=20))
    return [
        GridCell(
            row,
            column,
            draw(text),
            draw(st.integers(1, 4)),
            draw(st.integers(1, 4)),
            draw(st.sampled_from([None, True])),
        )
        for row, column in sorted(places)
    ]


@given(grids())
def test_a_cell_is_its_range_of_the_tables_text(cells: list[GridCell]) -> None:
    """For any grid: each cell's text stands at its range, rows are lines, and no label heads itself."""
    table, text = lay_out(cells)
    for placed in table.cells:
        assert text[placed.start : placed.end] == placed.text
    assert len(text.split("\n")) == max(len([row for row in table.rows if row]), 1)
    starts = [placed.start for placed in table.cells]
    assert starts == sorted(starts)


def test_a_header_of_raw_bytes_can_be_stored(tmp_path: Path) -> None:
    """Old mailers write headers without naming an encoding."""
    path = tmp_path / "a.eml"
    path.write_bytes(b"Subject: " + "季度".encode("gb18030") + b"\n\nRevenue was 7.\n")
    parsed = read(path)
    assert parsed.title.encode("utf-8")
    assert texts(parsed)[-1] == "Revenue was 7."
