"""Citations come from stored metadata alone, and say where in the words that readers know."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kb_qa.answers import Language, Level, LevelChoice
from kb_qa.citation import (
    at_level,
    build_citation,
    citation_from_metadata,
    cited_pages,
    label,
    level_on,
    locate_cited,
    one_line,
    resolve_level,
    worst_quality,
)
from kb_qa.elements import Block, Chunk, Element, Word
from kb_qa.geometry import BBox, Page, Quality, Region
from kb_qa.records import metadata_of

BOX = BBox(72, 100, 300, 112)


def chunk_of(
    *regions: Region, element_type: str = "text", origin: str = "text-layer", section: tuple[str, ...] = ()
) -> Chunk:
    """A chunk of one block that stands in `regions`."""
    block = Block("b1", "e1", "Base pay is 22,000.", 0, 19, regions)
    return Chunk(
        id="c1",
        document_id="d" * 64,
        version=1,
        source="briefing.pdf" if regions else "hb.md",
        ordinal=0,
        blocks=(block,),
        element_type=element_type,  # type: ignore[arg-type]
        category="Table",
        section=section,
        origin=origin,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("pages", "element_type", "language", "expected"),
    [
        ((4,), "table", "zh", "briefing.pdf · P4·表格"),
        ((4,), "table", "en", "briefing.pdf · P4·table"),
        ((4, 5), "table", "en", "briefing.pdf · P4–5·table"),
        ((5, 4, 4), "text", "zh", "briefing.pdf · P4–5·文本"),
        ((4, 5, 9), "text", "en", "briefing.pdf · P4–5, 9·text"),
        ((1,), "image", "zh", "briefing.pdf · P1·图片"),
        ((1,), "image", "en", "briefing.pdf · P1·image"),
    ],
)
def test_labels_with_pages(pages: tuple[int, ...], element_type: str, language: Language, expected: str) -> None:
    """S5.4: page, range and type name in the reader's language; the section is not repeated."""
    shown = label("briefing.pdf", section=("Pay",), pages=pages, element_type=element_type, language=language)
    assert shown == expected


@pytest.mark.parametrize("language", ["en", "zh"])
def test_labels_without_pages(language: Language) -> None:
    """S5.4: a document without pages keeps its section path in either language, one without sections its name."""
    assert label("hb.md", section=("手册", "假期"), element_type="table", language=language) == "hb.md · 手册 > 假期"
    assert label("hb.md", language=language) == "hb.md"


@pytest.mark.parametrize(
    ("language", "level", "expected"),
    [
        ("en", "auto", "briefing.pdf · P4·image·described by a model (m-1)"),
        ("zh", "auto", "briefing.pdf · P4·图片·模型描述（m-1）"),
        ("en", "text", "briefing.pdf · image·described by a model (m-1)"),
    ],
    ids=["english", "chinese", "level text"],
)
def test_what_a_model_wrote_is_never_cited_without_saying_so(
    language: Language, level: LevelChoice, expected: str
) -> None:
    """At no level, and not when the level is changed, or built from the index alone."""
    chunk = replace(chunk_of(Region(4, BOX), element_type="image", origin="caption"), described_by="m-1")
    made = build_citation(chunk, chunk.blocks[0], number=1, span=(0, 9), language=language, level=level)
    assert made.label == expected
    assert at_level(at_level(made, "page", language), made.level, language) == made
    flat = metadata_of(chunk)
    stored = citation_from_metadata(flat, number=1, span=(0, 9), language=language, level=level)
    assert (stored.label, stored.origin, stored.described_by) == (expected, "caption", "m-1")


def test_a_label_is_one_line_of_visible_characters() -> None:
    """A file name is untrusted: no line breaks, controls, or characters that turn the writing direction."""
    assert one_line("a\u202efdp.exe\n\x07 b\u200b") == "afdp.exe b"
    assert label("a\nb.pdf", section=("x\r\n【材料9】",)) == "a b.pdf · x 【材料9】"


@pytest.mark.parametrize(
    ("choice", "element_type", "origin", "confidence", "expected"),
    [
        ("auto", "text", "text-layer", None, "page"),
        ("auto", "table", "text-layer", None, "region"),
        ("auto", "image", "caption", None, "region"),
        ("auto", "text", "ocr", 0.99, "region"),
        ("auto", "text", "text-layer", 0.5, "region"),
        ("auto", "text", "text-layer", 0.95, "page"),
        ("text", "table", "ocr", 0.1, "text"),
        ("page", "table", "ocr", 0.1, "page"),
        ("region", "text", "text-layer", None, "region"),
    ],
)
def test_levels(choice: LevelChoice, element_type: str, origin: str, confidence: float | None, expected: Level) -> None:
    """`auto` shows the picture of whatever was converted, and the page of plain text."""
    regions = (Region(4, BOX),)
    level = resolve_level(choice, element_type=element_type, origin=origin, confidence=confidence, regions=regions)
    assert level == expected


@pytest.mark.parametrize(("regions", "expected"), [((Region(4, None),), "page"), ((), "text")], ids=["page", "none"])
def test_a_level_that_cannot_be_had_falls_back(regions: tuple[Region, ...], expected: Level) -> None:
    """Without geometry there is no picture, without a page no page."""
    assert build_citation(*parts(regions), number=1, span=(0, 5), language="en", level="region").level == expected


@pytest.mark.parametrize(("grade", "expected"), [("good", "page"), ("fair", "region"), ("poor", "region")])
def test_auto_shows_the_picture_of_what_stands_on_a_doubtful_page(grade: str, expected: Level) -> None:
    """Plain text on a page that was graded fair or poor is shown as it is printed; a fixed choice stays."""
    level = level_on(Quality(grade), "auto", figures=False)
    assert (
        build_citation(*parts((Region(4, BOX),)), number=1, span=(0, 5), language="en", level=level).level == expected
    )
    assert level_on(Quality(grade), "page", figures=True) == "page"


def test_auto_shows_the_picture_of_what_bears_out_a_figure() -> None:
    """A figure in plain text on a good page is shown at its spot; a fixed choice stays."""
    assert level_on(Quality(), "auto", figures=True) == "region"
    assert level_on(None, "auto", figures=True) == "region"
    assert level_on(Quality(), "text", figures=True) == "text"


@pytest.mark.parametrize(
    ("level", "expected", "shown"),
    [
        ("region", "region", "briefing.pdf · P4·表格"),
        ("page", "page", "briefing.pdf · P4·表格"),
        ("text", "text", "briefing.pdf"),
    ],
)
def test_a_page_becomes_its_picture_on_request(level: Level, expected: Level, shown: str) -> None:
    """S5.1: a citation takes another level, and its label, without being built again."""
    chunk = chunk_of(Region(4, BOX), element_type="table")
    built = build_citation(chunk, chunk.blocks[0], number=1, span=(0, 5), language="zh", level="page")
    asked = at_level(built, level, "zh")
    assert (asked.level, asked.label) == (expected, shown)
    assert replace(asked, level="page", label=built.label) == built


def test_a_picture_that_cannot_be_had_stays_a_page() -> None:
    """Without geometry the request changes nothing."""
    built = build_citation(*parts((Region(4, None),)), number=1, span=(0, 5), language="en")
    assert at_level(built, "region", "en") == built


@pytest.mark.parametrize(
    ("start", "end", "pages"), [(3, 4, [3]), (3, 5, [3, 4]), (3, 3, [3]), (3, 2, [3]), (1, 0, [1])]
)
def test_an_end_page_is_exclusive(start: int, end: int, pages: list[int]) -> None:
    """F10: pages 3 to 4 are page 3 alone; an end that is no end is the start."""
    assert list(cited_pages(start, end)) == pages


def test_a_cited_quote_is_found_on_its_pages_alone() -> None:
    """F10: control characters, breaks and odd blanks make no difference; the label names the one page."""
    printed = "Net revenue was 4,812\u202fmillion"
    elements = [words_of(f"e{page}", page, printed) for page in (2, 3, 4)]
    quote = "Net revenue was\r\n\u00024,812\u0002 million"
    located = locate_cited(quote, elements, start=3, end=4)
    assert [region.page for region in located.regions] == [3]
    assert label("a.pdf", pages=cited_pages(3, 4)) == "a.pdf · P3·text"
    assert not locate_cited(quote, elements[2:], start=3, end=4).found


def words_of(element_id: str, page: int, text: str) -> Element:
    """An element of one line; a word a blank-separated part."""
    words, start = [], 0
    for part in text.replace("\u202f", " ").split(" "):
        box = BBox(60 + 6 * start, 100, 60 + 6 * (start + len(part)), 112)
        words.append(Word(page, box, part, start, start + len(part)))
        start += len(part) + 1
    region = Region(page, BBox(60, 100, 60 + 6 * len(text), 112))
    return Element(element_id, "d" * 64, page, "text", "NarrativeText", text, (region,), words=tuple(words))


def test_control_characters_of_a_quote_are_not_shown() -> None:
    """F10: what a reader sees has line breaks and no other control, and its direction is not turned."""
    chunk = chunk_of(Region(4, BOX))
    block = replace(chunk.blocks[0], text="Net revenue was\r\n\u00024,812\u0002\x00 \u202emillion")
    assert build_citation(chunk, block, number=1, span=(0, 5), language="en").cited_text == (
        "Net revenue was\n4,812 million"
    )


def test_the_worst_page_grades_a_citation() -> None:
    """A quote that crosses a page break is as good as the worse of its pages; without pages there is no grade."""
    good = Page(1, 600, 800, quality=Quality())
    poor = Page(2, 600, 800, quality=Quality("poor", ("read by OCR, confidence 0.61",)))
    assert worst_quality([good, poor, None]) == Quality("poor", ("read by OCR, confidence 0.61",))
    assert worst_quality([None]) is None


def parts(regions: tuple[Region, ...]) -> tuple[Chunk, Block]:
    chunk = chunk_of(*regions, section=("手册", "假期"))
    return chunk, chunk.blocks[0]


def test_a_citation_is_built_from_chunk_and_block() -> None:
    """S5.3: document, page, region, quote and label are looked up, not searched for."""
    chunk = chunk_of(Region(4, BOX), element_type="table")
    citation = build_citation(chunk, chunk.blocks[0], number=2, span=(10, 30), language="zh")
    assert (citation.number, citation.start, citation.end) == (2, 10, 30)
    assert (citation.level, citation.label) == ("region", "briefing.pdf · P4·表格")
    assert (citation.cited_text, citation.element_id) == ("Base pay is 22,000.", "e1")
    assert citation.regions == (Region(4, BOX),)
    assert not citation.located.found


def test_at_level_text_a_document_with_pages_is_only_named() -> None:
    """S5.1: `briefing.pdf`; where there is no page, the section says where (S5.4)."""
    paged = build_citation(*parts((Region(4, BOX),)), number=1, span=(0, 1), language="en", level="text")
    assert (paged.label, paged.regions) == ("briefing.pdf", (Region(4, BOX),))
    unpaged = build_citation(*parts(()), number=1, span=(0, 1), language="en", level="text")
    assert unpaged.label == "hb.md · 手册 > 假期"


def test_a_block_without_a_place_takes_its_chunk_s() -> None:
    """A caption read by a model has no box of its own; the chunk's region stands for it."""
    chunk = chunk_of(Region(4, BOX), element_type="image")
    block = replace(chunk.blocks[0], id="b2", regions=())
    assert build_citation(chunk, block, number=1, span=(0, 1), language="en").regions == (Region(4, BOX),)


@pytest.mark.parametrize(
    "regions",
    [(Region(4, BOX),), (Region(4, BOX), Region(5, BOX)), (Region(4, None),), ()],
    ids=["region", "page break", "no geometry", "no page"],
)
def test_the_metadata_of_the_index_gives_the_same_citation(regions: tuple[Region, ...]) -> None:
    """S5.5: what the vector store returns leads to the same page, region, level and label."""
    chunk = chunk_of(*regions, element_type="table", section=("手册", "假期"))
    built = build_citation(chunk, chunk.blocks[0], number=3, span=(0, 9), language="zh")
    returned = citation_from_metadata(
        metadata_of(chunk), number=3, span=(0, 9), language="zh", cited_text=chunk.blocks[0].text
    )
    assert returned == replace(built, element_id="")
