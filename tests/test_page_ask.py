"""Asking on the page: examples, filters, conversations, the history of answers, and what can be taken along."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Route, expect

from kb_qa.answers import Filters
from tests.browser import Running, cited_answer, opened, opened_over
from tests.scripted_service import (
    ANSWER,
    DOCUMENT,
    OTHER,
    CountingRenderer,
    ScriptedKnowledgeBase,
    ScriptedLibrary,
    Step,
    events,
    plain_answer,
    record,
    served,
)


def started(**data: object) -> list[Step]:
    told = {"answer_id": ANSWER, "session_id": "one", "question": "What was revenue?"} | data
    return [*events(("start", told), ("end", {"complete": True}))]


def done(page: Page) -> Page:
    expect(page.locator("#status")).to_have_text("Done.")
    return page


def test_questions_of_a_tab_are_one_conversation(running: Running) -> None:
    """The service's session id goes along with the next question, and a rewritten question is shown as such."""
    running.knowledge_base.sessions.clear()
    page = done(running.ask(started()))
    expect(page.locator("#understood")).to_be_hidden()
    running.ask(started(answer_id="b" * 32, standalone="Sales in 2023?", carried_documents=["a.pdf", "b.pdf"]))
    expect(page.locator("#understood")).to_have_text("Understood as: Sales in 2023? · Only in: a.pdf, b.pdf")
    expect(page.locator("#thread a")).to_have_attribute("href", f"#/answers/{ANSWER}")
    page.reload()
    done(running.ask(started()))
    assert running.knowledge_base.sessions[1:] == ["one", "one"]


def test_a_new_conversation_forgets_the_last_one(running: Running) -> None:
    """The button is there once there is something to forget; the next question begins a session of its own."""
    page = done(running.ask(started(session_id="left")))
    page.click("#anew")
    expect(page.locator("#anew")).to_be_hidden()
    expect(page.locator("#result")).to_be_hidden()
    done(running.ask(started()))
    assert re.fullmatch("[0-9a-f]{32}", running.knowledge_base.sessions[-1])


def test_a_question_is_limited_to_the_chosen_documents_and_types(browser: Browser, original: Path) -> None:
    """Documents are found by name and chosen by several; the limits stay until they are taken back."""
    waiting = record("ef" * 32, "x", state="stored")
    library = ScriptedLibrary(records=[record(), record(OTHER, "年度/Briefing.pdf"), waiting])
    knowledge_base = ScriptedKnowledgeBase(library=library, originals={DOCUMENT: original})
    with served(knowledge_base, CountingRenderer()) as base, opened(browser, base) as asked:
        page = asked.page
        expect(page.locator("#filters-summary")).to_have_text("All documents")
        page.click("#filters-summary")
        expect(page.locator("#filter-documents li")).to_have_text(["report.pdf", "年度/Briefing.pdf"])
        page.fill("#filter-name", "BRIEF")
        expect(page.locator("#filter-documents li")).to_have_count(1)
        page.locator("#filter-documents input").check()
        page.locator("#filter-kinds input").nth(1).check()
        expect(page.locator("#filters-summary")).to_have_text("1 document · Tables")
        asked.ask()
        done(page)
        library.records.pop(1)
        page.click("#filters-summary")
        expect(page.locator("#filters-summary")).to_have_text("All documents · Tables")  # the other one is gone
        page.click("#filters-clear")
        asked.ask()
        done(page)
        filters = [each for _, each, _ in knowledge_base.asked]
        assert filters == [Filters(documents=(OTHER,), element_types=("table",)), Filters()]


def test_an_example_asks_its_question(browser: Browser, original: Path) -> None:
    """One click asks it; where there is no example, nothing is shown in their place."""
    with opened_over(browser, [*cited_answer()], original) as page:
        expect(page.page.locator("#examples")).to_be_hidden()
        examples = {"examples": [{"question": "What was revenue?", "document": "report.pdf", "document_id": DOCUMENT}]}
        page.page.route("**/v1/examples", lambda route: route.fulfill(json=examples))
        page.page.reload()
        page.page.click("#examples button")
        expect(page.page.locator("#asked")).to_have_text("What was revenue?")
        expect(page.page.locator("#examples")).to_be_hidden()
        done(page.page)


def test_answers_are_listed_and_found_again_after_a_reload(browser: Browser, original: Path) -> None:
    """From the service, newest first, the older ones on demand; each opens by its address, and Back leads back."""
    library = ScriptedLibrary()
    for number in range(12):
        library.answers[f"{number:032x}"] = plain_answer(question=f"Question {number}?")
    library.answers["f" * 32] = events(
        ("start", {"question": "Refused?"}), ("refusal", {}), ("end", {"complete": True})
    )
    library.answers["e" * 32] = events(("start", {"question": "Cut?"}))
    knowledge_base = ScriptedKnowledgeBase(library=library, originals={DOCUMENT: original})
    with served(knowledge_base, CountingRenderer()) as base, opened(browser, base) as asked:
        page = asked.page
        items = page.locator("#history li")
        expect(items).to_have_count(10)
        expect(items.nth(0)).to_contain_text("incomplete")
        expect(items.nth(1)).to_contain_text("no answer")
        expect(items.nth(2)).to_contain_text("report.pdf")
        page.click("#history-more")
        expect(items).to_have_count(14)
        expect(page.locator("#history-more")).to_be_hidden()
        page.click("text=Question 0?")
        expect(page.locator("#answer")).to_contain_text("Revenue was 4,812 million.")
        expect(page.locator("#history a[aria-current]")).to_have_text("Question 0?")
        page.reload()
        expect(page.locator("#asked")).to_have_text("Question 0?")
        page.click("text=Cut?")
        expect(page.locator(".notice.error")).to_contain_text("ended early")
        page.go_back()
        page.go_back()
        expect(page.locator("#result")).to_be_hidden()
        assert asked.problems == []


def test_an_asked_question_gets_its_address(running: Running) -> None:
    """The address is the answer's, and the documents' view leads back to it."""
    page = done(running.ask([*cited_answer()]))
    assert page.url.endswith(f"#/answers/{ANSWER}")
    page.click("header nav a >> nth=1")
    expect(page.locator("#documents-view")).to_be_visible()
    page.click("header nav a >> nth=0")
    expect(page.locator("#answer .figure")).to_have_text("4,812")


def test_an_answer_can_be_taken_along(browser: Browser, original: Path) -> None:
    """As text with its references, as Markdown, by its address, and each cited document with its passages marked."""
    script = plain_answer()
    script.insert(-2, events(("references", {"text": '[1] "Revenue" found in "report.pdf"', "items": []}))[0])
    with opened_over(browser, [*script], original) as page:
        page.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.ask()
        done(page.page)
        copied = []
        for button in ("#copy-text", "#copy-link"):
            page.page.click(button)
            expect(page.page.locator("#keep-status")).to_have_text("Copied.")
            copied.append(page.page.evaluate("navigator.clipboard.readText()"))
        assert copied == [
            'What was revenue?\n\nRevenue was 4,812 million.\n\n[1] "Revenue" found in "report.pdf"',
            f"{page.base}/#/answers/{ANSWER}",
        ]
        expect(page.page.locator("#keep-marked a")).to_have_attribute(
            "href", f"/v1/answers/{ANSWER}/highlighted.pdf?document={DOCUMENT}"
        )
        page.page.route(
            "**/answer.md", lambda route: route.fulfill(body="# What was revenue?", content_type="text/markdown")
        )
        page.page.click("#copy-markdown")
        expect(page.page.locator("#keep-status")).to_have_text("Copied.")
        assert page.page.evaluate("navigator.clipboard.readText()") == "# What was revenue?"


def test_a_question_waits_until_it_is_known_whether_a_key_is_needed(browser: Browser, original: Path) -> None:
    """What was asked before the service had said so is answered, and not taken away by the view that opens then."""
    held: list[Route] = []
    knowledge_base = ScriptedKnowledgeBase([*cited_answer()], originals={DOCUMENT: original})
    with served(knowledge_base, CountingRenderer()) as base, browser.new_page() as page:
        page.route("**/v1/session", lambda route: held.append(route))
        page.goto(base)
        page.fill("#question", "What was revenue?")
        page.click("#ask")
        expect(page.locator("#result")).to_be_hidden()
        held[0].continue_()
        expect(page.locator("#answer .chip").first).to_be_visible()
        expect(page.locator("#ask-view")).to_have_class(re.compile("answered"))


def test_nothing_ingested_is_told(browser: Browser) -> None:
    """Without any document, asking is answered with words."""
    with served(ScriptedKnowledgeBase(library=ScriptedLibrary(records=[]))) as base, opened(browser, base) as asked:
        asked.ask()
        expect(asked.page.locator(".notice.error")).to_contain_text("no document")
        expect(asked.page.locator("#ask")).to_be_enabled()


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
        assert "" not in page.page.locator("[data-label]").all_text_contents()
        assert "undefined" not in page.page.content()


def test_both_languages_have_the_same_words() -> None:
    """No part of the page says something in one language alone."""
    web = Path(__file__).parent.parent / "src" / "kb_qa" / "web"
    for path in [web / "labels.js", *web.glob("words_*.js")]:
        table = re.sub(r'"[^"]*"|`[^`]*`', '""', path.read_text(encoding="utf-8")).split("\n};")[0]
        english, chinese = re.split(r"^  zh: \{", table, flags=re.M)
        names = [re.findall(r"(\w+):", part) for part in (english.split("  en: {")[1], chinese)]
        assert names[0] == names[1], path.name


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_fits_a_narrow_screen(scheme: str, browser: Browser, original: Path) -> None:
    """At 360 pixels nothing is wider than the screen, not even an endless word; axe-core finds nothing."""
    context = {"locale": "zh-CN", "viewport": {"width": 360, "height": 740}, "color_scheme": scheme}
    with opened_over(browser, [*cited_answer()], original, **context) as page:
        page.page.click("#filters-summary")
        assert [each["id"] for each in Axe().run(page.page).response["violations"]] == []
        page.ask("营业收入" * 40)
        expect(page.page.locator("#status")).to_have_text("完成。")
        page.page.locator("#figures summary").click()
        assert page.page.locator("html").evaluate("element => element.scrollWidth") == 360
        assert [each["id"] for each in Axe().run(page.page).response["violations"]] == []


@pytest.mark.slow
def test_the_samples_suggest_a_question_and_answer_it(sample_service: str, browser: Browser) -> None:
    """Over the real service: the first example in the reader's language leads to an answer with a figure."""
    with opened(browser, sample_service, locale="zh-CN") as asked:
        page = asked.page
        expect(page.locator("#examples button")).to_have_count(5)
        assert json.dumps(page.locator("#examples button").all_text_contents()).count("\\u") > 20
        chosen = page.locator("#examples button").first.inner_text()
        page.locator("#examples button").first.click()
        expect(page.locator("#status")).to_have_text("完成。")
        expect(page.locator("#answer .figure")).not_to_have_count(0)
        expect(page.locator("#history li").first).to_contain_text(chosen)  # of others, what ran before asked them
        asked.ask("P9 的基本工资是多少？")
        expect(page.locator(".notice.calm")).to_contain_text("材料中没有提到：P9")
        expect(page.locator(".notice.calm img").first).to_be_visible()
