"""Whether a candidate answers the question: it is about what was named, and says enough of what was asked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from kb_qa.answers import Context, Question
from kb_qa.extraction.candidates import Candidate, heading_of, said_of
from kb_qa.extraction.currencies import is_in
from kb_qa.extraction.events import event_of, is_own, is_said_to_happen, tells
from kb_qa.extraction.months import months_in
from kb_qa.extraction.notions import reading
from kb_qa.extraction.request import Request
from kb_qa.extraction.rows import pairs_of, year_of
from kb_qa.guardrails.lexer import lex
from kb_qa.guardrails.questions import Anchor

# The least share of the question's weighted notions that a block must name with its headings; of an amount's name all
# but little must stand in the block itself.
COVERAGE = 0.6
FIGURE_COVERAGE = 0.66
SAME_MATTER = 0.3
_PART = re.compile(
    r"(?ai)\b(?:parent[- ]company|parent only|registrant only"
    r"|condensed (?:financial information of|statements?|balance sheets?)|segments?|pro forma)\b"
    r"|母公司(?!所有者|股东|的)|分部"
)
_REPORTED = re.compile(r"(?ai)\b(?:ended|as of|as at|at) [^|\n]{0,30}?\b((?:19|20)\d\d)\b")
_THAN = r"(?:\b(?:than|unlike|versus|compared (?:to|with))\s+(?:(?:that|those) of )?(?:the )?|比|高于|低于|不同于)"
_TOLD = 2  # so often a year is named where the document reports of it
# A row that only the statements of a parent alone have.
_PARENTS_ROW = re.compile(r"(?ai)\bundistributed (?:net )?(?:income|earnings)(?: \(?loss\)?)? of subsidiar")


def strong(candidate: Candidate, wanted: Request, context: Context) -> bool:
    if candidate.fit < 0:
        return False
    event = event_of(wanted.text)
    text = said_of(candidate.block)
    if event:
        return tells(event, text) if not candidate.pairs else _row_tells(event, candidate, wanted, context)
    if wanted.yes_no and not _answers_yes(candidate, wanted, context):
        return False
    if _leaves_out_the_matter(candidate, wanted):
        return False
    if wanted.currency and not is_in(wanted.currency, candidate, context):
        return False
    if wanted.superlative and not wanted.which_period and wanted.superlative.lower() not in text.lower():
        return False
    if _is_of_another_time(candidate, wanted) or _is_outdated(candidate, wanted, context):
        return False
    if _is_of_a_part(candidate, wanted, context):
        return False
    if wanted.wants_figure and candidate.pairs and not _agrees(candidate, wanted):
        return False
    least = FIGURE_COVERAGE if wanted.wants_figure else COVERAGE
    return candidate.strength >= least


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
    said = [(each.kind, each.value, each.unit) for each in lex(said_of(candidate.block)) if each.role == "figure"]
    asked = [(each.kind, each.value, each.unit) for each in wanted.conditions]
    is_more = not wanted.wants_figure or len(said) > len(asked)
    return is_more and candidate.coverage >= SAME_MATTER and all(each in said for each in asked)


def _leaves_out_the_matter(candidate: Candidate, wanted: Request) -> bool:
    """The row of what was named (`Germany`) and not of what is asked about it (its GDP); of grain, not its exports."""
    if wanted.topic and candidate.covered.isdisjoint(wanted.topic):
        return True
    return bool(candidate.pairs) and not candidate.covered >= wanted.heads


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
    label = reading(candidate.label)
    held = sum(len(notion.name_in(label) or ()) for notion in wanted.topic)
    return held > candidate.excess


def _is_of_another_time(candidate: Candidate, wanted: Request) -> bool:
    """Whether it names no month that is asked for; or a sentence names years, and none that is asked for: the report's
    own year is not what it tells of.
    """
    if wanted.months and not wanted.months & months_in(candidate.text):
        return True
    if candidate.pairs or not wanted.periods or not year_of(candidate.block.text):
        return False
    return not any(anchor.is_named_by(candidate.block.text) for anchor in wanted.periods)


def _is_of_a_part(candidate: Candidate, wanted: Request, context: Context) -> bool:
    """Whether the figures are those of the parent alone or of a segment, and the question names neither."""
    around = _PART.search(heading_of(candidate.material))
    if around is not None and around[0].lower().split()[0] not in wanted.text.lower():
        return True
    elements = {block.element_id for block in candidate.material.chunk.blocks}
    return bool(candidate.pairs) and any(
        block.element_id in elements and _PARENTS_ROW.search(block.text)
        for material in context.materials
        for block in material.chunk.blocks
    )


def is_about(candidate: Candidate, wanted: Request, context: Context, question: Question) -> bool:
    if wanted.kinds and not _is_of_kind(candidate, wanted, context):
        return False
    return _names_all(candidate, wanted.anchors, context, question)


def _names_all(candidate: Candidate, asked: Sequence[Anchor], context: Context, question: Question) -> bool:
    """Codes and periods of the question stand in the block or its headings; names anywhere in its document."""
    for kind in ("code", "period"):
        same_kind = [anchor for anchor in asked if anchor.kind == kind]
        if same_kind and not any(anchor.is_named_by(candidate.text) for anchor in same_kind):
            return False
    names = [anchor for anchor in asked if anchor.kind in {"name", "quote"}]
    return not names or any(_is_named(anchor, candidate, context, question) for anchor in names)


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
