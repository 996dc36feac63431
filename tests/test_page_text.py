"""What is printed on a page: words, their weight, fields of forms, letters set apart."""

from __future__ import annotations

from typing import Any

import pymupdf
import pytest

from ingest.page_text import SOFT_HYPHEN, is_fixed_width, read_lines
from ingest.printed import PrintedLine


def drawn() -> pymupdf.Page:
    return pymupdf.open().new_page()


def texts(lines: list[PrintedLine]) -> list[str]:
    return [line.text for line in lines]


@pytest.mark.parametrize(("shift", "bold"), [(0.4, True), (0.0, False)])
def test_text_printed_twice_a_little_apart_is_bold(shift: float, bold: bool) -> None:
    """At the very same place it is only printed twice."""
    page = drawn()
    for x in (72, 72 + shift):
        page.insert_text((x, 100), "Total", fontsize=12)
    ((word,),) = [line.words for line in read_lines(page)]
    assert (word.text, word.bold) == ("Total", bold)


def test_letters_set_apart_are_words_again() -> None:
    """`A B S T R A C T` is a word, and a wider gap parts two; a row of initials is too short to tell."""
    page = drawn()
    page.insert_text((72, 100), "A R T I C L E   I N F O", fontsize=10)
    page.insert_text((72, 200), "A B C", fontsize=10)
    words = [word.text for line in read_lines(page) for word in line.words]
    assert words == ["ARTICLE", "INFO", "A", "B", "C"]


def test_a_field_with_a_place_for_each_character_is_one_word() -> None:
    """Its box holds all of them, and the label beside it is not in it."""
    page = drawn()
    page.insert_text((72, 100), "Number", fontsize=10)
    widget = pymupdf.Widget()
    widget.field_name, widget.field_type, widget.field_value = "number", pymupdf.PDF_WIDGET_TYPE_TEXT, "4711820"
    widget.field_flags, widget.text_maxlen = pymupdf.PDF_TX_FIELD_IS_COMB, 7
    widget.rect = pymupdf.Rect(150, 88, 350, 104)
    page.add_widget(widget)
    words = {word.text: word.bbox for line in read_lines(page) for word in line.words}
    assert set(words) == {"Number", "4711820"}
    assert words["4711820"].width > 150


class PageOfOneLine:
    """Gives a line's characters as MuPDF does, six points each."""

    first_widget = None

    def __init__(self, text: str) -> None:
        chars = [
            {"c": char, "bbox": (72 + 6 * index, 90, 78 + 6 * index, 102), "origin": (72 + 6 * index, 100)}
            for index, char in enumerate(text)
        ]
        span = {"font": "Helvetica", "size": 10.0, "flags": 0, "char_flags": 16, "alpha": 255, "chars": chars}
        self._line = {"dir": (1.0, 0.0), "wmode": 0, "spans": [span]}

    def get_text(self, kind: str, flags: int) -> dict[str, Any]:
        return {"blocks": [{"lines": [self._line]}]}


def test_the_control_character_for_a_break_hyphen_is_a_soft_hyphen() -> None:
    """Some programs write U+0002 where they broke a word: it joins at the end of a line, and vanishes elsewhere."""
    (line,) = read_lines(PageOfOneLine("in\x02side invest\x02"))
    assert [word.text for word in line.words] == ["inside", f"invest{SOFT_HYPHEN}"]


@pytest.mark.parametrize(("font", "fixed"), [("ABCDEF+Consolas", True), ("LMMono10", True), ("MonotypeCorsiva", False)])
def test_fonts_of_one_width_are_known_by_name(font: str, fixed: bool) -> None:
    """Few files set the flag for it."""
    assert is_fixed_width(font) is fixed
