"""Finds text layers that do not say what the page shows.

Characters that stand for nothing are known by themselves. A layer that another OCR left, or a font whose letters are
mapped to other letters or not at all, is made of plausible characters: only the picture tells. A sample is enough, and
cheap: its lines are recognised where they stand, nothing is looked for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from statistics import fmean

import pymupdf

from ingest.ocr import read_line
from ingest.page_text import glyph_count
from ingest.printed import PrintedLine
from kb_qa.geometry import BBox

SAMPLE = 6
LEAST_GLYPHS = 12  # of a line of the sample; in short ones one slip weighs too much
FEWEST_GLYPHS = 3  # the same where the font gives reason to doubt
LEAST_LETTERS = 80
STRANGE = 0.3  # share of a line's characters that stand for nothing, from which on it says nothing
STRANGE_LINE = 4  # glyphs; a bullet or an icon from a font of signs has no character either
STRANGE_PAGE = 12  # glyphs on such lines that are worth reading a page by OCR, where they are not most of it
DISAGREES = 0.6  # a text layer less like what OCR reads of the same lines says something else than the page
CID = re.compile(r"\(cid:\d+\)")  # written by programs that found no character for a glyph
VOWELS = frozenset("aeiouyàáâãäåæèéêëìíîïòóôõöøùúûüýœ")


def unreadable_lines(page: pymupdf.Page, lines: Sequence[PrintedLine]) -> list[PrintedLine]:
    """Those of the visible lines that do not say what is printed; none where it is a sign here and there."""
    mute = [line for line in lines if unreadable_share([line]) > STRANGE]
    garbled = [line for line in _set_in(page, fonts_without_map(page), lines) if line not in mute]
    alike = agreement(page, garbled, least=FEWEST_GLYPHS) if garbled else None
    if alike is None or alike >= DISAGREES:
        garbled = []
    count = glyph_count([line for line in mute if glyph_count([line]) >= STRANGE_LINE])
    if count < STRANGE_PAGE and glyph_count(mute) <= STRANGE * glyph_count(lines):
        mute = []
    return [*mute, *garbled]


def unreadable_share(lines: Sequence[PrintedLine]) -> float:
    """Share of characters that stand for nothing: U+FFFD, controls, private use, `(cid:…)`. 0 where there are none."""
    text = "".join(word.text for line in lines for word in line.words)
    spelled_out = sum(len(sign) for sign in CID.findall(text))
    strange = sum(char == "\ufffd" or char < " " or "\ue000" <= char <= "\uf8ff" for char in text)
    return (strange + spelled_out) / len(text) if text else 0.0


def fonts_without_map(page: pymupdf.Page) -> frozenset[str]:
    """Names of embedded fonts of which the file does not say what characters their codes stand for.

    MuPDF then guesses, often right. Type 1 fonts name their glyphs and need no map.
    """
    document = page.parent
    if not document.is_pdf:
        return frozenset()
    names = set()
    for xref, extension, kind, name, *_ in page.get_fonts(full=True):
        if not xref or extension == "n/a" or document.xref_get_key(xref, "ToUnicode")[0] != "null":
            continue
        if kind in ("Type0", "Type3") or (kind == "TrueType" and document.xref_get_key(xref, "Encoding")[0] == "null"):
            names.add(name.rpartition("+")[2])
    return frozenset(names)


def _set_in(page: pymupdf.Page, fonts: frozenset[str], lines: Sequence[PrintedLine]) -> list[PrintedLine]:
    """The lines most of which is set in one of the fonts."""
    if not fonts:
        return []
    spans = [
        BBox(*span["bbox"])
        for block in page.get_text("dict", flags=pymupdf.TEXTFLAGS_TEXT)["blocks"]
        for line in block.get("lines", ())
        for span in line["spans"]
        if span["font"].rpartition("+")[2] in fonts
    ]
    return [line for line in lines if sum(line.bbox.overlap(span) for span in spans) > 0.5]


def agreement(page: pymupdf.Page, lines: Sequence[PrintedLine], *, least: int = LEAST_GLYPHS) -> float | None:
    """How alike a sample of the lines and their pictures read, 0..1; None where no line has `least` glyphs."""
    long = [line for line in lines if line.direction == "right" and glyph_count([line]) >= least]
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
