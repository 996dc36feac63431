"""Claims → checked, cited events: every figure held against the cited blocks, every block led back to its words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from kb_qa.answers import (
    AnswerEvent,
    BlockCitation,
    Citation,
    Context,
    Figure,
    Located,
    ModelStop,
    Question,
    Refusal,
)
from kb_qa.citation import build_citation, level_on
from kb_qa.elements import Block, Chunk
from kb_qa.generate import Claim
from kb_qa.guardrails.check import check_unit
from kb_qa.guardrails.evidence import Evidence, evidence_of
from kb_qa.guardrails.languages import language_tag_of
from kb_qa.guardrails.units import split_units
from kb_qa.locate import block_rects
from kb_qa.protocols import Library
from kb_qa.references import Numbering, Reference, TextStyle, collapsed
from kb_qa.refuse import after_generation
from kb_qa.transcript import Transcript

Cited = tuple[Chunk, Block]
STYLE = TextStyle()


@dataclass(slots=True)
class AnswerWriter:
    """Writes one answer's claims into its transcript. Blocking: call it off the event loop."""

    question: Question
    context: Context
    library: Library
    transcript: Transcript
    numbering: Numbering[Cited] = field(default_factory=lambda: Numbering(_quotation))
    citations: dict[int, Citation] = field(default_factory=dict)
    released: bool = False
    enumerator: int = 0  # the last list number, so that a figure cannot pass for the next one
    dropped: int = 0  # citations of materials that were never given

    def write(self, claim: Claim) -> Sequence[AnswerEvent]:
        """The claim's events: text that passed, its citations and figures, and what was withheld."""
        cited = [*self._cited(claim)]
        evidence = [evidence_of(chunk, block) for chunk, block in cited]
        first, before = len(self.transcript.events), self.transcript.length
        figures = self._release(claim.text, evidence)
        said = "".join(str(event.data["text"]) for event in self.transcript.events[first:] if event.event == "delta")
        if said.strip():
            self.released = True
            start = before + len(said) - len(said.lstrip())
            borne_out = any(figure.status == "exact" for figure, _ in figures)
            self._cite(cited, (start, before + len(said.rstrip())), figures=borne_out)
        for figure, offset in figures:
            self.transcript.figure(figure, offset=offset)
        return self.transcript.events[first:]

    def refusal(self, stop: ModelStop) -> Refusal | None:
        withheld = self.transcript.withheld_sentences > 0
        return after_generation(self.question, stop, released=self.released, withheld=withheld)

    def close(self, stop: ModelStop) -> Iterator[AnswerEvent]:
        """The last events of an answer, refused or not."""
        items = [self._reference(number) for number in sorted(self.citations)]
        yield self.transcript.references(
            style="text", text=STYLE.listing(items), items=[self._reference_data(item) for item in items]
        )
        yield self.transcript.usage(stop.usage)
        yield self.transcript.end(stop)

    def _cited(self, claim: Claim) -> Iterator[Cited]:
        """By position (S1.3): documents in the order of their best material, each from its start to its end."""
        placed: list[tuple[BlockCitation, Cited]] = []
        for citation in claim.citations:
            try:
                block = self.context.block(citation.material, citation.block)
            except IndexError:
                self.dropped += 1
            else:
                placed.append((citation, (self.context.materials[citation.material - 1].chunk, block)))
        best: dict[str, int] = {}
        for citation, (chunk, _) in placed:
            best[chunk.document_id] = min(citation.material, best.get(chunk.document_id, citation.material))
        placed.sort(key=lambda each: (best[each[1][0].document_id], each[1][0].ordinal, each[0].block))
        yield from (cited for _, cited in placed)

    def _release(self, text: str, evidence: Sequence[Evidence]) -> list[tuple[Figure, int]]:
        """Sentence by sentence; the figures of what passed, each with the offset its span counts from."""
        figures: list[tuple[Figure, int]] = []
        passed = ""
        for start, end in split_units(text):
            verdict = check_unit(
                text[start:end],
                evidence,
                language=language_tag_of(self.question.text),
                question=self.question.text,
                materials=len(self.context.materials),
                enumerator=self.enumerator,
            )
            numbers = (
                each
                for each in verdict.figures
                if each.kind == "enum" and each.status == "exempt" and each.value.isdigit()
            )
            self.enumerator = next((int(each.value) for each in numbers), self.enumerator)
            if verdict.released:
                figures += [(figure, self.transcript.length + len(passed)) for figure in verdict.figures]
                passed += verdict.text
                continue
            if passed:
                self.transcript.delta(passed)
            passed = ""
            self.transcript.withheld(verdict.text, verdict.figures)
        if passed:
            self.transcript.delta(passed)
        return figures

    def _cite(self, cited: Sequence[Cited], span: tuple[int, int], *, figures: bool) -> None:
        """Markers behind the claim, then one citation event a block. `figures` says whether the claim holds any."""
        citations = [self._citation(chunk, block, span, figures=figures) for chunk, block in cited]
        numbers = dict.fromkeys(citation.number for citation in citations)
        if numbers:
            markers = "".join(STYLE.marker(Reference(number, "")) for number in numbers)
            self.transcript.delta(f" {markers}")
        for citation in citations:
            self.citations.setdefault(citation.number, citation)
            self.transcript.citation(citation)

    def _citation(self, chunk: Chunk, block: Block, span: tuple[int, int], *, figures: bool) -> Citation:
        quality = self.transcript.quality(chunk.document_id, block.regions or chunk.regions)
        citation = build_citation(
            chunk,
            block,
            number=self.numbering.number((chunk, block)),
            span=span,
            language=self.question.language,
            level=level_on(quality, self.question.level, figures=figures),
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


def _quotation(cited: Cited) -> tuple[str, str]:
    """The same quote of the same document keeps one number (S1.3)."""
    chunk, block = cited
    return chunk.document_id, collapsed(block.text)
