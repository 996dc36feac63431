"""Write docs/answer.png: the page with an answer and the crop of its citation, over the samples.

Needs the samples ingested (`make run` does it), the development dependencies and the system's Chromium.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

import httpx
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent
CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
QUESTION = "P5 的基本工资是多少？"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kb", default="data/kb")
    parser.add_argument("--port", type=int, default=8765)
    parser.add_argument("--question", default=QUESTION)
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--height", type=int, default=640)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "answer.png")
    options = parser.parse_args()
    program = "from kb_qa.cli import main; main()"
    command = [sys.executable, "-c", program, "serve", "--kb", options.kb, "--port", str(options.port)]
    service = subprocess.Popen(command, cwd=ROOT)
    try:
        address = f"http://127.0.0.1:{options.port}"
        wait_for(address)
        take(address, options)
    finally:
        service.terminate()
        service.wait()
    print(f"wrote {options.out}")


def wait_for(address: str) -> None:
    for _ in range(300):
        try:
            httpx.get(f"{address}/readyz").raise_for_status()
            return
        except httpx.HTTPError:
            time.sleep(0.2)
    raise SystemExit("the service did not start")


def take(address: str, options: argparse.Namespace) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        page = browser.new_page(viewport={"width": options.width, "height": options.height}, device_scale_factor=2)
        page.goto(address)
        page.fill("#question", options.question)
        page.click("#ask")
        page.locator("#references li").first.wait_for()
        page.locator("#answer button", has_text="22000").or_(page.locator("#answer button").first).last.click()
        picture = page.locator("#evidence-pictures img").first
        picture.wait_for()
        page.wait_for_function("image => image.complete && image.naturalWidth > 0", arg=picture.element_handle())
        page.screenshot(path=options.out)
        browser.close()


if __name__ == "__main__":
    main()
