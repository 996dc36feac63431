"""Which computation the words around a figure ask for: the trigger of every derived figure."""

from __future__ import annotations

import re
from typing import Literal

from kb_qa.guardrails.quantities import Quantity

Operation = Literal["growth", "difference", "sum", "average", "share", "ratio", "multiple", "cagr", "extreme"]

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
    r"|climbed|jumped|improv\w{1,6}|expand\w{0,3}|contracted|shrank|slipped|surged|rais\w{1,3}|narrow\w{0,3}|widen\w{0,3})\b|增长|增加|上升|上涨|提高|提升|下降|减少|下跌|降低|变动|变化|差额|相差|差|多|少|(?<!最)[高低]"
)
_SUM = re.compile(
    r"(?ai)\btotal\w{0,3}\b|\bsum\b|\btogether\b|\bcombined\b|\baltogether\b|\bin aggregate\b|\boverall\b|合计"
    r"|总计|共计|总额|总共|总和|合共|累计|之和|总"
)
_CHANGE_OF_PERCENT = re.compile(
    r"(?ai)\b(?:change|increase|decrease|difference)\b[^.?]{0,24}\b(?:percent(?:age)?|rate|margin|share|yield)\b"
)
MOST = r"highest|largest|greatest|biggest|maximum|peak"
LEAST = r"lowest|smallest|minimum"
_RANKED = r"second|third|fourth|next|one of the|among the|previous"
_SUPERLATIVE = re.compile(
    rf"(?ai)(?<![-a-z])(?:{_RANKED})[- ](?:{MOST}|{LEAST})|第[二三四五]|之一"
    rf"|(?<![-a-z])(?:(?P<most>{MOST})|(?P<least>{LEAST}))(?![-a-z])"
    r"|(?P<most_han>最高|最大|最多)|(?P<least_han>最低|最小|最少)"
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
    if superlative(text) and not difference and not average and claim.kind in {*_AMOUNTS, "percent"}:
        return ("extreme",)
    if average:
        return () if difference and _between(text, difference, average) else ("average",)
    if claim.kind == "percent":
        return _of_percent(text, difference is not None)
    if claim.kind == "pp":
        return ("difference",) if difference else ()
    if claim.kind in _AMOUNTS:
        return _of_amounts(claim, text, difference is not None)
    return ()


def superlative(text: str) -> int:
    """1 where `text` says that something is the largest, -1 the smallest, 0 for neither, both, or a rank below."""
    found = {match.lastgroup or "" for match in _SUPERLATIVE.finditer(text)}
    most, least = bool(found & {"most", "most_han"}), bool(found & {"least", "least_han"})
    return 0 if "" in found else int(most) - int(least)


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
