"""Pictures of pages and of regions on them. Opens files with PyMuPDF: call it in a child process (`renderer`)."""

from __future__ import annotations

import hashlib
import io
import math
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pymupdf
from PIL import Image, ImageOps

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
    UnsupportedFileError,
)
from kb_qa.geometry import BBox

DPI = 150
IMAGE_DPI = 96.0  # of a picture file that states none, as in PyMuPDF
MAX_MEGAPIXELS = 25

# A region thinner than this is grown about its middle: a rule or a lone dot would be a picture of nothing.
MINIMUM_POINTS = 8.0

_POINTS_PER_INCH = 72
_ORIENTATION = 0x0112  # the EXIF tag
_TURNED = range(2, 9)

_IMAGE_FORMATS = frozenset({"Image", "TIFF", "BMP", "PNM"})  # in PyMuPDF's words

Box = BBox | Sequence[float]
Draw = Callable[[], bytes]


def clip_region(pdf_path: Path | str, page: int, bbox: Box, out_dir: Path | str, dpi: int = DPI) -> Path:
    """Writes the PNG of exactly that area; returns its path.

    `page` counts from 1; `bbox` is `(x0, y0, x1, y1)` in points from the top-left of the page as displayed. The name
    comes from the file's content, page, bbox and dpi: the same area is the same file. Raises what `region_png` does.
    """
    path, folder = Path(pdf_path), Path(out_dir)
    png = region_png(path, page, bbox, dpi=dpi)
    name = content_id(_digest(path), page, _box(bbox).rounded().as_tuple(), dpi)
    target = folder / f"p{page}-{name}.png"
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(target, png)
    return target


def region_png(
    path: Path, page: int, bbox: Box, *, dpi: int = DPI, margin: float = 0, max_megapixels: float = MAX_MEGAPIXELS
) -> bytes:
    """The PNG of the region, `margin` points wider on each side; the scale is lowered to fit `max_megapixels`.

    What lies off the page is cut away. Raises InvalidRegionError for a bbox that is not finite, empty, inverted or
    wholly off the page, NotFoundError for a page or file that is not there, and RejectedFileError for a file that
    does not open.
    """
    with _page(path, page) as shown:
        clip = visible_box(_box(bbox), BBox(*shown.rect), margin=margin)
        return _png(shown, clip, dpi=dpi, max_megapixels=max_megapixels)


def page_png(path: Path, page: int, *, dpi: int = DPI, max_megapixels: float = MAX_MEGAPIXELS) -> bytes:
    """The PNG of the page as displayed; the scale is lowered to fit `max_megapixels`. Raises what `region_png` does."""
    with _page(path, page) as shown:
        return _png(shown, BBox(*shown.rect), dpi=dpi, max_megapixels=max_megapixels)


def visible_box(bbox: BBox, page: BBox, *, margin: float = 0) -> BBox:
    """The part of the page that a picture of `bbox` shows. Raises InvalidRegionError where there is none."""
    if not bbox.is_finite:
        raise InvalidRegionError(f"the bbox {bbox.as_tuple()!r} is not finite; give four numbers in points")
    if not (math.isfinite(margin) and margin >= 0):
        raise InvalidRegionError(f"the margin {margin!r} is not a number of points from 0 up")
    if bbox.x1 <= bbox.x0 or bbox.y1 <= bbox.y0:
        raise InvalidRegionError(f"the bbox {bbox.as_tuple()!r} is empty or inverted; it must have x0 < x1 and y0 < y1")
    inside = bbox.intersection(page)
    if inside is None:
        size = f"{page.width:g} x {page.height:g}"
        raise InvalidRegionError(f"the bbox {bbox.as_tuple()!r} lies off the page, which is {size} points")
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
def _page(path: Path, number: int) -> Iterator[pymupdf.Page]:
    """The page numbered from 1, its document open meanwhile."""
    with _opened(path) as document:
        if not 1 <= number <= document.page_count:
            raise NotFoundError(f"there is no page {number!r}: the document has {document.page_count}")
        try:
            yield document[number - 1]
        except (RuntimeError, ValueError, MemoryError) as error:
            if "malloc" in str(error) or isinstance(error, MemoryError):
                raise LimitExceededError(f"page {number} takes too much memory to draw") from error
            raise DamagedFileError(f"page {number} cannot be drawn: {error}") from error


def open_document(path: Path) -> pymupdf.Document:
    """As `pymupdf.open`, and turned as EXIF says, as MuPDF does for JPEG alone.

    WebP, which MuPDF cannot open, and a PNG or a TIFF of one page that is to be turned become a PNG in memory.
    """
    with path.open("rb") as file:
        head = file.read(12)
    is_webp = head[:4] == b"RIFF" and head[8:] == b"WEBP"
    if not is_webp and not (head.startswith((b"\x89PNG", b"II*\x00", b"MM\x00*")) and _is_turned(path)):
        return pymupdf.open(path)
    with Image.open(path) as picture:
        dpi = picture.info.get("dpi", (IMAGE_DPI, IMAGE_DPI))
        stream = io.BytesIO()
        turned = ImageOps.exif_transpose(picture).convert("RGBA")
        paper = Image.new("RGBA", turned.size, "white")  # what is transparent has colours of its own, which nobody sees
        Image.alpha_composite(paper, turned).convert("RGB").save(stream, "PNG", dpi=dpi, compress_level=1)
    return pymupdf.open(stream=stream.getvalue(), filetype="png")


def _is_turned(path: Path) -> bool:
    try:
        with Image.open(path) as picture:
            return picture.getexif().get(_ORIENTATION, 1) in _TURNED and getattr(picture, "n_frames", 1) == 1
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):  # MuPDF says what is wrong with it
        return False


@contextmanager
def _opened(path: Path) -> Iterator[pymupdf.Document]:
    """A PDF or an image, by its bytes and not its name: an HTML file under a PDF's name stays closed.

    Of a document without pages of its own, the pages that were printed of it.
    """
    if not path.is_file():
        raise NotFoundError(f"there is no file {path.name!r}")
    printed = rendering_place(path)
    try:
        document = open_document(printed if printed.is_file() else path)
    except pymupdf.EmptyFileError as error:
        raise EmptyFileError(f"the file {path.name!r} is empty") from error
    except (pymupdf.FileDataError, RuntimeError, ValueError) as error:
        raise DamagedFileError(f"the file {path.name!r} cannot be opened as a PDF or an image") from error
    with document:
        if document.needs_pass:
            raise PasswordRequiredError(f"the file {path.name!r} is encrypted; it needs a password")
        kind = (document.metadata or {}).get("format") or ""
        if not document.is_pdf and kind not in _IMAGE_FORMATS:
            raise UnsupportedFileError(f"the file {path.name!r} is neither a PDF nor an image, but {kind!r}")
        yield document


def _png(page: pymupdf.Page, clip: BBox, *, dpi: int, max_megapixels: float) -> bytes:
    if not (math.isfinite(dpi) and dpi > 0):
        raise InputError(f"dpi must be a number above 0, not {dpi!r}")
    # The budget counts the pixels that the clip touches: one more a side than its size.
    scale = min(dpi / _POINTS_PER_INCH, _largest_scale(clip, max_megapixels * 1e6))
    pixmap = page.get_pixmap(matrix=pymupdf.Matrix(scale, scale), clip=pymupdf.Rect(*clip.as_tuple()), alpha=False)
    png: bytes = pixmap.tobytes("png")
    return png


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
