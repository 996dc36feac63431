"""Which words and periods of a sentence belong to which of its figures: W(c) and P(c) of the binding rules."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kb_qa.guardrails.periods import Parts, parts_of
from kb_qa.guardrails.quantities import PERIOD_KINDS, Quantity

_STOP = re.compile(
    r"(?ai)[,，;；、(（]|\b(?:and|while|but|to|from|compared|versus|vs|against|above|below|than|up|down|whereas|or|because|due|which|since|mainly|primarily|driven|thanks|owing|after|before|as)\b|[增升降减]至|至|到|由|从|和|而|但|较|比|与"
)
# `172项重大水利工程已有61项`: the counted noun is the first figure's, the verb begins the next one's words
_STOP_HAN = re.compile(f"{_STOP.pattern}|[已有为是达将在占了其共]")
_PART = re.compile(r"(?ai)其中|\bof (?:which|whom|these|them|those)\b|\bincluding\b|\bamong (?:which|them|these)\b")
_LEAD = re.compile("([^:：。]{1,60})[:：]")
_RESPECTIVELY = re.compile(r"(?ai)\brespectively\b|\brespective\b|分别|依次")
_SPAN = re.compile(r"(?ai)(?:between|from|从|由|自)?\s*\x00{4,}\s*(?:and|to|through|至|到|和|[-–—,、])\s*\x00{4,}")
_PARTS = re.compile(r"(?ai)\s*(?:[,，、;；]\s*(?:and\s+)?|\band\b|和|与|及|以及)\s*")
_BASE = re.compile(
    r"(?ai)(?:\b(?:above|below|than|compared (?:with|to)|versus|vs\.?|against)|[较比]) ?"
    r"(?:that |those )?(?:of |in |for |at )?(?:the )?(?:end of )?$"
)
_HAN = re.compile("[\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class Window:
    """`text` is the words of one figure, `periods` those it names itself; both may be empty."""

    text: str
    periods: tuple[Parts, ...] = ()


def is_counted(quantity: Quantity) -> bool:
    """A figure that is no period: it has words of its own."""
    return quantity.role == "figure" and quantity.kind not in PERIOD_KINDS


def masked(text: str, quantities: Sequence[Quantity]) -> str:
    """`text` with every figure (`\\x01`) and every other quantity (`\\x00`) blanked, to look for words between them."""
    parts, position = [], 0
    for quantity in quantities:
        if quantity.start >= position:
            mark = "\x01" if is_counted(quantity) else "\x00"
            parts += [text[position : quantity.start], mark * (quantity.end - quantity.start)]
            position = quantity.end
    return "".join([*parts, text[position:]])


def windows(text: str, quantities: Sequence[Quantity]) -> dict[int, Window]:
    """The window of every figure of one sentence, by where the figure starts."""
    figures = [each for each in quantities if is_counted(each)]
    if not figures:
        return {}
    blank = masked(text, quantities)
    han = _HAN.search(text) is not None
    periods = [(each, parts) for each in quantities if (parts := parts_of(each)) and each.role == "figure"]
    undated = masked(text, [each for each in quantities if not is_counted(each) and each.role != "id"])
    for match in _SPAN.finditer(undated):
        # `between 2023 and 2024` is one place: its `and` ends no window
        blank = blank[: match.start()] + "~" * len(match[0]) + blank[match.end() :]
    found: dict[int, Window] = {}
    lead = _LEAD.match(undated, 0, figures[0].start)
    shared = lead[1] if lead else ""  # `加班费：工作日1.5倍，休息日2倍`: all of them are of what the colon announces
    left, whole = 0, ""
    for index, figure in enumerate(figures):
        last = index + 1 == len(figures)
        limit = len(text) if last else figures[index + 1].start
        stop = (_STOP_HAN if han else _STOP).search(blank, figure.end, limit)
        right = stop.start() if stop else (limit if last or not han else figure.end)
        said = f"{undated[left : figure.start]} {undated[figure.end : right]}"
        if index and _PART.search(blank, left, figure.start):
            said = f"{whole} {said}"
        else:
            whole = said = f"{shared} {said}" if index else said
        own = tuple(parts for each, parts in periods if left <= each.start < right)
        found[figure.start] = Window(_without(said), own)
        left = right
    return _respectively(text, blank, figures, periods, found)


def sentence_periods(quantities: Sequence[Quantity]) -> tuple[Parts, ...]:
    """The periods of a sentence; in `Q4 2019 and 2018` the second may be a fourth quarter too."""
    found = [parts for each in quantities if each.role == "figure" and (parts := parts_of(each))]
    within = {part for parts in found for part in parts if part[0] in "QH"}
    if len(within) == 1:
        found += [parts | within for parts in found if all(part[0] == "y" for part in parts)]
    return tuple(dict.fromkeys(found))


def own_periods(text: str, quantities: Sequence[Quantity]) -> tuple[Parts, ...]:
    """The periods of a sentence without those that it only compares with: `62 points above 2023`, 较2023年."""
    own = [each for each in quantities if _BASE.search(text, max(0, each.start - 40), each.start) is None]
    return sentence_periods(own) or sentence_periods(quantities)


def without_periods(text: str, quantities: Sequence[Quantity]) -> str:
    """`text` with its periods blanked: the 31 of December 31 is no label."""
    return _without(masked(text, [each for each in quantities if each.kind in PERIOD_KINDS]))


def _without(text: str) -> str:
    return text.replace("\x00", " ").replace("\x01", " ")


def _respectively(
    text: str,
    blank: str,
    figures: Sequence[Quantity],
    periods: Sequence[tuple[Quantity, Parts]],
    found: dict[int, Window],
) -> dict[int, Window]:
    """With "respectively" or 分别 the k-th value has the k-th period, and the k-th subject."""
    if len(figures) < 2 or _RESPECTIVELY.search(blank) is None:
        return found
    count = len(figures)
    if len(periods) == count:
        for figure, (_, parts) in zip(figures, periods, strict=True):
            found[figure.start] = Window(found[figure.start].text, (parts,))
    lead = blank[: figures[0].start].replace("\x00", "").replace("\x01", "")
    lead = re.sub(
        r"(?ai)\b(?:were|was|are|is|amounted to|totall?ed|reached|respectively)\b.*$|分别.*$|依次.*$", "", lead
    )
    parts_named = [part for part in _PARTS.split(lead) if part.strip()]
    if len(parts_named) >= count and len(periods) != count:
        for figure, part in zip(figures, parts_named[-count:], strict=True):
            found[figure.start] = Window(part, found[figure.start].periods)
    elif len(periods) == count:
        for figure in figures:
            found[figure.start] = Window(lead, found[figure.start].periods)
    return found
