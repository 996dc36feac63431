"""A question as retrieval understands it, without a model: its terms, things, names, periods, places and phrases."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from kb_qa.answers import Language
from kb_qa.asked.concepts import Concept, ConceptBook
from kb_qa.asked.frames import ASKING_ZH, matter_of
from kb_qa.asked.places import Places, places_in
from kb_qa.figure_terms import amounts_in_other_forms
from kb_qa.guardrails.languages import language_of
from kb_qa.guardrails.questions import Anchor, anchors
from kb_qa.terms import terms

# Words that ask: they say what kind of answer is wanted, not what it is about.
_ASKING = frozenset(
    "mani much long often name tell give list pleas say said describ explain show find get take mean"
    " 需要 多长 时间 长时间 多长时间 多久 多少钱 告诉 介绍 说明 列出 一下 多 大 有 几天 规定".split()
)
_PLACED = frozenset("page tabl figur chart graph diagram pictur show 页 表 图 哪张 哪个 哪一".split())
# What is to be computed of the figures that are looked for: no passage says `percentage change`, it prints two years.
_COMPUTED = re.compile(
    r"(?ai)\b(?:percent(?:age)?|absolute|net|total|overall|average|annual|%)?\s*(?:change|difference)s?\s*(?:\(%\)\s*)?"
    r"(?:in|between|of|for|from)\b(?: the)?(?: (?:amount|value|percentage)s? of\b)?"
    r"|\bpercent(?:age)? (?:increase|decrease|growth)\b|\bbetween (?=(?:FY ?)?(?:19|20)\d\d\b)"
    r"|\b(?:average|mean|sum|ratio) (?:amount |value )?(?:of|between)\b|\brespective(?:ly)?\b"
    r"|变化率|变动率|增减率|变化了?|变动(?:金?额)?|差额|差异|相差|之差|之和|平均值?|分别|百分比变化|(?<=年)[与和到至](?=(?:19|20)\d\d)"
)
_LEGAL = r"(?:Inc|Incorporated|Corp|Corporation|Ltd|Limited|PLC|plc|Plc|LLC|LLP|N\.V|S\.A|AG|SE|GmbH|Co)"
_YEAR = re.compile(r"(?a)(?<!\d)(?:19|20)\d\d(?!\d)")
_FISCAL = re.compile(r"(?ai)\b(?:FY|F|CY)[ '-]?(?P<two>\d\d)\b(?!\d)")


@dataclass(frozen=True, slots=True)
class Asked:
    """`core` is the question without instructions and frames, `terms` its index terms in order, `years` as printed.

    `about` is the core without the names, for a search inside documents that are about them, `about_terms` its terms.
    `phrases` must stand word for word; `captions` of `places` are among them.
    """

    text: str
    language: Language
    core: str
    about: str
    terms: tuple[str, ...]
    about_terms: tuple[str, ...]
    concepts: tuple[Concept, ...]
    names: tuple[Anchor, ...]
    name_terms: tuple[str, ...]
    years: tuple[str, ...]
    places: Places
    phrases: tuple[tuple[str, ...], ...]

    @property
    def other_terms(self) -> tuple[str, ...]:
        """The question in other words, and in the other language; empty where no other words are known."""
        return self._in_other_words(self.terms)

    @property
    def other_about_terms(self) -> tuple[str, ...]:
        """What is asked about in other words."""
        return self._in_other_words(self.about_terms)

    def with_names(self, telling: Sequence[Anchor]) -> Asked:
        """The question where only these of its names tell documents: `BMW` in `Sonic's sales of BMW` is asked about."""
        if len(telling) == len(self.names):
            return self
        about, name_terms = _without(self.core, telling)
        about_terms = tuple(term for term in self.terms if term not in name_terms) or self.terms
        return replace(self, about=about, about_terms=about_terms, name_terms=name_terms)

    def _in_other_words(self, said: Sequence[str]) -> tuple[str, ...]:
        own = {term for concept in self.concepts for term in concept.own}
        others = [term for concept in self.concepts for other in concept.others for term in other]
        return tuple(dict.fromkeys([*others, *(term for term in said if term not in own)])) if others else ()


@lru_cache(maxsize=256)
def read_question(question: str, book: ConceptBook) -> Asked:
    core = matter_of(question)
    found = anchors(question)
    names = tuple(anchor for anchor in found if anchor.kind == "name")
    said = terms(_COMPUTED.sub(" ", ASKING_ZH.sub(" ", core))) or terms(core)
    places = places_in(core)
    wanted = tuple(term for term in said if term not in _ASKING) or tuple(said)
    if not places.captions:  # `the figure on page 3`: where to look is no word of what is looked for
        placed = {*(_PLACED if places else ()), *map(str, places.pages)}
        wanted = tuple(term for term in wanted if term not in placed) or (() if places else wanted)
    quotes = [anchor.text for anchor in found if anchor.kind == "quote"]
    phrases = (tuple(terms(text)) for text in [*quotes, *places.captions])
    about, name_terms = _without(core, names)
    return Asked(
        text=question,
        language=language_of(question),
        core=core,
        about=about,
        terms=wanted,
        about_terms=tuple(term for term in wanted if term not in name_terms) or wanted,
        concepts=(*book.found(ASKING_ZH.sub(" ", core), wanted), *_amounts(core)),
        names=names,
        name_terms=name_terms,
        years=tuple(dict.fromkeys([*_YEAR.findall(core), *(f"20{match['two']}" for match in _FISCAL.finditer(core))])),
        places=places,
        phrases=tuple(filter(None, phrases)),
    )


def _without(core: str, names: Sequence[Anchor]) -> tuple[str, tuple[str, ...]]:
    """The question without these names, or all of it where nothing else is there; and the terms of the names."""
    called = [match[0] for name in names for match in _whole_name(name).finditer(core)]
    about = core
    for name in called:
        about = about.replace(name, " ")
    return " ".join(about.split()) or core, tuple(dict.fromkeys(term for name in called for term in terms(name)))


def _amounts(core: str) -> Iterator[Concept]:
    """An amount by its other names: `4.1 billion` and `41亿` are one thing."""
    for raw, forms in amounts_in_other_forms(core):
        yield Concept(raw, tuple(terms(raw)), tuple((form,) for form in forms), is_amount=True)


def _whole_name(name: Anchor) -> re.Pattern[str]:
    """The name with what is written in one piece with it, and its legal form: `Amazon` in `Amazon.com, Inc.'s`."""
    return re.compile(rf"{re.escape(name.text.rstrip('.'))}(?:\.?[A-Za-z]+\b)?(?:,?\s+{_LEGAL}\b)*\.?(?:['’]s\b)?")
