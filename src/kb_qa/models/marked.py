"""The answer model for endpoints without citations: it writes markers, and its quotations are checked.

A marker names a material; which of the material's blocks bear the sentence out is decided here, by what it says.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import AsyncGenerator, Collection, Iterator, Sequence
from contextlib import aclosing

from kb_qa.answers import BlockCitation, Context, Material, ModelEvent, ModelStop, Question, SpanEnd, TextDelta
from kb_qa.elements import Block
from kb_qa.folding import fold
from kb_qa.guardrails.languages import language_of, language_tag_of
from kb_qa.guardrails.lexer import lex
from kb_qa.guardrails.names import is_printed
from kb_qa.guardrails.units import split_units
from kb_qa.markers import Mark, MarkerStream, Part
from kb_qa.models.cited_places import CitedPages
from kb_qa.models.replies import RefusalWatch
from kb_qa.models.requests import Beside, ModelOptions, marked_request
from kb_qa.models.upstream import Upstream
from kb_qa.prompts import ledger_texts
from kb_qa.terms import inverse_frequency, terms

_QUOTATION = re.compile(r"“([^“”]{4,400})”|\"([^\"\n]{4,400})\"|「([^「」]{2,400})」|『([^『』]{2,400})』")
_CLOSE_TO_BEST = 0.75
_LEAST_SHARE = 0.2  # of a sentence's terms that a block in its language must hold


class MarkersModel:
    """Sentence by sentence: one with a marker is cited, one without is not."""

    file_window = 0

    def __init__(self, options: ModelOptions, upstream: Upstream) -> None:
        self._options = options
        self._upstream = upstream

    @property
    def id(self) -> str:
        return self._options.model_id

    async def generate(self, question: Question, context: Context) -> AsyncGenerator[ModelEvent]:
        request = marked_request(
            question, context, self._options, Beside(instructions=ledger_texts(context, question.language))
        )
        chunks = tuple(material.chunk.id for material in context.materials)
        watch, sentences = RefusalWatch(language_tag_of(question.text)), MarkedSentences(context)
        async with aclosing(self._upstream.events(request, lambda _: (), question.language, chunks)) as events:
            async for event in events:
                if isinstance(event, CitedPages):
                    continue  # nothing was sent that has pages
                for passed in watch.passed(event):
                    for told in sentences.told(passed):
                        yield told


class MarkedSentences:
    """A model's text with markers → its sentences, each with the blocks that its markers lead to."""

    def __init__(self, context: Context) -> None:
        self._materials = {material.number: material for material in context.materials}
        self._markers = MarkerStream(self._materials)
        self._text = ""  # sentences that may still go on, or still get a marker
        self._marks: list[tuple[int, int]] = []  # (length of the text before it, material)

    @property
    def dropped(self) -> int:
        """Markers of materials that were never given."""
        return self._markers.dropped

    def told(self, event: ModelEvent) -> Iterator[ModelEvent]:
        match event:
            case TextDelta():
                self._add(self._markers.feed(event.text))
                yield from self._sentences(last=False)
            case ModelStop():
                self._add(self._markers.close())
                yield from self._sentences(last=True)
                yield event
            case _:  # the spans of the endpoint's own text blocks say nothing here
                return

    def _add(self, parts: Sequence[Part]) -> None:
        for part in parts:
            if isinstance(part, Mark):
                self._text = self._text.rstrip(" ") if self._text.strip() else self._text
                self._marks.append((len(self._text), part.id))
            else:
                self._text += part

    def _sentences(self, *, last: bool) -> Iterator[ModelEvent]:
        """Those that are whole: the last one only at the end, because a marker may follow it."""
        units = split_units(self._text)
        whole = units if last else units[:-1]
        for start, end in whole:
            numbers = [number for place, number in self._marks if start < place <= end]
            text = self._text[start:end]
            yield TextDelta(text)
            yield from self._cited(text, dict.fromkeys(numbers))
            yield SpanEnd()
        done = whole[-1][1] if whole else 0
        self._text = self._text[done:]
        self._marks = [(place - done, number) for place, number in self._marks if place > done]

    def _cited(self, sentence: str, numbers: Collection[int]) -> Iterator[BlockCitation]:
        """Nothing where a quotation of the sentence stands in none of its materials."""
        materials = [self._materials[number] for number in numbers]
        quotations = [fold(next(filter(None, match.groups()))).text for match in _QUOTATION.finditer(sentence)]
        printed = [fold(material.chunk.text).text for material in materials]
        if all(any(quotation in text for text in printed) for quotation in quotations):
            for material in materials:
                yield from (BlockCitation(material.number, index) for index in bearing_blocks(sentence, material))


def bearing_blocks(sentence: str, material: Material) -> Sequence[int]:
    """The blocks of a material that a sentence can rest on: those that share most of what it says, and, for a figure
    that none of them prints, the first that does.

    Words that all the blocks share, such as a table's headers, count little. In another language no words are shared:
    then the blocks that print its figures, else all of the material.
    """
    blocks = material.chunk.blocks
    wanted = frozenset(terms(sentence))
    held = [wanted.intersection(terms(_said(block))) for block in blocks]
    near: list[int] = []
    if wanted and max(map(len, held), default=0) >= _LEAST_SHARE * len(wanted):
        frequency = Counter(term for each in held for term in each)
        weights = {term: inverse_frequency(count, len(blocks)) for term, count in frequency.items()}
        scores = [sum(weights[term] for term in sorted(each)) for each in held]
        near = [index for index, score in enumerate(scores) if score >= _CLOSE_TO_BEST * max(scores)]
    for raw in (each.raw for each in lex(sentence) if each.role == "figure"):
        if not any(is_printed(raw, _said(blocks[index])) for index in near):
            near += next(([index] for index, block in enumerate(blocks) if is_printed(raw, _said(block))), [])
    if not near and language_of(sentence) != language_of(material.chunk.text):
        return range(len(blocks))
    return sorted(near)


def _said(block: Block) -> str:
    return block.labelled or block.text
