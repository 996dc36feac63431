"""Values survive the way through JSON and through index metadata."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_qa.answers import AnswerEvent, Citation, Located, Refusal
from kb_qa.elements import Block, Cell, Chunk, Element, Measure, ScaleSource, Table, Word
from kb_qa.geometry import BBox, Page, Quality, Region
from kb_qa.records import (
    chunk_place,
    from_data,
    metadata_of,
    pack,
    pack_words,
    to_data,
    unpack,
    unpack_all,
    unpack_words,
    well_formed,
)

number = st.floats(allow_nan=False, allow_infinity=False)
confidence = st.none() | st.floats(0, 1)
count = st.integers(0, 10_000)
text = st.text(st.characters(), max_size=12)  # lone surrogates and NUL included
texts = st.lists(text, max_size=3).map(tuple)
bbox = st.builds(BBox, number, number, number, number)
region = st.builds(Region, st.integers(1, 5000), st.none() | bbox)
regions = st.lists(region, max_size=3).map(tuple)
element_type = st.sampled_from(["text", "table", "image"])
origin = st.sampled_from(["text-layer", "ocr", "caption", "parser"])
word = st.builds(Word, page=count, bbox=bbox, text=text, start=count, end=count, confidence=confidence)
cell = st.builds(
    Cell,
    row=count,
    column=count,
    row_span=count,
    column_span=count,
    text=text,
    page=st.none() | count,
    bbox=st.none() | bbox,
    row_headers=texts,
    column_headers=texts,
    start=count,
    end=count,
    header=st.booleans(),
    address=text,
    measure=st.none() | count,
)
scale_source = st.builds(ScaleSource, text, st.none() | region)
measure = st.builds(
    Measure,
    scale=st.integers(-6, 12),
    unit=text,
    scope=st.sampled_from(["cell", "column", "row", "section", "caption", "page", "document"]),
    source=scale_source,
    unit_source=st.none() | scale_source,
    ambiguous=st.booleans(),
)
table = st.builds(
    Table,
    cells=st.lists(cell, max_size=3).map(tuple),
    caption=text,
    notes=texts,
    scale=st.integers(-6, 12),
    unit=text,
    scale_source=st.none() | scale_source,
    note_regions=regions,
    measures=st.lists(measure, max_size=2).map(tuple),
    confidence=confidence,
)
element = st.builds(
    Element,
    id=text,
    document_id=text,
    order=count,
    element_type=element_type,
    category=text,
    text=text,
    regions=regions,
    section=texts,
    origin=origin,
    confidence=confidence,
    words=st.lists(word, max_size=3).map(tuple),
    table=st.none() | table,
    hidden=text,
    described_by=text,
)
block = st.builds(Block, id=text, element_id=text, text=text, start=count, end=count, regions=regions, labelled=text)
chunk = st.builds(
    Chunk,
    id=text,
    document_id=text,
    version=count,
    source=text,
    ordinal=count,
    blocks=st.lists(block, max_size=3).map(tuple),
    element_type=element_type,
    category=text,
    section=texts,
    prefix=text,
    origin=origin,
    confidence=confidence,
    described_by=text,
)
page = st.builds(
    Page, count, number, number, st.sampled_from([0, 90, 180, 270]), text, st.builds(Quality, st.just("poor"), texts)
)
plain = st.recursive(st.none() | st.booleans() | st.integers() | text, lambda inner: st.lists(inner, max_size=2))
event = st.builds(AnswerEvent, count, st.sampled_from(["start", "delta", "end"]), st.dictionaries(text, plain))


@given(st.one_of(element, table, cell, block, chunk, page, event, region, word))
def test_a_value_comes_back_equal_from_json(value: object) -> None:
    """Every stored type equals itself after to_data, JSON text and from_data."""
    assert from_data(type(value), json.loads(json.dumps(to_data(value)))) == value
    assert unpack(type(value), pack(value)) == value


@given(st.lists(word, max_size=5).map(tuple))
def test_words_come_back_equal_from_their_columns(words: tuple[Word, ...]) -> None:
    """Packed words are the same words, with and without OCR confidence."""
    assert unpack_words(pack_words(words)) == words


def test_nested_values_of_an_answer_come_back_equal() -> None:
    """A citation with its located rectangles and a refusal survive; optional and union fields keep their types."""
    citation = Citation(1, 0, 5, "4,812", "page", "a.pdf · P4", "d", "a.pdf", "table", located=Located(found=True))
    refusal = Refusal("not_named", "Not found.", ("P9",))
    assert from_data(Citation, to_data(citation)) == citation
    assert unpack_all(Refusal, pack((refusal, refusal))) == (refusal, refusal)


def test_a_default_is_left_out_and_an_old_record_still_reads() -> None:
    """A record without the fields that were added later reads with their defaults."""
    data = {"id": "b", "element_id": "e", "text": "x", "start": 0, "end": 1}
    assert to_data(Block("b", "e", "x", 0, 1)) == data
    assert from_data(Block, data) == Block("b", "e", "x", 0, 1)


@pytest.mark.parametrize("data", [None, [], {"page": 1}, 7], ids=["none", "array", "missing field", "number"])
def test_data_of_another_shape_is_a_value_error(data: object) -> None:
    """Damaged records are told apart from values."""
    with pytest.raises(ValueError, match="not the data of a Region"):
        from_data(Region, data)


def test_words_take_less_room_than_a_row_each() -> None:
    """A page of five hundred words with two-decimal boxes packs into at most 25 bytes a word."""
    words = tuple(
        Word(
            1,
            BBox(72 + i % 13 * 31.37, 80.25 + i // 13 * 14, 99.5 + i % 13 * 31.37, 92.5 + i // 13 * 14),
            "net",
            i,
            i + 3,
        )
        for i in range(500)
    )
    assert len(pack_words(words)) < 500 * 25


def test_surrogates_are_replaced_one_for_one() -> None:
    """Offsets into a text stay right when what UTF-8 cannot carry is replaced."""
    assert well_formed("a\ud800b\udfff净") == "a\ufffdb\ufffd净"


@given(chunk)
def test_index_metadata_leads_back_to_the_place(chunk: Chunk) -> None:
    """Metadata is flat, without None, and gives the regions, section and confidence back."""
    flat = metadata_of(chunk)
    assert all(type(value) in {str, int, float, bool} for value in flat.values())
    place = chunk_place(flat)
    assert place.regions == chunk.regions
    assert (place.page, place.confidence, place.ordinal) == (chunk.page, chunk.confidence, chunk.ordinal)
    assert place.section == tuple(map(well_formed, chunk.section))
    assert place.described_by == well_formed(chunk.described_by)


def test_case_c1_odd_parser_values_become_plain_metadata() -> None:
    """C1: a numpy page, a bbox that is not finite and a missing confidence are plain values or absent keys."""
    odd = Region(np.int64(3), BBox(np.float32(1), math.nan, 2, 3))  # type: ignore[arg-type]
    chunk = Chunk("c", "d", 1, "a.pdf", 0, (Block("b", "e", "x", 0, 1, (odd,)),), "text", "Title", confidence=math.nan)
    flat = metadata_of(chunk)
    assert type(flat["page"]) is int
    assert flat.keys() & {"x0", "confidence", "section", "regions"} == set()
    assert chunk_place(flat).regions == (Region(3, None),)


def test_metadata_carries_what_a_citation_needs() -> None:
    """S5.5: page, type, bbox and section stand in the metadata under their names."""
    regions = (Region(4, BBox(72, 100, 300, 120)), Region(5, BBox(72, 60, 300, 80)))
    chunk = Chunk(
        "c", "d", 7, "briefing.pdf", 2, (Block("b", "e", "x", 0, 1, regions),), "table", "Table", ("手册", "假期")
    )
    flat = metadata_of(chunk)
    assert {"document_id": "d", "version": 7, "source": "briefing.pdf", "page": 4, "element_type": "table"}.items() <= (
        flat.items()
    )
    assert [flat[key] for key in ("x0", "y0", "x1", "y1")] == [72, 100, 300, 120]
    assert json.loads(str(flat["regions"]))[1] == {"page": 5, "bbox": [72, 60, 300, 80]}
    assert chunk_place(flat).section == ("手册", "假期")
