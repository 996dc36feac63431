"""Word documents: what stands beside, above and inside their paragraphs and tables."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import docx
import pytest
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from pptx.chart.data import CategoryChartData
from pptx.chart.xmlwriter import ChartXmlWriter
from pptx.enum.chart import XL_CHART_TYPE

from tests.documents import headers, outline, read, tables, texts

_FOOTNOTES = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"
_CHART = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/chart"


@pytest.fixture(autouse=True)
def _scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The partitioner runs in a directory of its own."""
    monkeypatch.chdir(tmp_path)


def filled(table: Any, rows: list[list[str]]) -> Any:
    for row, values in enumerate(rows):
        for column, value in enumerate(values):
            table.cell(row, column).text = value
    return table


def add(document: Any, markup: str) -> None:
    body = document.element.body
    body.insert(len(body) - 1, parse_xml(f"<w:p {nsdecls('w', 'm', 'r')}>{markup}</w:p>"))


def test_tables_notes_charts_and_formulas_stand_where_they_are_anchored(tmp_path: Path) -> None:
    """One document with each: order, sections, captions and labels."""
    document = docx.Document()
    document.add_heading("Results", 1)
    outer = filled(document.add_table(2, 2), [["Item", "2024"], ["Segments", ""]])
    filled(outer.cell(1, 1).add_table(2, 2), [["Europe", "2024"], ["Sales", "77"]])
    add(document, '<w:r><w:t>Restated.</w:t></w:r><w:r><w:footnoteReference w:id="7"/></w:r>')
    fraction = "<m:f><m:num><m:r><m:t>12</m:t></m:r></m:num><m:den><m:r><m:t>34</m:t></m:r></m:den></m:f>"
    power = "<m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup>"
    add(document, f"<w:r><w:t>With </w:t></w:r><m:oMath>{fraction}</m:oMath><w:r><w:t> of it.</w:t></w:r>")
    add(document, f"<m:oMathPara><m:oMath>{power}</m:oMath></m:oMathPara>")
    document.add_paragraph("Table 1: sales", style="Caption")
    filled(document.add_table(2, 2), [["Item", "2023"], ["A", "1.10"]])
    document.add_heading("Outlook", 1)
    document.save("plain.docx")
    path = with_footnotes(tmp_path / "plain.docx", tmp_path / "a.docx")
    parsed = read(path)
    assert outline(parsed) == [
        ("Title", (), "Results"),
        ("Table", ("Results",), "Item | 2024\nSegments"),
        ("FigureCaption", ("Results",), "Segments"),
        ("Table", ("Results",), "Europe | 2024\nSales | 77"),
        ("NarrativeText", ("Results",), "Restated."),
        ("Footnote", ("Results",), "[1] From 4,700."),
        ("NarrativeText", ("Results",), "With 12/34 of it."),
        ("Formula", ("Results",), "x^2"),
        ("FigureCaption", ("Results",), "Table 1: sales"),
        ("Table", ("Results",), "Item | 2023\nA | 1.10"),
        ("Title", (), "Outlook"),
    ]
    assert [table.table.caption for table in tables(parsed) if table.table] == ["", "Segments", "Table 1: sales"]


def with_footnotes(source: Path, target: Path) -> Path:
    """The document with a part of footnotes, in which only note 7 is one."""
    note = '<w:footnote w:id="7"><w:p><w:r><w:t>From 4,700.</w:t></w:r></w:p></w:footnote>'
    notes = (
        f'<w:footnotes {nsdecls("w")}><w:footnote w:type="separator" w:id="0"><w:p/></w:footnote>{note}</w:footnotes>'
    )
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"
    override = f'<Override PartName="/word/footnotes.xml" ContentType="{kind}"/></Types>'
    relation = f'<Relationship Id="rId99" Type="{_FOOTNOTES}" Target="footnotes.xml"/></Relationships>'
    with zipfile.ZipFile(source) as plain, zipfile.ZipFile(target, "w") as made:
        for name in plain.namelist():
            data = plain.read(name)
            if name == "[Content_Types].xml":
                data = data.replace(b"</Types>", override.encode())
            if name == "word/_rels/document.xml.rels":
                data = data.replace(b"</Relationships>", relation.encode())
            made.writestr(name, data)
        made.writestr("word/footnotes.xml", notes)
    return target


def test_a_row_that_was_deleted_while_tracking_is_not_read(tmp_path: Path) -> None:
    """Rejecting nothing and accepting nothing, the reader sees it struck out."""
    document = docx.Document()
    table = filled(document.add_table(3, 2), [["Item", "2024"], ["Old", "1"], ["New", "2"]])
    row = table.rows[1]._tr
    row.get_or_add_trPr().append(parse_xml(f'<w:del {nsdecls("w")} w:id="9" w:author="x"/>'))
    document.save("a.docx")
    assert texts(read(tmp_path / "a.docx")) == ["Item | 2024\nNew | 2"]


def test_headers_and_footers_are_furniture(tmp_path: Path) -> None:
    """They keep categories that no chunk takes in."""
    document = docx.Document()
    document.sections[0].header.paragraphs[0].text = "ACME 2024"
    document.sections[0].footer.paragraphs[0].text = "Page 6"
    document.add_paragraph("Revenue was 7.")
    document.save("a.docx")
    found = {(element.category, element.text) for element in read(tmp_path / "a.docx").elements}
    assert found == {("Header", "ACME 2024"), ("NarrativeText", "Revenue was 7."), ("Footer", "Page 6")}


def test_values_of_a_chart_are_a_table(tmp_path: Path) -> None:
    """As on slides, behind the paragraph that the chart is anchored to."""
    data = CategoryChartData(number_format="0.0%")
    data.categories = ["Q1", "Q2"]
    data.add_series("Margin", (0.41, 0.29))
    document = docx.Document()
    blob = ChartXmlWriter(XL_CHART_TYPE.COLUMN_CLUSTERED, data).xml.encode()
    kind = "application/vnd.openxmlformats-officedocument.drawingml.chart+xml"
    part = Part(PackURI("/word/charts/chart1.xml"), kind, blob, document.part.package)
    relation = document.part.relate_to(part, _CHART)
    chart = f'<c:chart xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" r:id="{relation}"/>'
    add(document, f"<w:r><w:t>See it.</w:t></w:r><w:r><w:drawing>{chart}</w:drawing></w:r>")
    document.save("a.docx")
    parsed = read(tmp_path / "a.docx")
    assert texts(parsed)[0] == "See it."
    assert headers(tables(parsed)[0], "29.0%") == (("Q2",), ("Margin",))
