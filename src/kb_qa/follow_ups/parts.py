"""What a question names, with its places: periods, codes, names and figures; and which words name a measure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from kb_qa.guardrails.lexer import lex
from kb_qa.guardrails.periods import parts_of
from kb_qa.guardrails.quantities import PERIOD_KINDS, Quantity
from kb_qa.guardrails.questions import anchors

PartKind = Literal["period", "code", "name", "region", "figure"]


@dataclass(frozen=True, slots=True)
class Part:
    """`[start, end)` of the text it was found in. A region is a name that limits an entity and never replaces one."""

    kind: PartKind
    text: str
    start: int
    end: int

    @property
    def years(self) -> tuple[str, ...]:
        """The years that a period names: `2024` of `Q3 2024`, none of `Q3`."""
        found = {part[1:] for each in lex(self.text, locale="en") for part in parts_of(each) if part[0] == "y"}
        return tuple(sorted(found))


# `HT-2024-01` is one code, though a date stands in it.
_LONG_CODE = re.compile(r"(?a)(?<![A-Za-z0-9-])[A-Za-z]{1,10}(?:-[A-Za-z0-9]{1,12}){2,4}(?<=\d)(?![A-Za-z0-9-])")
_REGIONS = frozenset(
    "europe,asia,africa,america,americas,emea,apac,latam,oceania,china,japan,germany,france,italy,spain,india,brazil"
    ",canada,mexico,australia,korea,uk,us,usa,eu,north america,south america,latin america,united states"
    ",united kingdom,asia pacific".split(",")
)
_REGION_HAN = re.compile(
    "(?:欧洲|亚洲|非洲|美洲|北美洲?|南美洲?|拉丁美洲|大洋洲|亚太|中国|美国|日本|德国|法国|英国|印度|韩国|澳大利亚"
    "|国内|国外|海外|境内|境外|华东|华南|华北|华中|西南|西北|东北)(?:地区|市场|区域|区)?"
)
_MEASURE_WORD = (
    r"(?i)\b(?:revenues?|sales|income|profits?|loss(?:es)?|margins?|earnings|ebitda?|eps|costs?|expenses?"
    r"|expenditures?|capex|opex|assets|liabilities|equity|debts?|cash(?: flows?)?|dividends?|tax(?:es)?|ratios?|rates?"
    r"|shares?|headcount|employees|staff|turnover|salar(?:y|ies)|pay|wages?|bonus(?:es)?|allowances?|fees?|prices?"
    r"|budgets?|deposits?|loans?|backlog|orders?|volumes?|production|output|emissions?|inventor(?:y|ies)|receivables"
    r"|payables|spending|investments?|growth|yields?|returns?|values?|amounts?|totals?|limits?|caps?|entitlements?"
    r"|reimbursements?|coefficients?|discounts?|penalt(?:y|ies)|interest|cost of (?:sales|goods sold|revenue)"
    r"|earnings per share)"
)
_MEASURE_WORD_HAN = (
    "(?:收入|营收|利润|毛利|净利|成本|费用?|资产|负债|权益|现金流?|现金流量|股息|分红|红利|税[费金额]?|率|额度?|量|价格?"
    "|工资|薪[酬资水]|奖金|补[贴助]|津贴|人数|[员职]工数|天数|期限|时限|上限|下限|标准|系数|比例|占比|预算|支出|投入"
    "|投资|存货|应收账?款?|产值|增速|增长|收益|亏损|债务|贷款|存款|保证金|押金|年假|病假|产假|婚假|假期?|次数|金额)"
)
# Of what kind of thing a measure is; the others (rates, costs, amounts) go with any.
_CLASSES = {
    "company": re.compile(
        r"(?i)\b(?:revenues?|sales|income|profits?|margins?|earnings|ebitda?|eps|assets|liabilities|equity|debts?"
        r"|dividends?|capex|opex|inventor(?:y|ies)|receivables|payables|backlog)$"
        r"|(?:营业收入|营收|利润|毛利|净利|资产|负债|权益|股息|分红|红利|存货|应收账?款?|产值|亏损|债务|毛利率|净利率)$"
    ),
    "person": re.compile(
        r"(?i)\b(?:salar(?:y|ies)|pay|wages?|bonus(?:es)?|allowances?|entitlements?|reimbursements?)$"
        r"|(?:工资|薪[酬资水]|奖金|补[贴助]|津贴|系数)$"
    ),
    "time": re.compile("(?:假期?|天数|期限|时限|次数)$"),
}
_MEASURE = re.compile(rf"{_MEASURE_WORD}$|{_MEASURE_WORD_HAN}$")
_MEASURES = re.compile(rf"{_MEASURE_WORD}\b|{_MEASURE_WORD_HAN}")


def is_measure(phrase: str) -> bool:
    """Whether the phrase ends in a word that something is counted or paid by: `net sales`, `毛利率`."""
    return _MEASURE.search(phrase.strip()) is not None


def alike(measure: str, other: str) -> bool:
    """Whether the same is asked of both: a company's sales and its profit, but not its sales and somebody's leave."""
    first, second = (_topic_class(each) for each in (measure, other))
    return not first or not second or first == second


def _topic_class(measure: str) -> str:
    return next((name for name, pattern in _CLASSES.items() if pattern.search(measure)), "")


def measures_in(text: str) -> frozenset[str]:
    """The words of a text that something is counted or paid by, in lower case."""
    return frozenset(match[0].lower() for match in _MEASURES.finditer(text))


def is_region(name: str) -> bool:
    return name.lower() in _REGIONS or _REGION_HAN.fullmatch(name) is not None


def parts_in(text: str) -> tuple[Part, ...]:
    """In their order, none over another. What two readings claim is the longer one's."""
    found = [Part(_kind(each), each.raw, each.start, each.end) for each in lex(text, locale="en") if each.raw]
    found += [Part("code", match[0], *match.span()) for match in _LONG_CODE.finditer(text)]
    for anchor in anchors(text):
        if anchor.kind not in {"name", "quote"}:
            continue
        pattern = r"\s+".join(map(re.escape, anchor.text.split()))
        kind: PartKind = "region" if is_region(anchor.text) else "name"
        found += [Part(kind, match[0], *match.span()) for match in re.finditer(pattern, text)]
    found += [Part("region", match[0], *match.span()) for match in _REGION_HAN.finditer(text)]
    kept: list[Part] = []
    for part in sorted(found, key=lambda each: (each.start - each.end, each.start)):
        if all(part.end <= other.start or other.end <= part.start for other in kept):
            kept.append(part)
    return tuple(sorted(kept, key=lambda each: each.start))


def parts_from(text: str, start: int) -> tuple[Part, ...]:
    """The parts of `text` from `start` on, counted from there: what stands before it tells names from first words."""
    return parts_within(parts_in(text), start, len(text))


def parts_within(parts: Sequence[Part], start: int, end: int) -> tuple[Part, ...]:
    """The parts inside `[start, end)`, counted from `start`."""
    return tuple(
        Part(part.kind, part.text, part.start - start, part.end - start)
        for part in parts
        if start <= part.start and part.end <= end
    )


def of_kind(parts: Sequence[Part], *kinds: PartKind) -> tuple[Part, ...]:
    return tuple(part for part in parts if part.kind in kinds)


def single(parts: Sequence[Part]) -> Part | None:
    """The first part where all of them say the same thing."""
    return parts[0] if len({part.text.lower() for part in parts}) == 1 else None


def rest_of(text: str, parts: Sequence[Part]) -> str:
    """The text with each part blanked."""
    return replaced(text, [(part.start, part.end, " ") for part in parts])


def replaced(text: str, edits: Sequence[tuple[int, int, str]]) -> str:
    """`text` with each `[start, end)` in the words given for it; the ranges must not overlap."""
    for start, end, words in sorted(edits, reverse=True):
        text = f"{text[:start]}{words}{text[end:]}"
    return text


def _kind(quantity: Quantity) -> PartKind:
    if quantity.role == "id":
        return "code"
    return "period" if quantity.kind in PERIOD_KINDS else "figure"
