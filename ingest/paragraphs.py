"""Which pieces of text are one paragraph: a sentence that one leaves open goes on in the other."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterator, Sequence

from ingest.drafts import Draft, text_draft
from ingest.line_groups import TITLED_CAPTION, in_reading_order
from ingest.printed import PrintedLine, is_cjk

NESTED = 0.8  # share of a box that lies in another
HYPHENS = "-\u2010\u2011\u00ad"
RAGGED = 0.2  # of the width: a line may end so far from the right side for want of room for the next word
OPEN_ENDS = ",，、-–—(（$€£¥"
FULL_LINE = 0.12  # of a paragraph's width: a line that ends so near its right side was broken for want of room
FEW_WORDS = 4  # a line of fewer is a label
FEW_CHARACTERS = 10  # the same of Chinese
CLOSE = 0.8  # of the type size; lines of common leading stand nearer
ROOM = 1.5  # of the type size; a Chinese line that ends so near its column's right side was broken for want of room
WIDER_GAP = 0.4  # of the type size; by so much more than lines stand apart, paragraphs do
LEAST_GAPS = 3
INDENT = 2.5  # of the type size; the first line of a Chinese paragraph is set in by two characters
TITLE_MARKS = "《〈“"  # what may begin a line in the middle of a sentence, and no item
SENTENCE_ENDS = tuple(".!?。！？：:；;")


def paragraphs_joined(drafts: Sequence[Draft]) -> list[Draft]:
    """Paragraphs that the model cut between two lines, in the middle of a sentence, are one again.

    So are two of which one stands within the other: the model gave some lines of a paragraph a box of their own.
    Paragraphs to which it gave one box are parted.
    """
    result: list[Draft] = []
    whole = [part for draft in _nested_joined(drafts) for part in _parted(draft)]
    leading = _usual_gap(whole)
    for draft in sorted(whole, key=lambda draft: (draft.bbox.y0, draft.bbox.x0)):
        above = [index for index, other in enumerate(result) if _runs_into(other, draft, leading, whole)]
        if above:
            index = above[-1]
            category = "ListItem" if result[index].category == "ListItem" else "NarrativeText"
            result[index] = text_draft(category, (*result[index].lines, *draft.lines), origin=draft.origin)
        else:
            result.append(draft)
    return result


def _nested_joined(drafts: Sequence[Draft]) -> list[Draft]:
    result: list[Draft] = []
    for draft in sorted(drafts, key=lambda draft: -draft.bbox.area):
        around = next((index for index, other in enumerate(result) if _is_within(draft, other)), None)
        if around is None:
            result.append(draft)
        else:
            lines = in_reading_order([*result[around].lines, *draft.lines])
            result[around] = text_draft(result[around].category, lines, origin=draft.origin)
    return result


def _parted(draft: Draft) -> Iterator[Draft]:
    """Its paragraphs: a gap wider than between its other lines, where a sentence ends, begins one. So does a caption
    that is its last line.
    """
    pairs = [*itertools.pairwise(draft.lines)]
    gaps = [below.bbox.y0 - above.bbox.y1 for above, below in pairs if _is_below(above, below)]
    if draft.category != "NarrativeText" or draft.element_type != "text" or not gaps:
        yield draft
        return
    usual = statistics.median_low(gaps)
    ends = [place for place, pair in enumerate(pairs, 1) if len(gaps) > 1 and _is_apart(*pair, usual)]
    if _is_caption_below(*pairs[-1]) and len(pairs) not in ends:
        ends.append(len(pairs))
    for start, end in itertools.pairwise([0, *ends, len(draft.lines)]):
        yield text_draft(draft.category, draft.lines[start:end], hidden=draft.hidden, origin=draft.origin)


def _is_below(above: PrintedLine, below: PrintedLine) -> bool:
    return above.direction == below.direction == "right" and below.bbox.y0 > above.bbox.center[1]


def _is_caption_below(above: PrintedLine, below: PrintedLine) -> bool:
    """Whether the text ends, and the line below it names a table or figure: `表1 各区缴存情况`."""
    named = TITLED_CAPTION.match(below.text) is not None and not below.text.endswith(SENTENCE_ENDS)
    return named and _is_below(above, below) and _ends_sentence(above)


def _is_apart(above: PrintedLine, below: PrintedLine, usual: float) -> bool:
    return (
        _ends_sentence(above)
        and _is_below(above, below)
        and below.bbox.y0 - above.bbox.y1 > usual + WIDER_GAP * below.size
    )


def _ends_sentence(line: PrintedLine) -> bool:
    return line.text.rstrip("\"'”’）)」』").endswith(SENTENCE_ENDS)


def _is_within(draft: Draft, other: Draft) -> bool:
    return (
        draft.category == other.category == "NarrativeText"
        and abs(draft.size - other.size) <= 0.1 * other.size
        and draft.lines[0].direction == other.lines[0].direction == "right"
        and len(other.lines) > 1
        and draft.bbox.overlap(other.bbox) > NESTED
    )


def _usual_gap(drafts: Sequence[Draft]) -> float:
    """How far below one another most lines of the page's paragraphs stand, in points; 0 where too few tell."""
    pairs = [pair for draft in drafts if draft.element_type == "text" for pair in itertools.pairwise(draft.lines)]
    gaps = [below.bbox.y0 - above.bbox.y1 for above, below in pairs if _is_below(above, below)]
    return statistics.median_low(gaps) if len(gaps) >= LEAST_GAPS else 0.0


def _runs_into(above: Draft, below: Draft, leading: float, drafts: Sequence[Draft]) -> bool:
    """Whether `below` is the rest of `above`; `leading` is the usual gap between lines, `drafts` are the page's."""
    if above.category not in ("NarrativeText", "ListItem", "Title") or below.category != "NarrativeText":
        return False
    last, first = above.lines[-1], below.lines[0]
    size = max(last.size, first.size)
    gap = first.bbox.y0 - last.bbox.y1
    if (
        not last.direction == first.direction == "right"
        or abs(last.size - first.size) > 0.1 * size
        or last.words[-1].bold != first.words[0].bold
        or abs(above.bbox.x0 - below.bbox.x0) > 2 * size
        or not -0.6 * size < gap < max(CLOSE * size, leading + WIDER_GAP / 2 * size)
    ):
        return False
    fills = fills_column(above, drafts)
    if fills and is_cjk(above.text[-1]) and first.text[0] in TITLE_MARKS:
        return True
    right = max(above.bbox.x1, below.bbox.x1)
    is_full = fills or last.bbox.x1 >= right - _room(above, right) or above.text[-1] in HYPHENS
    return (fills or gap < CLOSE * size) and is_full and runs_on(above.text, below.text)


def fills_column(draft: Draft, drafts: Sequence[Draft]) -> bool:
    """Whether its last line ends where the column does that the text among `drafts`, of one page, stands in."""
    rights = [
        other.bbox.x1
        for other in drafts
        if other.element_type == "text"
        and not other.hidden
        and abs(other.bbox.x0 - draft.bbox.x0) <= INDENT * draft.size
    ]
    edge = max(rights, default=draft.bbox.x1)
    start = edge - (ROOM * draft.size if is_cjk(draft.text[-1]) else _room(draft, edge))
    return draft.lines[-1].bbox.x1 >= start and sum(right >= start for right in rights) > 1


def _room(draft: Draft, right: float) -> float:
    """What a line may leave open on its right side for want of room for the next word, in points."""
    return max(3 * draft.size, RAGGED * (right - draft.bbox.x0))


def runs_on(before: str, after: str) -> bool:
    """Whether a sentence that `before` leaves open goes on in `after`: no full stop, then no capital."""
    if not before or not after or before.rstrip()[-1:] in ".!?:;。！？：；…":
        return False
    return after[0].islower() or (
        is_cjk(after[0]) and is_cjk(before[-1]) and after[0] not in "（(【《第一二三四五六七八九十"
    )


def goes_on(end: Draft, start: Draft) -> bool:
    """Whether a paragraph that stops at the end of a column or page is taken up by `start`.

    Its last line is no mere label; and its sentence runs on in small letters, or the line is full and has no stop.
    """
    if end.category not in ("NarrativeText", "ListItem") or start.category != "NarrativeText":
        return False
    last, first = end.lines[-1], start.lines[0]
    size = max(last.size, first.size)
    if end.origin != start.origin or end.hidden != start.hidden or abs(last.size - first.size) > 0.1 * size:
        return False
    long_enough = len(last.words) >= (FEW_CHARACTERS if is_cjk(end.text[-1]) else FEW_WORDS)
    if not long_enough:
        return False
    if start.text[0].islower() and runs_on(end.text, start.text):
        return True
    is_full = (
        (len(end.lines) > 1 or len(last.words) >= 2 * FEW_CHARACTERS)
        and last.bbox.x1 >= end.bbox.x1 - FULL_LINE * end.bbox.width
        and last.words[-1].bold == first.words[0].bold
    )
    return is_full and _is_open(end.text[-1]) and start.text[0].isalnum()


def _is_open(char: str) -> bool:
    return char.isalnum() or char in OPEN_ENDS
