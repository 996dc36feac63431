"""The numbers of ordered lists, which HTML leaves to the browser: written into the items, as a reader sees them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree, html  # type: ignore[import-untyped]  # ships no types

_UNNUMBERED = re.compile(r"list-style(?:-type)?\s*:[^;]*\bnone\b", re.IGNORECASE)
_WHOLE = re.compile(r"[+-]?\d{1,9}")
_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl")),
    *((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_MOST_ROMAN = 3999  # as in browsers: past it, and below 1, letters and Roman numbers are written in figures


def write_list_numbers(root: html.HtmlElement) -> None:
    """Puts `1.`, `b.`, `iv.` before the text of each item of an `ol`, in place, as its attributes say.

    Not where a style takes the numbers away, nor before a text that begins with the same one.
    """
    for ordered in list(root.iter("ol")):
        if _UNNUMBERED.search(ordered.get("style") or ""):
            continue
        for item, number in _numbered(ordered):
            if not _UNNUMBERED.search(item.get("style") or ""):
                _write(item, f"{_marker(number, item.get('type') or ordered.get('type') or '1')}.")


def _numbered(ordered: html.HtmlElement) -> Iterator[tuple[html.HtmlElement, int]]:
    items = ordered.findall("li")
    down = ordered.get("reversed") is not None
    number = _number(ordered.get("start"), len(items) if down else 1)
    for item in items:
        number = _number(item.get("value"), number)
        yield item, number
        number += -1 if down else 1


def _number(text: str | None, otherwise: int) -> int:
    stripped = (text or "").strip()
    return int(stripped) if stripped.isascii() and _WHOLE.fullmatch(stripped) else otherwise


def _marker(number: int, kind: str) -> str:
    if kind in ("a", "A") and number > 0:
        letters = ""
        while number > 0:
            number, place = divmod(number - 1, 26)
            letters = chr(ord("a") + place) + letters
        return letters.upper() if kind == "A" else letters
    if kind in ("i", "I") and 0 < number <= _MOST_ROMAN:
        letters = ""
        for value, digits in _ROMAN:
            letters += digits * (number // value)
            number %= value
        return letters.upper() if kind == "I" else letters
    return str(number)


def _write(item: html.HtmlElement, marker: str) -> None:
    """Before the first text of the item; an item that begins with a list of its own keeps its number to itself."""
    for node in item.iter(etree.Element):
        if node.tag in ("ol", "ul", "table") or (node is not item and node.tag == "li"):
            return
        if (text := node.text) and text.strip():
            if not text.lstrip().startswith(marker):
                node.text = f"{marker} {text.lstrip()}"
            return
        for child in node:
            if child.tail and child.tail.strip() and not "".join(child.itertext()).strip():
                child.tail = f"{marker} {child.tail.lstrip()}"
                return
            break
