"""Small sources that the tests of the numeric guard share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kb_qa import check_figures
from kb_qa.guardrails.outcome import Outcome
from kb_qa.guardrails.policies import STRICT, Policy

INCOME = """Consolidated statement of income (USD in millions)
| | 2024 | 2023 |
|---|---|---|
| Revenue | 4,132 | 3,541 |
| Operating income | 702 | 640 |
| Net income | 512 | 455 |
| Net loss of associates | (38) | (21) |
| Earnings per share | 1.25 | 1.10 |
| Operating margin | 17.0% | 18.1% |"""

PROFIT = """合并利润表（单位：万元）
| 项目 | 2024年 | 2023年 |
|---|---|---|
| 营业收入 | 413,200 | 354,100 |
| 净利润 | 51,200 | 45,500 |
| 每股收益（元） | 1.25 | 1.10 |"""

SEGMENTS = """Segment revenue, 2024 (USD in millions)
| Segment | Revenue |
|---|---|
| Cloud | 1,200 |
| Devices | 950 |
| Services | 480 |"""


def source(text: str, **more: Any) -> dict[str, Any]:
    return {"id": "s1", "text": text, "page": 8, **more}


def checked(answer: str, *texts: str | dict[str, Any], question: str = "", policy: Policy = STRICT) -> Outcome:
    """The outcome for an answer; texts are numbered sources."""
    sources: Sequence[dict[str, Any]] = [
        {"id": f"s{number}", "page": number, "text": text} if isinstance(text, str) else text
        for number, text in enumerate(texts, 1)
    ]
    return check_figures(sources, question, answer, policy=policy)


def passes(answer: str, *texts: str | dict[str, Any], question: str = "") -> bool:
    return checked(answer, *texts, question=question).verdict != "refuse"


def statuses(answer: str, *texts: str | dict[str, Any], question: str = "") -> dict[str, str]:
    return {figure.raw: figure.status for figure in checked(answer, *texts, question=question).figures}
