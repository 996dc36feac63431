"""The main job on the samples, over HTTP: a question, a cited answer, and a picture on which the figure can be read."""

from __future__ import annotations

import json
import os
import re
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import pymupdf
import pytest
from httpx_sse import connect_sse
from rapidocr import RapidOCR

from tests.forked_commands import Forked, fork
from tests.sample_kb import GOLDEN, ROOT, run

ANSWERED = [question for question in GOLDEN["questions"] if not question["refused"]]
REFUSED = [question for question in GOLDEN["questions"] if question["refused"]]
# Nothing says which label a figure of a chart belongs to, so these are refused rather than guessed.
IN_CHARTS = {"quarter"}


@dataclass(slots=True)
class Answer:
    events: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def of(self, name: str) -> list[dict[str, Any]]:
        return [data for event, data in self.events if event == name]

    @property
    def text(self) -> str:
        return "".join(data["text"] for data in self.of("delta"))


@pytest.fixture(scope="module")
def service(sample_kb: Path) -> Iterator[httpx.Client]:
    """`kb-qa serve` over the samples, in a process of its own, on a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with Path(os.devnull).open("r+b") as nowhere:
        process = fork(["serve", "--kb", str(sample_kb), "--port", str(port)], streams=[nowhere] * 3)
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False) as client:
        try:
            _wait_for(client, process)
            yield client
        finally:
            process.terminate()
            assert process.wait(timeout=30) == 0


def _wait_for(client: httpx.Client, process: Forked) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        try:
            client.get("/readyz").raise_for_status()
            return
        except httpx.HTTPError:
            time.sleep(0.2)
    raise AssertionError("the service did not start")


def ask(service: httpx.Client, question: str, **body: Any) -> Answer:
    answer = Answer()
    with connect_sse(service, "POST", "/v1/ask", json={"question": question, **body}) as source:
        for event in source.iter_sse():
            answer.events.append((event.event, json.loads(event.data)))
    return answer


@cache
def reader() -> RapidOCR:
    """One thread, as two wait for each other in turns, and a line at a time, as six are padded to the longest."""
    one = {"EngineConfig.onnxruntime.intra_op_num_threads": 1, "Rec.rec_batch_num": 1}
    return RapidOCR(params={"Global.log_level": "error", **one})


def read_text(png: bytes) -> str:
    """What OCR reads on a picture, without spaces."""
    pixmap = pymupdf.Pixmap(png)
    document = pymupdf.open()
    # A margin, because text detection wants some paper around a line.
    page = document.new_page(width=pixmap.width + 120, height=pixmap.height + 120)
    page.insert_image(pymupdf.Rect(60, 60, 60 + pixmap.width, 60 + pixmap.height), stream=png)
    result = reader()(page.get_pixmap(dpi=100).tobytes("png"))
    return re.sub(r"\s", "", "".join(result.txts or ()))


@pytest.mark.parametrize("question", ANSWERED, ids=lambda question: question["id"])
def test_each_sample_question_is_answered_from_its_place(service: httpx.Client, question: dict[str, Any]) -> None:
    """The printed figure is in the answer, and the first citation leads to its document, page and section."""
    answer = ask(service, question["question"])
    if question["id"] in IN_CHARTS:
        assert answer.of("refusal")
        return
    citation = answer.of("citation")[0]
    assert question["answer"] in answer.text
    assert citation["document"] == question["document"]
    assert citation["found"] is True
    assert [region["page"] for region in citation["regions"]] == ([question["page"]] if question["page"] else [])
    assert {figure["status"] for figure in answer.of("figure")} <= {"exact", "exempt", "question_echo"}
    end = {"complete": True, "stop_reason": "end_turn", "truncated": False, "refused": False, "withheld": 0}
    assert answer.events[-1][1].items() >= end.items()


@pytest.mark.parametrize("question", REFUSED, ids=lambda question: question["id"])
def test_each_question_about_what_is_not_there_is_refused(service: httpx.Client, question: dict[str, Any]) -> None:
    """The refusal is in the question's language, names what is missing, and no text precedes it."""
    answer = ask(service, question["question"])
    refusal = answer.of("refusal")[0]
    message = {"zh": "材料中未找到相关信息。", "en": "Not found in the materials."}[question["language"]]
    assert refusal["message"] == message
    assert question["absent"] in " ".join(refusal["missing"])
    assert answer.text == ""
    assert answer.of("end")[0]["refused"] is True


@pytest.mark.parametrize("question_id", ["pay-p5", "net-sales", "invoice", "electricity"])
def test_the_figure_can_be_read_on_the_citations_picture(service: httpx.Client, question_id: str) -> None:
    """The crop is a PNG that shows the figure: of a ruled table, a report, a scan and a rotated page."""
    question = next(question for question in ANSWERED if question["id"] == question_id)
    citation = ask(service, question["question"]).of("citation")[0]
    assert citation["level"] == "region"
    response = service.get(citation["region_url"])
    assert response.headers["content-type"] == "image/png"
    assert question["answer"] in read_text(response.content)


def test_the_docx_is_cited_by_its_section_and_has_no_picture(service: httpx.Client) -> None:
    """A document without pages keeps its section path as the label; there is nothing to crop."""
    question = next(question for question in ANSWERED if question["id"] == "hotel")
    citation = ask(service, question["question"]).of("citation")[0]
    assert citation["label"] == f"travel-policy.docx · {' > '.join(question['section'])}"
    assert citation["region_url"] is None


def test_a_stored_answer_comes_back_whole(service: httpx.Client) -> None:
    """The same events, the text, and the web export of the citations are there under the answer's id."""
    answer = ask(service, "P5 的基本工资是多少？")
    answer_id = answer.of("start")[0]["answer_id"]
    stored = service.get(f"/v1/answers/{answer_id}").json()
    exported = service.get(f"/v1/answers/{answer_id}/citations").json()
    assert stored["text"] == answer.text
    assert exported["citations"][0]["page_number"] == 4
    assert all(0 <= value <= 1 for value in exported["citations"][0]["box"])


def test_the_command_line_asks_the_service_that_owns_the_index(service: httpx.Client, sample_kb: Path) -> None:
    """Two processes never open the index: `ask` and `search` go over HTTP and print the same."""
    asked = run("ask", "P5 的基本工资是多少？", "--kb", sample_kb, "--json")
    found = run("search", "P5 基本工资", "--kb", sample_kb, "-k", "2", "--json")
    assert asked.code == 0, asked.err
    assert "22000" in "".join(line["data"]["text"] for line in asked.lines if line["event"] == "delta")
    assert [line["rank"] for line in found.lines] == [1, 2]


def test_what_is_ingested_beside_a_running_service_is_answered(
    service: httpx.Client, sample_kb: Path, tmp_path: Path
) -> None:
    """The service catches up by itself, within seconds."""
    (tmp_path / "parking.txt").write_text("Parking permits cost 37 dollars a month.", encoding="utf-8")
    assert run("ingest", tmp_path / "parking.txt", "--kb", sample_kb).code == 0
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        answer = ask(service, "How much do parking permits cost?")
        if "37 dollars" in answer.text:
            return
        time.sleep(0.5)
    raise AssertionError("the document did not become visible")


def test_eval_asks_the_service_that_owns_the_index(service: httpx.Client, sample_kb: Path) -> None:
    """Beside a service the questions go to it over HTTP; its settings cannot be changed, and that is said."""
    asked = ("eval", ROOT / "docs" / "sample-questions.jsonl", "--kb", sample_kb, "--limit", "2")
    done = run(*asked, "--json")
    assert done.code == 0, done.err
    told = done.lines[-1]["summary"]["configurations"]["kb-qa"]
    assert str(service.base_url).rstrip("/") in told["about"]["asked"]
    assert told["rates"]["figure_right"]["hits"] == 2
    refused = run(*asked, "--compare", "KB_QA_TOP_K=2")
    assert refused.code == 3
    assert "stop it to compare settings" in refused.err
