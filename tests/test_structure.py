"""What the parts of a document are: furniture, headings, notes, programs, and paragraphs that go on elsewhere."""

from __future__ import annotations

import pytest

from ingest.assemble import assemble_elements
from ingest.drafts import Draft, PageDraft
from ingest.footnotes import with_footnotes
from ingest.furniture import with_furniture
from ingest.headings import with_headings
from ingest.page_breaks import with_joined_pages
from ingest.program_text import with_program_text
from kb_qa.elements import Element
from tests.drafts_of import categories, draft, page_of

PROSE = (
    "The group sells instruments for the measurement of water and air",
    "to customers in many countries of the world.",
)
OPEN = (
    "The impairment charge that was recorded for the goodwill of the",
    "segment in the third quarter of the year amounted to USD 41",
)
REST = ("million before tax and was recorded in other expenses.",)


def prose(y: float = 300.0, x: float = 72.0) -> Draft:
    return draft("NarrativeText", *PROSE, x=x, y=y)


def sections(*pages: PageDraft) -> list[tuple[tuple[str, ...], str]]:
    """Each element's path of headings and its first words."""
    return [(element.section, element.text[:12]) for element in assemble_elements(pages, "d")]


# Furniture


def kinds_at_the_edges(pages: list[PageDraft]) -> list[set[str]]:
    return [{draft.category for draft in page.drafts} - {"NarrativeText"} for page in with_furniture(pages)]


def test_b15_what_repeats_on_half_of_the_pages_is_furniture_whatever_its_digits() -> None:
    """`ACME AR 2024 - Page 3 of 6` is a footer on every page, and a sentence is not broken by it (B15)."""
    pages = [
        page_of(prose(), draft("NarrativeText", f"ACME AR 2024 - Page {number} of 6", y=810), number=number)
        for number in range(1, 7)
    ]
    assert kinds_at_the_edges(pages) == [{"Footer"}] * 6


def test_heads_of_left_and_right_pages_may_differ_and_the_first_may_have_none() -> None:
    """Each stands on fewer than half of all pages, but on most of its side."""
    pages = [page_of(prose(), number=1)] + [
        page_of(draft("NarrativeText", ("Annual report", "The year")[number % 2], y=40), prose(), number=number)
        for number in range(2, 9)
    ]
    assert kinds_at_the_edges(pages) == [set()] + [{"Header"}] * 7


def test_b15_a_heading_that_stands_once_at_the_top_is_no_head_whatever_the_model_says() -> None:
    """It stands where no other page has a head (B15)."""
    pages = [page_of(prose(), number=number) for number in range(1, 7)]
    pages[3] = page_of(draft("Header", "Risk management", y=70), prose(), number=4)
    assert kinds_at_the_edges(pages) == [set()] * 6
    large = page_of(draft("Header", "Two columns with a box", y=40, size=18), prose())
    assert categories(with_headings(with_furniture([large])))[0][0] == ("Title", "Two columns with a box")


def test_heads_that_change_with_the_chapter_are_known_by_their_place() -> None:
    """A head that stands on one page only is one where others stand, if the model says so."""
    heads = ["Markets", "Markets", "Products", "Products", "Risks"]
    pages = [page_of(draft("Header", head, y=40), prose(), number=number) for number, head in enumerate(heads, start=1)]
    assert kinds_at_the_edges(pages) == [{"Header"}] * 5


def test_chinese_page_numbers_are_page_numbers() -> None:
    """`第 3 页 共 6 页` on every page."""
    pages = [
        page_of(prose(), draft("NarrativeText", f"第 {number} 页 共 6 页", y=810), number=number)
        for number in range(1, 7)
    ]
    assert kinds_at_the_edges(pages) == [{"PageNumber"}] * 6


def test_a_stamp_at_the_very_edge_is_furniture_on_a_single_page() -> None:
    """`Downloaded from …` four points below the edge of the paper."""
    pages = with_furniture(
        [page_of(draft("NarrativeText", "Downloaded from http://example.org on July 12", y=4), prose())]
    )
    assert categories(pages)[0][0][0] == "Header"


# Headings


def test_numbering_tells_the_levels_of_headings_in_one_type() -> None:
    """1, 1.1, 1.1.1 and 1.2, all of one size."""
    titles = ["1 Business", "1.1 Markets", "1.1.1 Europe", "1.2 Products", "2 Risks"]
    drafts = [
        part
        for row, title in enumerate(titles)
        for part in (draft("Title", title, y=60 + 100 * row, bold=True), prose(80 + 100 * row))
    ]
    paths = [path for path, text in sections(page_of(*drafts)) if text.startswith("The group")]
    assert paths == [
        ("1 Business",),
        ("1 Business", "1.1 Markets"),
        ("1 Business", "1.1 Markets", "1.1.1 Europe"),
        ("1 Business", "1.2 Products"),
        ("2 Risks",),
    ]


def test_capitals_bold_and_italics_tell_the_levels_of_headings_in_one_size() -> None:
    """Bold capitals stand over bold, bold over bold italics, though nothing is larger or numbered."""
    styles = [("RISK FACTORS", False), ("Risks of our business", False), ("We may lose customers.", True)]
    drafts = [
        draft("Title", text, y=60 + 40 * row, bold=True, italic=italic) for row, (text, italic) in enumerate(styles)
    ]
    following = draft("Title", "Risks of our shares", y=400, bold=True)
    found = sections(page_of(*drafts, prose(300), following, prose(420)))
    assert [path for path, start in found if start.startswith("The group")] == [
        ("RISK FACTORS", "Risks of our business", "We may lose customers."),
        ("RISK FACTORS", "Risks of our shares"),
    ]


def test_a_bold_sentence_of_several_lines_can_head() -> None:
    """Risk factors have such headings; in plain type so long a text is a paragraph."""
    text = ["We have not established a minimum payment level and we cannot assure you of our ability to pay"] * 3
    bold, plain = draft("Title", *text, bold=True), draft("Title", *text, y=200)
    found = categories(with_headings([page_of(bold, plain, prose())]))[0]
    assert [category for category, _ in found] == ["Title", "NarrativeText", "NarrativeText"]


def test_chinese_numbering_makes_headings_of_lines_in_the_type_of_the_text() -> None:
    """第一章, 一、, （一） and 1. are four levels, though nothing is larger or bolder."""
    titles = ["第一章公司概况", "一、基本情况", "（一）历史沿革", "1. 设立情况", "二、主要业务", "第二章风险因素"]
    text = "公司在报告期内实现营业收入三亿二千万元，同比增长百分之五。"
    drafts = [
        draft("NarrativeText", line, y=60 + 40 * row)
        for row, line in enumerate(line for title in titles for line in (title, text))
    ]
    paths = [path for path, start in sections(page_of(*drafts)) if start.startswith("公司在")]
    wanted = [titles[:1], titles[:2], titles[:3], titles[:4], [titles[0], titles[4]], [titles[5]]]
    assert [list(path) for path in paths] == wanted


@pytest.mark.parametrize(
    "texts",
    [
        ("一、继续教育", "二、技能培训"),
        ("（一）加大研发投入；",),
        ("第一章 公司概况 ........ 3",),
        ("1、优化组织结构。",),
    ],
    ids=["a series", "a stop", "a line of contents", "a sentence"],
)
def test_numbered_lines_that_are_items_stay_items(texts: tuple[str, ...]) -> None:
    """Neighbours of one kind are a list; what ends with a stop, or with a page, heads nothing."""
    drafts = [draft("ListItem", text, y=60 + 20 * row) for row, text in enumerate(texts)]
    assert {category for category, _ in categories(with_headings([page_of(prose(40), *drafts)]))[0][1:]} == {"ListItem"}


@pytest.mark.parametrize(("text", "category"), [("2、" + "寒色孤村" * 6, "ListItem"), ("2、主要业务", "Title")])
def test_a_numbered_line_broken_by_the_page_s_end_is_no_heading(text: str, category: str) -> None:
    """It fills the width and goes on overleaf; a short one above the next page's text may head it."""
    full = "公司营业收入同比增长" * 3
    first = page_of(draft("NarrativeText", *[full[:27]] * 4), draft("ListItem", text, y=300))
    second = page_of(draft("NarrativeText", "悲风四野闻，溪深难受雪。", y=40), number=2)
    assert categories(with_headings([first, second]))[0][-1][0] == category


# Paragraphs that go on elsewhere


def joined(*pages: PageDraft) -> list[Element]:
    return list(assemble_elements(pages, "d"))


def test_a_paragraph_goes_on_in_the_next_column_with_a_region_in_each() -> None:
    """Two regions on one page, neither over the gutter, and the footnote between them is not in it."""
    left = draft("NarrativeText", *OPEN, x=60, y=700, size=8)
    note = draft("Footnote", "1 See note 14.", x=60, y=760, size=6)
    right = draft("NarrativeText", *REST, x=340, y=90, size=8)
    elements = joined(page_of(left, note, right))
    assert [element.category for element in elements] == ["NarrativeText", "Footnote"]
    assert "USD 41 million before tax" in elements[0].text
    boxes = [region.bbox for region in elements[0].regions]
    assert [region.page for region in elements[0].regions] == [1, 1]
    assert boxes[0] is not None and boxes[1] is not None and boxes[0].x1 < 340 <= boxes[1].x0


def test_a_paragraph_goes_on_below_a_figure_and_over_small_print() -> None:
    """A caption and a program stand where there is room; small print between the parts is a footnote."""
    small = draft("NarrativeText", "Permission to make copies is granted.", y=780, size=7)
    code = draft("CodeSnippet", "for x in y:", y=60)
    caption = draft("FigureCaption", "Figure 1. A loop.", y=90)
    pages = [
        page_of(draft("NarrativeText", *OPEN, y=740), small),
        page_of(code, caption, draft("NarrativeText", *REST, y=120), number=2),
    ]
    assert [(part.category, len(part.regions)) for part in joined(*pages)] == [
        ("NarrativeText", 2),
        ("Footnote", 1),
        ("CodeSnippet", 1),
        ("FigureCaption", 1),
    ]


def test_a_full_last_line_without_a_stop_goes_on_with_a_figure_or_a_name() -> None:
    """`amounted to USD` and, overleaf, `41 million`: no small letter, but the line was broken for want of room."""
    end = draft("NarrativeText", OPEN[0], "segment in the third quarter of the year amounted to the USD", y=740)
    start = draft("NarrativeText", "41 million before tax.", y=60)
    assert len(joined(page_of(end), page_of(start, number=2))) == 1
    short = draft("NarrativeText", OPEN[0], "as it was set out by the board", y=740)
    assert len(joined(page_of(short), page_of(start, number=2))) == 2


def test_labels_of_tiles_that_stand_beside_one_another_are_no_paragraph() -> None:
    """A tile ends without a stop and another begins beside it, higher up: nothing goes on."""
    tiles = [draft("NarrativeText", "投入7.29亿元", x=316, y=382), draft("NarrativeText", "期末员工", x=437, y=336)]
    assert len(joined(page_of(*tiles))) == 2
    tiles = [draft("NarrativeText", "net income", y=382), draft("NarrativeText", "up 5 %", x=300, y=336)]
    assert len(joined(page_of(*tiles))) == 2


@pytest.mark.parametrize(
    "between",
    [draft("Title", "Results", y=60, bold=True), draft("Formula", "E = mc", y=60)],
    ids=["heading", "formula"],
)
def test_nothing_goes_on_over_a_heading_or_a_formula(between: Draft) -> None:
    """What stands between two parts in the running text keeps them apart."""
    pages = [
        page_of(draft("NarrativeText", *OPEN, y=740)),
        page_of(between, draft("NarrativeText", *REST, y=90), number=2),
    ]
    assert len(joined(*pages)) == 3


def test_b14_a_paragraph_of_three_pages_has_each_word_on_its_page() -> None:
    """Three regions, pages 1 to 3, and every word says its own (B14)."""
    middle = draft(
        "NarrativeText",
        "and of the other business that was held for sale at the end of the",
        "year, which was written down to",
        y=60,
    )
    pages = [
        page_of(draft("NarrativeText", *OPEN, y=740)),
        page_of(middle, number=2),
        page_of(draft("NarrativeText", "nil in MARK-3 and sold.", y=60), number=3),
    ]
    (element,) = joined(*pages)
    assert [region.page for region in element.regions] == [1, 2, 3]
    assert {word.page for word in element.words if word.text == "MARK-3"} == {3}


# Footnotes and programs


def test_small_marked_lines_at_the_foot_are_footnotes() -> None:
    """Even where the model called them text; a table's note and a numbered line as large as the text are none."""
    table = Draft("Table", draft("x", "Country 2024", y=420).bbox, element_type="table")
    drafts = [
        prose(300),
        table,
        draft("NarrativeText", "1 Without the business that was sold.", y=440, size=8),
        prose(500),
        draft("NarrativeText", "1 The year before.", y=700, size=8),
        draft("ListItem", "* See note 14.", y=715, size=8),
        draft("Footer", "Page 3", y=810, size=8),
    ]
    found = [part.category for part in with_footnotes([page_of(*drafts)])[0].drafts]
    assert found == ["NarrativeText", "Table", "NarrativeText", "NarrativeText", "Footnote", "Footnote", "Footer"]
    numbered = [prose(300), draft("ListItem", "1. The last item", y=700)]
    assert with_footnotes([page_of(*numbered)])[0].drafts[1].category == "ListItem"


def test_a_program_is_one_snippet_with_its_lines_and_indents() -> None:
    """Neighbouring drafts in a font of one width are one, hyphens at line ends stay, and single commands count."""
    program = draft("NarrativeText", "for x in long-", mono=True, y=100)
    body = draft("ListItem", "total -= x", mono=True, x=92, y=113)
    command = draft("NarrativeText", "kb-qa ingest data", mono=True, y=400)
    pages = [page_of(prose(40), program, body, prose(300), command, prose(500), prose(600))]
    elements = [element for element in joined(*pages) if element.category == "CodeSnippet"]
    assert [element.text for element in elements] == ["for x in long-\n    total -= x", "kb-qa ingest data"]
    for element in elements:
        assert all(element.text[word.start : word.end] == word.text for word in element.words)


def test_a_typewritten_document_is_no_program() -> None:
    """Where most is set in one width, nothing stands out by it; nor do fonts for Chinese."""
    typed = draft("NarrativeText", *PROSE, mono=True)
    assert with_program_text([page_of(typed)])[0].drafts[0].category == "NarrativeText"
    chinese = draft("NarrativeText", "公司实现营业收入", mono=True)
    assert with_program_text([page_of(chinese, prose(), prose(400))])[0].drafts[0].category == "NarrativeText"


def test_joining_leaves_what_does_not_go_on() -> None:
    """Two whole paragraphs on two pages stay two."""
    assert len(with_joined_pages([page_of(prose(700)), page_of(prose(60), number=2)])[1].drafts) == 1
