"""What importing the write side costs a process."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
LISTED = ("pymupdf.layout", "pymupdf4llm", "rapidocr", "cv2")


def printed(code: str) -> str:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
    child = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return child.stdout.strip()


def test_a_parser_starts_without_models() -> None:
    """Neither PyMuPDF's layout model nor RapidOCR is loaded before a page needs it; the model still can be."""
    code = f"import sys, ingest.pdf; print([name for name in {LISTED!r} if name in sys.modules])"
    assert printed(code) == "[]"
    assert printed(code.replace("ingest.pdf", "kb_qa.renderer")) == "[]"
    assert printed("import ingest.pdf, pymupdf.layout; print(pymupdf.layout.__name__)") == "pymupdf.layout"


def test_a_command_that_is_passed_on_loads_little() -> None:
    """What starts the write side as a child needs no ledger, no patterns and no page."""
    code = "import sys, kb_qa.cli; print([m for m in ('sqlalchemy', 'jieba', 'kb_qa.guardrails') if m in sys.modules])"
    assert printed(code) == "[]"
