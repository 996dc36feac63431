"""Ligatures and turns of right-to-left writing, and text whose codes are glyph numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ingest.glyph_numbers import character_of, glyph_numbered_fonts, holds_glyph_numbers
from ingest.glyph_order import in_spoken_order, turns_direction


@dataclass
class Letter:
    """A character with the sides of its box."""

    char: str
    x0: float
    x1: float


def span(text: str, font: str = "Sans") -> dict[str, Any]:
    return {"font": font, "chars": [{"c": char} for char in text]}


def test_the_letters_of_a_lam_alef_come_in_the_order_in_which_they_are_spoken() -> None:
    """MuPDF gives alef (no width) before lam; the word is lam, then alef, which stands at the lam's left end."""
    letters = [Letter("خ", 16, 23), Letter("ا", 16, 16), Letter("ل", 9, 16), Letter("ل", 3, 9)]
    spoken = list(in_spoken_order(letters))
    assert "".join(letter.char for letter in spoken) == "خلال"
    assert (spoken[2].x0, spoken[2].x1) == (9, 9)


def test_a_vowel_mark_without_width_stays_where_it_is() -> None:
    """Marks have no width either, but are no part of a ligature."""
    letters = [Letter("ض", 10, 16), Letter("\u064b", 10, 10), Letter("ا", 6, 10)]
    assert [letter.char for letter in in_spoken_order(letters)] == ["ض", "\u064b", "ا"]


@given(st.lists(st.tuples(st.sampled_from("abلاأ 1\u064b"), st.floats(0, 50), st.sampled_from([0.0, 4.0]))))
def test_no_letter_is_lost_by_reordering(places: list[tuple[str, float, float]]) -> None:
    """Whatever the boxes are, the same characters come out."""
    letters = [Letter(char, x0, x0 + width) for char, x0, width in places]
    before = sorted(letter.char for letter in letters)
    assert sorted(letter.char for letter in in_spoken_order(letters)) == before


def test_a_word_ends_where_writing_turns_around() -> None:
    """An Arabic letter and a Latin one without a space between are two words; digits and marks turn nothing."""
    assert turns_direction("و", "P")
    assert turns_direction("P", "و")
    assert not turns_direction("و", "2")
    assert not turns_direction("e", "́")
    assert not turns_direction("a", "b")


def test_glyph_numbers_are_read_as_the_characters_of_the_macintosh_order() -> None:
    """Letters, the space and the ligature fi; what lies beyond the order stays as it is."""
    printed = "".join(map(character_of, ".LWFKHQ\x0f\x03À\ue000"))
    assert printed == "Kitchen, ﬁ\ue000"


def test_only_fonts_whose_spaces_are_glyph_three_are_taken_for_numbered() -> None:
    """A font with real spaces is left alone, and so is one whose numbers spell nothing."""
    block = {
        "lines": [
            {"spans": [span("/LYLQJ\x03URRPV", "Numbered"), span("Living rooms", "Mapped")]},
            {"spans": [span("\x03\x05\x06\x08\x09\x1e\x03\x5f\x5e", "Symbols")]},
        ]
    }
    assert glyph_numbered_fonts(block) == {"Numbered"}
    assert holds_glyph_numbers(span(".LWFKHQ"))
    assert not holds_glyph_numbers(span("Kitchen"))
