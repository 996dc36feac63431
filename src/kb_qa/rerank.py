"""A cross-encoder reads question and passage together: slower and finer than vectors, for the best few."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from kb_qa.embed import load_sentence_transformers
from kb_qa.errors import EnvironmentProblemError
from kb_qa.model_files import model_digest, model_folder, model_name


class CrossEncoderReranker:
    """A sentence-transformers CrossEncoder with one score, by folder or by a name whose files are on this machine.

    Raises EnvironmentProblemError where that is none.
    """

    def __init__(self, name_or_folder: str) -> None:
        package = load_sentence_transformers()
        folder = model_folder(name_or_folder)
        try:
            self._model = package.CrossEncoder(str(folder), local_files_only=True)
        except (OSError, ValueError, KeyError, RuntimeError) as error:  # what the package raises of files it cannot use
            told = str(error).partition("\n")[0]
            raise EnvironmentProblemError(f"{name_or_folder!r} cannot be loaded (KB_QA_RERANKER): {told}") from error
        self._lock = threading.Lock()  # tokenizers refuse to be used by two threads at once
        self.id = f"sentence-transformers/{model_name(name_or_folder, folder)}@{model_digest(folder)}"

    def score(self, question: str, passages: Sequence[str]) -> Sequence[float]:
        """One score per passage; higher is better."""
        if not passages:
            return ()
        pairs = [(question, passage) for passage in passages]
        with self._lock:
            return [float(score) for score in self._model.predict(pairs, show_progress_bar=False)]
