"""What others would search in: the text layer of each page, whole or in pieces of 1,000 characters."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pymupdf

from kb_qa.evaluation.scores import Place
from kb_qa.protocols import Embedder, Vectors

PIECE = 1000  # characters
BATCH = 64
_LEFT_OUT = -2.0  # below every cosine


def pages_of(paths: Sequence[Path]) -> list[Place]:
    """The pages of PDF files with their text; a document's id is that of its bytes, as in a knowledge base."""
    pages = []
    for path in paths:
        document_id = hashlib.sha256(path.read_bytes()).hexdigest()
        with pymupdf.open(path) as document:
            pages += [
                Place(document_id, path.name, number, text=page.get_text()) for number, page in enumerate(document, 1)
            ]
    return pages


class PieceSearch:
    """A plain dense index: the nearest pieces of pages, exact. Vectors are kept in `cache` by text and model."""

    def __init__(self, pages: Sequence[Place], embedder: Embedder, cache: Path) -> None:
        self._embedder = embedder
        by_document: dict[str, list[tuple[Place, str]]] = {}
        for page in pages:
            by_document.setdefault(page.document_id, []).extend((page, piece) for piece in pieces(page.text))
        parts = [*by_document.values()]
        self._pages = [page for part in parts for page, _ in part]
        self._rows = np.concatenate([_vectors([piece for _, piece in part], embedder, cache) for part in parts])
        self._ids = np.array([page.document_id for page in self._pages])

    def __call__(self, question: str, documents: frozenset[str] = frozenset()) -> list[Place]:
        """Pages of the nearest pieces, nearest first, repeats included; of these documents where any are given."""
        similarities = self._rows @ self._embedder.embed_query(question)
        if documents:
            similarities = np.where(np.isin(self._ids, [*documents]), similarities, _LEFT_OUT)
        order = np.argsort(-similarities, kind="stable")
        return [self._pages[at] for at in order if similarities[at] > _LEFT_OUT]


def pieces(text: str) -> Iterator[str]:
    whole = text.strip()
    return (whole[start : start + PIECE] for start in range(0, len(whole), PIECE))


def _vectors(texts: Sequence[str], embedder: Embedder, cache: Path) -> Vectors:
    key = hashlib.sha256("\0".join([embedder.id, *texts]).encode("utf-8", "replace")).hexdigest()[:32]
    kept = cache / f"{key}.npy"
    if kept.exists():
        stored: Vectors = np.load(kept)
        return stored
    parts = [embedder.embed_passages(texts[at : at + BATCH]) for at in range(0, len(texts), BATCH)]
    rows = np.concatenate(parts) if parts else np.zeros((0, embedder.dimension), dtype=np.float32)
    cache.mkdir(parents=True, exist_ok=True)
    np.save(kept, rows)
    return rows
