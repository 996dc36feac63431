"""A question is read without a model: what it is about, in which document, period and place, and in other words."""

from __future__ import annotations

import pytest

from kb_qa.asked.concepts import concept_book
from kb_qa.asked.naming import DocumentNames
from kb_qa.asked.places import Places, places_in
from kb_qa.asked.reading import Asked, read_question
from kb_qa.guardrails.labels import DEFAULT_ALIASES, tokens
from kb_qa.protocols import Identity


def read(question: str) -> Asked:
    return read_question(question, concept_book())


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        pytest.param("What does page 12 say?", Places(pages=frozenset({12})), id="page"),
        pytest.param("see pp. 3-5", Places(pages=frozenset({3, 4, 5})), id="pages"),
        pytest.param("第5页讲了什么？", Places(pages=frozenset({5})), id="页"),
        pytest.param("What is in Table 3?", Places(frozenset(), frozenset({"table"}), ("table 3",)), id="table"),
        pytest.param("What does Fig. 2.1 show?", Places(frozenset(), frozenset({"image"}), ("figure 2.1",)), id="fig"),
        pytest.param("图2说明了什么", Places(frozenset(), frozenset({"image"}), ("图2",)), id="图"),
        pytest.param("Which value is in the chart?", Places(element_types=frozenset({"image"})), id="chart"),
        pytest.param("Who figures as chair at table?", Places(), id="neither"),
        pytest.param("How many pages has the report?", Places(), id="no number"),
        pytest.param("第十二页和第三页", Places(pages=frozenset({12, 3})), id="十二"),
        pytest.param("第二十至二十二页", Places(pages=frozenset({20, 21, 22})), id="二十至二十二"),
        pytest.param("What is on page three?", Places(pages=frozenset({3})), id="page three"),
        pytest.param("What is on the second page?", Places(pages=frozenset({2})), id="second page"),
        pytest.param("Which table shows net sales?", Places(element_types=frozenset({"table"})), id="which table"),
        pytest.param("According to the table, how many?", Places(element_types=frozenset({"table"})), id="according"),
        pytest.param("哪张表列出了绩效系数？", Places(element_types=frozenset({"table"})), id="哪张表"),
        pytest.param("Which figure shows revenue?", Places(element_types=frozenset({"image"})), id="which figure"),
        pytest.param("哪一幅图显示了季度收入？", Places(element_types=frozenset({"image"})), id="哪一幅图"),
        pytest.param(
            "What does the figure on page 3 show?", Places(frozenset({3}), frozenset({"image"})), id="figure on page"
        ),
        pytest.param("What figure was reported for net sales?", Places(), id="a figure that is a number"),
        pytest.param("业绩表现如何？图书馆在哪里？", Places(), id="表现"),
    ],
)
def test_where_a_question_says_to_look(question: str, expected: Places) -> None:
    """Pages, kinds of element and numbered captions, in both languages."""
    assert places_in(question) == expected


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("What does the figure on page 3 show?", ()),
        ("Which table shows operating leases?", ("oper", "leas")),
        ("What is in Table 3?", ("tabl", "3")),
        ("How many pages has the report?", ("page", "report")),
    ],
)
def test_where_to_look_is_no_word_of_what_is_looked_for(question: str, wanted: tuple[str, ...]) -> None:
    """`figure` and `page` are not looked for in passages where they say the place; a caption's are."""
    assert read(question).terms == wanted


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("What was net revenue in 2023?", ["turnov", "营业", "收入", "2023"]),
        ("2024年的净销售额是多少？", ["net", "sale", "revenu"]),
        ("归属于上市公司股东的净利润是多少？", ["归母", "net", "incom", "sharehold"]),
        ("资本开支是多少？", ["capex", "expenditur", "purchas"]),
        ("How many days of annual leave do I get?", ["年假", "vacat"]),
        ("Where is revenue of 4,860 million told?", ["4860000000"]),
        ("48.6亿元是哪一年的收入？", ["4860000000"]),
        ("Which leadership positions changed?", ["appoint", "resign", "人事"]),
    ],
)
def test_a_question_in_other_words(question: str, wanted: list[str]) -> None:
    """Synonyms and the other language, with the rest of the question."""
    assert set(wanted) <= set(read(question).other_terms)


def test_a_longer_name_goes_before_those_inside_it() -> None:
    """`dividend per share` is no question about dividends; 净利润 no part of a longer Chinese name."""
    assert [concept.said for concept in read("What was the dividend per share?").concepts] == ["dividend per share"]
    found = [concept.said for concept in read("归属于上市公司股东的净利润").concepts]
    assert found == ["归属于上市公司股东的净利润"]


def test_the_guard_knows_nothing_of_the_wider_table() -> None:
    """What is one thing for finding (`net sales`, `turnover`) is not for judging a figure."""
    assert tokens("net sales", DEFAULT_ALIASES).isdisjoint(tokens("turnover", DEFAULT_ALIASES))


def test_asides_are_no_part_of_what_is_asked() -> None:
    """What is said of the answer's form, or of the report at large, is left out of the search."""
    asked = read(
        "According to the annual report, what was the gross margin of Acme Corp. in FY22?"
        " If there is none, return 'N/A'."
    )
    assert asked.core == "what was the gross margin of Acme Corp. in FY22?"
    assert asked.years == ("2022",)
    assert asked.about == "what was the gross margin of in FY22?"
    assert read("What was Amazon.com, Inc.'s revenue?").about_terms == ("revenu",)


@pytest.mark.parametrize(
    ("question", "core"),
    [
        (
            "What is the cash flow (in USD) for Acme (within the last period or at the end of the last period)?"
            " If data is not available, return 'N/A'. Give me the amount.",
            "What is the cash flow for Acme ?",
        ),
        ("Which positions changed in the reporting period? Please list the titles.", "Which positions changed ?"),
        (
            "For Acme, what was the value of deposits at the end of the period listed in annual report?",
            "For Acme, deposits ?",
        ),
        ("List the subsidiaries of Acme. Give me the names.", "List the subsidiaries of Acme. Give me the names."),
        ("根据年报，报告期末存款余额是多少？如果没有，请回答“无”。", "存款余额是多少？"),
        ("哪些职位有变动？请给出职位名称。", "哪些职位有变动？"),
        ("In the annual report?", "In the annual report?"),
        ("If so, return it.", "If so, return it."),
    ],
)
def test_instructions_and_frames_are_left_out_of_the_search(question: str, core: str) -> None:
    """How to answer, in which currency, and in words of every report of when; a question of them alone stays."""
    assert read(question).core == core


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("What was the percentage change in prepaid expenses between 2018 and 2019?", "prepaid expens 2018 2019"),
        ("What is the difference in net profit from 2018 to 2019?", "net profit 2018 2019"),
        ("What is the average of total assets for 2018 and 2019?", "total asset 2018 2019"),
        ("How do we change a password?", "chang password"),  # nothing is computed
        ("2018年和2019年存货的变动率是多少？", "2018 年 2019 年 存货"),
        ("怎样修改密码？", "修改 密码"),
    ],
)
def test_what_is_to_be_computed_is_no_part_of_what_is_looked_for(question: str, wanted: str) -> None:
    """A table prints the years and the label, and not the change between them."""
    assert " ".join(read(question).terms) == wanted


IDENTITIES = [
    Identity("sonic", ("682de8e45fd9688f3452bc0e18257132a8f3cff6.pdf",), "", ("SONIC AUTOMOTIVE, INC.", "FORM 10-K")),
    Identity("policy", ("travel-policy.docx",), "Travel policy"),
    Identity("hb", ("hb.md",), "员工手册"),
    Identity("albany", ("da66.pdf",), "", ("Albany International Corp", "FORM 10-K")),
    Identity("twin", ("a.pdf",), "", ("Sonic Foundry, Inc.", "FORM 10-K")),
    Identity("other", ("b.pdf",), "", ("FORM 10-K",)),
]


@pytest.mark.parametrize(
    ("question", "named"),
    [
        pytest.param("What was the revenue of Sonic Automotive, Inc. in 2022?", {"sonic"}, id="company"),
        pytest.param("What does the travel policy say about hotels?", {"policy"}, id="file name"),
        pytest.param("员工手册里年假几天？", {"hb"}, id="title"),
        pytest.param("Which Form 10-K names a CFO?", set(), id="what most are called"),
        pytest.param("What was the revenue of Globex Ltd.?", set(), id="nobody"),
    ],
)
def test_documents_that_a_question_names(question: str, named: set[str]) -> None:
    """By their files, titles and the companies they are of; a word that most share names none."""
    found = DocumentNames({each.document_id: each for each in IDENTITIES}).named_by(read(question))
    assert {each for each, sure in found.items() if sure > 0.9} == named


HEADED = [
    Identity("notes", ("c.html",), "", ("Note 15. Deferred Charges", "Charges consist of the following:", "3. Leases")),
    Identity("zh", ("d.html",), "", ("第三章 租赁", "蓝海科技股份有限公司", "租赁负债如下：")),
    Identity("north", ("e.html",), "", ("North Atlantica",)),
    Identity("worth", ("f.html",), "", ("Goodwill",)),
]


@pytest.mark.parametrize(
    ("question", "named"),
    [
        pytest.param("What were Deferred Charges in 2022?", set(), id="the heading of a note"),
        pytest.param("What do Charges consist of?", set(), id="a sentence"),
        pytest.param("What were Leases in 2022?", set(), id="a numbered heading"),
        pytest.param("What were sales in Atlantica?", set(), id="the end of another name"),
        pytest.param("What was Goodwill in 2022?", set(), id="a measure"),
        pytest.param("蓝海科技股份有限公司的租赁负债是多少？", {"zh"}, id="a company in Chinese"),
        pytest.param("“租赁”是怎么规定的？", set(), id="a chapter in Chinese"),
    ],
)
def test_a_heading_inside_a_document_is_no_name_of_it(question: str, named: set[str]) -> None:
    """Sentences, numbered headings and measures name no document, nor the end of another name; a company does."""
    found = DocumentNames({each.document_id: each for each in HEADED}).named_by(read(question))
    assert {each for each, sure in found.items() if sure > 0.9} == named


def test_a_name_that_tells_no_document_is_asked_about() -> None:
    """`BMW` is looked for inside the report that the other name tells; where both tell documents, neither is."""
    asked = read_question("What share of Sonic Automotive's revenue came from BMW?", concept_book())
    sonic = [name for name in asked.names if name.text.startswith("Sonic")]
    told = asked.with_names(sonic)
    assert "BMW" in told.about and "bmw" in told.about_terms and "sonic" not in told.about_terms
    assert "bmw" not in asked.about_terms
    assert asked.with_names(asked.names) == asked
