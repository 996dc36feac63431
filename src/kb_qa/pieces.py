"""Texts to token ids, by a model folder's `tokenizer.json`.

A vocabulary of 250,000 scored pieces takes `tokenizers` about a second to load, which a command that asks one question
should not pay. What a Unigram model makes of a text depends only on the pieces that occur in it: questions are cut by a
model of those, until the whole one is needed for passages.
"""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import tokenizers

from kb_qa.errors import EnvironmentProblemError

Windows = list[list[int]]  # token ids, special ones included; more than one where a text is longer than the model reads


class Pieces:
    """`limit` is how many tokens the model reads at once. Threads may share it. Raises EnvironmentProblemError."""

    def __init__(self, file: Path, limit: int) -> None:
        self._file = file
        self._limit = limit
        self._lock = threading.Lock()
        self._whole: tokenizers.Tokenizer | None = None
        try:
            self._text = file.read_text(encoding="utf-8")
            self._few = _FewPieces(json.loads(self._text), limit) if '"Unigram"' in self._text else None
        except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
            raise EnvironmentProblemError(f"{str(file)!r} is no tokenizer that can be read: {error}") from error
        if self._few is None:
            self._load()

    def of_passage(self, text: str) -> Windows:
        return _windows(self._load().encode(text))

    def of_question(self, text: str) -> Windows:
        """The same ids as `of_passage`."""
        few = self._few
        return few.windows(text) if few is not None and few.serves(text) else self.of_passage(text)

    def _load(self) -> tokenizers.Tokenizer:
        with self._lock:
            if self._whole is None:
                self._whole = _tokenizer(self._text, self._file)
                self._whole.enable_truncation(self._limit)
                self._whole.no_padding()
                self._text, self._few = "", None
            return self._whole


class _FewPieces:
    def __init__(self, description: dict[str, Any], limit: int) -> None:
        model = description["model"]
        vocabulary = model["vocab"]
        truncation = {"direction": "Right", "max_length": limit, "strategy": "LongestFirst", "stride": 0}
        self._description = description | {"truncation": truncation, "padding": None}
        self._vocabulary = vocabulary
        self._unknown = int(model["unk_id"])
        # The score of what is unknown follows from the lowest of all.
        self._always = [vocabulary[self._unknown], min(vocabulary, key=lambda pair: pair[1])]
        self._model = model | {"unk_id": 0}
        added = {token["content"]: int(token["id"]) for token in description["added_tokens"]}
        self._ids = {pair[0]: place for place, pair in enumerate(vocabulary)} | added
        self._marks = tuple(added)
        self._longest = max(map(len, self._ids))
        self._cutter = self._tokenizer([])

    def serves(self, text: str) -> bool:
        """Where a special token stands in a text, what is beside it is cut apart from the rest."""
        return not any(mark in text for mark in self._marks)

    def windows(self, text: str) -> Windows:
        cutter = self._cutter
        plain = text if cutter.normalizer is None else cutter.normalizer.normalize_str(text)
        words = [(plain, None)] if cutter.pre_tokenizer is None else cutter.pre_tokenizer.pre_tokenize_str(plain)
        places = {
            place
            for word, _ in words
            for start in range(len(word))
            for end in range(start + 1, min(len(word), start + self._longest) + 1)
            if (place := self._ids.get(word[start:end])) is not None and place < len(self._vocabulary)
        }
        encoding = self._tokenizer([self._vocabulary[place] for place in sorted(places)]).encode(text)
        parts = (encoding, *encoding.overflowing)
        return [[self._ids.get(token, self._unknown) for token in part.tokens] for part in parts]

    def _tokenizer(self, pieces: list[Any]) -> tokenizers.Tokenizer:
        model = self._model | {"vocab": [*self._always, *pieces]}
        return _tokenizer(json.dumps(self._description | {"model": model}), Path("tokenizer.json"))


def _tokenizer(text: str, file: Path) -> tokenizers.Tokenizer:
    try:
        return tokenizers.Tokenizer.from_str(text)
    except Exception as error:  # the package raises nothing narrower
        raise EnvironmentProblemError(f"{str(file)!r} is no tokenizer that can be read: {error}") from error


def _windows(encoding: tokenizers.Encoding) -> Windows:
    return [part.ids for part in (encoding, *encoding.overflowing)]
