"""Which candidates answer a question best: a weighted sum of a few features, each 0..1 and each the more the better.

The weights are rounded ones of a regression (softmax over the candidates of a question) on 834 questions about tables
and paragraphs of reports. Fitted on nine tenths of the contexts and asked of the rest, hit@1 is .73; BM25 has .63.
Some are judged, not fitted, because
such questions hardly need them: `document` outweighs most other evidence, as a reader expects who names a company;
`other`, `place` and `phrase` count where a question gives cause.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from kb_qa.asked.reading import Asked
from kb_qa.elements import ElementType
from kb_qa.sketch import BLOCK, LABEL, Codes, code
from kb_qa.terms import inverse_frequency

Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]

FEATURES = (
    "dense",
    "lexical",
    "other",
    "coverage",
    "label",
    "order",
    "years",
    "document",
    "place",
    "phrase",
    "parent",
    "chunk",
)
WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "dense": 3.4,  # how near its similarity is to the best one
        "lexical": 4.0,  # BM25 of the question's words, of the best
        "other": 1.0,  # … of its other words: synonyms, the other language
        "coverage": 0.3,  # share of the question that one block says with its headers
        "label": 4.5,  # how well a row's label, or a heading, is what is asked for
        "order": 7.4,  # words of the question beside each other as in it
        "years": 0.3,
        "document": 8.0,  # the question names the document or what it is about
        "place": 3.0,  # the page or kind of element that it names
        "phrase": 3.0,  # what it quotes, word for word
        "chunk": 0.1,  # share of the question that all its blocks say
        "parent": 0.9,  # share of the question that the document's candidates say together
    }
)
_DENSE, _LEXICAL = ("dense", "dense inside"), ("lexical", "other")
# Another name of a thing counts a little less than the one that the question uses.
OTHER_NAME = 0.85
# A candidate so many standard deviations below the most similar one is not near at all.
FARTHEST = 8.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk as ranking sees it. `codes` are its sketch; `pages` count from 1."""

    id: str
    document_id: str
    ordinal: int
    element_type: ElementType
    pages: tuple[int, ...]
    codes: Codes


def score(features: Numbers) -> Numbers:
    """One number a row of `features_of`; higher is better."""
    scores: Numbers = features @ np.array([WEIGHTS[name] for name in FEATURES])
    return scores


@dataclass(frozen=True, slots=True)
class Features:
    """`matrix` has the shape (candidates, features). `support` is how much of the question each candidate says, where
    words that no candidate says weigh most: 0..1, comparable between questions.
    """

    matrix: Numbers
    support: Numbers


def features_of(
    asked: Asked,
    candidates: Sequence[Candidate],
    found: Mapping[str, Mapping[str, float]],
    documents: Mapping[str, float] = MappingProxyType({}),
) -> Features:
    """`found` maps `dense`, `lexical` and `other` to scores by chunk id, and with `… inside` those of a search for the
    rest of the question inside the documents that it names.

    `documents` says how surely the question is about a document, by its id, 0..1.
    """
    lexical = _of_best([[found.get(name, {}).get(each.id, 0.0) for each in candidates] for name in _LEXICAL])
    inside = _of_best([[found.get(f"{name} inside", {}).get(each.id, 0.0) for each in candidates] for name in _LEXICAL])
    dense = [_nearness([found.get(name, {}).get(each.id) for each in candidates]) for name in _DENSE]
    about = np.array([documents.get(each.document_id, 0.0) for each in candidates])
    texts = _Texts(asked, candidates)
    # Where a document was searched by itself, how well its name fits a passage says nothing of the passage.
    searched = (about > 0) & ("dense inside" in found)
    columns = {
        "dense": np.where(searched, dense[1], dense[0]),
        "lexical": np.where(searched, inside[0], lexical[0]),
        "other": np.where(searched, inside[1], lexical[1]),
        "document": about,
        "place": np.array([_place(asked, each) for each in candidates]),
        **texts.features(about),
    }
    # The page that is asked for is about the question, whatever its words.
    support = np.where(columns["place"] > 0, 1.0, texts.support)
    return Features(np.stack([columns[name] for name in FEATURES], axis=1), support)


@dataclass(slots=True)
class _Columns:
    """The question's codes, a column each: its own terms first, then those of other names."""

    codes: list[int] = field(default_factory=list)

    def add(self, terms: Sequence[str]) -> list[int]:
        places = []
        for number in map(code, terms):
            if number not in self.codes:
                self.codes.append(number)
            places.append(self.codes.index(number))
        return places


class _Texts:
    """The candidates' sketches against one question. A segment is a chunk's prefix or one of its blocks."""

    def __init__(self, asked: Asked, candidates: Sequence[Candidate]) -> None:
        self._candidates = candidates
        self.support = np.zeros(len(candidates))  # known once the features are
        columns = _Columns()
        self._own = columns.add(asked.terms)
        self._distinct = len(columns.codes)
        self._years = columns.add(asked.years)
        self._concepts = [
            (
                sorted({column for column in columns.add(each.own) if column < self._distinct}),
                [sorted({*columns.add(other)}) for other in each.others if other],
            )
            for each in asked.concepts
        ]
        amounts = [columns.add(each.own) for each in asked.concepts if each.is_amount]
        self._units = [(own[0], own[1:]) for own in amounts if max(own) < self._distinct]
        named = [term for each in asked.concepts for name in (each.own, *each.others) for term in name]
        self._cjk = frozenset(columns.add([term for term in named if not term.isascii()]))
        self._names = sorted({*columns.add(asked.name_terms)})
        self._phrases = [columns.add(phrase) for phrase in asked.phrases]
        lengths = [len(each.codes) for each in candidates]
        self._flat: Codes = np.concatenate([each.codes for each in candidates] or [np.zeros(0, np.uint32)])
        self._segment = np.cumsum(self._flat == BLOCK) - 1
        self._count = int(self._segment[-1]) + 1 if len(self._flat) else 0
        self._chunk = np.zeros(self._count, np.int64)
        self._chunk[self._segment] = np.repeat(np.arange(len(candidates)), lengths)
        # The first segment of each chunk that has any, and which chunk that is.
        self._starts = np.flatnonzero(np.diff(self._chunk, prepend=-1))
        self._begun = self._chunk[self._starts]
        self._column = _placed(self._flat, columns.codes)
        self._width = len(columns.codes)

    def features(self, about: Numbers) -> Mapping[str, Numbers]:
        """`about` says for each candidate how surely the question names its document."""
        count = len(self._candidates)
        names = ("coverage", "label", "order", "years", "phrase", "parent", "chunk")
        if not self._count or not self._own:
            return {name: np.zeros(count) for name in names}
        held = self._held()
        heads = np.zeros((count, self._width), bool)
        heads[self._begun] = held[self._starts]
        full = held | heads[self._chunk]
        said = self._said(full)
        # A document names its company once, perhaps on its cover alone, and is about it throughout.
        called = [column for column in self._names if column < self._distinct]
        said[:, called] = np.maximum(said[:, called], about[self._chunk, None])
        together, document = self._together(said)
        said[:, called] = np.maximum(said[:, called], together[document[self._chunk]][:, called])
        by_chunk = self._best(said)
        weights = self._weights(by_chunk)
        self.support = self._best(said @ self._weights(by_chunk, missing=True))
        shares = said @ weights
        tie = 0.02 * held[:, : self._distinct].sum(1) / np.maximum(np.bincount(self._segment, minlength=self._count), 1)
        return {
            "coverage": self._best(shares + np.minimum(tie, 0.02)),
            "label": self._labels(weights),
            "order": self._order(weights, full),
            "years": self._best(full[:, self._years].mean(1)) if self._years else np.zeros(count),
            "phrase": self._phrase(),
            "chunk": by_chunk @ weights,
            "parent": (together @ weights)[document],
        }

    def _held(self) -> Flags:
        held = np.zeros((self._count, self._width), bool)
        hits = self._column >= 0
        held[self._segment[hits], self._column[hits]] = True
        return held

    def _said(self, held: Flags) -> Numbers:
        """How much of each own term a segment says, by itself or by another name of the thing it belongs to."""
        said = held[:, : self._distinct].astype(float)
        for number, unit in self._units:
            said[:, unit] *= said[:, [number]]
        for (own, _), named in zip(self._concepts, self._named(held, self._concepts), strict=True):
            said[:, own] = np.maximum(said[:, own], OTHER_NAME * named[:, None])
        return said

    def _is_whole(self, own: Sequence[int], other: Sequence[int]) -> bool:
        """Whether one name says as much: `leases` is less than `operating leases`, 年假 no less than its English."""
        return len(other) >= len(own) or not own or (other[0] in self._cjk) != (own[0] in self._cjk)

    def _named(self, held: Flags, concepts: Sequence[tuple[list[int], list[list[int]]]]) -> Sequence[Flags]:
        """For each thing of the question the segments that say another name of it in full."""
        nowhere = np.zeros(self._count, bool)
        return [
            np.logical_or.reduce([nowhere, *(held[:, columns].all(1) for columns in others)]) for _, others in concepts
        ]

    def _weights(self, by_chunk: Numbers, *, missing: bool = False) -> Numbers:
        """Shares of the question by own term: rare ones among the candidates weigh more; those that none says weigh
        nothing, unless the `missing` are wanted: then they weigh most.
        """
        count = len(self._candidates)
        frequency = (by_chunk > 0).sum(0)
        weights = np.array([inverse_frequency(int(each), count) if each or missing else 0.0 for each in frequency])
        total = weights.sum()
        return weights / total if total else weights

    def _best(self, by_segment: Numbers) -> Numbers:
        """By candidate; segments stand in the order of the candidates, and none is below 0."""
        best = np.zeros((len(self._candidates), *by_segment.shape[1:]))
        best[self._begun] = np.maximum.reduceat(by_segment, self._starts, axis=0)
        return best

    def _labels(self, weights: Numbers) -> Numbers:
        """How much of a row's first cell is asked for, times how much of the question it is; the best row's."""
        marks = np.flatnonzero(self._flat == LABEL)
        if not len(marks):
            return np.zeros(len(self._candidates))
        ends = np.zeros(self._count, np.int64)
        ends[self._segment[marks]] = marks
        positions = np.arange(len(self._flat))
        inside = (positions < ends[self._segment]) & (self._flat > LABEL)
        sizes = np.bincount(self._segment[inside], minlength=self._count)
        hits = inside & (self._column >= 0)
        held = np.zeros((self._count, self._width), bool)
        held[self._segment[hits], self._column[hits]] = True
        counted = np.bincount(self._segment[hits], minlength=self._count)
        asked = self._said(held) @ weights
        return self._best(np.sqrt(np.minimum(counted / np.maximum(sizes, 1), 1.0) * asked))

    def _order(self, weights: Numbers, held: Flags) -> Numbers:
        """How much of the question stands in one segment as pairs of neighbours; a pair weighs what its words do."""
        table = np.zeros((self._width, self._width))
        for left, right in zip(self._own, self._own[1:], strict=False):
            if not (left in self._names and right in self._names):  # a name tells the document, not the passage
                table[left, right] = weights[left] + weights[right]
        total = table.sum()
        if not total:
            return np.zeros(len(self._candidates))
        first, second = self._column[:-1], self._column[1:]
        near = np.flatnonzero((first >= 0) & (second >= 0))
        near = near[table[first[near], second[near]] > 0]
        keys = np.unique(np.stack([self._segment[near], first[near], second[near]], axis=1), axis=0)
        gained = np.bincount(keys[:, 0], weights=table[keys[:, 1], keys[:, 2]], minlength=self._count)
        whole = [(own, [other for other in others if self._is_whole(own, other)]) for own, others in self._concepts]
        for (own, _), named in zip(whole, self._named(held, whole), strict=True):
            within = table[np.ix_(own, own)].sum()
            if within and named.any():  # in other words it stands in one piece, too
                gained = np.where(named, np.maximum(gained, OTHER_NAME * within), gained)
        return self._best(gained / total)

    def _phrase(self) -> Numbers:
        """The share of the quoted phrases that stand in the chunk word for word."""
        found = np.zeros(len(self._candidates))
        for phrase in self._phrases:
            here = np.ones(max(len(self._flat) - len(phrase) + 1, 0), bool)
            for offset, column in enumerate(phrase):
                here &= self._column[offset : offset + len(here)] == column
            holds = np.zeros(len(self._candidates), bool)
            holds[self._chunk[self._segment[: len(here)][here]]] = True
            found += holds
        return found / max(len(self._phrases), 1)

    def _together(self, said: Numbers) -> tuple[Numbers, NDArray[np.int64]]:
        """What all candidates of each document say, and each candidate's document as a row of it."""
        ids = [each.document_id for each in self._candidates]
        numbers = {document_id: number for number, document_id in enumerate(dict.fromkeys(ids))}
        document = np.array([numbers[document_id] for document_id in ids])
        together = np.zeros((len(numbers), self._distinct))
        np.maximum.at(together, document, self._best(said))
        return together, document


def _placed(flat: Codes, codes: Sequence[int]) -> NDArray[np.int64]:
    """For each code of the texts its column in the question, -1 where it has none."""
    if not codes or not len(flat):
        return np.full(len(flat), -1, np.int64)
    order = np.argsort(np.array(codes, np.uint32), kind="stable")
    sorted_codes = np.array(codes, np.uint32)[order]
    places = np.minimum(np.searchsorted(sorted_codes, flat), len(codes) - 1)
    return np.where(sorted_codes[places] == flat, order[places], -1)


def _nearness(values: Sequence[float | None]) -> Numbers:
    """1 for the highest, less by how many standard deviations of the known ones a value is lower; 0 for none known.

    So it means the same of every embedder, and does not hang on what the last of the neighbours was.
    """
    known = np.array([value for value in values if value is not None])
    if not len(known):
        return np.zeros(len(values))
    high, width = float(known.max()), FARTHEST * max(float(known.std()), 1e-6)
    return np.array([0.0 if value is None else max(1 - (high - value) / width, 0.0) for value in values])


def _of_best(rows: Sequence[Sequence[float]]) -> Numbers:
    """Scores of one scale as shares of the best of them all: the better way to say the question counts more."""
    scores: Numbers = np.maximum(np.array(rows, dtype=np.float64), 0.0)
    best = scores.max(initial=0.0)
    return scores / best if best > 0 else scores


def _place(asked: Asked, candidate: Candidate) -> float:
    """1 on a page that the question names, half that for its kind of element alone."""
    places = asked.places
    on_page = bool(places.pages.intersection(candidate.pages))
    of_kind = candidate.element_type in places.element_types
    return 0.75 * on_page + 0.25 * of_kind
