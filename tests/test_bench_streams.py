"""The measures of `scripts/bench_streams.py`, scaled down."""

from __future__ import annotations

import pytest

from scripts.bench_streams import WAYS, Counted, bench_streams, leave, talking_service


def test_streams_at_once_lose_and_repeat_and_reorder_nothing() -> None:
    """Thirty streams of ten events a second, each read to its end."""
    counted, streams, _ = bench_streams(30, 10, 2)
    assert counted == Counted(0, 0, 0)
    assert all(stream.ids == list(range(1, 23)) for stream in streams)


@pytest.mark.parametrize(
    ("ids", "found"),
    [
        ([1, 2, 3], Counted(0, 0, 0)),
        ([1, 3], Counted(1, 0, 0)),
        ([1, 2, 2, 3], Counted(0, 1, 1)),
        ([2, 1, 3], Counted(0, 0, 1)),
    ],
    ids=["all", "lost", "twice", "out of order"],
)
def test_what_goes_wrong_is_counted(ids: list[int], found: Counted) -> None:
    """The count itself sees what it is to see."""
    counted = Counted()
    counted.add(ids, 3)
    assert counted == found


def test_the_upstream_is_closed_whichever_way_the_client_leaves() -> None:
    """Twice each: before, at and after the first byte, by a reset, and by closing only its own half."""
    with talking_service() as (base, api):
        taken = {way: max(leave(base, way, api) for _ in range(2)) for way in WAYS}
        assert api.open_streams == 0
    assert max(taken.values()) <= 1, taken
