"""Claude over the samples, opened as a user's command opens it: settings, ledger, pictures, spending."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kb_qa.answers import AnswerEvent
from kb_qa.ledger import Ledger
from kb_qa.settings import Settings
from kb_qa.testing import obedient, scripted_messages_api
from kb_qa.wiring import open_parts


async def _asked(knowledge_base: object, question: str) -> list[AnswerEvent]:
    return [event async for event in knowledge_base.ask(question)]  # type: ignore[attr-defined]


def test_a_row_of_a_table_is_cited_and_its_picture_went_along(sample_kb: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The figure leads to its row; the model saw the table; what it cost is counted and kept in the ledger."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    with scripted_messages_api(otherwise=obedient) as api:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
        settings = Settings(kb=sample_kb, model="auto", send_pictures=1)
        with open_parts(settings) as parts:
            events = asyncio.run(_asked(parts.knowledge_base, "P5 的基本工资是多少？"))
            dollars = parts.counters.value("model_cost_usd")
        sent = api.asked[0].json["messages"][0]["content"]
    inner = [block for document in sent if document["type"] == "document" for block in document["source"]["content"]]
    assert [block["type"] for block in inner].count("image") == 1
    citations = [event.data for event in events if event.event == "citation"]
    assert [(each["cited_text"], each["label"]) for each in citations] == [
        ("P5 | 工程师 | 22000 | 1.15", "briefing.pdf · P4·表格")
    ]
    usage = next(event.data for event in events if event.event == "usage")
    assert usage["cost"] == pytest.approx(dollars)
    assert dollars > 0
    with Ledger.open(sample_kb, create=False) as ledger, ledger.database.read() as connection:
        days = connection.exec_driver_sql("SELECT value FROM meta WHERE key LIKE 'spent %'").scalars().all()
    assert len(days) >= 1
    assert events[-1].data["complete"] is True
