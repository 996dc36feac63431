"""What answers to questions with known answers are worth: cases, baselines, scores, intervals."""

import json
from decimal import Decimal
from typing import Any

import pytest

from kb_qa.errors import InputError
from kb_qa.evaluation.bm25 import Bm25, words
from kb_qa.evaluation.cases import Case, read_cases
from kb_qa.evaluation.context_set import context_cases
from kb_qa.evaluation.intervals import paired, quantile, wilson
from kb_qa.evaluation.page_search import PageSearch
from kb_qa.evaluation.runs import Run, missed, question_line, summary_line
from kb_qa.evaluation.scores import Answered, Observed, Place, SaidFigure, differences, outcomes, page_rank, summary
from kb_qa.evaluation.values import contained, is_figure
from kb_qa.geometry import BBox, Region

DOCUMENT = frozenset({"d"})
BOX = BBox(100, 100, 200, 130)


def line(**fields: Any) -> bytes:
    return json.dumps({"question": "Q?", **fields}, ensure_ascii=False).encode()


def place(page: int | None, document: str = "d", bbox: BBox | None = None) -> Place:
    return Place(document, f"{document}.pdf", page, bbox)


def figure(value: str, page: int = 3, *, supported: bool = True, document: str = "d") -> SaidFigure:
    return SaidFigure(value, (Decimal(value),), Decimal(1), supported, (place(page, document),))


def observed(case: Case, *found: Place, answered: Answered | None = None, **baselines: tuple[Place, ...]) -> Observed:
    return Observed(case, DOCUMENT if case.document else frozenset(), {"": found, **baselines}, answered)


CASE = Case("1", "Q?", "d.pdf", ((3, 4),), answers=("1,200",))


def test_a_line_says_what_is_known() -> None:
    """Pages of which one is enough, several right answers, a region; an id is the line's number where none is given."""
    bbox = [1, 2, 3, 4]
    lines = [
        line(document="a.pdf", pages=[4, 5], answers=["12 days", 12], kind="number"),
        b"",
        line(document="a.pdf", region={"page": 2, "bbox": bbox}, id="x"),
        line(not_in_documents=True),
    ]
    assert read_cases(lines, "q") == (
        Case("1", "Q?", "a.pdf", ((4, 5),), answers=("12 days", "12"), kind="number"),
        Case("x", "Q?", "a.pdf", ((2,),), Region(2, BBox(1, 2, 3, 4))),
        Case("4", "Q?", absent=True),
    )


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"kind": "number", "answers": ["N/A"], "page_pools": []}, True),
        ({"kind": "boolean", "answers": ["False"], "page_pools": []}, True),
        ({"kind": "boolean", "answers": ["False"], "page_pools": [[7]], "document": "a.pdf"}, False),
        ({"kind": "names", "answers": ["False"], "page_pools": []}, False),
    ],
    ids=["n/a", "false without pages", "false with pages", "a name"],
)
def test_a_public_sets_words_for_absent(given: dict[str, Any], expected: bool) -> None:
    """`N/A`, and a no that no page says, are questions to refuse."""
    assert read_cases([line(**given)], "q")[0].absent is expected


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (b"{", "not JSON"),
        (b"\xff", "not UTF-8"),
        (b"[]", "an object"),
        (line(question=""), "question must be"),
        (line(page=3), "'page' is no field"),
        (line(document="a", pages=[0]), "0 is no page"),
        (line(pages=[1]), "name it as document"),
        (line(document="a", region={"page": 1, "bbox": [3, 0, 1, 1]}), "x0 < x1"),
        (line(answer="a", answers=["b"]), "not both"),
        (line(answer="a", not_in_documents=True), "can have no answer"),
        (line(not_in_documents="yes"), "true or false"),
        (line(answers=[True]), "a text or a number"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_bad_line_is_named(bad: bytes, told: str) -> None:
    """The message has the file, the number of the line, and what is wrong with it."""
    with pytest.raises(InputError, match=r"questions\.jsonl, line 3: ") as raised:
        read_cases([line(), b"", bad], "questions.jsonl")
    assert told in str(raised.value)


def test_an_id_is_used_once() -> None:
    """Two questions of one id could not be told apart when configurations are compared."""
    with pytest.raises(InputError, match="line 2: the id 'x' was used before"):
        read_cases([line(id="x"), line(id="x")], "q")


def test_no_questions_are_an_error() -> None:
    """An empty file measures nothing."""
    with pytest.raises(InputError, match="has no question"):
        read_cases([b" "], "q")


def test_contexts_are_documents() -> None:
    """A question to a context names its document; a value has its scale, and several values are not scored."""
    asked = [
        {"uid": "a", "question": "A?", "answer": ["1,496.5"], "scale": "million", "answer_type": "span"},
        {"uid": "b", "question": "B?", "answer": 12.5, "scale": "percent", "answer_type": "arithmetic"},
        {"uid": "c", "question": "C?", "answer": ["x", "y"], "scale": "", "answer_type": "multi-span"},
    ]
    cases = [*context_cases([{"table": {"uid": "t"}, "questions": asked}])]
    assert [case.answers for case in cases] == [("1,496.5 million",), ("12.5%",), ()]
    assert {case.document for case in cases} == {"t.html"}


def test_the_plain_search_reads_plain_words() -> None:
    """Lower-case words, and every Chinese character by itself: no stemming, no segmentation, no normal form."""
    assert words("Net Revenues 4,812 营收") == ["net", "revenues", "4", "812", "营", "收"]


def test_bm25_prefers_rare_words_in_short_texts() -> None:
    """The scores are those of Robertson and Zaragoza; a text without any word of the question is not found."""
    index = Bm25(["the cat sat", "the dog sat", "the dog sat on the mat and the cat", "birds"])
    assert index.ranked("cat the") == [0, 2, 1]
    assert index.ranked("unknown") == []


def test_the_plain_search_keeps_to_a_document() -> None:
    """Within a document its own pages make the index."""
    pages = [Place("a", "a", 1, text="rent"), Place("b", "b", 1, text="rent rent"), Place("b", "b", 2, text="pay")]
    search = PageSearch(pages)
    assert [found.key for found in search("rent")] == [("b", 1), ("a", 1)]
    assert [found.key for found in search("rent", frozenset({"a"}))] == [("a", 1)]


@pytest.mark.parametrize(
    ("expected", "answer", "right"),
    [
        ("22000", "基本工资：22,000（单位：元/月）", True),
        ("206100000.0", "Revenue was $206.1 million [1]", True),
        ("41亿元", "营业收入为4,100百万元", True),
        ("22000", "基本工资：22,100", False),
        ("22000", "122000", False),
        ("12天", "员工每年有 12 天年假", True),
        ("President", "The PRESIDENT and chief", True),
        ("President", "Vicepresident", False),
        ("12.5%", "rose by 12.5 percent", True),
        ("(1,204)", "Selling: (1,204)", True),
    ],
    ids=["grouping", "scale", "chinese", "another value", "part of a number", "spaces", "case", "part of a word",
         "percent", "brackets"],
)  # fmt: skip
def test_an_answer_says_it(expected: str, answer: str, right: bool) -> None:
    """Texts by their words, figures by their value, however either is written."""
    assert contained(expected, answer) is right


@pytest.mark.parametrize(
    ("text", "expected"),
    [("206100000.0", True), ("31.2%", True), ("14 days", True), ("Tier 2", False), ("Non-Executive Director", False)],
    ids=["number", "percent", "duration", "a name with a number", "a name"],
)
def test_what_counts_as_a_figure(text: str, expected: bool) -> None:
    """An expected answer is a figure where it is one quantity and nothing else."""
    assert is_figure(text) is expected


def test_pages_count_once() -> None:
    """Several passages of one page are one page; a page of the same number in another document is another."""
    seen = observed(CASE, place(1), place(1), place(3, "other"), place(4))
    assert page_rank(seen, seen.found[""]) == 3
    found = outcomes(seen)
    assert (found["page_hit@1"], found["page_hit@3"], found["document_hit@1"]) == (False, True, True)


def test_each_searcher_has_its_outcomes() -> None:
    """The baseline's stand beside ours, within the document and over all."""
    seen = observed(CASE, place(3), within=(place(3),), **{"bm25": (place(9),), "within.bm25": (place(9), place(3))})
    found = outcomes(seen)
    assert (found["page_hit@1"], found["page_hit@1.bm25"]) == (True, False)
    assert (found["page_hit@1.within"], found["page_hit@3.within.bm25"]) == (True, True)
    assert "document_hit@1.within" not in found


@pytest.mark.parametrize(
    ("said", "right"),
    [
        (figure("1200"), True),
        (figure("1200", page=9), False),
        (figure("1200", supported=False), False),
        (figure("1200", document="other"), False),
        (figure("1300"), False),
    ],
    ids=["right", "another page", "unsupported", "another document", "another value"],
)
def test_a_figure_is_right_with_its_place(said: SaidFigure, right: bool) -> None:
    """The expected value, supported, on an expected page of the expected document."""
    seen = observed(CASE, answered=Answered(text="…", figures=(said,)))
    assert outcomes(seen)["figure_right"] is right


@pytest.mark.parametrize(
    ("cited", "hit"),
    [
        (place(3, bbox=BBox(90, 108, 400, 122)), True),
        (place(3, bbox=BBox(90, 128, 400, 142)), False),
        (place(4, bbox=BOX), False),
        (place(3), False),
        (place(3, "other", BOX), False),
    ],
    ids=["the row's print", "the next row", "another page", "no box", "another document"],
)
def test_a_region_is_hit(cited: Place, hit: bool) -> None:
    """A line of print in the expected cell is that place; the line below, which only touches it, is not."""
    case = Case("1", "Q?", "d.pdf", ((3,),), Region(3, BOX))
    assert outcomes(observed(case, answered=Answered(cited=(cited,))))["region_hit"] is hit


def test_every_pool_is_cited() -> None:
    """An answer that rests on two places cites a page of each."""
    case = Case("1", "Q?", "d.pdf", ((1, 2), (7,)))
    one, both = (Answered(cited=tuple(map(place, pages))) for pages in ((2, 1), (2, 7)))
    assert not outcomes(observed(case, answered=one))["pages_cited"]
    assert outcomes(observed(case, answered=both))["pages_cited"]


def test_refusals_right_and_wrong() -> None:
    """A refusal is right where nothing answers the question, wrong where something does; an error is neither."""
    refused, failed = Answered(refused=True), Answered(error="no model", refused=True)
    absent = Case("1", "Q?", absent=True)
    assert outcomes(observed(absent, answered=refused)) == {"failed": False, "refused_absent": True}
    assert outcomes(observed(absent, answered=failed)) == {"failed": True, "refused_absent": False}
    assert outcomes(observed(CASE, answered=refused))["refused_answerable"]


def test_what_is_not_known_is_not_scored() -> None:
    """A question without any expectation is asked, and counts only where it fails."""
    assert outcomes(observed(Case("1", "Q?"), place(1), answered=Answered(text="x"))) == {"failed": False}


def test_a_boolean_is_not_looked_for_in_quotations() -> None:
    """No passage says "True"; whether it was refused and what it cites still count."""
    found = outcomes(observed(Case("1", "Q?", "d.pdf", answers=("True",), kind="boolean"), answered=Answered()))
    assert "answer_contained" not in found
    assert not found["refused_answerable"]


def test_what_went_wrong_is_named() -> None:
    """Only what should be otherwise; where a page was expected, the document alone is no second miss."""
    seen = observed(CASE, place(9, "other"), answered=Answered(refused=True))
    assert missed(seen) == ["page_hit@5", "answer_contained", "figure_right", "refused_answerable"]
    assert missed(observed(Case("1", "Q?", absent=True), answered=Answered(refused=True))) == []


def test_a_rate_has_its_interval() -> None:
    """Wilson's interval of 5 of 10, and of nothing."""
    assert wilson(5, 10) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert wilson(0, 0) == (0.0, 1.0)


def test_a_paired_difference_has_its_interval() -> None:
    """Newcombe's own example: 32 of 50 beside 22 of 50, 20 in both; his method 10 gives .0562 to .3290."""
    pairs = [(True, True)] * 20 + [(True, False)] * 12 + [(False, True)] * 2 + [(False, False)] * 16
    difference, low, high = paired([after for _, after in pairs], [before for before, _ in pairs])
    assert difference == pytest.approx(0.2)
    assert (low, high) == pytest.approx((0.0562, 0.3290), abs=2e-3)


def test_equal_outcomes_differ_by_nothing() -> None:
    """The interval holds zero, whatever the share is, and no questions say nothing."""
    difference, low, high = paired([True] * 9 + [False], [True] * 9 + [False])
    assert difference == 0 and low < 0 < high
    assert paired([], []) == (0.0, -1.0, 1.0)


def test_quantiles_lie_between_values() -> None:
    """Linear, as numpy has them."""
    assert quantile([3, 1, 2, 4], 0.5) == 2.5
    assert quantile([1, 2], 0.95) == pytest.approx(1.95)
    assert quantile([], 0.5) == 0


def test_configurations_are_compared_question_by_question() -> None:
    """Only questions that both have; who alone was right is counted."""
    first = [observed(CASE, place(9)), observed(Case("2", "Q?", "d.pdf", ((1,),)), place(1))]
    second = [observed(CASE, place(3)), observed(Case("3", "Q?", "d.pdf", ((1,),)), place(1))]
    found = differences(first, second)["page_hit@1"]
    assert (found.n, found.first, found.second, found.only_first, found.only_second) == (1, 0, 1, 0, 1)


def test_a_summary_has_counts_and_seconds() -> None:
    """Hits, n and interval of each outcome, median and 95th percentile of each stage, and what differs."""
    answered = Answered(text="1,200", figures=(figure("1200"),), seconds={"retrieve": 0.25, "total": 1.0})
    run = Run("A", (observed(CASE, place(3), answered=answered),), {"documents": "1"})
    line = summary_line([run, run])["summary"]
    assert line["configurations"]["A"]["rates"]["page_hit@1"] == {
        "hits": 1, "n": 1, "share": 1.0, "low": 0.2065, "high": 1.0,
    }  # fmt: skip
    assert line["configurations"]["A"]["seconds"]["retrieve"] == {"n": 1, "p50": 0.25, "p95": 0.25}
    assert line["differences"]["figure_right"]["difference"] == 0
    told = question_line("A", run.observed[0])
    assert told["ranks"]["ours"] == {"page": 1, "document": 1}
    assert told["found"] == [{"document": "d.pdf", "document_id": "d", "page": 3}]
    assert json.dumps(told)


def test_rates_stand_in_a_fixed_order() -> None:
    """The table reads the same whatever question comes first."""
    absent = observed(Case("0", "Q?", absent=True), answered=Answered(refused=True))
    rates = [*summary([absent, observed(CASE, place(3), answered=Answered())])]
    assert rates.index("document_hit@1") < rates.index("page_hit@10") < rates.index("figure_right")
    assert rates[-1] == "failed"
