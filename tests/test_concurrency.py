"""B17 and B18: what runs at once gives what runs alone, and needs nothing from a network."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pymupdf
import pytest

from ingest.children import ParserPool
from ingest.limits import Limits
from ingest.parse import parse_document
from kb_qa.pages import picture_png
from kb_qa.picture import Picture
from kb_qa.renderer import Renderer
from tests.documents import texts

PAGES = 5
SIZES = (40, 50, 60, 70)


def document_of(path: Path) -> Path:
    document = pymupdf.open()
    for number in range(1, PAGES + 1):
        document.new_page(width=300, height=200).insert_text((20, 100), f"Page {number} says {number}00,5 of them.")
    document.save(path)
    return path


@pytest.mark.slow
@pytest.mark.anyio
async def test_b17_pictures_drawn_at_once_are_those_drawn_alone(tmp_path: Path) -> None:
    """Twenty pictures and a parse at once, each byte for byte as by itself; the event loop goes on meanwhile (B17)."""
    path = document_of(tmp_path / "a.pdf")
    requests = [(number, dpi) for number in range(1, PAGES + 1) for dpi in SIZES]
    longest = 0.0

    async def watch() -> None:
        nonlocal longest
        while True:
            began = time.monotonic()
            await asyncio.sleep(0.01)
            longest = max(longest, time.monotonic() - began)

    with Renderer(tmp_path / "cache", workers=2) as renderer, ParserPool(limits=Limits(), workers=1) as pool:
        watching = asyncio.create_task(watch())
        parsing = asyncio.wrap_future(pool.submit(path, "d", "pdf"))
        pictures = (renderer.picture(path, "d", Picture(number, dpi=dpi)) for number, dpi in requests)
        drawn = await asyncio.gather(*pictures)
        parsed = await parsing
        watching.cancel()
    assert drawn == [picture_png(path, Picture(number, dpi=dpi)) for number, dpi in requests]
    assert parsed == parse_document(path, "d", "pdf", limits=Limits())
    assert longest < 1.0


@pytest.mark.slow
def test_b18_documents_read_at_once_on_a_cold_start_are_all_read(tmp_path: Path) -> None:
    """Four children that load the language model at the same time, without a network: none is left empty (B18)."""
    sentence = "Net revenue was 4,812 million in 2024 according to the audited statement."
    paths = [tmp_path / f"{number}.html" for number in range(4)]
    for path in paths:
        path.write_text(f"<h1>Report</h1><p>{sentence}</p>", encoding="utf-8")
    with ParserPool(limits=Limits(seconds=120), workers=4) as pool:
        read = [future.result() for future in [pool.submit(path, "d", "html") for path in paths]]
    assert [texts(parsed) for parsed in read] == [["Report", sentence]] * 4
