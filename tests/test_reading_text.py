"""From printed lines to reading text: hyphens, spaces, ranges."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.printed import PrintedLine, PrintedWord, line_of
from ingest.reading_text import Vocabulary, build_text
from kb_qa.geometry import BBox


def printed(text: str, row: int = 0) -> PrintedLine:
    """A line of words of one size; every Chinese character is a word, as on a page."""
    words: list[PrintedWord] = []
    x = 0.0
    for index, part in enumerate(text.split(" ")):
        pieces = [part] if part.isascii() or "\u00ad" in part else list(part)
        for place, piece in enumerate(pieces):
            box = BBox(x, row * 14.0, x + 6 * len(piece), row * 14.0 + 12)
            words.append(PrintedWord(box, piece, 11.0, row * 14.0 + 10, spaced=index > 0 and place == 0))
            x = box.x1
        x += 3
    return line_of(words)


def reading(*lines: str, known: str = "") -> str:
    vocabulary = Vocabulary()
    vocabulary.add([printed(f"{known} end")] if known else [])
    text, words = build_text([printed(line, row) for row, line in enumerate(lines)], 1, vocabulary)
    for word in words:
        assert 0 <= word.start < word.end <= len(text)
    return text


@pytest.mark.parametrize(
    ("lines", "known", "text"),
    [
        (("缴存余额286", ".17亿元"), "", "缴存余额286.17亿元"),
        (("rose by 11.4", "% in May"), "", "rose by 11.4% in May"),
        (("rose by 11", "4 of them"), "", "rose by 11 4 of them"),
        (("continued invest-", "ment in cloud"), "", "continued investment in cloud"),
        (("the long-", "term plan"), "long-term", "the long-term plan"),
        (("the long-", "term plan"), "longterm", "the longterm plan"),
        (("in the Asia-", "Pacific region"), "", "in the Asia-Pacific region"),
        (("for 2019-", "2020 only"), "", "for 2019-2020 only"),
        (("long- and short-", "term debt"), "short-term", "long- and short-term debt"),
        (("both long-", "and short-term"), "", "both long- and short-term"),
        (("light- and heavy-", "duty trucks"), "", "light- and heavy-duty trucks"),
        (("test-retest or intra-", "interviewer reliability"), "", "test-retest or intra-interviewer reliability"),
        (("an extra-", "ordinary year"), "", "an extraordinary year"),
        (("a state-of-the-", "art tool"), "", "a state-of-the-art tool"),
        (("non-", "financial assets"), "", "non-financial assets"),
        (("soft inter\u00ad", "nationalisation"), "", "soft internationalisation"),
        (("by e-", "mail only"), "", "by e-mail only"),
        (("die Aktien-", "und Anleihen"), "", "die Aktien- und Anleihen"),
        (("in 2023-", "24 only"), "", "in 2023-24 only"),
        (("a well-", "known firm"), "", "a well-known firm"),
        (("the long-", "term plan"), "", "the long-term plan"),
        (("the share-", "holders"), "shareholders", "the shareholders"),
        (("the share-", "holders"), "share-holders", "the share-holders"),
        (("a dash -", "then more"), "", "a dash - then more"),
        (("minus 5-", "year plan"), "", "minus 5-year plan"),
        (("营业收入同", "比增长"), "", "营业收入同比增长"),
        (("收入为", "4,812 万元"), "", "收入为4,812 万元"),
        (("매출이 크게", "증가했다"), "", "매출이 크게 증가했다"),
        (("one line", "another line"), "", "one line another line"),
    ],
)
def test_line_ends_are_read_as_a_reader_does(lines: tuple[str, ...], known: str, text: str) -> None:
    """Hyphens of the line break vanish, real ones stay; Chinese lines join, Korean and Latin ones get a space."""
    assert reading(*lines, known=known) == text


def test_a_program_keeps_its_lines_indents_and_hyphens() -> None:
    """Verbatim text has a line for each printed line; what stands beside a line number stays in its row."""
    lines = [printed("for x in long-"), printed("total", 1), printed("2", 2), printed("end", 2)]
    body = lines[1].words[0]
    lines[1] = line_of([replace(body, bbox=BBox(24, body.bbox.y0, 54, body.bbox.y1))])
    end = lines[3].words[0]
    lines[3] = line_of([replace(end, bbox=BBox(18, end.bbox.y0, 36, end.bbox.y1))])
    text, words = build_text(lines, 1, Vocabulary(), verbatim=True)
    assert text == "for x in long-\n    total\n2  end"
    assert all(text[word.start : word.end] == word.text for word in words)


def test_halves_of_a_broken_word_share_one_range() -> None:
    """Both printed halves stand for the whole word, punctuation included."""
    _, words = build_text([printed("continued invest-"), printed("ment, in", 1)], 1, Vocabulary())
    assert [(word.text, word.start, word.end) for word in words] == [
        ("continued", 0, 9),
        ("invest-", 10, 21),
        ("ment,", 10, 21),
        ("in", 22, 24),
    ]


def test_a_word_broken_over_pages_has_halves_on_both() -> None:
    """The rest of a paragraph on the next page continues the word, and its words say their page."""
    text, words = build_text([printed("the impair-")], 3, Vocabulary(), rest=[(4, [printed("ment charge")])])
    assert text == "the impairment charge"
    assert [(word.text, word.page) for word in words] == [("the", 3), ("impair-", 3), ("ment", 4), ("charge", 4)]


plain = st.text("abcdefgh", min_size=1, max_size=8)


@given(st.lists(st.lists(plain, min_size=1, max_size=5), min_size=1, max_size=5), st.integers(0, 50))
def test_every_range_spells_its_word(lines: list[list[str]], offset: int) -> None:
    """Without hyphens the text is the words with one space between, and ranges count from the offset."""
    text, words = build_text(
        [printed(" ".join(line), row) for row, line in enumerate(lines)], 1, Vocabulary(), offset=offset
    )
    assert text == " ".join(word for line in lines for word in line)
    assert all(text[word.start - offset : word.end - offset] == word.text for word in words)
