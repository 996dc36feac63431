"""The documents on the page, in a real browser: the list, uploads, deletion, and what the parser saw."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from kb_qa.elements import Cell, Element, Table
from kb_qa.errors import RejectedFileError
from kb_qa.geometry import BBox, Quality, Region
from kb_qa.geometry import Page as Sheet
from kb_qa.rejections import advice_in
from kb_qa.testing import InMemoryJobs
from tests.browser import Opened, chromium, opened
from tests.keyed_service import keyed_service
from tests.pdf_pages import write_pdf
from tests.scripted_service import (
    DOCUMENT,
    OTHER,
    CountingRenderer,
    ScriptedKnowledgeBase,
    ScriptedLibrary,
    record,
    scripted_intake,
    served,
)
from tests.test_rejections import kinds
from tests.test_upload_end_to_end import service

ATTACK = "<img src=x onerror=alert(1)><script>alert(2)</script>.pdf"
PDF = b"%PDF-1.7\n1 0 obj <<>> endobj\ntrailer <<>>\n%%EOF"
HTML = b"<!doctype html><html><script>alert(1)</script>hi 42</html>"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@dataclass
class Here:
    """One page over one service for many tests; each sets up what documents there are."""

    opened: Opened
    library: ScriptedLibrary
    jobs: InMemoryJobs

    @property
    def page(self) -> Page:
        return self.opened.page

    def show(self, *records: Any, address: str = "#/documents") -> Page:
        """The view at the address, anew, over these documents; nothing of the test before is left."""
        self.library.records[:] = records
        for job in [job for job in self.jobs.jobs.values() if not job.is_over]:
            self.jobs.say(job.id, "done")
        self.page.unroute_all()
        self.page.goto("about:blank")
        self.page.goto(f"{self.opened.base}/{address}")
        return self.page

    def settle(self, state: str, **changed: Any) -> None:
        """The worker says so of the last document that was handed over."""
        job = max(self.jobs.jobs)
        [upload] = self.jobs.get(job).arguments["uploads"]
        made = record(upload["document_id"], upload["name"], state=state, **changed)
        self.library.records[:] = [each for each in self.library.records if each.document_id != made.document_id]
        self.library.records.append(made)
        if state in {"ready", "quarantined"}:
            self.jobs.say(job, "done")


@pytest.fixture(scope="module")
def shared(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Here]:
    folder = tmp_path_factory.mktemp("kb")
    (folder / "original").write_bytes(PDF)
    library, jobs = ScriptedLibrary(records=[]), InMemoryJobs()
    knowledge_base = ScriptedKnowledgeBase(library=library, originals={DOCUMENT: folder / "original"})
    intake = scripted_intake(folder, library, jobs, most_waiting=50)
    with served(knowledge_base, CountingRenderer(), intake=intake) as base, opened(browser, base) as page:
        yield Here(page, library, jobs)


@pytest.fixture
def here(shared: Here) -> Iterator[Here]:
    shared.opened.dialogs.clear()
    yield shared
    assert shared.opened.dialogs == []


def drop(page: Page, *files: tuple[str, bytes]) -> None:
    """As if the files were dragged onto the view and let go."""
    expect(page.locator(".drop")).to_be_visible()
    page.evaluate(
        """files => {
          const transfer = new DataTransfer();
          for (const [name, bytes] of files) transfer.items.add(new File([new Uint8Array(bytes)], name));
          for (const type of ["dragenter", "dragover", "drop"])
            document.querySelector(".drop").dispatchEvent(
              new DragEvent(type, { dataTransfer: transfer, bubbles: true, cancelable: true }));
        }""",
        [[name, list(content)] for name, content in files],
    )


def test_the_list_says_state_pages_and_how_well_each_was_read(here: Here) -> None:
    """The grade is that of the worst page, with counts and reasons; reasons alike but for a figure are told once."""
    scan = record(
        name="scan.pdf",
        pages=12,
        grades={"good": 9, "fair": 2, "poor": 1},
        page_reasons={"read by OCR, confidence 0.81": 1, "read by OCR, confidence 0.93": 2},
        flags=("repaired",),
    )
    page = here.show(scan, record(OTHER, "年报.docx", pages=0, chunks=7, state="embedding"))
    rows = page.locator("#documents > li")
    expect(rows).to_have_count(2)
    expect(page.locator("#documents-count")).to_have_text("(2)")
    expect(rows.nth(0).locator(".state")).to_have_text("ready")
    expect(rows.nth(0).locator(".facts")).to_have_text("12 pages · 1 KB")
    rows.nth(0).locator("summary").click()
    expect(rows.nth(0).locator("summary")).to_have_text(
        "reads poorly 1 of 12 pages read poorly, 2 of 12 pages read fairly"
    )
    expect(rows.nth(0).locator(".quality li")).to_have_text(["read by OCR, confidence 0.81–0.93 (3 pages)", "repaired"])
    expect(rows.nth(1).locator(".state")).to_have_text("indexing")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_reason_of_a_quarantine_comes_with_what_to_do(here: Here, language: str) -> None:
    """Walks all codes with which a file may be rejected: in plain words, in both languages."""
    codes = sorted({kind.code for kind in kinds()})
    assert RejectedFileError.code in codes
    page = here.page
    here.show()
    page.evaluate("language => localStorage.setItem('kb-qa-language', language)", language)
    here.show(
        *(
            record(f"{n:064x}", f"{code}.pdf", state="quarantined", code=code, reason="something new", pages=0)
            for n, code in enumerate(codes)
        )
    )
    told = page.locator("#documents .advice")
    expect(told).to_have_count(len(codes))
    for code, text in zip(codes, told.all_text_contents(), strict=True):
        advice = advice_in(language, code)
        assert advice
        assert text.endswith(advice)
    assert bool(re.search("[一-鿿]", told.first.text_content() or "")) == (language == "zh")
    page.evaluate("localStorage.removeItem('kb-qa-language')")


def test_a_dropped_file_is_followed_until_it_can_be_asked(here: Here) -> None:
    """Received, read, indexed, ready: each state is on its row, and the list has the document at the end."""
    page = here.show()
    expect(page.locator("#choose-files")).to_be_visible()
    drop(page, ("Bericht 1.pdf", PDF))
    step = page.locator(".upload .step")
    expect(step).to_have_text("received, waiting to be read")
    here.settle("parsing")
    expect(step).to_have_text("reading its pages")
    here.settle("indexing")
    expect(step).to_have_text("indexing")
    here.settle("ready")
    expect(step).to_have_text("ready to be asked")
    expect(page.locator("#documents a.name")).to_have_text("Bericht 1.pdf")
    expect(page.locator(".tally")).to_have_text("1 of 1 done")
    page.click(".uploads .clear")
    expect(page.locator(".upload")).to_have_count(0)


def test_a_file_that_cannot_be_read_says_why_and_what_to_do(here: Here) -> None:
    """On the row of the upload and in the list."""
    page = here.show()
    page.set_input_files("#upload-files", {"name": "locked.pdf", "mimeType": "application/pdf", "buffer": PDF + b"2"})
    expect(page.locator(".upload .step")).to_have_text("received, waiting to be read")
    reason = "'locked.pdf' is encrypted; remove the password and try again"
    here.settle("quarantined", code="password_required", reason=reason)
    expect(page.locator(".upload .step")).to_have_text("set aside: it could not be read")
    for place in (".upload .note", "#documents .rejection"):
        expect(page.locator(place)).to_contain_text(reason)
        expect(page.locator(place)).to_contain_text("save a copy without one")


def test_bytes_that_are_known_are_told_as_what_became_of_them(here: Here) -> None:
    """Nothing to do for those that can be asked; those that were set aside are no success."""
    page = here.show()
    for state, told in (("ready", "already here, nothing to do"), ("quarantined", "already here, but set aside")):
        known = partial(Route.fulfill, status=200, body=json.dumps({"state": state}))
        page.route(f"**/v1/documents/{state}.txt", lambda route, _, known=known: known(route))
        drop(page, (f"{state}.txt", b"1"))
        expect(page.locator(".upload", has_text=f"{state}.txt").locator(".step")).to_contain_text(told)
    expect(page.locator(".upload.problem .name")).to_have_text("quarantined.txt")


def test_active_content_under_the_name_of_a_pdf_is_refused_in_plain_words(here: Here) -> None:
    """HTML named .pdf (CASES G8) is not taken, the file beside it is, and nothing of either runs."""
    page = here.show()
    drop(page, ("report.pdf", HTML), ("plain.txt", b"Plain words."))
    refused = page.locator(".upload", has_text="report.pdf")
    expect(refused.locator(".step")).to_have_text("not taken")
    expect(refused.locator(".note")).to_contain_text("'report.pdf' is named .pdf but holds HTML")
    expect(refused.locator(".note")).to_contain_text("Give the file the extension of what it really is")
    expect(page.locator(".upload", has_text="plain.txt").locator(".step")).to_have_text("received, waiting to be read")
    here.settle("ready")


def test_a_full_service_is_waited_for(here: Here) -> None:
    """429 with Retry-After: the row says when it is sent again, and it is."""
    page = here.show()
    answers = [429, 429]

    def answer(route: Route) -> None:
        if not answers:
            route.continue_()
            return
        problem = json.dumps({"code": "no_room", "message": "5 jobs wait to be read; try again later"})
        route.fulfill(status=answers.pop(), body=problem, headers={"Retry-After": "1"})

    page.route("**/v1/documents/later.txt", answer)
    drop(page, ("later.txt", b"Later words."))
    expect(page.locator(".upload .step")).to_have_text("The service is full at the moment; sent again in 1 s")
    expect(page.locator(".upload .note")).to_contain_text("5 jobs wait")
    expect(page.locator(".upload .step")).to_have_text("received, waiting to be read")
    assert answers == []
    here.settle("ready")


REFUSALS = {
    413: ("limit_exceeded", "The file is too large for this service."),
    415: ("unsupported_file", "The file is not of a kind that can be read."),
    403: ("forbidden", "Your key may not add documents."),
    507: ("environment", "the disk is full"),
}


@pytest.mark.parametrize("status", REFUSALS)
def test_a_refused_upload_is_told_plainly(here: Here, status: int) -> None:
    """Too large, of no known kind, not allowed; anything else in the service's own words."""
    page = here.show()
    code, told = REFUSALS[status]
    problem = json.dumps({"code": code, "message": "the disk is full", "request_id": "1"})
    page.route("**/v1/documents/one.txt", lambda route: route.fulfill(status=status, body=problem))
    drop(page, ("one.txt", b"1"))
    expect(page.locator(".upload .step")).to_have_text("not taken")
    expect(page.locator(".upload .note")).to_have_text(told)


def test_many_files_are_sent_a_few_at_a_time(here: Here) -> None:
    """Nine files at once: three are on their way, six wait for them, and all arrive."""
    page = here.show()
    held: list[Route] = []
    released = False

    def answer(route: Route) -> None:
        if released:
            route.fulfill(status=200, body="{}")
        else:
            held.append(route)

    page.route("**/v1/documents/many-*", answer)
    drop(page, *((f"many-{n}.txt", f"words {n}".encode()) for n in range(9)))
    expect(page.locator(".upload.waiting")).to_have_count(6)
    expect(page.locator(".upload:is(.sending, .sent)")).to_have_count(3)
    released = True
    for route in held:
        route.fulfill(status=200, body="{}")
    expect(page.locator(".upload.known")).to_have_count(9)


def test_deleting_asks_first_and_then_shows_at_once(here: Here) -> None:
    """Kept by Escape and by Keep; deleted by the second click, also before the service has answered."""
    page = here.show(record(), record(OTHER, "other.pdf"))
    held: list[Route] = []
    page.route(f"**/v1/documents/{DOCUMENT}", lambda route: held.append(route))
    remove = page.get_by_role("button", name="Delete: report.pdf")
    remove.click()
    expect(page.get_by_role("dialog", name="Delete report.pdf?")).to_contain_text("Answers already given stay")
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)
    remove.click()
    page.get_by_role("button", name="Keep: report.pdf").click()
    expect(page.locator("#documents > li")).to_have_count(2)
    remove.click()
    page.locator("dialog").get_by_role("button", name="Delete: report.pdf").click()
    expect(page.locator("#documents .name")).to_have_text(["other.pdf"])
    held.pop().continue_()
    expect(page.locator(".told")).to_have_text("report.pdf was deleted.")
    assert here.library.withdrawn[-1] == DOCUMENT


def test_a_document_that_could_not_be_deleted_comes_back(here: Here) -> None:
    """With the service's reason."""
    page = here.show(record())
    page.route(
        f"**/v1/documents/{DOCUMENT}", lambda route: route.fulfill(status=503, body='{"message": "shutting down"}')
    )
    page.get_by_role("button", name="Delete: report.pdf").click()
    page.locator("dialog").get_by_role("button", name="Delete: report.pdf").click()
    expect(page.locator(".told")).to_have_text("report.pdf could not be deleted: shutting down")
    expect(page.locator("#documents .name")).to_have_text("report.pdf")


def test_a_quarantined_file_is_tried_again_from_the_services_copy(here: Here) -> None:
    """Nobody has to look for the file: the original comes from the service and goes back with `retry`."""
    page = here.show(record(state="quarantined", code="parser_crashed", reason="crashed", pages=0))
    with page.expect_request("**/v1/documents/report.pdf?retry=1") as sent:
        page.get_by_role("button", name="Try again: report.pdf").click()
    assert sent.value.method == "PUT"
    expect(page.locator(".upload")).to_have_count(1)


def test_a_key_that_may_only_read_gets_no_controls_that_write(browser: Browser) -> None:
    """No upload, no deletion; the list and the view of what was read are there."""
    library = ScriptedLibrary(records=[record(), record(OTHER, "bad.pdf", state="quarantined", reason="damaged")])
    with (
        keyed_service(ScriptedKnowledgeBase(library=library)) as keyed,
        opened(browser, str(keyed.client.base_url)) as there,
    ):
        page = there.page
        page.fill("#key", keyed.secrets["read"])
        page.click("#sign-in button")
        expect(page.locator("#sign-out")).to_be_visible()
        there.go("#/documents")
        expect(page.locator("#documents > li")).to_have_count(2)
        expect(page.get_by_role("link", name="What was read: report.pdf")).to_be_visible()
        expect(page.locator(".drop, #upload-files")).to_have_count(0)
        expect(page.locator("#documents button")).to_have_count(0)


def test_many_documents_are_searched_and_sorted(here: Here) -> None:
    """The box and the order appear where there are many; what needs attention can come first."""
    many = [record(f"{n:064x}", f"file {n}.pdf", pages=n + 1) for n in range(11)]
    many[7] = replace(many[7], state="quarantined", reason="damaged", code="damaged_file")
    page = here.show(*many)
    names = page.locator("#documents .name")
    expect(names).to_have_count(11)
    expect(names.nth(2)).to_have_text("file 2.pdf")
    page.select_option(".finder select", "attention")
    expect(names.first).to_have_text("file 7.pdf")
    page.select_option(".finder select", "pages")
    expect(names.first).to_have_text("file 10.pdf")
    page.fill(".finder input", "FILE 1")
    expect(names).to_have_text(["file 10.pdf", "file 1.pdf"])
    page.fill(".finder input", "nothing like it")
    expect(page.locator("#documents-empty")).to_have_text("No document of this name.")


def cell(row: int, column: int, text: str) -> Cell:
    box = BBox(60 + 100 * column, 300 + 20 * row, 160 + 100 * column, 320 + 20 * row)
    headers = (("P5",), ("Salary",)) if row and column else ((), ())
    return Cell(row, column, 1, 1, text, 1, box, *headers)


def seen() -> list[Element]:
    """A heading, a paragraph over a page break, a table, a picture's text, a page number."""

    def made(order: int, category: str, text: str, *boxes: Region, **changed: Any) -> Element:
        return Element(f"e{order}", DOCUMENT, order, changed.pop("kind", "text"), category, text, boxes, **changed)

    table = Table(tuple(cell(*each) for each in ((0, 0, ""), (0, 1, "Salary"), (1, 0, "P5"), (1, 1, "22000"))))
    return [
        made(0, "Title", "1 Pay", Region(1, BBox(60, 60, 200, 80))),
        made(
            1,
            "NarrativeText",
            ATTACK,
            Region(1, BBox(60, 100, 500, 200)),
            Region(2, BBox(60, 60, 500, 90)),
            section=("1 Pay",),
            origin="ocr",
            confidence=0.87,
        ),
        made(2, "Table", "Salary\nP5 | 22000", Region(1, BBox(60, 300, 260, 340)), kind="table", table=table),
        made(3, "PageNumber", "1", Region(1, BBox(290, 780, 310, 790))),
    ]


def looked_into(here: Here, address: str = f"#/documents/{DOCUMENT}") -> Page:
    here.library.elements[:] = seen()
    fair = Sheet(2, 600, 800, label="ii", quality=Quality("fair", ("read by OCR, confidence 0.81",)))
    here.library.page_sizes[DOCUMENT, 2] = fair
    return here.show(record(grades={"good": 1, "fair": 1}), address=address)


def test_what_the_parser_saw_is_drawn_over_the_page_by_type(here: Here) -> None:
    """A box where each element stands, in the colour of its type, numbered in reading order, with its cells."""
    page = looked_into(here)
    expect(page.locator(".canvas img")).to_have_attribute("src", re.compile(rf"/{DOCUMENT}/pages/1\.png\?dpi=\d+$"))
    expect(page.locator(".canvas .number")).to_have_text(["1", "2", "3", "4"])
    for kind in ("title", "text", "table", "furniture"):
        expect(page.locator(f".canvas .layer.{kind} .box")).to_have_count(1)
    expect(page.locator(".canvas .cell")).to_have_count(4)
    box = page.locator(".canvas .layer.title .box")
    assert box.evaluate("box => [box.style.left, box.style.top, box.style.width, box.style.height]") == [
        "10%", "7.5%", "23.3333%", "2.5%",
    ]  # fmt: skip
    page.locator(".legend").get_by_label("Tables").uncheck()
    expect(page.locator(".canvas .layer.table")).to_be_hidden()
    expect(box).to_be_visible()
    page.locator(".legend").get_by_label("Reading order").uncheck()
    expect(page.locator(".canvas .number").first).to_be_hidden()
    page.evaluate("sessionStorage.clear()")


def test_an_element_tells_its_text_type_confidence_and_section(here: Here) -> None:
    """By the focus in the list and by a click on its box; a cell tells its headers. Nothing in it runs."""
    page = looked_into(here)
    page.locator(".canvas .layer.text .box").click()
    chosen = page.locator(".element.chosen")
    expect(chosen.locator(".whole")).to_have_text(ATTACK)
    expect(chosen.locator("dl")).to_contain_text("87 %")
    expect(chosen.locator("dl")).to_contain_text("1 Pay")
    expect(chosen.locator("dl")).to_contain_text("recognised from the picture (OCR)")
    expect(page.locator(".canvas .layer.text.chosen")).to_have_count(1)
    page.keyboard.press("ArrowDown")
    expect(chosen.locator("td")).to_have_text(["", "Salary", "P5", "22000"])
    page.locator(".canvas .cell").nth(3).hover()
    expect(page.locator(".readout")).to_have_text("Cell: P5 × Salary: 22000")
    page.keyboard.press("Escape")
    expect(chosen).to_have_count(0)
    assert page.locator("#document img").count() == 1


def test_pages_are_turned_by_keys_buttons_and_choice(here: Here) -> None:
    """The address follows, an element that goes on is on both pages, and a doubtful page says why."""
    page = looked_into(here, f"#/documents/{DOCUMENT}/pages/2")
    expect(page.locator(".canvas .box")).to_have_count(1)
    expect(page.locator(".page-grade")).to_have_text("reads fairly read by OCR, confidence 0.81")
    expect(page.get_by_label("Next page")).to_be_disabled()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".canvas .number")).to_have_count(4)
    expect(page.locator(".page-grade")).to_be_empty()
    assert page.evaluate("location.hash") == f"#/documents/{DOCUMENT}/pages/1"
    page.get_by_label("Next page").click()
    expect(page.locator(".canvas .number")).to_have_count(1)
    page.get_by_label("Page", exact=True).select_option("1")
    expect(page.locator(".canvas .number")).to_have_count(4)


def test_a_document_without_pages_lists_its_elements(here: Here) -> None:
    """A part at a time, in reading order."""
    lines = [Element(f"e{n}", DOCUMENT, n, "text", "NarrativeText", f"line {n}") for n in range(230)]
    here.library.elements[:] = lines
    kept = dict(here.library.page_sizes)
    here.library.page_sizes.clear()
    page = here.show(record(name="notes.md", pages=0), address=f"#/documents/{DOCUMENT}")
    expect(page.locator(".element")).to_have_count(200)
    page.get_by_role("button", name="Show more").click()
    expect(page.locator(".element .short").last).to_have_text("line 229")
    expect(page.locator(".element")).to_have_count(230)
    here.library.page_sizes.update(kept)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_views_fit_a_narrow_screen_and_have_no_violation(here: Here, browser: Browser, scheme: Any) -> None:
    """At 360 pixels nothing is wider than the screen; axe-core finds nothing."""
    from axe_playwright_python.sync_playwright import Axe

    damaged = record(OTHER, "营业收入" * 40, state="quarantined", code="damaged_file", reason="broken", pages=0)
    looked_into(here)
    here.library.records.append(damaged)
    size: Any = {"width": 360, "height": 740}
    with opened(browser, here.opened.base, viewport=size, color_scheme=scheme, bypass_csp=True) as there:
        for address, ready in (("#/documents", "#documents .rejection"), (f"#/documents/{DOCUMENT}", ".canvas .cell")):
            there.go(address)
            expect(there.page.locator(ready).first).to_be_attached()
            assert there.page.evaluate("document.documentElement.scrollWidth") == 360
            found = Axe().run(
                there.page, context="#documents-view", options={"runOnly": ["wcag2a", "wcag2aa", "wcag21aa"]}
            )
            assert [
                (each["id"], [node["html"] for node in each["nodes"]]) for each in found.response["violations"]
            ] == []


@pytest.mark.slow
def test_from_a_dropped_file_to_what_was_read_of_it_and_away(browser: Browser, tmp_path: Path) -> None:
    """Over a real service: HTML named .pdf is refused, a PDF becomes ready, its words lie on its page, and it goes."""
    words = "The bonus is 4,812 dollars."
    write_pdf(tmp_path / "pay.pdf", lambda page: [page.insert_text((72, 200), words, fontsize=12)])
    with service(tmp_path / "kb") as (_, base), opened(browser, base) as there:
        page = there.page
        page.set_default_timeout(240_000)
        there.go("#/documents")
        expect(page.locator("#choose-files")).to_be_visible(timeout=240_000)
        drop(page, ("report.pdf", HTML), ("pay.pdf", (tmp_path / "pay.pdf").read_bytes()))
        expect(page.locator(".upload.refused .note")).to_contain_text("is named .pdf but holds HTML")
        expect(page.locator(".upload.ready .name")).to_have_text("pay.pdf", timeout=240_000)
        page.locator("#documents a.name").click()
        expect(page.locator(".element .short")).to_have_text(words)
        box = page.locator(".canvas .box").bounding_box()
        canvas = page.locator(".canvas").bounding_box()
        assert box is not None and canvas is not None
        assert (box["y"] - canvas["y"]) / canvas["height"] == pytest.approx(190 / 842, abs=0.02)
        assert page.locator(".canvas img").evaluate("image => image.decode().then(() => image.naturalWidth)") > 600
        there.go("#/documents")
        page.get_by_role("button", name="Delete: pay.pdf").click()
        page.locator("dialog").get_by_role("button", name="Delete: pay.pdf").click()
        expect(page.locator(".told")).to_have_text("pay.pdf was deleted.")
        expect(page.locator("#documents > li")).to_have_count(0)
        assert there.dialogs == []
