"""PyMuPDF's layout models, with threads of ours, and the choice between them.

The wheel has two nets for a page. One judges what MuPDF's parser says of each piece of text; the other is given a
picture of the page as well, at several times the cost. Both go by the same features of the text, which are made once.
The grids of tables are a third net's, whichever of the two said where the tables are.
"""

from __future__ import annotations

import functools
import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime  # type: ignore[import-untyped]  # has no stubs
import pymupdf

from ingest.layout_features import add_region_features, line_features, text_pattern
from ingest.net_graph import with_leaky_relus

THREADS = "OMP_NUM_THREADS"  # the variable that the other numeric libraries of a child go by, too
SEES = "feature_imf"  # the net that makes features of the picture of a page
FIXED_SIZE = (SEES, "table_grid_model")  # nets whose input is of one size: their memory arena cannot grow
BY_TEXT, BY_SIGHT = "rf", "imf+rf"  # PyMuPDF's names of the features that a net goes by
SURE = 0.6  # probability of the likeliest class, for the line of which the net is least sure

Group = dict[str, Any]  # what the nets say of a part of the page, in PyMuPDF's raw form


def read_layout(page: pymupdf.Page, *, look: bool) -> list[Group]:
    """The parts of an upright page.

    The net that looks is asked where `look` says so, where there seems to be a picture, and where the other one is not
    sure of what some line is: where it is, both say the same of nearly every page.
    """
    models = _models()
    features = models.features(page)
    if not look:
        groups, certainty = models.by_text(page, features)
        if certainty >= SURE and all(group["class_name"] != "picture" for group in groups):
            return models.with_grids(groups)
    return models.by_sight(page, features)


@contextmanager
def _sessions_of(threads: int) -> Iterator[None]:
    """Makes `pymupdf.layout` take sessions with so many threads: by itself it takes one for every core.

    Two parsing children on two cores then fight for them, and waiting threads spin: a quarter of the processor time.
    """
    original = onnxruntime.InferenceSession

    def session(path: str, sess_options: Any = None, **options: Any) -> Any:
        wanted = sess_options or onnxruntime.SessionOptions()
        wanted.intra_op_num_threads = threads
        wanted.inter_op_num_threads = 1
        wanted.add_session_config_entry("session.intra_op.allow_spinning", "0")
        wanted.enable_cpu_mem_arena = Path(path).name.startswith(FIXED_SIZE)
        model = with_leaky_relus(Path(path).read_bytes()) if Path(path).name.startswith(SEES) else path
        return original(model, sess_options=wanted, **options)

    onnxruntime.InferenceSession = session
    try:
        yield
    finally:
        onnxruntime.InferenceSession = original


class _Models:
    """Both nets; loading takes a second."""

    _module: Any  # of `pymupdf.layout`, whose functions are replaced

    def __init__(self) -> None:
        with _sessions_of(int(os.environ.get(THREADS, "1"))):
            if not callable(pymupdf._get_layout):
                pymupdf._get_layout = list  # or importing the package loads a second net that looks
            self._module = importlib.import_module("pymupdf.layout.onnx.BoxRFDGNN")
            self._looks = self._module.BoxRFDGNN(feature_set_name=BY_SIGHT, use_sort=True)
            self._reads = self._module.BoxRFDGNN(feature_set_name=BY_TEXT, imf_model_path="", use_sort=True)
        pymupdf._get_layout = self._looks.predict
        self._certainty = _Certainty(self._reads.session)
        self._reads.session = self._certainty
        self._reads.table_grid_extractor = _LaterGrids()
        self._module.get_text_pattern, self._module.get_rf_features = text_pattern, line_features
        parts: Any = importlib.import_module("pymupdf.layout.pymupdf_util_ext")
        parts.extract_rf_features = add_region_features
        self._pixels = importlib.import_module("pymupdf.layout.pymupdf_util_imf").image_feature_extraction_task

    def features(self, page: pymupdf.Page) -> dict[str, Any]:
        options = {"input_type": self._reads.input_type, "feature_set_name": BY_TEXT}
        made: dict[str, Any] = self._module.create_input_data_from_page(page, options=options)
        return made

    def by_text(self, page: pymupdf.Page, features: dict[str, Any]) -> tuple[list[Group], float]:
        """The groups, tables without their grids, and how sure the net is of the line of which it is least sure."""
        self._certainty.least = 1.0  # of a page without lines
        groups = self._groups(self._reads, page, features)
        return groups, self._certainty.least

    def with_grids(self, groups: list[Group]) -> list[Group]:
        """The groups of `by_text`, the grids of tables predicted."""
        for group in groups:
            if isinstance(later := group.get("table_grid"), _Asked):
                grid, cells = self._looks.table_grid_extractor.predict(*later.arguments, **later.options)
                group |= {"table_grid": grid, "table_cells": cells}
        return groups

    def by_sight(self, page: pymupdf.Page, features: dict[str, Any]) -> list[Group]:
        seen, classes, *_ = self._pixels(features["image"], self._looks.feature_extractor, self._looks.input_type)
        return self._groups(self._looks, page, features | {"feature_map": seen, "class_logits": classes})

    def _groups(self, net: Any, page: pymupdf.Page, features: dict[str, Any]) -> list[Group]:
        """The net's groups; it is handed the features in place of making them anew."""
        making = self._module.create_input_data_from_page
        self._module.create_input_data_from_page = lambda page, options: features
        try:
            groups: list[Group] = net.predict(page, return_raw=True)
        finally:
            self._module.create_input_data_from_page = making
        return groups


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the net of the grids was asked for a table."""

    arguments: tuple[Any, ...]
    options: dict[str, Any]


class _LaterGrids:
    """Stands for the net of the grids until it is known that the page's groups are kept."""

    def predict(self, *arguments: Any, **options: Any) -> tuple[_Asked, None]:
        return _Asked(arguments, options), None


class _Certainty:
    """A session that remembers the certainty of its last run, which PyMuPDF does not pass on."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self.least = 1.0

    def run(self, *arguments: Any) -> Any:
        """Logits of the lines' classes, a row each, then those of the lines' connections."""
        lines, connections = self._session.run(*arguments)
        likely = np.exp(lines - lines.max(axis=1, keepdims=True))
        self.least = float((likely.max(axis=1) / likely.sum(axis=1)).min())
        return lines, connections


@functools.cache
def _models() -> _Models:
    return _Models()
