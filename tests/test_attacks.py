"""Attacks that concern no module alone. Where the other rows of the table of attacks are tested:

| attack | tests |
|---|---|
| file names | test_discover (odd names), test_service (attachments), test_page (shown), test_page and here (escaped) |
| ids and page numbers | test_service (60 payloads, every route), test_openapi (whatever the schema allows or not) |
| links, pipes, devices, loops in a folder | test_discover |
| archive and picture bombs, huge pages, dpi | test_archives, test_inflated, test_limits, test_pages, test_service |
| HTML or a picture under a PDF's name | test_discover, test_pdf, test_pages, test_highlight; served: test_service |
| script in names, text, answers, errors | test_page, test_references |
| hidden text | test_visibility, test_partition; never in a chunk: test_chunk |
| orders in documents, forged delimiters | test_hostile_documents, test_prompts, test_model_requests |
| keys, Host, Origin, binding | test_access, test_service |
| bodies too large or too slow | test_service, test_streaming |
| templates in question, title, text | here |
"""

from __future__ import annotations

import json
import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from ingest.discover import discover
from ingest.limits import Limits
from kb_qa.answers import Filters
from kb_qa.knowledge_base import KnowledgeBase
from kb_qa.models.extractive import ExtractiveModel
from kb_qa.rendering import to_markdown
from kb_qa.retrieve import Retriever
from kb_qa.testing import HashEmbedder, InMemoryLibrary, InMemoryVectorStore
from tests.factories import make_chunk
from tests.scripted_service import ScriptedKnowledgeBase, served

TEMPLATES = [
    "{{7*7}}",
    "{0.__class__}",
    "${7*7}",
    "%(password)s %n",
    "<%= 7*7 %>",
    "#{7*7}",
    "{% include '/etc/passwd' %}",
]


@pytest.mark.parametrize("template", TEMPLATES)
async def test_templates_are_literal(template: str) -> None:
    """In question, section, file name and text: nothing is computed, looked up or lost."""
    text = f"The pass phrase of the vault is {template} and nothing else."
    chunk = make_chunk(text, source=f"{template.replace('/', '_')}.md", section=(template,))
    store, embedder = InMemoryVectorStore(), HashEmbedder()
    library = InMemoryLibrary([chunk])
    store.upsert([chunk.id], embedder.embed_passages([text]), [{"document_id": chunk.document_id}])
    base = KnowledgeBase(
        retriever=Retriever(embedder, store, library), library=library, model=ExtractiveModel(), original=Path
    )
    question = f"What is the pass phrase of the vault, {template}?"
    events = [event async for event in base.ask(question, filters=Filters())]
    told = json.dumps([event.data for event in events], ensure_ascii=False)
    assert events[0].data["question"] == question
    assert json.dumps(template, ensure_ascii=False)[1:-1] in told
    assert "49" not in "".join(str(event.data.get("text", "")) for event in events)
    assert "class '" not in told
    assert to_markdown(events)


def test_devices_in_a_folder_are_skipped(tmp_path: Path) -> None:
    """A device, where it may be made, and a socket are no files; the scan ends."""
    (tmp_path / "a.txt").write_text("text")
    try:
        os.mknod(tmp_path / "zero.pdf", stat.S_IFCHR | 0o600, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("only root makes devices")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "s.pdf"))
        discovery = discover([tmp_path], limits=Limits())
    assert [file.name for file in discovery.found] == ["a.txt"]
    assert {entry.name for entry in discovery.skipped} == {"s.pdf", "zero.pdf"}


RAW = {
    "no host": b"GET /v1/documents HTTP/1.1\r\n\r\n",
    "two hosts": b"GET /v1/documents HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
    "absolute form": b"GET http://evil.example/v1/documents HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    "no request": b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n",
    "endless header": b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 200_000 + b"\r\n\r\n",
    "a length that is none": b"POST /v1/ask HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
    "two lengths": b"POST /v1/ask HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
    "path of bytes": b"GET /v1/documents/\xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "old": b"GET /v1/documents HTTP/0.9\r\nHost: evil.example\r\n\r\n",
}


@pytest.fixture(scope="module")
def address() -> Iterator[tuple[str, int]]:
    with served(ScriptedKnowledgeBase()) as base:
        parts = urlsplit(base)
        yield str(parts.hostname), int(parts.port or 0)


def test_every_host_that_is_named_must_be_ours(address: tuple[str, int]) -> None:
    """A second Host header is no way around the first: the answer is waited for, and is a refusal."""
    with socket.create_connection(address, timeout=10) as client:
        client.sendall(RAW["two hosts"].replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        assert client.recv(100).startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize("name", RAW)
def test_what_no_client_would_send_is_refused(name: str, address: tuple[str, int]) -> None:
    """Below HTTP's own rules: refused or dropped, never 500, nothing of the documents, and the service lives."""
    with socket.create_connection(address, timeout=10) as client:
        client.sendall(RAW[name])
        client.shutdown(socket.SHUT_WR)
        received = b""
        while piece := client.recv(65536):
            received += piece
    assert b" 500 " not in received.split(b"\r\n")[0]
    assert b'"document_id"' not in received
    with socket.create_connection(address, timeout=10) as client:
        client.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert client.recv(100).startswith(b"HTTP/1.1 200")
