"""The extractive model: verbatim, cited, and silent where nothing covers the question."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from kb_qa.answers import BlockCitation, Context, Hit, Language, Material, ModelEvent, ModelStop, Question, TextDelta
from kb_qa.elements import Block, Chunk
from kb_qa.evidence import materials_of_context
from kb_qa.guardrails.gate import Gate
from kb_qa.guardrails.policies import STRICT
from kb_qa.models.extractive import ExtractiveModel
from kb_qa.testing import InMemoryLibrary

HANDBOOK = (
    "Employees are entitled to 15 days of annual leave.",
    "Sick leave is paid in full for 30 days.",
    "The office opens at 9:00 am.",
    "Refunds are made within 14 days of delivery.",
)
ROWS = tuple(
    f"职级：P{grade} | 基本工资：{salary} | 年终奖：{bonus}" for grade, salary, bonus in ((5, 22000, 2), (6, 28000, 3))
)


def chunk(*labelled: str, prefix: str = "", document: str = "d1", section: tuple[str, ...] = ()) -> Chunk:
    blocks = []
    for index, text in enumerate(labelled):
        cells = [part.partition("：")[2] or part for part in text.split(" | ")]
        printed = " | ".join(cells) if " | " in text else text
        blocks.append(Block(f"{document}-{index}", "e", printed, 0, len(printed), labelled=text))
    return Chunk(f"c{document}", document, 1, "a.pdf", 0, tuple(blocks), "text", "Text", section=section, prefix=prefix)


def context(*chunks: Chunk, dense: float = 0.0) -> Context:
    hits = [Hit(each, {"fused": 1.0, "dense": dense}) for each in chunks]
    return Context(tuple(Material(number, hit, "a.pdf") for number, hit in enumerate(hits, 1)), "", "")


def run(question: str, given: Context, language: Language = "en") -> list[ModelEvent]:
    async def collect() -> list[ModelEvent]:
        return [event async for event in ExtractiveModel().generate(Question(question, language), given)]

    return asyncio.run(collect())


def said(events: list[ModelEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


@pytest.mark.parametrize(
    ("question", "block"),
    [
        ("How many days of annual leave do I get?", 0),
        ("For how many days is sick leave paid?", 1),
        ("When does the office open?", 2),
        ("What is the refund period after delivery?", 3),
    ],
)
def test_the_covering_sentence_is_quoted_verbatim(question: str, block: int) -> None:
    """One sentence, as printed, with the block it stands in, and one stop at the end."""
    assert run(question, context(chunk(*HANDBOOK))) == [
        TextDelta(HANDBOOK[block]),
        BlockCitation(1, block),
        ModelStop("end_turn"),
    ]


def test_chinese_sentences() -> None:
    """Chinese is segmented; headings count for a block."""
    given = context(chunk("员工每年享有15天带薪年假。", "报销须在30日内提交。", section=("手册", "假期")))
    assert said(run("年假有多少天？", given, "zh")) == "员工每年享有15天带薪年假。"


@pytest.mark.parametrize(
    "question",
    [
        "Where can I park my car?",
        "How many days of parental leave do I get?",
        "What is the boiling point of water?",
        "宠物可以进办公室吗？",
    ],
)
def test_nothing_strong_enough_is_no_evidence(question: str) -> None:
    """Better silent than wrong: the caller refuses."""
    assert run(question, context(chunk(*HANDBOOK))) == [ModelStop("no_evidence")]


def test_no_materials() -> None:
    """An empty context is no evidence."""
    assert run("How many days?", context()) == [ModelStop("no_evidence")]


def test_the_row_of_the_code_with_the_column_asked_for() -> None:
    """A table row whose header is the code wins; one named column is said with the row's header alone."""
    given = context(chunk(*ROWS, prefix="薪酬表"))
    assert run("P6 的基本工资是多少？", given, "zh") == [
        TextDelta("职级：P6，基本工资：28000"),
        BlockCitation(1, 1),
        ModelStop("end_turn"),
    ]
    assert said(run("P5 的薪酬？", given, "zh")) == "职级：P5，基本工资：22000，年终奖：2"


def test_the_cell_of_what_is_named_is_said_with_the_column_asked_for() -> None:
    """A row that begins with a date says also whose it is."""
    row = "Date：July 17, 2025 | Company：Brackwell Golf | City：Monterey | Staff affected：56"
    asked = "How many staff are affected at Brackwell Golf?"
    assert said(run(asked, context(chunk(row)))) == "Date: July 17, 2025; Company: Brackwell Golf; Staff affected: 56"


def test_an_unknown_code_is_no_evidence() -> None:
    """P9 is not answered with the row of P5."""
    assert run("P9 的基本工资是多少？", context(chunk(*ROWS)), "zh") == [ModelStop("no_evidence")]


def test_two_codes_are_both_answered() -> None:
    """Each row that answers a part of the question is quoted, one a line."""
    text = said(run("P5 和 P6 的基本工资分别是多少？", context(chunk(*ROWS)), "zh"))
    assert text.splitlines() == ["职级：P5，基本工资：22000", "职级：P6，基本工资：28000"]


def test_periods_and_names_must_be_there() -> None:
    """The sentence of the year asked for is quoted; a name may stand anywhere in the document."""
    given = context(chunk("Acme Ltd annual report", "Revenue in 2018 was 5 million.", "Revenue in 2019 was 7 million."))
    assert said(run("What was Acme's revenue in 2019?", given)) == "Revenue in 2019 was 7 million."
    assert run("What was Globex's revenue in 2019?", given) == [ModelStop("no_evidence")]
    assert run("What was Acme's revenue in 2020?", given) == [ModelStop("no_evidence")]


def test_a_question_for_a_figure_prefers_a_block_with_one() -> None:
    """How many asks for a number, what share for a percentage."""
    given = context(
        chunk("Export sales matter to us.", "Export sales were 12% of the total.", "Export sales were 12 units.")
    )
    assert said(run("What percentage were export sales?", given)) == "Export sales were 12% of the total."


@pytest.mark.parametrize(
    ("question", "apart", "together", "language"),
    [
        pytest.param(
            "What was the net cash provided by operating activities in 2022?",
            "Cash totaled $41.9 million in 2022, as net cash provided by operating activities exceeded other outflows.",
            "In 2022, net cash provided by operating activities was $20.0 million, which reflects higher income.",
            "en",
            id="en",
        ),
        pytest.param(
            "2022年的营业成本是多少？",
            "2022年货币资金为41.9亿元，主要是因为营业成本下降。",
            "2022年营业成本为20.0亿元，毛利随之上升。",
            "zh",
            id="zh",
        ),
    ],
)
def test_a_figure_in_the_same_clause_goes_before_one_of_another_thing(
    question: str, apart: str, together: str, language: Language
) -> None:
    """A sentence may name what is asked for as the cause of something else, whose figure it says."""
    assert said(run(question, context(chunk(apart, together)), language)) == together
    assert said(run(question, context(chunk(apart)), language)) == apart


def test_of_what_is_said_equally_well_the_latest_goes_first() -> None:
    """Unless the question names a period: then what it names decides."""
    old = "We paid a dividend of $0.25 per share for the quarter ended March 31, 2022."
    new = "We paid a dividend of $0.27 per share for the quarter ended June 30, 2022."
    given = context(chunk(old, new))
    assert said(run("What is the dividend per share?", given)) == new
    assert said(run("What was the dividend per share on March 31, 2022?", given)) == old


@pytest.mark.parametrize("question", ["What was Germany's GDP in 2010?", "What was the population of Germany in 2010?"])
def test_the_row_of_a_name_does_not_answer_another_measure(question: str) -> None:
    """A table of what else the country has says nothing of what is asked."""
    given = context(
        chunk("Country：Germany | 2010：80,000", "Country：France | 2010：40,000", prefix="Production capacity")
    )
    assert run(question, given) == [ModelStop("no_evidence")]
    assert said(run("What was Germany's production capacity in 2010?", given)).endswith("80,000")


def test_what_something_is_asked_of_must_be_named_by_a_row() -> None:
    """The capacity for silicon carbide of a country says nothing of its exports."""
    given = context(chunk("Country：Norway | Silicon carbide / 2010：80,000", prefix="Production capacity"))
    assert run("What were Norway's exports of silicon carbide in 2010?", given) == [ModelStop("no_evidence")]
    assert said(run("What was Norway's capacity of silicon carbide in 2010?", given)).endswith("80,000")


def test_a_share_is_no_number_of_things() -> None:
    """`How many` is answered by a number; a share of them is asked for in other words."""
    given = context(chunk("Thirty-four percent of schools met the accountability requirements."))
    assert run("How many schools met the accountability requirements?", given) == [ModelStop("no_evidence")]
    assert said(run("What percentage of schools met the accountability requirements?", given))


def test_another_language_needs_a_high_similarity() -> None:
    """Without common words only a material very near the question is quoted, and only if its blocks are few."""
    given = context(chunk("员工每年享有15天带薪年假。"), dense=0.9)
    low = context(chunk("员工每年享有15天带薪年假。"), dense=0.8)
    many = context(chunk(*(f"第{index}条共有{index}天" for index in range(1, 9))), dense=0.9)
    assert said(run("How many days of annual leave do I get?", given)) == "员工每年享有15天带薪年假。"
    assert run("How many days of annual leave do I get?", low) == [ModelStop("no_evidence")]
    assert run("How many days of annual leave do I get?", many) == [ModelStop("no_evidence")]


def test_at_most_three_blocks() -> None:
    """A question that many blocks answer alike gets three of them."""
    given = context(chunk(*(f"Product {name} was launched." for name in ("Alpha", "Beta", "Gamma", "Delta", "Omega"))))
    events = run("Which products were launched?", given)
    assert sum(isinstance(event, BlockCitation) for event in events) == 3


def test_what_it_says_passes_the_check() -> None:
    """Every quotation is released against the block that it cites."""
    cases: list[tuple[str, Language, Context]] = [
        ("P6 的基本工资是多少？", "zh", context(chunk(*ROWS))),
        ("How many days of annual leave do I get?", "en", context(chunk(*HANDBOOK))),
    ]
    for question, language, given in cases:
        text, citation, _ = run(question, given, language)
        assert isinstance(text, TextDelta)
        assert isinstance(citation, BlockCitation)
        chunks = [material.chunk for material in given.materials]
        materials = materials_of_context(given, InMemoryLibrary(chunks), STRICT)
        gate = Gate(question, given, materials, STRICT)
        units = [unit for event in (text, citation, ModelStop("end_turn")) for unit in gate.feed(event)]
        assert units
        assert not any(unit.withheld for unit in units)


def test_line_breaks_of_a_block_are_collapsed() -> None:
    """A quotation is one line."""
    base = chunk("Annual leave\nis 15 days.")
    broken = replace(base, blocks=(replace(base.blocks[0], labelled=base.blocks[0].text),))
    assert said(run("How many days is annual leave?", context(broken))) == "Annual leave is 15 days."


@pytest.mark.parametrize(("text", "expected"), [("It shows 30 days.", ""), ("The days rise.", "The days rise.")])
def test_no_figure_of_a_models_description_is_quoted(text: str, expected: str) -> None:
    """What a model wrote of a picture may be quoted where it names no figure."""
    described = replace(chunk(text), element_type="image", origin="caption", described_by="m")
    assert (
        said(run("What does the chart of days show?", context(replace(described, prefix="The chart of days"))))
        == expected
    )


def test_a_models_description_changes_nothing_of_what_print_answers() -> None:
    """A description that repeats the question's words moves no weight, and no figure of it is quoted."""
    printed = context(chunk(*HANDBOOK))
    noise = replace(chunk(*["The days of annual leave rise to 99 days."] * 9), origin="caption", described_by="m")
    beside = context(chunk(*HANDBOOK), replace(noise, element_type="image"))
    question = "How many days of annual leave do I get?"
    assert said(run(question, beside)) == said(run(question, printed)) != ""
