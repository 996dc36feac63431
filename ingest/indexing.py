"""A parsed version → chunks, index terms and vectors, in the ledger; never from the file."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from ingest.chunk import Origin, chunk
from ingest.index_terms import TermMaker
from kb_qa.elements import FURNITURE, Element, ParsedDocument
from kb_qa.errors import EmptyFileError
from kb_qa.guardrails.document_facts import document_locale_of
from kb_qa.ledger import Ledger
from kb_qa.protocols import Embedder
from kb_qa.sketch import sketch
from kb_qa.version_table import CHUNKING

EMBED_BATCH = 32
_TITLE_LETTERS = 200


def store_chunks(ledger: Ledger, version: int, source: str) -> None:
    """parsed → embedding. `source` is the file's name. Raises EmptyFileError where there is nothing to read."""
    record = ledger.version(version)
    parsed = ledger.load_parse(version)
    parts = chunk(parsed.elements, Origin(record.document_id, version, source, record.pipeline))
    if not parts:
        raise EmptyFileError(f"{source!r} holds no text that can be read")
    maker = TermMaker(
        {element.id: element for element in parsed.elements},
        title=document_title(parsed),
        locale=document_locale_of(parsed.elements),
    )
    made = [maker.terms_of(part) for part in parts]
    ledger.store_chunks(
        version,
        parts,
        [each.body for each in made],
        titles=[each.titles for each in made],
        labels=[each.labels for each in made],
        sketches=[*map(sketch, parts)],
        chunking=CHUNKING,
    )


def embed_chunks(
    ledger: Ledger,
    embedder: Embedder,
    version: int,
    stop: Callable[[], None] = lambda: None,
    advanced: Callable[[int], None] = lambda count: None,
) -> None:
    """embedding → indexing, by length, so that a batch pads little; each batch is stored, so that a cut one goes on.

    `stop` is asked before each batch, and raises to end the run there; `advanced` hears how many were stored.
    """
    waiting = iter(sorted(ledger.chunks_to_embed(version), key=lambda part: len(part.embedded_text)))
    while batch := list(islice(waiting, EMBED_BATCH)):
        stop()
        matrix = embedder.embed_passages([part.embedded_text for part in batch])
        ledger.store_vectors(version, [part.id for part in batch], matrix)
        advanced(len(batch))
    ledger.mark(version, "indexing")


def with_own_chunks(ledger: Ledger, version: int) -> int:
    """The ready version itself where this code made its chunks, else a copy of its parse, to be cut anew."""
    if ledger.version(version).chunking == CHUNKING:
        return version
    return ledger.revise(version, with_captions=True)


def document_title(parsed: ParsedDocument) -> str:
    """What the document is called: the title the file states, and the headings of its first page with text."""
    shown = [each for each in parsed.elements if _is_shown(each)]
    first = shown[0].regions[0].page if shown and shown[0].regions else None
    cover = (each.text for each in shown if each.category == "Title" and each.regions and each.regions[0].page == first)
    lines = dict.fromkeys(" ".join(line.split()) for line in (parsed.title, *cover))
    return "\n".join(filter(None, lines))[:_TITLE_LETTERS]


def _is_shown(element: Element) -> bool:
    return not element.hidden and element.category not in FURNITURE and bool(element.text.strip())
