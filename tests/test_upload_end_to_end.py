"""A service as `kb-qa serve` starts it, from an upload to an answer and back to nothing, over HTTP alone."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.forked_commands import Forked, fork
from tests.pdf_pages import write_pdf
from tests.test_streaming import frames, wait_for

ROOT = Path(__file__).resolve().parent.parent
KB_QA = "from kb_qa.cli import main; main()"


def started(arguments: Sequence[str], *, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """As a shell starts it: where what is told of is the service itself. Elsewhere it is forked."""
    paths = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.Popen([sys.executable, "-c", KB_QA, *arguments], cwd=ROOT, env={**environment, **paths})


@contextmanager
def service(
    kb: Path, start: Callable[..., subprocess.Popen[bytes] | Forked] = fork
) -> Iterator[tuple[subprocess.Popen[bytes] | Forked, str]]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = os.environ | {"KB_QA_MODEL": "extractive"}
    child = start(["serve", "--kb", str(kb), "--port", str(port)], environment=environment)
    try:
        wait_for(f"http://127.0.0.1:{port}", 240)  # the embedding model may have to be made
        yield child, f"http://127.0.0.1:{port}"
    finally:
        child.terminate()
        try:
            child.wait(20)
        finally:
            child.kill()


def pdf(path: Path, words: str) -> bytes:
    """A page of prose with these words in its middle."""
    lines = ["Pay and conditions of the staff of this house are as follows.", words, "Leave is agreed with the team."]
    write_pdf(
        path, lambda page: [page.insert_text((72, 200 + 18 * n), line, fontsize=12) for n, line in enumerate(lines)]
    )
    return path.read_bytes()


def followed(base: str, upload: dict[str, Any]) -> list[tuple[str, Any, Any]]:
    """(event, state, reason) until the end."""
    told = httpx.get(f"{base}{upload['events_url']}", timeout=240).text
    return [(event, data.get("state"), data.get("reason", "")) for _, event, data in frames(told)]


def answer(base: str, question: str) -> list[tuple[str, dict[str, object]]]:
    response = httpx.post(f"{base}/v1/ask", json={"question": question}, timeout=60)
    return [(event, data) for _, event, data in frames(response.text)]


def what_stays_of_an_answer(base: str, answer_id: str, cited: dict[str, Any]) -> None:
    """Its words and its quotations; what showed the deleted document says that there is none."""
    stored = httpx.get(f"{base}/v1/answers/{answer_id}", timeout=60).json()
    assert (stored["complete"], "4,812" in stored["text"]) == (True, True)
    [exported, *_] = httpx.get(f"{base}/v1/answers/{answer_id}/citations", timeout=60).json()["citations"]
    assert (exported["cited_text"], exported["region_url"]) == (cited["cited_text"], None)
    for url in (cited["region_url"], f"/v1/answers/{answer_id}/citations/1/region.png", cited["page_url"]):
        shown = httpx.get(f"{base}{url}", timeout=60)
        assert (shown.status_code, shown.json()["message"]) == (404, "there is no document with this id"), url


@pytest.mark.slow
def test_an_upload_is_read_answers_is_replaced_and_goes(tmp_path: Path) -> None:
    """Upload, states, an answer that cites it, a new version, deletion; then SIGTERM with work under way: exit 0."""
    kb = tmp_path / "kb"
    with service(kb, started) as (child, base):
        url = f"{base}/v1/documents/pay.pdf"
        first = httpx.put(url, content=pdf(tmp_path / "1.pdf", "The bonus is 4,812 dollars."))
        assert first.status_code == 202
        states = followed(base, first.json())
        assert states[-2:] == [("state", "ready", ""), ("end", "ready", "")]
        said = answer(base, "What is the bonus?")
        [cited, *_] = [data for event, data in said if event == "citation"]
        assert (cited["document"], cited["cited_text"]) == ("pay.pdf", "The bonus is 4,812 dollars.")
        assert httpx.get(f"{base}{cited['region_url']}").headers["content-type"] == "image/png"

        again = httpx.put(url, content=(tmp_path / "1.pdf").read_bytes())
        assert (again.status_code, again.json()["job"]) == (200, None)
        newer = httpx.put(url, content=pdf(tmp_path / "2.pdf", "The bonus is 5,000 dollars."))
        assert newer.json()["replaces"] == first.json()["document_id"]
        assert followed(base, newer.json())[-1] == ("end", "ready", "")
        assert "5,000" in str(answer(base, "What is the bonus?"))
        listed = httpx.get(f"{base}/v1/documents").json()["documents"]
        assert [each["document_id"] for each in listed] == [newer.json()["document_id"]]

        assert httpx.delete(f"{base}/v1/documents/{newer.json()['document_id']}").status_code == 202
        for rest in ("", "/file", "/pages/1.png"):
            assert httpx.get(f"{base}/v1/documents/{newer.json()['document_id']}{rest}").status_code == 404
        assert httpx.post(f"{base}/v1/ask", json={"question": "What is the bonus?"}).status_code == 503
        what_stays_of_an_answer(base, said[0][1]["answer_id"], cited)

        waiting = httpx.put(f"{base}/v1/documents/late.pdf", content=pdf(tmp_path / "3.pdf", "Late words."))
        with httpx.stream("GET", f"{base}{waiting.json()['events_url']}", timeout=60) as events:
            pieces = events.iter_raw()
            received = next(pieces)
            child.send_signal(signal.SIGTERM)
            told = time.monotonic()
            received += b"".join(pieces)
        assert frames(received.decode())[-1][1] in {"error", "end"}
        assert child.wait(15) == 0
        assert time.monotonic() - told <= 15  # ten, and what a busy machine takes
    with service(kb, started) as (_, base):
        assert followed(base, waiting.json())[-1] == ("end", "ready", "")
    assert list((kb / "uploads").iterdir()) == []
