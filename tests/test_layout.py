"""From lines and the layout model's boxes to drafts: captions, cut paragraphs, boxes that mean nothing."""

from __future__ import annotations

import pytest

from ingest.drafts import Draft, bbox_of
from ingest.layout import LayoutBox, can_head, is_in_pieces, leaves_table_out, page_drafts, trusted_boxes
from ingest.printed import PrintedLine
from kb_qa.geometry import BBox
from tests.drafts_of import draft, printed


def columns(gutter: float) -> tuple[list[PrintedLine], list[PrintedLine]]:
    left = [printed("some words of the left column", 72, 100 + 12.5 * row) for row in range(6)]
    right = [printed("and of the right one", left[0].bbox.x1 + gutter, 100 + 12.5 * row) for row in range(6)]
    return left, right


def box_of(label: str, lines: list[PrintedLine]) -> LayoutBox:
    return LayoutBox(label, bbox_of(lines), tuple(line.bbox for line in lines))


def test_columns_with_a_narrow_gutter_are_no_cut_paragraphs() -> None:
    """Two boxes that a straight white line parts are two columns, however near they stand."""
    left, right = columns(9)
    boxes = [box_of("text", left), box_of("text", right)]
    assert trusted_boxes(boxes, [*left, *right], ()) == boxes


def test_boxes_that_cut_through_lines_are_not_trusted() -> None:
    """The right parts of a paragraph's lines begin left of where others end: the model parted what is one."""
    lines = []
    for row in range(6):
        first = printed(" ".join(["word"] * (row + 2)), 72, 100 + 12.5 * row)
        lines.append((first, printed("rest of it", first.bbox.x1 + 8, 100 + 12.5 * row)))
    boxes = [box_of("text", [first for first, _ in lines]), box_of("text", [rest for _, rest in lines])]
    assert trusted_boxes(boxes, [line for pair in lines for line in pair], ()) == []


def test_a_page_set_word_by_word_is_known_by_boxes_within_lines() -> None:
    """Boxes of a word or two all over the lines; boxes of whole lines, short ones, too, are as they should be."""
    lines = [printed("some words of a line that is long", 72, 100 + 12.5 * row) for row in range(6)]
    pieces = [LayoutBox("table", BBox(72, line.bbox.y0, 110, line.bbox.y1)) for line in lines]
    assert is_in_pieces(pieces, lines)
    assert not is_in_pieces([LayoutBox("text", line.bbox) for line in lines], lines)


def test_paragraphs_that_the_model_boxed_together_are_parted() -> None:
    """A wider gap after the end of a sentence begins a paragraph; within a sentence it does not."""
    tops = (100.0, 114.0, 128.0, 152.0, 166.0)
    for ending, count in ((".", 2), (",", 1)):
        texts = ["Sites were closed", "and opened again", f"in the south{ending}", "Service was better", "than before."]
        lines = [printed(text, 72, top) for text, top in zip(texts, tops, strict=True)]
        assert len(page_drafts(lines, [box_of("text", lines)], tables=(), pictures=())) == count


def test_a_marked_table_that_was_not_made_is_noticed() -> None:
    """Then the model that sees the page is asked; a table somewhere in the marked place is enough."""
    marked = LayoutBox("table", BBox(100, 100, 300, 200))
    made = draft("Table", "cell", x=120, y=120)
    assert leaves_table_out([marked], [])
    assert leaves_table_out([marked], [draft("Table", "cell", x=400, y=400)])
    assert not leaves_table_out([marked], [made])
    assert not leaves_table_out([LayoutBox("text", marked.bbox)], [])


@pytest.mark.parametrize("text", ["48.6亿元", "3,150人", "$4.8 billion", "12.5%", "+16.7%", "□ 是 √ 否", "2024"])
def test_figures_and_boxes_head_nothing(text: str) -> None:
    """However large they are printed."""
    assert not can_head(text)


@pytest.mark.parametrize("text", ["1 Business", "2024年", "2025年度经营简报", "3 概况", "Item 7."])
def test_words_and_years_can_head(text: str) -> None:
    """A number before them is a numbering."""
    assert can_head(text)


def categories_of(*lines: PrintedLine, tables: tuple[Draft, ...] = ()) -> list[str]:
    boxes = [LayoutBox("text", line.bbox, (line.bbox,)) for line in lines]
    return [draft.category for draft in page_drafts(lines, boxes, tables=tables, pictures=())]


@pytest.mark.parametrize("text", ["Table 2. Employees by country", "Figure 3: Revenue", "图3-1 产量", "表 2 员工人数"])
def test_a_number_and_a_name_are_a_caption(text: str) -> None:
    """Even where the model calls it text, and nothing stands beside it."""
    assert categories_of(printed(text)) == ["FigureCaption"]


def test_a_sentence_that_begins_with_a_table_is_text_where_no_table_is() -> None:
    """`Table 2 shows that …` tells of one elsewhere."""
    assert categories_of(printed("Table 2 shows that sales grew.")) == ["NarrativeText"]


def test_what_stands_under_a_bare_label_is_part_of_the_caption() -> None:
    """`Table 1`, and on the next line what it is called."""
    lines = [printed("Table 1", 72, 100), printed("Characteristics of the carbon", 72, 113)]
    boxes = [LayoutBox("text", line.bbox, (line.bbox,)) for line in lines]
    (caption,) = page_drafts(lines, boxes, tables=(), pictures=())
    assert (caption.category, caption.text) == ("FigureCaption", "Table 1 Characteristics of the carbon")


def test_a_heading_that_runs_on_in_small_letters_is_the_beginning_of_its_paragraph() -> None:
    """The model called the first line a heading; in the type of the text, and without room for more, it is none."""
    first = printed("The company fully supports openness and", 72, 100)
    rest = printed("transparency in all of its publications.", 72, 113)
    boxes = [LayoutBox("section-header", first.bbox, (first.bbox,)), LayoutBox("text", rest.bbox, (rest.bbox,))]
    (paragraph,) = page_drafts([first, rest], boxes, tables=(), pictures=())
    assert paragraph.category == "NarrativeText"


def test_lines_in_the_middle_of_a_paragraph_are_part_of_it() -> None:
    """The model gave the second line a box of its own, inside that of the others."""
    lines = [printed(f"line {row} of a paragraph of the text.", 72, 100 + 12.5 * row) for row in range(4)]
    outer = LayoutBox("text", bbox_of(lines), tuple(line.bbox for line in (lines[0], lines[1], lines[3])))
    boxes = [outer, LayoutBox("text", lines[2].bbox, (lines[2].bbox,))]
    (paragraph,) = page_drafts(lines, boxes, tables=(), pictures=())
    assert list(paragraph.lines) == lines
