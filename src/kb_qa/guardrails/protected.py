"""Digits that assert no quantity: citation markers, references, standards, versions, phones, links, ids."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from kb_qa.guardrails import traits
from kb_qa.guardrails.affixes import scale_at, suffix_at
from kb_qa.guardrails.dates import small_number
from kb_qa.guardrails.measures import COUNTED_AHEAD
from kb_qa.guardrails.quantities import Kind, Quantity, Role

Read = Callable[[str], Iterable[Quantity]]

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
)
# One class of first characters, and what each goes on with: the search leaps from one of them to the next.
_LABELS = re.compile(
    r"(?a)[§№#第图表附注式步阶页](?:"
    r"(?<=[§№#])(?:(?<=§)§)? ?\d{1,4}(?:\.\d{1,3}){0,4}"
    rf"|(?<=第) ?(?:{_CJK_NUMBER})(?:\.\d{{1,3}}){{0,3}} ?(?:[章条款页节编篇卷期号]|部分|附件|步(?!骤)|步骤|阶段|层级)"
    rf"|(?:(?<=[图表注式])|(?<=附)[注件录]|(?<=步)骤|(?<=阶)段|(?<=页)码|(?<=图)表) ?(?:(?i:{_REF_NUMBER})"
    rf"|[一二三四五六七八九十]{{1,3}}(?![0-9个家种类项年月]))(?![\d%]|[.,]\d)(?i:{_NO_QUANTITY}))"
)
_SCALE_HEADS = re.compile(
    r"(?ai)(?:RMB|US\$|HK\$|\$|£|€|¥|人民币)?'000s?|(?:US|HK)?[$£€¥] ?000(?:'?s)?(?![\d.,])"
    r"|\bin (?:thousands|millions|billions|trillions)\b"
    # a column's header, as a row is said: `Lease liabilities; Millions of yen / 2022: 27,117`
    r"|(?:^|(?<=[;|/] )|(?<=[(（；，]))(?-i:[TMB])(?:housands|illions) of (?:(?:U\.?S\.?|[A-Z][a-z]+) )?"
    r"(?:dollars|yen|euros?|pounds|yuan|RMB|won|francs|rupees)(?= /|[:：|)）]| \|)"
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
    rf"|(?i:{_PLAIN_PREFIXES})-|(?:k?m|ft)[23](?![A-Za-z0-9]))(?=[a-z]{{0,9}}[A-Z]|[a-z]{{1,10}}\d)"
    r"[A-Za-z]{1,12}[-_/]?[0-9₀-₉][A-Za-z0-9₀-₉]{0,30}(?:[-_/][A-Za-z0-9]{1,20}){0,4}(?![A-Za-z0-9_])"
    # characters that a scan confuses: `4,l32` is no number
    r"|(?<![A-Za-z0-9])\d[\d,.]{0,12}[lIOo|][\dlIOo|,.]{0,12}\d(?![A-Za-z0-9])"
    # parts of a code: `4171_1`
    r"|(?<![A-Za-z0-9_.,])\d{1,12}(?:_\d{1,12}){1,4}(?![A-Za-z0-9_]|[.,]\d)"
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

# Quick looks before the long patterns: each is true wherever its pattern can match, and begins with a rare character.
_MAY_BE_PAGE = re.compile(r"P\d")
_MAY_BE_LINK = re.compile(r"(?a)\.(?:(?<=[Ww][Ww][Ww]\.)|(?i:pdf|doc|xls|ppt|htm|md|csv|txt|png|jp))")
_MAY_BE_PHONE = re.compile(r"(?a)\d(?:(?<=\+\d)|\)? ?\d{2,3}-\d|\d{2}-\d{3}|\d{10})")
_MAY_BE_LONG = re.compile(r"(?a)\d{11}")
_MAY_BE_STANDARD = re.compile(r"(?a)\d(?:-[KQF]|\([a-z]|[GD]\b|/7)")
_MAY_BE_VERSION = re.compile(r"(?a)\d\.\d{1,5}\.\d")
_MAY_BE_NAME = re.compile(r"(?a)[0-9₀-₉](?:(?<=[A-Za-z].)|(?<=[A-Za-z][-_/].)|[A-Za-z|]|_\d|[,.]{1,12}[lIOo|])|[Ⅰ-ↈ]")
_MAY_BE_TOKEN = re.compile(r"(?a)\d(?:(?<=[A-Za-z].)|[A-Za-z])")
_WORD_BEFORE_DIGIT = re.compile(r"(?a)(?<![A-Za-z])([A-Za-z&]{1,12}\.?)[ \u00a0-]?\d")
REFERENCE_WORDS = frozenset(
    word
    for form in re.sub(r"[\\.]", "", _WORDS).split("|")
    for word in {form.replace("?", ""), re.sub(r".\?", "", form)}
)
STANDARD_WORDS = frozenset(
    word.lower()
    for form in f"{_STANDARD_BODIES}|{_NAMED_NUMBERS}".split("|")
    for word in {form.replace("?", ""), re.sub(r".\?", "", form), form.rpartition("&")[2]}
)
VERSION_WORDS = frozenset({"v", "ver", "version", "release"})
SCALE_WORDS = frozenset({"thousands", "millions", "billions", "trillions"})


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
    if "\n" not in text:
        first = _ENUMERATORS.match(text)
        found = [first] if first else []
    else:
        found = [*_ENUMERATORS.finditer(text)]
    for match in found:
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


def before_dates(bits: int) -> Iterator[Read]:
    """Enumerators, markers, links, phones, standards and references: those passes that a text of these traits needs."""
    digits, numerals = bits & traits.DIGIT, bits & (traits.DIGIT | traits.NUMERAL)
    if numerals:
        yield enumerators
    if bits & traits.MARK:
        yield markers
    elif digits and bits & traits.LETTER:
        yield _page_marks
    if bits & (traits.AT | traits.SLASH) or (bits & traits.DOT and bits & traits.LETTER):
        yield _links
    if digits:
        yield _READ_PHONES if bits & (traits.PLUS | traits.DASH) else _READ_LONG
    if digits and bits & (traits.STANDARD_WORD | traits.INDEX | traits.LETTER | traits.SLASH):
        yield _READ_STANDARDS if bits & (traits.STANDARD_WORD | traits.INDEX) else _READ_FORMS
    yield from _referring(bits)


def _referring(bits: int) -> Iterator[Read]:
    digits, numerals = bits & traits.DIGIT, bits & (traits.DIGIT | traits.NUMERAL)
    if digits and bits & traits.REFERENCE_WORD:
        yield _references
    if numerals and bits & traits.LABEL:
        yield _READ_LABELS
    if bits & (traits.QUOTE | traits.SCALE_WORD | traits.ZEROS):
        yield _READ_SCALE_HEADS


def after_dates(bits: int) -> Iterator[Read]:
    """Versions, ids and footnote marks: `31.03.2025` is a date first, `Q3` a quarter."""
    if bits & traits.DIGIT:
        if bits & (traits.VERSION_WORD | traits.EDITION):
            yield _READ_VERSIONS
        elif bits & traits.DOT:
            yield _READ_DOTTED
    joined = bits & (traits.LETTER | traits.BAR | traits.LINE)
    if bits & traits.ROMAN or (bits & (traits.DIGIT | traits.LOWERED) and joined):
        yield _READ_NAMES
    if bits & traits.RAISED or (bits & traits.OPEN and bits & traits.DIGIT):
        yield footnotes


def _page_marks(text: str) -> Iterator[Quantity]:
    return markers(text) if _MAY_BE_PAGE.search(text) else iter(())


def _links(text: str) -> Iterator[Quantity]:
    return _READ_LINKS(text) if "@" in text or "//" in text or _MAY_BE_LINK.search(text) else iter(())


def _references(text: str) -> Iterator[Quantity]:
    before = {match[1].lower().rstrip(".") for match in _WORD_BEFORE_DIGIT.finditer(text)}
    return iter(()) if before.isdisjoint(REFERENCE_WORDS) else _READ_REFERENCES(text)


def _reader(
    pattern: re.Pattern[str], kind: Kind, role: Role, needed: re.Pattern[str] | None = None
) -> Callable[[str], Iterator[Quantity]]:
    def read(text: str) -> Iterator[Quantity]:
        if needed is None or needed.search(text):
            for match in pattern.finditer(text):
                yield _quantity(match.start(), match.end(), kind, role, match[0])

    return read


def _quantity(start: int, end: int, kind: Kind, role: Role, value: str) -> Quantity:
    return Quantity(kind, value, start, end, role=role)


_READ_LINKS = _reader(_LINKS, "id", "id")
_READ_PHONES = _reader(_PHONES, "id", "id", _MAY_BE_PHONE)
_READ_LONG = _reader(_PHONES, "id", "id", _MAY_BE_LONG)
_READ_STANDARDS = _reader(_STANDARDS, "id", "id")
_READ_FORMS = _reader(_STANDARDS, "id", "id", _MAY_BE_STANDARD)
_READ_REFERENCES = _reader(_REFERENCES, "ref", "ref")
_READ_LABELS = _reader(_LABELS, "ref", "ref")
_READ_SCALE_HEADS = _reader(_SCALE_HEADS, "ref", "ref")
_READ_VERSIONS = _reader(_VERSIONS, "id", "id")
_READ_DOTTED = _reader(_VERSIONS, "id", "id", _MAY_BE_VERSION)
_READ_NAMES = _reader(_NAMES, "id", "id", _MAY_BE_NAME)
_READ_REMAINING = _reader(_REMAINING, "id", "id", _MAY_BE_TOKEN)


def remaining_names(text: str) -> Iterator[Quantity]:
    """Whatever letters and digits are still one token when all else is read: an id, to be found verbatim."""
    return _READ_REMAINING(text)
