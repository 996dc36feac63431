"""One figure on the page, in a real browser: every place that tells it side by side, and what its reader decides."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from kb_qa.answers import Decision
from kb_qa.testing import InMemoryLibrary
from tests.browser import Opened, chromium, opened
from tests.keyed_service import keyed_service
from tests.pdf_pages import write_pdf
from tests.scripted_service import ANSWER, CountingRenderer, ScriptedKnowledgeBase, served
from tests.test_dispute import BOTH, PRESS, REPORT, SUPPORTED, TEXT, answer, library
from tests.test_upload_end_to_end import answer as asked
from tests.test_upload_end_to_end import followed, service

ATTACK = "<img src=x onerror=alert(1)>"
FIRST = f"#/answers/{ANSWER}/figures/1"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


class WithIntake(InMemoryLibrary):
    """What a service that takes uploads asks for, too."""

    def withdraw(self, document_id: str) -> None:
        raise NotImplementedError  # the protocol has it; no view of a dispute may come to it


def disputed(original: Path, *documents: tuple[str, str, str], text: str = TEXT) -> ScriptedKnowledgeBase:
    """A knowledge base of these documents with one stored answer, whose two figures are the same one."""
    given = library(*(documents or BOTH))
    known = WithIntake(**{each.name: getattr(given, each.name) for each in fields(given)})
    known.answers[ANSWER] = answer(text, SUPPORTED, {**SUPPORTED, "raw": "2024", "start": 34, "end": 38, "support": []})
    originals = dict.fromkeys((REPORT, PRESS), original)
    return ScriptedKnowledgeBase(library=known, originals=originals)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("blobs") / "original"
    path.write_bytes(b"%PDF-")
    return path


@pytest.fixture(scope="module")
def there(browser: Browser, original: Path) -> Iterator[tuple[Opened, InMemoryLibrary]]:
    knowledge_base = disputed(original)
    with served(knowledge_base, CountingRenderer()) as base, opened(browser, base) as page:
        yield page, knowledge_base.library  # type: ignore[misc]


@pytest.fixture
def page(there: tuple[Opened, InMemoryLibrary]) -> Iterator[Page]:
    """The first figure, undecided."""
    shown, known = there
    known.decided.clear()
    shown.page.goto("about:blank")
    shown.page.goto(f"{shown.base}/{FIRST}")
    yield shown.page
    assert shown.dialogs == []


def test_all_places_stand_side_by_side_and_the_conflict_is_told(page: Page) -> None:
    """Value, document, page and row of each, its own first; the sentence with the figure marked."""
    expect(page.locator("#dispute h2")).to_have_text("$4,132 million")
    expect(page.locator("#dispute mark")).to_have_text("$4,132 million")
    expect(page.locator("#dispute blockquote")).to_have_text(TEXT)
    expect(page.locator(".verdict.conflict")).to_contain_text("The documents disagree")
    expect(page.locator(".verdict.conflict p")).to_have_text(
        "They do not tell the same value here: 4,132,000,000 USD in report.pdf P8; 4,123,000,000 $ in press.pdf P3."
    )
    expect(page.locator(".place .value")).to_have_text(["4,132,000,000 USD", "4,123,000,000 $"])
    expect(page.locator(".place .badge")).to_have_text(["the answer rests on this", "says otherwise"])
    expect(page.locator(".place .label")).to_have_text(["report.pdf · P8·table", "press.pdf · P3·text"])
    expect(page.locator(".place .name").first).to_contain_text("Net revenue × 2024")


def test_each_crop_shows_the_row_with_the_figure_itself_tinted(page: Page) -> None:
    """The picture's marks are the printed figure's own box."""
    images = page.locator(".place img")
    expect(images).to_have_count(2)
    source = re.compile(rf"^/v1/documents/{REPORT}/pages/8/region\.png\?bbox=60,120,350,138&.*&marks=160,120,250,138$")
    expect(images.first).to_have_attribute("src", source)
    images.first.scroll_into_view_if_needed()
    assert images.first.evaluate("image => image.decode().then(() => image.naturalWidth)") == 1
    expect(images.first).to_have_attribute("alt", "4,132,000,000 USD as printed in report.pdf · P8·table")


def test_a_decision_is_kept_with_its_note_and_shown_again(page: Page) -> None:
    """Accepted, then the note alone changed, then rejected; a reload shows what was decided, when, and the note."""
    standing = page.locator(".standing")
    expect(standing).to_have_text("Nobody has decided on this figure yet.")
    page.get_by_role("button", name="Save note").click()
    expect(standing).to_have_text("A note needs some words.")
    page.fill("#decision-note", f"As audited. {ATTACK}")
    page.get_by_role("button", name="Accept").click()
    expect(standing).to_contain_text("Accepted on ")
    page.fill("#decision-note", "See note 5")
    page.get_by_role("button", name="Save note").click()
    expect(standing).to_contain_text("See note 5")
    expect(standing).to_contain_text("Accepted")
    page.reload()
    expect(standing).to_contain_text(re.compile(r"Accepted on \d+ \w+ 20\d\d"))
    expect(page.locator("#decision-note")).to_have_value("See note 5")
    expect(page.get_by_role("button", name="Accept")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Reject").click()
    expect(standing).to_contain_text("Rejected")
    expect(page.get_by_role("button", name="Accept")).to_have_attribute("aria-pressed", "false")


def test_a_note_alone_decides_nothing(page: Page) -> None:
    """It is noted, neither accepted nor rejected."""
    page.fill("#decision-note", "ask the auditor")
    page.get_by_role("button", name="Save note").click()
    expect(page.locator(".standing")).to_contain_text("Noted")
    expect(page.locator(".standing")).to_contain_text("ask the auditor")
    expect(page.locator("[aria-pressed=true]")).to_have_count(0)


def test_a_decision_that_is_not_taken_says_so(page: Page) -> None:
    """With the service's reason; what was decided before stays."""
    page.route("**/decision", lambda route: route.fulfill(status=503, body='{"message": "shutting down"}'))
    page.get_by_role("button", name="Reject").click()
    expect(page.locator(".standing")).to_have_text("Not saved: shutting down")
    expect(page.locator("[aria-pressed=true]")).to_have_count(0)
    page.unroute_all()


def test_the_record_is_downloaded(page: Page, there: tuple[Opened, InMemoryLibrary]) -> None:
    """Of this answer and of all, as a table and as data; what a spreadsheet takes for a formula is defused."""
    known = there[1]
    known.save_decision(Decision("b" * 32, 1, "accept", "", "9", 5.0))
    page.fill("#decision-note", '=HYPERLINK("http://x")')
    page.get_by_role("button", name="Accept").click()
    expect(page.locator(".standing")).to_contain_text("Accepted")
    found = {}
    own, data = "of this answer", "data (JSON Lines)"
    for name in (f"{own}, table (CSV)", f"{own}, {data}", f"of all answers, {data}"):
        with page.expect_download() as download:
            page.get_by_role("link", name=f"Download the record: {name}").click()
        found[name] = Path(download.value.path()).read_text(encoding="utf-8")
    table, lines, everything = found.values()
    [row] = csv.DictReader(io.StringIO(table.removeprefix("\ufeff")))
    assert row["note"] == '\'=HYPERLINK("http://x")'
    assert (row["decision"], row["figure"], row["status"]) == ("accept", "$4,132 million", "exact")
    [line] = map(json.loads, lines.splitlines())
    assert line["question"] == "What was net revenue in 2024?"
    assert line["note"] == '=HYPERLINK("http://x")'
    assert line["decided_at"].startswith("20")
    assert [json.loads(each)["answer_id"] for each in everything.splitlines()] == ["b" * 32, ANSWER]


def test_a_figure_that_nothing_tells_and_one_that_is_not_there_are_told(page: Page) -> None:
    """The way from figure to figure, and words instead of an empty view."""
    page.get_by_role("link", name="Next figure").click()
    expect(page.locator("#dispute h2")).to_have_text("2024")
    expect(page.locator(".figures .where")).to_have_text("Figure 2 of 2")
    expect(page.locator(".verdict")).to_contain_text("No place in the documents was found")
    expect(page.get_by_role("link", name="Next figure")).to_have_count(0)
    page.evaluate("address => { location.hash = address; }", f"#/answers/{ANSWER}/figures/7")
    expect(page.locator("#dispute")).to_contain_text("There is no such figure.")
    expect(page.get_by_role("link", name="Back to the answer")).to_have_attribute("href", f"#/answers/{ANSWER}")


def test_a_key_that_may_only_read_sees_decisions_and_makes_none(browser: Browser, original: Path) -> None:
    """With the name of the key that decided."""
    with keyed_service(disputed(original)) as keyed, opened(browser, str(keyed.client.base_url)) as shown:
        decision = {"decision": "reject", "note": "a misprint"}
        keyed.ask("PUT", f"/v1/answers/{ANSWER}/figures/1/decision", "write", json=decision).raise_for_status()
        page = shown.page
        page.fill("#key", keyed.secrets["read"])
        page.click("#sign-in button")
        expect(page.locator("#sign-out")).to_be_visible()
        shown.go(FIRST)
        expect(page.locator(".standing")).to_contain_text("Rejected by write on ")
        expect(page.locator(".standing .note")).to_have_text("a misprint")
        expect(page.locator("#dispute form button, #dispute textarea")).to_have_count(0)


def test_it_fits_a_narrow_screen_in_chinese_and_has_no_violation(browser: Browser, original: Path) -> None:
    """At 360 pixels nothing is wider than the screen, no word is missing, and axe-core finds nothing."""
    from axe_playwright_python.sync_playwright import Axe

    documents = ((REPORT, f"{ATTACK}{'营业收入' * 30}.pdf", BOTH[0][2]), BOTH[1])
    with (
        served(disputed(original, *documents), CountingRenderer()) as base,
        opened(browser, base, locale="zh-CN", viewport={"width": 360, "height": 740}, bypass_csp=True) as shown,
    ):
        shown.go(FIRST)
        expect(shown.page.locator(".verdict")).to_contain_text("文档之间不一致")
        assert shown.page.evaluate("document.documentElement.scrollWidth") == 360
        assert "undefined" not in (shown.page.locator("#dispute").text_content() or "")
        found = Axe().run(shown.page, context="#dispute", options={"runOnly": ["wcag2a", "wcag2aa", "wcag21aa"]})
        assert [(each["id"], [node["html"] for node in each["nodes"]]) for each in found.response["violations"]] == []
        assert shown.dialogs == []


@pytest.mark.slow
def test_two_real_documents_that_disagree_are_compared_and_decided(browser: Browser, tmp_path: Path) -> None:
    """Over a real service: both places with their crops, and the decision is in the record that is downloaded."""
    with service(tmp_path / "kb") as (_, base), opened(browser, base) as shown:
        for name, value in (("report.pdf", "4,132"), ("press.pdf", "4,123")):
            words = f"Net revenue was ${value} million in 2024."
            write_pdf(tmp_path / name, lambda page, words=words: [page.insert_text((72, 200), words, fontsize=12)])
            upload = httpx.put(f"{base}/v1/documents/{name}", content=(tmp_path / name).read_bytes()).json()
            assert followed(base, upload)[-1] == ("end", "ready", "")
        events = asked(base, "What was net revenue in 2024?")
        [answer_id] = [data["answer_id"] for event, data in events if event == "start"]
        figures = httpx.get(f"{base}/v1/answers/{answer_id}/figures").json()["figures"]
        n = next(n for n, figure in enumerate(figures, 1) if "4,1" in figure["raw"])
        shown.go(f"#/answers/{answer_id}/figures/{n}")
        page = shown.page
        expect(page.locator(".verdict.conflict")).to_be_visible()
        expect(page.locator(".place .label")).to_have_count(2)
        for image in page.locator(".place img").all():
            image.scroll_into_view_if_needed()
            assert image.evaluate("image => image.decode().then(() => image.naturalWidth)") > 100
        page.get_by_role("button", name="Reject").click()
        expect(page.locator(".standing")).to_contain_text("Rejected")
        [line] = httpx.get(f"{base}/v1/decisions.jsonl?answer={answer_id}").text.splitlines()
        assert (json.loads(line)["decision"], json.loads(line)["n"]) == ("reject", n)
