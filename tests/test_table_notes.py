"""Footnotes below a table belong to it, with their places, and travel in its chunk."""

from __future__ import annotations

import pytest

from ingest.drafts import Draft, text_draft
from ingest.printed import line_of
from ingest.table_captions import with_surroundings
from kb_qa.elements import Table
from tests.table_drafts import built, cell_named, draft_table, grid, line, paragraph, table_draft, word

ROWS = [["Item", "2024 (a)"], ["Revenue (1)", "4,812"], ["Costs *", "3,100"], ["Profit ①", "1,712"]]
BOTTOM = 80.0  # of the four rows


def noted(*below: Draft) -> Table:
    drafts = with_surroundings([table_draft(draft_table(grid(ROWS))), *below], 3)
    return next(built(draft.table, 3) for draft in drafts if draft.table is not None)


@pytest.mark.parametrize(
    "text",
    [
        "Note: figures are unaudited.",
        "Notes - figures are unaudited.",
        "Source: annual accounts.",
        "SOURCES: annual accounts.",
        "(1) Net of returns.",
        "(a) Restated.",
        "* Without depreciation.",
        "①经审计。",
        "注：未经审计。",
        "注1：未经审计。",
        "资料来源：年度报告",
        "数据来源：国家统计局",
        "说明：口径已调整。",
    ],
)
def test_notes_right_below_belong_to_the_table(text: str) -> None:
    """Named notes in both languages, and marks that the table's cells print."""
    below = paragraph(text, BOTTOM + 6)
    table = noted(below)
    assert table.notes == (text,)
    (region,) = table.note_regions
    assert (region.page, region.bbox) == (3, below.bbox.rounded())


@pytest.mark.parametrize(
    "text",
    [
        "(2) The second point of the text is about something else.",
        "Note that the second half of the year was better.",
        "Note 5 - Income taxes",
        "2) Outlook",
        "Revenue rose by five percent.",
        "注意风险。",
    ],
)
def test_other_text_below_stays_text(text: str) -> None:
    """A list, a sentence or a heading under a table is no note of it."""
    assert noted(paragraph(text, BOTTOM + 6)).notes == ()


def test_small_print_with_any_mark_is_a_note() -> None:
    """In smaller type than the table's a mark counts even where the cells lost it."""
    assert noted(paragraph("2) Outlook", BOTTOM + 6, size=7)).notes == ("2) Outlook",)


def test_one_paragraph_can_hold_several_notes() -> None:
    """Each mark begins a note; a line without one goes on with the note above it."""
    lines = [
        line(text, 0, BOTTOM + 6 + 12 * index)
        for index, text in enumerate(["(1) Net of returns", "and of rebates.", "(a) Restated.", "* Estimate."])
    ]
    table = noted(text_draft("NarrativeText", lines))
    assert table.notes == ("(1) Net of returns and of rebates.", "(a) Restated.", "* Estimate.")
    assert len(table.note_regions) == 3


def test_notes_follow_one_another_and_end_with_other_text() -> None:
    """The list of notes ends where a paragraph or a wide gap does not go on with it."""
    table = noted(
        paragraph("Source: accounts.", BOTTOM + 4),
        paragraph("(7) Unaudited.", BOTTOM + 18),
        paragraph("The text goes on.", BOTTOM + 32),
        paragraph("(1) Not a note any more.", BOTTOM + 46),
    )
    assert table.notes == ("Source: accounts.", "(7) Unaudited.")
    assert noted(paragraph("Source: accounts.", BOTTOM + 90)).notes == ()


def test_a_raised_figure_marks_a_note() -> None:
    """A small raised 1 before the text, as the cell has it behind its figure."""
    mark = word("1", 0, BOTTOM + 5, size=5)
    text = [word("Unaudited", 4, BOTTOM + 6, size=10, spaced=True), word("figures.", 60, BOTTOM + 6, spaced=True)]
    raised = [*grid(ROWS[:3])]
    cell = raised[3]
    figure = word("4,812", 124, 24)
    raised[3] = type(cell)(1, 1, 1, 1, cell.bbox, (line_of([figure, word("1", 150, 22, size=5, spaced=True)]),))
    below = text_draft("NarrativeText", [line_of([mark, *text])])
    drafts = with_surroundings([table_draft(draft_table(raised)), below], 1)
    table = built(drafts[0].table)  # type: ignore[arg-type]
    assert table.notes == ("1 Unaudited figures.",)
    assert cell_named(table, "Revenue (1)", "2024 (a)").text == "4,812 1"
