"""The report of an evaluation: one file that loads nothing, runs nothing and says what was measured."""

import re
from decimal import Decimal

import pytest
from lxml import html

from kb_qa.evaluation import plots
from kb_qa.evaluation.cases import Case
from kb_qa.evaluation.labels import outcome_label, word
from kb_qa.evaluation.report import Crops, html_report
from kb_qa.evaluation.runs import Run
from kb_qa.evaluation.scores import ORDER, Answered, Observed, Place, Rate, SaidFigure

EVIL = '<script>alert(1)</script><img src=x onerror="1">&"\u202e'
PNG = b"\x89PNG\r\n\x1a\n"


def observed(number: int, page: int, text: str = "1,200") -> Observed:
    case = Case(str(number), f"Question {number}? {EVIL}", f"{EVIL}.pdf", ((3,),), answers=("1,200",))
    figure = SaidFigure("1,200", (Decimal(1200),), Decimal(1), True, (Place("d", "d", 3),))
    seconds = {"retrieve": 0.02 * number, "answer": 0.1, "total": 0.2 * number}
    answered = Answered(text=text, figures=(figure,) if text == "1,200" else (), seconds=seconds)
    found = {name: (Place("d", f"{EVIL}.pdf", page, text=EVIL),) for name in ("", "bm25", "within", "within.bm25")}
    return Observed(case, frozenset({"d"}), found, answered)


RUN = Run("A", (observed(1, 3), observed(2, 4, EVIL)), {"knowledge base": EVIL})
OTHER = Run("B", (observed(1, 3), observed(2, 3)), {"settings": "KB_QA_TOP_K=1"})


def report(*runs: Run, language: str = "en") -> str:
    crops = {"2": Crops(PNG, "found here", PNG, "expected there")}
    return html_report(runs or (RUN,), crops, language="zh" if language == "zh" else "en", made="2026-11-30 12:00")


def test_it_loads_and_runs_nothing() -> None:
    """No script, no event handler, no address: pictures are inside, and the page's own policy allows no more."""
    tree = html.fromstring(report())
    assert tree.xpath("//script | //link | //iframe | //object | //form") == []
    assert [source[:22] for source in tree.xpath("//@src")] == ["data:image/png;base64,"] * 2
    assert tree.xpath("//@*[starts-with(name(), 'on')] | //@href | //@xlink:href", namespaces={"xlink": "x"}) == []
    policy = tree.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert policy == ["default-src 'none'; style-src 'unsafe-inline'; img-src data:"]
    assert "http:" not in report() and "https:" not in report()


def test_what_documents_say_stays_text() -> None:
    """Markup of a question, a document's name or an answer is shown as it is; controls that turn a line are gone."""
    made = report()
    assert "<script>alert" not in made and "\u202e" not in made
    said = html.fromstring(made).text_content()
    assert f"Question 2? {EVIL[:-1]}" in said


def test_misses_show_both_crops() -> None:
    """Each miss says what was expected and found, with its pictures; what went well is not among them."""
    articles = html.fromstring(report()).xpath("//article")
    assert len(articles) == 1
    assert articles[0].xpath(".//img/@alt") == ["expected there", "found here"]
    assert "not found" in articles[0].text_content()


def test_nothing_went_wrong() -> None:
    """Without a miss the section says so."""
    made = report(Run("A", (observed(1, 3),)))
    assert "every question has what was expected" in made


def test_two_configurations_stand_side_by_side() -> None:
    """The differences are there with their intervals, and both are in each plot."""
    tree = html.fromstring(report(RUN, OTHER))
    heads = tree.xpath("//h2/text()")
    assert heads[0] == "Side by side"
    table = tree.xpath("//section[h2='Side by side']//tr[td='page among the first 1']/td/text()")
    assert table[:5] == ["page among the first 1", "2", "1", "2", "+50.0"]
    assert "Side by side" not in report()


@pytest.mark.parametrize(("language", "title"), [("en", "How well questions are answered"), ("zh", "问答评测报告")])
def test_its_language_is_the_readers(language: str, title: str) -> None:
    """Headings, labels and the page's own language."""
    tree = html.fromstring(report(language=language))
    assert tree.get("lang") == language
    assert tree.xpath("//h1/text()") == [title]
    assert word("misses", "zh" if language == "zh" else "en") in tree.xpath("//h2/text()")


def test_every_outcome_has_a_label() -> None:
    """In both languages, within a document too, and no two are called the same."""
    names = [f"{name}@1" if name.endswith("hit") else name for name in ORDER]
    for language in ("en", "zh"):
        labels = [outcome_label(name, "zh" if language == "zh" else "en") for name in [*names, "page_hit@1.within"]]
        assert len(set(labels)) == len(labels)


def test_bars_are_as_high_as_their_share() -> None:
    """A bar of half the questions is half as high as one of all; whoever has no rate has no bar."""
    drawn = plots.bars(
        ["k"], [plots.Series("a", "ours", [Rate(4, 4)]), plots.Series("b", "second", [Rate(2, 4)])], title="t"
    )
    heights = [float(each) for each in re.findall(r'<rect class="\w+"[^>]* height="([\d.]+)"', drawn)]
    assert heights[0] == 2 * heights[1]
    assert "<rect" not in plots.bars(["k"], [plots.Series("a", "ours", [None])], title="t")


def test_a_histogram_holds_every_value() -> None:
    """The longest falls into the last bin, none is lost, and the marks lie where their values are."""
    drawn = plots.histogram([0.0, 0.5, 1.0], title="t", unit="s", marks={"median": 0.5, "late": 1.0})
    assert drawn.count("<rect") == 3
    assert "1 s" in drawn
    assert plots.histogram([], title="t", unit="s", marks={}).count("<rect") == 0


def test_a_matrix_counts_by_row() -> None:
    """A cell says its number and its share of the row."""
    drawn = plots.matrix({(0, 0): 3, (0, 1): 1}, ["a", "b"], ["x", "y"], title="t")
    assert "3  (75 %)" in drawn and "1  (25 %)" in drawn
