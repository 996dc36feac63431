"""What was observed of questions, and what it is worth.

An outcome has a name, and is there only where the question can have it: `page_hit@5` needs a page. Rates are shares of
the questions that have the outcome; a rate of `BAD` is the better the smaller it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from kb_qa.evaluation.cases import Case
from kb_qa.evaluation.intervals import paired, wilson
from kb_qa.evaluation.values import contained, is_value, quantity_of
from kb_qa.geometry import BBox, Region
from kb_qa.guardrails.quantities import Quantity

RANKS = (1, 3, 5, 10)
DOCUMENT_RANKS = (1, 5)
ORDER = (
    *("document_hit", "page_hit", "pages_cited", "region_hit", "answer_contained", "figure_right"),
    *("refused_absent", "refused_answerable", "failed"),
)
BAD = frozenset({"refused_answerable", "failed"})
OVERLAP = 0.5  # of the shorter side, in both directions, of two boxes that are called the same place


@dataclass(frozen=True, slots=True)
class Place:
    """A page of a document, and where on it; `page` is None where the document has none."""

    document_id: str
    document: str
    page: int | None
    bbox: BBox | None = None
    text: str = ""

    @property
    def key(self) -> tuple[str, int | None]:
        return self.document_id, self.page


@dataclass(frozen=True, slots=True)
class SaidFigure:
    """A figure of an answer; `values` are those in base units of the answer's print and of each place it rests on, and
    the printed numbers without the scale that stands elsewhere.
    """

    raw: str
    values: tuple[Decimal, ...]
    quantum: Decimal
    supported: bool
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer as its events told it. `seconds` by stage."""

    answer_id: str = ""
    text: str = ""
    refused: bool = False
    reason: str = ""
    cited: tuple[Place, ...] = ()
    figures: tuple[SaidFigure, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    error: str = ""


@dataclass(frozen=True, slots=True)
class Observed:
    """What was seen of one question. `found` has places by who searched, best first, repeats and all.

    `documents` are the ids of the document that was expected: a name may be that of several.
    """

    case: Case
    documents: frozenset[str]
    found: Mapping[str, tuple[Place, ...]]
    answered: Answered | None = None


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of `n` questions with its 95 % interval."""

    hits: int
    n: int

    @property
    def share(self) -> float:
        return self.hits / self.n if self.n else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        return wilson(self.hits, self.n)


@dataclass(frozen=True, slots=True)
class Difference:
    """How much larger the share is in the second of two configurations, on the same n questions."""

    n: int
    first: int
    second: int
    only_first: int
    only_second: int
    difference: float
    interval: tuple[float, float]


def distinct(places: Iterable[Place]) -> tuple[Place, ...]:
    """The pages, each where it comes first."""
    seen: dict[tuple[str, int | None], Place] = {}
    for place in places:
        seen.setdefault(place.key, place)
    return tuple(seen.values())


def page_rank(observed: Observed, places: Iterable[Place]) -> int | None:
    """The rank, from 1, of the first expected page among the distinct ones; None where it is not found."""
    for rank, place in enumerate(distinct(places), 1):
        if place.document_id in observed.documents and place.page in observed.case.pages:
            return rank
    return None


def document_rank(observed: Observed, places: Iterable[Place]) -> int | None:
    """The rank, from 1, of the expected document among the distinct ones."""
    names = dict.fromkeys(place.document_id for place in places)
    return next((rank for rank, name in enumerate(names, 1) if name in observed.documents), None)


def outcomes(observed: Observed) -> dict[str, bool]:
    """By name; a name says after a dot who searched, where it was not this project over all documents."""
    case = observed.case
    found: dict[str, bool] = {}
    for searcher, places in observed.found.items():
        tail = f".{searcher}" if searcher else ""
        if case.pages:
            rank = page_rank(observed, places)
            found |= {f"page_hit@{k}{tail}": rank is not None and rank <= k for k in RANKS}
        if observed.documents and "within" not in searcher:
            rank = document_rank(observed, places)
            found |= {f"document_hit@{k}{tail}": rank is not None and rank <= k for k in DOCUMENT_RANKS}
    if observed.answered is not None:
        found |= _answer_outcomes(observed, observed.answered)
    return found


def summary(observed: Sequence[Observed]) -> dict[str, Rate]:
    """Each outcome's rate over the questions that have it."""
    gathered: dict[str, list[bool]] = {}
    for each in observed:
        for name, value in outcomes(each).items():
            gathered.setdefault(name, []).append(value)
    return {name: Rate(sum(gathered[name]), len(gathered[name])) for name in sorted(gathered, key=_place)}


def differences(first: Sequence[Observed], second: Sequence[Observed]) -> dict[str, Difference]:
    """By outcome, over the questions that have it in both configurations."""
    pairs: dict[str, list[tuple[bool, bool]]] = {}
    others = {each.case.id: outcomes(each) for each in second}
    for each in first:
        other = others.get(each.case.id, {})
        for name, value in outcomes(each).items():
            if name in other:
                pairs.setdefault(name, []).append((value, other[name]))
    return {name: _difference(pairs[name]) for name in sorted(pairs, key=_place)}


def _place(name: str) -> tuple[int, bool, int]:
    """Where an outcome stands in a table: by what it is, over all documents before within one, by rank."""
    kind, _, rest = name.partition("@")
    number, _, searcher = rest.partition(".")
    return ORDER.index(kind), searcher.startswith("within"), int(number or 0)


def _difference(pairs: Sequence[tuple[bool, bool]]) -> Difference:
    first, second = [one for one, _ in pairs], [other for _, other in pairs]
    difference, low, high = paired(first, second)
    return Difference(
        n=len(pairs),
        first=sum(first),
        second=sum(second),
        only_first=sum(one and not other for one, other in pairs),
        only_second=sum(other and not one for one, other in pairs),
        difference=difference,
        interval=(low, high),
    )


def _answer_outcomes(observed: Observed, answered: Answered) -> dict[str, bool]:
    case = observed.case
    found = {"failed": bool(answered.error)}
    if case.absent:
        return found | {"refused_absent": answered.refused and not answered.error}
    if not (case.answers or case.pools or case.document):
        return found  # nothing is known of it
    found["refused_answerable"] = answered.refused
    own = [place for place in answered.cited if place.document_id in observed.documents]
    if case.pools:
        pages = {place.page for place in own}
        found["pages_cited"] = all(pages & {*pool} for pool in case.pools)
    if case.region is not None:
        found["region_hit"] = any(_is_there(place, case.region) for place in own)
    if case.answers and case.kind != "boolean":
        figures = [quantity for answer in case.answers if (quantity := quantity_of(answer)) is not None]
        said = [figure for figure in answered.figures if any(_says(figure, quantity) for quantity in figures)]
        found["answer_contained"] = bool(said) or any(contained(answer, answered.text) for answer in case.answers)
        if figures and case.kind != "names":
            found["figure_right"] = any(_rests_on(figure, observed) for figure in said)
    return found


def _says(figure: SaidFigure, expected: Quantity) -> bool:
    return any(is_value(expected, value, figure.quantum) for value in figure.values)


def _rests_on(figure: SaidFigure, observed: Observed) -> bool:
    """Whether a figure is supported, by the expected document and page where these are known."""
    if not figure.supported:
        return False
    places = [place for place in figure.places if not observed.documents or place.document_id in observed.documents]
    pages = observed.case.pages
    return any(not pages or place.page in pages for place in places)


def _is_there(place: Place, expected: Region) -> bool:
    if place.page != expected.page or place.bbox is None or expected.bbox is None:
        return False
    shared = place.bbox.intersection(expected.bbox)
    if shared is None:
        return False
    # A cell is as high as its row is ruled, a line of print as high as its letters: each side is compared alone.
    wide = shared.width / min(place.bbox.width, expected.bbox.width)
    return min(wide, shared.height / min(place.bbox.height, expected.bbox.height)) >= OVERLAP
