"""Pictures show exactly the asked-for area of the page as displayed, at a bounded cost."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pymupdf
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image

from kb_qa.errors import (
    DamagedFileError,
    EmptyFileError,
    InputError,
    InvalidRegionError,
    NotFoundError,
    PasswordRequiredError,
    UnsupportedFileError,
)
from kb_qa.geometry import BBox
from kb_qa.pages import MINIMUM_POINTS, TINT, Box, clip_region, picture_png, visible_box
from kb_qa.picture import DPI, Picture

PAGE = BBox(0, 0, 400, 600)


def region_png(path: Path, page: int, bbox: Box, *, dpi: float = DPI, margin: float = 0) -> bytes:
    box = bbox if isinstance(bbox, BBox) else BBox(*bbox)
    return picture_png(path, Picture(page, box, dpi, margin))


def page_png(path: Path, page: int, *, dpi: float = DPI, max_megapixels: float = 25) -> bytes:
    return picture_png(path, Picture(page, dpi=dpi), max_megapixels=max_megapixels)


def pixels(png: bytes) -> NDArray[np.uint8]:
    """Rows, columns, red-green-blue."""
    pixmap = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.Pixmap(png))
    return np.frombuffer(pixmap.samples, dtype=np.uint8).reshape(pixmap.height, pixmap.width, pixmap.n)


def ink(png: bytes) -> float:
    """The share of dark pixels."""
    return float((pixels(png).min(axis=2) < 128).mean())


def saved(document: pymupdf.Document, path: Path) -> Path:
    document.save(path)
    document.close()
    return path


def red_square(path: Path, *, rotation: int = 0, crop: bool = False) -> Path:
    """A page with `Net revenue 4,812` in black and a red square with the unrotated corners (100, 200, 150, 250)."""
    document = pymupdf.open()
    page = document.new_page(width=400, height=600)
    page.insert_text((60, 180), "Net revenue 4,812", fontsize=12)
    page.draw_rect(pymupdf.Rect(100, 200, 150, 250), color=(1, 0, 0), fill=(1, 0, 0), width=0)
    if crop:
        page.set_cropbox(pymupdf.Rect(40, 120, 360, 500))
    page.set_rotation(rotation)
    return saved(document, path)


def shown_word(path: Path, text: str) -> BBox:
    """The word's box in the page's displayed space."""
    with pymupdf.open(path) as document:
        page = document[0]
        words = [word for word in page.get_text("words") if word[4] == text]
        return BBox(*(pymupdf.Rect(words[0][:4]) * page.rotation_matrix))


@pytest.mark.parametrize("crop", [False, True], ids=["full", "cropped"])
@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_the_crop_shows_the_glyphs(tmp_path: Path, rotation: int, crop: bool) -> None:
    """A1 and A2: at every rotation and CropBox the box of `4,812` holds its ink, and the ring around it none."""
    path = red_square(tmp_path / "a.pdf", rotation=rotation, crop=crop)
    box = shown_word(path, "4,812")
    assert ink(region_png(path, 1, box)) > 0.05
    around = pixels(region_png(path, 1, box.expanded(2), dpi=144)).min(axis=2) < 128
    assert not around[:3].any()
    assert not around[-3:].any()
    assert 2 * around.any(axis=0 if rotation % 180 == 0 else 1).sum() > box.expanded(0).width


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_the_crop_is_exactly_the_area(tmp_path: Path, rotation: int) -> None:
    """S5.2: the square's box is all red, and a box twice its size is red in the middle quarter only."""
    path = red_square(tmp_path / "a.pdf", rotation=rotation)
    with pymupdf.open(path) as document:
        square = BBox(*(pymupdf.Rect(100, 200, 150, 250) * document[0].rotation_matrix))
    inside = pixels(region_png(path, 1, square, dpi=72))
    assert inside.shape == (50, 50, 3)
    assert (inside == (255, 0, 0)).all()
    outside = pixels(region_png(path, 1, square.expanded(25), dpi=72))
    red = (outside == (255, 0, 0)).all(axis=2)
    assert red[25:75, 25:75].all()
    assert red.sum() == 2500


def test_a_margin_widens_the_picture_within_the_page(tmp_path: Path) -> None:
    """The margin is cut at the page's edges."""
    path = red_square(tmp_path / "a.pdf")
    assert pixels(region_png(path, 1, BBox(100, 200, 150, 250), dpi=72, margin=10)).shape == (70, 70, 3)
    assert pixels(region_png(path, 1, BBox(0, 0, 50, 50), dpi=72, margin=10)).shape == (60, 60, 3)


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_marks_tint_the_very_words(tmp_path: Path, rotation: int) -> None:
    """The paper under the word turns yellow, its ink stays dark, and no other pixel changes."""
    path = red_square(tmp_path / "a.pdf", rotation=rotation, crop=True)
    box = shown_word(path, "4,812")
    area = box.expanded(20)
    bare = pixels(picture_png(path, Picture(1, area, 144)))
    marked = pixels(picture_png(path, Picture(1, area, 144, marks=(box,))))
    inside = np.zeros(bare.shape[:2], bool)
    inside[41:-41, 41:-41] = True  # two pixels a point; the border's own pixels are shared
    outside = np.ones(bare.shape[:2], bool)
    outside[39:-39, 39:-39] = False
    paper = (bare == 255).all(axis=2)
    assert (marked[inside & paper] == TINT).all()
    assert (marked[outside] == bare[outside]).all()
    ink = (bare.max(axis=2) < 60) & inside
    assert ink.sum() > 20
    assert marked[ink].max() < 60


def test_a_mark_on_dark_paper_is_lighter_than_it(tmp_path: Path) -> None:
    """White print on black keeps its contrast; the paper under the mark is no longer black."""
    document = pymupdf.open()
    page = document.new_page(width=200, height=100)
    page.draw_rect(page.rect, fill=(0, 0, 0))
    page.insert_text((40, 60), "4,812", fontsize=20, color=(1, 1, 1))
    path = saved(document, tmp_path / "dark.pdf")
    shown = pixels(picture_png(path, Picture(1, dpi=72, marks=(BBox(30, 30, 110, 80),))))
    assert shown[35, 35].min() > 20
    assert shown[40:65, 40:90].max() == 255
    assert shown[90, 150].max() == 0


def test_marks_off_the_picture_or_without_numbers_change_nothing(tmp_path: Path) -> None:
    """Only what lies in the picture is tinted."""
    path = red_square(tmp_path / "a.pdf")
    marks = (BBox(-50, -50, -10, -10), BBox(300, 500, 9000, 9000), BBox(math.nan, 0, 1, 1), BBox(90, 80, 10, 10))
    box = BBox(50, 160, 170, 190)
    assert picture_png(path, Picture(1, box, marks=marks)) == picture_png(path, Picture(1, box))


def test_a_page_is_drawn_as_displayed(tmp_path: Path) -> None:
    """A page turned by 90 degrees is wider than high."""
    path = red_square(tmp_path / "a.pdf", rotation=90, crop=True)
    assert pixels(page_png(path, 1, dpi=72)).shape == (320, 380, 3)


def test_clip_region_writes_one_file_for_one_area(tmp_path: Path) -> None:
    """S5.2: the name comes from content, page, bbox and dpi; nothing else is left in the folder."""
    path = red_square(tmp_path / "a.pdf")
    copy = tmp_path / "copy.pdf"
    copy.write_bytes(path.read_bytes())
    out = tmp_path / "out"
    first = clip_region(path, 1, (100, 200, 150, 250), out)
    assert first == clip_region(copy, 1, BBox(100, 200, 150, 250), out, dpi=150)
    assert pixels(first.read_bytes()).shape == (105, 105, 3)  # 50 points at 150 dpi, out to whole pixels
    others = {clip_region(path, 1, (100, 200, 150, 251), out), clip_region(path, 1, (100, 200, 150, 250), out, 72)}
    assert set(out.iterdir()) == {first, *others}
    assert len(others) == 2


@pytest.mark.parametrize(
    ("bbox", "named"),
    [
        ((math.nan, 0, 10, 10), "nan"),
        ((0, 0, math.inf, 10), "inf"),
        ((10, 10, 10, 20), "empty"),
        ((20, 10, 10, 20), "(20, 10, 10, 20)"),
        ((10, 20, 20, 10), "inverted"),
        ((400, 0, 500, 10), "400 × 600"),
        ((-50, -50, -1, -1), "-50"),
        ((0, 600, 10, 700), "700"),
    ],
)
def test_a_box_that_is_none_is_named(tmp_path: Path, bbox: tuple[float, ...], named: str) -> None:
    """Not finite, empty, inverted or off the page: the error says which; `clip_region` warns, and shows the page."""
    path = red_square(tmp_path / "a.pdf")
    with pytest.raises(InvalidRegionError) as caught:
        region_png(path, 1, bbox)
    assert named in str(caught.value)
    with pytest.warns(UserWarning, match="whole page") as warned:
        shown = clip_region(path, 1, bbox, tmp_path, dpi=72)
    assert named in str(warned[0].message)
    assert pixels(shown.read_bytes()).shape == (600, 400, 3)


def test_a_box_partly_off_the_page_is_cut(tmp_path: Path) -> None:
    """What lies on the page is shown."""
    path = red_square(tmp_path / "a.pdf")
    assert pixels(region_png(path, 1, (-100, -100, 50, 30), dpi=72)).shape == (30, 50, 3)


@given(
    x0=st.floats(-50, 450), y0=st.floats(-50, 650), width=st.floats(0.01, 500), height=st.floats(0.01, 700),
    margin=st.floats(0, 50),
)  # fmt: skip
def test_what_is_shown_is_on_the_page_and_never_a_hair(
    x0: float, y0: float, width: float, height: float, margin: float
) -> None:
    """Any box with a part on the page becomes one on the page, of a size to look at, that holds that part."""
    box = BBox(x0, y0, x0 + width, y0 + height)
    part = box.intersection(PAGE)
    if part is None:
        with pytest.raises(InvalidRegionError):
            visible_box(box, PAGE, margin=margin)
        return
    shown = visible_box(box, PAGE, margin=margin)
    assert min(shown.width, shown.height) >= MINIMUM_POINTS - 1e-6
    assert PAGE.expanded(1e-6).intersection(shown) == shown
    assert shown.expanded(1e-6).intersection(part) == part


@pytest.mark.parametrize("page", [0, -1, 2, 10**9])
def test_a_page_that_is_not_there(tmp_path: Path, page: int) -> None:
    """Pages count from 1; the error says how many there are."""
    with pytest.raises(NotFoundError, match=f"{page}.* has 1"):
        page_png(red_square(tmp_path / "a.pdf"), page)


@pytest.mark.parametrize("dpi", [0, -72])
def test_a_resolution_of_nothing_is_refused(tmp_path: Path, dpi: int) -> None:
    """A resolution is above 0."""
    with pytest.raises(InputError, match=str(dpi)):
        page_png(red_square(tmp_path / "a.pdf"), 1, dpi=dpi)


@pytest.mark.parametrize(("width", "height"), [(400, 600), (14400, 14400), (14400, 3)])
def test_the_scale_is_lowered_to_the_pixel_budget(tmp_path: Path, width: float, height: float) -> None:
    """G2: neither an absurd resolution nor an absurd page makes a picture above the budget, nor far below it."""
    document = pymupdf.open()
    document.new_page(width=width, height=height)
    path = saved(document, tmp_path / "a.pdf")
    shape = pixels(page_png(path, 1, dpi=100_000, max_megapixels=0.5)).shape
    assert 0.3e6 < shape[0] * shape[1] <= 0.5e6


def test_an_image_is_a_document_of_one_page(tmp_path: Path) -> None:
    """The page of an image is that of `pymupdf.open`: its size in points by its resolution."""
    pixmap = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 300, 600), False)
    pixmap.clear_with(255)
    pixmap.set_rect(pymupdf.IRect(150, 300, 300, 600), (255, 0, 0))
    pixmap.set_dpi(150, 150)
    path = tmp_path / "photo"
    path.write_bytes(pixmap.tobytes("png"))
    with pymupdf.open(path) as document:
        size = BBox(*document[0].rect)
    assert size == BBox(0, 0, 144, 288)
    quarter = pixels(region_png(path, 1, BBox(72, 144, 144, 288), dpi=150))
    assert quarter.shape == (300, 150, 3)
    assert (quarter[5:-5, 5:-5] == (255, 0, 0)).all()


def test_a_photo_is_turned_as_its_exif_says(tmp_path: Path) -> None:
    """A JPEG stored on its side is cropped as it is displayed."""
    picture = Image.new("RGB", (300, 200), "white")
    picture.paste((255, 0, 0), (0, 0, 60, 40))
    exif = Image.Exif()
    exif[274] = 6  # the stored top is the displayed right
    path = tmp_path / "photo.jpg"
    picture.save(path, exif=exif, dpi=(72, 72), quality=95)
    assert pixels(page_png(path, 1, dpi=72)).shape == (300, 200, 3)
    corner = pixels(region_png(path, 1, BBox(160, 0, 200, 60), dpi=72))[4:-4, 4:-4].astype(int)
    assert np.abs(corner - (255, 0, 0)).max() < 20


def test_every_page_of_a_tiff(tmp_path: Path) -> None:
    """A multi-page TIFF has pages like any document."""
    frames = [Image.new("RGB", (100, 50), colour) for colour in ("red", "blue")]
    path = tmp_path / "fax.tif"
    frames[0].save(path, save_all=True, append_images=frames[1:], dpi=(72, 72))
    assert (pixels(page_png(path, 1, dpi=72)) == (255, 0, 0)).all()
    assert (pixels(page_png(path, 2, dpi=72)) == (0, 0, 255)).all()
    with pytest.raises(NotFoundError):
        page_png(path, 3)


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (None, NotFoundError),
        (b"", EmptyFileError),
        (b"hello world", DamagedFileError),
        (b"<html><script>alert(1)</script>hi 42</html>", UnsupportedFileError),
    ],
    ids=["missing", "empty", "text", "html"],
)
def test_what_is_no_document_is_refused(tmp_path: Path, content: bytes | None, error: type[Exception]) -> None:
    """G8: a file is judged by its bytes; HTML under the name of a PDF is not drawn."""
    path = tmp_path / "report.pdf"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(error, match=r"report\.pdf"):
        page_png(path, 1)


def test_a_number_of_pages_that_cannot_be_is_damage(tmp_path: Path) -> None:
    """A file that claims more pages than there can be is told as damaged, not as a defect of ours."""
    path = red_square(tmp_path / "a.pdf")
    path.write_bytes(path.read_bytes().replace(b"/Count 1", b"/Count 99999999999"))
    with pytest.raises(DamagedFileError, match="damaged"):
        page_png(path, 1)


def test_an_encrypted_file_needs_its_password(tmp_path: Path) -> None:
    """B7: a file that only its password opens is refused; one with an owner's password alone is drawn."""
    for user, name in (("secret", "locked.pdf"), ("", "owned.pdf")):
        document = pymupdf.open()
        document.new_page()
        document.save(tmp_path / name, encryption=pymupdf.PDF_ENCRYPT_AES_256, owner_pw="owner", user_pw=user)
    with pytest.raises(PasswordRequiredError):
        page_png(tmp_path / "locked.pdf", 1)
    assert page_png(tmp_path / "owned.pdf", 1)
