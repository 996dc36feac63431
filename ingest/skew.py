"""Pages that were laid askew on the scanner: by how much, and the picture put straight.

The text detector finds tilted lines, and the recogniser reads each along its own slope. What would go wrong comes
afterwards: boxes around slopes reach into the lines above and below. So the page is read once, then straightened.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image

LEVEL = 0.4  # degrees; the detector's own boxes are no more exact, and a line of A4 rises by less than half its height
STEEPEST = 20.0  # beyond it nothing was laid askew: it was set so
LONG = 5.0  # times its height: a box of such a length says which way its line runs
AGREE = 1.0  # degrees around the middle one
PAPER = 255

Quad = Sequence[Sequence[float]]  # four corners: upper left, upper right, lower right, lower left
Pixels = NDArray[np.uint8]


def skew_of(quads: Sequence[Quad]) -> float:
    """How many degrees the lines of a page fall to the right (rise: negative); 0 where they are level or disagree.

    The median over the detector's boxes, each as heavy as it is long.
    """
    slopes = sorted(slope for quad in quads if (slope := _slope(quad)) is not None)
    whole = sum(length for _, length in slopes)
    passed = 0.0
    for angle, length in slopes:
        passed += length
        if passed * 2 >= whole:
            alike = sum(weight for other, weight in slopes if abs(other - angle) <= AGREE)
            return angle if LEVEL <= abs(angle) <= STEEPEST and alike * 2 > whole else 0.0
    return 0.0


def _slope(quad: Quad) -> tuple[float, float] | None:
    """Angle in degrees and length of a long box; upper and lower edge say it together."""
    upper_left, upper_right, lower_right, lower_left = quad
    across = (upper_right[0] - upper_left[0] + lower_right[0] - lower_left[0]) / 2
    down = (upper_right[1] - upper_left[1] + lower_right[1] - lower_left[1]) / 2
    height = math.dist(upper_left, lower_left)
    length = math.hypot(across, down)
    if across <= 0 or length < LONG * max(height, 1.0):
        return None
    return math.degrees(math.atan2(down, across)), length


def straightened(pixels: Pixels, skew: float) -> Pixels:
    """The picture (rows × columns, with or without colours) turned back about its middle; the paper grows."""
    if skew == 0:
        return pixels
    fill = PAPER if pixels.ndim == 2 else (PAPER,) * pixels.shape[2]
    turned = Image.fromarray(pixels).rotate(skew, resample=Image.Resampling.BILINEAR, expand=True, fillcolor=fill)
    return np.asarray(turned)
