"""PyMuPDF, imported without the layout model that it would load, which takes a second of every process."""

from __future__ import annotations

import sys


def _import() -> None:
    """A module that is None cannot be imported, which PyMuPDF takes as not installed; it is again what it was after."""
    kept_out = [name for name in ("pymupdf.layout", "pymupdf4llm") if name not in sys.modules]
    sys.modules |= dict.fromkeys(kept_out)  # type: ignore[arg-type]  # None is allowed, and says so to `import`
    try:
        import pymupdf  # noqa: F401
    finally:
        for name in kept_out:
            del sys.modules[name]


if "pymupdf" not in sys.modules:
    _import()

import pymupdf  # noqa: E402

__all__ = ["pymupdf"]
