"""Tables: printed strings byte for byte, spans, header paths, captions and scales; and what is no table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pymupdf
import pytest

from ingest.chunk import Origin, chunk
from ingest.layout import LayoutBox
from ingest.limits import Limits
from ingest.pdf import parse_pdf
from ingest.table_confidence import grid_confidence, with_table_grade
from ingest.tables import FoundTables, find_tables
from kb_qa.answers import Hit, Question
from kb_qa.elements import Cell, Element
from kb_qa.geometry import BBox, Quality
from kb_qa.ledger import Ledger
from kb_qa.prompts import build_context
from tests.pdf_pages import Draw, draw_grid, ink, tables, texts, write_pdf
from tests.table_drafts import built, cell, draft_table, grid, line, table_draft, texts_of


def only_table(path: Path) -> Element:
    (table,) = tables(parse_pdf(path, "document", limits=Limits()))
    return table


def cell_at(element: Element, row: int, column: int) -> Cell:
    assert element.table is not None
    return next(
        cell
        for cell in element.table.cells
        if cell.row <= row < cell.row + cell.row_span and cell.column <= column < cell.column + cell.column_span
    )


@pytest.mark.parametrize("font", ["helv", "tiro", "cour"])
def test_b1_separators_stay_where_they_are_printed(tmp_path: Path, font: str) -> None:
    """Cell text is what stands in the cell, at 6, 8, 12 and 14 points in three fonts (B1)."""
    rows = [["Item", "2024", "2023"], ["Net sales", "4,812.5", "5,004"], ["Net margin", "(1,200)", "12.5%"]]

    def page_in(size: float) -> Draw:
        def draw(page: pymupdf.Page) -> None:
            page.insert_text((72, 200 + 20 * size), "Text below keeps the table from going on.", fontsize=10)
            draw_grid(page, rows, size=size, font=font)

        return draw

    path = write_pdf(tmp_path / "a.pdf", *(page_in(size) for size in (6, 8, 12, 14)))
    found = tables(parse_pdf(path, "document", limits=Limits()))
    assert len(found) == 4
    for element in found:
        assert [[cell.text for cell in row] for row in element.table.rows] == rows  # type: ignore[union-attr]
        assert element.text == "Item | 2024 | 2023\nNet sales | 4,812.5 | 5,004\nNet margin | (1,200) | 12.5%"


def test_b16_numerals_are_byte_identical_from_page_to_context(tmp_path: Path) -> None:
    """No number is parsed and printed again on the way through the store into the context of a model (B16)."""
    values = ["1.10", "0012", "123456.78", "1e5", "3.0%", "1/2", "2024-03-05"]
    rows = [["Name", "Value"], *([f"row {index}", value] for index, value in enumerate(values))]
    path = write_pdf(tmp_path / "a.pdf", lambda page: draw_grid(page, rows))
    parsed = parse_pdf(path, "d" * 64, limits=Limits())
    with Ledger.open(tmp_path / "kb", create=True) as ledger:
        ledger.set_embedder("hash", 64)
        version = ledger.receive("d" * 64, "a.pdf", "", size=1, kind="pdf", pipeline="1")
        ledger.mark(version, "stored")
        ledger.mark(version, "parsing")
        ledger.store_parse(version, parsed)
        (element,) = tables(ledger.load_parse(version))
        made = chunk(ledger.load_parse(version).elements, Origin("d" * 64, version, "a.pdf", "1"))
        ledger.store_chunks(version, made, [[] for _ in made])
        (stored,) = ledger.chunks_to_embed(version)
    assert [cell_at(element, row, 1).text for row in range(1, 8)] == values
    for each in element.table.cells:  # type: ignore[union-attr]
        assert element.text[each.start : each.end] == each.text
    context = build_context(Question("What is the value of row 1?", "en"), [Hit(stored, {})])
    for index, value in enumerate(values):
        assert f"row {index} | {value}\n" in f"{context.for_readers}\n"
        assert f"Name：row {index} | Value：{value}\n" in f"{context.for_models}\n"


def spanning(page: pymupdf.Page) -> None:
    """A header over three columns, a label beside two rows."""
    xs, ys = [72, 172, 272, 372, 472], [100, 130, 160, 190, 220]
    for x0, y0, x1, y1, text in [
        (0, 0, 1, 2, "Segment"),
        (1, 0, 4, 1, "Revenue (millions)"),
        (1, 1, 2, 2, "2022"),
        (2, 1, 3, 2, "2023"),
        (3, 1, 4, 2, "2024"),
        (0, 2, 1, 4, "A"),
        (1, 2, 2, 3, "96"),
        (2, 2, 3, 3, "97"),
        (3, 2, 4, 3, "98"),
        (1, 3, 2, 4, "87"),
        (2, 3, 3, 4, "88"),
        (3, 3, 4, 4, "89"),
    ]:
        box = pymupdf.Rect(xs[x0], ys[y0], xs[x1], ys[y1])
        page.draw_rect(box)
        page.insert_text((box.x0 + 6, (box.y0 + box.y1) / 2 + 4), text, fontsize=10)


def test_b3_spanning_labels_reach_every_cell(tmp_path: Path) -> None:
    """A spanning header and a spanning label are in the paths of all cells they cover (B3)."""
    element = only_table(write_pdf(tmp_path / "a.pdf", spanning))
    assert "None" not in element.text
    assert cell_at(element, 0, 1).column_span == 3
    for column, year in ((1, "2022"), (2, "2023"), (3, "2024")):
        for row in (2, 3):
            cell = cell_at(element, row, column)
            assert cell.column_headers == ("Revenue (millions)", year)
            assert cell.row_headers == ("A",)
    assert [cell_at(element, 3, column).text for column in (1, 2, 3)] == ["87", "88", "89"]
    assert element.table.scale == 6  # type: ignore[union-attr]


def test_b3_merged_header_cells_are_repeated_and_none_is_no_word(tmp_path: Path) -> None:
    """`Revenue (millions)` over three columns is said before each value, `A` beside both of its rows (B3)."""
    texts = {
        (0, 1, 1, 3): "Revenue (millions)",
        (1, 0, 2, 1): "A",
        **{(row, column, 1, 1): value for row, values in ((1, "96 97 98"), (2, "87 88 89"))
           for column, value in enumerate(values.split(), start=1)},
        (0, 0, 1, 1): "Segment",
        (3, 0, 1, 1): "B",
        **{(3, column, 1, 1): value for column, value in enumerate(("75", "76", "77"), start=1)},
    }  # fmt: skip

    def draw(page: pymupdf.Page) -> None:
        for (row, column, rows, columns), text in texts.items():
            x, y = 72 + 110 * column, 100 + 28 * row
            page.draw_rect(pymupdf.Rect(x, y, x + 110 * columns, y + 28 * rows))
            page.insert_text((x + 6, y + 14 * rows + 4), text, fontsize=10)

    parsed = parse_pdf(write_pdf(tmp_path / "a.pdf", draw), "document", limits=Limits())
    blocks = [block for made in chunk(parsed.elements, Origin("document", 1, "a.pdf", "1")) for block in made.blocks]
    assert [block.text for block in blocks] == ["A | 96 | 97 | 98", "87 | 88 | 89", "B | 75 | 76 | 77"]
    for block, label, values in zip(blocks, "AAB", ("96 97 98", "87 88 89", "75 76 77"), strict=True):
        expected = [f"Segment：{label}", *(f"Revenue (millions)：{value}" for value in values.split())]
        assert block.labelled.split(" | ")[:4] == expected
        assert "None" not in block.labelled
    (element,) = tables(parsed)
    assert element.table is not None
    measures = {element.table.measure_of(cell) for cell in element.table.cells if cell.text.isdigit()}
    assert [(measure.scale, measure.source.text) for measure in measures if measure] == [(6, "Revenue (millions)")]


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_cells_are_where_they_are_displayed(tmp_path: Path, rotation: int) -> None:
    """At every rotation the box of a cell shows its words, and they are inside it."""

    def draw(page: pymupdf.Page) -> None:
        draw_grid(page, [["Item", "2024"], ["Sales", "4,812.5"], ["Costs", "3,100.2"]], cell=(150, 30))
        page.set_rotation(rotation)

    path = write_pdf(tmp_path / "a.pdf", draw)
    element = only_table(path)
    cell = next(cell for cell in element.table.cells if cell.text == "4,812.5")  # type: ignore[union-attr]
    assert cell.bbox is not None
    assert ink(path, 1, cell.bbox) > 0.01
    (word,) = [word for word in element.words if word.text == "4,812.5"]
    assert word.bbox.overlap(cell.bbox) > 0.9


def test_a_cell_is_as_high_as_what_is_printed_in_it() -> None:
    """A guessed rule that runs through a line is moved past it, up and down; sides and other cells stay."""
    cells = grid([["", "2024"], ["Net sales", "8,412"]])
    low = replace(cells[1], bbox=replace(cells[1].bbox, y0=cells[1].lines[0].bbox.y0 + 4, y1=9.0))
    table = built(draft_table([cells[0], low, *cells[2:]]))
    boxes = {each.text: each.bbox for each in table.cells}
    assert boxes["2024"] == replace(low.bbox, y0=4.0, y1=14.0)
    assert boxes["8,412"] == cells[3].bbox


def test_b2_an_empty_grid_and_a_box_are_no_tables(tmp_path: Path) -> None:
    """A grid without text and a call-out frame give no table; the text in and around them is kept (B2)."""

    def draw(page: pymupdf.Page) -> None:
        draw_grid(page, [["", "", ""]] * 3)
        page.draw_rect(pymupdf.Rect(72, 300, 400, 340))
        page.insert_text((80, 325), "A call-out in a frame is not a table.")
        page.insert_text((72, 400), "Text outside of every frame stays as well.")

    document = parse_pdf(write_pdf(tmp_path / "a.pdf", draw), "document", limits=Limits())
    assert tables(document) == []
    joined = " ".join(texts(document))
    assert "A call-out in a frame is not a table." in joined
    assert "Text outside of every frame stays as well." in joined


@dataclass
class EmptyFinder:
    """A page whose table finder finds a table without cells: reading its box raises."""

    @dataclass(slots=True)
    class Found:
        cells: tuple[()] = ()

        @property
        def bbox(self) -> tuple[float, ...]:
            return min(self.cells)

    def find_tables(self, **_: object) -> EmptyFinder:
        return self

    def get_text(self, *_: object) -> str:
        return ""

    @property
    def tables(self) -> list[EmptyFinder.Found]:
        return [EmptyFinder.Found()]


def test_b2_a_found_table_without_cells_is_skipped() -> None:
    """Nothing is lost with it: the lines stay text (B2)."""
    lines = [line("The text of the page.", 72, 100)]
    found = find_tables(EmptyFinder(), lines, [LayoutBox("table", BBox(60, 90, 300, 130))])  # type: ignore[arg-type]
    assert found == FoundTables((), tuple(lines))


def test_two_columns_of_prose_in_frames_are_no_table(tmp_path: Path) -> None:
    """Running text in a ruled two-column frame stays text."""
    prose = "the board of the company resolved to pay a dividend of two euros for each share held by the owners "

    def draw(page: pymupdf.Page) -> None:
        for column in (0, 1):
            for row in (0, 1):
                box = pymupdf.Rect(60 + column * 240, 100 + row * 180, 300 + column * 240, 280 + row * 180)
                page.draw_rect(box)
                page.insert_textbox(pymupdf.Rect(box.x0 + 6, box.y0 + 6, box.x1 - 6, box.y1 - 6), prose * 5, fontsize=9)

    assert tables(parse_pdf(write_pdf(tmp_path / "a.pdf", draw), "document", limits=Limits())) == []


def test_a_caption_and_a_unit_line_above_belong_to_the_table(tmp_path: Path) -> None:
    """The numbered caption and the scale line are taken up, and the scale says where it was read."""

    def draw(page: pymupdf.Page) -> None:
        page.insert_text((72, 70), "Table 3: Revenue by segment", fontsize=11)
        page.insert_text((72, 90), "(in millions of US$)", fontsize=8)
        draw_grid(page, [["Segment", "2024"], ["Retail", "1,204"], ["Wholesale", "2,001"]])

    path = write_pdf(tmp_path / "a.pdf", draw)
    element = only_table(path)
    table = element.table
    assert table is not None
    assert table.caption == "Table 3: Revenue by segment"
    assert (table.scale, table.unit) == (6, "USD")
    source = table.scale_source
    assert source is not None and source.region is not None and source.region.bbox is not None
    assert "millions" in source.text
    assert ink(path, 1, source.region.bbox) > 0.02


def test_a_chinese_unit_line_is_read(tmp_path: Path) -> None:
    """`单位：万元` above a table is its scale."""

    def draw(page: pymupdf.Page) -> None:
        page.insert_text((72, 70), "表1 主要会计数据", fontname="china-s", fontsize=12)
        page.insert_text((360, 92), "单位：万元", fontname="china-s", fontsize=9)
        draw_grid(page, [["项目", "2024年", "2023年"], ["营业收入", "413,200", "398,100"]], font="china-s")

    element = only_table(write_pdf(tmp_path / "a.pdf", draw))
    assert element.table is not None
    assert (element.table.scale, element.table.unit) == (4, "CNY")
    assert element.table.caption.replace(" ", "") == "表1主要会计数据"
    value = cell_at(element, 1, 1)
    assert (value.text, value.row_headers, value.column_headers) == ("413,200", ("营业收入",), ("2024年",))


def test_d10_a_row_whose_label_is_numbered_is_kept(tmp_path: Path) -> None:
    """A label that begins `1)` and a raised exponent lose neither row nor unit (D10)."""

    def draw(page: pymupdf.Page) -> None:
        draw_grid(page, [["Quantity", "Value"], ["1) Heat output", "250"], ["2) Volume in m", "31.4"]])
        x = 76 + pymupdf.get_text_length("2) Volume in m", fontsize=10)
        page.insert_text((x, 160), "3", fontsize=6)

    element = only_table(write_pdf(tmp_path / "a.pdf", draw))
    assert cell_at(element, 1, 0).text == "1) Heat output"
    assert cell_at(element, 1, 1).text == "250"
    assert cell_at(element, 2, 0).text == "2) Volume in m 3"


def test_d10_a_raised_mark_is_no_digit_of_its_figure(tmp_path: Path) -> None:
    """`250` with a small raised 9 behind it is 250, and the mark stays printed, apart (D10)."""

    def draw(page: pymupdf.Page) -> None:
        draw_grid(page, [["Quantity", "Value"], ["Heat output", "250"], ["Cooling", "180"]], size=11)
        page.insert_text((196 + pymupdf.get_text_length("250", fontsize=11), 135), "9", fontsize=6)
        page.insert_text((72, 200), "9 Measured at full load.", fontsize=8)

    element = only_table(write_pdf(tmp_path / "a.pdf", draw))
    cell = cell_at(element, 1, 1)
    assert cell.text == "250 9"
    assert [word.text for word in element.words if cell.start <= word.start < cell.end] == ["250", "9"]
    assert element.table is not None
    assert element.table.notes == ("9 Measured at full load.",)


def test_control_characters_are_no_part_of_a_cell() -> None:
    """Bytes that print nothing, glued to a word or alone, are left out; what is printed stays byte for byte."""
    rows = [["\x03Item", "2024\x00"], ["Sales", "\x1f4,812.5"], ["Tax", "\x07"], ["Net", "1"]]
    assert filled(rows) == [["Item", "2024"], ["Sales", "4,812.5"], ["Tax", ""], ["Net", "1"]]


@dataclass
class FoundGrid:
    """A page whose table finder finds one grid, and a finder's table of these cells."""

    cells: list[tuple[float, float, float, float]]

    def find_tables(self, **_: object) -> FoundGrid:
        return self

    def get_text(self, *_: object) -> str:
        return ""

    @property
    def tables(self) -> list[FoundGrid]:
        return [self]


def filled(rows: list[list[str]]) -> list[list[str]]:
    """What the cells of a found grid of two columns hold, where these strings are printed in them."""
    places = [(row, column) for row in range(len(rows)) for column in (0, 1)]
    lines = [line(rows[row][column], 64 + 120 * column, 104 + 20 * row) for row, column in places]
    boxes = [(60.0 + 120 * column, 100.0 + 20 * row, 180.0 + 120 * column, 120.0 + 20 * row) for row, column in places]
    frame = LayoutBox("table", BBox(60, 100, 300, 100 + 20 * len(rows)))
    (draft,) = find_tables(FoundGrid(boxes), lines, [frame]).drafts  # type: ignore[arg-type]
    assert draft.table is not None
    return texts_of(draft.table.cells)


def test_leader_dots_are_no_part_of_a_label() -> None:
    """Dots that lead to the figures, and a typed rule, are left out; `...` for a missing value stays."""
    rows = [["Item", "2024"], ["Sales ........", "4,812"], ["--------", "--------"], ["Tax ........", "..."]]
    assert filled(rows) == [["Item", "2024"], ["Sales", "4,812"], ["Tax", "..."]]


def test_a_doubtful_grid_lowers_the_grade_of_its_page() -> None:
    """Cells that hold several figures make a table unsure, and its page says so (fair, or poor)."""
    sure = grid_confidence(grid([["Item", "2024"], ["Sales", "4"], ["Tax", "1"]]), [(0, 1)], ruled=True)
    stacked = [*grid([["Item", "2024"]]), cell(1, 0, "Sales", "Tax"), cell(1, 1, "4", "1"), cell(2, 1, "5", "2")]
    unsure = grid_confidence(stacked, [(0, 1)], ruled=False)
    assert sure == 1.0
    assert unsure < 0.8
    good = table_draft(replace(draft_table(stacked), confidence=sure))
    bad = table_draft(replace(draft_table(stacked), confidence=unsure))
    assert with_table_grade(Quality(), [good]) == Quality()
    graded = with_table_grade(Quality(), [good, bad])
    assert graded.grade in ("fair", "poor")
    assert graded.reasons == (f"the rows and columns of a table are not sure (confidence {unsure:.2f})",)


def test_a_heading_centred_over_columns_without_rules_spans_them(tmp_path: Path) -> None:
    """`Year ended` printed over the middle of three years is in the path of each."""

    def draw(page: pymupdf.Page) -> None:
        rows = [
            ["", "2024", "2023", "2022"],
            ["Sales", "4,812", "4,500", "4,100"],
            ["Costs", "3,100", "3,000", "2,900"],
        ]
        rows += [["Profit", "1,712", "1,500", "1,200"], ["Tax", "400", "380", "300"]]
        page.insert_text((307, 90), "Year ended", fontsize=10)
        for x in (72, 450):
            page.draw_line((x, 76), (x, 230))
        for y in (76, 116, 230):
            page.draw_line((72, y), (450, y))
        for row, values in enumerate(rows):
            for column, text in enumerate(values):
                x = 78 if column == 0 else 240 + column * 60 - pymupdf.get_text_length(text, fontsize=10) / 2 - 30
                page.insert_text((x, 110 + row * 24), text, fontsize=10)

    element = only_table(write_pdf(tmp_path / "a.pdf", draw))
    value = next(cell for cell in element.table.cells if cell.text == "4,812")  # type: ignore[union-attr]
    assert value.row_headers == ("Sales",)
    assert value.column_headers[-1] == "2024"
