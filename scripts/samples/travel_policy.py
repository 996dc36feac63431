"""travel-policy.docx: a travel policy with headings, lists and a table."""

from __future__ import annotations

import io
import zipfile
from datetime import datetime
from pathlib import Path

import docx
from docx.document import Document

ALLOWANCES = (
    ("City tier", "Hotel limit per night", "Daily meal allowance"),
    ("Tier 1", "USD 245", "USD 88"),
    ("Tier 2", "USD 178", "USD 66"),
    ("Tier 3", "USD 132", "USD 52"),
)

# The oldest date that a zip archive can hold.
ZIP_DATE = (1980, 1, 1, 0, 0, 0)


def write(folder: Path) -> None:
    document = docx.Document()
    properties = document.core_properties
    properties.author = properties.comments = properties.last_modified_by = ""
    properties.title = "Travel policy"
    properties.created = properties.modified = datetime(2025, 4, 1, 9, 0)
    _fill(document)
    stream = io.BytesIO()
    document.save(stream)
    (folder / "travel-policy.docx").write_bytes(_undated(stream.getvalue()))


def _fill(document: Document) -> None:
    document.add_heading("Travel policy", level=0)
    document.add_paragraph(
        "This policy applies to all business trips of employees of Quillmere Consulting, an invented company. It is "
        "in force from February 1, 2025."
    )
    document.add_heading("Before the trip", level=1)
    for text in (
        "Book flights at least 16 days before departure.",
        "Trips that cost more than USD 3,400 need the approval of a partner.",
        "Rail is preferred for journeys of up to five hours.",
    ):
        document.add_paragraph(text, style="List Bullet")
    document.add_heading("Hotels and meals", level=1)
    document.add_paragraph(
        "The limits depend on the tier of the city. Breakfast that is included in the room rate reduces the meal "
        "allowance by one fifth."
    )
    table = document.add_table(rows=0, cols=3, style="Table Grid")
    for texts in ALLOWANCES:
        for cell, text in zip(table.add_row().cells, texts, strict=True):
            cell.text = text
    for cell in table.rows[0].cells:
        cell.paragraphs[0].runs[0].bold = True
    document.add_heading("Private car", level=1)
    document.add_paragraph("Driving is paid at USD 0.61 per mile, tolls and parking included.")
    document.add_heading("After the trip", level=1)
    for text in (
        "Hand in the expense report within 20 working days of your return.",
        "Attach a receipt for every item above USD 30.",
        "Finance pays approved reports with the next monthly salary.",
    ):
        document.add_paragraph(text, style="List Number")


def _undated(archive: bytes) -> bytes:
    """The same zip archive, its members dated alike: python-docx writes the current time."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as source, zipfile.ZipFile(stream, "w") as target:
        for name in source.namelist():
            target.writestr(zipfile.ZipInfo(name, ZIP_DATE), source.read(name), zipfile.ZIP_DEFLATED)
    return stream.getvalue()
