"""The page at `/`, in a real browser: nothing in it ever runs, its stream is read however it is cut, keys open it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, expect

from kb_qa.answers import AnswerEvent
from tests.browser import Opened, cited_answer, opened
from tests.keyed_service import keyed_service
from tests.scripted_service import (
    ANSWER,
    DOCUMENT,
    ScriptedKnowledgeBase,
    ScriptedLibrary,
    Step,
    citation,
    events,
    record,
    served,
)

ATTACK = "<img src=x onerror=alert(1)><script>alert(2)</script><svg onload=alert(3)>[x](javascript:alert(4)){{7*7}}"


def attacked() -> list[Step]:
    """An answer that carries the attack in every string a document, a name or a model can reach."""
    nasty = citation(
        1, end=len(ATTACK), cited_text=ATTACK, label=ATTACK, document=ATTACK, page_url="javascript:alert(5)"
    )
    source = {
        "n": 1,
        "label": ATTACK,
        "text": ATTACK,
        "document": ATTACK,
        "regions": [],
        "region_url": "//evil.example/x",
    }
    deltas = [("delta", {"seq": number, "text": letter}) for number, letter in enumerate(ATTACK)]
    return [
        *events(
            (
                "start",
                {
                    "answer_id": ANSWER,
                    "question": ATTACK,
                    "session_id": ATTACK,
                    "standalone": ATTACK,
                    "carried_documents": [ATTACK],
                },
            ),
            ("sources", {"sources": [source]}),
            *deltas,
            nasty,
            ("figure", {"start": 0, "end": 5, "raw": ATTACK, "status": "unsupported", "support": [], "reason": ATTACK}),
            citation(
                2, end=9, document_id="../../x", regions=[{"page": '1"onload=', "bbox": [ATTACK], "rects": ATTACK}]
            ),
            ("withheld", {"text": ATTACK, "at": 3, "figures": [{"raw": ATTACK, "reason": ATTACK}]}),
            ("refusal", {"reason": ATTACK, "message": ATTACK}),
            ("references", {"style": "html", "text": ATTACK, "items": []}),
            ("error", {"code": ATTACK, "message": ATTACK, "retryable": False, "request_id": ATTACK}),
        )
    ]


def test_script_in_every_string_is_inert(browser: Browser, original: Path) -> None:
    """Markup in names, text, quotes, reasons and errors is shown as text: no dialog, no element, no foreign request."""
    library = ScriptedLibrary(records=[record(name=ATTACK), record("cd" * 32, ATTACK, state=ATTACK, reason=ATTACK)])
    library.answers[ANSWER] = [step for step in attacked() if isinstance(step, AnswerEvent)]
    knowledge_base = ScriptedKnowledgeBase(attacked(), library=library, originals={DOCUMENT: original})
    with served(knowledge_base) as base, opened(browser, base) as asked:
        page = asked.page
        page.locator("#filters summary").click()
        expect(page.locator("#filter-documents")).to_contain_text("<script>alert(2)</script>")
        expect(page.locator("#history-list")).to_contain_text("<script>alert(2)</script>")
        asked.ask(ATTACK)
        expect(page.locator(".notice.error")).to_contain_text("<script>alert(2)</script>")
        for summary in page.locator("#answer summary, .answer > details > summary").all():
            summary.click()
        for button in page.locator("#answer button, #notices .passage, #references button, #materials button").all():
            button.click()
        page.keyboard.press("Escape")
        page.locator("header nav a").nth(1).click()
        expect(page.locator("#documents")).to_contain_text("<script>alert(2)</script>")
        assert page.locator("main script, main svg, main [onerror], main [onload]").count() == 0
        assert page.locator("a[href^='javascript'], a[href*='evil']").count() == 0
        assert all(url.startswith(base) for url in asked.requested)
        assert asked.dialogs == []


@pytest.mark.parametrize(
    "attempt",
    [
        "document.body.innerHTML = '<img src=x onerror=alert(1)>'",
        "document.body.setAttribute('onclick', 'alert(1)'); document.body.click()",
        "document.body.append(Object.assign(document.createElement('script'), { text: 'alert(1)' }))",
    ],
)
def test_policy_stops_what_markup_would_do(attempt: str, cited: Opened) -> None:
    """Should a string ever reach the page as markup or code, the browser refuses it: that is what the policy is for."""
    with pytest.raises(Error, match="Trusted"):
        cited.page.evaluate(f"() => {{ {attempt} }}")
    assert cited.dialogs == []


STREAM = (
    ': ping\r\n\r\nevent: ping\r\ndata: {}\r\n\r\ndata\r\n\r\nevent: delta\ndata: {"text": "一🙂"}\n\n'
    'event: delta\rdata: {"text":\rdata:  "b"}\r\rid: 4\r\nevent: delta\r\ndata: not json\r\n\r\n'
    'event: end\r\ndata: {"complete": true}\r\n\r\nevent: delta\r\ndata: {"text": "never ended"}'
)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 10_000])
def test_stream_is_read_the_same_however_it_is_cut(size: int, cited: Opened) -> None:
    """Comments, empty and foreign events, all line ends, and characters cut in half: the same events come out."""
    read = cited.page.evaluate(
        """async ([text, size]) => {
          const bytes = new TextEncoder().encode(text);
          const body = new ReadableStream({ start(controller) {
            for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
            controller.close();
          } });
          const { streamEvents } = await import("/events.js");
          const read = [];
          await streamEvents(body, (name, data) => read.push([name, data]));
          return read;
        }""",
        [STREAM, size],
    )
    assert read == [["ping", {}], ["delta", {"text": "一🙂"}], ["delta", {"text": "b"}], ["end", {"complete": True}]]


def test_a_key_is_asked_for_and_opens_the_page(browser: Browser, original: Path) -> None:
    """Where keys are needed: a wrong one is told, a right one shows documents and answers, signing out hides them."""
    with keyed_service(ScriptedKnowledgeBase([*cited_answer()], originals={DOCUMENT: original})) as running:
        page = browser.new_page(locale="en-US")
        asked = Opened(page, str(running.client.base_url))
        expect(page.locator("#main")).to_be_hidden()
        for key in ("wrong", running.secrets["write"]):
            page.fill("#key", key)
            page.click("#sign-in button")
            expect(page.locator("#key")).to_have_value("")
        expect(page.locator("#history-problem")).to_have_text("The earlier answers could not be loaded.")
        page.click("#sign-out")
        page.fill("#key", running.secrets["read"])
        page.click("#sign-in button")
        page.locator("#filters summary").click()
        expect(page.locator("#filter-documents li")).to_have_count(1)
        asked.ask()
        expect(page.locator("#status")).to_have_text("Done.")
        assert not any(secret in url for secret in running.secrets.values() for url in asked.requested)
        assert page.evaluate("document.cookie") == ""
        page.click("#sign-out")
        expect(page.locator("#sign-in")).to_be_visible()
        page.close()


def test_page_builds_no_markup_from_strings() -> None:
    """No file of the page uses a way to turn a string into markup or code."""
    web = Path(__file__).parent.parent / "src" / "kb_qa" / "web"
    forbidden = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|DOMParser| on\w+="
    )
    assert [path.name for path in sorted(web.iterdir()) if forbidden.search(path.read_text(encoding="utf-8"))] == []
