"""Label tokens: the words that say what a figure is about, in a claim and around a fact, in one form.

English words are stemmed lightly and lose stop-words, units, months and words of direction; Chinese runs become
character bigrams without function characters. A year is no label: periods are compared as periods.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from kb_qa.guardrails.characters import normalise

Aliases = tuple[tuple[str, str], ...]

# Said of the same thing in most reports; a knowledge base may replace the table (policies.Policy).
DEFAULT_ALIASES: Aliases = (
    ("营收", "营业收入"),
    ("归母净利润", "归属于上市公司股东的净利润"),
    ("毛利率", "毛利润率"),
    ("headcount", "employees"),
    ("staff", "employees"),
    ("turnover", "revenue"),
    ("net profit", "net income"),
    ("net earnings", "net income"),
    ("eps", "earnings per share"),
    ("capex", "capital expenditures"),
)

_WORD = re.compile(
    r"(?a)[A-Za-z][A-Za-z0-9]*(?:'[a-z]+)?|(?<![A-Za-z0-9.,])\d{1,3}(?:[A-Za-z]{1,8})?(?![A-Za-z0-9%]|[.,]\d)"
)
_HAN = re.compile("[\u3400-\u9fff]+")
# `FY18`, `Q3`, `1H`: periods are compared as periods.
_PERIOD_WORD = re.compile(r"(?a)(?:fy|f|cy|h|q)\d{1,4}|\d[qh]")
_DIGITS = {word: str(value) for value, word in enumerate("one two three four five six seven eight nine ten".split(), 1)}
_STOP = frozenset(
    "a an the of in on at to for from by with as is are was were be been being has have had do does did will would can"
    " could may might and or but nor not no than then that this these those it its their our your his her we"
    " they he she"
    " you i there here which who whom whose what when where how why much many both all each every any some other's such"
    " so if while during between among across into over under per about around approximately approx roughly nearly"
    " almost at least most more up down out off also only just very"
    " respectively compared versus vs amount amounts value values figure figures number answer found materials material"
    " according report reported reports stood stands came totaled totalled totalling reached reach reaches"
    " company group"
    " year years month months quarter quarters week weeks day days hour hours half fiscal ended ending ends end period"
    " annual january february march april may june july august september october november december jan feb mar apr jun"
    " jul aug sep sept oct nov dec thousand thousands million millions billion billions trillion mn bn percent"
    " percentage points point pp bps basis usd rmb cny eur gbp hkd jpy dollar dollars euro euros pounds yuan"
    " yen us hk nt"
    " yes please give tell show state list respective us$ following s t date as-of k m b"
    " rose rise rises risen rising grew grow grows grown growing increase increases increased increasing gain"
    " gains gained"
    " fell fall falls fallen falling decrease decreases decreased decreasing decline declines declined"
    " declining drop drops"
    " dropped reduce reduced higher lower up down change changes changed climbed climb jumped surged improved"
    " slipped slid"
    " against after before because due mainly primarily since driven owing thanks following still again now"
    " towards upon"
    " previous prior preceding same period compared comparison account accounts accounted represent represents"
    " represented constitute constitutes make makes made".split()
)
# "total" is a label, and so is "average" in a row's name: they stay.
_FUNCTION_CHARACTERS = re.compile(
    "(?:分别|依次)|[的了为是在和与及或之以于由从至到共约近超逾达有将被把对就也都而但则其该此这那我你他们个年月日季度第上下同比环增减升降长跌涨幅"
    "亿万千百十元多少几何吗呢么请问什怎零一二三四五六七八九两半]+"
)
_IRREGULAR = {
    "men": "man",
    "women": "woman",
    "people": "person",
    "children": "child",
    "employee": "employ",
    "employees": "employ",
    "ebit": "ebit",
    "less": "less",
}
_SUFFIXES = (("ies", "y"), ("sses", "ss"), ("ches", "ch"), ("shes", "sh"), ("xes", "x"), ("s", ""))
_KEEP_S = ("ss", "us", "is", "as")


def tokens(text: str, aliases: Aliases = DEFAULT_ALIASES) -> frozenset[str]:
    """The label tokens of `text`."""
    return _tokens(text, aliases)


def union(parts: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*parts)


@lru_cache(maxsize=16384)
def _tokens(text: str, aliases: Aliases) -> frozenset[str]:
    text = normalise(text).text.lower()
    for said, canonical in aliases:
        if said in text:
            plain = canonical.replace("\\", r"\\")
            text = _edged(said).sub(plain, text) if said.isascii() else text.replace(said, canonical)
    found = set()
    for match in _WORD.finditer(text):
        word = match[0].partition("'")[0]
        if word not in _STOP and not _PERIOD_WORD.fullmatch(word):
            found.add(_DIGITS.get(word) or _stem(word))
    for match in _HAN.finditer(text):
        for run in _FUNCTION_CHARACTERS.split(match[0]):
            found.update(run[index : index + 2] for index in range(len(run) - 1))
            if len(run) == 1:
                found.add(run)
    return frozenset(found)


@lru_cache(maxsize=256)
def _edged(word: str) -> re.Pattern[str]:
    """Words as a whole, or in the plural: `eps` is not in `steps`."""
    return re.compile(rf"(?a)(?<![a-z0-9]){re.escape(word)}s?(?![a-z0-9])")


def _stem(word: str) -> str:
    if len(word) > 4 and word[-1].isdigit() and word[:-1].isalpha():
        word = word[:-1]  # a footnote mark: `schemes1`
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) > 3 and not word.endswith(_KEEP_S):
        for suffix, replacement in _SUFFIXES:
            if word.endswith(suffix):
                word = word[: -len(suffix)] + replacement
                break
    for suffix in ("ing", "ed"):
        if word.endswith(suffix) and len(word) > len(suffix) + 3:
            word = word[: -len(suffix)]
            break
    return word.removesuffix("e") if len(word) > 4 else word
