"""The answer model that needs no key: the best sentences and table rows of the materials, verbatim and cited."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Sequence

from kb_qa.answers import BlockCitation, Context, ModelEvent, ModelStop, Question, TextDelta
from kb_qa.extraction.candidates import Candidate, candidates
from kb_qa.extraction.growth import computed_growth
from kb_qa.extraction.relevance import is_about, is_on_page_about, is_outdone, strong, under_the_conditions
from kb_qa.extraction.request import Request, request_of
from kb_qa.extraction.rows import names_asked, said_row
from kb_qa.extraction.scales import counts_all, scales_of, stated
from kb_qa.extraction.wording import ONE_NAME, narrowed
from kb_qa.guardrails.languages import language_of

_MOST_BLOCKS = 3
_CLOSE_TO_BEST = 0.9


class ExtractiveModel:
    """Quotes at most three blocks; where none answers the question, it says nothing and stops with `no_evidence`.

    `cross_language` is the least dense similarity at which a block in another language is quoted, `with_code` the
    least one where the block also names a code or period of the question. Their words cannot
    overlap, and a wrong quotation is worse than a refusal: with multilingual-e5-small, right passages in the other
    language reach 0.79 to 0.85, and wrong ones of a near topic 0.82.
    """

    def __init__(self, *, cross_language: float = 0.86, with_code: float = 0.8) -> None:
        self._cross_language = cross_language
        self._with_code = with_code

    file_window = 0

    @property
    def id(self) -> str:
        return "extractive"

    async def generate(self, question: Question, context: Context) -> AsyncGenerator[ModelEvent]:
        chosen = await asyncio.to_thread(self.choose, question, context)
        for position, candidate in enumerate(chosen):
            text = spoken(candidate, question, context)
            yield TextDelta(f"\n{text}" if position else text)
            yield BlockCitation(candidate.material.number, candidate.index)
        if len(chosen) == 1 and (growth := _growth(chosen[0], question)):
            yield TextDelta(f"\n{growth}")
            yield BlockCitation(chosen[0].material.number, chosen[0].index)
        yield ModelStop("end_turn" if chosen else "no_evidence")

    def choose(self, question: Question, context: Context) -> tuple[Candidate, ...]:
        """The blocks to quote, best first."""
        for text in filter(None, (question.text, narrowed(question.text))):
            if chosen := self._chosen(request_of(text), question, context):
                return chosen
        return ()

    def _chosen(self, wanted: Request, question: Question, context: Context) -> tuple[Candidate, ...]:
        everything = under_the_conditions(candidates(wanted, context), wanted)
        about = [each for each in everything if is_about(each, wanted, context, question)]
        for possible in (about, [each for each in everything if is_on_page_about(each, wanted, context, question)]):
            found = [each for each in possible if strong(each, wanted, context)]
            found = [each for each in found if not is_outdone(each, wanted, everything)]
            if found:
                return tuple(_picked(found, wanted))
        return tuple(self._in_another_language(question, wanted, context, about))

    def _in_another_language(
        self, question: Question, wanted: Request, context: Context, about: Sequence[Candidate]
    ) -> Iterable[Candidate]:
        if not context.materials:
            return ()
        top = context.materials[0]
        coded = any(anchor.kind in {"code", "period"} for anchor in wanted.anchors)
        least = self._with_code if coded else self._cross_language
        if language_of(top.chunk.text) == question.language or top.hit.scores.get("dense", 0.0) < least:
            return ()
        fitting = [
            each for each in about if each.material is top and each.fit >= 0 and top.chunk.element_type != "image"
        ]
        fitting = [each for each in fitting if len(each.said) != 1]  # a heading in a table
        # Without common words nothing tells the blocks of a material apart: a few can be quoted, many cannot.
        return fitting if len(fitting) <= _MOST_BLOCKS else ()


def spoken(candidate: Candidate, question: Question, context: Context) -> str:
    """The block as the answer says it: prose verbatim; a table row as `header：cell` pairs, every piece as printed.

    Where the question names one column, only the row's first pair, that column's and the unit line are said; the unit
    line stands for none where it counts only some of the figures.
    """
    if not candidate.pairs:
        return " ".join(candidate.block.text.split())
    chinese = question.language == "zh"
    scales = scales_of(context.figures)
    unit = candidate.unit if counts_all(candidate.said, scales) else ""
    said = candidate.said if unit else stated(candidate.said, scales, chinese=chinese)
    return said_row(said, unit, chinese=chinese)


def _growth(candidate: Candidate, question: Question) -> str:
    return computed_growth(candidate.pairs, request_of(question.text), chinese=question.language == "zh")


def _picked(found: Sequence[Candidate], wanted: Request) -> list[Candidate]:
    """The best block, and those that answer a part of the question which the ones before do not."""
    picked = [found[0]]
    texts = {found[0].block.text}
    for candidate in found[1:]:
        if len(picked) == _MOST_BLOCKS:
            break
        held = frozenset().union(*(each.covered for each in picked))
        codes = frozenset().union(*(_codes(each, wanted) for each in picked))
        is_one = wanted.wants_figure or ONE_NAME.search(wanted.text) is not None
        close = candidate.score >= _CLOSE_TO_BEST * found[0].score and not is_one
        more = bool(candidate.covered - held) and not wanted.wants_figure
        also = more or _codes(candidate, wanted) - codes or close or _says_as_much(candidate, found[0], wanted)
        if candidate.block.text not in texts and also:
            picked.append(candidate)
            texts.add(candidate.block.text)
    return picked


def _says_as_much(candidate: Candidate, best: Candidate, wanted: Request) -> bool:
    """Whether it is another row of the same table about what is named: of two notices of a company, both are told."""
    headers, best_headers = ([header for header, _ in each.pairs] for each in (candidate, best))
    cells, best_cells = ({cell for _, cell in each.pairs if names_asked(cell, wanted)} for each in (candidate, best))
    return headers == best_headers and bool(cells & best_cells) and candidate.coverage == best.coverage


def _codes(candidate: Candidate, wanted: Request) -> frozenset[str]:
    """The codes and periods of the question that the block or its headings name."""
    text = candidate.text
    return frozenset(
        anchor.text for anchor in wanted.anchors if anchor.kind in {"code", "period"} and anchor.is_named_by(text)
    )
