"""`kb-qa eval` on the samples, as a user runs it."""

import json
from pathlib import Path
from typing import Any

import pytest
from lxml import html

from kb_qa.errors import InputError, MissingIndexError
from kb_qa.eval_command import cases_in, other_settings, require_expected, shown_name, try_output
from kb_qa.evaluation.cases import Case
from kb_qa.ledger import Ledger
from kb_qa.settings import Settings
from tests.sample_kb import ROOT, Run, run

QUESTIONS = ROOT / "docs" / "sample-questions.jsonl"


@pytest.fixture(scope="module")
def evaluated(sample_kb: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Path]:
    report = tmp_path_factory.mktemp("eval") / "report.html"
    return run("eval", QUESTIONS, "--kb", sample_kb, "--json", "-o", report), report


def rates(done: Run, configuration: str) -> dict[str, Any]:
    found: dict[str, Any] = done.lines[-1]["summary"]["configurations"][configuration]["rates"]
    return found


@pytest.mark.slow
def test_the_samples_are_answered_as_they_should_be(evaluated: tuple[Run, Path]) -> None:
    """Every page is found, every figure but the one in a chart leads to its place, what is not there is refused."""
    done, _ = evaluated
    assert done.code == 0, done.err
    assert len(done.lines) == 26
    found = {name: (rate["hits"], rate["n"]) for name, rate in rates(done, "kb-qa").items()}
    assert found["page_hit@5"] == (12, 12)
    assert found["document_hit@1"] == (20, 20)
    assert found["refused_absent"] == (5, 5)
    assert found["failed"] == (0, 25)
    for name, n in (("figure_right", 20), ("answer_contained", 20), ("region_hit", 11)):
        assert found[name][1] == n
        assert found[name][0] >= n - 1, name
    assert found["page_hit@5.bm25"][1] == 12
    stages = done.lines[-1]["summary"]["configurations"]["kb-qa"]["seconds"]
    assert [*stages] == ["retrieve", "context", "answer", "total"]
    assert stages["retrieve"]["p50"] < stages["total"]["p50"]


@pytest.mark.slow
def test_the_report_shows_what_went_wrong(evaluated: tuple[Run, Path]) -> None:
    """A miss has the crop of what was found beside that of what was expected."""
    done, report = evaluated
    tree = html.fromstring(report.read_text(encoding="utf-8"))
    wrong = [line["id"] for line in done.lines[:-1] if not line["outcomes"].get("figure_right", True)]
    told = {article.xpath("string(h3/small)"): article for article in tree.xpath("//article")}
    assert {*wrong} <= {*told}
    assert len(told["quarter"].xpath(".//img")) == 2


@pytest.mark.slow
def test_a_setting_is_compared_on_the_same_questions(sample_kb: Path, tmp_path: Path) -> None:
    """One material in place of eight: both are asked, paired, and told in a table."""
    asked = ("eval", QUESTIONS, "--kb", sample_kb, "--limit", "2", "--compare", "KB_QA_TOP_K=1")
    done = run(*asked, "-o", tmp_path / "r.html")
    assert done.code == 0, done.err
    assert "KB_QA_TOP_K=1" in done.out and "A → B" in done.out
    assert (tmp_path / "r.html").read_text(encoding="utf-8").count("<h2>Side by side</h2>") == 1


def test_a_bad_line_ends_the_command(tmp_path: Path) -> None:
    """Nothing is asked; the file, the line and the fault are named, and the exit code is that of wrong use."""
    (tmp_path / "q.jsonl").write_text('{"question": "Q?", "pages": [0]}\n', encoding="utf-8")
    done = run("eval", tmp_path / "q.jsonl", "--kb", tmp_path / "none")
    assert done.code == 2
    assert "q.jsonl, line 1: 0 is no page" in done.err


def test_without_documents_nothing_is_measured(tmp_path: Path) -> None:
    """An empty knowledge base is something about the environment."""
    assert run("eval", QUESTIONS, "--kb", tmp_path / "none").code == 3


def test_a_report_that_is_not_made_leaves_no_file(tmp_path: Path) -> None:
    """The place is tried before anything is asked; what stood there stays."""
    try_output(tmp_path / "r.html")
    assert not (tmp_path / "r.html").exists()
    (tmp_path / "r.html").write_text("old", encoding="utf-8")
    try_output(tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == "old"
    with pytest.raises(InputError, match="cannot be written"):
        try_output(tmp_path / "no" / "r.html")


def test_what_the_second_knowledge_base_lacks_is_told_first(tmp_path: Path) -> None:
    """Of two configurations the second one's knowledge base is looked at before the first is asked."""
    Ledger.open(tmp_path / "kb", create=True).close()
    (tmp_path / "q.jsonl").write_text('{"question": "Q?"}\n', encoding="utf-8")
    asked = [("A", Settings(kb=tmp_path / "kb")), ("B", Settings(kb=tmp_path / "none"))]
    with pytest.raises(MissingIndexError, match="none"):
        require_expected(cases_in(tmp_path / "q.jsonl"), asked)
    named = [Case("7", "Q?", "lost.pdf")]
    with pytest.raises(InputError, match=r"question '7' names 'lost\.pdf', which cannot be asked"):
        require_expected(named, asked[:1])


def test_a_report_names_the_knowledge_base_as_its_owner_does(tmp_path: Path) -> None:
    """By its display name in any script, with the directory, which tells two of one name apart."""
    with Ledger.open(tmp_path / "kb", create=True) as ledger:
        assert shown_name(ledger) == "kb"
        ledger.set_name("年度报告")
        assert shown_name(ledger) == "年度报告 (kb)"


def test_folders_of_benchmarks_are_read(tmp_path: Path) -> None:
    """A folder with questions, or with contexts and their questions; any other is an error that says why."""
    with pytest.raises(InputError, match=r"neither questions.jsonl nor contexts.json"):
        cases_in(tmp_path)
    contexts = [{"table": {"uid": "t"}, "questions": [
        {"uid": "a", "question": "A?", "answer": "7", "scale": "", "answer_type": "count"},
    ]}]  # fmt: skip
    (tmp_path / "contexts.json").write_text(json.dumps(contexts), encoding="utf-8")
    assert [case.document for case in cases_in(tmp_path)] == ["t.html"]
    (tmp_path / "contexts.json").write_text("[1]", encoding="utf-8")
    with pytest.raises(InputError, match="is no set of contexts"):
        cases_in(tmp_path)
    (tmp_path / "questions.jsonl").write_text('{"question": "B?"}', encoding="utf-8")
    assert [case.question for case in cases_in(tmp_path)] == ["B?"]


def test_the_second_configuration_is_the_first_with_changes(tmp_path: Path) -> None:
    """Settings by name, or a file of them; the knowledge base stays the first's unless it is one of them."""
    first = Settings(kb=Path("first"))
    (tmp_path / "b.env").write_text("# other\nexport KB_QA_TOP_K=3\nKB_QA_KB=second\n", encoding="utf-8")
    assert other_settings(first, ["KB_QA_TOP_K=2"]).kb == Path("first")
    other = other_settings(first, [str(tmp_path / "b.env"), "KB_QA_PER_DOCUMENT=1"])
    assert (other.kb, other.top_k, other.per_document) == (Path("second"), 3, 1)


@pytest.mark.parametrize("given", ["TOP_K=3", "KB_QA_TOP_K", "KB_QA_NOTHING=1", "KB_QA_TOP_K=x"])
def test_what_is_no_setting_is_refused(given: str) -> None:
    """A name without the prefix, without a value, or that is none: an error before anything is asked."""
    with pytest.raises(InputError):
        other_settings(Settings(), [given])
