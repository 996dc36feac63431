"""What a line near a table says of the scale and the currency of its figures."""

from __future__ import annotations

import pytest

from ingest.table_scale import read_scale


@pytest.mark.parametrize(
    ("text", "scale"),
    [
        ("(in millions)", (6, "")),
        ("(In thousands, except per share amounts)", (3, "")),
        ("(Dollars in thousands)", (3, "USD")),
        ("in millions of US$", (6, "USD")),
        ("$ in billions", (9, "USD")),
        ("EUR million", (6, "EUR")),
        ("€m", (6, "EUR")),
        ("RMB'000", (3, "CNY")),
        ("HK$’000", (3, "HKD")),
        ("(£ million)", (6, "GBP")),
        ("单位：万元", (4, "CNY")),
        ("单位:人民币百万元", (6, "CNY")),
        ("单位：元", (0, "CNY")),
        ("人民币千元", (3, "CNY")),
        ("（千港元）", (3, "HKD")),
        ("单位：亿美元", (8, "USD")),
        ("（単位：百万円）", (6, "JPY")),
    ],
)
def test_scales_are_read(text: str, scale: tuple[int, str]) -> None:
    """English and Chinese unit lines give a power of ten and an ISO currency."""
    assert read_scale(text) == scale


@pytest.mark.parametrize(
    "text",
    [
        "Revenue by segment",
        "Total",
        "millions of people live here",
        "2024",
        "本报告期",
        "单位：股",
        "100 million units",
    ],
)
def test_other_lines_state_no_scale(text: str) -> None:
    """A line that only mentions a number word is no unit line."""
    assert read_scale(text) is None
