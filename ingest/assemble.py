"""From the drafts of all pages to the elements of the document: text, words, sections, ids, order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from ingest.drafts import Draft, PageDraft, bbox_of
from ingest.footnotes import with_footnotes
from ingest.furniture import with_furniture
from ingest.headings import SectionPath, with_headings
from ingest.page_breaks import with_joined_pages
from ingest.printed import PrintedLine
from ingest.program_text import with_program_text
from ingest.reading_text import Vocabulary, build_text
from ingest.table_captions import with_document_measures
from ingest.table_elements import build_table
from kb_qa.elements import Element, Word, content_id
from kb_qa.geometry import BBox, Region


def assemble_elements(pages: Sequence[PageDraft], document_id: str) -> tuple[Element, ...]:
    """Elements in reading order. What needs the whole document is decided here: furniture, headings, hyphens."""
    vocabulary = Vocabulary()
    for page in pages:
        for draft in page.drafts:
            vocabulary.add(draft.printed)
    sections = SectionPath()
    elements: list[Element] = []
    pages = with_headings(with_footnotes(with_program_text(with_furniture(pages))))
    for page in with_joined_pages(with_document_measures(pages)):
        frame = BBox(0.0, 0.0, page.page.width, page.page.height)
        for place, draft in enumerate(page.drafts):
            element = _element(draft, page.page.number, frame, vocabulary)
            elements.append(
                replace(
                    element,
                    id=content_id(document_id, page.page.number, place, element.element_type, element.text),
                    document_id=document_id,
                    order=len(elements),
                    section=sections.above(draft, element.text),
                )
            )
    return tuple(elements)


def _element(draft: Draft, page: int, frame: BBox, vocabulary: Vocabulary) -> Element:
    """The element without id, order and section."""
    table = None
    if draft.table is not None:
        table, text, words = build_table(draft.table, page, vocabulary)
    elif draft.element_type == "image":
        text, words = _picture_text(draft, page, vocabulary)
    else:
        verbatim = draft.category == "CodeSnippet"
        text, words = build_text(draft.lines, page, vocabulary, rest=_rest(draft), verbatim=verbatim)
    confidences = [word.confidence for word in words if word.confidence is not None]
    box = draft.bbox.intersection(frame) or draft.bbox
    return Element(
        id="",
        document_id="",
        order=0,
        element_type=draft.element_type,
        category=draft.category,
        text=text,
        regions=(Region(page, box.rounded()), *_later_regions(draft)),
        origin=draft.origin,
        confidence=round(fmean(confidences), 4) if confidences else None,
        words=tuple(words),
        table=table,
        hidden=draft.hidden,
    )


def _rest(draft: Draft) -> list[tuple[int, tuple[PrintedLine, ...]]]:
    """The lines of a paragraph on the pages after its first."""
    parts = []
    following = draft.continuation
    while following is not None:
        parts.append((following.page, following.draft.lines))
        following = following.draft.continuation
    return parts


def _later_regions(draft: Draft) -> list[Region]:
    return [Region(page, bbox_of(lines).rounded()) for page, lines in _rest(draft)]


def _picture_text(draft: Draft, page: int, vocabulary: Vocabulary) -> tuple[str, list[Word]]:
    """The caption on the first line, then each label of the picture on its own."""
    parts: list[Sequence[PrintedLine]] = [draft.caption] if draft.caption else []
    parts.extend((line,) for line in draft.lines)
    text = ""
    words: list[Word] = []
    for part in parts:
        text += "\n" if text else ""
        part_text, part_words = build_text(part, page, vocabulary, offset=len(text))
        text += part_text
        words.extend(part_words)
    return text, words
