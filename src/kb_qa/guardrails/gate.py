"""The gate: what a model writes, as it comes, becomes units that are checked; nothing passes it unchecked.

A pure state machine. For every way in which the same text is cut into deltas, the same units come out (invariant I4).
A policy of granularity `answer` holds them all until the answer is complete, and lets all of them out or none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from kb_qa.answers import BlockCitation, Context, ModelEvent, ModelStop, SpanEnd, TextDelta
from kb_qa.guardrails.answer_materials import bearing_block, block_facts, quoted_facts
from kb_qa.guardrails.carried import Carried
from kb_qa.guardrails.claims import Asked, asked_of
from kb_qa.guardrails.figures import Unit
from kb_qa.guardrails.languages import language_tag_of
from kb_qa.guardrails.materials import Materials
from kb_qa.guardrails.open_marks import MarkReader
from kb_qa.guardrails.outcome import FigureOutcome
from kb_qa.guardrails.policies import Policy
from kb_qa.guardrails.quantities import PERIOD_KINDS
from kb_qa.guardrails.replacements import Edit, edits, replaced
from kb_qa.guardrails.unit_ends import next_end

# Stop reasons of a model that came to its end by itself; after any other the last unit is a fragment.
COMPLETE = frozenset({"end_turn", "stop_sequence", "no_evidence"})
MOST_REFUSED = 3  # units; after that the model has lost its way
_NAMES = PERIOD_KINDS | {"id", "ref", "marker", "enum"}  # they name what is cited, and are no figures of it
_MOST_OPEN = 4000  # characters that wait for the citations of their span


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a unit that rests on one set of citations. `ends`: nothing more of its span follows."""

    text: str
    span: int
    citations: tuple[BlockCitation, ...] = ()
    ends: bool = False


@dataclass(frozen=True, slots=True)
class Settled:
    """A checked unit, number `number` (from 0). Its text is its pieces joined; figures and edits count in it.

    `instead` is what stands in its place where it is withheld; else its text is shown, with the edits.
    """

    number: int
    pieces: tuple[Piece, ...]
    figures: tuple[FigureOutcome, ...]
    withheld: bool = False
    instead: str = ""
    edits: tuple[Edit, ...] = ()

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)


@dataclass(slots=True)
class _Span:
    """A stretch of the text with the citations it rests on; open until `end` is known."""

    start: int
    end: int | None = None
    citations: dict[BlockCitation, None] = field(default_factory=dict)


class Gate:
    """One answer's gate. `feed` it the model's events in order; `stopped`: it wants no more of them."""

    def __init__(
        self, question: str, context: Context, materials: Materials, policy: Policy, *, language: str = ""
    ) -> None:
        """`language` is the tag of the texts that the reader is told; the question's own where it is left out."""
        self.context, self.materials, self.policy = context, materials, policy
        self.language = language or language_tag_of(question)
        self.asked: Asked = asked_of(question, locale=policy.locale, aliases=policy.aliases)
        self.stopped = False
        self.units = 0
        self.refused = 0
        self.longest = 0  # characters of a unit that was held
        self._marks = MarkReader()
        self._text = ""  # what has come and may be seen
        self._start = 0  # of what is not settled
        self._lead = ""  # of the sentence that was cut at the bound
        self._spans = [_Span(0)]
        self._carried = Carried()
        self._held: list[Settled] = []  # until the whole answer is known to pass

    def feed(self, event: ModelEvent) -> list[Settled]:
        """The units that this event settles, or lets out."""
        if self.stopped:
            return []
        settled = self._read(event)
        return settled if self.policy.granularity == "unit" else self._all_or_none(settled, event)

    def _all_or_none(self, settled: Sequence[Settled], event: ModelEvent) -> list[Settled]:
        """All units of a complete answer; of a refused one the unit that is the reason; of a cut one none."""
        self._held += settled
        if self.stopped:
            return [replace(unit, instead="") for unit in self._held if unit.withheld]  # the refusal stands for all
        if not isinstance(event, ModelStop) or event.stop_reason not in COMPLETE:
            return []
        return self._held

    def _read(self, event: ModelEvent) -> list[Settled]:
        match event:
            case TextDelta():
                return self._taken(self._marks.feed(event.text))
            case BlockCitation():
                settled = self._taken(self._marks.flush())
                self._spans[-1].citations[event] = None
                return settled
            case SpanEnd():
                settled = self._taken(self._marks.flush())
                self._close_span()
                return settled + self._settled(ended=False)
            case ModelStop():
                settled = self._taken(self._marks.flush())
                self._close_span()
                return settled + self._settled(ended=event.stop_reason in COMPLETE)
            case _:
                assert_never(event)

    def _taken(self, text: str) -> list[Settled]:
        if not text:
            return []
        last = self._spans[-1]
        if last.citations and last.start < len(self._text):
            self._close_span()  # text behind a cited text rests on citations of its own
        self._text += text
        return self._settled(ended=False)

    def _close_span(self) -> None:
        last = self._spans[-1]
        if last.start < len(self._text):
            last.end = len(self._text)
            self._spans.append(_Span(len(self._text)))
        else:
            last.citations.clear()

    def _settled(self, *, ended: bool) -> list[Settled]:
        settled: list[Settled] = []
        while not self.stopped:
            found = next_end(self._text[self._start :], ended=ended)
            if found is None or (ended and not self._text[self._start :].strip()):
                break
            end = self._start + found[0]
            if not self._is_known(end):
                break
            settled.append(self._unit(end, cut=found[1]))
        return settled

    def _is_known(self, end: int) -> bool:
        """Whether all citations of the unit are known; one that waits too long is checked with those that are."""
        if len(self._text) - self._start >= _MOST_OPEN:
            return True
        return all(span.end is not None for _, span in self._spans_of(self._start, end))

    def _spans_of(self, start: int, end: int) -> Iterable[tuple[int, _Span]]:
        """The spans under what is printed of `[start, end)`, with their numbers."""
        text = self._text[start:end]
        first, last = start + len(text) - len(text.lstrip()), start + len(text.rstrip())
        for number, span in enumerate(self._spans):
            if span.start < last and (span.end is None or span.end > first):
                yield number, span

    def _unit(self, end: int, *, cut: bool) -> Settled:
        start, self._start = self._start, end
        text = self._text[start:end]
        figures = self._checked(start, end)
        number, self.units = self.units, self.units + 1
        self.longest = max(self.longest, len(text))
        numbers = [int(each.number) for each in figures if each.number]
        self._carried = self._carried.after(text, numbers, locale=self.policy.locale, aliases=self.policy.aliases)
        self._lead = self._lead + text if cut else ""
        pieces = self._bearing(tuple(self._pieces(start, end)), figures, self._citations(start, end))
        if any(self.policy.withholds(each) for each in figures):
            self._refuse(number, figures)
            return Settled(number, pieces, figures, withheld=True, instead=replaced(text, figures, self.language))
        return Settled(number, pieces, figures, edits=edits(figures, self.policy))

    def _refuse(self, number: int, figures: Sequence[FigureOutcome]) -> None:
        """The model is stopped when it has lost its way (after three units, or a first one without any bound fact), and
        where nothing of its answer can be shown any more.
        """
        self.refused += 1
        bound = any(each.supported and each.support for each in figures)
        lost = self.refused >= MOST_REFUSED or (number == 0 and not bound)
        self.stopped = lost or self.policy.granularity == "answer"

    def _checked(self, start: int, end: int) -> tuple[FigureOutcome, ...]:
        """A piece of a sentence is checked with what the sentence says before it, a table's row under its headers."""
        before = len(self._lead)
        text = self._lead + self._text[start:end]
        citations = self._citations(start, end)
        policy = self.policy
        read = self._carried.table.read(text)
        expressions = self._expressions(start - before, start, end)
        unit = Unit(
            text=read.text,
            materials=self.materials,
            asked=self._carried.asked_for(text, self.asked, locale=policy.locale, aliases=policy.aliases),
            language=self.language,
            expressions={read.forward(place): said for place, said in expressions.items()},
            enumerator=self._carried.enumerator,
            policy=policy,
            cited=frozenset(each.material for each in citations),
            block_facts=tuple(block_facts(citations, self.context, self.materials)),
            quoted=tuple(quoted_facts(text, citations, self.context, self.materials)),
        )
        placed = [(each, read.back(each.start, each.end)) for each in unit.checked()]
        return tuple(
            replace(each, start=max(place[0] - before, 0), end=place[1] - before)
            for each, place in placed
            if place is not None and place[1] > before
        )

    def _citations(self, start: int, end: int) -> list[BlockCitation]:
        """Of all spans under the unit; a block that was never given is none."""
        found: dict[BlockCitation, None] = {}
        for _, span in self._spans_of(start, end):
            found |= {each: None for each in span.citations if self._is_given(each)}
        return [*found]

    def _is_given(self, citation: BlockCitation) -> bool:
        try:
            self.context.block(citation.material, citation.block)
        except IndexError:
            return False
        return True

    def _expressions(self, origin: int, start: int, end: int) -> Mapping[int, str]:
        return {place - origin: said for place, said in self._marks.expressions.items() if start < place <= end}

    def _bearing(
        self, pieces: tuple[Piece, ...], figures: Sequence[FigureOutcome], cited: Sequence[BlockCitation]
    ) -> tuple[Piece, ...]:
        """Pieces whose figures rest on other blocks of what the unit cites cite those blocks, too."""
        added: dict[int, list[BlockCitation]] = {}
        for figure in figures:
            if not figure.support or figure.kind in _NAMES:
                continue
            block = bearing_block(figure.support[0], cited, self.context, self.materials)
            if block is not None:
                added.setdefault(_piece_at(pieces, figure.start), []).append(block)
        return tuple(
            replace(piece, citations=tuple(dict.fromkeys((*piece.citations, *added.get(index, ())))))
            for index, piece in enumerate(pieces)
        )

    def _pieces(self, start: int, end: int) -> Iterable[Piece]:
        """The unit, span by span."""
        for number, span in enumerate(self._spans):
            stop = len(self._text) if span.end is None else span.end
            first, last = max(start, span.start), min(end, stop)
            if first < last:
                ends = span.end is not None and not self._text[last:stop].strip()
                given = tuple(each for each in span.citations if self._is_given(each))
                yield Piece(self._text[first:last], number, given, ends)


def _piece_at(pieces: Sequence[Piece], place: int) -> int:
    """The number of the piece that holds character `place` of the unit."""
    end = 0
    for index, piece in enumerate(pieces):
        end += len(piece.text)
        if place < end:
            return index
    return len(pieces) - 1
