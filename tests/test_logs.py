"""The log is one line an event with its request, and holds no question, no document's text, no key."""

from __future__ import annotations

import io
import json
import logging
import sys
from collections.abc import Iterator

import pytest

from kb_qa import logs
from kb_qa.errors import EnvironmentProblemError, ModelOverloadedError
from tests.keyed_service import keyed_service
from tests.scripted_service import DOCUMENT, ScriptedKnowledgeBase, plain_answer

CANARY = "canary-5150"


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    """What the process logs at `debug`, as JSON; afterwards all is as before."""
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    levels = {name: logging.getLogger(name).level for name in logs.QUIET}
    stream = io.StringIO()
    logs.configure(level="DEBUG", form="json", stream=stream)
    yield stream
    root.handlers[:] = before
    root.setLevel(level)
    for name, each in levels.items():
        logging.getLogger(name).setLevel(each)


def read(lines: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in lines.getvalue().splitlines()]


def test_no_question_no_text_no_key_in_any_line(lines: io.StringIO) -> None:
    """Of answers, refused bodies, failures in the middle and unknown errors; each line has its request's id."""
    steps = [*plain_answer(f"{CANARY} 4,812", CANARY)]
    scripts = [
        steps,
        [*steps[:2], RuntimeError(f"could not parse {CANARY}")],
        [*steps[:2], ModelOverloadedError("the model is overloaded")],
    ]
    knowledge_base = ScriptedKnowledgeBase()
    with keyed_service(knowledge_base) as running:
        for script in scripts:
            knowledge_base.script = [*script]
            assert running.ask("POST", "/v1/ask", "read", json={"question": CANARY, "session_id": CANARY}).is_success
        running.ask("POST", "/v1/ask", "read", json={"question": CANARY, "x": CANARY})
        running.ask("GET", f"/v1/documents/{CANARY}?q={CANARY}", "read")
        running.ask("GET", f"/{CANARY}", CANARY)
        secrets = [*running.secrets.values()]
    text = lines.getvalue()
    assert not any(secret in text for secret in (CANARY, "4,812", *secrets))
    requests = [line for line in read(lines) if line["event"] == "request"]
    assert sorted((str(line["route"]), line["status"], line["key"]) for line in requests) == [
        ("(none)", 401, ""),
        ("GET /v1/documents/{document_id}", 404, "read"),
        *[("POST /v1/ask", 200, "read")] * 3,
        ("POST /v1/ask", 422, "read"),
    ]
    failed = [line for line in read(lines) if "failed" in str(line["event"])]
    assert [line["error"] for line in failed] == ["RuntimeError", "ModelOverloadedError: the model is overloaded"]
    assert {line["request_id"] for line in failed} < {line["request_id"] for line in requests}
    assert any("streaming.py" in str(place) for place in failed[0]["where"])  # type: ignore[attr-defined]


def test_an_unknown_failure_of_a_route_keeps_its_words_out(lines: io.StringIO) -> None:
    """500 without its inside; the log has type and place."""
    knowledge_base = ScriptedKnowledgeBase(originals={DOCUMENT: None})  # type: ignore[dict-item]
    with keyed_service(knowledge_base) as running:
        response = running.ask("GET", f"/v1/documents/{DOCUMENT}/file", "read")
    assert response.status_code == 500
    (line,) = [line for line in read(lines) if line["level"] == "error"]
    assert (line["error"], line["request_id"]) == ("AttributeError", response.json()["request_id"])


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ValueError(CANARY), "ValueError"),
        (EnvironmentProblemError("the disk is full"), "EnvironmentProblemError: the disk is full"),
        (
            FileNotFoundError(2, "No such file or directory", f"/x/{CANARY}"),
            "FileNotFoundError: No such file or directory",
        ),
    ],
    ids=["unknown", "ours", "system"],
)
def test_errors_are_told_without_what_they_failed_on(error: Exception, told: str, lines: io.StringIO) -> None:
    """Their type; their words where they are made for readers; causes alike; no folder of this machine."""
    try:
        try:
            raise error
        except Exception as cause:
            raise KeyError(CANARY) from cause
    except KeyError:
        logging.getLogger("kb_qa.x").exception("failed")
    (line,) = read(lines)
    assert (line["error"], line["cause"], line["level"], line["logger"]) == ("KeyError", told, "error", "kb_qa.x")
    assert CANARY not in lines.getvalue()
    assert sys.prefix not in lines.getvalue()


def test_lines_for_people(lines: io.StringIO) -> None:
    """Keys and values, one line an event, line breaks in a value made visible."""
    stream = io.StringIO()
    logs.configure(level="INFO", form="text", stream=stream)
    with logs.bound(request_id="r1"):
        logging.getLogger("kb_qa.x").info("two\nlines")
        logging.getLogger("kb_qa.x").debug("not told")
    (line,) = stream.getvalue().splitlines()
    assert "request_id='r1'" in line
    assert r"event='two\nlines'" in line
