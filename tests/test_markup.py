"""HTML and Markdown: what a reader sees of them, and how it hangs together."""

from __future__ import annotations

from pathlib import Path

import pytest
from lxml import html

from ingest.formulas import formula_text
from tests.documents import outline, read, texts, wrote


@pytest.fixture(autouse=True)
def _scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The partitioner runs in a directory of its own."""
    monkeypatch.chdir(tmp_path)


SHEET = """<style>/* .seen{display:none} */ .gone, p.away {display: none !important} #id{visibility:hidden}
@media print { .seen { display: none } } .a .seen { display: none }</style>"""


@pytest.mark.parametrize(
    ("markup", "seen"),
    [
        ("<p class='x gone'>7</p>", False),
        ("<p class=away>7</p>", False),
        ("<div class=away>7</div>", True),
        ("<p id=id>7</p>", False),
        ("<p class=seen>7</p>", True),
        ("<p style='color:#fff; background: #fff'>7</p>", False),
        ("<p style='color:#000; background: #fff'>7</p>", True),
        ("<p style='position:absolute; left:-9999px'>7</p>", False),
        ("<p style='margin-left:-10px'>7</p>", True),
        ("<p style='font-size:0.9em'>7</p>", True),
        ("<p><s>7</s></p>", False),
    ],
)
def test_what_a_style_hides_is_not_read(tmp_path: Path, markup: str, seen: bool) -> None:
    """By a rule of the page's own sheet or by the element's own style; what only print hides is read."""
    parsed = read(wrote(tmp_path / "a.html", f"<html>{SHEET}<body><p>shown</p>{markup}</body></html>"))
    assert texts(parsed) == (["shown", "7"] if seen else ["shown"])


def test_a_table_inside_a_data_table_stands_by_itself(tmp_path: Path) -> None:
    """Under the label of its row, and the outer one keeps its headers."""
    inner = "<table><tr><td>Europe</td><td>77</td></tr><tr><td>Asia</td><td>78</td></tr></table>"
    rows = f"<tr><th>Item</th><th>2024</th></tr><tr><td>Segments</td><td>12 {inner}</td></tr>"
    parsed = read(wrote(tmp_path / "a.html", f"<table>{rows}</table><p>After.</p>"))
    assert texts(parsed) == ["Item | 2024\nSegments | 12", "Segments", "Europe | 77\nAsia | 78", "After."]


def test_cells_of_a_layout_table_stay_apart(tmp_path: Path) -> None:
    """A number does not grow together with the text of the cell beside it."""
    inner = "<table><tr><td>in</td><td>77</td></tr></table>"
    rows = f"<tr><td>Item</td><td>2023</td></tr><tr><td>Other</td><td>13 {inner}</td></tr>"
    assert texts(read(wrote(tmp_path / "a.html", f"<table>{rows}</table>"))) == [
        "Item",
        "2023",
        "Other",
        "13",
        "in | 77",
    ]


def test_soft_hyphens_and_entities_are_what_a_reader_sees(tmp_path: Path) -> None:
    """A place where a word may break is not part of it."""
    page = "<p>Unter&shy;nehmen\u00adswert: &euro;4,812 million &mdash; up 5&#37; &lt;b&gt;</p>"
    assert texts(read(wrote(tmp_path / "a.html", page))) == ["Unternehmenswert: €4,812 million — up 5% <b>"]


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<mfrac><mn>12</mn><mn>34</mn></mfrac>", "12/34"),
        ("<mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>2</mn></mfrac>", "(a+b)/2"),
        ("<msup><mn>10</mn><mn>6</mn></msup>", "10^6"),
        ("<msubsup><mi>x</mi><mn>1</mn><mn>2</mn></msubsup>", "x_1^2"),
        ("<msqrt><mn>2</mn></msqrt><mo>=</mo><mn>1.41</mn>", "√(2)=1.41"),
        ("<mi>x</mi><annotation encoding='application/x-tex'>x</annotation>", "x"),
    ],
)
def test_a_formula_keeps_its_digits_apart(markup: str, text: str) -> None:
    """Numerator and denominator, base and exponent do not become one number."""
    assert formula_text(html.fragment_fromstring(f"<math>{markup}</math>")) == text


def test_a_formula_of_a_page_is_read(tmp_path: Path) -> None:
    """MathML stands in the text where it is displayed."""
    markup = "<p>The share is <math><mfrac><mn>1</mn><mn>2</mn></mfrac></math> of all.</p>"
    assert texts(read(wrote(tmp_path / "a.html", markup))) == ["The share is 1/2 of all."]


MARKDOWN = """---
title: "Handbook 2024"
---

# Top

1. First
2. Second
   - nested 7%
   - nested
     continued

## Code

~~~
| not | table |
~~~

    1e5

Setext
------

| Item | 2024 |
|:-----|-----:|
| a \\| b | `1.10` |

a line
of ~~old~~ text
"""


def test_markdown_is_read_as_commonmark(tmp_path: Path) -> None:
    """Lists nest by the width of their marker, code stays code, a pipe in a cell is a character."""
    parsed = read(wrote(tmp_path / "a.md", MARKDOWN))
    assert parsed.title == "Handbook 2024"
    assert outline(parsed)[1:] == [
        ("Title", (), "Top"),
        ("ListItem", ("Top",), "1. First"),
        ("ListItem", ("Top",), "2. Second"),
        ("ListItem", ("Top",), "nested 7%"),
        ("ListItem", ("Top",), "nested continued"),
        ("Title", ("Top",), "Code"),
        ("CodeSnippet", ("Top", "Code"), "| not | table |"),
        ("CodeSnippet", ("Top", "Code"), "1e5"),
        ("Title", ("Top",), "Setext"),
        ("Table", ("Top", "Setext"), "Item | 2024\na | b | 1.10"),
        ("UncategorizedText", ("Top", "Setext"), "a line of text"),
    ]
