"""Quotes are found where they stand, as rectangles of exactly their words, or not at all."""

from __future__ import annotations

import cProfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kb_qa.answers import Located
from kb_qa.elements import Element, Word
from kb_qa.folding import fold, fold_character, is_cjk
from kb_qa.geometry import BBox, Region
from kb_qa.locate import block_rects, find_all, locate

ADVANCE, HEIGHT, LEADING = 6.0, 10.0, 14.0


def printed(*lines: str, id: str = "e", page: int = 1, x: float = 50, y: float = 100, **fields: object) -> Element:
    """An element set in a type of fixed width; a line that ends in `-` goes on in the next one without the hyphen."""
    text = ""
    words: list[Word] = []
    pending: tuple[str, BBox] | None = None
    for number, line in enumerate(lines):
        if text and pending is None:
            text += " "
        for start, end in pieces(line):
            box = BBox(x + start * ADVANCE, y + number * LEADING, x + end * ADVANCE, y + number * LEADING + HEIGHT)
            piece = line[start:end]
            if pending is None and start and line[start - 1] == " ":
                text += " "
            if end == len(line) and piece.endswith("-") and len(piece) > 1 and number + 1 < len(lines):
                pending = (piece, box)
                continue
            begin = len(text)
            if pending is not None:
                text += pending[0].removesuffix("-") + piece
                words.append(Word(page, pending[1], pending[0], begin, len(text)))
                pending = None
            else:
                text += piece
            words.append(Word(page, box, piece, begin, len(text)))
    element = Element(id, "d", 0, "text", "NarrativeText", text, words=tuple(words))
    return replace(element, **fields)  # type: ignore[arg-type]


def pieces(line: str) -> list[tuple[int, int]]:
    """Ranges of the words: split at blanks, and around every CJK character."""
    ranges: list[tuple[int, int]] = []
    for index, character in enumerate(line):
        if character == " ":
            continue
        alone = is_cjk(character) or index == 0 or line[index - 1] == " " or is_cjk(line[index - 1])
        if alone:
            ranges.append((index, index + 1))
        else:
            ranges[-1] = (ranges[-1][0], index + 1)
    return ranges


def rects(located: Located) -> list[tuple[int, float, float, float, float]]:
    return [(region.page, *rect.rounded(1).as_tuple()) for region in located.regions for rect in region.rects]


def at(column: float, width: float, *, line: int = 0, page: int = 1) -> tuple[int, float, float, float, float]:
    """The rectangle of `width` characters from `column` on, in an element printed at (50, 100)."""
    y = 100 + line * LEADING
    return page, 50 + column * ADVANCE, y, 50 + (column + width) * ADVANCE, y + HEIGHT


def test_a_quote_over_a_line_end_hyphen_is_two_line_rectangles() -> None:
    """A4: `driving climate change` covers `driving cli-` on one line and `mate change` on the next."""
    element = printed("gas driving cli-", "mate change by 2030.")
    assert element.text == "gas driving climate change by 2030."
    assert rects(locate("driving climate change", [element])) == [at(4, 12), at(0, 11, line=1)]


@pytest.mark.parametrize(
    "quote",
    [
        pytest.param("continued invest-\r\n\x02ment in cloud", id="break mark U+0002"),
        pytest.param("continued invest\xadment in cloud", id="soft hyphen"),
        pytest.param("continued invest-\nment in cloud", id="hyphen and line break"),
        pytest.param("continued  investment\u00a0in\u2009cloud", id="odd blanks"),
        pytest.param("CONTINUED Investment in “cloud”", id="case and quotation marks"),
    ],
)
def test_what_a_reader_does_not_see_makes_no_difference(quote: str) -> None:
    """S2.1, S2.2 and F10: breaks, hyphens, blanks, case and quotation marks do not matter."""
    element = printed("our continued invest-", "ment in cloud goes on")
    assert rects(locate(quote, [element])) == [at(4, 17), at(0, 13, line=1)]


@pytest.mark.parametrize("quote", ["scientific office", "scienti\ufb01c o\ufb03ce", "SCIENTIFIC OFFICE"])
@pytest.mark.parametrize("text", ["scienti\ufb01c o\ufb03ce", "scientific office"], ids=["ligatures", "plain"])
def test_ligatures_match_their_letters_both_ways(quote: str, text: str) -> None:
    """A6: a ligature is one glyph of several letters, on the page, in the reading text, or in the quote."""
    element = printed("the scienti\ufb01c o\ufb03ce here")
    element = replace(element, text=f"the {text} here", words=spread(f"the {text} here", element.words))
    assert rects(locate(quote, [element])) == [at(4, 14)]


def spread(text: str, words: Sequence[Word]) -> tuple[Word, ...]:
    """The words with their ranges set to the blank-separated pieces of `text`."""
    placed: list[Word] = []
    position = 0
    for word, piece in zip(words, text.split(" "), strict=True):
        placed.append(replace(word, start=position, end=position + len(piece)))
        position += len(piece) + 1
    return tuple(placed)


def test_chinese_is_found_over_a_line_break_and_in_either_width() -> None:
    """A7: a four-character quote marks four characters, and half-width digits match full-width ones."""
    element = printed("营业收入三亿二千万元，同", "比增长百分之五。净利润４，８１２万元。")
    assert rects(locate("同比增长", [element])) == [at(11, 1), at(0, 3, line=1)]
    assert rects(locate("4,812万元", [element])) == [at(11, 7, line=1)]
    assert rects(locate("“净利润”", [element])) == [at(8, 3, line=1)]


def test_a_passage_over_a_page_break_has_a_region_per_page() -> None:
    """A9: the running footer and header between the two halves are neither matched nor marked."""
    elements = [
        printed("The impairment charge of USD 41", id="a"),
        printed("ACME 2024 - Page 1", id="f", category="Footer"),
        printed("ACME annual report", id="h", page=2, category="Header"),
        printed("million was recorded in Q3.", id="b", page=2),
    ]
    located = locate("impairment charge of USD 41 million was recorded", elements)
    assert rects(located) == [at(4, 27), at(0, 20, page=2)]
    assert [region.page for region in located.regions] == [1, 2]


def test_a_footnote_or_picture_between_the_halves_is_passed_over() -> None:
    """A paragraph that goes on after a footnote is one passage."""
    elements = [
        printed("The charge of USD 41", id="a"),
        printed("1 See page 7", id="n", category="Footnote", y=700),
        printed("million was recorded.", id="b", page=2),
    ]
    assert rects(locate("USD 41 million", elements)) == [at(14, 6), at(0, 7, page=2)]
    assert locate("See page 7", elements).found


@pytest.mark.parametrize("category", ["Header", "Footer", "PageNumber"])
def test_furniture_can_be_found_by_itself(category: str) -> None:
    """What stands in a running header is found, but never together with the text around it."""
    elements = [printed("charge of 41", id="a"), printed("ACME 2024", id="f", y=700, category=category)]
    assert locate("ACME 2024", elements).found
    assert not locate("charge of 41 ACME", elements).found


def test_columns_are_not_mixed() -> None:
    """A10: the sentence of the right column is marked in the right column only, one rectangle a line."""
    left = printed("gross margin", "was 41 %", "in Q1", id="left", x=72)
    right = printed("gross margin", "was 29 %", "in Q2", id="right", x=320)
    located = locate("margin was 29 % in Q2", [left, right])
    assert len(located.regions) == 1
    assert len(located.regions[0].rects) == 3
    assert all(rect.x0 >= 300 for rect in located.regions[0].rects)


def test_a_number_is_found_as_a_whole_only() -> None:
    """A13: `12` is neither in 2012 nor in 112,345; a cut number is not found at all."""
    element = printed("A 2012 and 112,345 and 12 there")
    assert rects(locate("12", [element])) == [at(23, 2)]
    for part in ("112", "345", "2,345", "01"):
        assert not locate(part, [element]).found, part


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("4,812", "14,812 million"),
        ("4,812", "4,812.5 million"),
        ("125%", "12.5% of sales"),
        ("12.5%", "12.5 of sales"),
        ("12.5%", "1.25% of sales"),
        ("48", "4 8"),
        ("12,345", "12, 345"),
        ("5%", "margin: -5%"),
        ("-5%", "margin: 5%"),
        ("105", "10⁵"),
        ("2509 million", "250⁹ million"),
        ("9 million", "250⁹ million"),
        ("1012", "10¹² units"),
        ("20,300", "$20，300"),
        ("21/2", "2½"),
        ("cafe", "café"),
        ("か", "が"),
        ("net profit", "net loss"),
    ],
)
def test_a_different_figure_or_letter_is_never_found(quote: str, text: str) -> None:
    """Separators, signs, per cent, exponents and voiced kana make another quantity or letter."""
    assert not locate(quote, [printed(text)]).found


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("250", "250⁹ million"),
        ("10⁵", "10⁵ units"),
        ("1,234,567", "１，２３４，５６７元"),
        ("2024年", "公司2024年收入"),
        ("10-12 million", "10–12 million"),
        ("−5%", "margin: -5%"),
        ("COVID 19", "COVID-19 cases"),
        ("cafe\u0301", "café"),
        ("日本", "⽇本"),
        ("1/2", "½ cup"),
        ("100 m2", "100 m² of floor"),
        ("100 ㎡", "100 m2 of floor"),
        ("CO2", "less CO₂ than"),
        ("net income12", "net income¹² rose"),
        ("10^5 units", "10⁵ units"),
        ("1st quarter", "the 1ˢᵗ quarter"),
        ("Part III", "Part Ⅲ begins"),
        ("at 20 °C", "at 20 ℃ or more"),
        ("(1,200)", "loss (1,200) in"),
        ("net margin was 12.5 %", "net margin was 12.5%"),
    ],
)
def test_other_shapes_of_the_same_figure_are_found(quote: str, text: str) -> None:
    """Footnote marks, widths, dashes, composed accents and radicals are only shapes."""
    assert locate(quote, [printed(text)]).found


def test_the_place_in_the_preferred_element_comes_first() -> None:
    """A13: of two equal sentences the cited one is marked, by default the first."""
    elements = [printed("Net sales rose.", id="a"), printed("Net sales rose.", id="b", page=2)]
    assert [region.page for region in locate("sales rose", elements).regions] == [1]
    assert [region.page for region in locate("sales rose", elements, prefer="b").regions] == [2]
    assert [region.page for region in locate("sales rose", elements, prefer="unknown").regions] == [1]


def test_a_whole_word_comes_before_a_part_of_one() -> None:
    """`net` is marked where it is a word, although `internet` comes first; `2` where it is no part of `Q2`."""
    element = printed("internet and net sales")
    assert rects(locate("net", [element])) == [at(13, 3)]
    assert rects(locate("2", [printed("in Q2 all 2 plants")])) == [at(10, 1)]
    assert not locate("an", [printed("a nice day")]).found


@pytest.mark.parametrize("quote", ["", "  \n", "—“”…", "\x02\xad"])
def test_a_quote_of_nothing_is_not_found(quote: str) -> None:
    """F6: an empty quote, or one of punctuation, is nowhere."""
    assert locate(quote, [printed("Any text — at all…")]) == Located(found=False)


@pytest.mark.parametrize("quote", ["revenue 2024 was", "was 4,812 in 2023", "Net revenue was 4,812 million in 2023"])
def test_a_stitched_or_partly_found_quote_is_not_found(quote: str) -> None:
    """F6: words that all stand there, but not in a row, are no quote."""
    assert not locate(quote, [printed("Net revenue was 4,812 million in 2024")]).found


def test_part_of_a_latin_word_is_a_share_of_its_box() -> None:
    """The first half of a word of equal letters is the first half of its box; Arabic counts from the right."""
    assert rects(locate("nnn", [printed("nnnooo")])) == [at(0, 3)]
    arabic = "ببببتتتت"
    assert rects(locate("بببب", [printed(arabic)])) == [at(4, 4)]


def test_a_right_to_left_quote_may_come_in_the_order_of_positions() -> None:
    """A tool that reads Arabic lines from the left gives their words backwards; the words in a row are found."""
    element = printed("يمكن أن تعزز الإنتاجية")
    assert rects(locate("تعزز أن يمكن", [element])) == rects(locate("يمكن أن تعزز", [element])) != []
    assert not locate("تعزز يمكن", [element]).found


def test_punctuation_at_the_ends_of_a_quote_is_marked_with_it() -> None:
    """`(1,200)` includes its brackets; `1,200` leaves them out."""
    element = printed("XXXX YYYY (2,200) ZZZZ")
    whole, bare = locate("(2,200)", [element]), locate("2,200", [element])
    assert rects(whole) == [at(10, 7)]
    assert bare.regions[0].bbox.x0 > whole.regions[0].bbox.x0
    assert bare.regions[0].bbox.x1 < whole.regions[0].bbox.x1


def test_cells_of_a_row_are_marked_one_by_one() -> None:
    """Words with a gutter between them share no rectangle."""
    row = Element(
        id="t",
        document_id="d",
        order=0,
        element_type="table",
        category="Table",
        text="Revenue | 4,812",
        words=(Word(1, BBox(50, 10, 90, 20), "Revenue", 0, 7), Word(1, BBox(300, 10, 330, 20), "4,812", 10, 15)),
    )
    assert rects(locate("Revenue 4,812", [row])) == [(1, 50, 10, 90, 20), (1, 300, 10, 330, 20)]
    assert rects(block_rects(row, 10, 15)) == [(1, 300, 10, 330, 20)]


def test_a_turned_word_is_marked_as_one_rectangle() -> None:
    """Vertical text runs down one line; its words are not cut."""
    words = (Word(1, BBox(10, 100, 20, 160), "Revenues", 0, 8), Word(1, BBox(10, 40, 20, 95), "growing", 9, 16))
    element = Element("v", "d", 0, "text", "NarrativeText", "Revenues growing", words=words)
    assert rects(locate("Revenues growing", [element])) == [(1, 10, 40, 20, 160)]


def test_chinese_set_in_columns_is_one_rectangle_a_column() -> None:
    """Characters under one another are a line; the next one begins at the top of the column to the left."""
    places = [(100, 10), (100, 21), (100, 32), (85, 10), (85, 21)]
    words = tuple(
        Word(1, BBox(x, y, x + 10, y + 10), character, index, index + 1)
        for index, ((x, y), character) in enumerate(zip(places, "净利润增长", strict=True))
    )
    element = Element("v", "d", 0, "text", "NarrativeText", "净利润增长", words=words)
    assert rects(locate("利润增", [element])) == [(1, 100, 21, 110, 42), (1, 85, 10, 95, 20)]


def test_a_bullet_s_tall_box_joins_no_lines() -> None:
    """Bullets are set in fonts whose boxes reach over the line above; each line keeps its own rectangle."""
    words: list[Word] = []
    for line, text in enumerate(("• first item", "• second item")):
        foot, start = 120.0 + 14 * line, len("• first item ") * line
        for first, last in pieces(text):
            top = foot - (30 if text[first] == "•" else 12)
            box = BBox(50 + 6 * first, top, 50 + 6 * last, foot)
            words.append(Word(1, box, text[first:last], start + first, start + last))
    element = Element("b", "d", 0, "text", "ListItem", "• first item • second item", words=tuple(words))
    assert [rect[1:] for rect in rects(locate("• first item • second item", [element]))] == [
        (50, 90, 122, 120),
        (50, 104, 128, 134),
    ]
    raised = printed("sales9 rose")
    high = replace(raised.words[0], text="9", bbox=BBox(86, 98, 89, 105), start=5, end=6)
    low = replace(raised.words[0], text="sales", bbox=BBox(50, 100, 86, 110), end=5)
    assert len(rects(locate("sales9 rose", [replace(raised, words=(low, high, raised.words[1]))]))) == 1


def test_equal_lines_of_chinese_stay_apart() -> None:
    """A character under the first one of a line of text is on the next line."""
    element = printed("净利润", "净利润")
    assert rects(locate("净利润净", [element])) == [at(0, 3), at(0, 1, line=1)]


def test_text_without_geometry_is_found_without_regions() -> None:
    """A Markdown file holds the quote, and has no page to mark."""
    element = Element("m", "d", 0, "text", "NarrativeText", "满一年可享5天年假。")
    assert locate("5天年假", [element]) == Located(found=True, regions=(), method="text")


def test_a_recognised_text_may_differ_in_a_tenth_but_not_in_a_digit() -> None:
    """A misread letter in a scan is forgiven; a digit, or a letter in a text layer, is not."""
    line = "Totai amounl due 4,812 in March"
    scan = printed(line, origin="ocr")
    located = locate("Total amount due 4,812 in March", [scan])
    assert (located.method, rects(located)) == ("ocr-fuzzy", [at(0, len(line))])
    assert located.confidence == pytest.approx(1 - 2 / 26)
    assert not locate("Total amount due 4,813 in March", [scan]).found
    assert not locate("Total amount due 14,812 in March", [scan]).found
    assert not locate("Total amount due 4,812 in March", [printed(line)]).found
    assert not locate("营业收入为三亿二千万元同比增长", [printed("营业收入为三亿二干万元同比增长", origin="ocr")]).found
    assert locate("本期营业收入为三亿二千万元", [printed("本期菅业收入为三亿二千万元", origin="ocr")]).found


def test_confidence_is_that_of_the_worst_word_and_of_the_match() -> None:
    """A place read by OCR is as sure as its worst word, less where letters differ; a text layer is not doubted."""
    scan = printed("Total amount due", "in March", origin="ocr")
    scan = replace(scan, words=tuple(replace(word, confidence=0.9 - 0.1 * (word.text == "in")) for word in scan.words))
    assert locate("amount due", [scan]).confidence == 0.9
    assert locate("due in March", [scan]).confidence == 0.8
    assert locate("Total amounl due", [scan]).confidence == pytest.approx(0.9 * (1 - 1 / 14))
    assert block_rects(scan, 0, 5).confidence == 0.9
    assert locate("amount due", [printed("Total amount due")]).confidence is None


def test_hidden_text_is_found_by_itself_only() -> None:
    """Text that no reader sees stands in no passage with visible text."""
    elements = [printed("visible words", id="a"), printed("secret words", id="s", hidden="white on white")]
    assert not locate("words secret", elements).found
    assert locate("secret words", elements).found


def test_every_occurrence_is_found_in_order() -> None:
    """Find-all counts parts of words, over hyphens too; its options narrow it."""
    elements = [printed("Dynamic code, dyna-", "mically made", id="a"), printed("A dynamic one", id="b", page=2)]
    assert [located.regions[0].page for located in find_all("dynamic", elements)] == [1, 1, 2]
    assert len(find_all("dynamic", elements, case=True)) == 2
    assert len(find_all("dynamic", elements, whole_word=True)) == 2
    assert len(find_all("code, dynamically", elements)) == 1
    assert find_all("code dynamically", elements) == ()
    assert find_all("َ", elements) == ()


def test_a_whole_word_is_printed_in_one_piece() -> None:
    """A word that is cut at a line's end counts, but not as a whole word; nor does a part of one."""
    element = printed("The Government and the Gov-", "ernment of a governmental body")
    assert len(find_all("government", [element])) == 3
    assert [rects(located) for located in find_all("government", [element], whole_word=True)] == [[at(4, 10)]]
    assert len(find_all("of a", [element], whole_word=True)) == 1


def test_find_all_knows_the_printed_hyphen() -> None:
    """A compound cut at its hyphen is found as printed, unless the text itself has it elsewhere."""
    broken, whole = printed("say hel-", "lo now"), printed("a hel-lo", id="w")
    assert broken.text == "say hello now"
    assert rects(find_all("hel-lo", [broken])[0]) == [at(4, 4), at(0, 2, line=1)]
    assert rects(find_all("hello", [broken])[0]) == [at(4, 4), at(0, 2, line=1)]
    assert [rects(located) for located in find_all("hel-lo", [broken, whole])] == [[at(2, 6)]]
    assert rects(find_all("hel-", [broken])[0]) == [at(4, 4)]


def test_find_all_of_several_queries() -> None:
    """Each place counts once: where two queries overlap, the first and longest is found."""
    element = printed("an alternate solution and a solution or an alternate")
    assert len(find_all(["alternate", "solution"], [element])) == 4
    assert [rects(located) for located in find_all(["solution", "alternate solution"], [element])] == [
        [at(3, 18)],
        [at(28, 8)],
    ]
    assert find_all([], [element]) == find_all([""], [element]) == ()


def test_a_quote_can_be_looked_for_on_given_pages() -> None:
    """S2.3: only the cited pages are searched; a passage that goes on over a page break has its part on each."""
    first, second = printed("Net sales rose", id="a"), printed("in Europe   Net sales fell", id="b", page=2)
    shift = len(first.text) + 1
    words = (*first.words, *(replace(word, start=word.start + shift, end=word.end + shift) for word in second.words))
    both = replace(first, text=f"{first.text} {second.text}", words=words, regions=(Region(1, None), Region(2, None)))
    assert [region.page for region in locate("Net sales", [both]).regions] == [1]
    assert rects(locate("Net sales", [both], pages=[2])) == [at(12, 9, page=2)]
    assert rects(locate("rose in Europe", [both], pages=[1, 2])) == [at(10, 4), at(0, 9, page=2)]
    assert not locate("rose in Europe", [both], pages=[1]).found
    assert not locate("Net sales", [both], pages=[3]).found
    assert [located.regions[0].page for located in find_all("sales", [both], pages=[2])] == [2]


def test_find_all_with_diacritics() -> None:
    """Accents count on request only."""
    element = printed("Citroën citroen")
    assert len(find_all("citroen", [element])) == 2
    assert len(find_all("citroën", [element], diacritics=True)) == 1
    assert len(find_all("citroen", [element], diacritics=True)) == 1


def test_a_range_without_words_has_no_rectangles() -> None:
    """Rectangles of a range outside the text are not invented."""
    element = printed("some words")
    assert block_rects(element, 5, 10).regions[0].rects == (BBox(80, 100, 110, 110),)
    assert block_rects(element, 50, 60) == Located(found=False)
    assert block_rects(element, 4, 4) == Located(found=False)


def steps(work: Callable[[], object]) -> int:
    """The calls, of Python and of C, that the work makes: the same on every machine and in every run."""
    profile = cProfile.Profile()
    profile.runcall(work)
    return sum(entry.callcount for entry in profile.getstats())


@pytest.mark.parametrize("origin", ["text-layer", "ocr"])
@pytest.mark.parametrize("quote", ["the last words", "words that are nowhere 12", "of sales rose by 4,812 million"])
def test_a_page_twice_as_long_takes_twice_the_steps(quote: str, origin: str) -> None:
    """Locating and finding all are linear in the length of the page, found or not."""
    lines = [f"Line {number} of sales rose by {number % 7} million over the year" for number in range(100)]
    long = printed(*lines, "the last words", origin=origin)
    short = printed(*lines[:50], "the last words", origin=origin)
    for search, wanted in ((locate, quote), (find_all, "sales rose")):
        fold_character.cache_clear()
        once, twice = steps(partial(search, wanted, [short])), steps(partial(search, wanted, [long]))
        assert once > 2_000
        assert twice < 2.2 * once


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        pytest.param("1" * 60_000, "1" * 30_000, id="digits"),
        pytest.param("1,1," * 15_000, "1,1," * 7_000, id="numbers"),
        pytest.param("a" * 60_000, "a" * 30_000, id="letters"),
        pytest.param("ab " * 20_000, "ba " * 5_000, id="words"),
    ],
)
def test_repetitive_text_stays_cheap(text: str, quote: str) -> None:
    """No text makes the search quadratic."""
    element = Element("e", "d", 0, "text", "NarrativeText", text)
    started = time.process_time()
    locate(quote, [element])
    assert time.process_time() - started < 3


WORDS = st.text(alphabet="abcdefgzéßfi", min_size=1, max_size=9) | st.sampled_from(
    ["4,812", "12.5%", "(1,200)", "“ok”", "o\ufb03ce", "净利润", "二〇二四年，", "４，８１２", "well-known", "—", "$3"]
)


@given(lines=st.lists(st.lists(WORDS, min_size=1, max_size=6), min_size=1, max_size=4), data=st.data())
@settings(max_examples=150, deadline=None)
def test_any_span_of_words_is_covered_exactly(lines: list[list[str]], data: st.DataObject) -> None:
    """The rectangles of a quote that is unique cover the words of its span, and touch no other word."""
    element = printed(*(" ".join(line) for line in lines))
    first = data.draw(st.integers(0, len(element.words) - 1))
    last = data.draw(st.integers(first, len(element.words) - 1))
    start, end = element.words[first].start, element.words[last].end
    quote = element.text[start:end]
    located = locate(quote, [element])
    if not any(character.isalnum() or character in "%$" for character in quote):
        assert not located.found
        return
    assert located.found
    text, needle = fold(element.text).text, fold(quote).text
    if text.find(needle) == text.rfind(needle):
        expected = block_rects(element, start, end)
        assert rects(located) == rects(expected)
        covered = [rect for region in located.regions for rect in region.rects]
        for index, word in enumerate(element.words):
            inside = sum(word.bbox.overlap(rect) for rect in covered)
            assert inside == pytest.approx(1 if first <= index <= last else 0, abs=0.01), word


ORIGINS = st.sampled_from(["text-layer", "ocr"])


@st.composite
def documents(draw: st.DrawFn) -> list[Element]:
    """Paragraphs over two pages, some broken by line-end hyphens, with a running footer between the pages."""
    elements = []
    for number in range(draw(st.integers(1, 4))):
        lines = draw(st.lists(st.lists(WORDS, min_size=1, max_size=5), min_size=1, max_size=3))
        ends = [line[-1].isalpha() and following[0].isalpha() for line, following in pairwise(lines)]
        hyphens = ["-" * (end and draw(st.booleans())) for end in [*ends, False]]
        texts = [" ".join(line) + hyphen for line, hyphen in zip(lines, hyphens, strict=True)]
        fields = {"id": f"e{number}", "page": 1 + number // 2, "y": 100.0 + 80 * (number % 2)}
        elements.append(printed(*texts, **fields, origin=draw(ORIGINS)))
        if number == 1:
            elements.append(printed("Page 1", id="footer", y=700, category="Footer"))
    return elements


@given(elements=documents(), data=st.data())
@settings(max_examples=150, deadline=None)
def test_any_span_of_any_element_is_found_in_it(elements: list[Element], data: st.DataObject) -> None:
    """However often a span of words stands in a document, it is found in the element it was taken from, and what is
    marked there says the same."""
    element = data.draw(st.sampled_from([element for element in elements if element.category != "Footer"]))
    first = data.draw(st.integers(0, len(element.words) - 1))
    last = data.draw(st.integers(first, len(element.words) - 1))
    quote = element.text[element.words[first].start : element.words[last].end]
    located = locate(quote, elements, prefer=element.id)
    if not fold(quote).text:
        assert not located.found
        return
    assert (located.found, located.method) == (True, "exact")
    covered = [(region.page, rect) for region in located.regions for rect in region.rects]
    marked = [word for word in element.words if inside(word, covered) > 0.5]
    starts = list(dict.fromkeys((word.start, word.end) for word in marked))
    said = " ".join(element.text[start:end] for start, end in starts)
    assert fold(said).text == fold(quote).text
    others = [word for other in elements if other is not element for word in other.words]
    assert all(inside(word, covered) == 0 for word in others)


def inside(word: Word, covered: Sequence[tuple[int, BBox]]) -> float:
    """The share of the word's box that is marked."""
    return sum(word.bbox.overlap(rect) for page, rect in covered if page == word.page)


@given(elements=documents(), data=st.data())
@settings(max_examples=100, deadline=None)
def test_any_span_of_characters_is_found(elements: list[Element], data: st.DataObject) -> None:
    """Cut anywhere but within a number, a piece of an element's text is found, and marked with its own glyphs."""
    element = data.draw(st.sampled_from([element for element in elements if element.category != "Footer"]))
    start = data.draw(st.integers(0, len(element.text) - 1))
    end = data.draw(st.integers(start + 1, len(element.text)))
    assume(not any(cuts_number(element.text, index) for index in (start, end)))
    quote = element.text[start:end]
    located = locate(quote, elements, prefer=element.id)
    assert located.found == bool(fold(quote).text)
    text, needle = fold(element.text).text, fold(quote).text
    if text.find(needle) == text.rfind(needle):
        own = block_rects(element, start + len(quote) - len(quote.lstrip()), start + len(quote.rstrip()))
        assert not located.found or rects(located) == rects(own)


def cuts_number(text: str, index: int) -> bool:
    sides = text[max(index - 1, 0) : index + 1]
    return 0 < index < len(text) and all(side.isdigit() or side in ".,'’，-－–/:%" for side in sides)
