"""The place of a text in a recognised one, where the recognition misread a few letters and no digit."""

from __future__ import annotations

import re

# Of ten characters, one may differ: a shorter text must stand there as it is.
TOLERANCE = 0.1

# Places looked at when the best ones hold another figure: repetitive text stays cheap.
_MOST_PLACES = 200

# What is never misread in silence: numbers with their separators, and numbers in Chinese.
_FIGURES = re.compile(
    r"[$€£¥]?[0-9][0-9.,'/: -]*[%‰]?|[〇零一二三四五六七八九十百千万亿两壹贰叁肆伍陆柒捌玖拾佰仟萬億]+"
)


def approximate_match(needle: str, text: str) -> tuple[int, int, int] | None:
    """(start, end, edits) of the range of `text` with the fewest edits (Levenshtein) from `needle`, first of several.

    None where more than a tenth of the characters differ, or a figure. Myers' bit-vector search: one pass over the
    text, each step on integers of len(needle) bits.
    """
    allowed = int(len(needle) * TOLERANCE)
    if not allowed:
        return None
    ends = [(cost, end) for end, cost in enumerate(_costs(needle, text), 1) if cost <= allowed]
    for cost, end in sorted(ends)[:_MOST_PLACES]:
        window = text[max(end - len(needle) - cost, 0) : end]
        backwards = _costs(needle[::-1], window[::-1])
        length = 1 + min(range(len(backwards)), key=lambda index: (backwards[index], index))
        start = end - length
        if _whole_numbers(text, start, end) and _FIGURES.findall(text[start:end]) == _FIGURES.findall(needle):
            return start, end, cost
    return None


def _costs(needle: str, text: str) -> list[int]:
    """For each character of `text`, the edits between `needle` and the best piece that ends there.

    G. Myers, "A fast bit-vector algorithm for approximate string matching based on dynamic programming", 1999.
    """
    masks: dict[str, int] = {}
    for index, character in enumerate(needle):
        masks[character] = masks.get(character, 0) | 1 << index
    full, top = (1 << len(needle)) - 1, 1 << (len(needle) - 1)
    plus, minus, cost = full, 0, len(needle)
    costs = []
    for character in text:
        equal = masks.get(character, 0)
        vertical = equal | minus
        horizontal = (((equal & plus) + plus) ^ plus) | equal
        up, down = minus | (full & ~(horizontal | plus)), plus & horizontal
        cost += bool(up & top) - bool(down & top)
        up, down = (up << 1) & full, (down << 1) & full
        plus, minus = down | (full & ~(vertical | up)), up & vertical
        costs.append(cost)
    return costs


def _whole_numbers(text: str, start: int, end: int) -> bool:
    """Whether neither end cuts a number in two."""
    return not any(0 < cut < len(text) and text[cut - 1 : cut + 1].isdecimal() for cut in (start, end))
