"""PNG files of page pictures, written for speed.

Pages are flat areas and few colours: without row filters the fast levels of zlib compress them nearly as well as
MuPDF's and Pillow's writers do at a third of the time, and a page without colour takes a third of that.
"""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

SIGNATURE = b"\x89PNG\r\n\x1a\n"
LEVEL = 3  # the last of zlib's fast levels
_MEMORY = 9

Pixels = NDArray[np.uint8]  # rows, columns, red-green-blue


def png_of(pixels: Pixels, dpi: float) -> bytes:
    """The file of rows × columns × 3 values; in greys where there is no other colour."""
    height, width, _ = pixels.shape
    red, green, blue = (pixels[:, :, channel] for channel in range(3))
    grey = np.array_equal(red, green) and np.array_equal(green, blue)
    samples = red if grey else pixels.reshape(height, -1)
    rows = np.zeros((height, samples.shape[1] + 1), np.uint8)  # each begins with its filter: 0, none
    rows[:, 1:] = samples
    packing = zlib.compressobj(LEVEL, zlib.DEFLATED, zlib.MAX_WBITS, _MEMORY)
    per_metre = round(dpi / 0.0254)
    return b"".join(
        (
            SIGNATURE,
            _chunk(b"IHDR", struct.pack(">2I5B", width, height, 8, 0 if grey else 2, 0, 0, 0)),
            _chunk(b"pHYs", struct.pack(">2IB", per_metre, per_metre, 1)),
            _chunk(b"IDAT", packing.compress(rows.tobytes()) + packing.flush()),
            _chunk(b"IEND", b""),
        )
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
