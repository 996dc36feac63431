"""One thing changed in an answer: a digit, a scale, a currency or a period. Every change must be refused."""

from __future__ import annotations

import re
from collections.abc import Iterator

_SCALES = (
    ("thousand", "million"),
    ("million", "billion"),
    ("million", "thousand"),
    ("billion", "million"),
    ("亿元", "万元"),
    ("万元", "亿元"),
    ("亿", "万"),
    ("万", "亿"),
)
_CURRENCIES = (
    ("US$", "HK$"),
    ("HK$", "US$"),
    ("$", "€"),
    ("€", "$"),
    ("RMB", "USD"),
    ("元", "美元"),
    ("美元", "日元"),
    ("yuan", "dollars"),
)
_PERIODS = (
    ("2024", "2023"),
    ("2024", "2022"),
    ("2023", "2022"),
    ("2025", "2021"),
    ("2021", "2020"),
    ("Q3", "Q2"),
    ("Q2", "Q4"),
    ("第三季度", "第二季度"),
    ("March", "April"),
    ("上半年", "下半年"),
    ("3月", "4月"),
)


def mutations(answer: str) -> Iterator[tuple[str, str]]:
    """(what was changed, the changed answer), each once; expressions and citation markers stay as they are."""
    kept = [match.span() for match in re.finditer(r"(?m)⟦[^⟧]*⟧|\[\d+\]|【\d+】|^\d+\.", answer)]
    seen = {answer}
    for kind, pairs in (("scale", _SCALES), ("currency", _CURRENCIES), ("period", _PERIODS)):
        for old, new in pairs:
            for match in re.finditer(re.escape(old), answer):
                changed = f"{answer[: match.start()]}{new}{answer[match.end() :]}"
                if changed not in seen and not _is_kept(match.start(), kept) and not _is_double(changed):
                    seen.add(changed)
                    yield kind, changed
    for index, character in enumerate(answer):
        if not (character.isdecimal() and character.isascii()) or _is_kept(index, kept):
            continue
        for digit in "0123456789":
            changed = f"{answer[:index]}{digit}{answer[index + 1 :]}"
            if changed not in seen:
                seen.add(changed)
                yield "digit", changed


def _is_kept(place: int, kept: list[tuple[int, int]]) -> bool:
    return any(start <= place < end for start, end in kept)


def _is_double(text: str) -> bool:
    """`美元` made of the 元 of 美元, `HKUS$`: no answer that anyone writes."""
    return re.search("美美元|日日元|港美元|HKUS|USHK|HK€|US€|美日元", text) is not None
