"""Pictures of what the parser saw: `elements FILE --draw OUT/`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pymupdf
import pytest
from click.testing import CliRunner

from ingest.__main__ import main
from ingest.draw import COLOURS, draw_elements
from kb_qa.elements import Element, ParsedDocument
from kb_qa.errors import InputError
from kb_qa.geometry import BBox, Page, Region
from tests.pdf_pages import write_pdf


def sideways(page: pymupdf.Page) -> None:
    page.insert_text((72, 100), "Net sales rose to 8,412.", fontsize=12)
    page.set_rotation(90)
    page.set_cropbox((20, 30, 500, 800))


def element(order: int, category: str, box: BBox) -> Element:
    return Element(
        id=f"e{order}",
        document_id="d",
        order=order,
        element_type="text",
        category=category,
        text="Net sales",
        regions=(Region(1, box),),
        section=(),
        origin="text-layer",
    )


def colours_near(png: Path, box: BBox, page_width: float) -> np.ndarray:
    """The pixels of a strip along the box's right edge, as rows of red, green, blue."""
    pixmap = pymupdf.Pixmap(png)
    pixels = np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.width, pixmap.n)
    scale = pixmap.width / page_width
    column, top, bottom = (round(value * scale) for value in (box.x1, box.y0, box.y1))
    return pixels[top + 4 : bottom - 4, column - 2 : column + 3, :3].reshape(-1, 3)


def test_a_box_is_drawn_in_the_colour_of_its_category_where_it_stands(tmp_path: Path) -> None:
    """On a rotated and cropped page, too, the edge of the box has its colour, and the file is named for the page."""
    path = write_pdf(tmp_path / "sideways.pdf", sideways)
    box = BBox(300, 200, 420, 260)
    parsed = ParsedDocument(pages=(Page(1, 770, 480),), elements=(element(0, "Title", box),), parser="p")
    paths = draw_elements(path, parsed, tmp_path / "out")
    assert [path.name for path in paths] == ["P001.png"]
    with pymupdf.open(path) as document:
        width = document[0].rect.width
    wanted = np.array([round(255 * part) for part in COLOURS["Title"]])
    distances = np.abs(colours_near(paths[0], box, width).astype(int) - wanted).sum(axis=1)
    assert (distances < 40).mean() > 0.15


def test_a_legend_below_the_page_names_the_colours_of_what_is_on_it(tmp_path: Path) -> None:
    """The picture is higher than the page, and the colour of its one category is in the strip, no other's."""
    path = write_pdf(tmp_path / "sideways.pdf", sideways)
    shown = element(0, "Footnote", BBox(300, 200, 420, 260))
    (png,) = draw_elements(path, ParsedDocument((Page(1, 770, 480),), (shown,), "p"), tmp_path / "out")
    pixmap = pymupdf.Pixmap(png)
    pixels = np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.width, pixmap.n)
    with pymupdf.open(path) as document:
        top = round(pixmap.width * document[0].rect.height / document[0].rect.width)
    strip = pixels[top:, :, :3].reshape(-1, 3).astype(int)
    seen = {
        name: bool((np.abs(strip - np.array([round(255 * part) for part in colour])).sum(axis=1) < 12).any())
        for name, colour in COLOURS.items()
    }
    assert pixmap.height > top + 30
    assert seen["Footnote"] and not seen["Image"] and not seen["Title"]


def test_elements_without_places_cannot_be_drawn(tmp_path: Path) -> None:
    """A message says so, and no folder is made."""
    parsed = ParsedDocument(pages=(), elements=(), parser="p")
    with pytest.raises(InputError, match="no places on pages"):
        draw_elements(tmp_path / "notes.txt", parsed, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_command_writes_a_picture_of_each_page(tmp_path: Path) -> None:
    """Two pages, two pictures, beside the usual list of elements."""
    path = write_pdf(tmp_path / "two.pdf", *[lambda page: page.insert_text((72, 100), "Net sales rose.")] * 2)
    done = CliRunner().invoke(
        main, ["elements", str(path), "--draw", str(tmp_path / "out"), "--kb", str(tmp_path / "kb")]
    )
    assert done.exit_code == 0, done.output
    assert "Net sales rose." in done.output
    assert sorted(picture.name for picture in (tmp_path / "out").iterdir()) == ["P001.png", "P002.png"]
