"""The page at `/`, in a real browser: it streams, shows the spot a figure came from, and nothing in it ever runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, expect

from kb_qa.errors import ModelError
from tests.browser import TEXT, Opened, Running, cited_answer, figure, opened_over
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


def test_answer_is_shown_with_chips_after_its_claims(cited: Opened) -> None:
    """The text comes out whole, each claim ends in the chips of its markers: also behind an emoji."""
    shown = cited.page.locator("#answer").evaluate("element => element.textContent")
    assert shown == "🙂 Revenue was 4,812 million.1 净利润为 41 万元。23"
    expect(cited.page.locator("#answer .figure")).to_have_text("4,812")
    expect(cited.page.locator("#references li")).to_have_count(3)
    assert cited.problems == []


@pytest.mark.parametrize(("policy", "marked"), [("annotate", 1), ("off", 0)])
def test_a_figure_that_was_let_stand_says_why_it_has_no_support(running: Running, policy: str, marked: int) -> None:
    """Under annotate it is marked and says what its words fit better; under off nothing is changed."""
    nearest = [{"document_id": DOCUMENT, "page": 2, "bbox": [100, 90, 130, 100], "printed": "5,000"}]
    reason = {"code": "misbound", "detail": "4,812 is costs; the words fit 5,000", "nearest": nearest}
    page = running.ask([
        *events(
            ("start", {"answer_id": ANSWER, "policy": policy}),
            ("delta", {"seq": 1, "text": TEXT}),
            figure("4,812", status="misbound", support=[], reason=reason),
            ("end", {"complete": True}),
        )
    ])  # fmt: skip
    expect(page.locator("#status")).to_have_text("Done.")
    expect(page.locator("#answer .figure.unsupported")).to_have_count(marked)
    if marked:
        page.click("#answer .figure")
        expect(page.locator("#source")).to_contain_text("4,812 is costs; the words fit 5,000")


def test_text_appears_while_the_answer_is_written_and_stop_ends_it(browser: Browser, original: Path) -> None:
    """Text is on the page before the answer is done; Stop closes the stream and says that it is not complete."""
    knowledge_base = ScriptedKnowledgeBase([*cited_answer()[:3], 60.0], originals={DOCUMENT: original})
    with served(knowledge_base) as base:
        asked = Opened(browser.new_page(locale="en-US"), base)
        page = asked.page
        asked.ask()
        expect(page.locator("#answer")).to_have_text(TEXT[:10])
        page.click("#stop")
        expect(page.locator("#status")).to_have_text("Stopped. The answer is not complete.")
        assert knowledge_base.closed.wait(1)
        expect(page.locator("#ask")).to_be_enabled()
        page.close()


ENDINGS: dict[str, tuple[list[Step], str, str]] = {
    "refusal": (
        [
            *events(
                ("refusal", {"reason": "no_evidence", "message": "材料中未找到相关信息"}), ("end", {"complete": True})
            )
        ],
        ".notice.calm",
        "材料中未找到相关信息",
    ),
    "withheld": (
        [
            *events(
                ("delta", {"seq": 1, "text": "Kept."}),
                ("withheld", {"text": "[withheld]", "at": 5, "figures": [{"raw": "4,913", "reason": "no source"}]}),
                ("end", {"complete": True}),
            )
        ],
        ".notice.withheld",
        "1",
    ),
    "error": ([ModelError("the model is overloaded", retryable=True)], ".notice.error", "the model is overloaded"),
    "cut off": ([*events(("end", {"complete": False, "stop_reason": "max_tokens"}))], ".notice.error", "was cut off"),
    "no end": ([*events(("delta", {"seq": 1, "text": "half"}))], ".notice.error", "not complete"),
}


@pytest.mark.parametrize(("script", "place", "words"), ENDINGS.values(), ids=ENDINGS.keys())
def test_every_ending_is_told(script: list[Step], place: str, words: str, running: Running) -> None:
    """Refused, withheld, failed and cut answers say so in words; none of them looks complete."""
    page = running.ask(script)
    expect(page.locator(place)).to_contain_text(words)
    expect(page.locator(".notice")).to_have_count(1)
    expect(page.locator("#ask")).to_be_enabled()


def started(**data: object) -> list[Step]:
    return [*events(("start", {"answer_id": ANSWER, "session_id": "one"} | data), ("end", {"complete": True}))]


def test_questions_of_a_tab_are_one_conversation(running: Running) -> None:
    """The service's session id goes along with the next question, and a rewritten question is shown as such."""
    running.knowledge_base.sessions.clear()
    page = running.ask(started())
    expect(page.locator("#status")).to_have_text("Done.")
    expect(page.locator("#understood")).to_be_hidden()
    running.ask(started(standalone="Sales in 2023?", carried_documents=["a.pdf", "b.pdf"]))
    expect(page.locator("#understood")).to_have_text("Understood as: Sales in 2023? · Only in: a.pdf, b.pdf")
    page.reload()
    running.ask(started())
    expect(page.locator("#status")).to_have_text("Done.")
    assert running.knowledge_base.sessions[1:] == ["one", "one"]


def test_a_new_conversation_forgets_the_last_one(running: Running) -> None:
    """The button is there once there is something to forget; the next question begins a session of its own."""
    page = running.ask(started(session_id="left"))
    expect(page.locator("#status")).to_have_text("Done.")
    page.click("#anew")
    expect(page.locator("#anew")).to_be_hidden()
    expect(page.locator("#result")).to_be_hidden()
    running.ask(started())
    expect(page.locator("#status")).to_have_text("Done.")
    assert re.fullmatch("[0-9a-f]{32}", running.knowledge_base.sessions[-1])


def test_nothing_ingested_is_told(browser: Browser) -> None:
    """Without any document, the page says how to add some, and asking is answered with words."""
    with served(ScriptedKnowledgeBase(library=ScriptedLibrary(records=[]))) as base:
        page = browser.new_page(locale="en-US")
        Opened(page, base).ask()
        expect(page.locator("#documents-empty")).to_contain_text("kb-qa ingest")
        expect(page.locator(".notice.error")).to_contain_text("no document")
        page.close()


@pytest.mark.parametrize(
    ("locale", "ask", "lang"), [("en-GB", "Ask", "en"), ("zh-CN", "提问", "zh-CN"), ("fr", "Ask", "en")]
)
def test_labels_follow_the_browsers_language(
    locale: str, ask: str, lang: str, browser: Browser, original: Path
) -> None:
    """Chinese for Chinese browsers, English for all others; no label is left without words."""
    with opened_over(browser, [], original, locale=locale) as page:
        expect(page.page.locator("#ask")).to_have_text(ask)
        expect(page.page.locator("html")).to_have_attribute("lang", lang)
        expect(page.page.locator("#examples button")).to_have_count(3)
        assert "" not in page.page.locator("[data-label]").all_text_contents()
        assert "undefined" not in page.page.content()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_fits_a_narrow_screen(scheme: str, browser: Browser, original: Path) -> None:
    """At 360 pixels nothing but the picture itself is wider than the screen."""
    viewport = {"width": 360, "height": 740}
    context = {"locale": "zh-CN", "viewport": viewport, "color_scheme": scheme}
    with opened_over(browser, [*cited_answer()], original, **context) as page:
        page.ask("营业收入" * 40)
        page.page.locator("#answer .chip").first.click()
        expect(page.page.locator("#source .box.lit").first).to_be_visible()
        assert page.page.locator("html").evaluate("element => element.scrollWidth") == 360


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
    knowledge_base = ScriptedKnowledgeBase(attacked(), library=library, originals={DOCUMENT: original})
    with served(knowledge_base) as base:
        page = browser.new_page(locale="en-US")
        asked = Opened(page, base)
        asked.ask(ATTACK)
        expect(page.locator(".notice.error")).to_contain_text("<script>alert(2)</script>")
        for button in page.locator("#answer button, #references button").all():
            button.click()
        page.locator("#materials summary").click()
        page.locator("#materials-list button").click()
        page.locator("nav a").nth(1).click()
        expect(page.locator("#documents")).to_contain_text("<script>alert(2)</script>")
        assert page.locator("main script, main svg, main [onerror], main [onload]").count() == 0
        assert page.locator("a[href^='javascript'], a[href*='evil']").count() == 0
        assert all(url.startswith(base) for url in asked.requested)
        assert asked.dialogs == []
        page.close()


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
    """Where keys are needed: a wrong one is told, a right one shows documents and pictures, signing out hides them."""
    with keyed_service(ScriptedKnowledgeBase([*cited_answer()], originals={DOCUMENT: original})) as running:
        page = browser.new_page(locale="en-US")
        opened = Opened(page, str(running.client.base_url))
        expect(page.locator("#main")).to_be_hidden()
        for key in ("wrong", running.secrets["write"]):
            page.fill("#key", key)
            page.click("#sign-in button")
            expect(page.locator("#key")).to_have_value("")
        expect(page.locator("#documents-empty")).to_have_text("The list of documents could not be loaded.")
        page.click("#sign-out")
        page.fill("#key", running.secrets["read"])
        page.click("#sign-in button")
        expect(page.locator("#documents li")).to_have_count(1)
        opened.ask()
        page.click("#answer .figure")
        page.locator("#source .page img").first.wait_for()
        assert not any(secret in url for secret in running.secrets.values() for url in opened.requested)
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
