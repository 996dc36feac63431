"""A table row as an answer says it: its label, and the columns that were asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from kb_qa.elements import Block, Chunk
from kb_qa.extraction.notions import notions_of, reading
from kb_qa.extraction.request import Request
from kb_qa.guardrails.lexer import lex
from kb_qa.guardrails.periods import Parts, parts_of

Pair = tuple[str, str]  # column header, cell

# Columns and cells that a table's unit line does not count.
_UNSCALED = re.compile(
    r"(?ai)%|\b(?:ratio|rate|share|days?|headcount|employees)\b|系数|比例|占比|比率|率|天数|人数|每股"
)
_PER_SHARE = re.compile(r"(?ai)\bper (?:[a-z-]+ ){0,2}share\b|每股")
_CHANGE = re.compile(r"(?ai)\b(?:change|variance|increase|decrease|growth)\b|增减|变动|同比|增长")
_TOTAL = re.compile(r"(?ai)(?:sub|grand )?total\s*:?|合\s*计|总\s*计|小\s*计")
_WHOLE = re.compile(r"(?ai)\b(?:total|consolidated)\b|合计|总计|合并")
_ORDINAL = re.compile(r"(?a)\b(first|second|third|fourth)\b|第([一二三四])季")
_SHARE_OF = re.compile(r"(?ai)%|占比|比例|\bpercent")
_RATE = re.compile(r"(?ai)%|\b(?:percent(?:age)?s?|rates?|ratios?|proportions?|per)\b|占比|比例|比率|率")
# How sure a figure is, and no figure of its own.
_SURENESS = re.compile(r"(?ai)\bmargins? of error|\b(?:standard )?errors?\b|\bconfidence|\bCI\b|±|误差|置信")
_AVERAGE = re.compile(r"(?ai)\b(?:average|mean)\b|平均")
_NEGATED = re.compile(r"(?ai)\b(?:no(?!\.)|not|non|none|without|never|excluding|except)\b|n't\b")
_CURRENT = re.compile(
    r"(?ai)^(?:本(?:报告)?期|本季度|本年度?)(?![末初比])|\b(?:current|this) (?:period|quarter|year)\b"
)
_ONLY = re.compile(r"(?ai)\b(?:only|alone)\b")
_SMALL = re.compile(r"(?a)\d{1,2}")
_OF_ALL = frozenset({"all"})  # says nothing of which
_WORDS_ALONE = re.compile(r"(?=.*[^\W\d_]{5})\D+")  # `Straight-line`, and not `n/a`
_HARDLY = 0.34  # of a header's words: where such columns are blank, they are not the ones that are asked for
_BLANK = re.compile(r"[-–—\s%]*")
_LONG_UNIT = 60
_SCALE_WORDS = (
    r"\b(?:in|expressed in) (?:(?:thousands|millions|billions)(?: of (?:(?-i:[A-Z][A-Za-z.]*) ){0,2}[A-Za-z]+)?"
    r"|(?:(?-i:[A-Z][A-Za-z.]*) ){0,2}[A-Za-z]+ (?:thousands|millions|billions))\b"
)
_STATES_UNIT = re.compile(rf"(?ai)(?:(?<![^(,.;:])[^(),.;:]{{0,40}}?)?{_SCALE_WORDS}")
# Dots that lead the eye from a label to its figures, and the marks of several footnotes: `Loans (2)(3)`.
_LEADERS = re.compile(r"(?:\s*[.…·]){2,}(?=\s*(?:/|$))|(?a:\s*\(\d{1,2}\)){2,}(?=\s*(?:/|：|$))")


def pairs_of(block: Block, unit: str = "") -> tuple[Pair, ...]:
    """(column header, cell) of a table row, empty cells and the unit line left out; none for prose."""
    return _pairs(block.labelled, unit) if block.labelled and block.labelled != block.text else ()


def unit_of(block: Block, chunk: Chunk) -> str:
    """The line that says what a table row's figures are counted in: it ends the row and stands above the table."""
    line = block.labelled.rpartition(" | ")[2]
    return line if line in chunk.prefix.splitlines() else ""


@lru_cache(maxsize=8192)
def _pairs(labelled: str, unit: str) -> tuple[Pair, ...]:
    row = labelled.removesuffix(f" | {unit}") if unit else labelled
    parts = [without_leaders(part).partition("：") for part in row.split(" | ")]
    pairs = [(head.strip(), cell.strip()) if colon else ("", head.strip()) for head, colon, cell in parts]
    return tuple((" ".join(head.split()), " ".join(cell.split())) for head, cell in pairs if cell)


def without_leaders(text: str) -> str:
    return _LEADERS.sub("", text)


def label_of(pairs: Sequence[Pair]) -> str:
    """The row's own label, without those of its groups, but for a bare `Total`: that is of the last of them."""
    groups, _, label = pairs[0][1].rpartition(" / ") if pairs else ("", "", "")
    return f"{groups.rpartition(' / ')[2]} {label}".strip() if _TOTAL.fullmatch(label) else label


def asked_pairs(pairs: Sequence[Pair], question: Request) -> Sequence[Pair] | None:
    """The row's first pair, those of the columns that are asked for and the cell that is named; all where nothing tells
    them apart.

    None where the columns are of periods, and none of the one that is asked for.
    """
    columns = [*pairs[1:]]
    if not _is_of_period(columns, question):
        return None
    if question.wants_growth and (rates := [each for each in columns if _is_rate(each)]):
        return [pairs[0], *rates]
    averaged = question.arithmetic == "average" and any(_AVERAGE.search(header) for header, _ in columns)
    if question.wants_growth or (question.arithmetic and not averaged) or len(columns) < 2:
        return pairs
    columns = [column for column in columns if not averaged or _AVERAGE.search(column[0])]
    columns = _of_kinds_asked(_of_period(_of_ordinal(columns, question), question), question)
    if question.counts and not question.wants_date:
        columns = [each for each in columns if not _WORDS_ALONE.fullmatch(each[1])] or columns
    shares = [_share(header, question) for header, _ in columns]
    best = max(shares, default=0.0)
    hardly = best < _HARDLY and all(
        _BLANK.fullmatch(cell) for (_, cell), share in zip(columns, shares, strict=True) if share == best
    )
    if best and not hardly and len(question.periods) < 2:
        columns = [column for column, share in zip(columns, shares, strict=True) if share == best]
    columns = _of_numbers(columns, question)
    if len(columns) > 1:
        columns = _of_kind(columns, percent=question.wants_percent)
    return [pairs[0], *(each for each in pairs[1:] if each in columns or names_asked(each[1], question))]


def names_asked(cell: str, question: Request) -> bool:
    """Whether a cell is what the question names: the company that a row is of, in whatever column it stands."""
    return any(anchor.is_named_by(cell) for anchor in question.of_kind("name"))


def said_row(said: Sequence[Pair], unit: str, *, chinese: bool) -> str:
    """`header: cell` pairs, every piece as printed, and the unit line where it counts one of them."""
    colon, comma = ("：", "，") if chinese else (": ", "; ")
    row = comma.join(f"{header}{colon}{cell}" if header else cell for header, cell in said)
    label = said[0][1] if said else ""
    if not unit or all(_UNSCALED.search(f"{header} {cell}") for header, cell in said[1:]) or _PER_SHARE.search(label):
        return row
    unit = _short(unit)
    bracketed = unit[0] in "(（"
    return f"{row} {unit}" if bracketed else f"{row}（{unit}）" if chinese else f"{row} ({unit})"


def _short(unit: str) -> str:
    """Of a sentence that says the unit among other things, the words that do."""
    stating = _STATES_UNIT.search(unit) if len(unit) > _LONG_UNIT else None
    return stating[0].strip() if stating else unit


@lru_cache(maxsize=8192)
def periods_in(header: str) -> Parts:
    """The parts of all periods that a header names."""
    found = (parts_of(quantity) for quantity in lex(header, locale="en"))
    return frozenset[str]().union(*found)


def year_of(header: str) -> int:
    """The latest year of a header; 0 for none."""
    return max((int(part[1:]) for part in periods_in(header) if part[0] == "y"), default=0)


def _is_of_period(columns: Sequence[Pair], question: Request) -> bool:
    if not question.periods:
        return True
    dated = [header for header, _ in columns if year_of(header)]
    return len(dated) < len(columns) or not dated or any(_names_period(header, question) for header in dated)


def _names_period(header: str, question: Request) -> bool:
    return any(anchor.is_named_by(header) or is_year_end(header, anchor.text) for anchor in question.periods)


def is_year_end(header: str, asked: str) -> bool:
    """A column `2019` where `October 31, 2019` is asked for; none of a quarter."""
    year = year_of(header)
    parts = periods_in(header) | periods_in(asked)
    return bool(year) and year == year_of(asked) and not any(part[0] in "QH" for part in parts) and not _is_part(header)


def _is_rate(column: Pair) -> bool:
    return _CHANGE.search(column[0]) is not None and "%" in " ".join(column)


def _of_period(columns: Sequence[Pair], question: Request) -> list[Pair]:
    """The columns of the periods that are asked for; of none, those of the latest year, whole years before parts."""
    if question.periods:
        asked = [column for column in columns if _names_period(column[0], question)]
        current = [] if any(year_of(header) for header, _ in columns) else _current(columns)
        return asked or current or [*columns]
    if question.superlative or question.names or question.wants_date or question.which_period:
        return [*columns]
    years = [year_of(header) for header, _ in columns]
    if len({_share(header, question) for header, _ in columns}) > 1:
        return [*columns]  # the question names one by another word: `Launch: May 2009`
    if not all(years) or len(set(years)) < 2:
        return [*columns]
    whole = [not _is_part(header) for header, _ in columns]
    latest = max(year for year, full in zip(years, whole, strict=True) if full or not any(whole))
    return [
        column
        for column, year, full in zip(columns, years, whole, strict=True)
        if year == latest and (full or not any(whole))
    ]


def _of_ordinal(columns: Sequence[Pair], question: Request) -> list[Pair]:
    """Without the columns of another quarter or half than the question's: `Fourth Quarter` for the second."""
    asked = set(_ORDINAL.findall(question.text.lower()))
    kept = [each for each in columns if not asked or not (own := set(_ORDINAL.findall(each[0].lower()))) or own & asked]
    return kept or [*columns]


def is_negated(text: str) -> bool:
    return _NEGATED.search(text) is not None


def is_of_the_period(pairs: Sequence[Pair]) -> bool:
    """Whether a row has a column of the period that the whole report is of: `本报告期`."""
    return bool(_current(pairs[1:]))


def _current(columns: Sequence[Pair]) -> list[Pair]:
    return [column for column in columns if _CURRENT.search(column[0])]


def _of_kinds_asked(columns: Sequence[Pair], question: Request) -> list[Pair]:
    """Without those that deny what is asked, that tell how sure a figure is, a rate where a number is asked for, and
    all but rates where a rate is.
    """
    rates = [column for column in columns if _RATE.search(column[0])]
    kept = rates if rates and question.wants_percent and _RATE.search(question.text) else [*columns]
    for pattern, unwanted in ((_NEGATED, True), (_SURENESS, True), (_RATE, question.counts)):
        if unwanted and not pattern.search(question.text):
            kept = [column for column in kept if not pattern.search(column[0])] or kept
    return kept


def _is_part(header: str) -> bool:
    return any(part[0] in "QH" for part in periods_in(header)) or bool(
        re.search(r"(?i)\b(?:three|six|nine) months\b|quarter", header)
    )


def _of_kind(columns: Sequence[Pair], *, percent: bool) -> list[Pair]:
    """Shares where a percentage is asked for, amounts elsewhere; changes only where nothing else is left."""
    kept = [column for column in columns if bool(_SHARE_OF.search(" ".join(column))) == percent]
    kept = kept or [*columns]
    kept = [column for column in kept if not _CHANGE.search(column[0])] or kept
    return [column for column in kept if _WHOLE.search(column[0])] or kept


def _of_numbers(columns: Sequence[Pair], question: Request) -> list[Pair]:
    """Of columns that are told apart by small numbers (`4-year-olds`), those with the question's."""
    numbers = [{word for word in reading(header).sequence if _SMALL.fullmatch(word)} for header, _ in columns]
    kept = [each for each, own in zip(columns, numbers, strict=True) if own and own <= question.words.terms]
    return kept or [*columns]


def are_rates(said: Sequence[Pair]) -> bool:
    """Whether all of these columns are, by their headers."""
    return len(said) > 1 and all(map(_RATE.search, _headers(said)))


def is_restricted(said: Sequence[Pair], question: Request) -> bool:
    """Whether all of these columns are of less than what is asked for: `Graduate only`."""
    return len(said) > 1 and all(map(_ONLY.search, _headers(said))) and not _ONLY.search(question.text)


def _headers(said: Sequence[Pair]) -> list[str]:
    return [header for header, _ in said[1:]]


def share_said(said: Sequence[Pair], question: Request) -> float:
    """How much of the best of these columns' headers the question says, 0..1."""
    return max((_share(header, question) for header, _ in said[1:]), default=0.0)


def _share(header: str, question: Request) -> float:
    """How much of a header the question says."""
    words = [word for word in reading(header).sequence if not word.isdigit() and word not in _OF_ALL]
    if not words:
        return 0.0
    wanted = question.sayings
    named = _names_of(header)
    return sum(word in wanted or word in named & wanted for word in words) / len(words)


@lru_cache(maxsize=4096)
def _names_of(header: str) -> frozenset[str]:
    return frozenset(notion.said for notion in notions_of(header))
