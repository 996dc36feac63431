"""Reads one displayed page: text layer or OCR, tables, layout, pictures. Everything in display space.

One extraction of the characters, one render, one run of the layout model; tables are looked for where it or drawn
rules say so, OCR is used where there is no text layer to trust.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pymupdf

from ingest.drafts import PageDraft
from ingest.layer_check import agreement, looks_misspelled
from ingest.layout import LayoutBox, page_drafts, predict_layout, trusted_boxes
from ingest.limits import Limits
from ingest.ocr import OCR_DPI, WELL_READ, Reading, page_of_words, read_page
from ingest.page_text import Direction, PrintedLine, glyph_count, is_cjk, read_lines
from ingest.plain_page import plain_boxes
from ingest.receipts import is_receipt, with_receipt_rows
from ingest.table_captions import with_surroundings
from ingest.tables import find_tables
from ingest.turned import CLOCKWISE, Turn
from ingest.upright import make_upright
from ingest.visibility import is_blank, mark_unseen, render_grey
from kb_qa.elements import Origin
from kb_qa.geometry import BBox, Page, Quality

FEW_GLYPHS = 60  # a text layer of fewer, on a page that is a picture, is a stamp or a page number
PICTURE_PAGE = 0.45  # share of the page that a picture covers
TRUSTED_OCR = 0.9
AGREES = 0.85  # a layer made by another OCR: below it ours is taken, where it is sure of itself
DISAGREES = 0.6  # a text layer less like what OCR reads of the same lines says something else than the page


@dataclass(frozen=True, slots=True)
class _Content:
    """Lines of a page with where they came from, and what a reader should know of them."""

    lines: tuple[PrintedLine, ...]
    origin: Origin
    quality: Quality
    reading: Reading | None = None  # where OCR was used; the lines are then in its turned space


def read_page_draft(page: pymupdf.Page, number: int, limits: Limits, *, ocr_dpi: float = OCR_DPI) -> PageDraft:
    """The page numbered `number`. Raises whatever MuPDF, the models or the OCR raise on a page they cannot read."""
    facts = Page(
        number=number,
        width=round(page.rect.width, 3),
        height=round(page.rect.height, 3),
        rotation=page.rotation,
        label=page.get_label() if page.parent.is_pdf else "",
    )
    page = make_upright(page)
    lines = read_lines(page)
    turn = upright_turn(lines, page.rect.width, page.rect.height)
    if turn.degrees:
        page.set_rotation(turn.degrees)
        page = make_upright(page)
        lines = read_lines(page)
    draft = _read(page, lines, facts, limits, ocr_dpi)
    return replace(draft, drafts=tuple(turn.back.draft(part) for part in draft.drafts))


def upright_turn(lines: Sequence[PrintedLine], width: float, height: float) -> Turn:
    """The turn after which most of the text runs from left to right: a page printed sideways is read upright."""
    glyphs: Counter[Direction] = Counter()
    for line in lines:
        if not line.vertical:
            glyphs[line.direction] += glyph_count([line])
    most = max(CLOCKWISE, key=lambda direction: glyphs[direction])
    sideways = most != "right" and glyphs[most] > glyphs.total() / 2
    return Turn(-90 * CLOCKWISE.index(most) % 360 if sideways else 0, width, height)


def _read(page: pymupdf.Page, lines: Sequence[PrintedLine], facts: Page, limits: Limits, ocr_dpi: float) -> PageDraft:
    grey, scale = render_grey(page)
    if not lines and is_blank(grey):
        return PageDraft(facts)
    lines = mark_unseen(lines, grey, scale)
    pictures = _pictures(page)
    content = _content(page, lines, pictures, limits, ocr_dpi)
    facts = replace(facts, quality=content.quality)
    if not content.lines and not pictures:
        return PageDraft(facts)
    return _laid_out(page, facts, content, pictures)


def _pictures(page: pymupdf.Page) -> list[BBox]:
    frame = BBox(0.0, 0.0, page.rect.width, page.rect.height)
    boxes = (BBox(*(float(value) for value in image["bbox"])) for image in page.get_image_info())
    return [inside for box in boxes if box.is_finite and (inside := box.intersection(frame)) is not None]


def _content(
    page: pymupdf.Page, lines: Sequence[PrintedLine], pictures: Sequence[BBox], limits: Limits, ocr_dpi: float
) -> _Content:
    shown = [line for line in lines if not line.words[0].hidden]
    invisible = [line for line in lines if line.words[0].hidden == "invisible text"]
    area = max(page.rect.width * page.rect.height, 1.0)
    covered = max((box.area for box in pictures), default=0.0) / area
    strange = unreadable_share(shown)
    if glyph_count(shown) >= FEW_GLYPHS and strange <= 0.3:
        if looks_misspelled(shown) and (alike := agreement(page, shown)) is not None and alike < DISAGREES:
            return _read_by_ocr(page, lines, 1.0, limits, ocr_dpi)
        return _Content(tuple(lines), "text-layer", _layer_quality(strange))
    is_picture = covered >= PICTURE_PAGE or sum(box.area for box in pictures) / area >= PICTURE_PAGE
    if is_picture and glyph_count(invisible) >= FEW_GLYPHS and looks_like_language(invisible):
        alike = agreement(page, invisible)
        if alike is not None and alike < AGREES:
            ours = _read_by_ocr(page, lines, strange, limits, ocr_dpi)
            if ours.reading is not None and ours.reading.confidence >= WELL_READ:
                return ours
        grade = "fair" if alike is None or alike >= AGREES else "poor"
        said = "it could not be checked" if alike is None else f"a sample of it agrees with ours to {alike:.0%}"
        reason = f"the text layer was made by OCR; {said}"
        return _Content(tuple(_unhidden(lines)), "ocr", Quality(grade, (reason,)))
    if shown and strange <= 0.3 and not is_picture:
        return _Content(tuple(lines), "text-layer", _layer_quality(strange))
    return _read_by_ocr(page, lines, strange, limits, ocr_dpi)


def _read_by_ocr(
    page: pymupdf.Page, lines: Sequence[PrintedLine], strange: float, limits: Limits, ocr_dpi: float
) -> _Content:
    """What OCR reads, beside the little that the text layer has; an unreadable text layer is set aside."""
    reading = read_page(page, megapixels=limits.max_megapixels, dpi=ocr_dpi)
    kept = [reading.turn.line(line) for line in lines if line.words[0].hidden or strange <= 0.3]
    shown = [line.bbox for line in kept if not line.words[0].hidden]
    read = [line for line in reading.lines if not any(line.bbox.overlap(box) > 0.5 for box in shown)]
    read = with_receipt_rows(read, reading.paper_width)
    if not read:
        return _Content(tuple(lines), "text-layer" if shown else "ocr", Quality())
    reasons = [f"read by OCR, confidence {reading.confidence:.2f}"]
    if strange > 0.3:
        reasons.insert(0, "the characters of the text layer cannot be read")
    grade = "fair" if reading.confidence >= TRUSTED_OCR else "poor"
    return _Content((*kept, *read), "ocr", Quality(grade, tuple(reasons)), reading)


def _unhidden(lines: Sequence[PrintedLine]) -> list[PrintedLine]:
    return [
        replace(line, words=tuple(replace(word, hidden="") for word in line.words))
        if line.words[0].hidden == "invisible text"
        else line
        for line in lines
    ]


def _layer_quality(strange: float) -> Quality:
    if strange == 0:
        return Quality()
    return Quality("fair", (f"{max(strange, 0.001):.1%} of the characters have no readable form",))


def unreadable_share(lines: Sequence[PrintedLine]) -> float:
    """Share of characters that stand for nothing: U+FFFD, controls, private use. 0 where there are none at all."""
    text = "".join(word.text for line in lines for word in line.words)
    strange = sum(char == "\ufffd" or char < " " or "\ue000" <= char <= "\uf8ff" for char in text)
    return strange / len(text) if text else 0.0


def looks_like_language(lines: Sequence[PrintedLine]) -> bool:
    """Whether most words are made as words or numbers are; the text layer of a bad OCR is not."""
    words = [word.text.strip("\"'“”‘’.,;:!?()[]{}«»-–—") for line in lines for word in line.words]
    words = [word for word in words if word]
    plain = sum(
        is_cjk(word[0])
        or word.isdigit()
        or (word.isalpha() and (word.islower() or word.istitle() or word.isupper()))
        or word.replace(",", "").replace(".", "").replace("%", "").replace("$", "").isdigit()
        for word in words
    )
    return bool(words) and plain >= 0.75 * len(words)


def _boxes(
    page: pymupdf.Page, shown: Sequence[PrintedLine], content: _Content, pictures: Sequence[BBox]
) -> list[LayoutBox]:
    """The layout model's, on a page that needs it."""
    if content.origin == "text-layer":
        drawn = sum(len(drawing["items"]) for drawing in page.get_cdrawings())
        frame = BBox(0.0, 0.0, page.rect.width, page.rect.height)
        boxes = plain_boxes(shown, frame, drawn=drawn, pictures=len(pictures))
        if boxes is not None:
            return boxes
    return predict_layout(page)


def _laid_out(page: pymupdf.Page, facts: Page, content: _Content, pictures: Sequence[BBox]) -> PageDraft:
    shown = [line for line in content.lines if not line.words[0].hidden]
    if not shown:
        drafts = page_drafts(content.lines, (), tables=(), pictures=pictures, origin=content.origin)
        return PageDraft(facts, tuple(drafts))
    surface = page if content.reading is None else page_of_words(page, content.reading)
    rows = content.reading is not None and is_receipt(shown, content.reading.paper_width)
    boxes = [] if rows else _boxes(surface, shown, content, pictures)
    tables = find_tables(surface, content.lines, boxes, origin=content.origin)
    drafts = page_drafts(
        tables.lines,
        trusted_boxes(boxes, tables.lines, tables.drafts),
        tables=tables.drafts,
        pictures=() if content.origin == "ocr" else pictures,
        origin=content.origin,
    )
    drafts = with_surroundings(drafts, facts.number)
    if content.reading is not None:
        drafts = [content.reading.turn.back.draft(draft) for draft in drafts]
    flags = (f"page {facts.number}: tables could not be looked for",) if tables.failed else ()
    return PageDraft(facts, tuple(drafts), flags)
