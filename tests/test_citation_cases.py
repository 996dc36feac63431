"""Failures reported of other products, as recipes: pages made for them are parsed, and quotes located on them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pymupdf
import pytest

from ingest.chunk import Origin, chunk
from ingest.limits import Limits
from ingest.pdf import parse_pdf
from kb_qa.answers import BlockCitation, Located, ModelStop, TextDelta
from kb_qa.citation import build_citation
from kb_qa.elements import Element
from kb_qa.geometry import BBox
from kb_qa.locate import block_rects, locate
from kb_qa.page_parts import cited_pages
from kb_qa.references import Reference, ReferenceStream, collapsed
from tests.pdf_pages import Draw, ink, write_pdf
from tests.test_rendering import answered

ORIGIN = Origin("d", 1, "report.pdf", "1")


def parsed(path: Path, *draws: Draw, width: float = 595, height: float = 842) -> Sequence[Element]:
    return parse_pdf(write_pdf(path, *draws, width=width, height=height), "d", limits=Limits()).elements


def rects(located: Located) -> list[BBox]:
    return [rect for region in located.regions for rect in region.rects]


def words_in(path: Path, page: int, box: BBox) -> str:
    """What PyMuPDF reads in the box, without blanks: characters whose middle lies in it."""
    with pymupdf.open(path) as document:
        blocks = document[page - 1].get_text("rawdict")["blocks"]
    characters = [
        character
        for block in blocks
        for line in block.get("lines", ())
        for span in line["spans"]
        for character in span["chars"]
    ]
    boxes = [(character["c"], pymupdf.Rect(character["bbox"])) for character in characters]
    return "".join(c for c, at in boxes if box.contains_point((at.x0 + at.x1) / 2, (at.y0 + at.y1) / 2)).replace(
        " ", ""
    )


def test_a4_a_word_broken_at_the_line_s_end_is_two_rectangles(tmp_path: Path) -> None:
    """A4: `driving climate change` is marked on both lines and never as one tall box; the text says `climate`."""

    def draw(page: pymupdf.Page) -> None:
        page.insert_text((72, 100), "Greenhouse emissions are the main gas driving cli-", fontsize=12)
        page.insert_text((72, 116), "mate change by 2030.", fontsize=12)

    path = tmp_path / "a4.pdf"
    elements = parsed(path, draw)
    assert any("driving climate change" in element.text for element in elements)
    located = locate("driving climate change", elements)
    assert [words_in(path, 1, rect) for rect in rects(located)] == ["drivingcli-", "matechange"]
    assert all(rect.height < 20 for rect in rects(located))


@pytest.mark.parametrize("quote", ["scientific office", "scienti\ufb01c o\ufb03ce"])
def test_a6_ligatures_are_found_by_their_letters(tmp_path: Path, quote: str) -> None:
    """A6: the plain spelling and the ligatures find the same glyphs, which are marked as a whole."""
    path = tmp_path / "a6.pdf"

    def draw(page: pymupdf.Page) -> None:
        writer = pymupdf.TextWriter(page.rect)
        writer.append((72, 100), "the scienti\ufb01c o\ufb03ce of the town", font=pymupdf.Font("helv"), fontsize=12)
        writer.write_text(page)

    located = locate(quote, parsed(path, draw))
    (rect,) = rects(located)
    assert words_in(path, 1, rect) in {"scienti\ufb01co\ufb03ce", "scientificoffice"}


@pytest.mark.parametrize(
    ("quote", "marked"),
    [
        ("同比增长", ["同", "比增长"]),
        ("4,812万元", ["４，８１２万元"]),
        ("“百分之五”", ["百分之五"]),
        ("二千万元，同 比增长", ["二千万元，同", "比增长"]),
    ],
)
def test_a7_chinese_is_marked_by_the_character(tmp_path: Path, quote: str, marked: list[str]) -> None:
    """A7: over a line break, in the other width and in curly quotes, exactly the quoted glyphs are marked."""
    path = tmp_path / "a7.pdf"

    def draw(page: pymupdf.Page) -> None:
        page.insert_text((72, 100), "公司实现营业收入三亿二千万元，同", fontname="china-s", fontsize=12)
        page.insert_text((72, 118), "比增长百分之五。净利润４，８１２万元。", fontname="china-s", fontsize=12)

    located = locate(quote, parsed(path, draw))
    assert [words_in(path, 1, rect) for rect in rects(located)] == marked


def test_a9_a_passage_over_a_page_break_is_marked_on_both_pages(tmp_path: Path) -> None:
    """A9: one region a page and a label with the range; header and footer are neither in the quote nor marked."""
    path = tmp_path / "a9.pdf"

    def draw(page: pymupdf.Page) -> None:
        number = page.number + 1
        page.insert_text((72, 40), "ACME annual report 2024", fontsize=9)
        page.insert_text((72, 815), f"Page {number} of 3", fontsize=9)
        filler = [f"Sentence {index} of page {number} is about nothing of note." for index in range(1, 40)]
        for index, line in enumerate(filler):
            if number == 1 and index == 38:
                line = "The impairment charge of USD 41"
            if number == 2 and index == 0:
                line = "million was recorded in Q3."
            page.insert_text((72, 80 + 18 * index), line, fontsize=11)

    elements = parsed(path, draw, draw, draw)
    quote = "The impairment charge of USD 41 million was recorded in Q3."
    located = locate(quote, elements)
    assert [region.page for region in located.regions] == [1, 2]
    assert [words_in(path, region.page, rect) for region in located.regions for rect in region.rects] == [
        "TheimpairmentchargeofUSD41",
        "millionwasrecordedinQ3.",
    ]
    assert all(ink(path, region.page, region.bbox) > 0.02 for region in located.regions)
    chunks = [piece for piece in chunk(elements, ORIGIN) for block in piece.blocks if block.text == quote]
    (piece,) = chunks
    block = next(block for block in piece.blocks if block.text == quote)
    citation = build_citation(piece, block, number=1, span=(0, 5), language="en")
    assert [region.page for region in citation.regions] == [1, 2]
    assert citation.label == "report.pdf · P1–2·text"


def columns(page: pymupdf.Page) -> None:
    """Three lines in each of two columns, drawn row by row."""
    left = ["In the first quarter the", "gross margin was 41 %", "of net sales in Q1."]
    right = ["In the second quarter the", "gross margin was 29 %", "of net sales in Q2."]
    for row, (one, other) in enumerate(zip(left, right, strict=True)):
        page.insert_text((72, 100 + 14 * row), one, fontsize=11)
        page.insert_text((320, 100 + 14 * row), other, fontsize=11)


def watermarked(page: pymupdf.Page) -> None:
    columns(page)
    writer = pymupdf.TextWriter(page.rect, color=(0.85, 0.85, 0.85))
    writer.append((150, 160), "DRAFT", fontsize=60)
    writer.write_text(page, morph=(pymupdf.Point(150, 160), pymupdf.Matrix(45)))


@pytest.mark.parametrize("draw", [columns, watermarked], ids=["plain", "watermark"])
def test_a10_a_sentence_of_the_right_column_is_marked_there_only(tmp_path: Path, draw: Draw) -> None:
    """A10: columns stay apart in text and boxes, with and without a watermark over the gutter."""
    path = tmp_path / "a10.pdf"
    elements = parsed(path, draw)
    located = locate("In the second quarter the gross margin was 29 % of net sales in Q2.", elements)
    assert len(rects(located)) == 3
    assert all(rect.x0 > 300 for rect in rects(located))
    texts = [block.text for piece in chunk(elements, ORIGIN) for block in piece.blocks]
    assert not any("41" in text and "29" in text for text in texts)


def test_a13_the_number_is_marked_and_not_a_part_of_another(tmp_path: Path) -> None:
    """A13: `12` is one place, not in 2012 or 112,345."""
    path = tmp_path / "a13.pdf"

    def draw(page: pymupdf.Page) -> None:
        page.insert_text((72, 100), "In 2012 and with 112,345 A 12 and so on.", fontsize=12)

    elements = parsed(path, draw)
    (rect,) = rects(locate("12", elements))
    assert words_in(path, 1, rect) == "12"
    assert words_in(path, 1, rect.expanded(8)) in {"A12a", "A12an"}


def test_a13_of_equal_sentences_the_cited_one_is_marked(tmp_path: Path) -> None:
    """A13: the same sentence stands in the text and in a sidebar; the hit is in the cited element. Half is no hit."""
    path = tmp_path / "a13b.pdf"
    sentence = "Net sales rose by nine per cent."

    def draw(page: pymupdf.Page) -> None:
        page.insert_textbox((72, 100, 330, 200), f"We had a good year. {sentence} Costs fell in all regions.")
        page.insert_textbox((400, 400, 560, 460), sentence)

    elements = parsed(path, draw)
    holders = [element for element in elements if sentence in element.text]
    assert len(holders) == 2
    for holder in holders:
        place = locate(sentence, elements, prefer=holder.id)
        start = holder.text.index(sentence)
        assert rects(place) == rects(block_rects(holder, start, start + len(sentence)))
    half = locate("Net sales rose by nine per cent and profit doubled", elements, prefer=holders[0].id)
    assert half == Located(found=False)


def test_f10_controls_and_odd_blanks_of_a_cited_text_do_not_count(tmp_path: Path) -> None:
    """F10: found on page 3 only, whatever the exclusive end page says; shown without its control characters."""
    cited = "Net revenue was\r\n\x024,812\x02 million"
    path = tmp_path / "f10.pdf"

    def draw(page: pymupdf.Page) -> None:
        text = (
            "Net\u00a0revenue\u2009was\u202f4,812\u00a0million" if page.number == 2 else "Net revenue was 4,812 million"
        )
        writer = pymupdf.TextWriter(page.rect)
        writer.append((72, 100 + 20 * page.number), text, fontsize=12)
        writer.write_text(page)

    elements = parsed(path, draw, draw, draw, draw)
    for start, end in ((3, 4), (3, 3), (3, 2), (3, 0)):
        located = locate(cited, elements, pages=cited_pages(start, end))
        (rect,) = rects(located)
        assert [region.page for region in located.regions] == [3]
        assert "".join(words_in(path, 3, rect).split()) == "Netrevenuewas4,812million"
    assert collapsed(cited) == "Net revenue was 4,812 million"


def test_f2_only_true_markers_become_references() -> None:
    """F2: code, indexes, years, links and odd shapes end as plain text; no script becomes a link."""
    text = (
        "```\na[1]\n```\n`x[2]` in [2023] see [Title](https://e.x/f.pdf), [1](id=3), "
        "[[1]], [^1], [1](javascript:alert(1))"
    )
    fragments = {number: Reference(0, f"Source {number}", url=f"https://e.x/{number}") for number in (1, 2, 3)}
    stream = ReferenceStream(fragments, style="html")
    held = stream.feed(text)
    rest, listing = stream.close()
    marker = '<sup>[<a href="https://e.x/3" rel="noopener">1</a>]</sup>'
    assert held + rest == text.replace("[1](id=3)", marker)
    assert (stream.dropped, [item.title for item in stream.items]) == (0, ["Source 3"])
    assert listing.count("<li>") == 1


def test_f4_markers_of_sources_not_given_are_dropped_and_counted() -> None:
    """F4: none of the invalid markers is shown or listed; an answer without a marker lists nothing."""
    fragments = {number: Reference(0, f"Source {number}") for number in (1, 2, 3)}
    stream = ReferenceStream(fragments)
    assert stream.feed("Revenue rose [7], [0], [-1], [٣].") == "Revenue rose , , , ."
    assert (stream.dropped, stream.close()) == (4, ("", ""))
    silent = ReferenceStream(fragments)
    assert (silent.feed("Nothing is cited here."), silent.close()) == ("Nothing is cited here.", ("", ""))


async def test_f4_a_figure_left_without_a_source_is_refused() -> None:
    """F4: a claim that cites a material never given is unsupported; what was retrieved is listed, as not cited."""
    events = await answered(TextDelta("Net revenue was 4,812 million."), BlockCitation(7, 0), ModelStop("end_turn"))
    named = [event.event for event in events]
    assert "refusal" in named
    assert "citation" not in named
    assert "4,812" not in "".join(str(event.data["text"]) for event in events if event.event == "delta")
    data = {event.event: event.data for event in events}
    assert len(data["sources"]["sources"]) == 2  # type: ignore[arg-type]
    assert data["references"]["items"] == []
