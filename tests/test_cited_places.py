"""The four kinds of location lead to blocks or pages, by numbers alone."""

from __future__ import annotations

from typing import Any

import pytest
from anthropic.types import CitationsDelta

from kb_qa.answers import BlockCitation
from kb_qa.models.cited_places import CitedBlocks, CitedPages, CitedPlace, NoPlace, cited_place
from kb_qa.models.requests import SentDocument
from kb_qa.testing import block_location, char_location, page_location, search_location

# Material 3 behind a picture, without its block 1; material 5 as plain text.
CONTENT = SentDocument(3, (None, 0, 2, 3))
PLAIN = SentDocument(5, (0, 1, 2), spans=((0, 10), (10, 25), (25, 30)))
RESULTS = (SentDocument(7, (0, 1)),)


def blocks(material: int, *indices: int) -> CitedBlocks:
    return CitedBlocks(tuple(BlockCitation(material, index) for index in indices))


def place_of(location: dict[str, Any]) -> CitedPlace:
    """As the SDK hands it over, which does not validate."""
    citation = CitationsDelta.construct(citation=location, type="citations_delta").citation
    return cited_place(citation, (CONTENT, PLAIN), RESULTS)


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        pytest.param(block_location(0, 1), blocks(3, 0), id="a block"),
        pytest.param(block_location(0, 1, 3), blocks(3, 0, 2), id="a range over a gap"),
        pytest.param(block_location(0, 0, 2), blocks(3, 0), id="a range over a picture"),
        pytest.param(block_location(0, 2, 2), blocks(3, 2), id="an end that is no end"),
        pytest.param(block_location(0, 3, 99), blocks(3, 3), id="an end past the last"),
        pytest.param(block_location(0, 0), NoPlace("content_block_location"), id="a picture"),
        pytest.param(block_location(0, 9), NoPlace("content_block_location"), id="no such block"),
        pytest.param(block_location(0, -1), NoPlace("content_block_location"), id="a negative block"),
        pytest.param(block_location(2, 0), NoPlace("content_block_location"), id="no such document"),
        pytest.param(block_location(-1, 0), NoPlace("content_block_location"), id="a negative document"),
        pytest.param(search_location(0, 0, 2), blocks(7, 0, 1), id="a search result"),
        pytest.param(search_location(1, 0, 1), NoPlace("search_result_location"), id="no such result"),
        pytest.param(char_location(1, 0, 10, "x"), blocks(5, 0), id="characters of one block"),
        pytest.param(char_location(1, 9, 11, "x"), blocks(5, 0, 1), id="characters across two"),
        pytest.param(char_location(1, 30, 40, "x"), NoPlace("char_location"), id="characters past the end"),
        pytest.param(char_location(1, 5, 5, "x"), NoPlace("char_location"), id="no characters"),
        pytest.param(page_location(0, 3, 4, "q"), CitedPages(0, range(3, 4), "q"), id="a page"),
        pytest.param(page_location(4, 3, 6, "q"), CitedPages(4, range(3, 6), "q"), id="pages, end exclusive"),
        pytest.param(page_location(0, 3, 3, "q"), CitedPages(0, range(3, 4), "q"), id="an end that is the start"),
        pytest.param(page_location(0, 3, 1, "q"), CitedPages(0, range(3, 4), "q"), id="an end before the start"),
        pytest.param(page_location(0, 0, 1, "q"), NoPlace("page_location"), id="page 0"),
        pytest.param({"type": "web_search_result_location"}, NoPlace("web_search_result_location"), id="web"),
        pytest.param({"type": "moon_location", "crater": 1}, NoPlace("moon_location"), id="a kind nobody knows"),
        pytest.param({"type": "content_block_location"}, NoPlace("content_block_location"), id="without numbers"),
        pytest.param({"type": "char_location"}, NoPlace("char_location"), id="characters without numbers"),
        pytest.param({"type": "page_location"}, NoPlace("page_location"), id="pages without numbers"),
    ],
)
def test_a_location_leads_to_its_place(location: dict[str, Any], expected: CitedPlace) -> None:
    """S1.1: each kind to its blocks or pages; what was never sent, or is a picture, to none."""
    assert place_of(location) == expected
