"""Changed files through the whole of ingest: `scripts/fuzz_ingest.py`, scaled down."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.fuzz_ingest import fuzz, mutated, originals

SAMPLES = Path(__file__).resolve().parent.parent / "data" / "samples"


def test_a_seed_and_a_number_are_a_file(tmp_path: Path) -> None:
    """A file that did harm can be made again, and no two are alike."""
    sources = [SAMPLES / "hb.md", SAMPLES / "rotated.pdf"]
    made = []
    for folder in (tmp_path / "a", tmp_path / "b"):
        folder.mkdir()
        made.append([mutated(sources, 8, number, folder).read_bytes() for number in range(20)])
    assert made[0] == made[1]
    assert len({*made[0], *(source.read_bytes() for source in sources)}) == 22


@pytest.mark.long
def test_every_changed_file_has_an_outcome_and_no_ingest_dies() -> None:
    """Of the samples: bits flipped, pieces cut, moved and doubled, numbers made huge, files spliced."""
    assert fuzz(originals([SAMPLES], 300 * 1024), range(25), 8, None) == 0
