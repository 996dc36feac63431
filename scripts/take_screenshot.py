"""Write the pictures of the README, docs/answer.png and docs/answer.zh.png, or the golden files of the page's views.

Needs the development dependencies, the system's Chromium, and a font with Chinese characters. The samples are ingested
into a knowledge base of their own.
"""

import argparse
import tempfile
from pathlib import Path

from playwright.sync_api import Browser

from tests.browser import chromium
from tests.page_views import Variant, answer, write_golden
from tests.sample_kb import SAMPLES, run
from tests.test_upload_end_to_end import service

ROOT = Path(__file__).resolve().parent.parent
EDITIONS = {"answer.png": Variant(1280, "light", "en-US"), "answer.zh.png": Variant(1280, "light", "zh-CN")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--golden", action="store_true", help="write tests/golden/page instead")
    parser.add_argument("--kb", type=Path, help="a knowledge base of the samples that is there already")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        kb = options.kb or Path(folder) / "kb"
        if options.kb is None:
            run("ingest", SAMPLES, "--kb", kb)
        with service(kb) as (_, base), chromium() as browser:
            if options.golden:
                write_golden(browser, base)
            else:
                write_pictures(browser, base)


def write_pictures(browser: Browser, base: str) -> None:
    for name, variant in EDITIONS.items():
        with browser.new_context(
            viewport={"width": variant.width, "height": 720},
            locale=variant.locale,
            device_scale_factor=1.5,
            reduced_motion="reduce",
        ) as context:
            page = context.new_page()
            page.goto(base)
            answer(page, variant)
            page.mouse.move(0, 0)
            page.locator("#history").evaluate("part => { part.hidden = true; }")
            page.screenshot(path=ROOT / "docs" / name)
        print(f"wrote docs/{name}")


if __name__ == "__main__":
    main()
