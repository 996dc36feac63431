"""What the nets are told is, number by number, what PyMuPDF would have told them."""

import importlib
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.layout_features import add_region_features, line_features, text_pattern
from tests.pdf_pages import write_pdf

SIGNS = st.one_of(st.sampled_from("aZé财9²½ \t\u00a0•-*+<>()→✓#□■‣◦▪.:※,%$…"), st.characters())


def own(module: str, name: str) -> Any:
    """PyMuPDF's function, from the module that defines it."""
    return getattr(importlib.import_module(f"pymupdf.layout.{module}"), name)


@given(st.one_of(st.text(SIGNS), st.builds(lambda sign, count: sign * count, SIGNS, st.integers(0, 1200))))
def test_patterns_are_pymupdfs(text: str) -> None:
    """Any text, also one of a thousand equal signs, has the pattern that PyMuPDF gives it."""
    assert text_pattern(text) == own("common_util", "get_text_pattern")(text)


@pytest.mark.parametrize("kind", ["text", "image", "vector", "h-line-vector", "v-line-vector", "check-box", None])
def test_lines_say_what_they_are(kind: str | None) -> None:
    """The five kinds are told apart, a line without a kind is text, other features are numbers in the order asked."""
    line = {"ratio": 2, "font_size": 9.5} | ({} if kind is None else {"box_type": kind})
    names = ["font_size", "is_text", "is_image", "is_vector", "is_hline_vector", "is_vline_vector", "ratio"]
    kinds = ["text", "image", "vector", "h-line-vector", "v-line-vector"]
    assert line_features(line, names) == [9.5, *(float((kind or "text") == one) for one in kinds), 2.0]
    with pytest.raises(KeyError):
        line_features(line, ["unheard_of"])


@pytest.mark.parametrize("shown", [True, False], ids=["beside text that is seen", "alone"])
def test_regions_are_pymupdfs(tmp_path: Path, shown: bool) -> None:
    """Each line has the features that PyMuPDF reads; invisible lines go where others are seen."""

    def draw(page: pymupdf.Page) -> None:
        page.insert_text((72, 100), "An invisible line of 12 words", render_mode=3)
        page.insert_text((72, 200), "One that is seen, or not: 3.5 %", render_mode=0 if shown else 3)

    with pymupdf.open(write_pdf(tmp_path / "page.pdf", draw)) as document:
        made = []
        for add in (own("pymupdf_util_rf", "extract_rf_features"), add_region_features):
            data = own("pymupdf_util_base", "extract_base_elements")(document[0])
            own("pymupdf_util_ext", "_init_custom_features")(data)
            add(data, data["stext_page"])
            made.append([data[key] for key in ("custom_features", "bboxes", "text")])
    assert made[0] == made[1]
    assert len(made[0][1]) == (1 if shown else 2)
