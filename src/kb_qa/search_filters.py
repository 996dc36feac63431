"""What a reader limits a search to, as he writes it: days, months or years, and pages or ranges of them."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import Any

from kb_qa.answers import Filters, Language
from kb_qa.errors import InputError

MAX_PAGE = 1_000_000
MOST_PAGES = 5000  # of one filter

_LIMITS = {
    "pages": ("pages {}", "第{}页"),
    "text": ("text", "文字"),
    "table": ("table", "表格"),
    "image": ("image", "图片"),
    "since": ("since {}", "{}起"),
    "until": ("until {}", "截至{}"),
}
_DATE = re.compile(r"(?a)(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")
_PAGES = re.compile(r"(?a)(\d{1,7})(?:-(\d{1,7}))?")


def first_day(text: str) -> str:
    """`2024`, `2024-03` or `2024-03-31` as the first day that it names, `2024-01-01`. Raises InputError."""
    year, month, day = _date_parts(text)
    return _day(text, year, month or 1, day or 1)


def last_day(text: str) -> str:
    """`2024`, `2024-02` or `2024-02-29` as the last day that it names, `2024-12-31`. Raises InputError."""
    year, month, day = _date_parts(text)
    month = month or 12
    return _day(text, year, month, day or (calendar.monthrange(year, month)[1] if 1 <= month <= 12 and year else 1))


def span(since: str, until: str) -> tuple[str, str]:
    """Both as days; what is empty stays so. Raises InputError where one is no date or the span is empty."""
    start, end = first_day(since) if since else "", last_day(until) if until else ""
    if start and end and start > end:
        raise InputError(f"nothing is dated since {since!r} and until {until!r}: the first is the later one")
    return start, end


def page_numbers(texts: Iterable[str]) -> tuple[int, ...]:
    """Pages from `7` and `12-15`. Raises InputError for anything else, and for more than 5,000."""
    pages = dict.fromkeys(page for text in texts for page in _pages_of(text))
    if len(pages) > MOST_PAGES:
        raise InputError(f"{len(pages)} pages are too many for one filter; give {MOST_PAGES} at most")
    return tuple(pages)


def told(filters: Filters) -> str:
    """Which documents the filters leave, in words."""
    parts = [", ".join(map(repr, filters.documents))] if filters.documents else []
    parts += [f"folder {filters.folder!r}"] if filters.folder else []
    parts += [f"dates since {filters.since}"] if filters.since else []
    parts += [f"dates until {filters.until}"] if filters.until else []
    return " and ".join(parts)


def limits_told(limits: Mapping[str, Any], language: Language = "en") -> Iterator[str]:
    """What else than documents a search was limited to, in words; `limits` as an answer's `start` event has them."""
    if pages := limits.get("pages"):
        yield _told("pages", ", ".join(map(str, pages)), language)
    for kind in limits.get("element_types", ()):
        yield _told(kind, kind, language)
    for name in ("since", "until"):
        if name in limits:
            yield _told(name, limits[name], language)


def _told(name: str, value: str, language: Language) -> str:
    english, chinese = _LIMITS[name]
    return (chinese if language == "zh" else english).format(value)


def _pages_of(text: str) -> Iterator[int]:
    match = _PAGES.fullmatch(text.strip())
    first = int(match[1]) if match else 0
    last = int(match[2] or first) if match else 0
    if not 1 <= first <= last <= MAX_PAGE:
        raise InputError(f"{text!r:.40} is no page; say 7 or 12-15, counted from 1")
    if last - first >= MOST_PAGES:
        raise InputError(f"{text!r} are too many pages for one filter; give {MOST_PAGES} at most")
    yield from range(first, last + 1)


def _date_parts(text: str) -> tuple[int, int, int]:
    match = _DATE.fullmatch(text.strip())
    if match is None:
        raise _no_date(text)
    return int(match[1]), int(match[2] or 0), int(match[3] or 0)


def _day(text: str, year: int, month: int, day: int) -> str:
    try:
        return date(year, month, day).isoformat()
    except ValueError as error:
        raise _no_date(text) from error


def _no_date(text: str) -> InputError:
    return InputError(f"{text!r:.40} is no date; say 2024-03-31, 2024-03 or 2024")
