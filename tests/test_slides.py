"""Presentations: what stands on a slide, in its notes, charts, groups and diagrams."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pptx
import pytest
from pptx.chart.data import CategoryChartData, XyChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.opc.package import Part
from pptx.opc.packuri import PackURI
from pptx.oxml import parse_xml
from pptx.util import Inches

from kb_qa.elements import ParsedDocument
from tests.documents import headers, outline, read, tables, texts

_NAMESPACES = (
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:a14="http://schemas.microsoft.com/office/drawing/2010/main" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
)
_SHAPE = (
    '<p:nvSpPr><p:cNvPr id="{id}" name="s"/><p:cNvSpPr/><p:nvPr>{place}</p:nvPr></p:nvSpPr><p:spPr/>'
    "<p:txBody><a:bodyPr/><a:p>{text}</a:p></p:txBody>"
)
_BOX = (Inches(1), Inches(2), Inches(5), Inches(3))


@pytest.fixture
def deck() -> Any:
    return pptx.Presentation()


def slide_of(deck: Any, title: str) -> Any:
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = title
    return slide


def saved(deck: Any, folder: Path) -> ParsedDocument:
    deck.save(str(folder / "a.pptx"))
    return read(folder / "a.pptx")


def test_notes_grouped_shapes_and_descriptions_of_pictures_are_read(deck: Any, tmp_path: Path) -> None:
    """Each stands under the title of its slide, and on its page."""
    slide = slide_of(deck, "Key figures")
    slide.notes_slide.notes_text_frame.text = "The margin was 12.5%."
    inner = slide.shapes.add_group_shape().shapes.add_group_shape()
    inner.shapes.add_textbox(*_BOX).text_frame.text = "deep 66"
    parsed = saved(deck, tmp_path)
    assert outline(parsed)[1:] == [
        ("UncategorizedText", ("Key figures",), "deep 66"),
        ("NarrativeText", ("Key figures",), "The margin was 12.5%."),
    ]
    assert {element.regions[0].page for element in parsed.elements} == {1}


def test_a_raised_digit_is_no_digit_of_the_figure(deck: Any, tmp_path: Path) -> None:
    """`250` with a note `9` is not 2509, and 10 to the power of 6 is not 106."""
    paragraph = slide_of(deck, "T").shapes.add_textbox(*_BOX).text_frame.paragraphs[0]
    for text, baseline in (("Revenue 250", ""), ("9", "30000"), (" or 10", ""), ("6", "30000")):
        run = paragraph.add_run()
        run.text = text
        if baseline:
            run.font._element.set("baseline", baseline)
    assert texts(saved(deck, tmp_path))[-1] == "Revenue 250 [9] or 10^6"


def test_footers_and_slide_numbers_are_furniture(deck: Any, tmp_path: Path) -> None:
    """What the layout repeats on every slide is no content of one."""
    slide = slide_of(deck, "T")
    for number, kind, text in ((90, "sldNum", "6"), (91, "ftr", "ACME 2024")):
        place = f'<p:ph type="{kind}" idx="{number}"/>'
        shape = _SHAPE.format(id=number, place=place, text=f"<a:r><a:t>{text}</a:t></a:r>")
        slide.shapes._spTree.append(parse_xml(f"<p:sp {_NAMESPACES}>{shape}</p:sp>"))
    found = {(element.category, element.text) for element in saved(deck, tmp_path).elements}
    assert found == {("Title", "T"), ("PageNumber", "6"), ("Footer", "ACME 2024")}


def test_a_shape_with_a_formula_is_read(deck: Any, tmp_path: Path) -> None:
    """PowerPoint puts it among alternatives, where nothing else looks; a fraction keeps its bar."""
    fraction = "<m:f><m:num><m:r><m:t>12</m:t></m:r></m:num><m:den><m:r><m:t>34</m:t></m:r></m:den></m:f>"
    text = f"<a:r><a:t>share </a:t></a:r><a14:m><m:oMath>{fraction}</m:oMath></a14:m>"
    shape = f"<p:sp>{_SHAPE.format(id=90, place='', text=text)}</p:sp>"
    markup = f'<mc:Choice Requires="a14">{shape}</mc:Choice><mc:Fallback>{shape}</mc:Fallback>'
    tree = slide_of(deck, "T").shapes._spTree
    tree.append(parse_xml(f"<mc:AlternateContent {_NAMESPACES}>{markup}</mc:AlternateContent>"))
    assert texts(saved(deck, tmp_path)) == ["T", "share 12/34"]


def test_points_of_a_scatter_chart_are_rows(deck: Any, tmp_path: Path) -> None:
    """Both coordinates are kept, beside the name of their series."""
    data = XyChartData()
    series = data.add_series("points")
    series.add_data_point(1.5, 2.5)
    series.add_data_point(3, 4)
    slide_of(deck, "T").shapes.add_chart(XL_CHART_TYPE.XY_SCATTER, *_BOX, data)
    (table,) = tables(saved(deck, tmp_path))
    assert table.text == "points | 1.5 | 2.5\n3 | 4"
    assert headers(table, "4")[0] == ("points",)


def test_outer_categories_of_a_chart_head_the_inner_ones(deck: Any, tmp_path: Path) -> None:
    """A value knows every level of its category."""
    data = CategoryChartData()
    data.categories = ["2023", "2024"]
    for category in data.categories:
        for quarter in ("Q1", "Q2"):
            category.add_sub_category(quarter)
    data.add_series("Margin", (1, 2, 3, 4))
    slide_of(deck, "T").shapes.add_chart(XL_CHART_TYPE.BAR_CLUSTERED, *_BOX, data)
    (table,) = tables(saved(deck, tmp_path))
    assert headers(table, "4") == (("2024", "Q2"), ("Margin",))


def test_the_texts_of_a_diagram_are_read(deck: Any, tmp_path: Path) -> None:
    """SmartArt keeps them in a part beside the slide."""
    slide = slide_of(deck, "T")
    space = "http://schemas.openxmlformats.org/drawingml/2006/diagram"
    paragraph = "<a:p><a:r><a:t>Step 1 takes 7 days</a:t></a:r></a:p>"
    points = f"<d:pt><d:t><a:bodyPr/>{paragraph}</d:t></d:pt>"
    model = f'<d:dataModel xmlns:d="{space}" {_NAMESPACES}><d:ptLst>{points}</d:ptLst></d:dataModel>'
    kind = "application/vnd.openxmlformats-officedocument.drawingml.diagramData+xml"
    part = Part(PackURI("/ppt/diagrams/data1.xml"), kind, deck.part.package, model.encode())
    relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    relation = slide.part.relate_to(part, f"{relations}/diagramData")
    frame = (
        f'<p:graphicFrame {_NAMESPACES} xmlns:r="{relations}"><p:nvGraphicFramePr><p:cNvPr id="77" name="d"/>'
        "<p:cNvGraphicFramePr/><p:nvPr/></p:nvGraphicFramePr>"
        '<p:xfrm><a:off x="0" y="0"/><a:ext cx="1" cy="1"/></p:xfrm>'
        f'<a:graphic><a:graphicData uri="{space}"><d:relIds xmlns:d="{space}" r:dm="{relation}"/></a:graphicData>'
        "</a:graphic></p:graphicFrame>"
    )
    slide.shapes._spTree.append(parse_xml(frame))
    assert "Step 1 takes 7 days" in texts(saved(deck, tmp_path))


def test_a_chart_of_an_unknown_kind_keeps_its_values(deck: Any, tmp_path: Path) -> None:
    """A stock chart does not lose the presentation, and its series are read as any."""
    data = CategoryChartData()
    data.categories = ["Mon", "Tue"]
    data.add_series("Close", (101.5, 99))
    frame = slide_of(deck, "T").shapes.add_chart(XL_CHART_TYPE.LINE, *_BOX, data)
    for plot in frame.chart._chartSpace.xpath("//c:lineChart"):
        plot.tag = plot.tag.replace("lineChart", "stockChart")
    (table,) = tables(saved(deck, tmp_path))
    assert headers(table, "101.5") == (("Mon",), ("Close",))
