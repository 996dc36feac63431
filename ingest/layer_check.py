"""Holds a text layer that looks doubtful against what OCR reads of a few of its lines.

A layer that another OCR left, or a font whose letters are mapped to other letters, is made of plausible characters:
only the picture tells. A sample is enough, and cheap: its lines are recognised where they stand, nothing is looked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from statistics import fmean

import pymupdf

from ingest.ocr import read_line
from ingest.page_text import PrintedLine, glyph_count

SAMPLE = 6
LEAST_GLYPHS = 12  # of a line of the sample; in short ones one slip weighs too much
LEAST_LETTERS = 80
VOWELS = frozenset("aeiouyàáâãäåæèéêëìíîïòóôõöøùúûüýœ")


def agreement(page: pymupdf.Page, lines: Sequence[PrintedLine]) -> float | None:
    """How alike a sample of the lines and their pictures read, 0..1; None where no line is long enough to say."""
    long = [line for line in lines if line.direction == "right" and glyph_count([line]) >= LEAST_GLYPHS]
    if not long:
        return None
    step = max(len(long) / SAMPLE, 1.0)
    sample = [long[int(index * step)] for index in range(min(SAMPLE, len(long)))]
    return fmean(_alike(line.text, read_line(page, line.bbox)) for line in sample)


def _alike(one: str, other: str) -> float:
    """Spaces and capitals apart: what OCR is least sure of."""
    left, right = ("".join(text.split()).casefold() for text in (one, other))
    return SequenceMatcher(None, left, right, autojunk=False).ratio()


def looks_misspelled(lines: Sequence[PrintedLine]) -> bool:
    """Whether Latin text has a share of vowels that no language has: its letters may stand for others.

    European languages have between 35 and 50 %. Codes and abbreviations have fewer too: a suspicion, not a verdict.
    """
    letters = [char for line in lines for word in line.words for char in word.text.casefold() if char.isalpha()]
    latin = [char for char in letters if char < "\u0250"]
    if len(latin) < LEAST_LETTERS or len(latin) * 2 < len(letters):
        return False
    share = sum(char in VOWELS for char in latin) / len(latin)
    return not 0.28 <= share <= 0.55
