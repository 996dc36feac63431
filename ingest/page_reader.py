"""Reads one displayed page: text layer or OCR, tables, layout, pictures. Everything in display space.

One extraction of the characters, one render, one run of the layout model; tables are looked for where it or drawn
rules say so, OCR is used where there is no text layer to trust.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pymupdf

from ingest.drafts import Draft, PageDraft
from ingest.form_rows import with_form_rows
from ingest.layer_check import DISAGREES, agreement, looks_misspelled, unreadable_lines, unreadable_share
from ingest.layout import (
    LayoutBox,
    holds_prose,
    is_in_pieces,
    leaves_table_out,
    page_drafts,
    predict_layout,
    trusted_boxes,
)
from ingest.limits import Limits
from ingest.ocr import OCR_DPI, WELL_READ, Reading, page_of_words, read_page
from ingest.page_text import glyph_count, read_lines
from ingest.picture_captions import with_picture_captions
from ingest.picture_text import SURE, PictureReader
from ingest.plain_page import plain_boxes
from ingest.printed import Direction, PrintedLine, is_cjk
from ingest.receipts import is_receipt, with_receipt_rows
from ingest.table_captions import with_surroundings
from ingest.table_confidence import with_table_grade
from ingest.tables import FoundTables, find_tables
from ingest.turned import CLOCKWISE, Turn
from ingest.upright import make_upright
from ingest.visibility import is_blank, mark_unseen, render_grey
from kb_qa.elements import FURNITURE, Origin
from kb_qa.geometry import BBox, Page, Quality

FEW_GLYPHS = 60  # a text layer of fewer, on a page that is a picture, is a stamp or a page number
PICTURE_PAGE = 0.45  # share of the page that a picture covers
TRUSTED_OCR = 0.9
LOOKED_AT = 10_000.0  # square points; a smaller picture is a logo, and the layout model need not see it
UNREAD_PICTURES = "text inside some pictures was not read: there are too many or they are too large"
UNSEEN_TABLES = "tables could not be looked for"
UNREADABLE = "the characters of the text layer cannot be read"
AGREES = 0.85  # a layer made by another OCR: below it ours is taken, where it is sure of itself


@dataclass(frozen=True, slots=True)
class Means:
    """What a page may cost, and what reads its pictures."""

    limits: Limits
    ocr_dpi: float
    picture_reader: PictureReader


@dataclass(frozen=True, slots=True)
class Content:
    """Lines of a page with where they came from, and what a reader should know of them."""

    lines: tuple[PrintedLine, ...]
    origin: Origin
    quality: Quality
    reading: Reading | None = None  # where OCR was used; the lines are then in its turned space


def read_page_draft(
    page: pymupdf.Page,
    number: int,
    limits: Limits,
    *,
    ocr_dpi: float = OCR_DPI,
    picture_reader: PictureReader | None = None,
) -> PageDraft:
    """The page numbered `number`; `picture_reader` is the document's.

    Raises whatever MuPDF, the models or the OCR raise on a page they cannot read.
    """
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
    draft = _read(page, lines, facts, Means(limits, ocr_dpi, picture_reader or PictureReader()))
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


def _read(page: pymupdf.Page, lines: Sequence[PrintedLine], facts: Page, means: Means) -> PageDraft:
    grey, scale = render_grey(page)
    if not lines and is_blank(grey):
        return PageDraft(facts)
    lines = mark_unseen(lines, grey, scale)
    pictures = _pictures(page)
    content = read_content(page, lines, pictures, means)
    if content.origin == "text-layer":
        content = _with_picture_text(page, content, pictures, means.picture_reader)
    facts = replace(facts, quality=content.quality)
    if not content.lines and not pictures:
        return PageDraft(facts)
    return _laid_out(page, facts, content, pictures)


def _pictures(page: pymupdf.Page) -> list[BBox]:
    frame = BBox(0.0, 0.0, page.rect.width, page.rect.height)
    boxes = (BBox(*(float(value) for value in image["bbox"])) for image in page.get_image_info())
    return [inside for box in boxes if box.is_finite and (inside := box.intersection(frame)) is not None]


def _with_picture_text(
    page: pymupdf.Page, content: Content, pictures: Sequence[BBox], reader: PictureReader
) -> Content:
    """The lines with those that OCR reads inside pictures; the layout makes them the picture's labels."""
    found, left_out = reader.lines_in(page, pictures, content.lines)
    quality = content.quality
    if left_out:
        quality = replace(quality, reasons=(*quality.reasons, UNREAD_PICTURES))
    return replace(content, lines=(*content.lines, *found), quality=quality)


def read_content(page: pymupdf.Page, lines: Sequence[PrintedLine], pictures: Sequence[BBox], means: Means) -> Content:
    shown = [line for line in lines if not line.words[0].hidden]
    hidden = [line for line in lines if line.words[0].hidden]
    invisible = [line for line in hidden if line.words[0].hidden == "invisible text"]
    area = max(page.rect.width * page.rect.height, 1.0)
    is_picture = sum(box.area for box in pictures) / area >= PICTURE_PAGE
    if unreadable := unreadable_lines(page, shown):
        kept = [line for line in lines if line not in unreadable]
        return _read_by_ocr(page, kept, means, (UNREADABLE,))
    # A heading or a stamp beside a picture does not make it a page of text.
    beside = is_picture and glyph_count(_inside(pictures, shown)) < FEW_GLYPHS
    if glyph_count(shown) >= FEW_GLYPHS and not beside:
        if looks_misspelled(shown) and (alike := agreement(page, shown)) is not None and alike < DISAGREES:
            return _read_by_ocr(page, hidden, means, (UNREADABLE,))
        return Content(tuple(lines), "text-layer", _layer_quality(unreadable_share(shown)))
    if is_picture and glyph_count(invisible) >= FEW_GLYPHS and looks_like_language(invisible):
        alike = agreement(page, invisible)
        if alike is not None and alike < AGREES:
            ours = _read_by_ocr(page, lines, means)
            well_read = ours.reading is not None and ours.reading.confidence >= WELL_READ
            if alike < DISAGREES or well_read:  # what the picture does not show at all is hidden text
                return ours
        grade = "fair" if alike is None or alike >= AGREES else "poor"
        said = "it could not be checked" if alike is None else f"a sample of it agrees with ours to {alike:.0%}"
        reason = f"the text layer was made by OCR; {said}"
        return Content(tuple(_unhidden(lines)), "ocr", Quality(grade, (reason,)))
    if shown and not is_picture:
        return Content(tuple(lines), "text-layer", _layer_quality(unreadable_share(shown)))
    return _read_by_ocr(page, lines, means)


def _inside(pictures: Sequence[BBox], lines: Sequence[PrintedLine]) -> list[PrintedLine]:
    return [line for line in lines if any(line.bbox.overlap(picture) > 0.5 for picture in pictures)]


def _read_by_ocr(
    page: pymupdf.Page, lines: Sequence[PrintedLine], means: Means, because: tuple[str, ...] = ()
) -> Content:
    """What OCR reads, beside what the text layer has to keep. Where that is more, the page stays a page of text."""
    reading = read_page(page, megapixels=means.limits.max_megapixels, dpi=means.ocr_dpi)
    kept = [reading.turn.line(line) for line in lines]
    shown = [line for line in kept if not line.words[0].hidden]
    read = [line for line in reading.lines if sum(line.bbox.overlap(own.bbox) for own in shown) <= 0.5]
    read = with_form_rows(with_receipt_rows(read))
    if not read:
        poor = Quality("poor", because) if because else Quality()
        return Content(tuple(lines), "text-layer" if shown else "ocr", poor)
    grade = "fair" if reading.confidence >= TRUSTED_OCR else "poor"
    quality = Quality(grade, (*because, f"read by OCR, confidence {reading.confidence:.2f}"))
    if reading.turn.degrees == 0 and glyph_count(shown) > glyph_count(read):
        if not because:  # the layer is good, what was read are labels of pictures
            return Content((*kept, *(line for line in read if line.confidence >= SURE)), "text-layer", Quality())
        return Content((*kept, *read), "text-layer", quality)
    return Content((*kept, *read), "ocr", quality, reading)


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
    page: pymupdf.Page, shown: Sequence[PrintedLine], content: Content, pictures: Sequence[BBox]
) -> list[LayoutBox]:
    """The layout model's, on a page that needs it."""
    if content.origin == "text-layer":
        drawn = sum(len(drawing["items"]) for drawing in page.get_cdrawings())
        frame = BBox(0.0, 0.0, page.rect.width, page.rect.height)
        boxes = plain_boxes(shown, frame, drawn=drawn, pictures=len(pictures))
        if boxes is not None:
            return boxes
    return predict_layout(page, look=content.origin != "text-layer" or any(box.area > LOOKED_AT for box in pictures))


def _with_origin(draft: Draft, content: Content) -> Draft:
    """Only what OCR reads has words with a confidence: a page may hold both."""
    if any(word.confidence is not None for line in draft.printed for word in line.words):
        return replace(draft, origin="ocr")
    return draft if content.reading is None else replace(draft, origin="text-layer")


def _laid_out(page: pymupdf.Page, facts: Page, content: Content, pictures: Sequence[BBox]) -> PageDraft:
    shown = [line for line in content.lines if not line.words[0].hidden]
    if not shown:
        drafts = page_drafts(content.lines, (), tables=(), pictures=pictures, origin=content.origin)
        return PageDraft(facts, tuple(drafts))
    surface = page if content.reading is None else page_of_words(page, content.reading)
    rows = content.reading is not None and is_receipt(shown)
    boxes = [] if rows else _boxes(surface, shown, content, pictures)
    in_pieces = content.reading is None and is_in_pieces(boxes, shown)
    if in_pieces:
        surface = page_of_words(page, Reading(tuple(shown), Turn(0, page.rect.width, page.rect.height)))
        boxes = predict_layout(surface, look=False)
    tables = find_tables(surface, content.lines, boxes, origin=content.origin)
    if leaves_table_out(boxes, tables.drafts):  # the net that goes by the text alone sees no rules and no shades
        boxes = predict_layout(surface, look=True)
        tables = find_tables(surface, content.lines, boxes, origin=content.origin)
    if in_pieces and any(holds_prose(draft.bbox, shown) for draft in tables.drafts):
        tables = FoundTables((), content.lines, tables.failed)  # columns of text, set word by word
    drafts = page_drafts(
        tables.lines,
        trusted_boxes(boxes, tables.lines, tables.drafts),
        tables=tables.drafts,
        pictures=() if content.origin == "ocr" else pictures,
        origin=content.origin,
    )
    drafts = [_with_origin(draft, content) for draft in with_surroundings(with_picture_captions(drafts), facts.number)]
    if content.reading is not None:
        if all(draft.category in FURNITURE for draft in drafts):  # there is nothing that they could run above or below
            drafts = [replace(draft, category="NarrativeText") for draft in drafts]
        drafts = [content.reading.turn.back.draft(draft) for draft in drafts]
    quality = with_table_grade(facts.quality, drafts)
    if not tables.failed:
        return PageDraft(replace(facts, quality=quality), tuple(drafts))
    grade = "poor" if quality.grade == "poor" else "fair"
    facts = replace(facts, quality=Quality(grade, (*quality.reasons, UNSEEN_TABLES)))
    return PageDraft(facts, tuple(drafts), (f"page {facts.number}: {UNSEEN_TABLES}",))
