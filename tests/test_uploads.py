"""Uploads over HTTP: what is taken, what is refused, and that nothing is left or touched but what should be."""

from __future__ import annotations

import asyncio
import hashlib
import json
import socket
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from starlette.exceptions import HTTPException

from kb_qa.geometry import Page
from kb_qa.picture import Picture
from kb_qa.renderer import Renderer
from kb_qa.service.received import in_time
from kb_qa.testing import InMemoryJobs
from tests.pdf_pages import write_pdf
from tests.scripted_service import DOCUMENT, ScriptedKnowledgeBase, ScriptedLibrary, record, scripted_intake, served
from tests.test_streaming import frames

PDF = b"%PDF-1.7\n1 0 obj\n<<>>\nendobj\nstartxref\n0\n%%EOF"
HTML = b"<html><script>alert(1)</script>hi 42</html>"
PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(40)


def id_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True, slots=True)
class Uploading:
    base: str
    kb: Path
    jobs: InMemoryJobs
    library: ScriptedLibrary

    def put(self, name: str, data: Any = PDF, **headers: str) -> httpx.Response:
        named = {key.replace("_", "-"): value for key, value in headers.items()}
        return httpx.put(f"{self.base}/v1/documents/{quote(name, safe='')}", content=data, headers=named, timeout=20)

    def post(self, *files: tuple[str, bytes], **more: Any) -> httpx.Response:
        return httpx.post(f"{self.base}/v1/documents", files=[("files", file) for file in files], timeout=20, **more)

    def files(self) -> list[str]:
        """What stands in the folder of uploads, hidden files included."""
        return sorted(path.name for path in (self.kb / "uploads").glob("*"))

    def handed_over(self) -> list[dict[str, Any]]:
        return [upload for job in self.jobs.jobs.values() for upload in job.arguments.get("uploads", ())]


@contextmanager
def uploading(kb: Path, **changed: Any) -> Iterator[Uploading]:
    """A service without a document, which takes uploads below `kb`."""
    jobs, library = InMemoryJobs(), ScriptedLibrary(records=[])
    intake = scripted_intake(kb, library, jobs, **changed)
    with served(ScriptedKnowledgeBase(library=library), intake=intake) as base:
        yield Uploading(base, kb, jobs, library)


def test_an_upload_becomes_a_job(tmp_path: Path) -> None:
    """202 with the document's id, its job, state and events; the file waits below its token, written whole."""
    with uploading(tmp_path) as service:
        response = service.put("report.pdf")
        assert response.status_code == 202
        assert response.json() == {
            "document_id": id_of(PDF),
            "name": "report.pdf",
            "job": 1,
            "state": "received",
            "events_url": f"/v1/documents/{id_of(PDF)}/events",
            "replaces": None,
            "message": "",
        }
        [upload] = service.handed_over()
        assert (upload["name"], upload["document_id"]) == ("report.pdf", id_of(PDF))
        assert service.files() == [upload["file"]]
        assert (tmp_path / "uploads" / upload["file"]).read_bytes() == PDF
        [listed] = httpx.get(f"{service.base}/v1/documents").json()["documents"]
        assert (listed["names"], listed["state"], listed["size"]) == (["report.pdf"], "received", len(PDF))


NAMES = [
    pytest.param("../../x.pdf", "x.pdf", id="parents"),
    pytest.param("..\\..\\x.pdf", "x.pdf", id="backslashes"),
    pytest.param("/abs/x.pdf", "x.pdf", id="absolute"),
    pytest.param("a/../../x.pdf", "x.pdf", id="inside"),
    pytest.param("%2e%2e%2fx.pdf", "%2e%2e%2fx.pdf", id="encoded twice"),
    pytest.param("x.pdf\x00.txt", "x.pdf\ufffd.txt", id="nul"),
    pytest.param("\u202egpj.x.pdf", "\ufffdgpj.x.pdf", id="right to left"),
    pytest.param("CON.pdf", "CON.pdf", id="reserved"),
    pytest.param("a/..", "document", id="parent alone"),
    pytest.param("a" * 4096 + ".pdf", "a" * 996 + ".pdf", id="4 kB"),
    pytest.param("报" * 400 + ".pdf", "报" * 400 + ".pdf", id="400 Chinese characters"),
    pytest.param("<img src=x onerror=alert(1)>.pdf", "<img src=x onerror=alert(1)>.pdf", id="markup"),
    pytest.param("{{7*7}}{0.__class__}.pdf", "{{7*7}}{0.__class__}.pdf", id="templates"),
]


@pytest.mark.parametrize("way", ["body", "form"])
@pytest.mark.parametrize(("claimed", "shown"), NAMES)
def test_g1_no_name_leads_anywhere(claimed: str, shown: str, way: str, tmp_path: Path) -> None:
    """G1: the file is stored under a token, the name is kept, made printable, and nothing outside changes."""
    kb = tmp_path / "a" / "b" / "kb"
    with uploading(kb) as service:
        if way == "body":
            response = service.put(claimed)
            told = response.json()
        else:
            response = httpx.post(f"{service.base}/v1/documents", **raw_form(claimed))
            told = response.json()["documents"][0]
        assert response.status_code == 202, response.text
        assert response.content.isascii()
        assert told["name"] == service.handed_over()[0]["name"] == shown
        assert service.files() == [service.handed_over()[0]["file"]]
    assert [path.name for path in tmp_path.rglob("*")] == ["a", "b", "kb", "uploads", service.handed_over()[0]["file"]]


def raw_form(name: str, data: bytes = PDF) -> dict[str, Any]:
    """A form whose file name is in the header as it is, which no well-behaved client would send."""
    head = (
        f'--b\r\nContent-Disposition: form-data; name="files"; filename="{name.replace(chr(92), chr(92) * 2)}"\r\n\r\n'
    )
    content = head.encode() + data + b"\r\n--b--\r\n"
    return {"content": content, "headers": {"Content-Type": "multipart/form-data; boundary=b"}}


def test_g1_a_file_without_a_name_gets_one(tmp_path: Path) -> None:
    """An empty file name with bytes behind it is a document; without any it is a field where nothing was chosen."""
    with uploading(tmp_path) as service:
        told = httpx.post(f"{service.base}/v1/documents", **raw_form("")).json()
        assert told["documents"][0]["name"] == "document"
        nothing = httpx.post(f"{service.base}/v1/documents", **raw_form("", b""))
        assert (nothing.status_code, nothing.json()["message"]) == (422, "the form has no file")


@pytest.mark.parametrize("said", ["true", "missing"])
def test_an_upload_over_the_cap_is_413_and_leaves_nothing(said: str, tmp_path: Path) -> None:
    """By the length that is told before a byte is read; by the bytes where none is told."""
    data = b"%PDF-" + bytes(1 << 20)
    with uploading(tmp_path) as service:
        response = service.put("large.pdf", data if said == "true" else iter([data[:500_000], data[500_000:]]))
        assert (response.status_code, response.json()["code"]) == (413, "limit_exceeded")
        form = service.post(("large.pdf", data))
        assert (form.status_code, form.json()["code"]) == (413, "limit_exceeded")
        assert (service.files(), service.jobs.jobs) == ([], {})


def test_a_false_length_is_no_way_in(tmp_path: Path) -> None:
    """A body shorter than it was said to be is no upload: the connection's end is not the file's."""
    with uploading(tmp_path) as service:
        host, port = service.base.removeprefix("http://").split(":")
        head = f"PUT /v1/documents/x.pdf HTTP/1.1\r\nHost: {host}\r\nContent-Length: 5000\r\n\r\n"
        with socket.create_connection((host, int(port))) as client:
            client.sendall(head.encode() + PDF)
            wait_until(lambda: bool(service.files()))
        wait_until(lambda: not service.files())
        assert service.jobs.jobs == {}


def wait_until(holds: Any, seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize("drip", [b"", b"x" * 10], ids=["silent", "dripping"])
def test_a_body_without_progress_is_cut(drip: bytes) -> None:
    """408 after the allowed time, also where a few bytes come now and then."""

    async def slow() -> AsyncIterator[bytes]:
        yield b"%PDF-"
        while True:
            await asyncio.sleep(0.05 if drip else 60)
            yield drip

    async def cut() -> None:
        with pytest.raises(HTTPException) as caught:
            async for _ in in_time(slow(), stall=0.3):
                pass
        assert caught.value.status_code == 408

    asyncio.run(asyncio.wait_for(cut(), 5))


def test_a_body_that_goes_on_is_not_cut() -> None:
    """However long it takes altogether."""

    async def steady() -> AsyncIterator[bytes]:
        for _ in range(8):
            await asyncio.sleep(0.05)
            yield bytes(16 * 1024)

    async def read() -> int:
        return sum([len(piece) async for piece in in_time(steady(), stall=0.2)])

    assert asyncio.run(read()) == 8 * 16 * 1024


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"most_waiting": 0}, "0 jobs wait to be read"),
        ({"most_open": 0}, "0 uploads are being received"),
    ],
    ids=["queue", "uploads"],
)
def test_a_full_queue_sends_away(changed: dict[str, int], told: str, tmp_path: Path) -> None:
    """429 with Retry-After, before a byte of the body is read."""
    with uploading(tmp_path, **changed) as service:
        for response in (service.put("x.pdf"), service.post(("x.pdf", PDF))):
            assert (response.status_code, response.json()["code"]) == (429, "no_room")
            assert int(response.headers["retry-after"]) > 0
            assert told in response.json()["message"]
        assert service.files() == []


def test_a_full_disk_sends_away(tmp_path: Path) -> None:
    """429, by what is left free, in the words of a reader."""
    jobs, library = InMemoryJobs(), ScriptedLibrary(records=[])
    intake = scripted_intake(tmp_path, library, jobs)
    intake.room = replace(intake.room, keep_free=1 << 60)
    with served(ScriptedKnowledgeBase(library=library), intake=intake) as base:
        response = httpx.put(f"{base}/v1/documents/x.pdf", content=PDF)
        assert (response.status_code, response.headers["retry-after"]) == (429, "60")
        assert "disk has no room" in response.json()["message"]
    assert not jobs.jobs


def test_the_same_bytes_are_one_job_and_then_no_work(tmp_path: Path) -> None:
    """Twenty uploads at the same time are one job; once the document is ready the answer is 200 and nothing to do."""

    async def at_once(base: str) -> list[httpx.Response]:
        async with httpx.AsyncClient(timeout=20) as client:
            url = f"{base}/v1/documents/r.pdf"
            return list(await asyncio.gather(*[client.put(url, content=PDF) for _ in range(20)]))

    with uploading(tmp_path, most_open=20) as service:
        assert {(each.status_code, each.json()["job"]) for each in asyncio.run(at_once(service.base))} == {(202, 1)}
        assert len(service.files()) == 1
        service.jobs.say(1, "done", [{"document_id": id_of(PDF), "state": "ready"}])
        service.library.records.append(record(id_of(PDF), "r.pdf"))
        again = service.put("r.pdf")
        assert (again.status_code, again.json()["state"], again.json()["job"]) == (200, "ready", None)
        assert len(service.jobs.jobs) == 1
        other = service.put("other.pdf")
        assert (other.status_code, other.json()["job"]) == (202, 2)


def test_what_is_quarantined_is_read_again_where_that_is_asked_for(tmp_path: Path) -> None:
    """The same bytes are no work, and their state says why; with `retry` they are a job."""
    with uploading(tmp_path) as service:
        service.library.records.append(record(id_of(PDF), "r.pdf", state="quarantined"))
        assert (service.put("r.pdf").status_code, service.put("r.pdf").json()["state"]) == (200, "quarantined")
        again = httpx.put(f"{service.base}/v1/documents/r.pdf", params={"retry": "1"}, content=PDF)
        assert again.status_code == 202
        assert service.jobs.get(1).arguments["retry"] is True


def test_g1_a_second_upload_of_a_name_says_what_it_replaces(tmp_path: Path) -> None:
    """G1: the first is named in the answer, in the reader's language; it stays until the second is ready."""
    with uploading(tmp_path) as service:
        service.library.records.append(record(DOCUMENT, "r.pdf"))
        told = service.put("r.pdf").json()
        assert (told["replaces"], told["state"]) == (DOCUMENT, "received")
        assert told["message"].startswith("a document of this name is there")
        chinese = service.put("r.pdf", PDF + b" ", accept_language="zh-CN").json()
        assert chinese["message"].startswith("同名文档已存在")
        assert service.library.withdrawn == []


@pytest.mark.parametrize(
    ("name", "data", "status", "code"),
    [
        pytest.param("page.pdf", HTML, 415, "misnamed_file", id="html"),
        pytest.param("picture.pdf", PICTURE, 415, "misnamed_file", id="png"),
        pytest.param("plain.pdf", b"hello world", 415, "misnamed_file", id="text"),
        pytest.param("empty.pdf", b"", 422, "empty_file", id="empty"),
    ],
)
def test_b8_g8_what_is_no_pdf_is_refused(name: str, data: bytes, status: int, code: str, tmp_path: Path) -> None:
    """B8, G8: by its first bytes, with a reason in English or Chinese, and nothing is left."""
    with uploading(tmp_path) as service:
        english, chinese = service.put(name, data), service.put(name, data, accept_language="zh")
        assert (english.status_code, english.json()["code"]) == (status, code)
        assert name in english.json()["message"]
        assert any("\u4e00" <= letter <= "\u9fff" for letter in chinese.json()["message"])
        form = service.post((name, data), headers={"Accept-Language": "en"})
        assert form.status_code == status
        assert (service.files(), service.jobs.jobs) == ([], {})


def test_b8_a_pdf_that_can_be_repaired_is_taken(tmp_path: Path) -> None:
    """B8: with its first bytes cut off it still has objects and a trailer; the parser decides."""
    with uploading(tmp_path) as service:
        assert service.put("cut.pdf", PDF[9:]).status_code == 202


def test_a_form_takes_several_files(tmp_path: Path) -> None:
    """A line for each, in order; one that is refused keeps out no other; fields beside them are passed over."""
    with uploading(tmp_path) as service:
        response = service.post(("a.pdf", PDF), ("b.pdf", HTML), ("c.md", b"# c"), data={"note": "x"})
        assert response.status_code == 202
        lines = response.json()["documents"]
        assert [(line["name"], line.get("code"), line.get("job")) for line in lines] == [
            ("a.pdf", None, 1),
            ("b.pdf", "misnamed_file", None),
            ("c.md", None, 2),
        ]
        assert [upload["document_id"] for upload in service.handed_over()] == [id_of(PDF), id_of(b"# c")]
        assert len(service.files()) == 2


@pytest.mark.parametrize("size", [1, 2, 7, 64, 1000])
def test_a_form_is_the_same_however_it_is_cut(size: int, tmp_path: Path) -> None:
    """Boundaries that fall between two pieces are found, and no byte of a file is lost or added."""
    data = b"\r\n--a\r\n-" * 30 + b"\r\n--"
    form = raw_form("x.bin", data)
    content = form["content"]
    pieces = iter([content[start : start + size] for start in range(0, len(content), size)])
    with uploading(tmp_path) as service:
        told = httpx.post(f"{service.base}/v1/documents", content=pieces, headers=form["headers"]).json()
        assert told["documents"][0]["document_id"] == id_of(data)


@pytest.mark.parametrize(
    ("content", "content_type", "status"),
    [
        pytest.param(b"{}", "application/json", 422, id="json"),
        pytest.param(b"x", "multipart/form-data", 422, id="no boundary"),
        pytest.param(b"x" * 100, "multipart/form-data; boundary=b", 422, id="no form"),
        pytest.param(raw_form("x.pdf")["content"][:-6], "multipart/form-data; boundary=b", 422, id="cut"),
        pytest.param(
            b'--b\r\nContent-Disposition: form-data; name="x"\r\n\r\n\r\n' * 60, "multipart/form-data; boundary=b", 413,
            id="parts",
        ),
        pytest.param(
            b'--b\r\nX: ' + b"y" * 20_000 + b"\r\n\r\n", "multipart/form-data; boundary=b", 422, id="headers"
        ),
    ],
)  # fmt: skip
def test_a_form_that_is_none_or_too_large_is_refused(
    content: bytes, content_type: str, status: int, tmp_path: Path
) -> None:
    """4xx with words, never 500; nothing is left."""
    with uploading(tmp_path) as service:
        response = httpx.post(f"{service.base}/v1/documents", content=content, headers={"Content-Type": content_type})
        assert response.status_code == status
        assert service.files() == []


def test_a_form_field_of_a_gigabyte_is_cut_at_its_cap(tmp_path: Path) -> None:
    """413 after the first 64 kB of it; the rest is nobody's."""
    head = b'--b\r\nContent-Disposition: form-data; name="x"\r\n\r\n'
    with uploading(tmp_path) as service:
        host, port = service.base.removeprefix("http://").split(":")
        request = (
            f"POST /v1/documents HTTP/1.1\r\nHost: {host}\r\nContent-Length: {1 << 30}\r\n"
            "Content-Type: multipart/form-data; boundary=b\r\n\r\n"
        )
        with socket.create_connection((host, int(port)), timeout=10) as client:
            client.sendall(request.encode() + head + bytes(100_000))
            assert client.recv(4096).startswith(b"HTTP/1.1 413 ")


# What becomes of it


def test_the_states_of_a_document_are_a_stream(tmp_path: Path) -> None:
    """From the current state on, each change once, with pages and chunks, and an end; then nothing more to hear."""
    wanted = id_of(PDF)
    with uploading(tmp_path) as service:
        url = f"{service.base}{service.put('r.pdf').json()['events_url']}"
        told: list[tuple[int, str, dict[str, Any]]] = []
        with httpx.stream("GET", url, timeout=20) as response:
            received = ""
            steps = iter(("parsing", "embedding", "indexing", "ready"))
            for piece in response.iter_text():
                received += piece
                told = frames(received)
                state = next(steps, "")
                if state:
                    changed = record(wanted, "r.pdf", state=state, chunks=0 if state == "parsing" else 5)
                    service.library.records[:] = [changed]
                if state == "indexing":
                    service.jobs.say(1, "done", [{"document_id": wanted, "state": "ready"}])
        assert [(event, data["state"]) for _, event, data in told] == [
            *[("state", state) for state in ("received", "parsing", "embedding", "indexing", "ready")],
            ("end", "ready"),
        ]
        assert [number for number, _, _ in told] == sorted(number for number, _, _ in told)
        assert (told[1][2]["pages"], told[1][2]["chunks"], told[2][2]["chunks"]) == (2, 0, 5)
        after = httpx.get(url, headers={"Last-Event-ID": str(told[-1][0])})
        assert (after.status_code, after.content) == (204, b"")


@pytest.mark.parametrize(("language", "words"), [("en", "has no pages"), ("zh", "没有页面")])
def test_a_quarantine_is_told_with_its_reason(language: str, words: str, tmp_path: Path) -> None:
    """In the reader's language, with its code."""
    with uploading(tmp_path) as service:
        url = f"{service.base}{service.put('r.pdf').json()['events_url']}"
        reason = "'r.pdf' has no pages"
        service.jobs.say(1, "done", [{"document_id": id_of(PDF), "state": "quarantined"}])
        quarantined = record(id_of(PDF), "r.pdf", state="quarantined", reason=reason, code="empty_file")
        service.library.records[:] = [quarantined]
        told = frames(httpx.get(url, headers={"Accept-Language": language}).text)
        assert [(event, data["state"]) for _, event, data in told] == [("state", "quarantined"), ("end", "quarantined")]
        assert told[0][2]["code"] == "empty_file"
        assert words in str(told[0][2]["reason"])


def test_a_job_that_failed_ends_the_stream(tmp_path: Path) -> None:
    """With the worker's own code and words."""
    with uploading(tmp_path) as service:
        url = f"{service.base}{service.put('r.pdf').json()['events_url']}"
        service.jobs.say(1, "failed", error={"code": "environment", "message": "no model in /srv/models"})
        [(_, _, data), (_, last, _)] = frames(httpx.get(url).text)
        assert (data["state"], data["code"], data["reason"], last) == (
            "failed",
            "environment",
            "no model in models",
            "end",
        )
        job = httpx.get(f"{service.base}/v1/jobs/1").json()
        assert (job["state"], job["kind"], job["outcomes"]) == ("failed", "ingest", [])


def test_what_was_never_uploaded_has_no_events(tmp_path: Path) -> None:
    """404 for an id that nobody knows, and for what is none."""
    with uploading(tmp_path) as service:
        for rest in (f"documents/{DOCUMENT}/events", "documents/nothing/events", "jobs/7", "jobs/x"):
            assert httpx.get(f"{service.base}/v1/{rest}").status_code == 404


def test_a_deleted_document_is_not_seen_any_more(tmp_path: Path) -> None:
    """202: it is withdrawn at once, a job removes it; one that waits is deleted behind its upload; unknown is 404."""
    with uploading(tmp_path) as service:
        service.library.records.append(record(DOCUMENT, "r.pdf"))
        gone = httpx.delete(f"{service.base}/v1/documents/{DOCUMENT}")
        assert (gone.status_code, gone.json()["state"], service.library.withdrawn) == (202, "deleting", [DOCUMENT])
        assert service.jobs.get(1).arguments == {"documents": [DOCUMENT]}
        service.put("waits.pdf")
        assert httpx.delete(f"{service.base}/v1/documents/{id_of(PDF)}").status_code == 202
        assert [job.kind for job in service.jobs.jobs.values()] == ["delete", "ingest", "delete"]
        assert httpx.delete(f"{service.base}/v1/documents/{'9' * 64}").status_code == 404


def test_a_service_without_a_worker_takes_nothing() -> None:
    """It says so, and what else to do."""
    with served(ScriptedKnowledgeBase()) as base:
        response = httpx.put(f"{base}/v1/documents/x.pdf", content=PDF)
        assert (response.status_code, response.json()["code"]) == (422, "read_only")


def test_what_an_earlier_process_left_is_put_in_order(tmp_path: Path) -> None:
    """Uploads of jobs that wait are known again; half a file, and one that no job knows, are removed."""
    folder = tmp_path / "uploads"
    folder.mkdir()
    for name in ("ab" * 16, "cd" * 16, ".receiving-x"):
        (folder / name).write_bytes(PDF)
    jobs, library = InMemoryJobs(), ScriptedLibrary(records=[])
    jobs.add("ingest", {"uploads": [{"file": "ab" * 16, "name": "r.pdf", "document_id": id_of(PDF)}]})
    intake = scripted_intake(tmp_path, library, jobs)
    intake.resume(jobs.jobs.values())
    assert [path.name for path in folder.iterdir()] == ["ab" * 16]
    assert [(each.document_id, each.names) for each in intake.queued()] == [(id_of(PDF), ("r.pdf",))]


def test_pieces_of_json_are_ascii(tmp_path: Path) -> None:
    """Names in events are ASCII JSON like all else on the wire."""
    with uploading(tmp_path) as service:
        told = service.put("报告 🙂.pdf")
        assert told.content.isascii()
        assert json.loads(told.content)["name"] == "报告 🙂.pdf"


def test_b17_pictures_and_uploads_at_once_are_as_those_alone(tmp_path: Path) -> None:
    """B17: twenty of both at the same time give the bytes of a serial run, and the service answers meanwhile."""
    path = tmp_path / "pages.pdf"
    write_pdf(path, *[lambda page, n=n: page.insert_text((72, 100), f"Page {n}", fontsize=40) for n in range(4)])
    library = ScriptedLibrary(page_sizes={(DOCUMENT, number): Page(number, 595, 842) for number in range(1, 5)})
    knowledge_base = ScriptedKnowledgeBase(library=library, originals={DOCUMENT: path})
    intake = scripted_intake(tmp_path, library, most_open=50, most_waiting=50)
    asked = [Picture(n % 4 + 1, dpi=60 + n // 4) for n in range(20)]

    async def at_once(base: str) -> tuple[list[bytes], list[int], float, float]:
        async with httpx.AsyncClient(base_url=base, timeout=60) as many:
            gets = [many.get(f"/v1/documents/{DOCUMENT}/pages/{each.page}.png?dpi={each.dpi:.0f}") for each in asked]
            puts = [many.put(f"/v1/documents/{n}.pdf", content=PDF + bytes([n]) * 200_000) for n in range(20)]
            drawn, uploads = asyncio.gather(*gets), asyncio.gather(*puts)
            slowest, started = 0.0, time.monotonic()
            while not (drawn.done() and uploads.done()):
                began = time.monotonic()
                assert (await many.get("/healthz")).status_code == 200
                slowest = max(slowest, time.monotonic() - began)
                await asyncio.sleep(0.02)
            whole = time.monotonic() - started
            return [each.content for each in await drawn], [each.status_code for each in await uploads], slowest, whole

    async def alone(renderer: Renderer) -> list[bytes]:
        return [await renderer.picture(path, DOCUMENT, each) for each in asked]

    with Renderer(tmp_path / "alone", workers=1, max_megapixels=25) as renderer:
        serial = asyncio.run(alone(renderer))
    with (
        Renderer(tmp_path / "pictures", workers=2, max_megapixels=25) as renderer,
        served(knowledge_base, renderer, intake=intake) as base,
    ):
        pictures, statuses, slowest, whole = asyncio.run(at_once(base))
    assert pictures == serial
    assert len(set(pictures)) == 20
    assert statuses == [202] * 20
    assert slowest < max(1, whole / 2)  # a service that stood still would answer at the end
