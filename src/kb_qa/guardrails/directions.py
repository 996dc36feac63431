"""Whether a figure is a change or a level, and which way a change goes, by the words beside it."""

from __future__ import annotations

import re
from dataclasses import dataclass

_UP_WORDS = (
    r"rose|rises?|risen|rising|gr[eo]wn?|grows|growing|growth|increas\w{0,3}|gain\w{0,3}|up|climb\w{0,3}|jump\w{0,3}"
    r"|higher|improve[ds]?|improvement|surg\w{1,3}|expan\w{2,5}|(?<!value[ -])added|advanc\w{1,3}|more|greater"
)
_DOWN_WORDS = (
    r"fell|falls?|fallen|falling|declin\w{1,3}|decreas\w{1,3}|drop\w{0,4}|reduc\w{1,5}|down|lower\w{0,3}|cut|slipped|slid"
    r"|shrank|shrunk|contracted|less|fewer|worse\w{0,3}"
)
_UP_HAN = "增长|上升|增加|上涨|提高|提升|增幅|涨幅|扩大|上调|走高|增|涨|升"
_DOWN_HAN = "下降|减少|下跌|降低|下滑|回落|跌幅|降幅|缩减|缩小|下调|走低|跌|降|减"
_CHANGE_HAN = "变动|变化|差额|相差"
_WORD = re.compile(
    rf"(?ai)(?<![A-Za-z])(?:(?P<up>{_UP_WORDS})|(?P<down>{_DOWN_WORDS})|(?P<any>changed?|changes|difference|differed))"
    rf"(?![A-Za-z])|(?P<down_han>{_DOWN_HAN})|(?P<up_han>{_UP_HAN})|(?P<any_han>{_CHANGE_HAN})"
)
# What may stand between the word and its figure. `to`, 至 and 到 turn what follows into a level.
_FILLER = re.compile(
    r"(?ai)(?:[\s\x00,，~:：]|(?<![a-z])(?:by|of|about|around|approximately|approx|roughly|nearly|almost|over|more|less|than"
    r"|at|least|up|only|just|a|an|some|another|further|year|on|yoy|in|rate|was|were|is|the|period|same|total|between"
    r"|and|during|for|fiscal|over-year)(?![a-z])|-|year-on-year|year-over-year|率|了|约|近|幅|逾|超过|超|达|为|是|同比|环比|年|度"
    r"|不足|不到|高达|仅|又|再|均|也|额|分别)*"
)
# `cut rates by 150 basis points`: the object stands between
_BY = re.compile(
    r"(?ai)(?:[ -][A-Za-z]{1,20}){1,5} (?:by|of)(?: (?:about|around|approximately|some|over|nearly|almost))? ?"
    r"|将.{1,12}"
)
_TO = re.compile(r"(?ai)(?:\bto\b|至|到)")
_RIGHT = re.compile(
    r"(?ai)[\s-]*(?:year[ -]o(?:n|ver)[ -]year |annual |net |revenue |sales )?"
    r"(?:(?P<up>increase|rise|growth|gain|improvement|higher|more|jump|upturn|above)"
    r"|(?P<down>decrease|decline|drop|fall|reduction|lower|less|fewer|cut|below))(?![A-Za-z])"
    r"|的(?P<up_han>增长|增幅|涨幅|升幅)|的(?P<down_han>降幅|跌幅|下降|降低)"
)
_LOSS = re.compile(
    r"(?ai)\b(?:loss(?:es)?|declin\w{1,3}|decreas\w{1,3}|deficit|negative|outflow\w?|minus|used in|fell|down"
    r"|drop\w{0,4}"
    r"|reduc\w{1,5}|lower\w{0,3}|repaid|paid|benefit|expenses?|costs?|charges?|provisions?|deduct\w{2,5}|write-?offs?"
    r"|impairments?|allowances?|credit)\b|亏损|亏|净流出|减少|下降|负|损失|支出|费用|跌|降"
)
_NEUTRAL = re.compile(
    r"(?ai)\b(?:liabilit\w{1,3}|loss(?:es)?|expenses?|costs?|provisions?|forfeit\w{0,4}|used (?:in|for)"
    r"|payments?|repayments?"
    r"|purchases?|paid|payables?|debts?|borrowings?|deductions?|charges?|taxe?s?|dividends?|exercised|cancell?ed|vested|released"
    r"|allowances?|depreciation|amorti[sz]ation|impairments?|write-?offs?|reductions?|deficit|obligations?|interest|less"
    r"|capital expenditures?|repurchases?|treasury|settle\w{0,6}|expired?|disposals?|dispositions?|additions?|investing"
    r"|financing|eliminations?|adjustments?|benefit|credits?)\b|减[:：]|支出|费用|成本|负债|亏损|损失|减值|折旧|摊销|流出|支付"
)
_CHANGE_LABEL = re.compile(
    r"(?ai)\b(?:growth|change[ds]?|increases?|decreases?|variance|yoy|y/y|vs\.?|versus|gains?|improvement|movement|\+/-)\b"
    r"|同比|环比|增长|增减|变动|增幅|降幅|增加|减少|涨跌"
)
_WINDOW = 40


@dataclass(frozen=True, slots=True)
class Direction:
    """`change`: the figure says by how much; `sign` is 1 for up, -1 for down, 0 for not said."""

    change: bool = False
    sign: int = 0


LEVEL = Direction()


def direction_at(masked: str, start: int, end: int) -> Direction:
    """The direction of the figure at `[start, end)`; `masked` has every quantity blanked by NUL characters."""
    left = masked[max(0, start - _WINDOW) : start]
    for match in reversed([*_WORD.finditer(left)]):
        between = left[match.end() :]
        if _TO.search(between):
            break
        if _FILLER.fullmatch(between) or _BY.fullmatch(between):
            return Direction(True, _sign(match))
    right = _RIGHT.match(masked, end)
    return Direction(True, _sign(right)) if right else LEVEL


def trend_of(lead: str, *, to: bool = False) -> int:
    """The way that the last word of direction in `lead` goes; with `to`, only where it leads to a "to" at the end."""
    lead = lead.replace("\x01", " ")
    for match in reversed([*_WORD.finditer(lead)]):
        between = lead[match.end() :]
        if not to:
            return _sign(match) if _FILLER.fullmatch(between.removesuffix("from ").removesuffix("from")) else 0
        turn = _TO.search(between)
        if turn and _FILLER.fullmatch(between[: turn.start()]) and _FILLER.fullmatch(between[turn.end() :]):
            return _sign(match)
        return 0
    return 0


def direction_asked(question: str) -> Direction:
    """What a question asks of a bare answer: "What was the increase in …" asks for a change."""
    match = _CHANGE_LABEL.search(question)
    return Direction(True, 0) if match or _WORD.search(question) else LEVEL


def direction_of_cell(labels: str, negative: bool) -> Direction:
    """A cell under `同比` or in a row of growth is a change, and its sign the direction."""
    if _CHANGE_LABEL.search(labels) is None:
        return LEVEL
    return Direction(True, -1 if negative else 1)


def says_loss(text: str) -> bool:
    """Whether words beside a figure make a negative cell's figure positive: `a loss of`, 亏损."""
    return _LOSS.search(text) is not None


def is_naturally_negative(labels: str) -> bool:
    """Rows whose parentheses are a matter of presentation: expenses, provisions, 减：."""
    return _NEUTRAL.search(labels) is not None


def _sign(match: re.Match[str]) -> int:
    groups = match.groupdict()
    if groups.get("up") or groups.get("up_han"):
        return 1
    return -1 if groups.get("down") or groups.get("down_han") else 0
