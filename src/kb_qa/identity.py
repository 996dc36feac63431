"""What a document is called by itself: what stands above all its pages and on its cover, whose it is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from kb_qa.elements import Element

COVER_LINES = 8
MOST_CALLED = 16
_LONGEST = 90  # characters of a name
# The share of pages that a header stands on to be the document's, and not a chapter's; and how often at least.
_SHARE_OF_PAGES, _REPEATED = 1 / 3, 3
_HEADERS, _ORGANISATIONS = 3, 3
# An organisation that is named a third as often as the one named most is one of those that the document is of.
_SHARE_OF_MOST = 1 / 3
_FORM = (
    r"(?:Inc|Incorporated|Corp|Corporation|Ltd|Limited|PLC|Plc|plc|LLC|LLP|L\.P|N\.V|S\.A|SE|AG|GmbH|Co"
    r"|INC|CORP|CORPORATION|LTD|LIMITED|CO|GROUP|HOLDINGS|BANCORP|Group|Holdings|Bancorp|Bancshares|Trust|University|Foundation)"
)
_ENGLISH = re.compile(
    rf"(?a)\b((?:[A-Z][A-Za-z0-9&'.-]*,?\s+(?:(?:of|and|&)\s+)?){{1,5}}?{_FORM}\b(?:,?\s+{_FORM}\b)*)"
)
_CHINESE = re.compile(
    r"([\u4e00-\u9fff（）()]{2,20}?(?:股份有限公司|有限责任公司|有限公司|集团|银行|大学|学院|医院|研究院|基金会|协会))"
)
_NOT_IN_NAME = re.compile(r".*(?:本|该|与|和|及|的|在|由|为|是|向|对|给|从|即|年度?|月|日|称|）|\)|（|\()")
_NUMBER = re.compile(r"\d+")
_LETTER = re.compile(r"[^\W\d_]")
_OPENING = frozenset("the this our in for at by of and to".split())


def called(elements: Iterable[Element]) -> tuple[str, ...]:
    """Names, the surest first; none twice. Every element of the document is looked at once."""
    headers, organisations, cover, pages = Counter[str](), Counter[str](), list[str](), 1
    for element in elements:
        if element.hidden or element.origin == "caption":
            continue
        text = " ".join(element.text.split())
        pages = max([pages, *(region.page for region in element.regions)])
        if element.category in {"Header", "Footer"}:
            headers[_NUMBER.sub("", text).strip(" |·-–—")] += 1
        elif len(cover) < COVER_LINES and len(text) <= _LONGEST and _is_early(element):
            cover.append(text)
        organisations.update(_organisations(text))
    names = [
        *(text for text, count in headers.most_common(_HEADERS) if count >= max(_SHARE_OF_PAGES * pages, _REPEATED)),
        *_most(organisations),
        *cover,
    ]
    plain = (" ".join(name.split()) for name in names)
    return tuple(dict.fromkeys(name for name in plain if len(name) <= _LONGEST and _LETTER.search(name)))[:MOST_CALLED]


def _is_early(element: Element) -> bool:
    """On the first page, or among the first lines of what has no pages."""
    return element.regions[0].page == 1 if element.regions else element.order < COVER_LINES


def _most(organisations: Counter[str]) -> Sequence[str]:
    most = max(organisations.values(), default=0)
    return [name for name, count in organisations.most_common(_ORGANISATIONS) if count >= max(_SHARE_OF_MOST * most, 1)]


def _organisations(text: str) -> Iterator[str]:
    for match in _ENGLISH.finditer(text):
        words = match[1].split()
        while words and words[0].lower() in _OPENING:
            words.pop(0)
        if len(words) > 1:
            yield " ".join(words)
    for match in _CHINESE.finditer(text):
        name = _NOT_IN_NAME.sub("", match[1])
        if len(name) > 3:
            yield name
