"""Questions and materials meet in the same index terms, in English and Chinese."""

import itertools
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jieba
import pytest
import snowballstemmer

import kb_qa.terms
from kb_qa.terms import _made, terms, use_cache


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param("22,000", "22000", id="grouping"),
        pytest.param("２２０００", "22000", id="full-width"),
        pytest.param("ﬁnancial oﬃce", "financial office", id="ligatures"),
        pytest.param("⽂件⼯资", "文件工资", id="radicals"),
        pytest.param("12.5%", "12.5", id="percent"),
        pytest.param("Policies", "policy", id="stem"),
        pytest.param("Acme's", "acme", id="possessive"),
        pytest.param("P5", "p5", id="code"),
    ],
)
def test_two_spellings_give_the_same_terms(first: str, second: str) -> None:
    """What a reader would call the same word or figure has the same term."""
    assert terms(first) == terms(second) != []


def test_chinese_is_segmented_into_words_a_question_shares() -> None:
    """A question without spaces shares its content words with a sentence; its question words are left out."""
    assert {"基本工资", "p5"} <= set(terms("P5 的基本工资是多少？"))
    assert "多少" not in terms("P5 的基本工资是多少？")
    assert {"年假", "天"} <= set(terms("员工每年享有年假 10 天"))


def test_unknown_chinese_words_give_character_pairs() -> None:
    """A name that no dictionary holds can still be found by its pairs of characters."""
    assert {"鑫垚", "垚淼"} <= set(terms("鑫垚淼科技"))


def test_a_code_is_indexed_whole_and_in_parts() -> None:
    """An identifier is found by all of it and by its number."""
    assert {"sku-48213", "sku", "48213"} <= set(terms("SKU-48213"))


def test_stop_words_and_punctuation_give_nothing() -> None:
    """A text without content has no terms."""
    assert terms("What is the … of it? 的了吗！") == []


def test_decimal_point_is_kept() -> None:
    """4.1 and 41 are different figures."""
    assert terms("4.1") != terms("41")


def test_the_dictionary_cache_lies_where_it_is_told(tmp_path: Path) -> None:
    """The cache folder is made; where it cannot be, and where one is loaded already, all goes on."""
    use_cache(tmp_path / "cache")
    assert (tmp_path / "cache").is_dir()
    (tmp_path / "file").touch()
    use_cache(tmp_path / "file" / "cache")
    assert terms("工资") == ["工资"]


def test_a_compiled_dictionary_is_read_and_a_damaged_one_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was compiled once is not compiled again, as long as it is whole."""
    made: list[None] = []
    compiling = jieba.Tokenizer.gen_pfdict

    def counted(file: object) -> object:
        made.append(None)
        return compiling(file)

    monkeypatch.setattr(jieba.Tokenizer, "gen_pfdict", staticmethod(counted))
    first, second = _made(tmp_path), _made(tmp_path)
    assert len(made) == 1
    assert (second.FREQ, second.total) == (first.FREQ, first.total)
    [file] = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:1000])
    assert _made(tmp_path).total == first.total
    assert len(made) == 2


def test_threads_stem_one_after_the_other() -> None:
    """Words stemmed by many threads at once have the stems that they have alone."""
    words = [f"{letters}ational{letters}ies" for letters in map("".join, itertools.product("bcdfg", repeat=4))]
    alone = [snowballstemmer.stemmer("english").stemWord(word) for word in words]
    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            together = [*pool.map(terms, words)]
    finally:
        sys.setswitchinterval(switch)
    assert together == [[stem] for stem in alone]


def test_threads_that_come_first_load_one_dictionary(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty at once: the first one loads it, and the others wait for that."""
    started = threading.Barrier(20)
    made: list[object] = []

    def slow(cache: Path | None) -> object:
        made.append(object())
        time.sleep(0.05)
        return made[-1]

    def first(_: int) -> object:
        started.wait()
        return kb_qa.terms._segmenter()

    monkeypatch.setattr(kb_qa.terms, "_loaded", [])
    monkeypatch.setattr(kb_qa.terms, "_made", slow)
    with ThreadPoolExecutor(20) as threads:
        assert set(threads.map(first, range(20))) == {made[0]}
    assert len(made) == 1
