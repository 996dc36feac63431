"""What a parser without geometry reads, before it becomes elements: passages in reading order."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from kb_qa.elements import Element, ElementType, Origin, Table, content_id
from kb_qa.geometry import Region

_SENTENCE_END = re.compile(r"[.!?…。！？；;:：][\"'”’»）)】」』\]]*$")


@dataclass(frozen=True, slots=True)
class Passage:
    """`depth` counts headings from 0 (outermost), None for what is no heading. `category` is unstructured's.

    `confidence` is the OCR's, where `origin` is that.
    """

    category: str
    text: str
    depth: int | None = None
    table: Table | None = None
    page: int | None = None
    hidden: str = ""
    origin: Origin = "parser"
    confidence: float | None = None


def prose(text: str, *, page: int | None = None, hidden: str = "") -> Passage:
    """A paragraph: NarrativeText where it ends as a sentence does, in Chinese and in English."""
    category = "NarrativeText" if _SENTENCE_END.search(text.rstrip()) else "UncategorizedText"
    return Passage(category, text, page=page, hidden=hidden)


def is_file_name(text: str) -> bool:
    """Whether a picture's description is the name of its file, which programs put there."""
    return bool(re.search(r"\.(?:png|jpe?g|gif|bmp|tiff?|svg|webp|emf|wmf)$", text.strip(), re.IGNORECASE))


def raised(before: str, text: str) -> str:
    """A raised number behind a digit, kept apart: a note or an exponent; `250⁹` must not become 2509."""
    if not re.fullmatch(r"[-−–+]?\d+", text) or not before[-1:].isdigit():
        return text
    return f"^{text}" if not text.isdigit() or re.search(r"(?<!\d)10$", before) else f" [{text}]"


def elements_of(passages: Iterable[Passage], document_id: str) -> tuple[Element, ...]:
    """Elements in order, each under the path of headings above it.

    Passages without text are left out; a heading without text only ends the sections of its depth.
    """
    elements: list[Element] = []
    headings: list[tuple[int, str]] = []
    for passage in passages:
        if passage.depth is not None:
            while headings and headings[-1][0] >= passage.depth:
                headings.pop()
        if not passage.text.strip():
            continue
        section = tuple(text for _, text in headings)
        elements.append(_element(passage, document_id, len(elements), section))
        if passage.depth is not None:
            headings.append((passage.depth, " ".join(passage.text.split())))
    return tuple(elements)


def _element(passage: Passage, document_id: str, order: int, section: tuple[str, ...]) -> Element:
    return Element(
        id=content_id(document_id, "element", order),
        document_id=document_id,
        order=order,
        element_type=_element_type(passage),
        category=passage.category,
        text=passage.text,
        regions=() if passage.page is None else (Region(passage.page, None),),
        section=section,
        origin=passage.origin,
        confidence=passage.confidence,
        table=passage.table,
        hidden=passage.hidden,
    )


def _element_type(passage: Passage) -> ElementType:
    if passage.table is not None:
        return "table"
    return "image" if passage.category == "Image" else "text"
