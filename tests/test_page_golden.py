"""The page over the samples looks as when last looked at; `python -m scripts.take_screenshot --golden` renews it."""

from __future__ import annotations

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import Browser

from tests.page_views import GOLDEN, VARIANTS, VIEWS, Variant, shown, smaller, taken

BLOCK = 8  # pixels of a golden file, each way: what is compared is their mean, so that edges of letters may differ
UNLIKE = 30  # of 255: a block that differs by more shows something else
MOST = 0.02  # of all blocks; another release of the browser moves a line by a pixel
ALL = 3.0  # of 255: the mean difference


def blocks(picture: Image.Image) -> np.ndarray:
    pixels = np.asarray(picture.convert("RGB"), dtype=np.float32)
    height, width = (side // BLOCK * BLOCK for side in pixels.shape[:2])
    return pixels[:height, :width].reshape(height // BLOCK, BLOCK, width // BLOCK, BLOCK, 3).mean(axis=(1, 3))


def difference(one: Image.Image, other: Image.Image) -> tuple[float, float]:
    """The share of blocks that differ, and how much all do."""
    apart = np.abs(blocks(one) - blocks(other)).max(axis=2)
    return float((apart > UNLIKE).mean()), float(apart.mean())


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_each_view_looks_as_it_did(variant: Variant, sample_service: str, browser: Browser) -> None:
    """At both widths, light and dark, in both languages."""
    unlike = {}
    for name, picture in taken(browser, sample_service, variant):
        golden = Image.open(GOLDEN / f"{name}.png")
        assert smaller(picture).size == golden.size
        share, mean = difference(smaller(picture), golden)
        if share > MOST or mean > ALL:
            unlike[name] = (round(share, 4), round(mean, 2))
    assert unlike == {}


@pytest.mark.slow
@pytest.mark.parametrize("variant", [VARIANTS[1], VARIANTS[2]], ids=lambda variant: variant.name)
def test_no_view_has_a_violation(variant: Variant, sample_service: str, browser: Browser) -> None:
    """axe-core finds nothing on any view, also with the page of a figure open beside its answer or over it."""
    found = {}
    for name, page in shown(browser, sample_service, variant):
        violations = Axe().run(page).response["violations"]
        if violations:
            found[name] = [(each["id"], [node["target"] for node in each["nodes"]][:3]) for each in violations]
    assert found == {}


def test_the_comparison_sees_what_matters() -> None:
    """Two views of one screen differ by more than is allowed, and so does the page in another language."""
    for variant in VARIANTS:
        pictures = {name: Image.open(GOLDEN / f"{name}-{variant.name}.png") for name in VIEWS}
        for name, other in zip(list(pictures)[:-1], list(pictures)[1:], strict=True):
            share, _ = difference(pictures[name], pictures[other])
            assert share > MOST, (name, other, variant)
