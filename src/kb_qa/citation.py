"""From a stored chunk to a citation: its label, its level, its regions. Nothing is opened and nothing is guessed."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from kb_qa.answers import Citation, Language, Level, LevelChoice, Located
from kb_qa.elements import Block, Chunk, Element
from kb_qa.geometry import Page, Quality, Region
from kb_qa.locate import locate
from kb_qa.page_parts import cited_pages
from kb_qa.records import chunk_place, readable

TYPE_NAMES: Mapping[Language, Mapping[str, str]] = {
    "zh": {"text": "文本", "table": "表格", "image": "图片", "caption": "图片·模型描述"},
    "en": {"text": "text", "table": "table", "image": "image", "caption": "image·described by a model"},
}

# A recognised text of less confidence is shown with its picture.
SURE = 0.9
GRADES = ("good", "fair", "poor")  # best first


def label(
    source: str,
    *,
    section: Sequence[str] = (),
    pages: Iterable[int] = (),
    element_type: str = "text",
    described_by: str = "",
    language: Language = "en",
) -> str:
    """What a reader sees of a source: `briefing.pdf · P4·table`, `hb.md · 手册 > 假期`, or the name alone.

    The section stands only where there is no page (S5.4). Pages may come in any order; ranges read `P4–5`.
    `element_type` may be `caption`: what a model wrote of a picture is never shown without saying so.
    """
    name = one_line(source)
    ranges = page_ranges(pages)
    kind = TYPE_NAMES[language].get(element_type, one_line(element_type))
    if described_by:
        kind = f"{kind}（{one_line(described_by)}）" if language == "zh" else f"{kind} ({one_line(described_by)})"
    if ranges:
        return f"{name} · P{ranges}·{kind}"
    parts = [name, section_path(section), kind if element_type == "caption" else ""]
    return " · ".join(part for part in parts if part)


def page_ranges(pages: Iterable[int]) -> str:
    """`4`, `4–5`, `4–5, 9`; empty for none."""
    runs: list[tuple[int, int]] = []
    for page in sorted(set(pages)):
        if runs and page == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], page)
        else:
            runs.append((page, page))
    return ", ".join(str(first) if first == last else f"{first}–{last}" for first, last in runs)


def section_path(section: Sequence[str]) -> str:
    return " > ".join(title for title in map(one_line, section) if title)


def one_line(text: str) -> str:
    """A name or heading as it may be shown: one line, without control or direction characters."""
    if text.isascii() and text.isprintable():  # most are, and every heading of a context passes here
        return " ".join(text.split())
    visible = (" " if character.isspace() else character for character in text)
    kept = "".join(character for character in visible if unicodedata.category(character) not in ("Cc", "Cf", "Cs"))
    return " ".join(kept.split())


def build_citation(
    chunk: Chunk,
    block: Block,
    *,
    number: int,
    span: tuple[int, int],
    language: Language,
    level: LevelChoice = "auto",
) -> Citation:
    """The citation of `block` for the claim at `span` of the answer, from what is stored alone (S5.3).

    `located` is left open: `dataclasses.replace(citation, located=locate(…))` adds the rectangles.
    """
    regions = block.regions or chunk.regions
    resolved = resolve_level(
        level, element_type=chunk.element_type, origin=chunk.origin, confidence=chunk.confidence, regions=regions
    )
    return Citation(
        number=number,
        start=span[0],
        end=span[1],
        cited_text=readable(block.text),
        level=resolved,
        label=_label_at(
            resolved, chunk.source, chunk.section, regions, _Kind(chunk.shown_as, chunk.described_by, language)
        ),
        document_id=chunk.document_id,
        document=chunk.source,
        element_type=chunk.element_type,
        element_id=block.element_id,
        section=chunk.section,
        regions=regions,
        origin=chunk.origin,
        described_by=chunk.described_by,
    )


def citation_from_metadata(
    metadata: Mapping[str, Any],
    *,
    number: int,
    span: tuple[int, int],
    language: Language,
    level: LevelChoice = "auto",
    cited_text: str = "",
) -> Citation:
    """The citation of a whole chunk, from the flat metadata of the vector store (`records.metadata_of`)."""
    place = chunk_place(metadata)
    resolved = resolve_level(
        level, element_type=place.element_type, origin=place.origin, confidence=place.confidence, regions=place.regions
    )
    return Citation(
        number=number,
        start=span[0],
        end=span[1],
        cited_text=readable(cited_text),
        level=resolved,
        label=_label_at(
            resolved, place.source, place.section, place.regions, _Kind(place.shown_as, place.described_by, language)
        ),
        document_id=place.document_id,
        document=place.source,
        element_type=place.element_type,
        section=place.section,
        regions=place.regions,
        origin=place.origin,
        described_by=place.described_by,
    )


def resolve_level(
    choice: LevelChoice,
    *,
    element_type: str,
    origin: str,
    confidence: float | None,
    regions: Sequence[Region],
) -> Level:
    """The level that the choice comes to for this source.

    "auto" shows the picture of what went through a conversion that can go wrong (a table, an image, a recognised
    text or one of low confidence) and the page of everything else. A region without geometry falls back to the page, a
    page that does not exist to the text.
    """
    converted = element_type != "text" or origin in ("ocr", "caption")
    unsure = confidence is not None and confidence < SURE
    wanted: Level = choice if choice != "auto" else "region" if converted or unsure else "page"
    if wanted == "region" and not any(region.bbox is not None for region in regions):
        wanted = "page"
    return "text" if wanted == "page" and not regions else wanted


def level_on(quality: Quality | None, choice: LevelChoice, *, figures: bool = False) -> LevelChoice:
    """The choice for text on pages of this quality: "auto" shows the picture of what stands on a doubtful page, and of
    whatever bears out a figure.
    """
    doubtful = quality is not None and quality.grade != "good"
    return "region" if choice == "auto" and (doubtful or figures) else choice


def at_level(citation: Citation, level: Level, language: Language) -> Citation:
    """The same citation at another level, as far as its regions allow: a page becomes its picture on request."""
    resolved = resolve_level(
        level, element_type=citation.element_type, origin="parser", confidence=None, regions=citation.regions
    )
    shown_as = "caption" if citation.origin == "caption" else citation.element_type
    kind = _Kind(shown_as, citation.described_by, language)
    shown = _label_at(resolved, citation.document, citation.section, citation.regions, kind)
    return replace(citation, level=resolved, label=shown)


def locate_cited(quote: str, elements: Sequence[Element], *, start: int, end: int) -> Located:
    """Where a quote of a page location stands: on the cited pages (`cited_pages`) and nowhere else (S2.3)."""
    return locate(quote, elements, pages=cited_pages(start, end))


def worst_quality(pages: Iterable[Page | None]) -> Quality | None:
    """The worst grade of the pages with the reasons of all; None where no page is known."""
    qualities = [page.quality for page in pages if page is not None]
    if not qualities:
        return None
    grade = max((quality.grade for quality in qualities), key=GRADES.index)
    return Quality(grade, tuple(dict.fromkeys(reason for quality in qualities for reason in quality.reasons)))


class _Kind(NamedTuple):
    element_type: str
    described_by: str
    language: Language


def _label_at(level: Level, source: str, section: Sequence[str], regions: Sequence[Region], kind: _Kind) -> str:
    """At level text a document with pages is named without its page (S5.1); one without pages keeps its section."""
    if level == "text" and regions:
        return label(source, **kind._asdict())
    return label(source, section=section, pages=[region.page for region in regions], **kind._asdict())
