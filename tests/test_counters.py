"""Counters add up from any thread and read as Prometheus reads them."""

import threading

import pytest

from kb_qa.counters import Counters


def test_counters_are_told_in_the_exposition_format() -> None:
    """Help, type and a line a set of labels, sorted; gauges behind them; label values escaped."""
    counters = Counters()
    counters.add("model_tokens", 5, kind="output_tokens")
    counters.add("model_tokens", 7, kind='a"b\n')
    text = counters.text({"documents_ready": ("Documents.", 3.0)})
    assert '# TYPE kb_qa_model_tokens_total counter\nkb_qa_model_tokens_total{kind="a\\"b\\n"} 7\n' in text
    assert 'kb_qa_model_tokens_total{kind="output_tokens"} 5\n' in text
    assert text.endswith(
        "# HELP kb_qa_documents_ready Documents.\n# TYPE kb_qa_documents_ready gauge\nkb_qa_documents_ready 3\n"
    )


def test_nothing_is_lost_between_threads() -> None:
    """Four threads, a thousand times each."""
    counters = Counters()
    threads = [threading.Thread(target=lambda: [counters.add("model_retries") for _ in range(1000)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counters.value("model_retries") == 4000


def test_a_name_that_is_not_counted_is_a_defect() -> None:
    """A misspelt counter does not start a new one."""
    with pytest.raises(KeyError):
        Counters().add("model_callz")


def test_the_hit_ratio_is_that_of_all_input() -> None:
    """0 before the first token; then what was read by all input tokens."""
    counters = Counters()
    assert counters.cache_hit_ratio() == 0.0
    for kind, amount in (("input_tokens", 10), ("cache_creation_input_tokens", 30), ("cache_read_input_tokens", 60)):
        counters.add("model_tokens", amount, kind=kind)
    counters.add("model_tokens", 1000, kind="output_tokens")
    assert counters.cache_hit_ratio() == 0.6
