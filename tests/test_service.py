"""The routes: what they give, what they refuse, and what every response carries."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlsplit

import httpx
import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from starlette.exceptions import HTTPException

from kb_qa.answers import Filters, Hit
from kb_qa.document_record import DocumentRecord
from kb_qa.elements import Block, Chunk
from kb_qa.errors import EnvironmentProblemError, InvalidRegionError, ReindexNeededError, UnsupportedFileError
from kb_qa.geometry import BBox, Quality, Region
from kb_qa.marks import MarkedClaim, PageMarks
from kb_qa.picture import Picture
from kb_qa.service import create_app, documents, health
from kb_qa.service.middleware import MAX_BODY_BYTES, LimitedBody, allowed_hosts
from kb_qa.service.problems import pathless
from kb_qa.settings import LOOPBACK_NAMES, Settings
from tests.scripted_service import (
    ANSWER,
    DOCUMENT,
    OTHER,
    PNG,
    CountingRenderer,
    ScriptedKnowledgeBase,
    ScriptedLibrary,
    citation,
    events,
    plain_answer,
    record,
    scripted_intake,
    served,
)

NASTY_NAME = '../../<img src=x onerror=alert(1)>\r\n"\u202egpj.\ud800报告.pdf'
CROSSING = "b" * 32
SEVERAL = "d" * 32
PAGELESS = "23" * 32
LOST = "01" * 32
REGIONS = [
    {"page": 1, "bbox": [60.0, 700.0, 540.0, 780.0], "box": [0.1, 0.875, 0.9, 0.975], "rects": []},
    {
        "page": 2,
        "bbox": [60.0, 40.0, 540.0, 60.0],
        "box": [0.1, 0.05, 0.9, 0.075],
        "rects": [[60.0, 40.0, 300.0, 60.0]],
    },
]


@dataclass
class Service:
    """One running service for all tests of this file; what it was asked for is kept by its parts."""

    base: str
    knowledge_base: ScriptedKnowledgeBase
    renderer: CountingRenderer
    client: httpx.Client

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self.client.get(path, headers={name.replace("_", "-"): value for name, value in headers.items()})

    def post(self, path: str, body: object, **headers: str) -> httpx.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.post(path, json=body, headers=named)


def stored_answers() -> dict[str, list[object]]:
    crossing = events(
        ("start", {"question": "净利润？"}),
        ("delta", {"seq": 1, "text": "🙂 净利润为"}),
        ("delta", {"seq": 2, "text": " 41 万元。没有页面。"}),
        citation(1, start=2, end=13, regions=REGIONS, found=True),
        citation(2, start=13, end=18, regions=[], found=False, level="text", page_url=None, region_url=None),
        citation(3, start=13, end=18, regions=[{"page": 2, "bbox": None, "box": None, "rects": []}], found=False),
        ("end", {"complete": True}),
    )
    cut = events(("start", {"question": "q"}), ("delta", {"seq": 1, "text": "half"}), ("error", {"code": "incomplete"}))
    several = events(
        ("start", {"question": "q"}),
        ("delta", {"seq": 1, "text": "All."}),
        citation(1, start=0, end=4),
        citation(2, start=0, end=4, document_id=LOST, document=NASTY_NAME),
        citation(3, start=0, end=4, document_id=PAGELESS, document="hb.md", regions=[]),
        ("end", {"complete": True}),
    )
    return {ANSWER: [*plain_answer()], CROSSING: [*crossing], SEVERAL: [*several], "c" * 32: [*cut]}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("blobs")
    pdf, page = folder / "pdf", folder / "html"
    pdf.write_bytes(b"%PDF-1.7\n...")
    page.write_bytes(b"<html><script>alert(1)</script>")
    records = [
        record(names=(NASTY_NAME, "second.pdf")),
        record(OTHER, "page.pdf", state="quarantined", pages=0, reason="not a PDF", code="misnamed_file"),
        record("ef" * 32, "gone.pdf", state="deleted"),
        record("01" * 32, "lost.pdf"),
        record(PAGELESS, "hb.md", pages=0),
    ]
    library = ScriptedLibrary(records=records, answers=stored_answers())  # type: ignore[arg-type]
    originals = {DOCUMENT: pdf, OTHER: page, "ef" * 32: pdf, "01" * 32: folder / "missing"}
    knowledge_base = ScriptedKnowledgeBase(library=library, originals=originals)
    renderer = CountingRenderer()
    intake = scripted_intake(folder, library, most_waiting=100_000)
    with served(knowledge_base, renderer, intake=intake) as base, httpx.Client(base_url=base, timeout=10) as client:
        yield Service(base, knowledge_base, renderer, client)


# Asking and searching


def test_filters_and_level_reach_the_knowledge_base(service: Service) -> None:
    """What a question is limited to arrives as `Filters`, its text without the blanks around it."""
    filters = {"documents": ["a.pdf"], "pages": [3], "element_types": ["table"], "folder": "2024"}
    service.post("/v1/ask", {"question": "  q？ ", "session_id": "s", "filters": filters, "level": "page"})
    assert service.knowledge_base.asked[-1] == ("q？", Filters(("a.pdf",), (3,), ("table",), "2024"), "page")


@pytest.mark.parametrize("session_id", ["s", "a-1_b.C", "x" * 64])
def test_session_of_the_caller_reaches_the_knowledge_base(session_id: str, service: Service) -> None:
    """A caller names its own sessions."""
    service.post("/v1/ask", {"question": "q?", "session_id": session_id})
    assert service.knowledge_base.sessions[-1] == session_id


@pytest.mark.parametrize("body", [{}, {"session_id": None}], ids=["none", "null"])
def test_a_question_without_session_begins_one(body: dict[str, object], service: Service) -> None:
    """The service makes an id that nobody can guess: 128 random bits."""
    for _ in range(2):
        service.post("/v1/ask", {"question": "q?"} | body)
    first, second = service.knowledge_base.sessions[-2:]
    assert first != second
    assert re.fullmatch("[0-9a-f]{32}", first)


WRONG_BODIES: dict[str, object] = {
    "no question": {},
    "empty": {"question": ""},
    "blank": {"question": " \u3000\n"},
    "too long": {"question": "x" * 4001},
    "not text": {"question": 5},
    "half surrogate": {"question": "\ud800"},
    "unknown field": {"question": "q", "model": "other"},
    "unknown level": {"question": "q", "level": "word"},
    "unknown filter": {"question": "q", "filters": {"author": "x"}},
    "unknown element type": {"question": "q", "filters": {"element_types": ["chart"]}},
    "page 0": {"question": "q", "filters": {"pages": [0]}},
    "huge page": {"question": "q", "filters": {"pages": [10**30]}},
    "page as text": {"question": "q", "filters": {"pages": ["1"]}},
    "long session": {"question": "q", "session_id": "s" * 65},
    "empty session": {"question": "q", "session_id": ""},
    "session that is a path": {"question": "q", "session_id": "../s"},
    "session of two lines": {"question": "q", "session_id": "s\n"},
    "session that is a number": {"question": "q", "session_id": 5},
    "a list": ["q"],
    "null": None,
}


@pytest.mark.parametrize("body", WRONG_BODIES.values(), ids=WRONG_BODIES.keys())
def test_wrong_bodies_are_refused_with_words(body: object, service: Service) -> None:
    """A body that is not as documented is 422 with code and message, and no question is asked."""
    asked = len(service.knowledge_base.asked)
    response = service.client.post("/v1/ask", content=json.dumps(body), headers={"Content-Type": "application/json"})
    assert response.status_code == 422
    assert response.json()["code"] == "invalid_input"
    assert response.json()["message"]
    assert len(service.knowledge_base.asked) == asked


@pytest.mark.parametrize(
    "content", [b"{", b"\xff\xfe", b'{"question":' + b"[" * 60_000, b'{"question": ' + b"9" * 6000 + b"}", b""]
)
def test_bodies_that_are_not_json_are_refused(content: bytes, service: Service) -> None:
    """Broken, too deep, undecodable or missing JSON is the client's fault, told as JSON."""
    response = service.client.post("/v1/ask", content=content, headers={"Content-Type": "application/json"})
    assert response.status_code in {400, 422}
    assert set(response.json()) == {"code", "message", "request_id"}


def test_longest_question_is_taken(service: Service) -> None:
    """4,000 characters are a question; the blanks around them do not count."""
    assert service.post("/v1/ask", {"question": " " + "问" * 4000 + " "}).status_code == 200


@pytest.mark.parametrize("told", [True, False], ids=["length told", "length not told"])
def test_body_over_the_cap_is_413(told: bool, service: Service) -> None:
    """More bytes than any question needs are refused, whether or not the length was told beforehand."""
    body = b" " * (MAX_BODY_BYTES + 1)
    content = body if told else iter([body[: len(body) // 2], body[len(body) // 2 :]])
    response = service.client.post("/v1/ask", content=content, headers={"Content-Type": "application/json"})
    assert (response.status_code, response.json()["code"]) == (413, "limit_exceeded")


def test_search_gives_hits_as_documented(service: Service) -> None:
    """A hit names its document, page, type, section, regions, text, score and how far its page can be trusted."""
    block = Block("b", "e", "4,812", 0, 5, (Region(2, BBox(1, 2, 3.14159, 4)),))
    chunk = Chunk(
        "c", DOCUMENT, 1, "2024/report.pdf", 0, (block,), element_type="table", category="Table", section=("Results",)
    )
    service.knowledge_base.hits = [Hit(chunk, {"fused": 0.03}, Quality("fair", ("read by OCR, confidence 0.93",)))]
    response = service.post("/v1/search", {"question": "revenue", "k": 3, "filters": {"pages": [2]}})
    assert service.knowledge_base.searched[-1] == ("revenue", 3, Filters(pages=(2,)))
    assert response.json() == {
        "hits": [
            {
                "rank": 1,
                "document": "2024/report.pdf",
                "document_id": DOCUMENT,
                "page": 2,
                "element_type": "table",
                "section": ["Results"],
                "regions": [{"page": 2, "bbox": [1, 2, 3.14, 4]}],
                "text": "4,812",
                "score": 0.03,
                "quality": {"grade": "fair", "reasons": ["read by OCR, confidence 0.93"]},
            }
        ]
    }


def test_every_limit_of_a_search_goes_over_http(service: Service) -> None:
    """Months and years become the days that they bound."""
    given = {"documents": ["a.pdf"], "pages": [2, 3], "element_types": ["table"], "folder": "x"}
    body = {"question": "q", "filters": {**given, "since": "2023", "until": "2024-02"}}
    assert service.post("/v1/search", body).status_code == 200
    expected = Filters(("a.pdf",), (2, 3), ("table",), "x", "2023-01-01", "2024-02-29")
    assert service.knowledge_base.searched[-1][2] == expected


WRONG_LIMITS = {
    "no date": ({"since": "2024-13"}, "is no date"),
    "an empty span": ({"since": "2024", "until": "2023"}, "the first is the later one"),
    "no page": ({"pages": [0]}, "pages"),
    "no type": ({"element_types": ["tabel"]}, "element_types"),
    "no limit": ({"date": "2024"}, "date"),
}


@pytest.mark.parametrize(("filters", "told"), WRONG_LIMITS.values(), ids=WRONG_LIMITS)
def test_a_limit_that_is_none_is_told(filters: dict[str, object], told: str, service: Service) -> None:
    """422 with a message that names what is wrong, for a search as for a question."""
    for path in ("/v1/search", "/v1/ask"):
        response = service.post(path, {"question": "q", "filters": filters})
        assert response.status_code == 422
        assert told in response.text


@pytest.mark.parametrize("k", [0, 201, "8", 1.5])
def test_search_refuses_a_k_out_of_range(k: object, service: Service) -> None:
    """`k` is a whole number from 1 to 200."""
    assert service.post("/v1/search", {"question": "q", "k": k}).status_code == 422


# Stored answers and citations


def test_stored_answer_has_its_text_and_events(service: Service) -> None:
    """A stored answer is its question, the released text in one piece, and its events."""
    answer = service.get(f"/v1/answers/{CROSSING}").json()
    assert (answer["id"], answer["question"], answer["complete"]) == (CROSSING, "净利润？", True)
    assert answer["text"] == "🙂 净利润为 41 万元。没有页面。"
    assert answer["outcome"]["text"] == answer["text"]
    assert answer["outcome"]["verdict"] == "pass"
    assert [event["event"] for event in answer["events"]][:3] == ["start", "delta", "delta"]


def test_cut_answer_is_not_complete(service: Service) -> None:
    """An answer that was stored with an `error`, or without `end`, is never called complete."""
    assert service.get(f"/v1/answers/{'c' * 32}").json()["complete"] is False


def test_citation_export_normalises_per_page(service: Service) -> None:
    """Claim, quote, page and boxes as shares of the page, four decimals; one region a page at a break."""
    first, without_page, without_box = service.get(f"/v1/answers/{CROSSING}/citations").json()["citations"]
    assert first["claim"] == "净利润为 41 万元。"
    assert (first["found"], first["page_number"], first["box"]) == (True, 1, [0.1, 0.875, 0.9, 0.975])
    assert [region["page_number"] for region in first["regions"]] == [1, 2]
    assert first["regions"][1]["box"] == [0.1, 0.05, 0.5, 0.075]
    assert first["regions"][1]["rects"] == [[0.1, 0.05, 0.5, 0.075]]
    assert (without_page["page_number"], without_page["box"], without_page["region_url"]) == (None, None, None)
    assert (without_box["page_number"], without_box["box"], without_box["region_url"]) == (2, None, None)


def test_citation_export_joins_the_lines_of_a_quote(service: Service) -> None:
    """The box is the union of the quote's lines, not of the block around it; each line is a rectangle of its own."""
    (exported,) = service.get(f"/v1/answers/{ANSWER}/citations").json()["citations"]
    assert exported["box"] == [0.1, 0.1, 0.5, 0.15]
    assert exported["rects"] == [[0.2, 0.1, 0.5, 0.125], [0.1, 0.125, 0.3, 0.15]]
    assert exported["quads"] == [[120, 80, 300, 80, 120, 100, 300, 100], [60, 100, 180, 100, 60, 120, 180, 120]]


def test_links_of_the_export_open_pictures(service: Service) -> None:
    """Every crop and page link of the export is a picture."""
    for exported in service.get(f"/v1/answers/{CROSSING}/citations").json()["citations"]:
        for url in [link for region in exported["regions"] for link in (region["region_url"], region["page_url"])]:
            if url is not None:
                assert service.get(url).headers["content-type"] == "image/png"


def test_crop_of_a_citation_is_its_region(service: Service) -> None:
    """Citation n is the n-th of the answer; its first page is cropped, or the one that is asked for."""
    service.get(f"/v1/answers/{CROSSING}/citations/1/region.png?dpi=72")
    assert service.renderer.calls[-1] == (DOCUMENT, Picture(1, BBox(60, 700, 540, 780), 72))
    service.get(f"/v1/answers/{CROSSING}/citations/1/region.png?page=2&margin=6&marks=1")
    marks = (BBox(60, 40, 300, 60),)
    assert service.renderer.calls[-1] == (DOCUMENT, Picture(2, BBox(60, 40, 540, 60), 150, 6, marks))


@pytest.mark.parametrize("rest", ["2/region.png", "3/region.png", "4/region.png", "1/region.png?page=3"])
def test_citation_without_a_place_has_no_crop(rest: str, service: Service) -> None:
    """No page, no box, no such citation, or not on that page: 404, nothing is rendered."""
    calls = len(service.renderer.calls)
    assert service.get(f"/v1/answers/{CROSSING}/citations/{rest}").status_code == 404
    assert len(service.renderer.calls) == calls


# The marked original


def test_marked_original_is_an_inert_attachment(service: Service) -> None:
    """Every cited passage reaches the renderer with its claim; the file is a download, known again by its tag."""
    path = f"/v1/answers/{ANSWER}/highlighted.pdf"
    response = service.get(path)
    lines = (BBox(120, 80, 300, 100), BBox(60, 100, 180, 120))
    claim = MarkedClaim(1, "Revenue was 4,812 million.", (1,), (PageMarks(2, lines),))
    assert service.renderer.calls[-1] == (DOCUMENT, (claim,))
    assert (response.status_code, response.headers["content-type"]) == (200, "application/pdf")
    assert response.headers["content-disposition"] == 'attachment; filename="report.highlighted.pdf"'
    assert response.headers["content-security-policy"].startswith("sandbox;")
    calls = len(service.renderer.calls)
    again = service.get(path, if_none_match=response.headers["etag"])
    assert (again.status_code, again.content, len(service.renderer.calls)) == (304, b"", calls)


def test_answer_over_several_documents_lists_them(service: Service) -> None:
    """Without `document` the problem names each with the address of its file; with it, its file comes."""
    path = f"/v1/answers/{SEVERAL}/highlighted.pdf"
    response = service.get(path)
    assert (response.status_code, response.json()["code"]) == (409, "several_documents")
    listed = response.json()["documents"]
    assert [(item["document"], item["document_id"]) for item in listed] == [
        ("report.pdf", DOCUMENT),
        (NASTY_NAME, LOST),
        ("hb.md", PAGELESS),
    ]
    assert service.get(listed[0]["highlighted_url"]).status_code == 200
    assert listed[2]["highlighted_url"] is None
    assert service.client.get(path, params={"document": "REPORT.pdf"}).status_code == 200


@pytest.mark.parametrize(
    ("answer", "document", "told"),
    [
        ("b" * 31, "", "no answer"),
        ("c" * 32, "", "cites no document"),
        ("SEVERAL", "hb.md", "no pages to mark"),
        ("SEVERAL", "other.pdf", "does not cite"),
        ("SEVERAL", "LOST", "no page"),
    ],
)
def test_marked_original_that_cannot_be_is_404(answer: str, document: str, told: str, service: Service) -> None:
    """No such answer, nothing cited, no pages, not cited, or a document that is gone: told apart, nothing drawn."""
    names = {"SEVERAL": SEVERAL, "LOST": LOST}
    calls = len(service.renderer.calls)
    path = f"/v1/answers/{names.get(answer, answer)}/highlighted.pdf"
    response = service.client.get(path, params={"document": names.get(document, document)})
    assert (response.status_code, response.json()["code"]) == (404, "not_found")
    assert told in response.json()["message"]
    assert len(service.renderer.calls) == calls


# Documents and pictures


def test_documents_are_listed_with_their_states(service: Service) -> None:
    """The list tells state and reason, holds names no UTF-8 can hold, and leaves out what was deleted."""
    listed = service.get("/v1/documents").json()["documents"]
    assert [(item["document_id"], item["state"]) for item in listed] == [
        (DOCUMENT, "ready"),
        (OTHER, "quarantined"),
        ("01" * 32, "ready"),
        (PAGELESS, "ready"),
    ]
    assert listed[0]["names"] == [NASTY_NAME, "second.pdf"]
    assert listed[1]["reason"] == "not a PDF"
    assert service.get(f"/v1/documents/{OTHER}").json() == listed[1]


def test_the_list_says_why_in_the_reader_s_language(service: Service) -> None:
    """By `Accept-Language`, as crops do; the code is the same for every reader."""
    response = service.get("/v1/documents", accept_language="zh-CN,zh;q=0.9,en;q=0.8")
    told = response.json()["documents"][1]
    assert (told["reason"], told["code"]) == ("文件内容与其扩展名不符（not a PDF）", "misnamed_file")
    assert "Accept-Language" in response.headers["vary"]


def test_original_is_an_inert_attachment(service: Service) -> None:
    """Originals are downloads, typed by their content, and sandboxed should a browser show them."""
    pdf, page = service.get(f"/v1/documents/{DOCUMENT}/file"), service.get(f"/v1/documents/{OTHER}/file")
    assert (pdf.content, pdf.headers["content-type"]) == (b"%PDF-1.7\n...", "application/pdf")
    assert page.headers["content-type"] == "application/octet-stream"
    for response in (pdf, page):
        assert response.headers["content-disposition"].startswith("attachment;")
        assert response.headers["content-security-policy"].startswith("sandbox;")
        assert response.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    ("name", "offered"),
    [
        (NASTY_NAME, 'img src=x onerror=alert(1)>"gpj.报告.pdf'),
        ("/etc/passwd", "passwd"),
        ("..\\..\\x.pdf", "x.pdf"),
        ("x.pdf\x00.txt", "x.pdf.txt"),
        ("", "document"),
        (".", "document"),
        ("..", "document"),
        ("报" * 4000 + ".pdf", "报" * documents.MAX_FILE_NAME + ".pdf"),
        ("2024/年报.pdf", "年报.pdf"),
    ],
)
def test_name_of_a_download_is_tamed(name: str, offered: str) -> None:
    """No folder, control or direction character of a stored name reaches the browser's save dialog."""
    assert documents.attachment_name(name).lstrip("<") == offered


@pytest.mark.parametrize("document_id", ["ef" * 32, "01" * 32, "99" * 32])
def test_original_that_is_gone_is_404(document_id: str, service: Service) -> None:
    """Deleted, lost from disk, never known: the same 404."""
    assert service.get(f"/v1/documents/{document_id}/file").status_code == 404


def test_pictures_are_rendered_at_the_asked_resolution(service: Service) -> None:
    """Page and region pictures hand page, box and resolution to the renderer as they were asked for."""
    response = service.get(f"/v1/documents/{DOCUMENT}/pages/2.png?dpi=36")
    assert (response.content, response.headers["content-type"]) == (PNG, "image/png")
    assert service.renderer.calls[-1] == (DOCUMENT, Picture(2, dpi=36))
    service.get(
        f"/v1/documents/{DOCUMENT}/pages/1/region.png?bbox=1,2.5,300,40&dpi=300&margin=4.5&marks=1,2,3,4;5,6,7,8"
    )
    marks = (BBox(1, 2, 3, 4), BBox(5, 6, 7, 8))
    assert service.renderer.calls[-1] == (DOCUMENT, Picture(1, BBox(1, 2.5, 300, 40), 300, 4.5, marks))


@pytest.mark.parametrize("path", [f"{DOCUMENT}/pages/1.png", f"{DOCUMENT}/pages/1/region.png?bbox=1,2,3,4"])
def test_picture_that_the_browser_has_is_304_and_not_rendered(path: str, service: Service) -> None:
    """With the picture's tag the answer is 304 without a rendering; another resolution is another picture."""
    tag = service.get(f"/v1/documents/{path}").headers["etag"]
    calls = len(service.renderer.calls)
    for given in (tag, f'"x", W/{tag}', "*"):
        again = service.get(f"/v1/documents/{path}", if_none_match=given)
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    assert len(service.renderer.calls) == calls
    other = f"/v1/documents/{path}{'&' if '?' in path else '?'}dpi=72"
    assert service.get(other, if_none_match=tag).status_code == 200


def test_tag_does_not_open_a_document_that_is_gone(service: Service) -> None:
    """A browser that has the picture of a page still gets 404 once the page is no longer shown."""
    path = f"/v1/documents/{DOCUMENT}/pages/2.png"
    tag = service.get(path).headers["etag"]
    page = service.knowledge_base.library.page_sizes.pop((DOCUMENT, 2))
    assert service.get(path, if_none_match=tag).status_code == 404
    service.knowledge_base.library.page_sizes[(DOCUMENT, 2)] = page


def test_any_finer_resolution_is_the_finest(service: Service) -> None:
    """G2: 10,000 dots per inch are lowered to what shows all there is, and are the same picture to a browser."""
    path = f"/v1/documents/{DOCUMENT}/pages/1/region.png?bbox=1,2,3,4&dpi="
    tags = {service.get(f"{path}{dpi}").headers["etag"] for dpi in (600, 601, 10000)}
    assert len(tags) == 1
    assert service.renderer.calls[-1] == (DOCUMENT, Picture(1, BBox(1, 2, 3, 4), 600))


@pytest.mark.parametrize("dpi", ["35", "1000001", "-1", "0", "x", "1e2", "", "NaN", "9" * 400])
def test_resolutions_out_of_range_are_refused(dpi: str, service: Service) -> None:
    """At least 36 dots per inch, in whole numbers; nothing else is rendered."""
    calls = len(service.renderer.calls)
    for path in ("1.png?", "1/region.png?bbox=1,2,3,4&"):
        assert service.get(f"/v1/documents/{DOCUMENT}/pages/{path}dpi={dpi}").status_code == 422
    assert len(service.renderer.calls) == calls


@pytest.mark.parametrize("bbox", ["", "1", "1,2,3", "1,2,3,4,5", "a,b,c,d", "1_0,0,20,20", "１,2,3,4", "1;2;3;4"])
@pytest.mark.parametrize("field", ["bbox", "marks"])
def test_what_is_not_four_numbers_is_refused(field: str, bbox: str, service: Service) -> None:
    """Anything but four numbers is 422 with the typed code; no marks are no marks."""
    if (field, bbox) == ("marks", ""):
        return
    params = {"bbox": "1,2,3,4", field: bbox}
    response = service.client.get(f"/v1/documents/{DOCUMENT}/pages/1/region.png", params=params)
    assert (response.status_code, response.json()["code"]) == (422, InvalidRegionError.code)


@pytest.mark.parametrize(
    ("bbox", "problem"),
    [
        *(("nan,0,1,1", "not_finite"), ("0,0,inf,1", "not_finite"), ("1e309,0,1,1", "not_finite")),
        *(("3,2,1,4", "inverted"), ("1,4,3,2", "inverted"), ("1,1,1,4", "empty"), ("1,1,4,1", "empty")),
        *(("700,10,800,20", "off_page"), ("-50,-50,-1,-1", "off_page")),
    ],
)
def test_a_box_that_is_none_shows_the_page_and_says_why(bbox: str, problem: str, service: Service) -> None:
    """Not finite, inverted, degenerate or off the page: the whole page, and the reason in the reader's language."""
    path = f"/v1/documents/{DOCUMENT}/pages/1/region.png?margin=5&bbox={bbox}"
    told = {}
    for language, given in (("en", "de, en;q=0.8, zh;q=0.5"), ("zh", "zh-CN,zh;q=0.9,en;q=0.8"), ("en", "")):
        response = service.get(path, accept_language=given)
        assert (response.status_code, response.content) == (200, PNG)
        assert service.renderer.calls[-1] == (DOCUMENT, Picture(1))
        assert response.headers["x-region-problem"] == problem
        assert response.headers["content-language"] == language
        told[language] = unquote(response.headers["x-region-reason"])
    assert "whole page" in told["en"]
    assert "整页" in told["zh"]
    assert "x-region-problem" not in service.get(f"/v1/documents/{DOCUMENT}/pages/1/region.png?bbox=1,2,3,4").headers


@pytest.mark.parametrize("rest", ["pages/1.png", "pages/1/region.png?bbox=1,2,3,4", "file", ""])
def test_deleted_unknown_and_malformed_ids_are_alike(rest: str, service: Service) -> None:
    """G7: nothing tells a document that was deleted from one that never was."""
    told = [
        service.get(f"/v1/documents/{document_id}/{rest}".rstrip("/")) for document_id in ("ef" * 32, "99" * 32, "x")
    ]
    assert {response.status_code for response in told} == {404}
    assert len({response.json()["message"] for response in told}) == 1


def test_a_document_without_pages_says_so(service: Service) -> None:
    """A page of what has none is 415 with the way out; of what is not ready, or unknown, 404."""
    pageless = service.get(f"/v1/documents/{PAGELESS}/pages/1.png")
    assert (pageless.status_code, pageless.json()["code"]) == (415, "unsupported_file")
    assert "no pages" in pageless.json()["message"]
    assert service.get(f"/v1/documents/{OTHER}/pages/1.png").status_code == 404


def test_renderers_failures_keep_their_status(service: Service) -> None:
    """A kind of file that has no pictures is told as such; an unknown failure is 500 without its inside."""
    path = f"/v1/documents/{DOCUMENT}/pages/1.png?dpi=99"
    service.renderer.problem = UnsupportedFileError("this kind of file has no pages to show")
    typed = service.get(path)
    service.renderer.problem = RuntimeError("secret=/etc/x")
    unknown = service.get(path)
    service.renderer.problem = None
    assert (typed.status_code, typed.json()["code"]) == (415, "unsupported_file")
    assert (unknown.status_code, unknown.json()["code"]) == (500, "internal")
    assert "secret" not in unknown.text
    assert unknown.json()["request_id"] == unknown.headers["x-request-id"]


# Messages


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("nothing was ingested in '/home/ann b/kb'; run it", "nothing was ingested in 'kb'; run it"),
        ("cannot open /srv/kb/blobs/ab/cdef: No such file", "cannot open cdef: No such file"),
        ("[Errno 2] No such file: '/x/y/z.pdf'", "[Errno 2] No such file: 'z.pdf'"),
        (r"cannot open C:\\Users\\ann\\a.pdf", "cannot open a.pdf"),
        ("made with 'sentence-transformers:/models/x'", "made with 'sentence-transformers:x'"),
        ("either/or, 1/2, 元/月, http://127.0.0.1:8000/v1/ask, a - b", None),
        ("there is no page 3: this document has 2", None),
    ],
)
def test_messages_name_no_folders(message: str, shown: str | None) -> None:
    """A path keeps its last part; what only looks like one stays."""
    assert pathless(message) == (message if shown is None else shown)


def test_no_response_tells_where_files_lie(service: Service) -> None:
    """Typed errors of a route and the stored error events of an answer leave without folders."""
    service.renderer.problem = EnvironmentProblemError("the copy in '/srv/secret/kb' cannot be written")
    route = service.get(f"/v1/documents/{DOCUMENT}/pages/1.png?dpi=98")
    service.renderer.problem = None
    data = {"code": "x", "message": "nothing in '/srv/secret/kb'", "retryable": False, "request_id": ""}
    service.knowledge_base.library.answers["e" * 32] = events(("start", {"question": "q"}), ("error", data))
    stored, replayed = service.get(f"/v1/answers/{'e' * 32}"), service.get(f"/v1/answers/{'e' * 32}/events")
    for response in (route, stored, replayed):
        assert "secret" not in response.text
        assert "'kb'" in response.text


# Attacks

HOSTILE = [
    *("../../etc/passwd", "..%2f..%2fetc%2fpasswd", "%2e%2e", "%00", "a%00.png", "\\..\\x", "/abs", "//evil"),
    *("' OR 1=1 --", "<script>alert(1)</script>", "{{7*7}}", "{0.__class__}", "$(id)", "报告", "🙂", "%ff%fe"),
    *("-1", "0", "1e9", "9" * 400, str(2**63), "٣", "１", " 1", "1.0", "nan", "null", "A" * 4000, DOCUMENT.upper()),
    *(
        "/etc/passwd",
        "file:///etc/passwd",
        "C:\\Windows\\win.ini",
        "..;/x",
        "....//x",
        "%252e%252e%252fx",
        "~root",
        ".",
        "con",
    ),
    *(
        "1;DROP TABLE documents",
        "1' AND SLEEP(9)='",
        '"}',
        "[1]",
        "{}",
        "*",
        "${jndi:ldap://x}",
        "`id`",
        "|id",
        "\t",
        "\r\nX: y",
    ),
    *(
        "0x1",
        "1_0",
        "+1",
        "1,5",
        "true",
        "inf",
        "-0",
        "00",
        str(10**18),
        "\u202e1",
        "a" * 63,
        "g" * 64,
        f"{'ab' * 32}x",
    ),
    *(DOCUMENT, OTHER, ANSWER, "1"),
]


GOOD = {"answer_id": CROSSING, "document_id": DOCUMENT, "number": "1", "n": "1", "job_id": "1", "name": "a.pdf"}


def routes() -> list[tuple[str, str]]:
    """(method, path) of every route the application has, so that a new one is attacked by itself."""
    app = create_app(ScriptedKnowledgeBase(), CountingRenderer(), Settings())  # type: ignore[arg-type]
    found = [(method, route.path) for route in iter_route_contexts(app.routes) for method in route.methods or ()]
    assert all(path is not None for _, path in found)
    return sorted((method, path) for method, path in found if path is not None)


def test_routes_are_the_documented_ones_and_none_takes_a_path() -> None:
    """A route is a promise: these and no others; no part of a request is ever a path on the disk."""
    assert not [path for _, path in routes() if ":path" in path]
    assert [f"{method} {path}" for method, path in routes() if path.startswith("/v1")] == [
        "DELETE /v1/documents/{document_id}",
        "DELETE /v1/session",
        "GET /v1/answers",
        "GET /v1/answers/{answer_id}",
        "GET /v1/answers/{answer_id}/answer.md",
        "GET /v1/answers/{answer_id}/citations",
        "GET /v1/answers/{answer_id}/citations/{n}/region.png",
        "GET /v1/answers/{answer_id}/events",
        "GET /v1/answers/{answer_id}/figures",
        "GET /v1/answers/{answer_id}/figures/{n}",
        "GET /v1/answers/{answer_id}/highlighted.pdf",
        "GET /v1/decisions",
        "GET /v1/decisions.csv",
        "GET /v1/decisions.jsonl",
        "GET /v1/documents",
        "GET /v1/documents/{document_id}",
        "GET /v1/documents/{document_id}/elements",
        "GET /v1/documents/{document_id}/events",
        "GET /v1/documents/{document_id}/file",
        "GET /v1/documents/{document_id}/pages",
        "GET /v1/documents/{document_id}/pages/{number}.png",
        "GET /v1/documents/{document_id}/pages/{number}/elements",
        "GET /v1/documents/{document_id}/pages/{number}/region.png",
        "GET /v1/examples",
        "GET /v1/jobs/{job_id}",
        "GET /v1/session",
        "POST /v1/ask",
        "POST /v1/documents",
        "POST /v1/search",
        "POST /v1/session",
        "PUT /v1/answers/{answer_id}/figures/{n}/decision",
        "PUT /v1/documents/{name}",
    ]


@pytest.mark.parametrize(("method", "path"), routes())
def test_no_id_page_or_query_is_ever_500(method: str, path: str, service: Service) -> None:
    """Whatever stands in a path or query, the answer is a result or 4xx; what is no id of ours is 404 or 422."""
    assert len(set(HOSTILE)) >= 60
    names = re.findall(r"{(\w+)}", path)
    for payload in HOSTILE:
        for attacked in names or [""]:
            good = GOOD
            url = path.format(**(good | {attacked: quote(payload, safe="%")}))
            response = service.client.request(
                method, url, params={"bbox": "1,2,3,4", "dpi": "72"}, headers={"Last-Event-ID": "2"}
            )
            assert response.status_code < 500, url
            if attacked and payload not in {*good.values(), OTHER, ANSWER, "."}:  # a dot is no part of a path
                assert response.status_code in {404, 422}, url
        response = service.client.request(method, path.format(**good), params={"bbox": payload, "page": payload})
        assert response.status_code < 500, (path, payload)


@pytest.mark.parametrize(("method", "path"), routes())
def test_every_response_carries_the_security_headers(method: str, path: str, service: Service) -> None:
    """Results and refusals alike forbid sniffing, framing, referrers and anything that is not this site's."""
    good = GOOD
    wrong = dict.fromkeys(good, "nothing")
    for values, verb in ((good, method), (wrong, method), (good, "DELETE")):
        headers = service.client.request(verb, path.format(**values)).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert re.fullmatch("[0-9a-f]{32}", headers["x-request-id"])
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]


def test_unknown_paths_and_methods_are_told_as_json(service: Service) -> None:
    """The framework's own refusals have the same shape as ours."""
    for response in (service.get("/nothing"), service.client.delete("/v1/documents")):
        assert response.status_code in {404, 405}
        assert set(response.json()) == {"code", "message", "request_id"}


def test_no_foreign_documentation_page(service: Service) -> None:
    """FastAPI's own pages, which load scripts from elsewhere, are not there."""
    assert {service.get(path).status_code for path in ("/docs", "/redoc")} == {404}


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost.", "", "[::2]", "[", "a@localhost"]
)
def test_other_names_of_a_loopback_address_are_refused(host: str, service: Service) -> None:
    """A page of another site that points its own name at this machine is not answered (DNS rebinding)."""
    response = service.get("/v1/documents", host=host)
    assert response.status_code in {400, 403}


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8000", "127.0.0.1:1", "[::1]:8000", "[::1]"])
def test_loopback_names_are_answered(host: str, service: Service) -> None:
    """The names of this machine are answered, with or without a port."""
    assert service.get("/healthz", host=host).status_code == 200


@pytest.mark.parametrize(
    ("bound", "hosts"),
    [
        ("127.0.0.1", LOOPBACK_NAMES),
        ("::1", LOOPBACK_NAMES),
        ("localhost", LOOPBACK_NAMES),
        ("127.0.0.5", LOOPBACK_NAMES | {"127.0.0.5"}),
        ("192.168.1.5", LOOPBACK_NAMES | {"192.168.1.5"}),
        ("kb.example", LOOPBACK_NAMES | {"kb.example"}),
        ("0.0.0.0", None),
        ("::", None),
    ],
)
def test_names_a_service_answers_to_follow_its_address(bound: str, hosts: frozenset[str] | None) -> None:
    """Bound to one address, that address and the loopback names; bound to all of them, any name."""
    assert allowed_hosts(bound) == hosts


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "", "http://localhost:1", "http://[", "file://127.0.0.1", "http://x@y"]
)
def test_posts_from_another_site_are_refused(origin: str, service: Service) -> None:
    """A POST that names another origin is refused before it is read."""
    asked = len(service.knowledge_base.asked)
    assert service.post("/v1/ask", {"question": "q"}, origin=origin).status_code == 403
    assert len(service.knowledge_base.asked) == asked


def test_posts_from_this_site_are_taken(service: Service) -> None:
    """The page's own requests name this origin; behind a proxy that ends TLS the scheme is https."""
    authority = urlsplit(service.base).netloc
    for origin in (f"http://{authority}", f"https://{authority}"):
        assert service.post("/v1/ask", {"question": "q"}, origin=origin).status_code == 200


def test_slow_body_is_cut_off() -> None:
    """A body that is announced and does not come is 408 after the allowed time, not a connection held for ever."""

    async def late() -> None:
        async def receive() -> dict[str, object]:
            await asyncio.sleep(60)
            return {}

        body = LimitedBody(receive, deadline=asyncio.get_running_loop().time() + 0.05)
        with pytest.raises(HTTPException) as caught:
            await body()
        assert caught.value.status_code == 408

    asyncio.run(asyncio.wait_for(late(), 5))


# Health and life


def test_health_and_readiness(service: Service) -> None:
    """Alive says which knowledge base it is; ready counts the documents that can be asked."""
    assert service.get("/healthz").json() == {"status": "ok", "name": "年度报告"}
    assert service.get("/readyz").json() == {"status": "ready", "documents": 3}


def test_readiness_fails_with_the_ledger() -> None:
    """A ledger that cannot be read is told as 503 with its code."""

    class Broken(ScriptedLibrary):
        def documents(self) -> list[DocumentRecord]:
            raise ReindexNeededError("the index was made with another model; run `kb-qa reindex`")

    with served(ScriptedKnowledgeBase(library=Broken())) as base:
        response = httpx.get(f"{base}/readyz")
    assert (response.status_code, response.json()["code"]) == (503, "reindex_needed")


def test_alive_waits_for_no_ledger(monkeypatch: pytest.MonkeyPatch) -> None:
    """What watches the service ends it where it hears nothing: a ledger that is busy is no reason to."""
    busy = threading.Event()

    class Busy(ScriptedLibrary):
        def name(self) -> str:
            busy.wait(20)
            return "late"

    monkeypatch.setattr(health, "NAME_SECONDS", 0.05)
    with served(ScriptedKnowledgeBase(library=Busy())) as base:
        response = httpx.get(f"{base}/healthz", timeout=15)
        assert (response.status_code, response.json()) == (200, {"status": "ok"})
        busy.set()


def test_lifespan_is_the_callers() -> None:
    """The caller's lifespan runs around the service: there it closes what it opened."""
    told = []

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        told.append("opened")
        yield
        told.append("closed")

    app = create_app(ScriptedKnowledgeBase(), CountingRenderer(), Settings(), lifespan=lifespan)  # type: ignore[arg-type]

    async def live() -> None:
        async with app.router.lifespan_context(app):
            assert told == ["opened"]

    asyncio.run(live())
    assert told == ["opened", "closed"]
