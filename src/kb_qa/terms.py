"""Index terms: the words of a text in the form in which questions and materials meet.

Lower case, half width; English stemmed; Chinese segmented, with character pairs for what the dictionary does not know;
figures without grouping (`22,000` → `22000`); codes whole and in parts (`sku-48213`). Stop words are left out.
"""

from __future__ import annotations

import functools
import logging
import marshal
import math
import re
import tempfile
import threading
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import jieba
import snowballstemmer

_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20, 0x2019: 0x27}
# Other forms of the same letters that PDF files hold: Latin ligatures, radicals and compatibility forms of Chinese.
_OTHER_FORMS = {
    code: unicodedata.normalize("NFKC", chr(code))
    for start, stop in ((0xFB00, 0xFB07), (0x2F00, 0x2FD6), (0xF900, 0xFB00))
    for code in range(start, stop)
}
_PLAIN = _FULL_WIDTH | _OTHER_FORMS
_TOKEN = re.compile(
    r"(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?%?|\d+(?:\.\d+)+%?|\d+%?(?![a-z]))"
    r"|(?P<word>[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+(?:['&./-][^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+)*)"
    r"|(?P<cjk>[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+)"
)
_STOP = frozenset(
    "a an and any are as at be been but by can did do does for from get had has have how i if in into is it its me my "
    "no not of on or our shall should so than that the their them then there these they this to us was we were what "
    "when where which who whom whose why will with would you your 's "
    "的 了 是 在 和 与 或 及 有 吗 呢 吧 啊 我 你 他 她 它 我们 你们 他们 这 那 这个 那个 "
    "什么 多少 几 哪 哪些 哪个 如何 怎么 怎样 为 对 于 等 被 把 从 到 也 都 就 而 "
    "请问 请 可以 能 会 要 一 个 之 其 是否 谁".split()
)


# The stemmer keeps the word at hand in itself: two threads at once got an IndexError, or another word's stem.
_STEMMING = threading.Lock()


def terms(text: str) -> list[str]:
    """The index terms of `text`, in order, repeats included."""
    return [term for term in _raw_terms(text.translate(_PLAIN).lower()) if term not in _STOP]


def inverse_frequency(frequency: int, count: int) -> float:
    """How much a term tells that stands in `frequency` of `count` texts: the weight of BM25, above 0."""
    return math.log(1 + (count - frequency + 0.5) / (frequency + 0.5))


def use_cache(directory: Path) -> None:
    """Keep the compiled dictionary in `directory`, which no other may write to: it is read back with `marshal`.

    Where it cannot be made, the dictionary is compiled each time.
    """
    directory = directory.expanduser()
    with suppress(OSError):
        directory.mkdir(parents=True, exist_ok=True)
    _segmenter(directory if directory.is_dir() else None)


def _raw_terms(text: str) -> Iterator[str]:
    for match in _TOKEN.finditer(text):
        token = match.group()
        if match.lastgroup == "number":
            yield token.replace(",", "").removesuffix("%")
        elif match.lastgroup == "word" and token not in _STOP:
            yield from _word_terms(token)
        elif match.lastgroup == "cjk":
            yield from _cjk_terms(token)


def _word_terms(token: str) -> Iterator[str]:
    token = token.removesuffix("'s")
    parts = re.split(r"['&./-]", token)
    yield _stem(token)
    if len(parts) > 1:
        yield from (_stem(part) for part in parts if part)


def _cjk_terms(run: str) -> Iterator[str]:
    """Words and the dictionary's words inside them; character pairs where the dictionary knows no word."""
    known = _segmenter().FREQ
    before = ""
    for word in _segmenter().cut(run):
        yield from _segmenter().cut_for_search(word) if known.get(word) else (word, *_pairs(word))
        single = word if len(word) == 1 and word not in _STOP else ""
        if before and single:
            yield before + single
        before = single


def _pairs(word: str) -> Iterator[str]:
    return (word[start : start + 2] for start in range(len(word) - 1) if len(word) > 2)


@functools.lru_cache(maxsize=50_000)
def _stem(word: str) -> str:
    with _STEMMING:
        stem: str = _stemmer().stemWord(word)
    return stem


@functools.cache
def _stemmer() -> snowballstemmer.stemmer:
    return snowballstemmer.stemmer("english")


_DICTIONARY = "jieba.cache"  # as jieba calls what it compiled
_loaded: list[jieba.Tokenizer] = []
_LOADING = threading.Lock()


def _segmenter(cache: Path | None = None) -> jieba.Tokenizer:
    """The one segmenter of the process. jieba's own default cache lies in the shared temporary folder: not used.

    Whoever comes first loads it, for a second or two; others wait: each on its own would take as long as all together.
    """
    if not _loaded:
        with _LOADING:
            if not _loaded:
                _loaded.append(_made(cache))
    return _loaded[0]


def _made(cache: Path | None) -> jieba.Tokenizer:
    jieba.setLogLevel(logging.CRITICAL)
    segmenter = jieba.Tokenizer()
    if cache is None:
        with tempfile.TemporaryDirectory() as private:
            segmenter.tmp_dir = private
            segmenter.initialize()
        return segmenter
    segmenter.tmp_dir = str(cache)
    # What it compiled before, read at once: it would read it piece by piece, which takes four times as long.
    with suppress(OSError, ValueError, EOFError, TypeError):
        segmenter.FREQ, segmenter.total = marshal.loads((cache / _DICTIONARY).read_bytes())
        segmenter.initialized = True
    if not segmenter.initialized:
        segmenter.initialize()
        with suppress(OSError):
            (cache / _DICTIONARY).chmod(0o644)  # made for others, too, where the models are
    return segmenter
