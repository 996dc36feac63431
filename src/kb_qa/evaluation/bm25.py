"""BM25 over plain words: what a search without any of this project's work finds. The baseline of retrieval figures."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from kb_qa.terms import inverse_frequency

# Robertson and Zaragoza 2009; the values that most libraries take.
K1 = 1.5
B = 0.75

# Lower-case words; a Chinese, Japanese or Korean character is one, as Lucene's standard analyser has it.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")


def words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


class Bm25:
    """An index of texts, built once."""

    def __init__(self, texts: Sequence[str]) -> None:
        counted = [Counter(words(text)) for text in texts]
        lengths = [counts.total() for counts in counted]
        self._mean = sum(lengths) / len(lengths) if sum(lengths) else 1.0
        self._lengths = lengths
        self._postings: dict[str, list[tuple[int, int]]] = {}
        for place, counts in enumerate(counted):
            for word, count in counts.items():
                self._postings.setdefault(word, []).append((place, count))

    def ranked(self, question: str) -> list[int]:
        """Places of the texts that say a word of the question, best first; equal ones in their order."""
        scores: dict[int, float] = {}
        for word in words(question):  # a word that is asked twice counts twice
            postings = self._postings.get(word, ())
            weight = inverse_frequency(len(postings), len(self._lengths))
            for place, count in postings:
                damped = K1 * (1 - B + B * self._lengths[place] / self._mean)
                scores[place] = scores.get(place, 0.0) + weight * count * (K1 + 1) / (count + damped)
        return sorted(scores, key=lambda place: (-scores[place], place))
