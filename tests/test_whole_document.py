"""Whole-document mode: what is sent, what is not, and where quotes of whole pages lead."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from kb_qa.answers import BlockCitation, Context, ModelEvent, SpanEnd, TextDelta, WholeFile
from kb_qa.elements import Block, Chunk, Element, Word
from kb_qa.errors import ModelRejectedError
from kb_qa.geometry import BBox, Region
from kb_qa.models.claude import ClaudeModel
from kb_qa.testing import HttpFault, InMemoryLibrary, block_location, page_location, said, scripted_messages_api
from kb_qa.whole_document import QuotedPlaces, media_type_of, problem, whole_context, whole_file
from tests.claude_parts import EN, OPTIONS, accounts, replied, stop_of, upstream
from tests.factories import DOCUMENT, make_chunk

PDF = b"%PDF-1.7\n%%EOF"
WHOLE = WholeFile(DOCUMENT, "application/pdf", PDF, pages=24)
# Two sentences share the second line; the third stands on the next page.
LINES = [
    (1, ["Net", "revenue", "was", "4,812", "million"]),
    (1, ["in", "2024.", "Costs", "were", "900"]),
    (1, ["million."]),
    (2, ["Headcount", "was", "12,034."]),
]
SENTENCES = ["Net revenue was 4,812 million in 2024.", "Costs were 900 million.", "Headcount was 12,034."]


def printed() -> tuple[Element, Chunk]:
    """An element of words in lines, and its chunk of a block a sentence."""
    words, text = [], ""
    for row, (page, line) in enumerate(LINES):
        for column, word in enumerate(line):
            start = len(text)
            box = BBox(60 + 50 * column, 100 + 20 * row, 100 + 50 * column, 112 + 20 * row)
            words.append(Word(page, box, word, start, start + len(word)))
            text += f"{word} "
    text = text.rstrip()
    regions = (Region(1, BBox(60, 100, 300, 152)), Region(2, BBox(60, 160, 300, 172)))
    element = Element("e1", DOCUMENT, 0, "text", "NarrativeText", text, regions, words=tuple(words))
    blocks = []
    for sentence in SENTENCES:
        start = text.index(sentence)
        region = regions[1] if "Headcount" in sentence else regions[0]
        blocks.append(Block(f"b{start}", "e1", sentence, start, start + len(sentence), (region,)))
    return element, replace(make_chunk("x", source="report.pdf"), blocks=tuple(blocks))


ELEMENT, CHUNK = printed()
LIBRARY = InMemoryLibrary((CHUNK,), (ELEMENT,))
RECOGNISED = replace(make_chunk("Paid in full", ordinal=1, page=3), origin="ocr")
CONTEXT = whole_context((CHUNK, RECOGNISED), "en", WHOLE)


def model(url: str) -> ClaudeModel:
    return ClaudeModel(OPTIONS, upstream(url, accounts()), places=QuotedPlaces(LIBRARY))


def cited(events: Sequence[ModelEvent]) -> list[tuple[str, tuple[BlockCitation, ...]]]:
    spans, text, blocks = [], "", []
    for event in events:
        match event:
            case TextDelta():
                text += event.text
            case BlockCitation():
                blocks.append(event)
            case SpanEnd():
                spans.append((text, tuple(blocks)))
                text, blocks = "", []
    return spans


@pytest.mark.parametrize(
    ("quote", "pages", "blocks"),
    [
        pytest.param("Net revenue was 4,812 million in 2024.", range(1, 2), [0], id="a sentence over two lines"),
        pytest.param("Costs were\r\n\u0002900 million.", range(1, 2), [1], id="its neighbour on the shared line"),
        pytest.param("Headcount was 12,034.", range(2, 3), [2], id="the second page"),
        pytest.param("Headcount was 12,034.", range(1, 3), [2], id="the second page of a range"),
        pytest.param("Costs were 900 million. Headcount was 12,034.", range(1, 3), [1, 2], id="over the page break"),
        pytest.param("Headcount was 12,034.", range(1, 2), [], id="not on its page"),
        pytest.param("Net revenue was 4,821 million", range(1, 3), [], id="F6: not printed so"),
        pytest.param("Net revenue was 900 million.", range(1, 3), [], id="F6: stitched from far-apart words"),
        pytest.param("  ", range(1, 3), [], id="F6: nothing"),
        pytest.param("Net revenue", range(90, 92), [], id="a page that is not there"),
    ],
)
def test_a_quote_leads_to_the_blocks_it_is_printed_in(quote: str, pages: range, blocks: list[int]) -> None:
    """By where its words are printed, on the cited pages and nowhere else."""
    found = QuotedPlaces(LIBRARY).blocks(CONTEXT, pages, quote)
    assert list(found) == [BlockCitation(1, block) for block in blocks]


async def test_a_whole_pdf_goes_before_the_question_and_is_cited_by_its_pages() -> None:
    """Base64 without line breaks, a neutral title, citations on for all; a page location becomes blocks."""
    reply = said("Revenue was 4,812 million.", page_location(0, 1, 2, SENTENCES[0]))
    with scripted_messages_api(reply) as api:
        events = await replied(model(api.url), EN, CONTEXT)
        content = api.asked[0].json["messages"][0]["content"]
    assert cited(events) == [("Revenue was 4,812 million.", (BlockCitation(1, 0),))]
    pdf, recognised, question = content
    assert pdf["source"] == {
        "type": "base64",
        "media_type": "application/pdf",
        "data": base64.b64encode(PDF).decode(),
    }
    assert [block["citations"] for block in content[:2]] == [{"enabled": True}] * 2
    assert "report" not in str(content), "a file's name is no business of the model"
    assert recognised["source"]["content"] == [{"type": "text", "text": "Paid in full"}]
    assert question == {"type": "text", "text": EN.text}
    assert "cache_control" in recognised


async def test_what_was_recognised_is_cited_by_its_blocks() -> None:
    """Page 3 is a scan: the API cannot cite what its picture says, and the recognised text stands beside it."""
    with scripted_messages_api(said("Paid.", block_location(1, 0), page_location(1, 1, 2, SENTENCES[0]))) as api:
        events = await replied(model(api.url), EN, CONTEXT)
    assert cited(events) == [("Paid.", (BlockCitation(2, 0),))], "document 1 has no pages that could be cited"


async def test_a_picture_goes_beside_what_was_read_of_it() -> None:
    """All that was read is a document; the picture itself comes first, and is no document."""
    context = whole_context((RECOGNISED,), "en", WholeFile(DOCUMENT, "image/png", b"\x89PNG\r\n\x1a\n", 1))
    with scripted_messages_api(said("Paid.", block_location(0, 0))) as api:
        events = await replied(model(api.url), EN, context)
        kinds = [block["type"] for block in api.asked[0].json["messages"][0]["content"]]
    assert kinds == ["image", "document", "text"]
    assert cited(events) == [("Paid.", (BlockCitation(1, 0),))]


async def test_a_file_that_is_asked_about_again_is_uploaded_once() -> None:
    """The first question carries it; from the second on it is named, and is sent again where the host forgot it."""
    rejected = HttpFault(404, "not_found_error", "file not found")
    answers = [said(f"{n}.", page_location(0, 2, 3, SENTENCES[2])) for n in range(5)]
    with scripted_messages_api(*answers[:3], rejected, *answers[3:]) as api:
        asked = model(api.url)
        events = [await replied(asked, EN, CONTEXT) for _ in range(5)]
        sources = [request.json["messages"][0]["content"][0]["source"]["type"] for request in api.asked]
        names = {name for request in api.requests for name in [request.path] if name == "/v1/files"}
        uploads = sum(request.path == "/v1/files" for request in api.requests)
    assert sources == ["base64", "file", "file", "file", "base64", "file"]
    assert (names, uploads) == ({"/v1/files"}, 2)
    assert all(stop_of(each).stop_reason == "end_turn" for each in events)
    assert cited(events[3]) == [("3.", (BlockCitation(1, 2),))]


async def test_a_request_that_is_rejected_for_another_reason_stays_so() -> None:
    """Without an upload there is nothing to mend."""
    with scripted_messages_api(HttpFault(404, "not_found_error")) as api:
        with pytest.raises(ModelRejectedError):
            await replied(model(api.url), EN, CONTEXT)
        assert len(api.asked) == 1


@pytest.mark.parametrize(
    ("whole", "english", "chinese"),
    [
        pytest.param(WHOLE, "", "", id="fits"),
        pytest.param(replace(WHOLE, pages=600), "", "", id="600 pages"),
        pytest.param(replace(WHOLE, pages=601), "601 pages", "601 页", id="F7: 601 pages"),
        pytest.param(replace(WHOLE, data=PDF + b"0" * (33 << 20)), "32 MB", "32 MB", id="F7: 44 MB encoded"),
        pytest.param(replace(WHOLE, data=b"%PDF-1.7 /Encrypt 5 0 R"), "encrypted", "加密", id="encrypted"),
        pytest.param(replace(WHOLE, media_type=""), "only PDF", "只有 PDF", id="another kind"),
    ],
)
def test_limits_are_told_before_anything_is_sent(whole: WholeFile, english: str, chinese: str) -> None:
    """In the question's language; nothing where the file can go."""
    for told, language in ((problem(whole, "en"), english), (problem(whole, "zh"), chinese)):
        assert (language in told) if language else told == ""


def test_f7_small_windows_take_a_hundred_pages() -> None:
    """The limit is that of the model's window."""
    assert "101 pages" in problem(replace(WHOLE, pages=101), "en", window=200_000)
    assert problem(replace(WHOLE, pages=100), "en", window=200_000) == ""


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"%PDF-1.4", "application/pdf"),
        (b"\x00\x00%PDF-1.4", "application/pdf"),
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp"),
        (b"II*\x00", ""),
        (b"<html>", ""),
        (b"", ""),
    ],
)
def test_kinds_by_content(data: bytes, kind: str, tmp_path: Path) -> None:
    """Never by name; TIFF and everything else is not taken whole."""
    assert media_type_of(data) == kind
    (tmp_path / "a.pdf").write_bytes(data)
    assert whole_file(tmp_path / "a.pdf", DOCUMENT, 0) == WholeFile(DOCUMENT, kind, data, 1)


def test_the_context_is_all_that_was_read() -> None:
    """Every chunk is a material, in the document's order."""
    assert isinstance(CONTEXT, Context)
    assert [material.chunk for material in CONTEXT.materials] == [CHUNK, RECOGNISED]
    assert CONTEXT.materials[0].label == "report.pdf · P1–2·text"
