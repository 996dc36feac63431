"""Settled units → cited events: what passed the gate, with every block led back to its words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from kb_qa.answers import (
    AnswerEvent,
    BlockCitation,
    Citation,
    Context,
    Located,
    ModelEvent,
    ModelStop,
    Question,
    Refusal,
)
from kb_qa.citation import build_citation, level_on
from kb_qa.elements import Block, Chunk
from kb_qa.guardrails.gate import Gate, Piece, Settled
from kb_qa.guardrails.messages import uncited_text
from kb_qa.locate import block_rects
from kb_qa.protocols import Library
from kb_qa.references import Numbering, Reference, TextStyle, collapsed
from kb_qa.refuse import after_generation
from kb_qa.transcript import Transcript

Cited = tuple[Chunk, Block]
STYLE = TextStyle()
# The stop reason of an answer that the guard broke off.
WITHHELD = "withheld"


@dataclass(slots=True)
class _Claim:
    """What was released of one span of the model's, until its markers stand behind it."""

    span: int
    start: int
    end: int
    citations: tuple[BlockCitation, ...]
    figures: bool = False


@dataclass(slots=True)
class AnswerWriter:
    """Writes what passes the gate into one answer's transcript. Blocking: call it off the event loop."""

    question: Question
    context: Context
    library: Library
    transcript: Transcript
    gate: Gate
    numbering: Numbering[Cited] = field(default_factory=lambda: Numbering(_quotation))
    citations: dict[int, Citation] = field(default_factory=dict)
    stop: ModelStop = field(default_factory=lambda: ModelStop("end_turn"))
    released: bool = False
    _claim: _Claim | None = None
    _space: str = ""  # between what was written and what comes next: markers stand before it

    def write(self, event: ModelEvent) -> Sequence[AnswerEvent]:
        """What an event of the model's leads to: text that passed, its citations and figures, and what was withheld."""
        first = len(self.transcript.events)
        for unit in self.gate.feed(event):
            if unit.withheld:
                self._withhold(unit)
            else:
                self._release(unit)
        if isinstance(event, ModelStop):
            self.stop = event
        if self.gate.stopped:
            self.stop = ModelStop(WITHHELD, self.stop.usage)
        if isinstance(event, ModelStop) or self.gate.stopped:
            self._finish_claim()
        return self.transcript.events[first:]

    def refusal(self) -> Refusal | None:
        withheld = self.transcript.withheld_sentences > 0
        return after_generation(self.question, self.stop, released=self.released, withheld=withheld)

    def close(self) -> Iterator[AnswerEvent]:
        """The last events of an answer, refused or not."""
        items = [self._reference(number) for number in sorted(self.citations)]
        yield self.transcript.references(
            style="text", text=STYLE.listing(items), items=[self._reference_data(item) for item in items]
        )
        yield self.transcript.usage(self.stop.usage)
        stats = {"units": self.gate.units, "held_chars_max": self.gate.longest}
        yield self.transcript.end(self.stop, stats)

    def _withhold(self, unit: Settled) -> None:
        self._finish_claim()
        self.transcript.withheld(f"{self._space}{unit.instead}", unit.figures, unit=unit.number)
        self._space = ""

    def _release(self, unit: Settled) -> None:
        """The unit's text piece by piece, markers behind the pieces that end a claim, then its figures."""
        places: list[int] = []  # in the answer, of each character of the unit
        offset = 0
        for piece in unit.pieces:
            self._write_piece(piece, unit, offset, places)
            offset += len(piece.text)
        for figure in unit.figures:
            span = (places[figure.start], places[figure.end - 1] + 1) if figure.start < figure.end else (0, 0)
            self.transcript.figure(figure, unit=unit.number, span=span)
        if _is_uncited(unit):
            shown = unit.text.strip()
            start = unit.text.index(shown)
            span = places[start], places[start + len(shown) - 1] + 1
            self.transcript.uncited(span, uncited_text(self.gate.language))

    def _write_piece(self, piece: Piece, unit: Settled, offset: int, places: list[int]) -> None:
        body = piece.text.strip()
        lead = piece.text[: len(piece.text) - len(piece.text.lstrip())] if body else piece.text
        if self._claim is not None and self._claim.span != piece.span:
            self._finish_claim()
        self._space += lead
        places += [self.transcript.length] * len(lead)
        if not body:
            return
        start = self.transcript.length + len(self._space)
        shown, at = _edited(body, offset + len(lead), unit)
        places += [start + each for each in at]
        self.transcript.delta(f"{self._space}{shown}")
        self.released = True
        self._space = piece.text[len(lead) + len(body) :]
        places += [self.transcript.length] * len(self._space)
        self._claim = self._claim or _Claim(piece.span, start, 0, piece.citations)
        self._claim.citations = tuple(dict.fromkeys((*self._claim.citations, *piece.citations)))
        self._claim.end = self.transcript.length
        inside = range(offset, offset + len(piece.text))
        self._claim.figures |= any(each.support and each.start in inside for each in unit.figures)
        if piece.ends:
            self._finish_claim()

    def _finish_claim(self) -> None:
        """Markers behind the claim, then one citation event a block."""
        claim, self._claim = self._claim, None
        if claim is None:
            return
        cited = self._cited(claim.citations)
        citations = [self._citation(*each, claim) for each in cited]
        markers = "".join(dict.fromkeys(map(self._marker, citations)))
        if markers:
            self.transcript.delta(f" {markers}")
        for citation in citations:
            self.citations.setdefault(citation.number, citation)
            self.transcript.citation(citation)

    def _marker(self, citation: Citation) -> str:
        """The page, where one document is asked about as a whole (S3.2); else the number."""
        if self.question.whole and citation.regions:
            return f"[p.{citation.regions[0].page}]"
        return STYLE.marker(Reference(citation.number, ""))

    def _cited(self, citations: Sequence[BlockCitation]) -> Sequence[Cited]:
        """By position (S1.3): documents in the order of their best material, each from its start to its end."""
        placed = [
            (each, self.context.materials[each.material - 1].chunk, self.context.block(each.material, each.block))
            for each in citations
        ]
        best: dict[str, int] = {}
        for citation, chunk, _ in placed:
            best[chunk.document_id] = min(citation.material, best.get(chunk.document_id, citation.material))
        placed.sort(key=lambda each: (best[each[1].document_id], each[1].ordinal, each[0].block))
        return [(chunk, block) for _, chunk, block in placed]

    def _citation(self, chunk: Chunk, block: Block, claim: _Claim) -> Citation:
        quality = self.transcript.quality(chunk.document_id, block.regions or chunk.regions)
        citation = build_citation(
            chunk,
            block,
            number=self.numbering.number((chunk, block)),
            span=(claim.start, claim.end),
            language=self.question.language,
            level=level_on(quality, self.question.level, figures=claim.figures),
        )
        return replace(citation, located=self._located(block))

    def _located(self, block: Block) -> Located:
        """The rectangles of the block's words. Text without geometry is found as text; a lost element is not found."""
        element = self.library.element(block.element_id)
        if element is None or element.text[block.start : block.end] != block.text:
            return Located(found=False)
        located = block_rects(element, block.start, block.end)
        return located if located.found else Located(found=True, method="text")

    def _reference(self, number: int) -> Reference:
        citation = self.citations[number]
        return Reference(number, citation.label, citation.cited_text)

    def _reference_data(self, item: Reference) -> dict[str, object]:
        citation = self.citations[item.number]
        return {
            "number": item.number,
            "label": item.title,
            "cited_text": collapsed(item.quote),
            "document": citation.document,
            "document_id": citation.document_id,
        }


def _is_uncited(unit: Settled) -> bool:
    """Whether a unit states something that nothing bears out; what leads over (`In short:`) states nothing."""
    said = unit.text.strip()
    if any(piece.citations for piece in unit.pieces) or any(each.support or each.derivation for each in unit.figures):
        return False
    return any(character.isalpha() for character in said) and not said.endswith((":", "："))


def _quotation(cited: Cited) -> tuple[str, str]:
    """The same quote of the same document keeps one number (S1.3)."""
    chunk, block = cited
    return chunk.document_id, collapsed(block.text)


def _edited(body: str, offset: int, unit: Settled) -> tuple[str, list[int]]:
    """`body`, which stands at `offset` in the unit, as it is shown, and where each of its characters stands in that."""
    parts: list[str] = []
    at: list[int] = []
    position = length = 0
    for edit in unit.edits:
        start, end = edit.start - offset, edit.end - offset
        if start < position or not 0 < end <= len(body):
            continue
        at += range(length, length + start - position)
        parts += [body[position:start], edit.text]
        length += start - position
        at += [length] * (end - start)
        length += len(edit.text)
        position = end
    at += range(length, length + len(body) - position)
    return "".join([*parts, body[position:]]), at
