"""The views of the page over the samples, as pictures: for the golden files and for the README."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

import httpx
from PIL import Image
from playwright.sync_api import Browser, Page, expect

GOLDEN: Final = Path(__file__).resolve().parent / "golden" / "page"
HALF: Final = 2  # golden files are so many times smaller


@dataclass(frozen=True, slots=True)
class Variant:
    """A screen and its reader. The four below hold every pair of width, scheme and language but one of each."""

    width: int
    scheme: str
    locale: str

    @property
    def name(self) -> str:
        return f"{self.width}-{self.scheme}-{self.locale[:2]}"

    @property
    def question(self) -> str:
        return "P5 的基本工资是多少？" if self.locale == "zh-CN" else "What were net sales in 2024?"

    @property
    def figure(self) -> str:
        return "22000" if self.locale == "zh-CN" else "8,412"

    @property
    def refused(self) -> str:
        return "P9 的基本工资是多少？" if self.locale == "zh-CN" else "What were net sales in 2019?"


VARIANTS: Final = (
    Variant(1440, "light", "zh-CN"),
    Variant(1440, "dark", "en-US"),
    Variant(360, "light", "en-US"),
    Variant(360, "dark", "zh-CN"),
)


def start(page: Page, _: Variant) -> None:
    expect(page.locator("#examples-list button")).to_have_count(5)


def answer(page: Page, variant: Variant) -> None:
    """The answer with the page of its figure beside it."""
    ask(page, variant.question)
    page.locator("#answer .figure", has_text=variant.figure).click()
    expect(page.locator("#source .box.cell").first).to_be_visible()
    expect(page.locator("#source .column-header").first).to_be_visible()
    settled(page, "#source .page img")


def refusal(page: Page, variant: Variant) -> None:
    ask(page, variant.refused)
    settled(page, "#notices img")


def dispute(page: Page, variant: Variant) -> None:
    ask(page, variant.question)
    n = page.locator("#answer .figure").all_inner_texts().index(variant.figure) + 1
    page.goto(f"{page.url}/figures/{n}")
    settled(page, "#dispute img")


def documents(page: Page, _: Variant) -> None:
    page.locator("header nav a").nth(1).click()
    expect(page.locator("#documents-list li").first).to_be_visible()


def document(page: Page, _: Variant) -> None:
    """What the parser saw of the page with the table of pay."""
    base = page.url.split("#")[0]
    listed = httpx.get(f"{base}v1/documents").json()["documents"]
    briefing = next(each["document_id"] for each in listed if "briefing.pdf" in each["names"])
    page.goto(f"{base}#/documents/{briefing}/pages/4")
    settled(page, "#document img")


VIEWS: Final[Mapping[str, Callable[[Page, Variant], None]]] = MappingProxyType(
    {each.__name__: each for each in (start, answer, refusal, dispute, documents, document)}
)


def ask(page: Page, question: str) -> None:
    page.fill("#question", question)
    page.click("#ask")
    expect(page.locator("#result")).to_be_visible()
    expect(page.locator("#stop")).to_be_hidden()


def settled(page: Page, pictures: str) -> None:
    """All of these pictures are there in their last sharpness."""
    expect(page.locator(pictures).first).to_be_visible()
    page.wait_for_load_state("networkidle")
    loaded = "pictures => Promise.all(pictures.map((each) => each.loading === 'lazy' || each.decode().catch(() => 0)))"
    page.locator(pictures).evaluate_all(loaded)


def shown(browser: Browser, base: str, variant: Variant) -> Iterator[tuple[str, Page]]:
    """Name and page of each view, what was asked before left out: it depends on what ran before."""
    size = {"width": variant.width, "height": 900 if variant.width > 1000 else 740}
    with browser.new_context(
        viewport=size,  # type: ignore[arg-type]
        locale=variant.locale,
        timezone_id="UTC",
        color_scheme=variant.scheme,  # type: ignore[arg-type]
        reduced_motion="reduce",
    ) as context:
        for name, bring_up in VIEWS.items():
            page = context.new_page()
            page.goto(base)
            bring_up(page, variant)
            page.locator("#history, #thread").evaluate_all("parts => { for (const part of parts) part.hidden = true; }")
            page.mouse.move(0, 0)
            yield name, page
            page.close()


def taken(browser: Browser, base: str, variant: Variant) -> Iterator[tuple[str, Image.Image]]:
    """Name and picture of each view."""
    for name, page in shown(browser, base, variant):
        yield f"{name}-{variant.name}", Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def smaller(picture: Image.Image) -> Image.Image:
    return picture.resize((picture.width // HALF, picture.height // HALF), Image.Resampling.BOX)


def write_golden(browser: Browser, base: str) -> None:
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for variant in VARIANTS:
        for name, picture in taken(browser, base, variant):
            smaller(picture).quantize(64, dither=Image.Dither.NONE).save(GOLDEN / f"{name}.png", optimize=True)
