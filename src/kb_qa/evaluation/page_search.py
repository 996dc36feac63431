"""BM25 over whole pages: the plain search that retrieval is held against."""

from __future__ import annotations

from collections.abc import Sequence

from kb_qa.evaluation.bm25 import Bm25
from kb_qa.evaluation.scores import Place


class PageSearch:
    """An index of all pages, and one of each set of documents that is asked for alone. `pages` carry their text."""

    def __init__(self, pages: Sequence[Place]) -> None:
        self._pages = pages
        self._indexes: dict[frozenset[str], tuple[Sequence[Place], Bm25]] = {}

    def __call__(self, question: str, documents: frozenset[str] = frozenset()) -> list[Place]:
        """Pages, best first; of these documents (ids) alone where any are given."""
        if documents not in self._indexes:
            chosen = [page for page in self._pages if not documents or page.document_id in documents]
            self._indexes[documents] = chosen, Bm25([page.text for page in chosen])
        pages, index = self._indexes[documents]
        return [pages[place] for place in index.ranked(question)]
