"""Which lines are captions, and which picture takes them up."""

from __future__ import annotations

import pytest

from ingest.drafts import Draft, text_draft
from ingest.picture_captions import is_caption, with_picture_captions
from ingest.printed import PrintedWord, line_of
from kb_qa.geometry import BBox


def text(said: str, box: BBox, category: str = "NarrativeText") -> Draft:
    return text_draft(category, [line_of([PrintedWord(box, said, 10, box.y1)])])


def picture(box: BBox) -> Draft:
    return Draft("Image", box, element_type="image")


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Figure 3: Sales in tonnes", True),
        ("Fig. 2.1 Sales", True),
        ("FIGURE 4", True),
        ("Chart 1 – Net revenue", True),
        ("图3 营业收入", True),
        ("图 2-1：营业收入", True),
        ("Figure 3 shows that sales rose", False),
        ("图3显示营业收入增长", False),
        ("Figures are in millions", False),
        ("Table 3: Sales", False),
    ],
)
def test_a_caption_is_a_name_and_a_number_and_no_sentence(said: str, expected: bool) -> None:
    """English and Chinese captions are known by how they begin."""
    assert is_caption(text(said, BBox(100, 300, 300, 312))) == expected


def test_a_caption_goes_to_the_nearest_picture() -> None:
    """Of two pictures the one beside it takes it up, with its region; the text is no element of its own."""
    upper, lower = picture(BBox(100, 100, 300, 200)), picture(BBox(100, 225, 300, 330))
    caption = text("Figure 1: Sales", BBox(120, 204, 280, 214))
    other = text("Figure 1 shows sales.", BBox(100, 340, 300, 350))
    result = with_picture_captions([upper, caption, lower, other])
    assert [draft.category for draft in result] == ["Image", "Image", "NarrativeText"]
    assert result[0].caption == caption.lines
    assert result[0].bbox == BBox(100, 100, 300, 214)
    assert result[1:] == [lower, other]


def test_a_caption_far_from_any_picture_stays_text() -> None:
    """A list of figures is no caption of the picture on its page."""
    drafts = [picture(BBox(100, 100, 300, 200)), text("Figure 1: Sales", BBox(120, 400, 280, 410))]
    assert with_picture_captions(drafts) == drafts
