"""The page in a real browser, over a scripted service or over the samples: what the tests of the page share."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from kb_qa.answers import AnswerEvent
from tests.scripted_service import (
    ANSWER,
    DOCUMENT,
    CountingRenderer,
    ScriptedKnowledgeBase,
    Step,
    citation,
    events,
    served,
)

# The shell is Chromium without what surrounds a page, and takes a third of the time; the pictures are the same.
CHROMIUM = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium"))), "")
ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
MILLISECONDS = 30_000  # what a test waits for at most: long, since the machine may be busy

expect.set_options(timeout=MILLISECONDS)

# The emoji is one character to the service and two to JavaScript; the spans below count as the service does.
TEXT = "🙂 Revenue was 4,812 million. 净利润为 41 万元。"


@contextmanager
def chromium() -> Iterator[Browser]:
    if not CHROMIUM:
        where = "CI installs it" if os.environ.get("CI") == "true" else "install chromium-headless-shell, or chromium"
        pytest.fail(f"the tests of the page need the system's Chromium; {where}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


class Opened:
    """The page over one service, with what the browser reported meanwhile."""

    def __init__(self, page: Page, base: str) -> None:
        self.page = page
        self.base = base
        self.dialogs: list[str] = []
        self.problems: list[str] = []
        self.requested: list[str] = []
        page.on("dialog", lambda dialog: (self.dialogs.append(dialog.message), dialog.dismiss()))
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("console", lambda message: self.problems.append(message.text) if message.type == "error" else None)
        page.on("request", lambda request: self.requested.append(request.url))
        page.goto(base)
        page.set_default_timeout(MILLISECONDS)

    def ask(self, question: str = "What was revenue?") -> None:
        self.page.fill("#question", question)
        self.page.click("#ask")

    def go(self, address: str) -> None:
        """To a hash address of the page, `#/documents`, without loading it anew."""
        self.page.evaluate("address => { location.hash = address; }", address)


@contextmanager
def opened(browser: Browser, base: str, **context: object) -> Iterator[Opened]:
    """The page of the service at `base` in a context of its own; English where nothing else is said."""
    page = browser.new_page(**{"locale": "en-US"} | context)  # type: ignore[arg-type]
    try:
        yield Opened(page, base)
    finally:
        page.close()


@contextmanager
def opened_over(browser: Browser, script: list[Step], original: Path, **context: object) -> Iterator[Opened]:
    """The page over a service of its own that answers every question with `script`."""
    with (
        served(ScriptedKnowledgeBase(script, originals={DOCUMENT: original}), CountingRenderer()) as base,
        opened(browser, base, **context) as page,
    ):
        yield page


@dataclass
class Running:
    """One page for many tests: a question asked anew starts from nothing, which is itself part of what is tested."""

    opened: Opened
    knowledge_base: ScriptedKnowledgeBase

    def ask(self, script: list[Step]) -> Page:
        self.knowledge_base.script = script
        self.opened.ask()
        return self.opened.page


def figure(raw: str, **changed: object) -> tuple[str, dict[str, object]]:
    """A `figure` event about the figure `raw` of TEXT, printed on page 2."""
    start = TEXT.index(raw)
    support = {"element_id": "e", "document_id": DOCUMENT, "page": 2, "bbox": [100, 90, 130, 100], "printed": raw}
    data = {"n": 1, "start": start, "end": start + len(raw), "raw": raw, "status": "exact", "support": [support]}
    return "figure", data | changed


def cited_answer() -> list[AnswerEvent]:
    """TEXT with three citations and one figure."""
    middle = TEXT.index("净")
    return events(
        ("start", {"answer_id": ANSWER, "question": "What was revenue?"}),
        ("sources", {"sources": [{"n": 1, "label": "report.pdf · P2·table", "text": "t", "regions": []}]}),
        ("delta", {"seq": 1, "text": TEXT[:10]}),
        ("delta", {"seq": 2, "text": f"{TEXT[10:]} [2][3]"}),
        citation(1, start=0, end=middle - 1),
        figure("4,812"),
        citation(2, start=middle, end=len(TEXT), cited_text="净利润 41 万元", label="第二份.pdf · P1·文本"),
        citation(3, start=middle, end=len(TEXT), cited_text="third"),
        ("something-new", {"text": "an event of a later version"}),
        ("end", {"complete": True}),
    )
