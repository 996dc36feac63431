"""What `locate` reads and prints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ingest.quotes import Quote, found_line, located_text, quote_lines, read_quotes
from kb_qa.elements import Element
from kb_qa.errors import InputError
from tests.test_locate import printed

ELEMENTS = [
    printed("Net sales rose in Q3", id="a"),
    printed("Net sales fell", id="b", page=2),
    Element("m", "d", 2, "text", "NarrativeText", "Net sales without a page"),
]


def test_quotes_are_read_line_by_line(tmp_path: Path) -> None:
    """An id of any kind comes back as it was given; blank lines are nothing."""
    path = tmp_path / "q.jsonl"
    path.write_text('{"id": 7, "quote": "a", "page": 2}\n\n{"quote": "“b”"}\n', encoding="utf-8")
    assert list(read_quotes(path)) == [Quote("a", 2, 7), Quote("“b”")]


@pytest.mark.parametrize(
    "line", ["{", "[]", '{"quote": 5}', '{"quote": "a", "page": 0}', '{"quote": "a", "page": "x"}']
)
def test_a_line_that_is_no_quote_is_named(tmp_path: Path, line: str) -> None:
    """The error says which line of which file is wrong."""
    path = tmp_path / "q.jsonl"
    path.write_text(f'{{"quote": "a"}}\n{line}\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"q\.jsonl, line 2"):
        list(read_quotes(path))


def test_each_quote_has_a_line_in_order() -> None:
    """Found or not, on the page it was asked for; the JSON form says how it was matched."""
    lines = quote_lines(ELEMENTS, [Quote("Net sales", 2, "x"), Quote("Net sales"), Quote("Q3", 2), Quote("a page")])
    assert [line.get("id") for line in lines] == ["x", None, None, None]
    assert [[region["page"] for region in line["regions"]] for line in lines] == [[2], [1], [], []]
    assert [line["method"] for line in lines] == ["exact", "exact", "none", "text"]
    assert json.loads(json.dumps(lines)) == lines


def test_a_recognised_place_says_how_sure_it_is() -> None:
    """The confidence is there where the words were read by OCR, and lower where letters differ."""
    (line,) = quote_lines([printed("Totai amount due", origin="ocr")], [Quote("Total amount due")])
    assert (line["method"], line["confidence"]) == ("ocr-fuzzy", round(1 - 1 / 14, 4))
    assert "confidence" not in quote_lines(ELEMENTS, [Quote("Net sales")])[0]


def test_every_occurrence_is_listed_with_its_page() -> None:
    """Text without pages counts, too; options narrow the search."""
    options = {"case": False, "whole_word": False, "diacritics": False}
    matches = found_line("net sales", ELEMENTS, **options)["matches"]
    assert [match["page"] for match in matches] == [1, 2, None]
    assert found_line("net sales", ELEMENTS, **options | {"case": True})["matches"] == []


def test_places_are_shown_to_a_reader() -> None:
    """Without JSON: page and rectangles, or that nothing was found."""
    found, missing, unplaced = quote_lines(ELEMENTS, [Quote("fell"), Quote("nowhere"), Quote("a page")])
    assert located_text(found) == "P2 [[110.0, 100.0, 134.0, 110.0]]"
    assert located_text(missing) == "not found"
    assert located_text(unplaced) == "found in the text, which has no page"
    assert located_text({"matches": []}) == "not found"
