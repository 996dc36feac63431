"""The write side: documents → elements → chunks → the ledger."""

import sys


def _import_pymupdf() -> None:
    """Imports PyMuPDF without the layout model that it would load, which takes a second of every process.

    A module that is None cannot be imported, which PyMuPDF takes as not installed. `layout_model` loads what it needs.
    """
    kept_out = [name for name in ("pymupdf.layout", "pymupdf4llm") if name not in sys.modules]
    sys.modules |= dict.fromkeys(kept_out)  # type: ignore[arg-type]  # None is allowed, and says so to `import`
    try:
        import pymupdf  # noqa: F401
    finally:
        for name in kept_out:
            del sys.modules[name]


if "pymupdf" not in sys.modules:
    _import_pymupdf()
