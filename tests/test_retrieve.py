"""Retrieval fuses what two rankings found, shows only what the library shows, and keeps to the filters."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from kb_qa.answers import Filters
from kb_qa.elements import Chunk
from kb_qa.errors import NotFoundError
from kb_qa.protocols import Vectors
from kb_qa.records import metadata_of
from kb_qa.retrieve import CANDIDATES, Retriever
from kb_qa.testing import HashEmbedder, InMemoryLibrary, InMemoryVectorStore
from tests.factories import make_chunk

OTHER = "e" * 64


@dataclass(frozen=True)
class CountingEmbedder(HashEmbedder):
    """Remembers the questions that it embedded."""

    asked: list[str] = field(default_factory=list)

    def embed_query(self, text: str) -> Vectors:
        self.asked.append(text)
        return super().embed_query(text)


def retriever(*chunks: Chunk, hidden: tuple[Chunk, ...] = ()) -> Retriever:
    """All chunks are in the vector store; the library shows all but the hidden ones."""
    embedder, store = HashEmbedder(), InMemoryVectorStore()
    stored = [*chunks, *hidden]
    vectors = embedder.embed_passages([chunk.embedded_text for chunk in stored])
    store.upsert([chunk.id for chunk in stored], vectors, [metadata_of(chunk) for chunk in stored])
    return Retriever(embedder, store, InMemoryLibrary(all_chunks=chunks))


def test_the_best_of_both_rankings_comes_first() -> None:
    """A chunk that every search puts first is first, with the score of each."""
    found = retriever(
        make_chunk("Travel is booked by the office."),
        make_chunk("Annual leave is ten days.", ordinal=1),
    ).retrieve("annual leave days", k=2)
    assert found[0].chunk.ordinal == 1
    assert {"fused", "dense", "lexical", "coverage"} <= found[0].scores.keys()
    assert found[0].score > found[1].score


def test_chunks_the_library_does_not_show_are_replaced_by_others() -> None:
    """Neighbours that are not ready are dropped and back-filled, however many there are."""
    visible = make_chunk("Annual leave is ten days and some more words.", ordinal=999)
    hidden = tuple(make_chunk("annual leave days", ordinal=number) for number in range(CANDIDATES + 5))
    found = retriever(visible, hidden=hidden).retrieve("annual leave days", k=3)
    assert [hit.chunk.ordinal for hit in found] == [999]


def test_a_reranker_reorders_the_best() -> None:
    """With a cross-encoder its order counts, and its score travels with the hit."""

    class Shortest:
        def score(self, question: str, passages: Sequence[str]) -> Sequence[float]:
            return [-len(passage) for passage in passages]

    long, short = make_chunk("Annual leave days are ten and more."), make_chunk("Days.", ordinal=1)
    found = replace(retriever(long, short), reranker=Shortest()).retrieve("annual leave days", k=2)
    assert [hit.chunk.ordinal for hit in found] == [1, 0]
    assert found[0].scores["rerank"] == -5


def test_filters_limit_documents_pages_and_types() -> None:
    """Only chunks that meet every filter come back."""
    searched = retriever(
        make_chunk("Annual leave is ten days.", page=1),
        make_chunk("Annual leave is ten days.", page=2, ordinal=1, element_type="table"),
        make_chunk("Annual leave is ten days.", document_id=OTHER, source="other.pdf"),
    )
    by_document = searched.retrieve("annual leave", k=9, filters=Filters(documents=("other.pdf",)))
    by_page = searched.retrieve("annual leave", k=9, filters=Filters(pages=(2,)))
    by_type = searched.retrieve("annual leave", k=9, filters=Filters(element_types=("table",)))
    assert {hit.chunk.document_id for hit in by_document} == {OTHER}
    assert {hit.chunk.page for hit in by_page} == {2}
    assert {hit.chunk.element_type for hit in by_type} == {"table"}


FEW = {"pages": Filters(pages=(7,)), "types": Filters(element_types=("table",)), "dates": Filters(until="2023-12-31")}


@pytest.mark.parametrize("filters", FEW.values(), ids=FEW)
def test_what_a_filter_leaves_is_found_however_much_is_nearer(filters: Filters) -> None:
    """A filter limits the search, not its first results: the one passage that meets it is found among many better."""
    near = [make_chunk("annual leave days", ordinal=number) for number in range(CANDIDATES * 3)]
    wanted = make_chunk("Parking is free.", page=7, ordinal=999, element_type="table", document_id=OTHER)
    searched = retriever(*near, wanted)
    assert isinstance(searched.library, InMemoryLibrary)
    searched.library.dates = {OTHER: "2023-05-01", wanted.document_id[:4]: "2024-05-01"}
    assert [hit.chunk.ordinal for hit in searched.retrieve("annual leave days", k=5, filters=filters)] == [999]


def test_a_span_without_documents_is_an_error_that_tells_the_span() -> None:
    """Dates that leave no document are told as such."""
    with pytest.raises(NotFoundError, match="dates since 2030-01-01"):
        retriever(make_chunk("x")).retrieve("x", k=1, filters=Filters(since="2030-01-01"))


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (("nowhere.pdf",), r"'nowhere\.pdf';"),
        (("breifing.pdf",), r"'breifing\.pdf' \(is 'briefing\.pdf' meant\?\)"),
        (("briefing.pdf", "nowhere.pdf"), r"matches 'nowhere\.pdf';"),
    ],
)
def test_a_filter_that_names_no_document_is_an_error(names: tuple[str, ...], told: str) -> None:
    """A misspelt document name is told, not answered from other documents, nor from those beside it."""
    with pytest.raises(NotFoundError, match=told):
        retriever(make_chunk("x")).retrieve("x", k=1, filters=Filters(documents=names))


def test_a_question_without_content_words_is_still_answered_by_meaning() -> None:
    """Stop words alone give no lexical query; the dense ranking remains."""
    assert retriever(make_chunk("what is it")).retrieve("what is it?", k=1)


def test_the_document_that_a_question_names_comes_first() -> None:
    """Its company stands on the cover alone; the other document says more of the question's words."""
    texts = [f"Cash flow from operations was {number} million in 2022." for number in range(3)]
    chunks = [
        *(make_chunk(text, ordinal=n) for n, text in enumerate(texts)),
        make_chunk("Operations brought in 41 million.", document_id=OTHER, source="b7.pdf"),
    ]
    searched = retriever(*chunks)
    assert isinstance(searched.library, InMemoryLibrary)
    searched.library.called = {OTHER: ("SONIC AUTOMOTIVE, INC.",)}
    question = "What was the cash flow from operations of Sonic Automotive, Inc. in 2022?"
    found = searched.retrieve(question, k=9)
    assert found[0].chunk.document_id == OTHER
    assert len(found) == 4, "a wrong guess loses nothing"


def test_another_name_of_a_measure_finds_it() -> None:
    """`net sales` is found for `turnover`, and 营业收入 for `revenue`: by the table of terms, not by the vectors."""
    rows = [make_chunk(f"{label} | 4,812", ordinal=n) for n, label in enumerate(("Goodwill", "Net sales", "营业收入"))]
    searched = retriever(*rows)
    english = searched.retrieve("What was the turnover?", k=3)
    assert {hit.chunk.ordinal for hit in english[:2]} == {1, 2}
    assert searched.retrieve("存货和商誉是多少？", k=1)[0].chunk.ordinal == 0


def test_a_quoted_phrase_counts_word_for_word() -> None:
    """Of two chunks with the same words, the one that has them in this order is first."""
    apart = make_chunk("Risk: a weighted mean of the assets at risk.")
    together = make_chunk("It is risk weighted assets that count, whatever the mean.", ordinal=1)
    found = retriever(apart, together).retrieve('What is said of "risk weighted assets"?', k=2)
    assert [hit.chunk.ordinal for hit in found] == [1, 0]


def test_a_page_that_is_asked_for_is_preferred() -> None:
    """`on page 12` moves that page up and hides no other."""
    chunks = [make_chunk("Annual leave is ten days.", ordinal=n, page=page) for n, page in enumerate((3, 12, 13))]
    found = retriever(*chunks).retrieve("What does page 12 say of annual leave?", k=3)
    assert [hit.chunk.page for hit in found] == [12, 3, 13]


def test_what_a_context_has_no_place_for_is_not_read() -> None:
    """At most so many hits of one document; of a named one all but two, which are left to others."""
    chunks = [make_chunk(f"Annual leave is {n} days.", ordinal=n, source="travel policy.md") for n in range(9)]
    others = [make_chunk(f"Leave {n}", ordinal=n, document_id=OTHER, source="b7.md") for n in range(9)]
    searched = retriever(*chunks, *others)
    found = searched.find("annual leave days", k=9, per_document=2)
    assert [hit.chunk.document_id == OTHER for hit in found.hits] == [False, False, True, True]
    named = searched.find("annual leave days in the travel policy", k=8, per_document=2)
    assert [hit.chunk.document_id == OTHER for hit in named.hits] == [False] * 6 + [True, True]
    assert named.named == {chunks[0].document_id}


def test_a_question_asked_again_is_not_embedded_again() -> None:
    """Its vector is kept, by the model and the words."""

    embedder = CountingEmbedder()
    searched = replace(retriever(make_chunk("Annual leave is ten days.")), embedder=embedder)
    first = searched.retrieve("annual leave", k=1)
    assert searched.retrieve("annual leave", k=1) == first
    assert len(embedder.asked) == 1
    searched.retrieve("sick leave", k=1)
    assert len(embedder.asked) == 2


def test_a_question_that_names_a_document_is_embedded_once() -> None:
    """The search inside what it names goes by the vector of the search over everything."""
    embedder = CountingEmbedder()
    searched = replace(retriever(make_chunk("Annual leave is ten days.", source="travel policy.md")), embedder=embedder)
    assert searched.find("annual leave days in the Travel Policy", k=1).named
    assert embedder.asked == ["annual leave days in the Travel Policy"]
