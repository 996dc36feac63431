"""The answer model that needs no key: the best sentences and table rows of the materials, verbatim and cited."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import AsyncGenerator, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from kb_qa.answers import BlockCitation, Context, Material, ModelEvent, ModelStop, Question, TextDelta
from kb_qa.elements import Block
from kb_qa.guardrails.languages import language_of
from kb_qa.guardrails.lexer import lex
from kb_qa.guardrails.names import is_printed
from kb_qa.guardrails.quantities import PERIOD_KINDS, Kind
from kb_qa.guardrails.questions import Anchor, anchors
from kb_qa.terms import inverse_frequency, terms

# Words of a question that say what is asked for, not what it is about.
_ASKING = frozenset(
    "mani much percentag percent proport pleas tell give list show find name number amount accord mention state total"
    " return after befor dure within per each 请问 告诉 介绍 说明 列出 根据 一下 数量 金额 分别 各 比例 百分比 多 大 是"
    " 有 钱 soon came come".split()
)
_BOILERPLATE = re.compile(r"(?i)[^.?!]*\bif\b[^.?!]*\b(?:return|answer|respond|reply)\b[^.?!]*[.?!]?")
_WANTS_DATE = re.compile(r"(?ai)\bwhen\b|\bwhat (?:date|day|year)\b|何时|什么时候|哪一?[天年]|日期|几[号月]")
_WANTS_PERCENT = re.compile(r"(?ai)percent|%|\b(?:rate|ratio|share|margin)\b|比例|占比|百分|率")
_WANTS_FIGURE = re.compile(
    r"(?ai)\bhow (?:many|much|long|often|far|large|big|old)\b|\b(?:number|amount|total|value"
    r"|price|cost|salary|quantity|maximum|minimum)\b|\bhow soon\b"
    r"|\bwhat (?:is|are|was|were)\b.*\b(?:revenues?|sales|income|profits?|expenses?|earnings|assets|liabilities|debts?"
    r"|cash|dividends?|tax(?:es)?|limit|allowance|fee|budget|margins?|charges?|headcount|period|deadline)\b"
    r"|多少|几|多久|多长|多大|金额|总额|数量|上限|下限|标准"
)
# Columns and cells that a table's unit line does not count.
_UNSCALED = re.compile(
    r"(?ai)%|\b(?:ratio|rate|share|days?|headcount|employees)\b|系数|比例|占比|比率|率|天数|人数|每股"
)
_PERIODS_AND_NAMES = PERIOD_KINDS | {"id", "ref", "marker", "enum", "ordinal"}
_MOST_BLOCKS = 3
_ROW_CODE_BONUS, _ROW_HEADER_BONUS, _ROW_STRENGTH = 0.5, 0.3, 0.2
_FIGURE_BONUS, _KIND_BONUS, _NO_FIGURE = 0.1, 0.1, -0.25
_RANK_BONUS = 0.08
_CLOSE_TO_BEST = 0.9
_FLOOR = 0.5
_HEADING_SHARE = 0.66


@dataclass(frozen=True, slots=True)
class _Candidate:
    material: Material
    index: int
    covered: frozenset[str]  # terms of the question that the block or its headings hold
    coverage: float  # the share of the question's weight that they are, 0..1
    score: float
    fit: float  # of the block's figures to what the question asks for; below 0: it asks for one and gets none
    row_header: bool  # the question names the table row

    @property
    def strength(self) -> float:
        """The evidence that the block answers the question: its coverage, and more where its row is named."""
        return self.coverage + (_ROW_STRENGTH if self.row_header else 0.0)

    @property
    def block(self) -> Block:
        return self.material.chunk.blocks[self.index]

    @property
    def unit(self) -> str:
        """The line that says what a table row's figures are counted in: it ends the row and stands above the table."""
        line = self.block.labelled.rpartition(" | ")[2]
        return line if line in self.material.chunk.prefix.splitlines() else ""


class ExtractiveModel:
    """Quotes at most three blocks; where none covers the question, it says nothing and stops with `no_evidence`.

    `coverage` is the least share of the question's weighted content terms that a quoted block must hold; a term in its
    headings counts two thirds. `cross_language` is the least dense similarity at which a block in another language is
    quoted, `with_code` the least one where the block also names a code or period of the question. Their words cannot
    overlap, and a wrong quotation is worse than a refusal: with multilingual-e5-small, right passages in the other
    language reach 0.79 to 0.85, and wrong ones of a near topic 0.82.
    """

    def __init__(self, *, coverage: float = 0.6, cross_language: float = 0.86, with_code: float = 0.8) -> None:
        self._coverage = coverage
        self._cross_language = cross_language
        self._with_code = with_code

    file_window = 0

    @property
    def id(self) -> str:
        return "extractive"

    async def generate(self, question: Question, context: Context) -> AsyncGenerator[ModelEvent]:
        chosen = await asyncio.to_thread(self.choose, question, context)
        for position, candidate in enumerate(chosen):
            text = spoken(candidate.block, question, unit=candidate.unit)
            yield TextDelta(f"\n{text}" if position else text)
            yield BlockCitation(candidate.material.number, candidate.index)
        yield ModelStop("end_turn" if chosen else "no_evidence")

    def choose(self, question: Question, context: Context) -> tuple[_Candidate, ...]:
        """The blocks to quote, best first."""
        asked = anchors(question.text)
        wanted = _wanted(question.text, asked, context)
        everything = sorted(
            _candidates(question.text, wanted, context),
            key=lambda each: (-each.score, each.material.number, each.index),
        )
        candidates = [each for each in everything if _is_about(each, asked, context, question)]
        for possible in (
            candidates,
            [each for each in everything if _is_on_page_about(each, asked, context, question)],
        ):
            strong = [each for each in possible if each.strength >= self._coverage and each.fit >= 0]
            if strong:
                return tuple(_picked(strong, asked, is_figure_question=wants_figure(question.text)))
        return tuple(self._in_another_language(question, context, candidates))

    def _in_another_language(
        self, question: Question, context: Context, candidates: Sequence[_Candidate]
    ) -> Iterable[_Candidate]:
        if not context.materials:
            return ()
        top = context.materials[0]
        coded = any(anchor.kind in {"code", "period"} for anchor in anchors(question.text))
        least = self._with_code if coded else self._cross_language
        if language_of(top.chunk.text) == question.language or top.hit.scores.get("dense", 0.0) < least:
            return ()
        fitting = [each for each in candidates if each.material is top and each.fit >= 0]
        # Without common words nothing tells the blocks of a material apart: a few can be quoted, many cannot.
        return fitting if len(fitting) <= _MOST_BLOCKS else ()


def content_terms(question: str) -> frozenset[str]:
    """The index terms that say what the question is about."""
    return frozenset(terms(_BOILERPLATE.sub(" ", question))) - _ASKING


def wants_figure(question: str) -> bool:
    return any(pattern.search(question) for pattern in (_WANTS_FIGURE, _WANTS_PERCENT, _WANTS_DATE))


def spoken(block: Block, question: Question, *, unit: str = "") -> str:
    """The block as the answer says it: prose verbatim; a table row as `header：cell` pairs, every piece as printed.

    Where the question names one column, only the row's first pair, that column's and the unit line are said.
    """
    pairs = _pairs(block, unit)
    if not pairs:
        return " ".join(block.text.split())
    said = _asked_pairs(pairs, content_terms(question.text))
    colon, comma = ("：", "，") if question.language == "zh" else (": ", "; ")
    row = comma.join(f"{header}{colon}{cell}" if header else cell for header, cell in said)
    if not unit or all(_UNSCALED.search(f"{header} {cell}") for header, cell in said[1:]):
        return row
    bracketed = unit[0] in "(（"
    return f"{row} {unit}" if bracketed else f"{row}（{unit}）" if question.language == "zh" else f"{row} ({unit})"


def _pairs(block: Block, unit: str = "") -> tuple[tuple[str, str], ...]:
    """(column header, cell) of a table row, empty cells and the unit line left out; none for prose."""
    if not block.labelled or block.labelled == block.text:
        return ()
    row = block.labelled.removesuffix(f" | {unit}") if unit else block.labelled
    parts = [part.partition("：") for part in row.split(" | ")]
    pairs = [(head.strip(), cell.strip()) if colon else ("", head.strip()) for head, colon, cell in parts]
    return tuple((" ".join(head.split()), " ".join(cell.split())) for head, cell in pairs if cell)


def _asked_pairs(pairs: Sequence[tuple[str, str]], wanted: Collection[str]) -> Sequence[tuple[str, str]]:
    shares = [_share(terms(header), wanted) for header, _ in pairs[1:]]
    best = max(shares, default=0.0)
    if not best or shares.count(best) > 1:
        return pairs
    return [pairs[0], pairs[1 + shares.index(best)]]


def _share(header: Sequence[str], wanted: Collection[str]) -> float:
    return sum(term in wanted for term in header) / len(header) if header else 0.0


def _wanted(question: str, asked: Sequence[Anchor], context: Context) -> frozenset[str]:
    """The content terms that tell blocks apart.

    What the question names is demanded of every candidate (`_is_about`). Its words count here only where they label a
    table row: the name of the document's own company stands in few of its blocks, the name of a row in just one.
    """
    named = frozenset(term for anchor in asked if anchor.kind != "quote" for term in terms(anchor.text))
    labels = {
        term
        for material in context.materials
        for block in material.chunk.blocks
        for _, cell in _pairs(block)[:1]
        for term in terms(cell)
    }
    return (content_terms(question) - named) | (named & labels)


def _candidates(question: str, wanted: frozenset[str], context: Context) -> Iterable[_Candidate]:
    places = [(material, index) for material in context.materials for index in range(len(material.chunk.blocks))]
    bodies = [frozenset(terms(_said(material.chunk.blocks[index]))) for material, index in places]
    weights = _weights(wanted, [body for (at, _), body in zip(places, bodies, strict=True) if not _is_described(at)])
    whole = sum(weights.values())
    for (material, index), body in zip(places, bodies, strict=True):
        around = frozenset(terms(_heading(material))) - body
        held = sum(weights[term] for term in wanted & body) + _HEADING_SHARE * sum(
            weights[term] for term in wanted & around
        )
        coverage = held / whole if whole else 1.0 if anchors(question) else 0.0
        block = material.chunk.blocks[index]
        fit = _fit(question, block)
        if material.chunk.element_type == "image" and _figures(block) > (not _is_described(material)):
            continue  # of a chart, nothing says which label a figure belongs to; a model's figure is none
        row_header = _names_row(wanted, block)
        bonus = _row_code_bonus(question, block) + (_ROW_HEADER_BONUS if row_header else 0.0)
        yield _Candidate(
            material=material,
            index=index,
            covered=wanted & (body | around),
            coverage=coverage,
            score=coverage + fit + bonus + _RANK_BONUS / material.number,
            fit=fit,
            row_header=row_header,
        )


def _is_described(material: Material) -> bool:
    """Whether a model wrote it of a picture: it may be quoted, and changes nothing of how print is chosen."""
    return material.chunk.origin == "caption"


def _weights(wanted: Iterable[str], bodies: Sequence[frozenset[str]]) -> Mapping[str, float]:
    """Inverse document frequency over the context's blocks, as in BM25; a term of no block counts as a rare one.

    The floor keeps words that all the blocks share, as the materials of one topic do.
    """
    frequency = Counter(term for body in bodies for term in body)
    return {term: _FLOOR + inverse_frequency(max(frequency[term], 1), len(bodies)) for term in wanted}


def _said(block: Block) -> str:
    return block.labelled or block.text


def _heading(material: Material) -> str:
    chunk = material.chunk
    return "\n".join((*chunk.section, chunk.prefix, material.label))


def _names_row(wanted: frozenset[str], block: Block) -> bool:
    """Whether the question holds the whole first cell of a table row."""
    pairs = _pairs(block)
    return bool(pairs) and bool(first := terms(pairs[0][1])) and wanted.issuperset(first)


def _row_code_bonus(question: str, block: Block) -> float:
    """A table row whose first cell is the code asked for is the row asked for."""
    pairs = _pairs(block)
    codes = [anchor.text for anchor in anchors(question) if anchor.kind == "code"] if pairs else []
    return _ROW_CODE_BONUS if any(is_printed(code, pairs[0][1]) for code in codes) else 0.0


def _figures(block: Block) -> int:
    return sum(each.role == "figure" and each.kind not in _PERIODS_AND_NAMES for each in lex(_said(block)))


def _fit(question: str, block: Block) -> float:
    """How well the figures of the block fit what the question asks for; below 0 where it asks for one and gets none."""
    if not wants_figure(question):
        return 0.0
    kinds = {each.kind for each in lex(_said(block)) if each.role == "figure"}
    if _WANTS_DATE.search(question):
        return _FIGURE_BONUS + _KIND_BONUS if kinds & (PERIOD_KINDS | {"time"}) else _NO_FIGURE
    values: set[Kind] = kinds - _PERIODS_AND_NAMES
    if not values:
        return _NO_FIGURE
    if _WANTS_PERCENT.search(question):
        return _FIGURE_BONUS + (_KIND_BONUS if values & {"percent", "pp"} else 0.0)
    return _FIGURE_BONUS


def _is_about(candidate: _Candidate, asked: Sequence[Anchor], context: Context, question: Question) -> bool:
    """Codes and periods of the question stand in the block or its headings; names anywhere in its document."""
    own = f"{_said(candidate.block)}\n{candidate.block.text}\n{_heading(candidate.material)}"
    for kind in ("code", "period"):
        same_kind = [anchor for anchor in asked if anchor.kind == kind]
        if same_kind and not any(anchor.is_named_by(own) for anchor in same_kind):
            return False
    names = [anchor for anchor in asked if anchor.kind in {"name", "quote"}]
    return not names or any(_is_named(anchor, candidate, context, question) for anchor in names)


def _is_on_page_about(candidate: _Candidate, asked: Sequence[Anchor], context: Context, question: Question) -> bool:
    """Whether running text of the same page names every code, as an invoice names its number above its table.

    A code in a table row is about that row alone.
    """
    codes = [anchor for anchor in asked if anchor.kind == "code"]
    page = candidate.material.chunk.page
    beside = "\n".join(
        material.chunk.text
        for material in context.materials
        if material.chunk.element_type == "text"
        and (material.chunk.document_id, material.chunk.page) == (candidate.material.chunk.document_id, page)
    )
    if page is None or not codes or not all(anchor.is_named_by(beside) for anchor in codes):
        return False
    return _is_about(candidate, [anchor for anchor in asked if anchor.kind != "code"], context, question)


def _is_named(anchor: Anchor, candidate: _Candidate, context: Context, question: Question) -> bool:
    document_id = candidate.material.chunk.document_id
    if (anchor.text, document_id) in question.named_before:
        return True
    texts = [
        f"{_heading(material)}\n{material.chunk.source}\n{material.chunk.text}"
        for material in context.materials
        if material.chunk.document_id == document_id
    ]
    return any(anchor.is_named_by(text) for text in texts)


def _picked(strong: Sequence[_Candidate], asked: Sequence[Anchor], *, is_figure_question: bool) -> list[_Candidate]:
    """The best block, and those that answer a part of the question which the ones before do not."""
    picked = [strong[0]]
    texts = {strong[0].block.text}
    for candidate in strong[1:]:
        if len(picked) == _MOST_BLOCKS:
            break
        held = frozenset().union(*(each.covered for each in picked))
        more_codes = _codes(candidate, asked) - frozenset().union(*(_codes(each, asked) for each in picked))
        close = candidate.score >= _CLOSE_TO_BEST * strong[0].score and not is_figure_question
        if candidate.block.text not in texts and (candidate.covered - held or more_codes or close):
            picked.append(candidate)
            texts.add(candidate.block.text)
    return picked


def _codes(candidate: _Candidate, asked: Sequence[Anchor]) -> frozenset[str]:
    """The codes and periods of the question that the block or its headings name."""
    text = f"{_said(candidate.block)}\n{_heading(candidate.material)}"
    return frozenset(anchor.text for anchor in asked if anchor.kind in {"code", "period"} and anchor.is_named_by(text))
