"""Who may do what over HTTP, walked over the application's routes, so that a new one is covered by itself (case G7)."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from kb_qa import remote
from kb_qa.access_keys import AccessKeys
from kb_qa.answers import Filters
from kb_qa.database import Database
from kb_qa.errors import InputError, TooManyRequestsError
from kb_qa.service import create_app, key_ring
from kb_qa.service.key_limits import KeyLimits
from kb_qa.service.key_ring import COOKIE, Caller, Sessions
from kb_qa.service.scopes import SCOPES, STREAMS, RouteTable
from kb_qa.service.server import require_key
from kb_qa.settings import Settings
from tests.keyed_service import Keyed, keyed_service
from tests.scripted_service import ANSWER, DOCUMENT, CountingRenderer, ScriptedKnowledgeBase, events, plain_answer

NOTHING = "0" * 64


def application() -> FastAPI:
    return create_app(ScriptedKnowledgeBase(), CountingRenderer(), Settings())  # type: ignore[arg-type]


ROUTES = RouteTable(application().routes).names()
GUARDED = [route for route in ROUTES if SCOPES.get(route) != "open"]


def path_of(route: str, document_id: str = DOCUMENT) -> tuple[str, str]:
    method, path = route.split(" ")
    return method, path.format(answer_id=ANSWER, document_id=document_id, number="1", n="1", name="a.pdf", job_id="1")


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Keyed]:
    original = tmp_path_factory.mktemp("blobs") / "original"
    original.write_bytes(b"%PDF-1.7\n")
    knowledge_base = ScriptedKnowledgeBase(originals={DOCUMENT: original})
    knowledge_base.library.answers[ANSWER] = plain_answer()
    with keyed_service(knowledge_base, key_requests=0) as running:
        yield running


# Scopes


def test_every_route_declares_its_scope() -> None:
    """A route that is not declared asks for `admin`, and fails here; a declaration of no route does, too."""
    assert set(ROUTES) == set(SCOPES)
    assert set(SCOPES) >= STREAMS


def test_what_is_open_says_nothing_of_documents() -> None:
    """Health, the page's own files, signing in: no route under /v1 but the session's."""
    assert {route for route in ROUTES if SCOPES[route] == "open" and "/v1" in route} == {
        "DELETE /v1/session",
        "GET /v1/session",
        "POST /v1/session",
    }


def test_a_route_that_is_not_declared_asks_for_admin() -> None:
    """Forgetting the declaration closes a route."""
    app = application()
    app.add_api_route("/v1/new/{x}", lambda x: x, methods=["GET"])
    asked = RouteTable(app.routes).find({"type": "http", "method": "GET", "path": "/v1/new/1"})
    assert (asked.name, asked.scope, dict(asked.ids)) == ("GET /v1/new/{x}", "admin", {"x": "1"})
    assert not Caller("a", "1", frozenset({"read", "write"})).may(asked.scope)


@pytest.mark.parametrize("route", GUARDED)
def test_g7_without_a_key_every_guarded_route_is_the_same_401(route: str, keyed: Keyed) -> None:
    """No key, a wrong one, one that ended, one of another knowledge base: alike, whether it exists or not."""
    method, path = path_of(route)
    _, nowhere = path_of(route, NOTHING)
    told = set()
    for key in ("", "ended", "other", "kbqa_" + "0" * 12 + "_" + "a" * 43, "nonsense"):
        for url in (path, nowhere):
            response = keyed.ask(method, url, key)
            assert response.status_code == 401, (route, key)
            assert response.headers["www-authenticate"].startswith("Bearer")
            assert response.headers["x-content-type-options"] == "nosniff"
            told.add(response.json()["message"])
    assert len(told) == 1


@pytest.mark.parametrize("route", GUARDED)
def test_g7_a_key_opens_what_its_scope_says(route: str, keyed: Keyed) -> None:
    """`read` and `write` open their own routes, `admin` all of them; 403 tells nothing of what there is."""
    method, path = path_of(route)
    _, nowhere = path_of(route, NOTHING)
    for key in ("read", "write", "admin"):
        status = keyed.ask(method, path, key).status_code
        if key in (SCOPES[route], "admin"):
            assert status not in {401, 403}
        else:
            assert (status, keyed.ask(method, nowhere, key).status_code) == (403, 403)


@pytest.mark.parametrize("path", ["/nothing", "/v1/documents/../../etc/passwd", "/v1", "/docs", "/uploads/"])
def test_g7_what_is_no_route_is_401_as_well(path: str, keyed: Keyed) -> None:
    """Which routes there are is nothing for strangers."""
    assert keyed.ask("GET", path).status_code == 401
    assert keyed.ask("GET", path, "read").status_code == 404


def test_g7_artefacts_of_a_deleted_document_are_gone(keyed: Keyed) -> None:
    """With a key, what was deleted is 404 on every route of it, as if it had never been."""
    routes = [route for route in GUARDED if "{document_id}" in route]
    assert len(routes) >= 4
    given = {"params": {"bbox": "1,2,3,4"}}
    statuses = {keyed.ask(*path_of(route, NOTHING), key="admin", **given).status_code for route in routes}
    assert statuses == {404}


@pytest.mark.parametrize("name", ["a.pdf", "a%2fb.pdf", "..%2f..%2fx", "%2f", "a%5cb"])
def test_an_upload_needs_its_scope_whatever_its_name(name: str, keyed: Keyed) -> None:
    """A slash in a name hides no route from the check."""
    assert keyed.ask("PUT", f"/v1/documents/{name}", "read", content=b"x").status_code == 403
    assert keyed.ask("PUT", f"/v1/documents/{name}", "write", content=b"x").status_code not in {401, 403}


def test_open_routes_need_no_key(keyed: Keyed) -> None:
    """Health and the page, so that it can ask for the key."""
    for route in ROUTES:
        if SCOPES[route] == "open" and route.startswith("GET"):
            assert keyed.ask(*path_of(route)).status_code == 200, route


# Keys


def test_without_any_key_this_machine_may_ask() -> None:
    """As before the first key; the first key closes the door within about a second; revoking it does not open it."""
    with keyed_service(made=False) as running:
        assert running.ask("GET", "/v1/documents").status_code == 200
        _, secret = running.keys.create("first", ["read"])
        until = time.monotonic() + 5
        while running.ask("GET", "/v1/documents").status_code == 200:
            assert time.monotonic() < until
            time.sleep(0.1)
        assert running.ask("GET", "/v1/documents", secret).status_code == 200
        running.keys.revoke("first")
        while running.ask("GET", "/v1/documents", secret).status_code == 200:
            assert time.monotonic() < until
            time.sleep(0.1)
        assert running.ask("GET", "/v1/documents").status_code == 401


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "kb.example"])
def test_a_bind_to_others_is_refused_without_a_key(host: str, tmp_path: Path) -> None:
    """The message says what to do; a key that cannot open this knowledge base is none."""
    settings = Settings(kb=tmp_path / "kb", host=host)
    for _ in range(2):
        with pytest.raises(InputError, match="kb-qa key create"):
            require_key(settings)
        with closing(Database.open(settings.kb, create=True)) as database:
            AccessKeys(database).create("other", ["admin"], knowledge_base="elsewhere") if _ == 0 else None
    with closing(Database.open(settings.kb, create=True)) as database:
        AccessKeys(database).create("a", ["read"])
    require_key(settings)


def test_a_bind_to_others_always_asks_for_a_key() -> None:
    """Also where the last one was forgotten meanwhile."""
    with keyed_service(made=False, host="0.0.0.0") as running:
        assert running.ask("GET", "/v1/documents").status_code == 401


@pytest.mark.parametrize("where", ["?key={}", "?token={}", "?access_token={}", "?Authorization=Bearer%20{}"])
def test_e9_a_key_in_the_address_is_no_key(where: str, keyed: Keyed) -> None:
    """E9: addresses end in logs and histories."""
    assert keyed.ask("GET", f"/v1/documents{where.format(keyed.secrets['read'])}").status_code == 401


@pytest.mark.parametrize("header", ["{}", "Basic {}", "Bearer", "Bearer {}x", "bearer x{}", "Bearer {} {}"])
def test_wrong_headers_are_no_key(header: str, keyed: Keyed) -> None:
    """Another scheme, nothing, too much."""
    key = keyed.secrets["read"]
    assert keyed.ask("GET", "/v1/documents", headers={"Authorization": header.format(key, key)}).status_code == 401


def test_the_command_line_sends_its_key(keyed: Keyed) -> None:
    """`KB_QA_KEY`; without it, the refusal says what to set."""
    address, filters = str(keyed.client.base_url), Filters()
    with pytest.raises(InputError, match="KB_QA_KEY"):
        remote.search(address, "q", k=1, filters=filters)
    assert remote.search(address, "q", k=1, filters=filters, key=keyed.secrets["read"]) == []
    told = [event.event for event in remote.ask(address, "q", filters=filters, level="auto", key=keyed.secrets["read"])]
    assert told[-1] == "end"


# Signing in


@pytest.fixture
def browser(keyed: Keyed) -> Iterator[httpx.Client]:
    """A browser that signed in: it has the cookie, and sends this site's origin."""
    base = str(keyed.client.base_url).rstrip("/")
    with httpx.Client(base_url=base, headers={"Origin": base}) as client:
        response = client.post("/v1/session", json={"key": keyed.secrets["write"]})
        assert response.status_code == 204
        cookie = response.headers["set-cookie"]
        assert {"HttpOnly", "SameSite=strict", "Path=/"} <= {part.strip() for part in cookie.split(";")}
        assert keyed.secrets["write"] not in cookie
        yield client


def test_a_browser_signs_in_with_its_key(browser: httpx.Client, keyed: Keyed) -> None:
    """The cookie has the key's scopes, no more, until it signs out."""
    session = browser.get("/v1/session").json()
    assert session == {"key_needed": True, "signed_in": True, "name": "write", "scopes": ["write"]}
    decision = f"/v1/answers/{ANSWER}/figures/1/decision"
    assert browser.get("/v1/documents").status_code == 403
    assert browser.put(decision, json={"decision": "accept"}).status_code == 404  # the answer has no figures
    token = browser.cookies[COOKIE]
    assert browser.delete("/v1/session").status_code == 204
    assert COOKIE not in browser.cookies
    assert keyed.ask("PUT", decision, headers={"Cookie": f"{COOKIE}={token}"}).status_code == 401


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": ""}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({}, 404),
    ],
    ids=["empty", "other site", "cross-site", "same-site", "the page"],
)
def test_a_cookie_alone_changes_nothing(headers: dict[str, str], status: int, browser: httpx.Client) -> None:
    """What a browser sends by itself is taken from the page only."""
    path = f"/v1/answers/{ANSWER}/figures/1/decision"
    assert browser.put(path, json={"decision": "accept"}, headers=headers).status_code == status


def test_a_cookie_without_origin_changes_nothing(browser: httpx.Client) -> None:
    """A form of an old browser sends none."""
    path, body = f"/v1/answers/{ANSWER}/figures/1/decision", {"decision": "accept"}
    del browser.headers["Origin"]
    assert browser.put(path, json=body).status_code == 403
    assert browser.put(path, json=body, headers={"Sec-Fetch-Site": "same-origin"}).status_code == 404


@pytest.mark.parametrize("key", ["", "x" * 201, "nonsense", "ended", "other"])
def test_no_cookie_for_a_wrong_key(key: str, keyed: Keyed) -> None:
    """And what was tried is not repeated."""
    response = keyed.ask("POST", "/v1/session", json={"key": keyed.secrets.get(key, key)})
    assert response.status_code in {401, 422}
    assert "set-cookie" not in response.headers
    assert "nonsense" not in response.text


def test_behind_tls_the_cookie_stays_there(keyed: Keyed) -> None:
    """A proxy on this machine says that the browser came over https."""
    headers = {"X-Forwarded-Proto": "https"}
    response = keyed.ask("POST", "/v1/session", json={"key": keyed.secrets["read"]}, headers=headers)
    assert "Secure" in response.headers["set-cookie"]


def test_sessions_end_and_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """After twelve hours; the oldest goes where there are too many."""
    monkeypatch.setattr(key_ring, "MOST_SESSIONS", 2)
    sessions = Sessions()
    first, second, third = (sessions.begin(name) for name in ("a", "b", "c"))
    assert [sessions.key_id(each) for each in (first, second, third)] == ["", "b", "c"]
    monkeypatch.setattr(key_ring, "SESSION_SECONDS", -1)
    assert sessions.key_id(sessions.begin("d")) == ""


def test_a_revoked_key_ends_its_sessions() -> None:
    """Within about a second."""
    with keyed_service() as running:
        running.ask("POST", "/v1/session", json={"key": running.secrets["read"]})
        assert running.ask("GET", "/v1/documents").status_code == 200
        running.keys.revoke("read")
        until = time.monotonic() + 5
        while running.ask("GET", "/v1/documents").status_code == 200:
            assert time.monotonic() < until
            time.sleep(0.1)


# Limits


def test_requests_of_a_key_are_limited() -> None:
    """429 with the seconds to wait; other keys are not concerned, and what is open is not either."""
    with keyed_service(key_requests=3) as running:
        statuses = [running.ask("GET", "/v1/documents", "read").status_code for _ in range(4)]
        assert statuses == [200, 200, 200, 429]
        refused = running.ask("GET", "/v1/documents", "read")
        assert (refused.json()["code"], 1 <= int(refused.headers["retry-after"]) <= 20) == ("too_many_requests", True)
        assert running.ask("GET", "/v1/documents", "admin").status_code == 200
        assert running.ask("GET", "/healthz").status_code == 200


def test_streams_of_a_key_are_limited() -> None:
    """A stream that ended makes room for the next."""
    knowledge_base = ScriptedKnowledgeBase([plain_answer()[0], 60.0])
    with keyed_service(knowledge_base, key_streams=1) as running:
        headers = {"Authorization": f"Bearer {running.secrets['read']}"}
        with running.client.stream("POST", "/v1/ask", json={"question": "q"}, headers=headers) as open_stream:
            reading = open_stream.iter_raw()  # kept: the response is closed with its iterator
            next(reading)
            refused = running.ask("POST", "/v1/ask", "read", json={"question": "q"})
            assert (refused.status_code, refused.headers["retry-after"]) == (429, "5")
        assert knowledge_base.closed.wait(5)
        knowledge_base.script = [*plain_answer()]
        until = time.monotonic() + 5
        while running.ask("POST", "/v1/ask", "read", json={"question": "q"}).status_code == 429:
            assert time.monotonic() < until
            time.sleep(0.05)


def test_tokens_of_a_key_are_limited() -> None:
    """The answer that spends the last is finished; the next is refused until tomorrow; reading goes on."""
    usage = ("usage", {"input_tokens": 60, "output_tokens": 50, "cost": 0.1, "cache_hit_rate": None})
    script = events(("start", {"answer_id": ANSWER}), usage, ("end", {"complete": True}))
    with keyed_service(ScriptedKnowledgeBase([*script]), key_tokens=100) as running:
        first = running.ask("POST", "/v1/ask", "read", json={"question": "q"})
        assert (first.status_code, "event: end" in first.text) == (200, True)
        refused = running.ask("POST", "/v1/ask", "read", json={"question": "q"})
        assert refused.status_code == 429
        assert 0 < int(refused.headers["retry-after"]) <= 24 * 3600
        assert running.ask("GET", "/v1/documents", "read").status_code == 200
        assert running.ask("POST", "/v1/ask", "admin", json={"question": "q"}).status_code == 200


def test_without_keys_there_are_no_limits() -> None:
    """Whoever sits at this machine is not counted."""
    limits = KeyLimits(None, requests=1, streams=1)
    local, keyed = key_ring.LOCAL, replace(key_ring.LOCAL, key_id="k")
    for _ in range(3):
        limits.count(local)
    limits.count(keyed)
    with pytest.raises(TooManyRequestsError):
        limits.count(keyed)
    with limits.stream(local), limits.stream(local), limits.stream(keyed), pytest.raises(TooManyRequestsError):
        limits.stream(keyed).__enter__()


# What is kept


def test_the_audit_log_says_who_did_what_and_nothing_of_content() -> None:
    """Key, route, ids, time, outcome: of what was answered, and of what was refused. Only its owner may read it."""
    canary = "canary-7319"
    knowledge_base = ScriptedKnowledgeBase([*plain_answer(f"{canary} 4,812", canary)])
    with keyed_service(knowledge_base) as running:
        running.ask("POST", "/v1/ask", "read", json={"question": canary, "session_id": canary})
        running.ask("GET", f"/v1/documents/{DOCUMENT}?x={canary}", "read")
        running.ask("GET", f"/v1/documents/{canary}", "read")
        running.ask("GET", f"/v1/documents/{DOCUMENT}/file")
        running.ask("POST", "/v1/session", json={"key": running.secrets["read"]})
        running.ask("GET", "/healthz")
        text = running.audited(5)
        assert running.audit.stat().st_mode & 0o77 == 0
        assert not any(secret in text for secret in (canary, "4,812", *running.secrets.values()))
        lines = [json.loads(line) for line in text.splitlines()]
        lines.sort(key=lambda line: (line["route"], line["status"]))  # a stream's may come after its reader is done
        assert [(line["key"], line["route"], line["status"], line["outcome"]) for line in lines] == [
            ("read", "GET /v1/documents/{document_id}", 200, "ok"),
            ("read", "GET /v1/documents/{document_id}", 404, "not found"),
            ("", "GET /v1/documents/{document_id}/file", 401, "no key"),
            ("read", "POST /v1/ask", 200, "ok"),
            ("read", "POST /v1/session", 204, "ok"),
        ]
        assert [line.get("document_id") for line in lines] == [DOCUMENT, None, DOCUMENT, None, None]
        assert all(re.fullmatch(r"[0-9a-f]{32}", line["request_id"]) for line in lines)
        assert {line["client"] for line in lines} == {"127.0.0.1"}


def test_refused_names_are_audited_too() -> None:
    """A request under a foreign name, from a foreign site."""
    with keyed_service() as running:
        running.ask("GET", "/v1/documents", "read", headers={"Host": "evil.example"})
        (line,) = [json.loads(line) for line in running.audited(1).splitlines()]
        assert (line["route"], line["status"], line["key"]) == ("(none)", 400, "")


def test_hosts_of_the_settings_are_answered() -> None:
    """Bound to every address, only to the names that are told, where any are."""
    with keyed_service(host="0.0.0.0", allowed_hosts="kb.example, docs.example") as running:
        for host, status in (
            ("kb.example", 200),
            ("DOCS.example:8000", 200),
            ("evil.example", 400),
            ("localhost", 200),
        ):
            assert running.ask("GET", "/healthz", headers={"Host": host}).status_code == status


def test_the_key_of_the_settings_is_not_shown() -> None:
    """Settings end in messages and tracebacks."""
    assert "secret" not in repr(replace(Settings(), key="secret"))
