"""The write side: documents → elements → chunks → the ledger."""

import kb_qa.mupdf  # noqa: F401  # before any module here imports PyMuPDF; `layout_model` loads what it needs
