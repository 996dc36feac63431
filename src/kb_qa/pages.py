"""Pictures of pages and of regions on them. Opens files with PyMuPDF: call it in a child process (`renderer`)."""

from __future__ import annotations

import hashlib
import io
import math
import os
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps, ImageSequence

from kb_qa.blobs import rendering_place
from kb_qa.elements import content_id
from kb_qa.errors import (
    DamagedFileError,
    EmptyFileError,
    InputError,
    InvalidRegionError,
    LimitExceededError,
    NotFoundError,
    PasswordRequiredError,
    RejectedFileError,
    UnsupportedFileError,
)
from kb_qa.geometry import BBox
from kb_qa.mupdf import pymupdf
from kb_qa.picture import DPI, MAX_DPI, Picture, box_problem, instead_text, problem_text
from kb_qa.png import Pixels, png_of

IMAGE_DPI = 96.0  # of a picture file that states none, as in PyMuPDF
MAX_MEGAPIXELS = 25

# A region thinner than this is grown about its middle: a rule or a lone dot would be a picture of nothing.
MINIMUM_POINTS = 8.0

TINT = np.array((255, 224, 77), np.uint16)  # red, green, blue of a highlighter on white paper
_DARK = 110  # the median of what is under a mark on dark paper is below this

_POINTS_PER_INCH = 72
_ORIENTATION = 0x0112  # the EXIF tag
_TURNED = range(2, 9)

_IMAGE_FORMATS = frozenset({"Image", "TIFF", "BMP", "PNM"})  # in PyMuPDF's words

Box = BBox | Sequence[float]


def clip_region(pdf_path: Path | str, page: int, bbox: Box, out_dir: Path | str, dpi: int = DPI) -> Path:
    """Writes the PNG of exactly that area; returns its path.

    `page` counts from 1; `bbox` is `(x0, y0, x1, y1)` in points from the top-left of the page as displayed. The name
    comes from the file's content, page, bbox and dpi: the same area is the same file. Where there is no such area on
    the page (not finite, empty, inverted, off the page) the picture is of the page, and a UserWarning says why.
    Raises what `picture_png` does for page and file.
    """
    path, folder = Path(pdf_path), Path(out_dir)
    picture = Picture(page, _box(bbox), dpi=dpi)
    with page_of(path, page) as shown:
        problem = box_problem(_box(bbox), BBox(*shown.rect))
        if problem is not None:
            warnings.warn(instead_text(problem, _box(bbox), BBox(*shown.rect), "en"), stacklevel=2)
            picture = replace(picture, bbox=None)
        png = drawn(shown, picture)
    target = folder / f"p{page}-{content_id(_digest(path), *_key(picture))}.png"
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(target, png)
    return target


def _key(picture: Picture) -> tuple[object, ...]:
    return picture.page, None if picture.bbox is None else picture.bbox.rounded().as_tuple(), picture.dpi


def picture_png(path: Path, picture: Picture, *, max_megapixels: float = MAX_MEGAPIXELS) -> bytes:
    """The PNG of `picture`; the scale is lowered to MAX_DPI, and until it fits `max_megapixels`.

    What lies off the page is cut away. Raises InvalidRegionError for a bbox that `box_problem` names, NotFoundError
    for a page or file that is not there, and RejectedFileError for a file that does not open.
    """
    with page_of(path, picture.page) as shown:
        return drawn(shown, picture, max_megapixels=max_megapixels)


def drawn(shown: pymupdf.Page, picture: Picture, *, max_megapixels: float = MAX_MEGAPIXELS) -> bytes:
    """The PNG of `picture` on a page that is open."""
    whole = BBox(*shown.rect)
    clip = whole if picture.bbox is None else visible_box(picture.bbox, whole, margin=picture.margin)
    if not (math.isfinite(picture.dpi) and picture.dpi > 0):
        raise InputError(f"dpi must be a number above 0, not {picture.dpi!r}")
    # The budget counts the pixels that the clip touches: one more a side than its size.
    most = _largest_scale(clip, max_megapixels * 1e6)
    scale = min(picture.dpi / _POINTS_PER_INCH, MAX_DPI / _POINTS_PER_INCH, most)
    pixmap = shown.get_pixmap(
        matrix=pymupdf.Matrix(scale, scale), clip=pymupdf.Rect(*clip.as_tuple()), colorspace=pymupdf.csRGB, alpha=False
    )
    pixels: Pixels = np.frombuffer(pixmap.samples_mv, np.uint8).reshape(pixmap.height, pixmap.width, 3)
    for mark in picture.marks:
        _tint(pixels, mark, scale, (pixmap.x, pixmap.y))
    return png_of(pixels, scale * _POINTS_PER_INCH)


def _tint(pixels: Pixels, mark: BBox, scale: float, origin: tuple[int, int]) -> None:
    """Lays the colour of a highlighter over the mark, in place; on dark paper light is added, not taken away."""
    if not mark.is_finite:
        return
    x, y = origin
    left, top = max(math.floor(mark.x0 * scale) - x, 0), max(math.floor(mark.y0 * scale) - y, 0)
    right, bottom = max(math.ceil(mark.x1 * scale) - x, 0), max(math.ceil(mark.y1 * scale) - y, 0)
    under = pixels[top:bottom, left:right]
    if not under.size:
        return
    values = under.astype(np.uint16)
    if np.median(values) >= _DARK:
        under[:] = values * TINT // 255
    else:
        under[:] = 255 - (255 - values) * (255 - TINT // 3) // 255


def visible_box(bbox: BBox, page: BBox, *, margin: float = 0) -> BBox:
    """The part of the page that a picture of `bbox` shows. Raises InvalidRegionError where there is none."""
    problem = box_problem(bbox, page)
    if problem is not None:
        raise InvalidRegionError(problem_text(problem, bbox, page, "en"))
    if not (math.isfinite(margin) and margin >= 0):
        raise InvalidRegionError(f"the margin {margin!r} is not a number of points from 0 up")
    inside = bbox.intersection(page)
    assert inside is not None  # or it were off the page
    x0, x1 = _at_least(inside.x0 - margin, inside.x1 + margin, page.x0, page.x1)
    y0, y1 = _at_least(inside.y0 - margin, inside.y1 + margin, page.y0, page.y1)
    return BBox(x0, y0, x1, y1)


def _at_least(start: float, end: float, low: float, high: float) -> tuple[float, float]:
    """The interval cut to `low..high`, and grown about its middle, or from the edge, where it is too thin."""
    start, end = max(start, low), min(end, high)
    missing = min(MINIMUM_POINTS, high - low) - (end - start)
    if missing <= 0:
        return start, end
    start, end = start - missing / 2, end + missing / 2
    shift = max(low - start, 0.0) - max(end - high, 0.0)
    return start + shift, end + shift


def _box(bbox: Box) -> BBox:
    values = bbox.as_tuple() if isinstance(bbox, BBox) else tuple(bbox)
    if len(values) != 4:
        raise InvalidRegionError(f"the bbox {values!r} must be four numbers: x0, y0, x1, y1")
    return BBox(*map(float, values))


@contextmanager
def page_of(path: Path, number: int) -> Iterator[pymupdf.Page]:
    """The page numbered from 1, its document open meanwhile."""
    with opened(path) as document, shown_page(document, number) as page:
        yield page


@contextmanager
def shown_page(document: pymupdf.Document, number: int) -> Iterator[pymupdf.Page]:
    """The page numbered from 1, with what fails while it is drawn told as what it means."""
    try:
        if not 1 <= number <= document.page_count:
            raise NotFoundError(f"there is no page {number!r}: the document has {document.page_count}")
        yield document[number - 1]
    except (RuntimeError, ValueError, MemoryError) as error:
        if "malloc" in str(error) or isinstance(error, MemoryError):
            raise LimitExceededError(f"page {number} takes too much memory to draw") from error
        raise DamagedFileError(f"page {number} cannot be drawn: it is damaged") from error


def open_document(path: Path) -> pymupdf.Document:
    """As `pymupdf.open`, and turned as EXIF says, as MuPDF does for JPEG alone.

    WebP, which MuPDF cannot open, and a PNG or a TIFF of one page that is to be turned become a PNG in memory; a WebP
    of several frames a TIFF, which has a page for each.
    """
    with path.open("rb") as file:
        head = file.read(12)
    is_webp = head[:4] == b"RIFF" and head[8:] == b"WEBP"
    if not is_webp and not (head.startswith((b"\x89PNG", b"II*\x00", b"MM\x00*")) and _is_turned(path)):
        return pymupdf.open(path)
    with Image.open(path) as picture:
        dpi = picture.info.get("dpi", (IMAGE_DPI, IMAGE_DPI))
        frames = [_on_paper(frame) for frame in ImageSequence.Iterator(picture)]
    stream = io.BytesIO()
    if len(frames) > 1:
        frames[0].save(stream, "TIFF", dpi=dpi, compression="tiff_deflate", save_all=True, append_images=frames[1:])
        return pymupdf.open(stream=stream.getvalue(), filetype="tiff")
    frames[0].save(stream, "PNG", dpi=dpi, compress_level=1)
    return pymupdf.open(stream=stream.getvalue(), filetype="png")


def _on_paper(frame: Image.Image) -> Image.Image:
    """Turned as EXIF says; what is transparent has colours of its own, which nobody sees."""
    turned = ImageOps.exif_transpose(frame).convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", turned.size, "white"), turned).convert("RGB")


def _is_turned(path: Path) -> bool:
    try:
        with Image.open(path) as picture:
            return picture.getexif().get(_ORIENTATION, 1) in _TURNED and getattr(picture, "n_frames", 1) == 1
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):  # MuPDF says what is wrong with it
        return False


@contextmanager
def opened(path: Path, subject: str = "") -> Iterator[pymupdf.Document]:
    with open_checked(path, subject) as document:
        yield document


def open_checked(path: Path, subject: str = "") -> pymupdf.Document:
    """A PDF or an image, by its bytes and not its name: an HTML file under a PDF's name stays closed.

    Of a document without pages of its own, the pages that were printed of it. `subject` is what messages call it; the
    file's name where it is empty. Raises NotFoundError or RejectedFileError.
    """
    subject = subject or f"the file {path.name!r}"
    if not path.is_file():
        raise NotFoundError(f"{subject} is not there")
    printed = rendering_place(path)
    try:
        document = open_document(printed if printed.is_file() else path)
    except pymupdf.EmptyFileError as error:
        raise EmptyFileError(f"{subject} is empty") from error
    except (pymupdf.FileDataError, RuntimeError, ValueError, OSError) as error:
        raise DamagedFileError(f"{subject} cannot be opened as a PDF or an image") from error
    problem: RejectedFileError | None = None
    kind = (document.metadata or {}).get("format") or ""
    if document.needs_pass:
        problem = PasswordRequiredError(f"{subject} is encrypted; it needs a password")
    elif not document.is_pdf and kind not in _IMAGE_FORMATS:
        problem = UnsupportedFileError(f"{subject} is neither a PDF nor an image: it has no pages to show")
    if problem is not None:
        document.close()
        raise problem
    return document


def _largest_scale(clip: BBox, pixels: float) -> float:
    """The scale s with (s·width + 2)(s·height + 2) = pixels."""
    linear = 2 * (clip.width + clip.height)
    root = math.sqrt(linear * linear + 4 * clip.area * max(pixels - 4, 1.0))
    return (root - linear) / (2 * clip.area)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_atomically(path: Path, data: bytes) -> None:
    """Readers see the whole file or none."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
