"""Right-to-left writing: the letters of one glyph in the order in which they are spoken, and where direction turns.

MuPDF turns a right-to-left line around glyph by glyph, and with it the letters of a ligature: the lam and alef of one
glyph come out as alef and lam, the alef as a box without width at the edge of the lam's.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

FIRST_RIGHT_TO_LEFT = "\u0590"
NO_WIDTH = 0.05  # points


class Positioned(Protocol):
    """A character with the sides of its box."""

    char: str
    x0: float
    x1: float


Glyph = TypeVar("Glyph", bound=Positioned)


def in_spoken_order(glyphs: Iterable[Glyph]) -> Iterator[Glyph]:
    """The characters, those of one right-to-left ligature turned around again."""
    waiting: list[Glyph] = []
    for glyph in glyphs:
        if _is_part(glyph) and (not waiting or abs(waiting[-1].x0 - glyph.x0) < NO_WIDTH):
            waiting.append(glyph)
            continue
        if waiting and is_right_to_left(glyph.char) and abs(waiting[-1].x0 - glyph.x1) < NO_WIDTH:
            yield glyph
            for part in reversed(waiting):
                part.x0 = part.x1 = glyph.x0  # its end, or it would stand where the letter before it does
                yield part
        else:
            yield from waiting
            yield glyph
        waiting = []
    yield from waiting


def _is_part(glyph: Positioned) -> bool:
    """A right-to-left letter without width: the rest of a ligature, whose box the first letter has."""
    return (
        glyph.char >= FIRST_RIGHT_TO_LEFT
        and glyph.x1 - glyph.x0 < NO_WIDTH
        and is_right_to_left(glyph.char)
        and not unicodedata.combining(glyph.char)
    )


def is_right_to_left(char: str) -> bool:
    return char >= FIRST_RIGHT_TO_LEFT and unicodedata.bidirectional(char) in ("R", "AL")


def turns_direction(before: str, after: str) -> bool:
    """Whether writing turns around between two letters: an Arabic `and` stands before a Latin name without a space."""
    if before < FIRST_RIGHT_TO_LEFT and after < FIRST_RIGHT_TO_LEFT:
        return False
    if is_right_to_left(before):
        return unicodedata.bidirectional(after) == "L"
    return is_right_to_left(after) and unicodedata.bidirectional(before) == "L"
