"""Digits that assert no quantity: citation markers, references, standards, versions, phones, links, ids."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from kb_qa.guardrails.dates import small_number
from kb_qa.guardrails.measures import COUNTED_AHEAD, scale_at, suffix_at
from kb_qa.guardrails.quantities import Kind, Quantity, Role

# What makes a bracketed or numbered thing a figure after all: `[812] million`, `Level 5%`.
_NO_QUANTITY = (
    r"(?!\s?(?:%|‰|percent|per cent|thousand|million|billion|trillion|bn\b|mn\b|dollars|euros|yuan"
    r"|[万亿元倍成]|个?百分点))"
)
_WORDS = (
    r"sections?|sec\.|chapters?|notes?|scopes?|levels?|phases?|pages?|pp?\.|figures?|figs?\."
    r"|tables?|appendix|appendices"
    r"|articles?|art\.|clauses?|items?|exhibits?|parts?|steps?|tiers?|stages?|schedules?|paragraphs?|paras?\.?|annex"
    r"|attachments?|slides?|grades?|no\.|nos\.|footnotes?|recitals?|regulations?|rules?|forms?|volumes?|vol\."
)
_REF_NUMBER = r"\d{1,3}(?:\.\d{1,3}){0,5}(?:\([0-9a-z]{1,4}\)){0,3}[A-Za-z]?"
_CJK_NUMBER = "[0-9]{1,4}|[零〇一二两三四五六七八九十百]{1,6}"
_STANDARD_BODIES = (
    r"ISO|IEC|IEEE|GB|RFC|IFRSs?|IAS|IFRIC|ASC|ASU|SFAS|FAS|FRS|HKFRS|HKAS|EN|DIN|ANSI|NIST|ASTM|BS|JIS|SOC|OHSAS|ECMA"
    r"|PCI|FIPS|SAE|UL|YY|JR|DB|CAS"
)
_NAMED_NUMBERS = (
    r"S&P|FTSE|Fortune|Nasdaq|NASDAQ|CSI|Russell|Nikkei|Covid|COVID|Windows|Python|Java|Office|Basel|Article|Boeing"
    r"|Airbus|Web|Industry|沪深|中证|上证"
)
_OPTIONAL_UNITS = r"[QH][1-4]|FY|CY|[1-4][QH]"
_CURRENCY_CODES = r"USD|RMB|CNY|EUR|GBP|JPY|HKD|AUD|CAD|CHF|SGD|INR|KRW|TWD|US|HK|NT|Rs"
_PLAIN_PREFIXES = (
    r"mid|pre|post|early|late|since|top|sub|under|over|non|multi|net|only|just|the|of|to|and|or|in|by|for|at"
)

_MARKERS = re.compile(
    r"(?a)"
    rf"\[\^?(?P<number>\d{{1,3}})\](?:\(id=\d{{1,6}}\))?{_NO_QUANTITY}"
    rf"|【(?:材料)?(?P<wide>\d{{1,3}})】{_NO_QUANTITY}"
    rf"|\[(?P<several>\d{{1,3}}(?:[,，、-]\s?\d{{1,3}}){{1,9}})\]{_NO_QUANTITY}"
    r"|(?P<page>\[pp?\. ?\d{1,5}(?:[-–]\d{1,5})?\]|\bP\d{1,5}(?:[-–]\d{1,5})?·(?:文本|表格|图片|text|table|image))"
    r"|(?P<circled>[①-⑳㉑-㉟㊱-㊿❶-❿⓫-⓴])"
)
_FOOTNOTE = re.compile(rf"(?a)(?<=\d)\(\d{{1,2}}\){_NO_QUANTITY}|(?<![0-9A-Za-z])[⁰¹²³⁴-⁹]{{1,3}}")
_LINKS = re.compile(
    r"(?ai)(?:https?://|www\.)[^\s\u0000\u3000-\uffff<>\"]{1,500}"
    r"|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,24}){1,4}"
    r"|(?<![\w-])[\w-]{1,64}\.(?:pdf|docx?|xlsx?|pptx?|html?|md|csv|txt|png|jpe?g)\b"
)
_PHONES = re.compile(
    r"(?a)(?<![\w.,+-])(?:\+\d{1,3}[ -]?(?:\(\d{1,4}\)|\d{1,4})(?:[ -]\d{2,4}){1,4}|\(\d{3}\) ?\d{3}-\d{4}"
    r"|\d{3}-\d{3,4}-\d{4}|1[3-9]\d{9}|0\d{2,3}-\d{7,8})(?![\w-])" + _NO_QUANTITY
)
_STANDARDS = re.compile(
    rf"(?a)(?<![A-Za-z])(?:{_STANDARD_BODIES})(?:/[A-Z]{{1,4}})?[ -]?\d[\d.]{{0,12}}\d?"
    rf"(?:[-:]\d{{1,5}}){{0,3}}(?![\d%])"
    rf"|(?<![A-Za-z])(?:{_NAMED_NUMBERS})[ -]?\d{{1,5}}(?:\.\d{{1,3}}){{0,3}}(?![\d%]|,\d){_NO_QUANTITY}"
    r"|\b(?:10|20|40|8|6|11)-[KQF](?:/A)?\b|\b\d{3}\([a-z]\)|\b24/7\b|\b[2-6][GD]\b"
)
_REFERENCES = re.compile(
    rf"(?ai)(?<![A-Za-z])(?:{_WORDS})[ \u00a0]?{_REF_NUMBER}(?![\d%]|[.,]\d|[A-Za-z]){_NO_QUANTITY}"
    rf"(?:(?:, ?| ?[-–] ?| and | to | or ){_REF_NUMBER}(?![\d%]|[.,]\d|[A-Za-z]){_NO_QUANTITY}){{0,4}}"
    r"|(?:§{1,2}|№|#) ?\d{1,4}(?:\.\d{1,3}){0,4}"
    rf"|第 ?(?:{_CJK_NUMBER})(?:\.\d{{1,3}}){{0,3}} ?(?:[章条款页节编篇卷期号]|部分|附件|步(?!骤)|步骤|阶段|层级)"
    rf"|(?:图|表|附注|附件|附录|注|式|步骤|阶段|页码|图表) ?(?:{_REF_NUMBER}"
    rf"|[一二三四五六七八九十]{{1,3}}(?![0-9个家种类项年月]))(?![\d%]|[.,]\d){_NO_QUANTITY}"
)
_SCALE_HEADS = re.compile(
    r"(?ai)(?:RMB|US\$|HK\$|\$|£|€|¥|人民币)?'000s?|\bin (?:thousands|millions|billions|trillions)\b"
)
_VERSIONS = re.compile(
    r"(?ai)(?<![\w.,])\d{1,5}(?:\.\d{1,5}){2,5}(?![\d,%]|\.\d)|(?<![A-Za-z])(?:v|ver\.?"
    r"|version|release)[ ]?\d{1,4}(?:\.\d{1,4}){0,4}(?![\d%])"
    r"|版本(?:号)?[ :]?\d{1,4}(?:\.\d{1,4}){0,4}"
)
_NAMES = re.compile(
    # letters first: SKU-48213, A320, GPT-4, B2B, CO₂; an upper-case letter, or letters and digits without a hyphen
    rf"(?a)(?<![A-Za-z0-9_'])(?!(?:{_OPTIONAL_UNITS})(?![A-Za-z0-9])|(?:{_OPTIONAL_UNITS})\d|"
    rf"(?:{_CURRENCY_CODES})[ -]?\d"
    rf"|(?i:{_PLAIN_PREFIXES})-)(?=[a-z]{{0,9}}[A-Z]|[a-z]{{1,10}}\d)"
    r"[A-Za-z]{1,12}[-_/]?[0-9₀-₉][A-Za-z0-9₀-₉]{0,30}(?:[-_/][A-Za-z0-9]{1,20}){0,4}(?![A-Za-z0-9_])"
    # characters that a scan confuses: `4,l32` is no number
    r"|(?<![A-Za-z0-9])\d[\d,.]{0,12}[lIOo|][\dlIOo|,.]{0,12}\d(?![A-Za-z0-9])"
    # a roman numeral sign
    r"|[Ⅰ-ↈ]{1,6}"
)
_REMAINING = re.compile(
    r"(?a)(?<![A-Za-z0-9])(?=[A-Za-z0-9]{0,40}[A-Za-z])(?=[A-Za-z]{0,40}\d)[A-Za-z0-9]{1,40}"
    r"(?:[-_/][A-Za-z0-9]{1,20}){0,4}(?![A-Za-z0-9_])"
)
_ENUMERATORS = re.compile(
    r"(?am)^[ \t>]{0,12}(?:[-*•] )?(?:\*\*)?"
    r"(?P<label>(?P<number>\d{1,2})(?:[.)](?=[ \t]+\S|[^\W\d]|[\u4e00-\u9fff*])|[、．](?=\S))"
    r"|[(（]\d{1,2}[)）](?=\s?[^\s\d])"
    r"|[一二三四五六七八九十]{1,3}、|[(（][一二三四五六七八九十]{1,3}[)）])"
)

_GOES_ON = re.compile(
    r"[，。、；：,.;:！？!?\s)）]|$|[离辞入在被参加已将获达共未仍的和与及或是为至到有没都不就可以来去出]"
)
_LOWER_PLURAL = re.compile(r"(?a)\s?(?:[a-z]{2,20} ){0,2}[a-z]{2,20}s\b")
_LOWER_WORD = re.compile("(?a) [a-z]")

_Pass = tuple[re.Pattern[str], Kind, Role]
_BEFORE_DATES: tuple[_Pass, ...] = (
    (_LINKS, "id", "id"),
    (_PHONES, "id", "id"),
    (_STANDARDS, "id", "id"),
    (_REFERENCES, "ref", "ref"),
    (_SCALE_HEADS, "ref", "ref"),
)
_AFTER_DATES: tuple[_Pass, ...] = (
    (_VERSIONS, "id", "id"),
    (_NAMES, "id", "id"),
)


def markers(text: str) -> Iterator[Quantity]:
    """`[1]`, `[1](id=3)`, `【2】`, `①`, `[p.3]`, `P4·表格`; the value is the number, or `p` for a page mark.

    With a unit behind it (`[7] days`) it is none, and its number is a figure.
    """
    for match in _MARKERS.finditer(text):
        if match["page"]:
            value = "p"
        elif counts_at(text, match.end()):
            continue
        elif match["circled"]:
            value = "circled"
        else:
            value = match["number"] or match["wide"] or match["several"]
        yield _quantity(match.start(), match.end(), "marker", "marker", value)


def enumerators(text: str) -> Iterator[Quantity]:
    """Line-start numbers of lists: `1.`, `(2)`, `三、`, `（四）`; the value is the number."""
    for match in _ENUMERATORS.finditer(text):
        printed = match["label"].strip("()（）.、． ")
        number = int(printed) if printed.isdecimal() else small_number(printed)
        yield _quantity(match.start("label"), match.end("label"), "enum", "enum", str(number or match["label"]))


def footnotes(text: str) -> Iterator[Quantity]:
    """`1,234(1)`, and raised numbers that stand alone; `⁵家` counts something, and is none."""
    for match in _FOOTNOTE.finditer(text):
        stands_alone = text[match.start() - 1 : match.start()] in {"", " "} and _LOWER_WORD.match(text, match.end())
        if match[0][0] == "(" or not (stands_alone or counts_at(text, match.end())):
            yield _quantity(match.start(), match.end(), "marker", "marker", match[0])


def counts_at(text: str, position: int) -> bool:
    """Whether a scale, unit, counter or counted noun follows, as it follows a number.

    A Chinese one also begins words (`人员`, `年度`, `项目`): it counts where the sentence goes on behind it.
    """
    if COUNTED_AHEAD.match(text, position) or scale_at(text, position, money=True)[0]:
        return True
    suffix = suffix_at(text, position)
    if suffix is None or (suffix.kind == "number" and text[position : position + 1] == "+"):
        return False
    return text[suffix.end - 1].isascii() or _GOES_ON.match(text, suffix.end) is not None


def is_counting_label(text: str, start: int, end: int, *, strict: bool) -> bool:
    """Whether a bracketed label counts what follows: `(45) employees`, `（四十五）人离职`.

    `strict`: also where any lower-case plural follows, for a list whose numbers nobody follows.
    """
    if text[end - 1 : end] not in {")", "）"}:
        return False
    return counts_at(text, end) or (strict and _LOWER_PLURAL.match(text, end) is not None)


def before_dates() -> tuple[Callable[[str], Iterator[Quantity]], ...]:
    """Links, phones, standards and references, one pass each."""
    return tuple(_reader(*each) for each in _BEFORE_DATES)


def after_dates() -> tuple[Callable[[str], Iterator[Quantity]], ...]:
    """Versions, ids and footnote marks, one pass each: `31.03.2025` is a date first, `Q3` a quarter."""
    return (*(_reader(*each) for each in _AFTER_DATES), footnotes)


def remaining_names(text: str) -> Iterator[Quantity]:
    """Whatever letters and digits are still one token when all else is read: an id, to be found verbatim."""
    return _reader(_REMAINING, "id", "id")(text)


def _reader(pattern: re.Pattern[str], kind: Kind, role: Role) -> Callable[[str], Iterator[Quantity]]:
    def read(text: str) -> Iterator[Quantity]:
        for match in pattern.finditer(text):
            yield _quantity(match.start(), match.end(), kind, role, match[0])

    return read


def _quantity(start: int, end: int, kind: Kind, role: Role, value: str) -> Quantity:
    return Quantity(kind, value, start, end, role=role)
