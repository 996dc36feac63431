"""Marks the passages of an answer's claims in a copy of the original. Opens files with PyMuPDF: for a child process.

One highlight a claim and page, with the claim as its note; the original file is only read.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from kb_qa.errors import DamagedFileError, LimitExceededError, NotFoundError
from kb_qa.geometry import BBox
from kb_qa.marks import MarkedClaim
from kb_qa.mupdf import pymupdf
from kb_qa.pages import opened
from kb_qa.records import readable

Colour = tuple[float, float, float]

# Six tints that stay apart, from each other and from white paper, for readers of every colour vision: at least 27 of
# CIELAB's units in the normal view and in those of protanopes, deuteranopes and tritanopes (tests/test_highlight.py).
# Light enough to read black print through.
COLOURS: tuple[Colour, ...] = (
    (1.00, 0.86, 0.00),
    (0.47, 1.00, 0.53),
    (0.74, 0.55, 0.97),
    (1.00, 0.50, 0.20),
    (0.55, 0.70, 0.49),
    (0.91, 0.57, 0.78),
)

MOST_CHARACTERS = 10_000  # of a note
AUTHOR = "kb-qa"


def colour_of(ordinal: int) -> Colour:
    """The colour of claim `ordinal` (from 1): the same in every document of the answer."""
    return COLOURS[(ordinal - 1) % len(COLOURS)]


def write_highlighted(path: Path, claims: Sequence[MarkedClaim], target: Path, *, subject: str = "") -> int:
    """Writes `path` as a PDF with the claims' passages marked to `target`, whole or not at all; its size in bytes.

    A picture becomes a PDF of its pages. A file that is encrypted without a password to open it stays encrypted, with
    its permissions. `subject` is what messages call the file. Raises NotFoundError for a page that is not there and
    RejectedFileError for a file that does not open or cannot be written as a PDF.
    """
    subject = subject or f"the file {path.name!r}"
    with opened(path, subject) as document, tempfile.TemporaryDirectory(dir=target.parent, prefix=".") as folder:
        written = Path(folder) / "marked.pdf"
        try:
            with _as_pdf(document) as marked:
                for claim in claims:
                    for place in claim.pages:
                        if not 1 <= place.page <= marked.page_count:
                            raise NotFoundError(f"there is no page {place.page}: the document has {marked.page_count}")
                        _mark(marked[place.page - 1], place.rects, claim)
                marked.save(written, garbage=1, deflate=True, encryption=pymupdf.PDF_ENCRYPT_KEEP)
        except (RuntimeError, ValueError, MemoryError) as error:
            if "malloc" in str(error) or isinstance(error, MemoryError):
                raise LimitExceededError(f"{subject} takes too much memory to mark") from error
            raise DamagedFileError(f"{subject} is damaged: it cannot be written again as a PDF") from error
        written.replace(target)
    return target.stat().st_size


def _as_pdf(document: pymupdf.Document) -> AbstractContextManager[pymupdf.Document]:
    """The document itself, or one with a page a picture."""
    if document.is_pdf:
        return nullcontext(document)
    converted: AbstractContextManager[pymupdf.Document] = pymupdf.open(stream=document.convert_to_pdf(), filetype="pdf")
    return converted


def _mark(page: pymupdf.Page, rects: Sequence[BBox], claim: MarkedClaim) -> None:
    shown = BBox(*page.rect)
    visible = [part for rect in rects if rect.is_finite and (part := rect.intersection(shown)) is not None]
    if not visible:
        return
    annotation = page.add_highlight_annot(quads=[_quad(page, rect) for rect in visible])
    annotation.set_colors(stroke=colour_of(claim.ordinal))
    numbers = " ".join(f"[{number}]" for number in claim.numbers)
    annotation.set_info(content=readable(claim.text).strip()[:MOST_CHARACTERS], title=f"{AUTHOR} {numbers}".strip())
    annotation.update()
    _square(page.parent, annotation)


def _square(document: pymupdf.Document, annotation: pymupdf.Annot) -> None:
    """Redraws the highlight as the rectangles it is made of, in one fill, so that none is tinted twice.

    MuPDF rounds the ends outwards in proportion to a rectangle's height: of a block of text, by dozens of points.
    """
    numbers = [float(number) for number in document.xref_get_key(annotation.xref, "QuadPoints")[1].strip("[]").split()]
    fill = " ".join(f"{value:g}" for value in annotation.colors["stroke"])
    path = []
    for start in range(0, len(numbers), 8):
        x0, y0, x1, y1, x2, y2, x3, y3 = (f"{number:.4f}" for number in numbers[start : start + 8])
        path.append(f"{x0} {y0} m {x1} {y1} l {x3} {y3} l {x2} {y2} l h")
    drawing = int(document.xref_get_key(annotation.xref, "AP/N")[1].split()[0])
    document.update_stream(drawing, "\n".join(["q /H gs", f"{fill} rg", *path, "f Q"]).encode())


def _quad(page: pymupdf.Page, rect: BBox) -> pymupdf.Quad:
    """The rectangle of the displayed page in the page's space before it is turned, which annotations are given in.

    Not by `page.derotation_matrix`, which leaves /UserUnit out.
    """
    width, height = page.rect.width, page.rect.height
    x0, y0, x1, y1 = rect.as_tuple()
    corners = {
        0: (x0, y0, x1, y1),
        90: (y0, width - x1, y1, width - x0),
        180: (width - x1, height - y1, width - x0, height - y0),
        270: (height - y1, x0, height - y0, x1),
    }
    return pymupdf.Rect(corners[page.rotation]).quad
