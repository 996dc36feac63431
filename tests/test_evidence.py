"""The materials of a context: facts as they were read at ingest, and anew where they were not, or otherwise."""

from decimal import Decimal

from kb_qa.answers import BlockCitation
from kb_qa.elements import Element
from kb_qa.evidence import materials_of_context
from kb_qa.guardrails.answer_materials import block_facts
from kb_qa.guardrails.document_facts import packed_facts, reading_of
from kb_qa.guardrails.policies import STRICT, policy_of
from kb_qa.protocols import StoredFacts
from kb_qa.testing import InMemoryLibrary
from tests.factories import make_chunk, make_context
from tests.gate_answers import context_of, source

ROW = source("", labelled="Item：Revenue | 2024：4,132 | in millions")


def stored_in(library: InMemoryLibrary, reading: str) -> InMemoryLibrary:
    """The library with the facts of another text, so that it is seen which ones are taken."""
    other = context_of([source("", labelled="Item：Revenue | 2024：9,999 | in millions")])[1]
    packed = packed_facts(other.elements)
    return InMemoryLibrary(library.all_chunks, library.elements, stored_facts={
        element_id: StoredFacts(data, "en", reading) for element_id, data in packed.items()
    })  # fmt: skip


def values(library: InMemoryLibrary, aliases: tuple[tuple[str, str], ...] = ()) -> set[Decimal | None]:
    context, _ = context_of([ROW])
    policy = policy_of("strict", aliases=aliases)
    return {fact.number for fact in materials_of_context(context, library, policy).facts if fact.body}


def test_stored_facts_are_taken_as_they_are() -> None:
    """A question reads no text a second time."""
    _, library = context_of([ROW])
    assert values(stored_in(library, reading_of())) == {Decimal(9_999_000_000)}


def test_facts_of_another_reading_are_read_anew() -> None:
    """An older version of the code, or another alias table, read something else."""
    _, library = context_of([ROW])
    assert values(stored_in(library, "older")) == {Decimal(4_132_000_000)}
    assert values(stored_in(library, reading_of()), (("top line", "revenue"),)) == {Decimal(4_132_000_000)}


def test_facts_that_were_never_read_are_read_now() -> None:
    """An older ledger answers as a new one does."""
    assert values(context_of([ROW])[1]) == {Decimal(4_132_000_000)}


def test_a_lost_element_is_what_its_blocks_say() -> None:
    """Each block at its place, so that its facts are its own."""
    chunk = make_chunk("Revenue was 5 million.", "Costs were 7 million.")
    context = make_context(chunk)
    materials = materials_of_context(context, InMemoryLibrary([chunk]), STRICT)
    assert [fact.printed for fact in block_facts([BlockCitation(1, 1)], context, materials)] == ["7 million"]


def test_what_stands_beside_the_given_blocks_competes_and_supports_nothing() -> None:
    """A long table's other rows are rivals; they are held by no source."""
    whole = make_chunk("Revenue was 5 million.", "Costs were 7 million.")
    element = Element(whole.blocks[0].element_id, whole.document_id, 0, "text", "NarrativeText", whole.text)
    context = make_context(make_chunk("Revenue was 5 million."))
    stored = packed_facts([element], locale="en")
    library = InMemoryLibrary(stored_facts={key: StoredFacts(data, "en", reading_of()) for key, data in stored.items()})
    materials = materials_of_context(context, library, STRICT)
    held = {fact.printed: materials.sources_of(fact) for fact in materials.facts}
    assert held == {"5 million": {1}, "7 million": frozenset()}
