"""Chunks are made of citable blocks, and every block is exactly a range of its element's text."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.chunk import TARGET_WEIGHT, Origin, chunk, weight
from kb_qa.elements import Cell, Element, ScaleSource, Table, Word
from kb_qa.geometry import BBox, Region

ORIGIN = Origin(document_id="d" * 64, version=7, source="report.pdf", pipeline="1")


def element(text: str, *, order: int = 0, category: str = "NarrativeText", section: tuple[str, ...] = ()) -> Element:
    region = Region(1, BBox(72, 100 + 20 * order, 500, 115 + 20 * order))
    return Element(f"e{order}", ORIGIN.document_id, order, "text", category, text, (region,), section)


def table_element() -> Element:
    """Two columns under a spanning header `2024`, and a grade in the first column that spans two rows."""
    rows = [["职级", "2024", ""], ["", "基本工资", "系数"], ["P5", "22000", "1.0"], ["", "23000", "1.1"]]
    lines, cells, offset = [], [], 0
    for row, texts in enumerate(rows):
        parts = [(column, text) for column, text in enumerate(texts) if text]
        line = " | ".join(text for _, text in parts)
        position = offset
        for column, text in parts:
            headers = {1: ("2024", "基本工资"), 2: ("2024", "系数"), 0: ("职级",)}[column] if row > 1 else ()
            box = BBox(100 * column, 20 * row, 100 * column + 90, 20 * row + 15)
            span = 2 if text in {"P5", "职级"} else 1
            cells.append(Cell(row, column, span, 1, text, 4, box, (), headers, position, position + len(text), row < 2))
            position += len(text) + 3
        lines.append(line)
        offset += len(line) + 1
    table = Table(tuple(cells), caption="表1 薪酬", unit="元/月", scale_source=ScaleSource("单位：元/月", None))
    return Element(
        id="t1",
        document_id=ORIGIN.document_id,
        order=0,
        element_type="table",
        category="Table",
        text="\n".join(lines),
        regions=(Region(4, BBox(0, 0, 300, 80)),),
        section=("薪酬",),
        table=table,
    )


def test_sentences_are_blocks() -> None:
    """Prose is cut into sentences; each is exactly its range of the element's text."""
    source = element("Revenue was 4.1 billion. Costs fell by 5 %. ")
    (made,) = chunk([source], ORIGIN)
    assert [block.text for block in made.blocks] == ["Revenue was 4.1 billion.", "Costs fell by 5 %."]
    for block in made.blocks:
        assert source.text[block.start : block.end] == block.text


def test_furniture_hidden_and_empty_elements_stay_out() -> None:
    """Page numbers, running heads, hidden text and blanks never reach a chunk."""
    kept = element("Kept.", order=9)
    left_out = [
        element("Annual Report", category="Header"),
        element("3", order=1, category="PageNumber"),
        replace(element("Secret.", order=2), hidden="white on white"),
        element("  ", order=3),
    ]
    assert [part.text for part in chunk([*left_out, kept], ORIGIN)] == ["Kept."]


def test_a_chunk_stays_in_its_section() -> None:
    """Text of two sections never shares a chunk; a heading goes with the text below it."""
    made = chunk(
        [
            element("假期", category="Title", section=("手册", "假期")),
            element("年假 10 天。", order=1, section=("手册", "假期")),
            element("报销", order=2, category="Title", section=("手册", "报销")),
            element("凭票报销。", order=3, section=("手册", "报销")),
        ],
        ORIGIN,
    )
    assert [part.text for part in made] == ["假期\n年假 10 天。", "报销\n凭票报销。"]
    assert made[0].prefix == "手册 > 假期"


def test_table_rows_are_blocks_with_their_headers_and_regions() -> None:
    """Each row is citable by itself, with the path of headers before each cell and the rectangle of the row."""
    (made,) = chunk([table_element()], ORIGIN)
    first, second = made.blocks
    assert first.text == "P5 | 22000 | 1.0"
    assert first.labelled == "职级：P5 | 2024 / 基本工资：22000 | 2024 / 系数：1.0 | 单位：元/月"
    assert second.labelled == "职级：P5 | 2024 / 基本工资：23000 | 2024 / 系数：1.1 | 单位：元/月"
    assert first.regions == (Region(4, BBox(0, 40, 290, 55)),)
    assert (made.element_type, made.page) == ("table", 4)


def test_a_tables_chunk_carries_caption_unit_and_header() -> None:
    """What gives a row its meaning is embedded with it, and is not part of the quotation."""
    (made,) = chunk([table_element()], ORIGIN)
    assert made.prefix == "薪酬\n表1 薪酬\n单位：元/月\n职级 | 2024 / 基本工资 | 2024 / 系数"
    assert made.embedded_text.startswith(made.prefix)
    assert "表1" not in made.text


def test_a_row_is_embedded_as_printed() -> None:
    """Under its headers, which the prefix says once: said again with every row they cost more and find less."""
    (made,) = chunk([table_element()], ORIGIN)
    assert made.embedded_text == f"{made.prefix}\nP5 | 22000 | 1.0\n23000 | 1.1"


def test_a_heading_is_embedded_once() -> None:
    """The section's path says it already."""
    heading = element("假期", category="Title", section=("手册", "假期"))
    (made,) = chunk([heading, element("年假 10 天。", order=1, section=("手册", "假期"))], ORIGIN)
    assert made.embedded_text == "手册 > 假期\n年假 10 天。"
    assert made.text == "假期\n年假 10 天。"


def test_every_part_of_a_long_table_says_what_its_rows_stand_under() -> None:
    """Header, unit line and the group's heading, though the heading is printed in an earlier part."""
    cells = [
        Cell(0, 1, 1, 1, "2024", 1, None, start=0, end=4, header=True),
        Cell(1, 0, 1, 1, "Assets", 1, None, start=5, end=11),
    ]
    lines, offset = ["2024", "Assets"], 12
    for row in range(2, 60):
        label, value = f"Position number {row}", f"{row},000"
        stop = offset + len(label)
        cells.append(Cell(row, 0, 1, 1, label, 1, None, ("Assets",), (), offset, stop))
        after = stop + 3 + len(value)
        cells.append(Cell(row, 1, 1, 1, value, 1, None, ("Assets", label), ("2024",), stop + 3, after))
        lines.append(f"{label} | {value}")
        offset = after + 1
    table = Table(tuple(cells), caption="Balance", scale_source=ScaleSource("in thousands", None))
    source = Element("t", ORIGIN.document_id, 1, "table", "Table", "\n".join(lines), table=table)
    made = chunk([element("The table below shows them."), source], ORIGIN)[1:]
    assert len(made) > 1
    assert {part.prefix for part in made} == {"Balance\nin thousands\n2024"}
    assert made[0].context == "The table below shows them."
    assert {part.context for part in made[1:]} == {"Assets"}


@pytest.mark.parametrize(
    ("text", "category", "lead"),
    [
        pytest.param(
            "We pay. The following table shows it.", "NarrativeText", "The following table shows it.", id="en"
        ),
        pytest.param("薪酬如下：", "NarrativeText", "薪酬如下：", id="zh"),
        pytest.param("We pay in May.", "NarrativeText", "", id="about something else"),
        pytest.param("See below", "Title", "", id="heading"),
        pytest.param(f"Below: {'x' * 400}:", "NarrativeText", "", id="too long"),
    ],
)
def test_the_sentence_that_leads_to_a_table_helps_to_find_it(text: str, category: str, lead: str) -> None:
    """It is embedded with the table, and is no part of its prefix, which the guard reads."""
    before = element(text, category=category, section=("薪酬",))
    made = chunk([before, replace(table_element(), order=1)], ORIGIN)
    assert (made[-1].context, made[-1].element_type) == (lead, "table")
    assert lead in made[-1].embedded_text
    assert text not in made[-1].text and (not lead or lead not in made[-1].prefix)


def test_caption_and_unit_lines_travel_with_their_table() -> None:
    """Lines that are a table's own stand in its chunk, citable, and make no chunk of their own."""
    caption = element("表1 薪酬", category="Title", section=("薪酬", "表1 薪酬"))
    unit = element("单位：元/月", order=1, section=("薪酬", "表1 薪酬"))
    made = chunk([caption, unit, replace(table_element(), order=2), element("正文。", order=3)], ORIGIN)
    assert [part.element_type for part in made] == ["table", "text"]
    assert made[0].text.startswith("表1 薪酬\n单位：元/月\nP5 | 22000")
    assert made[1].text == "正文。"


def test_rows_say_which_groups_they_are_in() -> None:
    """A row's first cell stands behind the headings of its groups, whichever chunk it is in."""
    cells = (
        Cell(0, 0, 1, 1, "资产：", 1, BBox(0, 0, 90, 15), start=0, end=3),
        Cell(1, 0, 1, 1, "现金", 1, BBox(0, 20, 90, 35), ("资产：",), ("项目",), 4, 6),
        Cell(1, 1, 1, 1, "48", 1, BBox(100, 20, 190, 35), ("资产：", "现金"), ("2024年",), 9, 11),
    )
    source = Element("t", ORIGIN.document_id, 0, "table", "Table", "资产：\n现金 | 48", table=Table(cells))
    (made,) = chunk([source], ORIGIN)
    assert [block.labelled for block in made.blocks] == ["资产：", "项目：资产 / 现金 | 2024年：48"]
    assert [block.text for block in made.blocks] == ["资产：", "现金 | 48"]


def test_notes_travel_with_their_table_by_their_place() -> None:
    """An element that holds several notes of a table stands in the table's chunk, and other text does not."""
    held = element("(1) Net. (2) Gross.", order=1, category="Footnote")
    box = held.regions[0].bbox
    assert box is not None
    regions = (Region(1, BBox(box.x0, box.y0, 250, box.y1)), Region(1, BBox(250, box.y0, box.x1, box.y1)))
    bare = table_element().table
    assert bare is not None
    table = replace(bare, notes=("(1) Net.", "(2) Gross."), note_regions=regions)
    made = chunk([replace(table_element(), table=table), held, element("Other text.", order=2)], ORIGIN)
    assert [part.element_type for part in made] == ["table", "text"]
    assert made[0].text.endswith("(1) Net.\n(2) Gross.")
    assert made[1].text == "Other text."


def test_long_text_is_cut_between_blocks() -> None:
    """No chunk outgrows the target unless one block does; nothing is lost or repeated."""
    sentences = [f"Sentence number {number} says a few things about revenue." for number in range(100)]
    made = chunk([element(" ".join(sentences))], ORIGIN)
    assert [block.text for part in made for block in part.blocks] == sentences
    assert len(made) > 1
    assert all(weight(part.text) <= TARGET_WEIGHT + len(part.blocks) for part in made)


def test_case_c6_chunk_ids_differ_for_equal_texts() -> None:
    """The same disclaimer on two pages is two chunks, each citable by itself (CASES C6)."""
    one, two = element("Same."), replace(element("Same.", order=1), regions=(Region(7, BBox(0, 0, 9, 9)),))
    made = chunk([one, replace(table_element(), order=2), two], ORIGIN)
    assert len({part.id for part in made}) == 3
    assert [part.page for part in made] == [1, 4, 7]


def test_a_blocks_regions_are_those_of_its_words() -> None:
    """A sentence over a page break has a region on each page, and only there."""
    words = (
        Word(1, BBox(72, 700, 200, 712), "Charge", 0, 6),
        Word(2, BBox(72, 80, 150, 92), "41.", 7, 10),
        Word(2, BBox(160, 80, 200, 92), "Next.", 11, 16),
    )
    source = replace(element("Charge 41. Next."), words=words, regions=(Region(1, None), Region(2, None)))
    first, second = chunk([source], ORIGIN)[0].blocks
    assert first.regions == (Region(1, BBox(72, 700, 200, 712)), Region(2, BBox(72, 80, 150, 92)))
    assert second.regions == (Region(2, BBox(160, 80, 200, 92)),)


def test_a10_a_sentence_over_two_columns_has_a_region_in_each() -> None:
    """No box spans the gutter: the paragraph has a region in each column, and so have its sentences (A10)."""
    words = (
        Word(1, BBox(72, 700, 280, 712), "Charge", 0, 6),
        Word(1, BBox(320, 80, 350, 92), "41.", 7, 10),
        Word(1, BBox(360, 80, 400, 92), "Next.", 11, 16),
    )
    columns = (Region(1, BBox(72, 680, 280, 712)), Region(1, BBox(320, 80, 520, 120)))
    first, second = chunk([replace(element("Charge 41. Next."), words=words, regions=columns)], ORIGIN)[0].blocks
    assert first.regions == (Region(1, BBox(72, 700, 280, 712)), Region(1, BBox(320, 80, 350, 92)))
    assert second.regions == (Region(1, BBox(360, 80, 400, 92)),)


@given(st.lists(st.text(alphabet="ab 。；…!.;\n1中”][", min_size=1, max_size=60), min_size=1, max_size=6))
def test_no_character_is_lost(texts: list[str]) -> None:
    """Whatever the text, its blocks hold all of it but white space, in order."""
    made = chunk([element(text, order=order) for order, text in enumerate(texts)], ORIGIN)
    kept = "".join(block.text for part in made for block in part.blocks)
    assert "".join(kept.split()) == "".join("".join(texts).split())


@pytest.mark.parametrize("category", ["ListItem", "Formula", "CodeSnippet"])
def test_lists_formulas_and_code_are_not_cut(category: str) -> None:
    """An item is cited as a whole."""
    (made,) = chunk([element("First part. Second part.", category=category)], ORIGIN)
    assert len(made.blocks) == 1


def picture(order: int, text: str = "") -> Element:
    return replace(element(text, order=order, category="Image"), element_type="image")


def described(order: int, text: str) -> Element:
    """What a model wrote of the picture of this order."""
    return replace(picture(order, text), id=f"c{order}", origin="caption", described_by="m")


def test_what_a_model_wrote_stands_alone_behind_its_picture() -> None:
    """No print shares its chunk; its sentences are blocks; the printed caption helps to find it."""
    title = element("Figure 1: harvest", order=2, category="FigureCaption")
    after = element("Pears.", order=3)
    shown = described(1, "A bar chart. It rises.")
    made = chunk([element("Trees.", order=0), picture(1, "Q1"), shown, title, after], ORIGIN)
    assert [part.text for part in made] == ["Trees.", "Q1\nFigure 1: harvest", "A bar chart.\nIt rises.", "Pears."]
    assert [(part.origin, part.described_by) for part in made] == [
        *[("text-layer", "")] * 2,
        ("caption", "m"),
        ("text-layer", ""),
    ]
    assert made[2].prefix == "Figure 1: harvest"


def test_what_a_model_wrote_changes_no_other_chunk() -> None:
    """Text that runs past a picture without print goes on in one chunk."""
    printed = [element("Trees grow.", order=0), picture(1), element("Pears.", order=2)]
    alone = chunk(printed, ORIGIN)
    beside = chunk([*printed[:2], described(1, "A tree."), printed[2]], ORIGIN)
    assert [part.blocks for part in beside if part.origin != "caption"] == [part.blocks for part in alone]
    assert [part.text for part in beside] == ["Trees grow.\nPears.", "A tree."]


def test_a_label_among_figures_is_no_figure_of_that_column() -> None:
    """`Total due` in the column of unit prices is said without that header; the amount beside it keeps its own."""
    rows = [("Item", "Unit price", "Amount"), ("Lamp", "32.00", "160.00"), ("", "Total due", "192.00")]
    cells, lines, offset = [], [], 0
    for row, texts in enumerate(rows):
        position = offset
        for column, text in enumerate(texts):
            headers = (rows[0][column],) if row else ()
            cells.append(Cell(row, column, 1, 1, text, 1, None, (), headers, position, position + len(text), not row))
            position += len(text) + 3
        lines.append(" | ".join(texts))
        offset = position - 2
    source = replace(table_element(), text="\n".join(lines), table=Table(tuple(cells)))
    (made,) = chunk([source], ORIGIN)
    assert [block.labelled for block in made.blocks] == [
        "Item：Lamp | Unit price：32.00 | Amount：160.00",
        "Total due | Amount：192.00",
    ]
