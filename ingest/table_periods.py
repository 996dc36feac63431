"""Columns that differ in their period alone: what one of them says of its figures' scale in brackets, it says for all.

Tables print `(Dollars in millions)` once, centred below the years; read cell by cell it belongs to one of them.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ingest.table_scale import stated
from kb_qa.guardrails.lexer import lex
from kb_qa.guardrails.quantities import PERIOD_KINDS

_BRACKETED = re.compile(r"[(（\[【][^()（）\[\]【】]{2,60}[)）\]】]|(?:单位|單位)[:：]\S+")
# What a header says beside a period without saying what its column holds.
_WORDS = re.compile(
    r"(?ai)\b(?:years?|months?|weeks?|quarters?|period|ended|ending|end|as|of|at|for|the|and|fiscal|calendar|current|prior"
    r"|previous|one|two|three|six|nine|twelve|first|second|third|fourth|audited|unaudited|restated)\b"
    r"|截至|截止|止|年度|半年|季度|[本上去今前][年期]|期[末初]|年[末初]|余额|发生额|金额|经审计|未经审计|重述|调整后|[年月日末]"
)


@lru_cache(maxsize=4096)
def period_said(header: str) -> str | None:
    """The period that a header names, with nothing else but a bracketed scale: compares headers; None for others."""
    bare = _BRACKETED.sub(lambda match: " " if states_scale(match[0]) else match[0], header)
    rest = bare
    for quantity in reversed([each for each in lex(bare) if each.kind in PERIOD_KINDS]):
        rest = f"{rest[: quantity.start]} {rest[quantity.end :]}"
    rest = _WORDS.sub(" ", rest)
    said = " ".join(bare.split())
    return said if said and not re.search(r"[^\W\d_]|[%$€£¥]", rest) else None


@lru_cache(maxsize=4096)
def is_period(text: str) -> bool:
    """Whether a text names a period, and nothing else beside it."""
    return period_said(text) is not None and any(quantity.kind in PERIOD_KINDS for quantity in lex(text))


@lru_cache(maxsize=4096)
def states_scale(text: str) -> bool:
    return any(each.counted for each in stated(text))


def brackets_a_scale(header: str) -> bool:
    """Whether a header states its scale in brackets or as a unit line, and not in the words of what it holds."""
    return any(states_scale(match[0]) for match in _BRACKETED.finditer(header))
