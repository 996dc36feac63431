"""Nothing is embedded twice, whatever happens to the file that remembers."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from kb_qa.embedding_cache import KEPT_DAYS, CachedEmbedder
from kb_qa.protocols import Vectors
from kb_qa.testing import HashEmbedder


@dataclass(slots=True)
class Listening:
    """Remembers which texts it was asked for."""

    id: str = "hash"
    dimension: int = 64
    asked: list[str] = field(default_factory=list)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.asked.extend(texts)
        return HashEmbedder().embed_passages(texts)

    def embed_query(self, text: str) -> Vectors:
        return HashEmbedder().embed_query(text)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "embeddings.sqlite3"


def count(path: Path) -> int:
    with closing(sqlite3.connect(path)) as file:
        return int(file.execute("SELECT count(*) FROM embeddings").fetchone()[0])


def test_a_text_is_embedded_once(path: Path) -> None:
    """In one call, in two calls and in two runs; the vectors are the embedder's, in the order of the texts."""
    first, second = Listening(), Listening()
    with CachedEmbedder(first, path) as embedder:
        rows = embedder.embed_passages(["net revenue", "staff", "net revenue"])
        embedder.embed_passages(["staff"])
    assert first.asked == ["net revenue", "staff"]
    with CachedEmbedder(second, path) as embedder:
        again = embedder.embed_passages(["staff", "parking", "net revenue"])
    assert second.asked == ["parking"]
    assert np.array_equal(rows, HashEmbedder().embed_passages(["net revenue", "staff", "net revenue"]))
    assert np.array_equal(again, HashEmbedder().embed_passages(["staff", "parking", "net revenue"]))
    assert again.dtype == np.float32


def test_no_text_is_no_row(path: Path) -> None:
    """An empty list has a matrix without rows, of the model's width; questions go to the model."""
    with CachedEmbedder(Listening(), path) as embedder:
        assert embedder.embed_passages([]).shape == (0, 64)
        assert np.array_equal(embedder.embed_query("staff"), HashEmbedder().embed_query("staff"))


@pytest.mark.parametrize("other", [Listening("other"), Listening("hash", 32)], ids=["id", "dimension"])
def test_another_model_has_vectors_of_its_own(path: Path, other: Listening) -> None:
    """Neither another model's vectors nor vectors of another size are handed out."""
    with CachedEmbedder(Listening(), path) as embedder:
        embedder.embed_passages(["staff"])
    with CachedEmbedder(other, path) as embedder:
        embedder.embed_passages(["staff"])
    assert other.asked == ["staff"]


def test_odd_texts_are_remembered(path: Path) -> None:
    """Lone surrogates, NUL and the empty text have a key each."""
    listening = Listening()
    with CachedEmbedder(listening, path) as embedder:
        for _ in range(2):
            embedder.embed_passages(["\ud800", "a\x00b", ""])
    assert len(listening.asked) == 3


def test_the_longest_not_met_go_first(path: Path) -> None:
    """Beyond the number kept, and after the days that a vector is kept; meeting a text again keeps it."""
    with CachedEmbedder(Listening(), path) as embedder:
        embedder.embed_passages(["old", "older", "new"])
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("UPDATE embeddings SET met = met - 86400 * 3")
    with CachedEmbedder(Listening(), path, most=2) as embedder:
        embedder.embed_passages(["new", "newest"])
    assert count(path) == 2
    listening = Listening()
    with CachedEmbedder(listening, path) as embedder:
        embedder.embed_passages(["new", "newest"])
    assert listening.asked == []
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("UPDATE embeddings SET met = met - ?", (86400 * (KEPT_DAYS + 1),))
    CachedEmbedder(Listening(), path).close()
    assert count(path) == 0


def test_a_damaged_file_costs_time_only(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """It is thrown away with a warning, and made anew."""
    path.parent.mkdir()
    path.write_bytes(b"no database at all" * 100)
    with CachedEmbedder(Listening(), path) as embedder:
        embedder.embed_passages(["staff"])
    assert "thrown away" in caplog.text
    assert count(path) == 1


def test_a_folder_that_cannot_be_made_is_done_without(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Texts are embedded all the same."""
    (tmp_path / "cache").write_text("a file")
    listening = Listening()
    with CachedEmbedder(listening, tmp_path / "cache" / "embeddings.sqlite3") as embedder:
        assert embedder.embed_passages(["staff"]).shape == (1, 64)
    assert "not remembered" in caplog.text
    assert listening.asked == ["staff"]
