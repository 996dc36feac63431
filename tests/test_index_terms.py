"""A chunk's terms say where they stand, and a table's figures what they are counted in."""

from dataclasses import replace

from ingest.chunk import Origin, chunk
from ingest.index_terms import IndexTerms, TermMaker
from kb_qa.elements import Cell, Element, Measure, ScaleSource, Table

ORIGIN = Origin("d", 1, "a.pdf", "3")
MILLIONS = Measure(6, "USD", "caption", ScaleSource("in millions", None))


def table_of(*rows: tuple[str, str], measure: Measure | None = MILLIONS) -> Element:
    """A label and a figure a row under the header `2024`, counted in millions."""
    lines, cells, offset = [], [Cell(0, 1, 1, 1, "2024", None, None, start=0, end=4, header=True)], 5
    for number, (label, value) in enumerate(rows, 1):
        middle = offset + len(label) + 3
        known = 0 if measure is not None else None
        cells.append(Cell(number, 0, 1, 1, label, None, None, (), (), offset, offset + len(label)))
        cells.append(
            Cell(number, 1, 1, 1, value, None, None, (label,), ("2024",), middle, middle + len(value), measure=known)
        )
        lines.append(f"{label} | {value}")
        offset += len(lines[-1]) + 1
    table = Table(
        tuple(cells),
        caption="Segments",
        scale_source=None if measure is None else measure.source,
        measures=() if measure is None else (measure,),
    )
    return Element("t", "d", 0, "table", "Table", "\n".join(["2024", *lines]), section=("Note 5",), table=table)


def terms_of(*elements: Element, title: str = "") -> list[IndexTerms]:
    maker = TermMaker({element.id: element for element in elements}, title)
    return [maker.terms_of(part) for part in chunk(elements, ORIGIN)]


def test_a_cell_is_found_in_what_its_table_counts_in() -> None:
    """`4,100` under "in millions" meets `4.1 billion`, and is found as printed too."""
    (made,) = terms_of(table_of(("Cloud", "4,100"), ("Other", "12.5%")))
    assert {"4100", "4100000000", "12.5%"} <= set(made.body)
    assert "12500000" not in made.body


def test_an_ambiguous_measure_scales_nothing() -> None:
    """Where two scales are said equally near, neither is taken."""
    (made,) = terms_of(table_of(("Cloud", "4,100"), measure=replace(MILLIONS, ambiguous=True)))
    assert "4100" in made.body and "4100000000" not in made.body


def test_terms_stand_in_the_column_of_their_place() -> None:
    """Title, section and caption above; headers, row labels and unit beside; the rows themselves in the body."""
    (made,) = terms_of(table_of(("Cloud", "4,100")), title="Acme Annual Report")
    assert made.titles == ["acm", "annual", "report", "note", "5", "segment"]
    assert made.labels == ["cloud", "2024", "million"]
    assert made.body[:2] == ["cloud", "4100"]


def test_prose_has_its_words_in_order_and_then_its_figures() -> None:
    """A phrase of the text is a phrase of the index; a figure that is printed in normal form is not repeated."""
    text = "Revenue rose to 4.1 billion in Q3 2024, from 3,900 orders."
    (made,) = terms_of(Element("e", "d", 0, "text", "NarrativeText", text))
    assert made.body[:5] == ["revenu", "rose", "4.1", "billion", "q3"]
    assert made.body[-2:] == ["4100000000", "2024q3"]
    assert made.body.count("3900") == 1
    assert (made.titles, made.labels) == ([], [])
