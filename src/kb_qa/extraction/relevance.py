"""Whether a candidate answers the question: it is about what was named, and says enough of what was asked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from kb_qa.answers import Context, Question
from kb_qa.asked.places import PLACE
from kb_qa.extraction.candidates import Candidate, caption_of, figures_in, heading_of, kinds_in, said_of
from kb_qa.extraction.counted import is_counted
from kb_qa.extraction.currencies import is_in
from kb_qa.extraction.events import event_of, is_own, is_said_to_happen, tells
from kb_qa.extraction.months import months_in
from kb_qa.extraction.notions import reading
from kb_qa.extraction.parts import is_of_a_part
from kb_qa.extraction.request import Request
from kb_qa.extraction.rows import is_of_the_period, is_year_end, pairs_of, periods_in, year_of
from kb_qa.guardrails.lexer import lex
from kb_qa.guardrails.quantities import PERIOD_KINDS
from kb_qa.guardrails.questions import Anchor

# The least share of the question's weighted notions that a block must name with its headings; of an amount's name all
# but little must stand in the block itself.
COVERAGE = 0.6
FIGURE_COVERAGE = 0.66
SAME_MATTER = 0.3
_REPORTED = re.compile(r"(?ai)\b(?:ended|as of|as at|at) [^|\n]{0,30}?\b((?:19|20)\d\d)\b")
_THAN = r"(?:\b(?:than|unlike|versus|compared (?:to|with))\s+(?:(?:that|those) of )?(?:the )?|比|高于|低于|不同于)"
_SENTENCE = 8  # words of a cell that says a sentence
_SENTENCES = re.compile(r"(?<=[.!?])(?<![A-Z]\.)\s+(?=[A-Z])|(?<=[。！？])")
# The year of a book or paper: `(Shah 1995)`, `(Goertz and Duffy, 2001)`.
_CITED = re.compile(
    r"(?a)\((?!(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Fiscal|Year|Since|Until|In|As|Fall)[a-z]* )"
    r"[A-Z][a-z]+(?:,? (?:and|&) [A-Z][a-z]+| et al\.)?,? (?:19|20)\d\d[a-z]?\)"
)
_DONE = re.compile(r"(?ai)\b[a-z]+ed\b")
_NAME = 10  # words of the longest
_A_PAIR = 2  # of two things that are asked about together, one alone is another matter
_TOLD = 2  # so often a year is named where the document reports of it


def strong(candidate: Candidate, wanted: Request, context: Context) -> bool:
    if candidate.fit < 0:
        return False
    event = event_of(wanted.text)
    text = said_of(candidate.block)
    if event:
        return tells(event, text) if not candidate.pairs else _row_tells(event, candidate, wanted, context)
    if wanted.yes_no and not _answers_yes(candidate, wanted, context):
        return False
    if _leaves_out_the_matter(candidate, wanted) or _says_too_little(candidate, wanted):
        return False
    if wanted.currency and not is_in(wanted.currency, candidate, context):
        return False
    if wanted.superlative and not wanted.which_period and wanted.superlative.lower() not in text.lower():
        return False
    if _is_of_another_time(candidate, wanted) or _is_outdated(candidate, wanted, context):
        return False
    if is_of_a_part(candidate, wanted, context) or _is_of_another_table(candidate, wanted, context):
        return False
    if wanted.wants_figure and candidate.pairs and not (_agrees(candidate, wanted) and _tells_apart(candidate)):
        return False
    least = FIGURE_COVERAGE if wanted.wants_figure else COVERAGE
    return candidate.strength >= least


def is_outdone(candidate: Candidate, wanted: Request, others: Sequence[Candidate]) -> bool:
    """Whether another row of its table names all that this one does of what is asked for, and more: of `depreciation of
    vehicles`, their cost is none.
    """
    if not candidate.pairs or not wanted.wants_figure:
        return False
    topic = frozenset(wanted.topic)
    named = reading(" ".join(anchor.text for anchor in wanted.of_kind("name"))).terms
    asked = frozenset(notion for notion in candidate.own if notion in wanted.topic or notion.said in named)
    table = candidate.block.element_id
    return any(
        other.pairs and other.block.element_id == table and other.own >= asked and other.own & topic > asked & topic
        for other in others
    )


def under_the_conditions(found: Sequence[Candidate], wanted: Request) -> Sequence[Candidate]:
    """Those that state what the question does, where one is about the same; else all of them, but for a bound: what is
    said without it is not said of what lies beyond it.
    """
    if not wanted.conditions:
        return found
    stating = [each for each in found if _states(each, wanted)]
    return stating if stating or wanted.is_bounded else found


def _states(candidate: Candidate, wanted: Request) -> bool:
    """Whether it states all the question's quantities, and says another figure where one is asked for."""
    text = candidate.text if candidate.pairs else said_of(candidate.block)  # `4.875% Notes` stands above their prices
    said = [(each.kind, each.value, each.unit) for each in lex(text) if each.role == "figure"]
    asked = [(each.kind, each.value, each.unit) for each in wanted.conditions]
    is_more = not wanted.wants_figure or len(said) > len(asked)
    return is_more and candidate.coverage >= SAME_MATTER and all(each in said for each in asked)


def _leaves_out_the_matter(candidate: Candidate, wanted: Request) -> bool:
    """The row of what was named (`Germany`) and not of what is asked about it (its GDP); of grain, not its exports."""
    if wanted.topic and candidate.covered.isdisjoint(wanted.topic):
        return True
    return bool(candidate.pairs) and not candidate.covered >= wanted.heads


def _says_too_little(candidate: Candidate, wanted: Request) -> bool:
    """Whether a block says not who did it, counts something else, or says a figure of what its heading names alone,
    where others below that heading do as well.
    """
    if not candidate.covered >= wanted.act:
        return True
    if candidate.pairs or not wanted.wants_figure:
        return False
    if wanted.counted and not is_counted(wanted.counted, candidate.block.text):
        return True
    if wanted.wants_date and not _dates(candidate, wanted):
        return True
    if len(wanted.topic) == _A_PAIR and not candidate.covered.issuperset(wanted.topic):
        return True
    blocks = candidate.material.chunk.blocks
    return candidate.own.isdisjoint(wanted.topic) and sum(bool(figures_in(block)) for block in blocks) > 1


def _dates(candidate: Candidate, wanted: Request) -> bool:
    """Whether one sentence of the block has a date, and all that the block says of what is asked for."""
    matter = candidate.own.intersection(wanted.topic)
    return any(
        frozenset(kinds_in(sentence)) & (PERIOD_KINDS | {"time"})
        and all(notion.name_in(reading(sentence)) for notion in matter)
        for sentence in _SENTENCES.split(candidate.block.text)
    )


def _row_tells(event: str, candidate: Candidate, wanted: Request, context: Context) -> bool:
    """Whether a row's cells tell of the event at the time that is asked for, else in the year that is reported of.

    A list of directors says of each when he was appointed, mostly long ago.
    """
    cells = " | ".join(cell for _, cell in candidate.pairs)
    asked = max((year_of(period.text) for period in wanted.periods), default=0)
    year = asked or _reported_year(candidate, context)
    return bool(year) and tells(event, cells) and (year_of(cells) == year if asked else year_of(cells) >= year)


def _answers_yes(candidate: Candidate, wanted: Request, context: Context) -> bool:
    """Whether a sentence says that it is so, and of no earlier time than the report's; a row, only of a code."""
    if candidate.pairs:
        return bool(wanted.of_kind("code"))
    text = candidate.block.text
    year = year_of(text)
    is_old = bool(year) and not wanted.periods and year < _reported_year(candidate, context) - 1
    names = wanted.of_kind("name")
    own = not names or is_own(text) or any(_names_a_word(anchor, text) for anchor in names)
    return is_said_to_happen(text) and own and not is_old


def _names_a_word(name: Anchor, text: str) -> bool:
    """`Downer’s shares` are those of Downer EDI Limited."""
    return any(re.search(rf"(?i)\b{re.escape(word)}\b", text) for word in name.words)


def _is_outdated(candidate: Candidate, wanted: Request, context: Context) -> bool:
    """Whether a row is of earlier periods than the document reports of, and none was asked for."""
    if wanted.periods or not candidate.pairs:
        return False
    year = max(year_of(header) for header, _ in candidate.pairs)
    return bool(year) and year < _reported_year(candidate, context)


def _reported_year(candidate: Candidate, context: Context) -> int:
    """The latest year at or for which the document's materials report; 0 for none."""
    document_id = candidate.material.chunk.document_id
    texts = (each.chunk.labelled_text for each in context.materials if each.chunk.document_id == document_id)
    years = Counter(int(year) for text in texts for year in _REPORTED.findall(text))
    return max((year for year, count in years.items() if count >= _TOLD), default=0)


def _agrees(candidate: Candidate, wanted: Request) -> bool:
    """Whether a row's label names what is asked for, and not a part or another thing beside it.

    One name alone must be all of the label: `Cost of revenue` is no revenue. Of several words, most must be asked for.
    """
    if not candidate.excess:
        return True
    if len(wanted.topic) < 2 and not wanted.labels:
        return False
    if any(len(cell.split()) >= _SENTENCE and _names_all_of(wanted, cell) for _, cell in candidate.said[1:]):
        return True
    label = reading(candidate.label)
    held = sum(len(notion.name_in(label) or ()) for notion in wanted.topic)
    return held > candidate.excess


def _tells_apart(candidate: Candidate) -> bool:
    """Whether no two of the columns that would be said have one name and two figures: a heading above them is lost."""
    found: dict[str, str] = {}
    return all(found.setdefault(header, cell) == cell for header, cell in candidate.said[1:] if header)


def _names_all_of(wanted: Request, cell: str) -> bool:
    """Whether a cell is a text that names all that is asked for, whatever its row is called."""
    return all(notion.name_in(reading(cell)) is not None for notion in wanted.topic)


def _is_of_another_time(candidate: Candidate, wanted: Request) -> bool:
    """Whether it names no month that is asked for; or a sentence names years, and none that is asked for: the report's
    own year is not what it tells of.
    """
    if wanted.months and not wanted.months & months_in(candidate.text):
        return True
    if candidate.pairs or not wanted.periods or not year_of(candidate.block.text):
        return False
    return not any(anchor.is_named_by(candidate.block.text) for anchor in wanted.periods)


def _is_of_another_table(candidate: Candidate, wanted: Request, context: Context) -> bool:
    """Whether only the outermost heading above a row's table names what is asked for, and the caption of another table
    there does.
    """
    if not candidate.pairs or not wanted.wants_figure:
        return False
    chunk = candidate.material.chunk
    caption = caption_of(candidate.material)
    own = reading("\n".join((caption, *chunk.section[1:])))
    done = reading(" ".join(_DONE.findall(wanted.text)))  # `participated` names no table
    section_only = [
        notion
        for notion in candidate.covered - candidate.own
        if notion in wanted.topic and notion.name_in(own) is None and notion.name_in(done) is None
    ]
    if not PLACE.search(caption):
        return False  # it may have lost a part
    others = [
        reading(caption_of(material))
        for material in context.materials
        if material.chunk.document_id == chunk.document_id and material.chunk.element_type == "table"
    ]
    return any(notion.name_in(other) is not None for notion in section_only for other in others)


def is_about(candidate: Candidate, wanted: Request, context: Context, question: Question) -> bool:
    if wanted.kinds and not _is_of_kind(candidate, wanted, context):
        return False
    return _names_all(candidate, wanted.anchors, context, question)


def _names_all(candidate: Candidate, asked: Sequence[Anchor], context: Context, question: Question) -> bool:
    """Codes and periods of the question stand in the block or its headings; names anywhere in its document."""
    for kind in ("code", "period"):
        same_kind = [anchor for anchor in asked if anchor.kind == kind]
        text = candidate.text if kind == "code" else _dated(candidate)
        named = [anchor for anchor in same_kind if anchor.is_named_by(text)]
        if same_kind and not named and not (kind == "period" and _is_of_its_time(candidate, same_kind, context)):
            return False
    names = [anchor for anchor in asked if anchor.kind in {"name", "quote"}]
    if not names:
        return True
    said = [anchor for anchor in names if _is_named(anchor, candidate, context, question)]
    others = [anchor for anchor in names if not _is_called(anchor, candidate, context)]
    if not all(_is_told_beside(anchor, candidate) for anchor in others if _is_where(anchor, question.text)):
        return False
    if 0 < len(others) < len(names) and not any(_is_told_beside(anchor, candidate) for anchor in others):
        return False  # `Epson's revenue from China`: not all of Epson's
    return any(_is_told_of(anchor, candidate, context, question) for anchor in said)


def _dated(candidate: Candidate) -> str:
    """What says of when the block is: of a row without a year, no heading that names several."""
    heading = heading_of(candidate.material)
    row = "\n".join(map(" ".join, candidate.pairs))
    if candidate.pairs and not year_of(row) and len({part for part in periods_in(heading) if part[0] == "y"}) > 1:
        return row
    return _CITED.sub(" ", candidate.text)


def _is_called(anchor: Anchor, candidate: Candidate, context: Context) -> bool:
    chunk = candidate.material.chunk
    return any(anchor.is_named_by(text) for text in (chunk.source, *context.called.get(chunk.document_id, ())))


def _is_where(anchor: Anchor, text: str) -> bool:
    """Whether it is asked what is so `in Brazil`; of one among several, `in Brazil and Peru`, nobody knows."""
    return (
        re.search(rf"(?ai)\b(?:in|from) (?:the )?{re.escape(anchor.text)}(?!\s*(?:,|and\b|or\b|&))", text) is not None
    )


def _is_told_beside(anchor: Anchor, candidate: Candidate) -> bool:
    """Whether a row or its headings name it, or the passage of a sentence."""
    passage = "" if candidate.pairs else candidate.material.chunk.text
    return anchor.is_named_by(f"{candidate.text}\n{passage}")


def _is_told_of(anchor: Anchor, candidate: Candidate, context: Context, question: Question) -> bool:
    """Whether the passage around the block names it: of another thing than the document itself each passage says it."""
    chunk = candidate.material.chunk
    if (anchor.text, chunk.document_id) in question.named_before:
        return True
    names = context.called.get(chunk.document_id, ())
    called = (chunk.source, *(name for name in names if len(name.split()) <= _NAME))  # a sentence is no name
    around = f"{heading_of(candidate.material)}\n{chunk.labelled_text}"
    return any(anchor.is_named_by(text) for text in (*called, around))


def _is_of_its_time(candidate: Candidate, periods: Sequence[Anchor], context: Context) -> bool:
    """Whether the column is of the period of the whole report, which is the one asked for, or of the year that ends at
    the day asked for, by what the document tells; or a sentence without a year of its own stands in a passage that
    tells of that year alone.
    """
    chunk = candidate.material.chunk
    if candidate.pairs:
        called = context.called.get(chunk.document_id, ())
        if is_of_the_period(candidate.pairs) and any(each.is_named_by(name) for each in periods for name in called):
            return True
        ends = [each for each in periods if any(is_year_end(header, each.text) for header, _ in candidate.said[1:])]
        return any(_is_told(each, chunk.document_id, context) for each in ends)
    text = "\n".join(block.text for block in chunk.blocks)
    years = {part for part in periods_in(text) if part[0] == "y"}
    return (
        not year_of(candidate.block.text)
        and years == {f"y{year_of(each.text)}" for each in periods}
        and any(each.is_named_by(text) for each in periods)
    )


def _is_told(period: Anchor, document_id: str, context: Context) -> bool:
    texts = (
        f"{heading_of(each)}\n{each.chunk.text}" for each in context.materials if each.chunk.document_id == document_id
    )
    return any(map(period.is_named_by, texts))


def _is_of_kind(candidate: Candidate, wanted: Request, context: Context) -> bool:
    """Whether the block's document says that it is a receipt, a contract…"""
    chunk = candidate.material.chunk
    texts = [
        f"{material.chunk.source}\n{heading_of(material)}\n{material.chunk.text}".lower()
        for material in context.materials
        if material.chunk.document_id == chunk.document_id
    ]
    return any(kind in text for kind in wanted.kinds for text in texts)


def is_on_page_about(candidate: Candidate, wanted: Request, context: Context, question: Question) -> bool:
    """Whether running text of the same page names every code, as an invoice names its number above its table.

    A code in a table row is about that row alone.
    """
    codes = wanted.of_kind("code")
    page = candidate.material.chunk.page
    beside = "\n".join(
        material.chunk.text
        for material in context.materials
        if material.chunk.element_type == "text"
        and (material.chunk.document_id, material.chunk.page) == (candidate.material.chunk.document_id, page)
    )
    if page is None or not codes or not all(anchor.is_named_by(beside) for anchor in codes):
        return False
    return _names_all(candidate, [anchor for anchor in wanted.anchors if anchor.kind != "code"], context, question)


def _without_comparison(text: str, anchor: Anchor) -> str:
    """`It uses less fuel than the Aurelia` tells nothing else of the Aurelia."""
    return re.sub(rf"(?i){_THAN}{re.escape(anchor.text)}|{re.escape(anchor.text)}(?=相比)", " ", text)


def _is_named(anchor: Anchor, candidate: Candidate, context: Context, question: Question) -> bool:
    """Whether the block, its headings or its document are called so, or the document's text names it.

    Where rows of a table name it, they alone tell of it: another row has its own name (a list of companies).
    """
    chunk = candidate.material.chunk
    if (anchor.text, chunk.document_id) in question.named_before:
        return True
    called = context.called.get(chunk.document_id, ())
    if any(anchor.is_named_by(text) for text in (chunk.source, *called)):
        return True
    if anchor.is_named_by(candidate.text):
        return anchor.is_named_by(_without_comparison(candidate.text, anchor))
    materials = [each for each in context.materials if each.chunk.document_id == chunk.document_id]
    blocks = [block for material in materials for block in material.chunk.blocks]
    if any(pairs_of(block) and anchor.is_named_by(said_of(block)) for block in blocks):
        return False
    return any(anchor.is_named_by(f"{heading_of(each)}\n{each.chunk.text}") for each in materials)
