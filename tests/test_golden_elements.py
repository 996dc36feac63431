"""What the parser makes of the samples is what was looked at and kept; scripts/make_golden.py writes it anew."""

from __future__ import annotations

from typing import Any

import pytest
from rapidfuzz.distance import Levenshtein

from tests.golden_boxes import SAMPLES
from tests.golden_elements import golden_lines, line_of, parsed_sample

NAMES = sorted(path.name for path in SAMPLES.iterdir())
READ_BY_OCR = "scan.pdf"
POINTS = 1.5  # regions may move so far: golden ones are whole points
OCR_POINTS = 4.0
OCR_EDITS = 0.03  # of the characters


def without(line: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in line.items() if key not in keys}


def check_regions(found: list[list[int]], wanted: list[list[int]], most: float) -> None:
    """The same pages, and every side within `most` points."""
    assert [region[0] for region in found] == [region[0] for region in wanted]
    for one, other in zip(found, wanted, strict=True):
        assert one[1:] == pytest.approx(other[1:], abs=most)


@pytest.mark.parametrize("name", [name for name in NAMES if name != READ_BY_OCR])
def test_elements_of_the_samples(name: str) -> None:
    """Order, types, sections, texts, words and the cells with their headers are the same; boxes within 1.5 points."""
    found, wanted = [line_of(element) for element in parsed_sample(name).elements], golden_lines(name)
    assert [without(line, "regions") for line in found] == [without(line, "regions") for line in wanted]
    for one, other in zip(found, wanted, strict=True):
        check_regions(one["regions"], other["regions"], POINTS)


def test_elements_of_the_scan() -> None:
    """What OCR reads may differ by three characters of a hundred; what the parts of the page are may not."""
    found, wanted = [line_of(element) for element in parsed_sample(READ_BY_OCR).elements], golden_lines(READ_BY_OCR)
    assert [(line["type"], line["category"]) for line in found] == [(line["type"], line["category"]) for line in wanted]
    edits = sum(Levenshtein.distance(one["text"], other["text"]) for one, other in zip(found, wanted, strict=True))
    assert edits <= OCR_EDITS * sum(len(line["text"]) for line in wanted)
    for one, other in zip(found, wanted, strict=True):
        check_regions(one["regions"], other["regions"], OCR_POINTS)
