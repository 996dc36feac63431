"""Where the next unit of a growing text ends: decided from what has come, and never otherwise by what comes after.

`next_end` gives the same cuts for every way in which the text may arrive (invariant I4): a cut is made only where no
continuation of the text could move it.
"""

from __future__ import annotations

import re

from kb_qa.guardrails.units import unit_end

LOOK_AHEAD = 80  # characters: longer than any citation marker that may still belong to a unit
_LATIN_BOUND, _HAN_BOUND = 400, 120  # characters that are held at most: about two seconds of a model's writing
_HAN = re.compile("[\u3400-\u9fff]")
# A clause ends here, unless the mark stands inside a number.
_CLAUSE_MARK = re.compile(r"(?a)(?:[,;:](?=\s)|[，；：、](?!\d)|[—–](?=\s))\s?")
_SPACE = re.compile(r"(?a)(?<![\d.,]) (?![\d%])")
# What may begin a citation marker behind a unit.
_MAY_BE_MARKER = frozenset("[【(（\u00a0 \t")


def next_end(text: str, *, ended: bool) -> tuple[int, bool] | None:
    """The end of the first unit of `text`, and whether it is cut in the middle of a sentence; None: not known yet.

    `ended`: nothing comes after `text`. A unit that is longer than the bound is cut at its last clause mark within.
    """
    if not text:
        return None
    end = _unit_end(text, ended=ended)
    bound = _bound(text)
    if end is not None and end <= bound:
        return end, False
    if len(text) >= bound + LOOK_AHEAD or (ended and len(text) > bound):
        return _clause_end(text[:bound]), True
    return (len(text) if end is None else end, False) if ended else None


def _unit_end(text: str, *, ended: bool) -> int | None:
    end = unit_end(text)
    if end is None or ended or text[end - 1] == "\n":
        return end
    if end == len(text):
        return None
    if text[end] in _MAY_BE_MARKER and len(text) - end < LOOK_AHEAD:
        return None
    return end


def _bound(text: str) -> int:
    """By the text's first characters, so that it does not change while the text grows."""
    return _HAN_BOUND if len(_HAN.findall(text[:_HAN_BOUND])) * 2 >= _HAN_BOUND else _LATIN_BOUND


def _clause_end(text: str) -> int:
    """Behind the last clause mark; where there is none, at the last space that splits no quantity, or at the end."""
    for pattern in (_CLAUSE_MARK, _SPACE):
        ends = [match.end() for match in pattern.finditer(text) if match.end() < len(text)]
        if ends:
            return ends[-1]
    return len(text)
