"""What stands inside the pictures of Office files, which have no page to be read on: OCR of the picture itself."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np
from PIL import Image, ImageOps

from ingest.limits import Limits
from ingest.passages import Passage
from ingest.picture_text import CONTRAST, DOCUMENT_MEGAPIXELS, DPI, PAGE_MEGAPIXELS, SURE, on_canvas, read_canvas

FORMATS = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP")  # drawings (EMF, WMF, SVG) are not read
LEAST_WIDTH, LEAST_HEIGHT = 80, 32  # pixels: less is an icon, a bullet, a rule
STORED_PER_READ = 8  # a picture may hold so many times the pixels of a render before it is left unread


@dataclass(slots=True)
class EmbeddedPictures:
    """Reads the pictures of one document, within its budget. `unread` counts those that may hold text nobody read."""

    limits: Limits
    left: float = DOCUMENT_MEGAPIXELS
    unread: int = 0
    known: dict[bytes, Passage | None] = field(default_factory=dict)

    def passages(self, data: bytes, *, page: int | None = None, hidden: str = "") -> list[Passage]:
        """The text inside, one line of print a line; none where it shows none, or cannot be read."""
        key = blake2b(data, digest_size=16).digest()
        if key not in self.known:
            self.known[key] = self._read(data)
        found = self.known[key]
        if found is None:
            return []
        return [Passage("Image", found.text, page=page, hidden=hidden, origin="ocr", confidence=found.confidence)]

    @property
    def flags(self) -> tuple[str, ...]:
        return (f"{self.unread} pictures not read",) if self.unread else ()

    def _read(self, data: bytes) -> Passage | None:
        try:
            picture = self._opened(data)
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
            self.unread += 1
            return None
        if picture is None:
            return None
        canvas = on_canvas(picture)
        cost = canvas.shape[0] * canvas.shape[1] / 1_000_000
        if cost > self.left:
            self.unread += 1
            return None
        self.left -= cost
        lines = [line for line in read_canvas(canvas, DPI / 72).lines if line.confidence >= SURE]
        if not lines:
            return None
        weights = [(line.confidence, len(line.text)) for line in lines]
        confidence = sum(sure * count for sure, count in weights) / sum(count for _, count in weights)
        return Passage("Image", "\n".join(line.text for line in lines), confidence=round(confidence, 4))

    def _opened(self, data: bytes) -> np.ndarray | None:
        """Rows × columns × BGR, on white; None for what is too small or too even for print. Raises as Pillow does."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # our own limit follows
            opened = Image.open(io.BytesIO(data), formats=FORMATS)
        with opened as picture:
            if picture.width < LEAST_WIDTH or picture.height < LEAST_HEIGHT:
                return None
            if picture.width * picture.height > STORED_PER_READ * self.limits.max_megapixels * 1_000_000:
                raise ValueError("too many pixels")
            shrink = min((PAGE_MEGAPIXELS * 1_000_000 / (picture.width * picture.height)) ** 0.5, 1.0)
            size = (int(picture.width * shrink), int(picture.height * shrink))
            picture.draft("RGB", size)  # a JPEG is decoded no larger than needed
            coloured = ImageOps.exif_transpose(picture).convert("RGBA")
        coloured.thumbnail((max(size), max(size)) if shrink < 1 else coloured.size)
        shown = Image.alpha_composite(Image.new("RGBA", coloured.size, "white"), coloured).convert("RGB")
        pixels = np.ascontiguousarray(np.asarray(shown)[:, :, ::-1])
        return pixels if int(pixels.max()) - int(pixels.min()) >= CONTRAST else None
