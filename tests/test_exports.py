"""A stored answer as a Markdown document, over HTTP."""

from __future__ import annotations

import httpx

from tests.scripted_service import (
    ANSWER,
    DOCUMENT,
    CountingRenderer,
    ScriptedKnowledgeBase,
    ScriptedLibrary,
    citation,
    events,
    served,
)


def test_a_stored_answer_can_be_kept_as_markdown() -> None:
    """Question, text and quotations, with links to the cited pages; an answer that is not there is 404."""
    url = f"/v1/documents/{DOCUMENT}/pages/4.png"
    answer = events(
        ("start", {"question": "P5？", "language": "zh"}),
        ("delta", {"seq": 1, "text": "基本工资：22000\ud800"}),
        ("delta", {"seq": 2, "text": " [1]"}),
        citation(1, start=0, end=12, number=1, page_url=url),
        ("references", {"items": [{"number": 1, "label": "briefing.pdf · P4·表格", "cited_text": "P5 | 22000"}]}),
        ("end", {"complete": True}),
    )
    knowledge_base = ScriptedKnowledgeBase(library=ScriptedLibrary(answers={ANSWER: [*answer]}))
    with served(knowledge_base, CountingRenderer()) as base, httpx.Client(base_url=base, timeout=10) as client:
        response = client.get(f"/v1/answers/{ANSWER}/answer.md")
        missing = client.get(f"/v1/answers/{'0' * 32}/answer.md")
    assert response.status_code == 200
    assert response.headers["content-type"] == "text/markdown; charset=utf-8"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.text == (
        f"# P5？\n\n基本工资：22000<sup>[[1]({url})]</sup>\n\n"
        f'- [1] "P5 \\| 22000" found in "[briefing.pdf · P4·表格]({url})"\n'
    )
    assert missing.status_code == 404
