"""What PyMuPDF's layout nets are told of the text, made as PyMuPDF makes it, with less work in Python."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import Any

import pymupdf
import pymupdf.features

SYMBOLS = "•-*+<>()→✓#□■‣◦▪.:※"
CLASSES = {"C": 10, "D": 11, "S": 12, "W": 13} | {symbol: 14 + place for place, symbol in enumerate(SYMBOLS)}
PATTERN_LENGTH = 40  # numbers, two for each sign of a pattern
KINDS = {
    "is_text": "text",
    "is_image": "image",
    "is_vector": "vector",
    "is_hline_vector": "h-line-vector",
    "is_vline_vector": "v-line-vector",
}
UNREAD = {"this", "thisown", "last_char_rect"}  # of a region's features: what is no number


@functools.lru_cache(1024)
def text_pattern(text: str, text_pattern: None = None, return_vector: bool = True) -> list[float]:
    """In place of `get_text_pattern`: runs of letters, digits, spaces and signs as numbers.

    The list is shared. What does not fit into it is not looked at.
    """
    pattern = ""
    for sign, run in itertools.groupby(map(_sign, text)):
        pattern += f"{sign}{len(list(run))}"
        if 2 * len(pattern) >= PATTERN_LENGTH:
            break
    codes = (int(sign) if sign.isdecimal() else CLASSES[sign] for sign in pattern[: PATTERN_LENGTH // 2])
    numbers = [half / 8 for code in codes for half in divmod(code, 8)]
    return numbers + [0.0] * (PATTERN_LENGTH - len(numbers))


@functools.lru_cache(4096)
def _sign(char: str) -> str:
    if char in SYMBOLS:
        return char
    if char.isspace():
        return "W"
    if char.isdigit():
        return "D"
    return "C" if char.isalnum() else "S"


def line_features(custom_feature: dict[str, Any], rf_names: Sequence[str]) -> list[float]:
    """In place of `get_rf_features`: the features of a line in the order of their names."""
    kind = custom_feature.get("box_type", "text")
    return [float(kind == KINDS[name] if name in KINDS else custom_feature[name]) for name in rf_names]


def add_region_features(data_dict: dict[str, Any], stext_page: Any) -> None:
    """In place of `extract_rf_features`: adds to each line what MuPDF says of its region.

    Invisible lines are taken out where there are others.
    """
    rows = data_dict["custom_features"]
    for row, box in zip(rows, data_dict["bboxes"], strict=True):
        region = pymupdf.mupdf.FzRect(*box)
        features = pymupdf.features.fz_features_for_region(stext_page, region, 0)
        row.update((name, getattr(features, name)) for name in _names())
    if any(row["num_numerals"] + row["num_non_numerals"] > 0 and row["invisible"] == 0 for row in rows):
        shown = [place for place, row in enumerate(rows) if row["invisible"] != 1]
        for key in ("custom_features", "bboxes", "text"):
            data_dict[key][:] = [data_dict[key][place] for place in shown]


@functools.cache
def _names() -> tuple[str, ...]:
    kind = pymupdf.features.fz_feature_stats
    return tuple(name for name in dir(kind) if not name.startswith("_") and name not in UNREAD)
