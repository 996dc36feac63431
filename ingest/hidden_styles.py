"""What the styles of an HTML file hide: the rules of its own style sheets and of single elements.

Enough of CSS for what hides whole blocks. Rules for print and for narrow screens, and selectors that look at an
element's neighbours, are passed over: what is not known to be hidden is read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_RULE = re.compile(r"([^{}@;]+)\{([^{}]*)\}")
_SELECTOR = re.compile(r"(?P<tag>[a-z][\w-]*)?(?P<id>#[\w-]+)?(?P<classes>(?:\.[\w-]+)*)", re.IGNORECASE)
_HIDING = re.compile(
    r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|font-size\s*:\s*0(?![.\d])"
    r"|opacity\s*:\s*0(?![.\d])|(?:left|right|top|text-indent)\s*:\s*-\d{3,})"
)
_COLOUR = re.compile(r"(?:^|;)\s*(color|background|background-color)\s*:\s*([^;!]+)")


@dataclass(frozen=True, slots=True)
class Selector:
    tag: str
    id: str
    classes: frozenset[str]


def hiding_selectors(sheet: str) -> tuple[Selector, ...]:
    """The simple selectors (`p`, `.note`, `#x`, `p.note`) whose rules hide what they select."""
    rules = _RULE.findall(_without_conditions(_COMMENT.sub("", sheet)))
    names = [name.strip() for selectors, style in rules if _hides(style) for name in selectors.split(",")]
    found = [match for name in names if name and (match := _SELECTOR.fullmatch(name))]
    return tuple(
        Selector(
            (match["tag"] or "").lower(), (match["id"] or "")[1:], frozenset(filter(None, match["classes"].split(".")))
        )
        for match in found
    )


def is_hidden_by(node: Any, selectors: tuple[Selector, ...]) -> bool:
    """Whether the element is hidden by an attribute, its own style, or one of the selectors."""
    if node.get("hidden") is not None or _hides(node.get("style") or ""):
        return True
    classes = frozenset((node.get("class") or "").split())
    return any(
        selector.tag in {"", node.tag} and selector.id in {"", node.get("id")} and selector.classes <= classes
        for selector in selectors
    )


def _hides(style: str) -> bool:
    style = style.lower()
    if _HIDING.search(style):
        return True
    colours = {name.removesuffix("-color"): value.strip() for name, value in _COLOUR.findall(style)}
    return "color" in colours and colours.get("background") == colours["color"]


def _without_conditions(sheet: str) -> str:
    """The sheet without its `@media` blocks and the like, whatever they nest."""
    kept: list[str] = []
    depth = skipped = 0
    for piece in re.split(r"(@[\w-]+[^{};]*\{|[{}])", sheet):
        if piece.startswith("@"):
            skipped = skipped or depth + 1
            depth += 1
        elif piece == "{":
            depth += 1
        elif piece == "}":
            depth -= 1
            if skipped and depth < skipped:
                skipped = 0
                continue
        if not skipped:
            kept.append(piece)
    return "".join(kept)
