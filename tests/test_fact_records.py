"""Facts survive the ledger: what is kept beside an element is what was read from it."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_qa.elements import Cell, Element, Table, Word
from kb_qa.geometry import BBox, Region
from kb_qa.guardrails.directions import Direction
from kb_qa.guardrails.document_facts import document_locale_of, packed_facts, reading_of
from kb_qa.guardrails.fact_records import pack_facts, unpack_facts
from kb_qa.guardrails.facts import Fact, facts_of
from kb_qa.guardrails.quantities import Quantity

TEXTS = st.text(max_size=12)
DECIMALS = st.decimals(allow_nan=False, allow_infinity=False, places=4)
SETS = st.frozensets(TEXTS, max_size=4)
QUANTITIES = st.builds(
    Quantity,
    kind=st.sampled_from(["money", "number", "percent", "date"]),
    value=DECIMALS | TEXTS,
    start=st.integers(0, 99),
    end=st.integers(0, 99),
    raw=TEXTS,
    lo=st.none() | DECIMALS,
    hi=st.none() | DECIMALS,
    quantum=DECIMALS,
    scale=st.integers(-2, 12),
    currency=st.sampled_from(["", "USD", "$?"]),
    unit=TEXTS,
    sign=st.sampled_from([-1, 0, 1]),
    approximate=st.booleans(),
    bound=st.sampled_from(["", ">", "<="]),
    readings=st.lists(DECIMALS, max_size=2).map(tuple),
    soft=st.booleans(),
)
BOXES = st.builds(BBox, *[st.floats(0, 999, allow_nan=False)] * 4)
FACTS = st.builds(
    Fact,
    quantity=QUANTITIES,
    element_id=TEXTS,
    document_id=TEXTS,
    page=st.none() | st.integers(1, 9),
    bbox=st.none() | BOXES,
    cell=st.none() | st.tuples(st.integers(0, 9), st.integers(0, 9)),
    row=TEXTS,
    column=TEXTS,
    section=TEXTS,
    sentence=st.tuples(st.integers(0, 9), st.integers(0, 9)),
    labels=SETS,
    row_labels=SETS,
    context=SETS,
    periods=st.lists(SETS, max_size=2).map(tuple),
    direction=st.builds(Direction, st.booleans(), st.sampled_from([-1, 0, 1])),
    neutral=st.booleans(),
    scale_source=TEXTS,
    currency_source=TEXTS,
    ambiguous=st.booleans(),
    confidence=st.none() | st.floats(0, 1, allow_nan=False),
    tail=TEXTS,
    body=st.booleans(),
    around=st.booleans(),
)


@given(st.lists(FACTS, max_size=4).map(tuple))
def test_facts_come_back_as_they_were(facts: tuple[Fact, ...]) -> None:
    """Every field survives, decimals to the digit they print."""
    back = unpack_facts(pack_facts(facts))
    assert back == facts
    assert [repr(each.quantity) for each in back] == [repr(each.quantity) for each in facts]


@pytest.mark.parametrize("data", [b"", b"no zlib", pack_facts(())[:-3]], ids=["empty", "noise", "cut"])
def test_damaged_facts_are_an_error(data: bytes) -> None:
    """What is no pack of facts is told, and not taken for no facts."""
    with pytest.raises(ValueError, match="packed facts"):
        unpack_facts(data)


def text(order: int, said: str, *, page: int = 1, words: tuple[Word, ...] = ()) -> Element:
    box = BBox(0, 10 * order, 90, 10 * order + 9)
    return Element(f"e{order}", "d", order, "text", "NarrativeText", said, (Region(page, box),), words=words)


def table(order: int, *, page: int = 1) -> Element:
    cells = (
        Cell(0, 1, 1, 1, "2024", page, None, header=True),
        Cell(1, 0, 1, 1, "Revenue", page, None, header=True, start=5, end=12),
        Cell(1, 1, 1, 1, "4,132", page, None, ("Revenue",), ("2024",), start=15, end=20),
    )
    region = Region(page, BBox(0, 10 * order, 90, 10 * order + 9))
    return Element(
        f"e{order}", "d", order, "table", "Table", "2024\nRevenue | 4,132", (region,), table=Table(cells=cells)
    )


def only(packed: bytes, raw: str) -> Fact:
    (found,) = [fact for fact in unpack_facts(packed) if fact.printed == raw]
    return found


def test_a_table_takes_its_scale_from_the_text_above_it_on_the_same_page() -> None:
    """The nearest text of the page counts, a text of another page does not."""
    here = packed_facts([text(0, "All amounts are in millions of USD."), table(1)], locale="en")
    there = packed_facts([text(0, "All amounts are in millions of USD."), table(1, page=2)], locale="en")
    assert only(here["e1"], "4,132").number == Decimal(4_132_000_000)
    assert only(there["e1"], "4,132").number == Decimal(4_132)


def test_a_figure_knows_the_box_of_its_own_words_and_how_surely_they_were_read() -> None:
    """Not the paragraph's box, but that of the printed figure."""
    box = BBox(40, 0, 55, 9)
    words = (
        Word(1, BBox(0, 0, 39, 9), "Revenue was", 0, 11, 0.99),
        Word(1, box, "4,132", 12, 17, 0.62),
        Word(1, BBox(56, 0, 57, 9), ".", 17, 18, 0.99),
    )
    (fact,) = facts_of(text(0, "Revenue was 4,132.", words=words), locale="en")
    assert (fact.page, fact.bbox, fact.confidence) == (1, box, 0.62)


def test_the_span_of_a_cell_counts_in_the_text_of_its_element() -> None:
    """So that it is known in which rows of a table a fact stands."""
    element = table(0)
    for fact in facts_of(element, locale="en"):
        if fact.body:
            assert element.text[fact.quantity.start : fact.quantity.end] == fact.printed


def test_the_locale_is_the_majoritys() -> None:
    """A document that prints a decimal comma is read with one, whatever one heading looks like."""
    german = [text(0, "Q3"), text(1, "Der Umsatz betrug 1.234,5 Mio. Euro und ist im Jahr 2024 gestiegen.")]
    assert document_locale_of(german) == "de"


def test_another_alias_table_is_another_reading() -> None:
    """Facts that were read with other aliases are read again."""
    assert reading_of() == reading_of()
    assert reading_of() != reading_of((("top line", "revenue"),))
