"""Loads PyMuPDF's layout model with a thread count of ours.

Importing `pymupdf.layout` makes the sessions, each with a thread for every core, and without a memory arena. Two
parsing children on two cores then fight for them, and waiting threads spin: a quarter of the processor time goes there.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import onnxruntime  # type: ignore[import-untyped]  # has no stubs
import pymupdf

THREADS = "OMP_NUM_THREADS"  # the variable that the other numeric libraries of a child go by, too
FIXED_SIZE = "feature_imf"  # the only model whose input is of one size: its arena cannot grow


@contextmanager
def _sessions_of(threads: int) -> Iterator[None]:
    original = onnxruntime.InferenceSession

    def session(path: str, sess_options: Any = None, **options: Any) -> Any:
        wanted = sess_options or onnxruntime.SessionOptions()
        wanted.intra_op_num_threads = threads
        wanted.inter_op_num_threads = 1
        wanted.add_session_config_entry("session.intra_op.allow_spinning", "0")
        wanted.enable_cpu_mem_arena = FIXED_SIZE in str(path)
        return original(path, sess_options=wanted, **options)

    onnxruntime.InferenceSession = session
    try:
        yield
    finally:
        onnxruntime.InferenceSession = original


def load_layout_model() -> None:
    """Loads the model on the first call; afterwards `Page.get_layout` works."""
    if not callable(pymupdf._get_layout):
        with _sessions_of(int(os.environ.get(THREADS, "1"))):
            importlib.import_module("pymupdf.layout")
