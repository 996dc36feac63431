"""What a row's figures are counted in, where the row itself does not say it: from the ledger of the context's facts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from kb_qa.extraction.rows import Pair, without_leaders

# A line of the ledger: `F12 | p.8 | Revenue | 2024 | 4,132 | USD 10^6`.
_POWER = re.compile(r"10\^(\d{1,2})$")
_ENGLISH = {3: " thousand", 6: " million", 9: " billion"}
_CHINESE = {3: "千", 4: "万", 6: "百万", 8: "亿"}
# A thousand is said of something in Chinese.
_CURRENCIES = {"CNY": "元", "USD": "美元", "EUR": "欧元", "GBP": "英镑", "HKD": "港元", "JPY": "日元"}

Scales = Mapping[tuple[str, str], tuple[int, str]]


@lru_cache(maxsize=32)
def scales_of(lines: tuple[str, ...]) -> Scales:
    """(power of ten, currency) by row label and printed figure; where two facts differ, neither is known."""
    found: dict[tuple[str, str], set[tuple[int, str]]] = {}
    for line in lines:
        parts = line.split(" | ")
        if len(parts) < 5:
            continue
        power = _POWER.search(parts[-1])
        measure = (int(power[1]), parts[-1].partition(" ")[0]) if power else (0, "")
        found.setdefault((_plain(parts[2]), _plain(parts[-2])), set()).add(measure)
    return {key: next(iter(measures)) for key, measures in found.items() if len(measures) == 1}


def stated(said: Sequence[Pair], scales: Scales, *, chinese: bool) -> list[Pair]:
    """The pairs, each figure with its power of ten in words: `27.0 million`."""
    if not said:
        return []
    label = _label(said)
    pairs = [said[0]]
    for header, cell in said[1:]:
        power, currency = scales.get((label, _plain(cell)), (0, ""))
        pairs.append((header, cell + (_in_chinese(power, currency) if chinese else _ENGLISH.get(power, ""))))
    return pairs


def _in_chinese(power: int, currency: str) -> str:
    word, unit = _CHINESE.get(power, ""), _CURRENCIES.get(currency, "")
    return f"{word}{unit}" if word and (unit or word != "千") else _ENGLISH.get(power, "")


def counts_all(said: Sequence[Pair], scales: Scales) -> bool:
    """Whether one power of ten counts all the figures of a row, by all that is known of them."""
    label = _label(said)
    known = {scales[label, _plain(cell)] for _, cell in said[1:] if (label, _plain(cell)) in scales}
    return len({power for power, _ in known}) < 2


def _label(said: Sequence[Pair]) -> str:
    return _plain(said[0][1].rpartition(" / ")[2][:80]) if said else ""


def _plain(text: str) -> str:
    return re.sub(r"\s", "", without_leaders(text))
