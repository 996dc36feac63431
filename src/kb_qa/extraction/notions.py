"""Notions: the things that a question is about, each by any of its names, and whether a text names them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from kb_qa.extraction.concepts import CONCEPTS
from kb_qa.terms import terms

_CJK = re.compile("[\u3400-\u9fff]")
_CJK_RUN = re.compile("[\u3400-\u9fff]+")
_JOINED = re.compile(r"(?<=[a-z])[-/](?=[a-z])")
# `Director and above` is the row of a director.
_AND_ABOVE = re.compile(r"(?ai)\b(?:and|or) (?:above|below|over|higher|lower|up|more|older|younger|less)\b")
# A row of those who did not, or have none: its other words may all be asked.
_NEGATION = re.compile(r"(?a)\b(?:no(?!\.)|not|non|none|without|never|excluding|except)\b")
_FORM = re.compile(r"(?a),? \b(?:Incorporated|Inc|Corporation|Corp|Limited|Ltd|PLC|plc|LLC|GmbH)\b\.?")
_RANGE = re.compile(r"(?a)(?<!\d)(\d{1,3})\s?[-–]\s?(\d{1,3})(?!\d)")  # of ages, grades, hours: no years
_IN_BRACKETS = re.compile(r"[(（\[【][^)）\]】]*[)）\]】]")
_PLURAL_ALONE: dict[tuple[str, ...], re.Pattern[str]] = {
    ("sale",): re.compile(r"(?a)\bsales\b"),
    ("earn",): re.compile(r"(?a)\bearnings\b"),
}
# Past forms that no stemmer leads back to the verb.
_IRREGULAR = {
    "paid": "pay", "sold": "sell", "bought": "buy", "spent": "spend", "held": "hold", "grew": "grow", "grown": "grow",
    "rose": "rise", "risen": "rise", "fell": "fall", "fallen": "fall", "lent": "lend", "gave": "give", "given": "give",
    "took": "take", "taken": "take", "began": "begin", "begun": "begin", "won": "win", "wrote": "write",
    "written": "write", "chose": "choos", "chosen": "choos", "met": "meet", "drew": "draw", "drawn": "draw",
}  # fmt: skip
# So many other words may stand between the words of a name.
_BETWEEN = 3
# What a label says besides the name of the thing without saying another thing.
_HARMLESS = frozenset(
    "total net consolid year end million thousand billion note us usd eur gbp aud cad hkd cny rmb $ amount valu period"
    " annual fiscal group compani decemb march june septemb januari as report gaap".split()
)
_HARMLESS_CJK = re.compile(
    r"[(（\[【][^)）\]】]*[)）\]】]|合计|总计|总额|其中|本期|本年|本报告期|年度|金额|减|加|归属|公司|及以[上下]|[一二三四五六七八九十][、.]"
)


@dataclass(frozen=True, slots=True)
class Reading:
    """A text as names are looked for in it: its index terms in order, and its plain letters."""

    plain: str
    sequence: tuple[str, ...]
    terms: frozenset[str]


_NOTHING = Reading("", (), frozenset())


@dataclass(frozen=True, slots=True)
class Notion:
    """One thing by its names: Latin ones as index terms, Chinese ones as they are written. `size`: words it was asked
    by; `is_singular`: not by a plural that says another thing than its stem.
    """

    said: str
    latin: tuple[tuple[str, ...], ...] = ()
    chinese: tuple[str, ...] = ()
    size: int = 1
    is_singular: bool = False

    @property
    def is_concept(self) -> bool:
        return len(self.latin) + len(self.chinese) > 1

    def name_in(self, text: Reading) -> frozenset[str] | None:
        """The words of the longest of its names that `text` holds close together; None where it holds none."""
        held = (form for form in self.latin if _holds(text, form) and (self.is_singular or _is_meant(form, text.plain)))
        found = max(held, key=len, default=None)
        written = max((form for form in self.chinese if _is_written(form, text.plain)), key=len, default=None)
        if found is None and written is None:
            return None
        return frozenset(found or ()) | frozenset((written,) if written else ())


def _is_meant(form: tuple[str, ...], plain: str) -> bool:
    """A sale is no sales, and what is earned no earnings, though they have one stem."""
    word = _PLURAL_ALONE.get(form)
    return word is None or word.search(plain) is not None


@lru_cache(maxsize=32768)
def reading(text: str) -> Reading:
    plain = unicodedata.normalize("NFKC", text).lower()
    sequence = tuple(_words(plain))
    return Reading(re.sub(r"\s+(?=[\u3400-\u9fff])", "", plain), sequence, frozenset(sequence))


def notions_of(text: str, *, without: Collection[str] = ()) -> tuple[Notion, ...]:
    """The notions of a question's text, each once; words of `without` (index terms) are none."""
    plain = unicodedata.normalize("NFKC", text).lower()
    found: dict[Notion, None] = {}
    for form, concept in _chinese_forms():
        if form in plain:
            plain = plain.replace(form, " ")
            found[_of_concept(concept, form, 1)] = None
    sequence = _words(plain)
    position = 0
    while position < len(sequence):
        known = _known_at(sequence, position)
        if known is not None:
            found[_of_concept(known[1], " ".join(known[0]), len(known[0]))] = None
        elif sequence[position] not in without:
            word = sequence[position]
            found[Notion(word, ((word,),), is_singular=not _is_meant((word,), plain))] = None
        position += len(known[0]) if known is not None else 1
    return tuple(found)


def excess(label: str, notions: Iterable[Notion], asked: Reading | None = None) -> int:
    """How many words a row's label has besides the names of what is asked for: `Cost of revenue` says another thing.

    What stands in brackets, and the words that are `asked` as well, are none of them.
    """
    asked = asked or _NOTHING
    label = _FORM.sub(" ", _AND_ABOVE.sub(" ", label))
    text = reading(_IN_BRACKETS.sub(" ", label) or label)
    named = [name for notion in notions if (name := notion.name_in(text)) is not None]
    latin = frozenset[str]().union(*named)
    plain = text.plain
    for word in sorted(latin, key=len, reverse=True):
        if _CJK.search(word):
            plain = plain.replace(word, "")
    others = {
        word for word in text.terms - latin - _HARMLESS - asked.terms if not _CJK.search(word) and not word.isdigit()
    }
    ranges = {number for ends in _RANGE.findall(text.plain) for number in ends}
    denied = bool(_NEGATION.search(text.plain)) and not _NEGATION.search(asked.plain)
    rest = sum(len(run) for run in _CJK_RUN.findall(_HARMLESS_CJK.sub("", plain)) if run not in asked.plain)
    return len(others) + (rest + 1) // 2 + denied + (not ranges <= asked.terms)


def _words(plain: str) -> list[str]:
    found = (_IRREGULAR.get(term, term) for term in terms(_JOINED.sub(" ", plain)))
    return [term for term in found if len(term) > 1 or not term.isascii() or term.isdigit()]


def _holds(text: Reading, form: Sequence[str]) -> bool:
    if not text.terms.issuperset(form):
        return False
    if len(form) == 1:
        return True
    wanted = frozenset(form)
    span = len(form) + _BETWEEN
    return any(
        wanted.issubset(text.sequence[start : start + span])
        for start, word in enumerate(text.sequence)
        if word in wanted
    )


def _is_written(form: str, plain: str) -> bool:
    """Whether the name stands in a text by itself, and not in the longer name of another thing (毛利 in 毛利率)."""
    if form not in plain:
        return False
    for longer in _longer(form):
        plain = plain.replace(longer, " ")
    return form in plain


@cache
def _longer(form: str) -> tuple[str, ...]:
    """The longer names, longest first, that hold this one and are those of other things."""
    own = {concept for name, concept in _chinese_forms() if name == form}
    return tuple(name for name, concept in _chinese_forms() if form in name and concept not in own)


def _known_at(sequence: Sequence[str], position: int) -> tuple[tuple[str, ...], int] | None:
    """The longest name that stands at `position`, with the number of its concept."""
    for form, concept in _by_first_word().get(sequence[position], ()):
        if tuple(sequence[position : position + len(form)]) == form:
            return form, concept
    return None


def _of_concept(concept: int, said: str, size: int) -> Notion:
    latin, chinese = _forms()[concept]
    return Notion(said, latin, chinese, size)


@cache
def _forms() -> tuple[tuple[tuple[tuple[str, ...], ...], tuple[str, ...]], ...]:
    return tuple(
        (
            tuple(
                dict.fromkeys(
                    form for name in names if name.isascii() or not _CJK.search(name) if (form := tuple(_words(name)))
                )
            ),
            tuple(name for name in names if _CJK.search(name)),
        )
        for names in CONCEPTS
    )


@cache
def _by_first_word() -> dict[str, list[tuple[tuple[str, ...], int]]]:
    found: dict[str, list[tuple[tuple[str, ...], int]]] = {}
    for concept, (latin, _) in enumerate(_forms()):
        for form in latin:
            found.setdefault(form[0], []).append((form, concept))
    for forms in found.values():
        forms.sort(key=lambda each: -len(each[0]))
    return found


@cache
def _chinese_forms() -> tuple[tuple[str, int], ...]:
    pairs = [(form, concept) for concept, (_, chinese) in enumerate(_forms()) for form in chinese]
    return tuple(sorted(pairs, key=lambda pair: -len(pair[0])))
