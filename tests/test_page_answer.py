"""An answer on the page: text, chips, verdicts, what is withheld, refusals, failures; from the stream and stored."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from kb_qa.errors import ModelError
from tests.browser import TEXT, Opened, Running, cited_answer, figure, opened, opened_over
from tests.scripted_service import ANSWER, DOCUMENT, ScriptedKnowledgeBase, Step, citation, events, served

PLACE = {"element": "e", "document_id": DOCUMENT, "page": 2, "bbox": [100, 90, 130, 100], "printed": "4,132"}

DERIVATION = {"shown": "(4,132-3,541)/3,541 = 16.69%; 4,132 [p.2]", "places": [PLACE]}


def of_figure(raw: str, policy: str = "strict", **changed: object) -> list[Step]:
    """An answer with one figure."""
    start = ("start", {"answer_id": ANSWER, "question": "What was revenue?", "policy": policy})
    return [*events(start, ("delta", {"seq": 1, "text": TEXT}), figure(raw, **changed), ("end", {"complete": True}))]


def done(page: Page) -> Page:
    expect(page.locator("#status")).to_have_text("Done.")
    return page


def test_answer_is_shown_with_chips_after_its_claims(cited: Opened) -> None:
    """The text comes out whole, each claim ends in the chips of its markers, with page and kind; also behind emoji."""
    shown = cited.page.locator("#answer").evaluate("element => element.textContent")
    assert shown == "🙂 Revenue was 4,812 million.1P2 · table 净利润为 41 万元。2P2 · table3P2 · table"
    expect(cited.page.locator("#answer .figure")).to_have_text("4,812")
    expect(cited.page.locator("#references li")).to_have_count(3)
    expect(cited.page.locator("#references li").nth(1)).to_contain_text("第二份.pdf · P1·文本 净利润 41 万元")
    assert cited.problems == []


@pytest.mark.parametrize(
    ("changed", "verdict", "said"),
    [
        ({"status": "exact"}, "printed", "as printed"),
        ({"status": "rounded"}, "printed", "rounded"),
        ({"status": "exact", "annotations": ["conflict"]}, "conflict", "the sources disagree"),
        ({"status": "low_confidence", "support": []}, "unsure", "not surely read"),
        ({"status": "misbound", "support": []}, "unsupported", "the source says it of something else"),
        ({"status": "derived", "derivation": DERIVATION}, "derived", "computed"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_figure_wears_its_verdict(changed: dict[str, object], verdict: str, said: str, running: Running) -> None:
    """On the figure itself, and in words, with its formula, in the list that leads to all places of its measure."""
    page = done(running.ask(of_figure("4,812", "annotate", **changed)))
    expect(page.locator(f"#answer .figure.{verdict}")).to_have_attribute("aria-label", f"4,812, {said}")
    page.locator("#figures summary").click()
    item = page.locator("#figures-list li")
    expect(item.locator(".verdict")).to_have_text(said)
    expect(item.locator("a.places")).to_have_attribute("href", f"#/answers/{ANSWER}/figures/1")
    if verdict == "derived":
        expect(item.locator(".formula")).to_have_text("4,812 = (4,132-3,541)/3,541 = 16.69%")


def test_a_figure_without_support_is_plain_where_the_policy_is_off(running: Running) -> None:
    """Nothing is marked then, and nothing is listed."""
    page = done(running.ask(of_figure("4,812", "off", status="misbound", support=[])))
    expect(page.locator("#answer .figure")).to_have_count(0)
    expect(page.locator("#figures")).to_be_hidden()


def test_a_click_opens_the_page_and_keys_go_through_the_citations(cited: Opened) -> None:
    """`j` and `k` step through the chips and stop at the last; `/` leads to the question, where they are letters."""
    page = cited.page
    page.click("#answer .figure")
    expect(page.locator("#source")).to_be_visible()
    shown = page.locator("#answer .chip.shown b")
    for key, number in [("j", "1"), ("j", "2"), ("j", "3"), ("j", "3"), ("k", "2")]:
        page.keyboard.press(key)
        expect(shown).to_have_text(number)
    page.keyboard.press("/")
    page.keyboard.type("jk/")
    expect(page.locator("#question")).to_have_value("jk/")
    page.fill("#question", "")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Escape")
    expect(page.locator("#source")).to_be_hidden()


def test_a_withheld_sentence_says_why_on_demand(running: Running) -> None:
    """What stands in its place opens to the reason and to what the sources print; the figure itself is never told."""
    reason = {"code": "misbound", "detail": "4,913 is costs; the words fit 4,132", "nearest": [PLACE]}
    figures = [{"raw": "4,913", "status": "misbound", "reason": reason}, {"raw": "2024", "status": "exact"}]
    page = done(
        running.ask([
            *events(
                ("start", {"answer_id": ANSWER}),
                ("delta", {"seq": 1, "text": "Kept."}),
                ("withheld", {"text": "[withheld: no source]", "at": 5, "figures": figures}),
                ("end", {"complete": True}),
            )
        ])
    )  # fmt: skip
    withheld = page.locator("#answer details.withheld")
    expect(withheld.locator(".reason")).to_be_hidden()
    withheld.locator("summary").click()
    expect(withheld.locator(".reason")).to_contain_text("the sources print of something else")
    expect(withheld.locator(".place")).to_have_text("4,132 · P2")
    assert "4,913" not in page.locator("#result").inner_text()


def test_a_refusal_says_what_was_searched_and_what_comes_nearest(running: Running) -> None:
    """The message, the number of documents, the limits, what nothing names, and the best passages as pictures."""
    region = {"page": 2, "bbox": [60, 80, 300, 120]}
    source = {"document_id": DOCUMENT, "label": "report.pdf · P2·table", "text": "P4 | 16500", "regions": [region]}
    bare = {"document_id": DOCUMENT, "label": "notes.md", "text": "P5 and P6", "regions": []}
    refusal = {
        "reason": "not_named", "message": "材料中未找到相关信息", "missing": ["P9"],
        "searched": {"documents": 3, "chosen": ["report.pdf"], "element_types": ["table"]},
    }  # fmt: skip
    page = done(
        running.ask([
            *events(
                ("start", {"answer_id": ANSWER}),
                ("sources", {"sources": [source, bare, bare, bare]}),
                ("refusal", refusal),
                ("end", {"complete": True, "refused": True}),
            )
        ])
    )  # fmt: skip
    told = page.locator(".notice.calm")
    expect(told).to_contain_text("材料中未找到相关信息")
    expect(told.locator(".searched")).to_have_text(
        "Named in no passage: P9 · Searched: 3 documents · within report.pdf, table"
    )
    expect(told.locator(".passage")).to_have_count(3)
    expect(told.locator("img")).to_have_attribute(
        "src", f"/v1/documents/{DOCUMENT}/pages/2/region.png?bbox=60,80,300,120&dpi=130"
    )
    expect(told.locator(".passage").nth(1)).to_contain_text("P5 and P6")
    told.locator(".passage").first.click()
    expect(page.locator("#source")).to_be_visible()
    page.keyboard.press("Escape")


ENDINGS: dict[str, tuple[list[Step], str, str]] = {
    "error": ([ModelError("the model is busy", retryable=True)], "the model is busy", "Trying again may help. Request"),
    "cut off": ([*events(("end", {"complete": False, "stop_reason": "max_tokens"}))], "was cut off", ""),
    "no end": ([*events(("delta", {"seq": 1, "text": "half"}))], "ended early", "Request"),
}


@pytest.mark.parametrize(("script", "words", "request_id"), ENDINGS.values(), ids=ENDINGS.keys())
def test_every_failure_is_told_and_can_be_asked_again(
    script: list[Step], words: str, request_id: str, running: Running
) -> None:
    """Failed and cut answers say so, with the request's id where there is one; none looks complete."""
    page = running.ask(script)
    notice = page.locator(".notice")
    expect(notice).to_have_count(1)
    expect(notice).to_contain_text(words)
    expect(notice.locator("small")).to_contain_text([request_id] if request_id else [])
    running.knowledge_base.script = [*cited_answer()]
    page.click(".again")
    expect(page.locator("#answer")).to_contain_text("Revenue was")
    expect(page.locator(".notice")).to_have_count(0)


def test_text_appears_while_the_answer_is_written_and_stop_ends_it(browser: Browser, original: Path) -> None:
    """Text is on the page before the answer is done; Stop closes the stream and says that it is not complete."""
    knowledge_base = ScriptedKnowledgeBase([*cited_answer()[:3], 60.0], originals={DOCUMENT: original})
    with served(knowledge_base) as base, opened(browser, base) as asked:
        asked.ask()
        expect(asked.page.locator("#answer")).to_have_text(TEXT[:10])
        expect(asked.page.locator("#result")).to_have_attribute("aria-busy", "true")
        asked.page.click("#stop")
        expect(asked.page.locator("#status")).to_have_text("Stopped. The answer is not complete.")
        assert knowledge_base.closed.wait(5)
        expect(asked.page.locator("#ask")).to_be_enabled()


def test_a_stored_answer_looks_as_it_did_when_it_was_written(browser: Browser, original: Path) -> None:
    """Opened by its address, in the very same nodes; so is one that is still being written, to its end."""
    script, later = [*cited_answer()], threading.Event()
    with opened_over(browser, [*script[:5], later, *script[5:]], original) as page:
        page.ask()
        expect(page.page.locator("#answer .figure")).to_have_count(0)
        expect(page.page.locator("#answer .chip")).to_have_count(1)
        with opened(browser, page.base + f"/#/answers/{ANSWER}") as other:
            written = other.page.locator("#answer .chip")
            expect(written).to_have_count(1)
            later.set()
            expect(written).to_have_count(3)
            expect(other.page.locator("#status")).to_have_text("Answer opened.")
            done(page.page)
            html = [each.page.locator("article.answer").evaluate("node => node.outerHTML") for each in (page, other)]
        assert html[0] == html[1]


def test_an_unknown_address_is_told(running: Running) -> None:
    """No such answer: the page says so, and a question can be asked."""
    running.opened.go(f"#/answers/{'0' * 32}")
    expect(running.opened.page.locator("#status")).to_have_text("There is no answer with this address.")
    done(running.ask([*cited_answer()]))


def test_print_shows_the_answer_alone(cited: Opened) -> None:
    """On paper stand question, answer and references; not the box, the buttons, the history or the page's head."""
    page = cited.page
    page.emulate_media(media="print")
    try:
        for shown in ("#asked", "#answer", "#references"):
            expect(page.locator(shown)).to_be_visible()
        for hidden in ("header", "#ask-form", "#keep", "#history", "#source-hint", "#materials"):
            expect(page.locator(hidden)).to_be_hidden()
    finally:
        page.emulate_media(media="screen")


def test_uncited_statements_are_marked(running: Running) -> None:
    """The mark stands behind the statement and is no part of its text."""
    page = done(
        running.ask([
            *events(
                ("start", {"answer_id": ANSWER}),
                ("delta", {"seq": 1, "text": "One. Two."}),
                ("uncited", {"start": 0, "end": 4, "text": " (no source)"}),
                citation(1, start=5, end=9),
                ("end", {"complete": True}),
            )
        ])
    )  # fmt: skip
    expect(page.locator("#answer .uncited")).to_have_text("(no source)")
    assert page.locator("#answer").inner_text().startswith("One.(no source) Two.")
