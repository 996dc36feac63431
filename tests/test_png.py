"""PNG files hold exactly the pixels they were made of, as other readers see them."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from kb_qa.png import Pixels, png_of


@given(
    height=st.integers(1, 30), width=st.integers(1, 30), seed=st.integers(0, 2**32 - 1), grey=st.booleans()
)  # fmt: skip
def test_pillow_reads_the_same_pixels(height: int, width: int, seed: int, grey: bool) -> None:
    """Whatever the size and colours, no pixel changes; a picture without colour is stored in greys."""
    made: Pixels = np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)
    if grey:
        made[:] = made[:, :, :1]
    with Image.open(io.BytesIO(png_of(made, 150))) as picture:
        assert picture.mode == ("L" if grey else picture.mode)
        assert np.array_equal(np.asarray(picture.convert("RGB")), made)


@pytest.mark.parametrize("dpi", [36, 150, 600])
def test_the_resolution_is_stated(dpi: int) -> None:
    """A viewer shows the crop at its size on paper."""
    with Image.open(io.BytesIO(png_of(np.zeros((2, 2, 3), np.uint8), dpi))) as picture:
        assert picture.info["dpi"] == pytest.approx((dpi, dpi), abs=0.1)
