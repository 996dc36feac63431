"""What models wrote of pictures, in the ledger: kept by what was asked, and put into new versions of a document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kb_qa.arrows import IllegalArrowError
from kb_qa.elements import Element, ParsedDocument, Word
from kb_qa.geometry import BBox, Page, Region
from kb_qa.ledger import Ledger, ParsedFacts
from tests.test_ledger import chunk, receive, sha

TEXT = Element(
    "e0", sha("a"), 0, "text", "Text", "Trees.", words=(Word(1, BBox(1, 1, 9, 9), "Trees.", 0, 6),), section=("S",)
)
PICTURE = Element("e1", sha("a"), 1, "image", "Image", "", (Region(1, BBox(0, 0, 300, 300)),))
CAPTION = replace(PICTURE, id="a0", text="A tree.", origin="caption", described_by="m")
PARSED = ParsedDocument((Page(1, 595, 842),), (TEXT, PICTURE), "given", "Trees", ("repaired",))


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(tmp_path, create=True) as opened:
        opened.set_embedder("fake", 4)
        yield opened


def parsed(ledger: Ledger) -> int:
    version = receive(ledger, "a")
    ledger.mark(version, "stored")
    ledger.mark(version, "parsing")
    ledger.store_parse(version, PARSED, ParsedFacts("de", "r1", {"e0": b"packed"}))
    return version


def published(ledger: Ledger, version: int) -> int:
    pipeline = ledger.version(version).pipeline
    made = chunk(sha("a"), version, 0, "Trees.", pipeline=pipeline)
    ledger.store_chunks(version, [made], [["trees"]])
    ledger.store_vectors(version, [made.id], np.eye(1, 4, dtype=np.float32))
    ledger.mark(version, "indexing")
    assert ledger.publish(version)
    return version


@pytest.mark.parametrize(
    ("png", "model", "instruction", "expected"),
    [
        (b"p", "m", "1-en", "A tree."),
        (b"q", "m", "1-en", None),
        (b"p", "n", "1-en", None),
        (b"p", "m", "1-zh", None),
        (b"r", "m", "1-en", ""),
    ],
    ids=["the same", "another picture", "another model", "another instruction", "nothing to say"],
)
def test_a_caption_is_found_by_what_was_asked(
    ledger: Ledger, png: bytes, model: str, instruction: str, expected: str | None
) -> None:
    """Picture, model and instruction; what was kept first stays."""
    for text in ("A tree.", "Another text."):
        ledger.keep_caption(b"p", text, model="m", instruction="1-en")
    ledger.keep_caption(b"r", "", model="m", instruction="1-en")
    assert ledger.caption(png, model=model, instruction=instruction) == expected


def test_captions_stand_behind_their_picture(ledger: Ledger) -> None:
    """Whatever their ids; storing them again puts the new ones in their place."""
    version = parsed(ledger)
    for _ in range(2):
        ledger.store_captions(version, [CAPTION], ["repaired", "one missing"])
    assert ledger.load_parse(version).elements == (TEXT, PICTURE, CAPTION)
    assert [*ledger.images(version)] == [PICTURE, CAPTION]
    assert ledger.version(version).flags == ("repaired", "one missing")


def test_a_version_that_is_seen_takes_no_captions(ledger: Ledger) -> None:
    """Its chunks would not know them."""
    version = published(ledger, parsed(ledger))
    with pytest.raises(IllegalArrowError):
        ledger.store_captions(version, [CAPTION], [])


def test_a_revised_version_has_the_parse_without_captions(ledger: Ledger) -> None:
    """The ready one answers until the new one is published; facts and words go along; nothing is left behind."""
    first = parsed(ledger)
    ledger.store_captions(first, [CAPTION], ["repaired"])
    published(ledger, first)
    made = ledger.revise(first)
    assert receive(ledger, "a") == made, "an unfinished revision goes on"
    assert ledger.ready_version(sha("a"), "1") == first
    assert ledger.load_parse(made) == PARSED
    ledger.store_captions(made, [replace(CAPTION, text="An oak.")], ["repaired"])
    published(ledger, made)
    assert receive(ledger, "a") == ledger.ready_version(sha("a"), "1") == made
    assert ledger.facts(["e0"])["e0"].packed == b"packed"
    assert ledger.version(first).state == "deleted"
    again = ledger.revise(made)
    assert len({ledger.version(each).pipeline for each in (first, made, again)}) == 3


def test_a_revision_that_was_cut_is_made_again_from_the_stored_parse(ledger: Ledger) -> None:
    """Its file is not parsed: the ready version is there to copy from."""
    first = published(ledger, parsed(ledger))
    with ledger.database.write() as connection:
        connection.exec_driver_sql("CREATE TRIGGER full BEFORE INSERT ON elements BEGIN SELECT RAISE(ABORT, 'x'); END")
    with pytest.raises(Exception, match="x"):
        ledger.revise(first)
    with ledger.database.write() as connection:
        connection.exec_driver_sql("DROP TRIGGER full")
    assert receive(ledger, "a") == first
    assert ledger.ready_version(sha("a"), "1") == first
    assert ledger.load_parse(ledger.revise(first)) == PARSED


def test_a_revision_keeps_the_captions_where_they_are_wanted(ledger: Ledger) -> None:
    """Other chunks of the same parse: what was paid for goes along."""
    first = parsed(ledger)
    ledger.store_captions(first, [CAPTION], ["repaired"])
    published(ledger, first)
    made = ledger.revise(first, with_captions=True)
    assert ledger.load_parse(made) == ledger.load_parse(first)
    assert CAPTION in ledger.load_parse(made).elements


def test_captions_go_with_the_last_document_that_shows_the_picture(ledger: Ledger) -> None:
    """What a model wrote is content of a document; where another one shows it too, it stays and is not paid again."""
    version = parsed(ledger)
    ledger.store_captions(version, [CAPTION], [])
    published(ledger, version)
    for png, text in ((b"p", "A tree."), (b"q", "A house."), (b"r", "")):
        ledger.keep_caption(png, text, model="m", instruction="1-en")
    other = receive(ledger, "b")
    for state in ("stored", "parsing"):
        ledger.mark(other, state)
    theirs = replace(CAPTION, id="b0", document_id=sha("b"))
    ledger.store_parse(other, ParsedDocument(PARSED.pages, (theirs,), "given"), ParsedFacts("en", "r1", {}))
    ledger.delete(sha("a"))
    assert ledger.caption(b"p", model="m", instruction="1-en") == "A tree."
    ledger.delete(sha("b"))
    kept = [ledger.caption(png, model="m", instruction="1-en") for png in (b"p", b"q", b"r")]
    assert kept == [None, "A house.", ""]
