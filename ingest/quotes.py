"""What `locate` reads and prints: quotations to find, and where they stand."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kb_qa.elements import Element
from kb_qa.errors import InputError
from kb_qa.listing import located_line
from kb_qa.locate import PrintedText, find_all
from kb_qa.page_parts import on_pages


@dataclass(frozen=True, slots=True)
class Quote:
    """A quotation to find, on one page or anywhere; `id` is the caller's own."""

    text: str
    page: int | None = None
    id: object = None


def read_quotes(path: Path) -> Iterator[Quote]:
    """A JSON object a line. Raises InputError that names the line."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{str(path)!r} cannot be read as UTF-8 text: {error}") from error
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield _quote(line, f"{path.name}, line {number}")


def _quote(line: str, place: str) -> Quote:
    try:
        data = json.loads(line)
    except ValueError as error:
        raise InputError(f"{place}: not JSON ({error})") from error
    if not isinstance(data, dict) or not isinstance(data.get("quote"), str):
        raise InputError(f"{place}: a JSON object with a text `quote` is wanted")
    page = data.get("page")
    if page is not None and (not isinstance(page, int) or page < 1):
        raise InputError(f"{place}: page {page!r} is not a page number")
    return Quote(data["quote"], page, data.get("id"))


def quote_lines(elements: Sequence[Element], quotes: Sequence[Quote]) -> list[dict[str, Any]]:
    """One line a quote, in order; the elements of a page are prepared once, however many quotes ask for it."""
    texts: dict[int | None, PrintedText] = {}
    lines = []
    for quote in quotes:
        if quote.page not in texts:
            texts[quote.page] = PrintedText(on_page(elements, quote.page))
        lines.append(located_line(texts[quote.page].locate(quote.text), quote.id))
    return lines


def found_line(
    query: str, elements: Sequence[Element], *, case: bool, whole_word: bool, diacritics: bool
) -> dict[str, Any]:
    """The one line of `--find-all`: every occurrence, in reading order; one that goes on over a page counts on each."""
    matches: list[dict[str, Any]] = []
    for located in find_all(query, elements, case=case, whole_word=whole_word, diacritics=diacritics):
        regions = located_line(located)["regions"] or [{"page": None, "rects": []}]
        matches += [{"page": region["page"], "rects": region["rects"]} for region in regions]
    return {"matches": matches}


def on_page(elements: Sequence[Element], page: int | None) -> Sequence[Element]:
    """The elements of a page; all elements where no page is given."""
    return elements if page is None else on_pages(elements, (page,))


def located_text(line: dict[str, Any]) -> str:
    if "matches" in line:
        places = line["matches"]
        lines = (f"P{place['page']}  {place['rects']}" if place["page"] else "in the text" for place in places)
        return "\n".join(lines) or "not found"
    if not line["found"]:
        return "not found"
    places = "; ".join(f"P{region['page']} {region['rects']}" for region in line["regions"])
    return places or "found in the text, which has no page"
