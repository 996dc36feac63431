"""What one document may cost."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.limits import Limits, affordable_dpi, check_pages, check_size
from kb_qa.errors import LimitExceededError
from kb_qa.settings import Settings


def test_limits_come_from_the_settings() -> None:
    """Each limit is a setting."""
    limits = Limits.from_settings(Settings(max_pages=7, max_megapixels=3, parse_seconds=11, parse_memory_mb=500))
    assert (limits.max_pages, limits.max_megapixels, limits.seconds, limits.memory_mb) == (7, 3, 11, 500)


def test_a_file_past_the_limit_is_refused_by_its_size(tmp_path: Path) -> None:
    """The size is checked without reading the file."""
    path = tmp_path / "a.pdf"
    with path.open("wb") as file:
        file.truncate(3 * 1024 * 1024)
    with pytest.raises(LimitExceededError, match="3 MB"):
        check_size(path, Limits(max_file_mb=2))
    check_size(path, Limits(max_file_mb=3))


def test_pages_past_the_limit_are_refused() -> None:
    """The limit itself is allowed."""
    check_pages(Path("a.pdf"), 5, Limits(max_pages=5))
    with pytest.raises(LimitExceededError, match="6 pages"):
        check_pages(Path("a.pdf"), 6, Limits(max_pages=5))


@given(st.floats(1, 20_000), st.floats(1, 20_000), st.floats(0.1, 50))
def test_a_render_fits_the_pixel_budget(width: float, height: float, megapixels: float) -> None:
    """The resolution is what was wanted, or less, and the pixels stay within the budget."""
    dpi = affordable_dpi(width, height, wanted=200, megapixels=megapixels)
    assert 0 < dpi <= 200
    assert width * height * (dpi / 72) ** 2 <= megapixels * 1_000_000 * 1.001
