"""The two sides of a share or ratio, by the words between them: "A as a percentage of B", "percentage of B is A"."""

from __future__ import annotations

import re
from collections.abc import Iterator

_WORD = r"(?:percentage|percent|proportion|share|portion|fraction|ratio|constitution|%)"
_AS = re.compile(rf"(?ai)^(?P<n>.+?)\bas an? {_WORD} (?:of|to|over) (?P<d>.+)$")
_IS = re.compile(
    rf"(?ai)\b{_WORD} of (?P<d>.+?)\b(?:is|was|were|are|did|does|has|came|comes|made up|consist\w{{0,3}})\b (?P<n>.+)$"
)
_OF = re.compile(rf"(?ai)\b(?:{_WORD}|difference) (?:{_WORD} )?(?:of|between) (?P<rest>.+)$")
_SPLIT = re.compile(r"(?ai)\b(?:to|over|in|out of|among|of|against|within|relative to|and|for)\b")
_VERB = re.compile(
    r"(?ai)^(?P<n>.+?)\b(?:account(?:s|ed)? for|represent(?:s|ed)?|ma(?:kes?|de) up|constitut(?:es?|ed))\b(?P<d>.+)$"
)
_RATIO = re.compile(r"(?ai)\b(?P<n>[\w' -]+?)[ -]to[ -](?P<d>[\w' -]+?)[ -]ratio\b")
_HAN = re.compile(r"^(?P<n>.+?)占(?P<d>.+?)(?:的?(?:比例|比重|份额|百分之|多少)|[\d.]|$)")


def sides(text: str) -> Iterator[tuple[str, str]]:
    """(part, whole) readings of `text`, the surest first."""
    for pattern in (_AS, _VERB, _IS, _RATIO, _HAN):
        match = pattern.search(text)
        if match:
            yield match["n"], match["d"]
    for match in _OF.finditer(text):
        rest = match["rest"]
        for split in _SPLIT.finditer(rest):
            yield rest[: split.start()], rest[split.end() :]
