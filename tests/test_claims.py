"""What a sentence says of its figure: here, the scale in brackets behind it."""

from __future__ import annotations

import pytest

from tests.figure_cases import passes

ENGLISH = "Revenue (USD in millions)\n| | 2024 | 2023 |\n|---|---|---|\n| Net revenue | 4,132 | 3,541 |"
CHINESE = "单位：万元\n| 项目 | 2024年 |\n|---|---|\n| 营业收入 | 4,132 |"


@pytest.mark.parametrize(
    ("answer", "accepted"),
    [
        ("Net revenue was 4,132 (in millions) in 2024.", True),
        ("Net revenue was $4,132 (in millions) in 2024.", True),
        ("Net revenue in 2024 was 4,132 (USD in millions).", True),
        ("Net revenue was 4,132 (in thousands) in 2024.", False),
        ("Net revenue was 4,132 (in millions) in 2023.", False),
        ("Net revenue was 4,132 (EUR in millions) in 2024.", False),
        ("Net revenue was 4,132 in 2024 (in general).", False),
        ("Net revenue was 4,132 in 2024.", False),
    ],
)
def test_a_scale_in_brackets_belongs_to_the_figure_before_it(answer: str, accepted: bool) -> None:
    """The bare cell is a millionth of what the table says; with its unit behind it, it is what the table says."""
    assert passes(answer, ENGLISH) is accepted


@pytest.mark.parametrize(
    ("answer", "accepted"),
    [
        ("2024年营业收入为4,132（单位：万元）。", True),
        ("2024年营业收入为4,132（万元）。", True),
        ("2024年营业收入为4,132（单位：亿元）。", False),
        ("2024年营业收入为4,132。", False),
    ],
)
def test_a_chinese_unit_line_behind_a_figure(answer: str, accepted: bool) -> None:
    """The same with 单位."""
    assert passes(answer, CHINESE) is accepted
