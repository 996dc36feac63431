"""Texts to token ids, by a model folder's `tokenizer.json`.

A vocabulary of 250,000 scored pieces takes `tokenizers` about a second to load, which a command that asks one question
should not pay. What a Unigram model makes of a text depends only on the pieces that occur in it: where a folder has an
index of them, questions are cut by a model of those, until the whole one is needed for passages.
"""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import numpy as np
import tokenizers

from kb_qa.errors import EnvironmentProblemError

Windows = list[list[int]]  # token ids, special ones included; more than one where a text is longer than the model reads

_INDEX = "piece_index"
_RULES, _SORTED, _IDS, _SCORES = "rules.json", "sorted.npy", "ids.npy", "scores.npy"


class Pieces:
    """`limit` is how many tokens the model reads at once. Threads may share it. Raises EnvironmentProblemError."""

    def __init__(self, file: Path, limit: int) -> None:
        self._file = file
        self._limit = limit
        self._lock = threading.Lock()
        self._whole: tokenizers.Tokenizer | None = None
        self._few = _FewPieces(file.parent / _INDEX, limit) if (file.parent / _INDEX).is_dir() else None
        if self._few is None:
            self._load()

    def of_passage(self, text: str) -> Windows:
        return [part.ids for part in _parts(self._load().encode(text))]

    def of_question(self, text: str) -> Windows:
        """The same ids as `of_passage`."""
        few = self._few
        return few.windows(text) if few is not None and few.serves(text) else self.of_passage(text)

    def _load(self) -> tokenizers.Tokenizer:
        with self._lock:
            if self._whole is None:
                try:
                    self._whole = tokenizers.Tokenizer.from_file(str(self._file))
                except Exception as error:  # the package raises nothing narrower
                    raise EnvironmentProblemError(
                        f"{str(self._file)!r} is no tokenizer that can be read: {error}"
                    ) from error
                self._whole.enable_truncation(self._limit)
                self._whole.no_padding()
                self._few = None
            return self._whole


def write_index(description: dict[str, Any], folder: Path) -> None:
    """Beside the `tokenizer.json` that `description` is, of a Unigram model."""
    model = description["model"]
    names = [name for name, _ in model["vocab"]]
    pieces = np.array([name.encode() for name in names])
    order = np.argsort(pieces, kind="stable")
    unknown = model["unk_id"]
    # The score of what is unknown follows from the lowest of all.
    always = [model["vocab"][unknown], min(model["vocab"], key=lambda pair: pair[1])]
    rules = {
        "unknown": unknown,
        "longest": max(map(len, names)),
        "tokenizer": description | {"model": model | {"vocab": always, "unk_id": 0}},
    }
    (folder / _INDEX).mkdir()
    (folder / _INDEX / _RULES).write_text(json.dumps(rules), encoding="utf-8")
    np.save(folder / _INDEX / _SORTED, pieces[order])
    np.save(folder / _INDEX / _IDS, order.astype(np.int32))
    np.save(folder / _INDEX / _SCORES, np.array([score for _, score in model["vocab"]], dtype=np.float64)[order])


class _FewPieces:
    def __init__(self, index: Path, limit: int) -> None:
        try:
            rules = json.loads((index / _RULES).read_text(encoding="utf-8"))
            self._sorted, self._ids, self._scores = (
                np.load(index / name, mmap_mode="r") for name in (_SORTED, _IDS, _SCORES)
            )
        except (OSError, ValueError, EOFError) as error:
            raise EnvironmentProblemError(f"{str(index)!r} cannot be read ({error}); delete its folder") from error
        truncation = {"direction": "Right", "max_length": limit, "strategy": "LongestFirst", "stride": 0}
        self._rules = rules["tokenizer"] | {"truncation": truncation}
        self._unknown = int(rules["unknown"])
        self._longest = int(rules["longest"])
        self._marks = {token["content"]: int(token["id"]) for token in self._rules["added_tokens"]}
        self._cutter = self._tokenizer([])

    def serves(self, text: str) -> bool:
        """Where a special token stands in a text, what is beside it is cut apart from the rest."""
        return not any(mark in text for mark in self._marks)

    def windows(self, text: str) -> Windows:
        cutter = self._cutter
        words = cutter.pre_tokenizer.pre_tokenize_str(cutter.normalizer.normalize_str(text))
        parts = {
            word[start:end].encode()
            for word, _ in words
            for start in range(len(word))
            for end in range(start + 1, min(len(word), start + self._longest) + 1)
        }
        # Of the table's own type: another would make numpy copy the table.
        wanted = np.array([part for part in parts if len(part) <= self._sorted.itemsize], dtype=self._sorted.dtype)
        places = np.minimum(np.searchsorted(self._sorted, wanted), len(self._sorted) - 1)
        places = np.sort(places[self._sorted[places] == wanted])
        pieces = [bytes(piece).decode() for piece in self._sorted[places]]
        ids = dict(zip(pieces, self._ids[places].tolist(), strict=True)) | self._marks
        encoding = self._tokenizer(list(zip(pieces, self._scores[places].tolist(), strict=True))).encode(text)
        return [[ids.get(token, self._unknown) for token in part.tokens] for part in _parts(encoding)]

    def _tokenizer(self, pieces: list[tuple[str, float]]) -> tokenizers.Tokenizer:
        model = self._rules["model"]
        model = model | {"vocab": [*model["vocab"], *pieces]}
        return tokenizers.Tokenizer.from_str(json.dumps(self._rules | {"model": model}))


def _parts(encoding: tokenizers.Encoding) -> list[tokenizers.Encoding]:
    return [encoding, *encoding.overflowing]
