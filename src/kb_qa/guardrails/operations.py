"""Which computation the words around a figure ask for: the trigger of every derived figure."""

from __future__ import annotations

import re
from typing import Literal

from kb_qa.guardrails.quantities import Quantity

Operation = Literal["growth", "difference", "sum", "average", "share", "ratio", "multiple", "cagr"]

_CAGR = re.compile(r"(?ai)\bcagr\b|\bcompound(?:ed)?\b|复合")
_GROWTH = re.compile(
    r"(?ai)\bpercent(?:age)?[ -](?:of )?(?:change|increase|decrease|growth|difference|gain|drop|decline)"
    r"|\bgrowth rate\b|\b%"
    r" (?:change|increase|decrease|growth)|同比|环比|增长率|增速|增幅|降幅"
)
_AVERAGE = re.compile(r"(?ai)\baverage\b|\bmean\b|\bavg\b|平均|均值|人均")
_SHARE = re.compile(
    r"(?ai)\b(?:percent(?:age)?|proportion|share|fraction|portion|%) (?:constitution )?of\b|\bproportion\b"
    r"|\bas an? (?:percentage|percent|%|share"
    r"|proportion)|\baccount(?:s|ed|ing)? for\b|\b(?:made|makes?) up\b|\bconstitut\w{1,5}|\bof (?:the )?total\b"
    r"|\brepresent(?:s|ed|ing)?\b|\bwhat percent(?:age)?\b|占比|占|比重|份额"
)
_RATIO = re.compile(r"(?ai)\bratio\b|\btimes\b|\bper\b|比率|之比|倍")
_DIFFERENCE = re.compile(
    r"(?ai)\b(?:change[ds]?|differences?|differ(?:s|ed)?|increas\w{1,3}|decreas\w{1,3}|r[oi]se[ns]?|rising|grew|grown?|growth"
    r"|fell|falls?|fallen|declin\w{1,3}|drop\w{0,4}|reduc\w{1,5}|up|down|more|less|higher|lower|gain\w{0,3}|exceed\w{0,3}"
    r"|climbed|jumped|narrow\w{0,3}|widen\w{0,3})\b|增长|增加|上升|上涨|提高|提升|下降|减少|下跌|降低|变动|变化|差额|相差|差|多|少"
)
_SUM = re.compile(
    r"(?ai)\btotal\w{0,3}\b|\bsum\b|\btogether\b|\bcombined\b|\baltogether\b|\bin aggregate\b|\boverall\b|合计"
    r"|总计|共计|总额|总共|总和|合共|累计|之和|总"
)
_CHANGE_OF_PERCENT = re.compile(
    r"(?ai)\b(?:change|increase|decrease|difference)\b[^.?]{0,24}\b(?:percent(?:age)?|rate|margin|share|yield)\b"
)
_AMOUNTS = frozenset({"money", "number", "count", "measure", "duration"})


def operations(claim: Quantity, text: str) -> tuple[Operation, ...]:
    """The operations that `text` asks for and that can give a figure of the claim's kind; usually one."""
    if _CAGR.search(text):
        return ("cagr",) if claim.kind == "percent" else ()
    if claim.kind in {"multiple", "doubling"}:
        return ("multiple",)
    average, difference = _AVERAGE.search(text), _DIFFERENCE.search(text)
    if claim.kind == "percent" and _GROWTH.search(text):
        return ("growth",)
    if average:
        return () if difference and _between(text, difference, average) else ("average",)
    if claim.kind == "percent":
        return _of_percent(text, difference is not None)
    if claim.kind == "pp":
        return ("difference",) if difference else ()
    if claim.kind in _AMOUNTS:
        return _of_amounts(claim, text, difference is not None)
    return ()


def says_total(text: str) -> bool:
    return _SUM.search(text) is not None


def _of_percent(text: str, difference: bool) -> tuple[Operation, ...]:
    if _CHANGE_OF_PERCENT.search(text):
        return ("difference",)
    if _SHARE.search(text):
        return ("share",)
    if _RATIO.search(text):
        return ("share",)
    return ("growth", "difference") if difference else ()


def _of_amounts(claim: Quantity, text: str, difference: bool) -> tuple[Operation, ...]:
    if (
        claim.kind == "number"
        and not claim.scale
        and not claim.currency
        and (_RATIO.search(text) or _SHARE.search(text))
    ):
        return ("ratio", "sum") if _SUM.search(text) and not _RATIO.search(text) else ("ratio",)
    if difference:
        return ("difference",)
    return ("sum",) if _SUM.search(text) else ()


def _between(text: str, difference: re.Match[str], average: re.Match[str]) -> bool:
    """`the change in the average …` computes twice; `the average increase` names an average of changes."""
    return difference.start() < average.start()
