"""Anchors: the entities, periods and codes that a question names, and that the materials must name too.

A question about Acme in 2019 is not answered from materials that name neither, however close their words are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from kb_qa.guardrails.characters import normalise
from kb_qa.guardrails.lexer import lex
from kb_qa.guardrails.names import is_printed
from kb_qa.guardrails.periods import is_named, parts_of
from kb_qa.guardrails.quantities import PERIOD_KINDS, Quantity

AnchorKind = Literal["code", "period", "quote", "name"]


@dataclass(frozen=True, slots=True)
class Anchor:
    """Something the question names. `words` are what a text must hold to name it; empty for codes and periods."""

    kind: AnchorKind
    text: str
    words: tuple[str, ...] = ()

    def is_named_by(self, text: str) -> bool:
        """Whether `text` names it: codes and names as whole words, letter case aside; a period also by a finer one."""
        return _is_named_by(self, text)


_OPTIONAL_WORDS = frozenset(
    "inc incorporated ltd limited corp corporation plc llc llp lp co company group holdings"
    " holding bancorp bancshares ag"
    " gmbh sa nv se the of and & for de du la le".split()
)
_FORMS = frozenset(
    "inc incorporated ltd limited corp corporation plc llc llp company group holdings bancorp"
    " bancshares ag gmbh nv bank"
    " university trust fund foundation institute".split()
)
_JOINERS = frozenset({"of", "&", "for", "de", "du", "la", "von", "van"})
_NO_NAMES = frozenset(
    # how questions start and instructions go on
    "what which who whom whose when where why how did do does is are was were can could"
    " should would will has have had may"
    " might must shall if in on at for from to by with of as the a an and or but according between during within after"
    " before since until please give list show tell name state provide explain describe"
    " compare summarize summarise find"
    " calculate return answer i me my we our you your it its they their this that these those"
    " there here yes no not none"
    " true false any all each every some many much more most"
    # what is capitalised without being a name
    " monday tuesday wednesday thursday friday saturday sunday january february march april"
    " may june july august september"
    " october november december jan feb mar apr jun jul aug sep sept oct nov dec"
    " q&a n/a na pdf faq usd rmb cny eur gbp jpy hkd aud cad chf sgd inr krw twd us ceo cfo"
    " coo cto r&d esg hr it ai id ocr"
    " eps roe roa roi ebit ebitda capex opex npl nim kpi gdp vat ipo m&a yoy qoq fy ytd url api ok pto faqs gaap ifrs"
    # metrics and document words that tables print in title case
    " total gross net cash capital dividend dividends number percentage percent revenue"
    " revenues sales income profit loss"
    " operating operation operations earnings margin ratio rate value amount average annual"
    " report year-end end-of-year year"
    " quarter period date board chairman president director chief executive officer vice"
    " employee employees staff customers"
    " customer assets liabilities equity debt interest tax taxes cost costs expense expenses"
    " share shares deposits loans"
    " non-performing return price volume table figure section chapter page note part appendix"
    " policy handbook manual manager"
    " department title position unit units data days leave grade level basic salary".split()
)
_BOILERPLATE = re.compile(
    r"(?i)(?:[^.?!。？！]*\bif\b[^.?!。？！]*\b(?:return|answer|respond|reply|say|write)\b[^.?!。？！]*[.?!。？！]?)"
    r"|如果?[^。？！]*(?:返回|回答|回复|请答)[^。？！]*[。？！]?"
)
_QUOTED = re.compile(
    r"《([^》\n]{2,60})》|“([^”\n]{2,60})”|「([^」\n]{2,60})」|(?<!\w)\"([^\"\n]{2,60})\""
    r"(?!\w)|(?<!\w)'([^'\n]{2,60})'(?!\w)"
)
_TOKEN = re.compile(r"(?a)[A-Za-z][A-Za-z0-9&'/-]{0,40}\.?|[&]|[.?!,;:()\[\]]|\d[\d.,]{0,20}|[^\sA-Za-z0-9]")
_SENTENCE_ENDS = frozenset(".?!:。？！：")
_CJK = re.compile("[\u3400-\u9fff]")
_ORGANISATION = re.compile(
    "([\u4e00-\u9fff]{2,16}?)(有限责任公司|股份有限公司|有限公司|公司|集团|银行|大学|学院"
    "|医院|研究院|研究所|委员会|基金会|协会|证券|保险|交易所|事务所|出版社)"
)
_NOT_IN_CJK_NAME = re.compile(
    ".*(?:请问|什么|多少|怎么|怎样|如何|哪家|哪些|哪个|哪|几|一家|这家|那家|该|本|贵|我们"
    "|你们|他们|我|你|他|它|某|关于|归属于|属于|根据|按照|对于|介绍|查询|告诉"
    "|年度|年|月|日|的|在|是|和|与|及|或|从|由|对|把|被|让|给|向|因为|作为|认为|到|了|吗|呢|各|每|其|所有|全部|有)"
)
_GENERIC_CJK = frozenset(
    "上市 集团 子 分 母 总 控股 全资 股份 有限 国有 民营 外资 保险 证券 商业 中央 投资 科技"
    " 物业 基金 贸易 管理 专业 注册 会计师 律师 参股 关联"
    " 医疗 养老 社会 失业 工伤 生育 补充 商业医疗 意外 财产 人寿 工作 合作 合资 第三方 大型 中小".split()
)
_PEOPLE = re.compile(r"(?a)(?<=an|ic|sh|ve)s$")
_FORM_CODES = re.compile(r"(?a)\d{1,2}-[KQF](?:/A)?|\d{3}\([a-z]\)|24/7|[2-6][GD]|.*[₀-₉].*|https?://.*|www\..*|.*@.*")


def anchors(question: str) -> tuple[Anchor, ...]:
    """What the question names, in the order of its kinds: quotes, codes, periods, names; each once."""
    text = _BOILERPLATE.sub(" ", normalise(question).text)
    quoted = [next(group for group in match.groups() if group) for match in _QUOTED.finditer(text)]
    rest = _QUOTED.sub(" ", text)
    quantities = lex(rest, locale="en")
    found = [
        *(Anchor("quote", phrase, tuple(phrase.split())) for phrase in quoted if phrase.lower() not in _NO_NAMES),
        *(Anchor("code", each.raw) for each in quantities if each.role == "id" and not _FORM_CODES.fullmatch(each.raw)),
        *(Anchor("period", each.raw) for each in quantities if _is_period(each)),
        *_english_names(_without(rest, quantities)),
        *_chinese_names(rest),
    ]
    return tuple(dict.fromkeys(found))


def missing_anchors(question: str, texts: Sequence[str]) -> tuple[Anchor, ...]:
    """The anchors that none of `texts` names: one text per material, its labels, section and document name in it."""
    return tuple(anchor for anchor in anchors(question) if not any(anchor.is_named_by(text) for text in texts))


@lru_cache(maxsize=2048)  # each passage is looked at many times for one answer
def _is_named_by(anchor: Anchor, text: str) -> bool:
    plain = normalise(text).text
    if anchor.kind == "period":
        wanted = [each for each in lex(anchor.text, locale="en") if _is_period(each)]
        facts = _lexed(plain)
        return all(is_named(each, facts) for each in wanted)
    if anchor.kind == "code":
        return is_printed(anchor.text, plain)
    return _names(plain.lower(), anchor)


@lru_cache(maxsize=1024)
def _lexed(text: str) -> tuple[Quantity, ...]:
    return lex(text)


def _names(text: str, anchor: Anchor) -> bool:
    if _CJK.search(anchor.text):
        folded = re.sub(r"\s", "", text)
        return any(re.sub(r"\s", "", word).lower() in folded for word in anchor.words)
    if anchor.kind == "quote":
        return " ".join(anchor.text.lower().split()) in " ".join(text.split())
    held = sum(_has_word(text, word) for word in anchor.words)
    # "Ritchie Bros." names Ritchie Bros. Auctioneers; of two words, both are wanted.
    return held == len(anchor.words) or (len(anchor.words) > 2 and held == len(anchor.words) - 1)


def _has_word(text: str, word: str) -> bool:
    one = _PEOPLE.sub("", word)  # `Hispanics` stand in a table as `Hispanic`
    return re.search(rf"(?a)(?<![a-z0-9]){re.escape(one)}{'s?' if one != word else ''}(?![a-z0-9])", text) is not None


def _is_period(quantity: Quantity) -> bool:
    parts = parts_of(quantity)
    # A month alone (`3月`) is named in too many ways to insist on it.
    return quantity.kind in PERIOD_KINDS and bool(parts) and not all(part[0] == "m" for part in parts)


def _without(text: str, quantities: Iterable[Quantity]) -> str:
    for quantity in quantities:
        text = f"{text[: quantity.start]}{'0' * (quantity.end - quantity.start)}{text[quantity.end :]}"
    return text


def _english_names(text: str) -> Iterator[Anchor]:
    tokens = [match[0] for match in _TOKEN.finditer(text)]
    chinese = _CJK.search(text) is not None
    index = 0
    while index < len(tokens):
        run = _run(tokens, index)
        starts = not chinese and (index == 0 or tokens[index - 1][-1] in _SENTENCE_ENDS)
        previous = tokens[index - 1].lower() if index else ""
        following = tokens[index + len(run)] if index + len(run) < len(tokens) else ""
        anchor = _name(run, starts=starts, previous=previous, following=following) if run else None
        if anchor is not None:
            yield anchor
        index += max(len(run), 1)


def _run(tokens: Sequence[str], index: int) -> list[str]:
    """The capitalised words from `index` on; "of", "&", a comma before "Inc." and its full stop stay inside."""
    run: list[str] = []
    position = index
    while position < len(tokens):
        token = tokens[position]
        following = tokens[position + 1] if position + 1 < len(tokens) else ""
        if token[0].isupper() or (run and token[0].islower() and any(each.isupper() for each in token)):
            run.append(token)
            if token.endswith(("'s", "?")):
                break
        elif (run and token.lower() in _JOINERS and following[:1].isupper()) or (
            run and token == "," and following.rstrip(".").lower() in _OPTIONAL_WORDS and following[:1].isupper()
        ):
            run.append(token)
        else:
            break
        position += 1
    return run


def _name(run: Sequence[str], *, starts: bool, previous: str, following: str) -> Anchor | None:
    words = list(run)
    possessive = words[-1].endswith("'s")
    while words and _plain(words[0]) in _NO_NAMES:
        starts, words = False if len(words) > 1 else starts, words[1:]
    while words and _plain(words[-1]) in _NO_NAMES | _JOINERS:
        words = words[:-1]
    if not words:
        return None
    has_form = len(words) > 1 and any(_plain(word) in _FORMS for word in words[1:])
    single = len(words) == 1
    first = words[0].removesuffix("'s").rstrip(".")
    distinctive = any(each.isupper() for each in first[1:])
    if single and first.isupper() and previous == "(" and following == ")":
        return None
    if single and starts and not (possessive or distinctive):
        return None
    if len(first) < 2 and single:
        return None
    if starts and len(words) == 2 and not (has_form or possessive) and _plain(words[1]) in _FORMS:
        return None
    significant = tuple(_plain(word) for word in words if _plain(word) not in _OPTIONAL_WORDS and word != ",")
    text = " ".join(word.removesuffix("'s") for word in words).replace(" ,", ",")
    return Anchor("name", text, significant) if significant else None


def _plain(word: str) -> str:
    return word.lower().removesuffix("'s").rstrip(".'")


def _chinese_names(text: str) -> Iterator[Anchor]:
    for match in _ORGANISATION.finditer(text):
        stem = _NOT_IN_CJK_NAME.sub("", match[1])
        if len(stem) < 2 or stem in _GENERIC_CJK:
            continue
        short = stem if match[2].endswith(("公司", "集团")) else stem + match[2]
        yield Anchor("name", stem + match[2], (short,))
