"""Blocks as candidates for an answer: how much of what is asked for they name, and how well their figures fit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from kb_qa.answers import Context, Material
from kb_qa.elements import Block, Chunk
from kb_qa.extraction import wording
from kb_qa.extraction.notions import Notion, Reading, excess, reading
from kb_qa.extraction.request import Request
from kb_qa.extraction.rows import (
    Pair,
    are_rates,
    asked_pairs,
    is_restricted,
    label_of,
    names_asked,
    pairs_of,
    share_said,
    unit_of,
)
from kb_qa.guardrails.lexer import lex
from kb_qa.guardrails.names import is_printed
from kb_qa.guardrails.quantities import PERIOD_KINDS, Kind, Quantity
from kb_qa.guardrails.questions import Anchor
from kb_qa.terms import inverse_frequency, terms

_NAMES = PERIOD_KINDS | {"id", "ref", "marker", "enum", "ordinal"}
_AMOUNTS: frozenset[Kind] = frozenset({"money", "number", "measure", "count"})
_SHARE_SAID = re.compile(r"(?ai)%|percent|\b(?:ratio|rate|margin|share|proportion|yield)\b|\breturn on\b|率|比例|占比")
_SENTENCE = re.compile(r"[.。]\s*$")
_SCALED = re.compile(r"(?ai)thousand|million|billion|'000|[万亿千]")
_BROKEN = re.compile(r"(?a)\d\.\d")
# What is never below nothing: a deduction under such a name is another thing (loans sold, in a table of changes).
_NEVER_NEGATIVE = re.compile(
    r"(?ai)\b(?:revenues?|sales|turnover|assets|deposits|inventor(?:y|ies)|employees|headcount)\b|收入|资产|存款|存货|员工"
)
_NEGATIVE = re.compile(r"\s*(?:[$€£¥]\s*)?[(（\-−–]\s*[$€£¥]?\s*\d")
_FLOOR = 0.5
HEADING_SHARE = 0.66
_ROW_CODE_BONUS, _ROW_HEADER_BONUS = 0.5, 0.3
ROW_STRENGTH, _HALF = 0.2, 0.5
_FIGURE_BONUS, _KIND_BONUS, _NO_FIGURE = 0.1, 0.1, -0.25
_RANK_BONUS = 0.08
_EXCESS = 0.06  # of the score for each word that a row's label has besides
_MOST_EXCESS = 4
_NAME_BONUS, _LITERAL_BONUS = 0.15, 0.08
_MANY_COLUMNS, _MOST_COLUMNS = -0.1, 4
_COLUMN_BONUS = 0.15  # where the question says all of a column's header
_RESTRICTED = -0.1  # of those alone who did only that
_SAYS_ALL = 0.1  # a sentence, without its headings
_TOGETHER = 0.04  # words of the question side by side, as it says them
_PLACE_BONUS = 0.3  # in the table that the question names
_NO_HEADERS = -0.1  # nothing says which column is which
_EXPLAINED = -0.3  # a row explains nothing
_APART = -0.1  # the figures of a sentence stand in other clauses than what is asked for
_PRONOUN = re.compile(r"(?ai)\b(?:it|they)\b|^(?:该|它|其(?![他它余中]))")
_LABEL = re.compile(r"([^\s:：,，;；][^:：,，;；\n]{0,40})[:：]")
_CLAUSE = re.compile(r"[;；，]|[,:]\s|(?ai:\b(?:as|while|whereas|because|which|although)\b)")


@dataclass(frozen=True, slots=True)
class Candidate:
    """`covered` are the notions that the block or its headings name, `coverage` the share of the question's weight
    that they are (0..1), `fit` how the block's figures fit what is asked for: below 0, it asks for one and gets none.

    `excess`: words of the row's label that name another thing; `row_header`: the label names all that is asked for.
    """

    material: Material
    index: int
    covered: frozenset[Notion]
    own: frozenset[Notion]
    coverage: float
    score: float
    fit: float
    excess: int
    row_header: bool
    pairs: tuple[Pair, ...]
    said: tuple[Pair, ...]

    @property
    def block(self) -> Block:
        return self.material.chunk.blocks[self.index]

    @property
    def text(self) -> str:
        """The block as it is printed and labelled, and its headings."""
        return f"{said_of(self.block)}\n{self.block.text}\n{heading_of(self.material)}"

    @property
    def label(self) -> str:
        """The row's own label; empty for prose."""
        return label_of(self.pairs)

    @property
    def unit(self) -> str:
        return unit_of(self.block, self.material.chunk)

    @property
    def strength(self) -> float:
        """The evidence that the block answers the question: its coverage, and more where its row is named.

        A row's name that is less than half of the question may be one of several that it is nested in.
        """
        return self.coverage + (ROW_STRENGTH if self.row_header and self.coverage >= _HALF else 0.0)


def candidates(question: Request, context: Context) -> list[Candidate]:
    """Best first."""
    places = [(material, index) for material in context.materials for index in range(len(material.chunk.blocks))]
    bodies = [reading(said_of(material.chunk.blocks[index])) for material, index in places]
    wanted = _wanted(question, places, context.called)
    printed = [body for (at, _), body in zip(places, bodies, strict=True) if not is_described(at)]
    weights = _weights(wanted, printed)
    named = {document: _named_by(names, question, wanted) for document, names in context.called.items()}
    found = [
        candidate
        for (material, index), body in zip(places, bodies, strict=True)
        if (candidate := _candidate(question, material, index, body, weights, named)) is not None
    ]
    found.sort(key=lambda each: (each.material.number, each.index))
    if not question.periods:  # of sentences that say it equally well, the latest
        found.sort(key=lambda each: "" if each.pairs else _latest_date(each.block.text), reverse=True)
    return sorted(found, key=lambda each: -each.score)


def is_described(material: Material) -> bool:
    """Whether a model wrote it of a picture: it may be quoted, and changes nothing of how print is chosen."""
    return material.chunk.origin == "caption"


def said_of(block: Block) -> str:
    return block.labelled or block.text


def heading_of(material: Material) -> str:
    chunk = material.chunk
    return "\n".join((*chunk.section, chunk.prefix, material.label))


def caption_of(material: Material) -> str:
    """What stands above a table, but for the headings of its section and those of its columns."""
    chunk = material.chunk
    section = " > ".join(chunk.section)
    return "\n".join(line for line in chunk.prefix.splitlines() if line != section and " | " not in line)


def _wanted(
    question: Request, places: Sequence[tuple[Material, int]], called: Mapping[str, Sequence[str]]
) -> tuple[Notion, ...]:
    """What tells blocks apart: the topic, and those words of the names that label a table row. The name of a document
    does where it is the most of a label: `attributable to owners of Acme` is a row like any other of Acme's.
    """
    if not question.labels:
        return question.topic
    of_document = _words_of(_called_by(question, [name for names in called.values() for name in names]))
    labels: set[str] = set()
    for material, index in places:
        for _, cell in pairs_of(material.chunk.blocks[index])[:1]:
            words = reading(cell).terms
            labels |= words if 2 * len(words & of_document) >= len(words) else words - of_document
    named = sorted(question.labels & labels)
    return tuple(dict.fromkeys((*question.topic, *(Notion(term, ((term,),)) for term in named))))


def _named_by(names: Sequence[str], question: Request, wanted: Iterable[Notion]) -> frozenset[Notion]:
    """The words of the question's names by which a document is called: all that it says, it says of that."""
    words = _words_of(_called_by(question, names)) & question.labels
    return frozenset(notion for notion in wanted if notion.said in words)


def _called_by(question: Request, names: Sequence[str]) -> list[Anchor]:
    """The question's names for what is called by one of these."""
    return [anchor for anchor in question.of_kind("name") if any(map(anchor.is_named_by, names))]


def _words_of(anchors: Iterable[Anchor]) -> frozenset[str]:
    return frozenset(word for anchor in anchors for word in terms(anchor.text))


def _weights(wanted: Iterable[Notion], bodies: Sequence[Reading]) -> Mapping[Notion, float]:
    """Inverse document frequency over the context's blocks, as in BM25; what no block names counts as rare.

    The floor keeps words that all the blocks share, as the materials of one topic do.
    """
    frequency: Counter[Notion] = Counter()
    wanted = tuple(wanted)
    for body in bodies:
        frequency.update(notion for notion in wanted if notion.name_in(body) is not None)
    return {
        notion: (_FLOOR + inverse_frequency(max(frequency[notion], 1), len(bodies))) * notion.size**0.5
        for notion in wanted
    }


def _candidate(
    question: Request,
    material: Material,
    index: int,
    body: Reading,
    weights: Mapping[Notion, float],
    named: Mapping[str, frozenset[Notion]],
) -> Candidate | None:
    block = material.chunk.blocks[index]
    if material.chunk.element_type == "image" and figures_in(block) > (not is_described(material)):
        return None  # of a chart, nothing says which label a figure belongs to; a model's figure is none
    if _is_heading(block, material.chunk, question) and not (_SENTENCE.search(block.text) and figures_in(block)):
        return None  # a heading or caption says what is below it, unless it is a sentence with a figure of its own
    pairs = pairs_of(block, unit_of(block, material.chunk))
    said = asked_pairs(pairs, question) if pairs else pairs
    if said is None:
        return None
    if len(said) < len(pairs):  # what stands in the columns that are left out, the answer does not say
        body = reading(" | ".join(map(" ".join, said)))
    around = reading(f"{heading_of(material)}\n{_meant_by_pronoun(material, index)}")
    own = frozenset(notion for notion in weights if notion.name_in(body) is not None)
    above = frozenset(notion for notion in weights if notion not in own and notion.name_in(around) is not None)
    if not pairs:
        above |= named.get(material.chunk.document_id, frozenset()) - own
    whole = sum(weights.values())
    held = sum(weights[each] for each in own) + HEADING_SHARE * sum(weights[each] for each in above)
    coverage = held / whole if whole else 1.0 if question.anchors else 0.0
    label = label_of(pairs)
    row_header = bool(pairs) and _is_label(label, weights, question)
    is_of_named = any(names_asked(cell, question) for _, cell in pairs[1:])  # whatever its first cell says: a date
    others = excess(label, weights, question.words) if pairs and not is_of_named else 0
    fit = _fit(question, block, said, heading_of(material))
    score = coverage + fit + _RANK_BONUS / material.number
    score += _ROW_HEADER_BONUS if row_header else 0.0
    score += _SAYS_ALL if not pairs and own.issuperset(question.topic) else 0.0
    score += _row_code_bonus(question, pairs) + _TOGETHER * _said_together(question, body)
    score += _EXPLAINED if pairs and question.explains and not question.wants_figure else 0.0
    score += _NAME_BONUS if _names_itself(question, block) or _says_who(question, own, block) else 0.0
    score += _LITERAL_BONUS * sum(notion.said in body.plain for notion in own if notion.is_concept)
    score += _APART if question.wants_figure and not pairs and _is_apart(own, block) else 0.0
    if any(caption in material.chunk.prefix.lower() for caption in question.captions):
        score += _PLACE_BONUS
    if pairs and question.wants_figure:
        score += _COLUMN_BONUS * share_said(said, question) + (_RESTRICTED if is_restricted(said, question) else 0.0)
        score += 0.0 if any(header for header, _ in pairs[1:]) else _NO_HEADERS
        score += _MANY_COLUMNS if len(said) > _MOST_COLUMNS and not question.arithmetic else 0.0
        score -= _EXCESS * min(others, _MOST_EXCESS)
    return Candidate(material, index, own | above, own, coverage, score, fit, others, row_header, pairs, tuple(said))


def _meant_by_pronoun(material: Material, index: int) -> str:
    """The sentence before one that speaks of `it`: what is named there is meant here."""
    blocks = material.chunk.blocks
    block, before = blocks[index], blocks[index - 1] if index else None
    is_prose = material.chunk.element_type == "text" and before is not None and before.element_id == block.element_id
    return before.text if is_prose and before is not None and _PRONOUN.search(block.text) else ""


def _said_together(question: Request, body: Reading) -> float:
    """The share of the question's neighbouring words that are neighbours here as well, 0..1."""
    asked = {pair for pair in pairwise(question.words.sequence) if not any(map(str.isdecimal, "".join(pair)))}
    return len(asked.intersection(pairwise(body.sequence))) / len(asked) if asked else 0.0


def _is_heading(block: Block, chunk: Chunk, question: Request) -> bool:
    if block.text in chunk.section:
        return True
    asked = question.wants_figure or question.captions
    return bool(asked) and not pairs_of(block) and " ".join(block.text.split()) in chunk.prefix


def _is_apart(own: Iterable[Notion], block: Block) -> bool:
    """Whether a sentence names what is asked for, and says no figure in the same clause: it may be of another thing."""
    clauses = [clause for clause in _CLAUSE.split(said_of(block)) if frozenset(kinds_in(clause)) - _NAMES]
    return bool(own) and not any(notion.name_in(reading(clause)) for notion in own for clause in clauses)


def _names_itself(question: Request, block: Block) -> bool:
    """Whether the block names a thing that the question names, and that is no company with a report of its own."""
    names = [anchor for anchor in question.of_kind("name") if question.labels.issuperset(terms(anchor.text))]
    return any(anchor.is_named_by(said_of(block)) for anchor in names)


def _says_who(question: Request, own: Iterable[Notion], block: Block) -> bool:
    """Whether it says who one is: `Seller: Larkfield Ltd.`"""
    labels = [reading(label) for label in _LABEL.findall(block.text)]
    is_asked = wording.ONE_NAME.search(question.text) is not None
    return is_asked and any(notion.name_in(label) is not None for notion in own for label in labels)


def _is_label(label: str, wanted: Iterable[Notion], question: Request) -> bool:
    """Whether the question names the whole label."""
    text = reading(label)
    return (
        bool(text.sequence)
        and any(each.name_in(text) is not None for each in wanted)
        and not excess(label, wanted, question.words)
    )


def _row_code_bonus(question: Request, pairs: Sequence[Pair]) -> float:
    """A table row whose first cell is the code asked for is the row asked for."""
    codes = question.of_kind("code") if pairs else []
    return _ROW_CODE_BONUS if any(is_printed(code.text, pairs[0][1]) for code in codes) else 0.0


@lru_cache(maxsize=8192)
def _figures(text: str) -> tuple[Quantity, ...]:
    return tuple(each for each in lex(text) if each.role == "figure")


def kinds_in(text: str) -> tuple[Kind, ...]:
    """The kinds of the figures of a text, periods included."""
    return tuple(each.kind for each in _figures(text))


def _latest_date(text: str) -> str:
    """In ISO form; empty where no day is said."""
    return max((str(each.value) for each in _figures(text) if each.kind == "date"), default="")


def figures_in(block: Block) -> int:
    return sum(kind not in _NAMES for kind in kinds_in(said_of(block)))


def _are_no_counts(cells: Sequence[str], *around: str) -> bool:
    """Whether a row has only broken numbers, and nothing around it says thousands or millions: no one counts 13.5."""
    figures = [cell for cell in cells if kinds_in(cell)]
    return bool(figures) and all(map(_BROKEN.search, figures)) and not any(map(_SCALED.search, around))


def _fit(question: Request, block: Block, said: Sequence[Pair], around: str) -> float:
    """How well the figures of the block fit what the question asks for; below 0 where it asks for one and gets none."""
    if not question.wants_figure:
        return 0.0
    text = " | ".join(cell for _, cell in said[1:]) if len(said) > 1 else said_of(block)
    kinds = frozenset(kinds_in(text))
    if question.wants_date:
        return (
            _FIGURE_BONUS + _KIND_BONUS
            if frozenset(kinds_in(said_of(block))) & (PERIOD_KINDS | {"time"})
            else _NO_FIGURE
        )
    values = kinds - _NAMES
    if values == {"percent"} and wording.AMOUNT_OR_SHARE.search(question.text):
        return 0.0
    if not values or (question.wants_amount and not values & _AMOUNTS):
        return _NO_FIGURE
    if question.counts and not question.wants_percent and values <= {"money", "percent", "pp"}:
        return _NO_FIGURE
    cells = [cell for _, cell in said[1:]]
    no_counts = are_rates(said) or _are_no_counts(cells, said_of(block), around)
    if question.counts and cells and not question.wants_percent and no_counts:
        return _NO_FIGURE
    if (
        cells
        and not question.wants_percent
        and _NEVER_NEGATIVE.search(question.text)
        and _NEVER_NEGATIVE.search(label_of(said))
        and all(_NEGATIVE.match(cell) for cell in cells)
    ):
        return _NO_FIGURE
    if question.wants_percent:
        if values & {"percent", "pp"}:
            return _FIGURE_BONUS + _KIND_BONUS
        computed = question.wants_growth or question.arithmetic
        same = any(word in around.lower() for word in map(str.lower, _SHARE_SAID.findall(question.text)))
        same = same and bool(cells) and all(_BROKEN.search(cell) for cell in cells if kinds_in(cell))
        return _FIGURE_BONUS if computed or same or _SHARE_SAID.search(said_of(block)) else _NO_FIGURE
    return _FIGURE_BONUS
