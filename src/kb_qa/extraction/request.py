"""What a question asks for: of what, in which kind and unit; the instructions and frames around it left out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from kb_qa.asked.frames import ASKING_ZH, CURRENCY, FRAME, without_instructions
from kb_qa.asked.places import PLACE, places_in
from kb_qa.extraction import wording
from kb_qa.extraction.counted import counted_in
from kb_qa.extraction.months import asked_months, months_in
from kb_qa.extraction.notions import Notion, Reading, notions_of, reading
from kb_qa.guardrails.lexer import lex
from kb_qa.guardrails.measures import named_unit
from kb_qa.guardrails.quantities import Kind, Quantity
from kb_qa.guardrails.questions import Anchor, anchors
from kb_qa.terms import terms

_CONDITIONS: frozenset[Kind] = frozenset({"duration", "money", "measure", "percent"})
# A participle is no thing that something is asked of: `died of`, `composed of`.
_BEFORE_OF = re.compile(r"(?ai)(?P<before>(?:[a-z][a-z-]* ){0,2})(?![a-z]+ed\b)[a-z][a-z-]*(?= of\b)")


@dataclass(frozen=True, slots=True)
class Request:
    """`topic` is what must be named, without the names of `anchors`; `labels` those names, which may label a row.
    `heads` are those of the topic that something is asked of: `exports` in `the exports of grain`. `act` is what the
    one who is asked for did, `counted` what is to be counted.

    `sayings` are its words without the names of companies. `currency` is the ISO code that the answer is asked in, ""
    for any. `kinds` are words of which the document must print one: it was asked about by its kind. `arithmetic` is
    what is to be computed: average, relative, change, sum. `conditions` are the quantities that it states itself, `at
    five percent`; `is_bounded`, where one bounds what is asked: `after five years`.
    `months` are those that it names without a year, as `m05`.
    `captions`: of which numbered table or figure something is asked.
    """

    text: str
    words: Reading
    topic: tuple[Notion, ...]
    heads: frozenset[Notion]
    act: frozenset[Notion]
    counted: tuple[Notion, ...]
    anchors: tuple[Anchor, ...]
    labels: frozenset[str] = frozenset()
    sayings: frozenset[str] = frozenset()
    currency: str = ""
    kinds: tuple[str, ...] = ()
    captions: tuple[str, ...] = ()
    wants_figure: bool = False
    wants_percent: bool = False
    wants_date: bool = False
    wants_growth: bool = False
    wants_amount: bool = False
    counts: bool = False
    arithmetic: str = ""
    conditions: tuple[Quantity, ...] = ()
    is_bounded: bool = False
    months: frozenset[str] = frozenset()
    yes_no: bool = False
    names: bool = False
    explains: bool = False
    which_period: bool = False
    superlative: str = ""

    def of_kind(self, kind: str) -> list[Anchor]:
        return [anchor for anchor in self.anchors if anchor.kind == kind]

    @property
    def periods(self) -> list[Anchor]:
        return self.of_kind("period")


@lru_cache(maxsize=512)
def request_of(question: str) -> Request:
    """What `question` asks for."""
    said = without_instructions(question)
    found = anchors(said)
    growth = wording.GROWTH.search(said) is not None
    percent = growth or wording.WANTS_PERCENT.search(said) is not None
    date = wording.WANTS_DATE.search(said) is not None
    figure = percent or date or wording.WANTS_FIGURE.search(said) is not None
    yes_no = wording.YES_NO.search(said) is not None
    arithmetic = next((name for name, pattern in wording.ARITHMETIC if pattern.search(said)), "")
    kind, superlative = wording.DOCUMENT_KIND.search(said), wording.SUPERLATIVE.search(said)
    currency = CURRENCY.search(said)
    bare = _topic_text(said.replace(kind[0], " ") if kind else said, found)
    without = wording.ASKING | _codes_of(found)
    without |= wording.GROWTH_WORDS if growth else frozenset()
    without |= wording.ARITHMETIC_WORDS if arithmetic else frozenset()
    placed = places_in(said).captions
    beyond = notions_of(PLACE.sub(" ", bare), without=without) if placed else ()
    topic = beyond or notions_of(bare, without=without) or notions_of(bare)
    amount = wording.WANTS_AMOUNT.search(said) is not None and wording.COUNTS.search(said) is None
    conditions = tuple(
        each
        for each in lex(bare)
        if each.kind in _CONDITIONS and each.role == "figure" and not wording.is_age(bare, each.start, each.end)
    )
    companies = frozenset(term for anchor in found if not _may_label(anchor) for term in reading(anchor.text).terms)
    return Request(
        text=said,
        words=reading(said),
        topic=topic,
        heads=_heads(bare, topic),
        act=_act(said, topic),
        counted=counted_in(said),
        anchors=found,
        labels=frozenset(term for anchor in found if _may_label(anchor) for term in terms(anchor.text)),
        sayings=reading(said).terms - companies,
        currency=named_unit(currency[1] or currency[2]) if currency else "",
        captions=placed if beyond else (),
        kinds=wording.DOCUMENT_KINDS[(kind[1] or kind[2]).lower()] if kind else (),
        wants_figure=figure and not yes_no,
        wants_percent=percent,
        wants_date=date,
        wants_growth=growth,
        counts=wording.NUMBER_OF.search(said) is not None and wording.WANTS_AMOUNT.search(said) is None,
        wants_amount=amount and not percent,
        arithmetic=arithmetic,
        conditions=conditions,
        months=frozenset[str]().union(*map(months_in, asked_months(said))),
        is_bounded=any(wording.is_bound(bare, each.start, each.end) for each in conditions),
        yes_no=yes_no,
        names=wording.NAMES.search(said) is not None,
        explains=wording.EXPLAINS.search(said) is not None,
        which_period=wording.WHICH_PERIOD.search(said) is not None,
        superlative=superlative[0] if superlative else "",
    )


def _heads(text: str, topic: Sequence[Notion]) -> frozenset[Notion]:
    """Those whose name ends before an `of`."""
    found = set[Notion]()
    for match in _BEFORE_OF.finditer(text):
        whole, without_last = reading(match[0]), reading(match["before"] or "")
        found |= {each for each in topic if each.name_in(whole) and not each.name_in(without_last)}
    return frozenset(found)


def _act(said: str, topic: Sequence[Notion]) -> frozenset[Notion]:
    """`wrote` in `Who wrote the report?`; none for what someone is."""
    match = wording.WHO_DID.search(said)
    return frozenset(each for each in topic if match and each.name_in(reading(match["act"])))


def _codes_of(found: Sequence[Anchor]) -> frozenset[str]:
    return frozenset(term for anchor in found if anchor.kind in {"code", "period"} for term in terms(anchor.text))


def _may_label(anchor: Anchor) -> bool:
    """Whether a row can be labelled by it: a region or a product, and not the company whose whole report it is."""
    return anchor.kind != "quote" and wording.LEGAL_FORM.search(anchor.text) is None


def _topic_text(said: str, found: Sequence[Anchor]) -> str:
    """The question without frames, units in brackets, and what it names."""
    text = wording.LEAD.sub("", CURRENCY.sub(" ", wording.BRACKETED.sub(" ", said)) or said)
    for anchor in found:
        if anchor.kind in {"name", "code", "period"}:
            text = re.sub(rf"(?i){re.escape(anchor.text)}(?:'s|’s)?", " ", text)
    for month in asked_months(said):
        text = text.replace(month, " ")
    return ASKING_ZH.sub(" ", FRAME.sub(" ", text))
