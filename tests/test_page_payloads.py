"""Eighty-eight texts that would run or load something, in every place a document or a model can reach: none does."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Route, expect

from kb_qa.elements import Cell, Element, Table
from kb_qa.geometry import BBox, Region
from tests.browser import Opened, opened
from tests.script_payloads import PAYLOADS
from tests.scripted_service import (
    ANSWER,
    DOCUMENT,
    CountingRenderer,
    ScriptedKnowledgeBase,
    ScriptedLibrary,
    citation,
    events,
    record,
    served,
)

GROUPS = [PAYLOADS[start : start + 11] for start in range(0, len(PAYLOADS), 11)]
STRIDE = 37  # bytes between two cuts; every byte where tests may take minutes

# Asks as a reader does, over and over; each time the stream ends after so many bytes. No wait is for a picture.
CUT = """async ([text, stride]) => {
  const bytes = new TextEncoder().encode(text), real = window.fetch;
  let cut = 0, asked = 0;
  window.fetch = (address, options) => (String(address) === "/v1/ask"
    ? Promise.resolve(new Response(bytes.slice(0, cut), { headers: { "Content-Type": "text/event-stream" } }))
    : real(address, options));
  const stop = document.getElementById("stop"), question = document.getElementById("question");
  for (cut = bytes.length % stride; cut <= bytes.length; cut += stride) {
    question.value = "?";
    document.getElementById("ask-form").requestSubmit();
    if (stop.hidden) throw new Error("nothing is being asked");
    while (!stop.hidden) await new Promise((next) => setTimeout(next));
    asked += 1;
  }
  window.fetch = real;
  return asked;
}"""


def told(payloads: Sequence[str]) -> list[tuple[str, dict[str, Any]]]:
    """The events of one answer, with the payloads in turn in every string that comes from outside."""
    given = iter(payloads * 5)
    text = " ".join(payloads)
    place = {"element": next(given), "document_id": DOCUMENT, "page": 2, "bbox": [1, 2, 3, 4], "printed": next(given)}
    place |= {"row": next(given), "col": next(given), "url": next(given)}
    reason = {"code": next(given), "detail": next(given), "nearest": [place]}
    source = {"n": 1, "document_id": DOCUMENT, "document": next(given), "label": next(given), "text": next(given)}
    return [
        ("start", {"question": next(given), "standalone": next(given), "carried_documents": [next(given)]}),
        ("sources", {"sources": [source | {"section": [next(given)], "regions": [{"page": 2, "bbox": [1, 2, 3, 4]}]}]}),
        ("delta", {"seq": 1, "text": text}),
        citation(1, start=0, end=len(payloads[0]), cited_text=next(given), label=next(given), document=next(given)),
        citation(2, end=9, document_id=next(given), element_type=next(given), label=next(given)),
        ("figure", {"n": 1, "start": 0, "end": 4, "raw": next(given), "status": "exact", "support": [place]}),
        ("figure", {"n": 2, "start": 5, "end": 9, "raw": "1", "status": next(given), "support": [], "reason": reason}),
        ("figure", _derived(next(given), next(given), place)),
        ("uncited", {"start": 0, "end": 12, "text": next(given)}),
        ("withheld", {"text": next(given), "at": 14, "figures": [{"raw": next(given), "reason": reason}]}),
        ("refusal", {"reason": next(given), "message": next(given), "searched": {"documents": [next(given)]}}),
        ("error", {"code": next(given), "message": next(given), "retryable": True, "request_id": next(given)}),
    ]


def _derived(raw: str, shown: str, place: dict[str, Any]) -> dict[str, Any]:
    derivation = {"shown": shown, "places": [place, place]}
    return {"n": 3, "start": 10, "end": 12, "raw": raw, "status": "derived", "support": [], "derivation": derivation}


def stream(payloads: Sequence[str]) -> str:
    return "".join(f"id: 1\nevent: {name}\ndata: {json.dumps(data)}\n\n" for name, data in told(payloads))


def assert_inert(shown: Opened) -> None:
    """Nothing ran, nothing was asked of another host, and no text became an element or an address."""
    page = shown.page
    assert page.evaluate("typeof window.ran") == "undefined"
    assert shown.dialogs == []
    assert [address for address in shown.requested if not address.startswith(f"{shown.base}/")] == []
    made = "script, style, link, meta, iframe, object, embed, video, audio, base, svg, math, form[action], xss"
    assert page.locator(f"main :is({made})").count() == 0
    assert page.locator("main :is([onerror], [onload], [onclick], [onfocus], [onmouseover])").count() == 0
    addresses = page.locator("a[href]").evaluate_all("links => links.map((link) => link.href)")
    assert [each for each in addresses if not each.startswith(shown.base)] == []
    assert page.evaluate("Object.keys(Object.prototype).length") == 0


@pytest.mark.parametrize("stride", [STRIDE, pytest.param(1, marks=pytest.mark.long)])
def test_a_stream_that_breaks_anywhere_runs_nothing(stride: int, browser: Browser, original: Path) -> None:
    """Cut after any byte, what came is shown as text, whichever payload stands there."""
    knowledge_base = ScriptedKnowledgeBase(originals={DOCUMENT: original})
    with served(knowledge_base, CountingRenderer()) as base, opened(browser, base) as shown:
        shown.ask()  # the page may ask: it does so at once from now on
        expect(shown.page.locator("#answer .chip").first).to_be_visible()
        for payloads in GROUPS:
            text = stream(payloads)
            asked = shown.page.evaluate(CUT, [text, stride])
            assert asked >= len(text.encode()) // stride
            expect(shown.page.locator("#answer")).to_contain_text(_seen(payloads[-1]))
            for button in shown.page.locator("#answer button").all():
                button.dispatch_event("click")
            assert_inert(shown)


def _seen(payload: str) -> re.Pattern[str]:
    """The end of a payload as an element's text is compared: spaces are one."""
    return re.compile(r"\s+".join(map(re.escape, payload.split()[-1:])))


def named(library: ScriptedLibrary) -> None:
    """Every payload as a file name, a reason, a flag, an element's text, section and type, and a table's cell."""
    library.records = [
        record(f"{number:064x}", payload, state="quarantined", reason=payload, code=payload, flags=(payload,))
        for number, payload in enumerate(PAYLOADS, 1)
    ]
    library.records.append(record(DOCUMENT, "report.pdf"))
    box = BBox(60, 80, 300, 120)
    library.elements = [
        Element(
            id=f"e{number}", document_id=DOCUMENT, order=number, element_type="table", category=payload, text=payload,
            regions=(Region(1, box),), section=(payload,), hidden=payload if number % 3 == 0 else "",
            table=Table(
                cells=(Cell(0, 0, 1, 1, payload, 1, box, row_headers=(payload,), column_headers=(payload,)),),
                caption=payload, notes=(payload,), unit=payload,
            ),
        )
        for number, payload in enumerate(PAYLOADS)
    ]  # fmt: skip


def places(route: Route) -> None:
    """What the service says of a figure, with a payload in every text of it."""
    each = [
        dict.fromkeys(("document", "label", "section", "row", "column", "printed", "value", "unit", "scale_from"), text)
        | {"document_id": DOCUMENT, "page": 1, "bbox": [1, 2, 3, 4], "region_url": text, "page_url": text}
        for text in PAYLOADS
    ]
    figure = {"n": 1, "raw": PAYLOADS[0], "start": 0, "end": 4, "status": "exact", "support": []}
    decision = {"decision": "note", "note": PAYLOADS[1], "by": PAYLOADS[2], "decided": 1.0}
    told = {"answer_id": ANSWER, "n": 1, "figure": figure, "conflict": True, "places": each, "decision": decision}
    route.fulfill(json=told)


def test_names_reasons_elements_and_places_run_nothing(browser: Browser, original: Path) -> None:
    """In the lists of documents and answers, in what the parser saw, and in the view of a figure's places."""
    library = ScriptedLibrary()
    named(library)
    for number, payload in enumerate(PAYLOADS):
        start = ("start", {"answer_id": f"{number:032x}", "question": payload})
        library.answers[f"{number:032x}"] = events(start, ("delta", {"seq": 1, "text": payload}), ("end", {}))
    library.answers[ANSWER] = events(("start", {"answer_id": ANSWER, "question": "q"}), ("end", {"complete": True}))
    knowledge_base = ScriptedKnowledgeBase(library=library, originals={DOCUMENT: original})
    with served(knowledge_base, CountingRenderer()) as base, opened(browser, base) as shown:
        page = shown.page
        expect(page.locator("#history-list")).to_contain_text("alert(1)")
        page.locator("#filters-summary").click()
        assert_inert(shown)
        shown.go("#/documents")
        expect(page.locator("#documents-list > li, #documents li")).not_to_have_count(0)
        expect(page.locator("#documents-view")).to_contain_text("<script>window.ran=1;alert(1)</script>")
        assert_inert(shown)
        shown.go(f"#/documents/{DOCUMENT}/pages/1")
        expect(page.locator("#document")).to_contain_text("<script>window.ran=1;alert(1)</script>")
        assert_inert(shown)
        page.route(re.compile(r"/figures/1$"), places)
        shown.go(f"#/answers/{ANSWER}/figures/1")
        expect(page.locator("#dispute .place")).to_have_count(len(PAYLOADS))
        assert_inert(shown)
