"""Turns a rotated page so that its own space is the displayed one.

PyMuPDF reports text in unrotated space, and its table finder resets the CropBox of a rotated page. A page without
/Rotate has neither problem: page space, layout space and display space are one.
"""

from __future__ import annotations

import pymupdf


def bake_rotated_annotations(document: pymupdf.Document) -> None:
    """Draws annotations and form fields into the pages where a rotated page has any.

    Turning a page moves its content stream only; what floats above the page would stay behind.
    """
    for page in document:
        if page.rotation and (page.first_annot or page.first_widget):
            document.bake()
            return


def make_upright(page: pymupdf.Page) -> pymupdf.Page:
    """The same page, displayed the same, without /Rotate and with a MediaBox that is its CropBox.

    Changes the document in memory; call it before anything is read from the page.
    """
    rotation = page.rotation
    if rotation == 0:
        return page
    document = page.parent
    media, crop = page.mediabox, page.cropbox
    # PyMuPDF gives the CropBox with y down from the top of the MediaBox.
    x0, x1 = crop.x0, crop.x1
    y0, y1 = media.y1 - crop.y1, media.y1 - crop.y0
    matrix = {
        90: f"0 -1 1 0 {-y0:.4f} {x1:.4f}",
        180: f"-1 0 0 -1 {x1:.4f} {y1:.4f}",
        270: f"0 1 -1 0 {y1:.4f} {-x0:.4f}",
    }[rotation]
    width, height = (y1 - y0, x1 - x0) if rotation in (90, 270) else (x1 - x0, y1 - y0)
    prefix = document.get_new_xref()
    document.update_object(prefix, "<<>>")
    document.update_stream(prefix, f"{matrix} cm\n".encode())
    contents = " ".join(f"{xref} 0 R" for xref in (prefix, *page.get_contents()))
    box = f"[0 0 {width:.4f} {height:.4f}]"
    for key, value in (("Contents", f"[{contents}]"), ("MediaBox", box), ("CropBox", box), ("Rotate", "0")):
        document.xref_set_key(page.xref, key, value)
    return document.reload_page(page)
