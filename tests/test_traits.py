"""Traits: what a text's characters and words call for, and nothing that a pass could have found is left out."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kb_qa.guardrails import traits
from kb_qa.guardrails.characters import normalise
from kb_qa.guardrails.lexer import WORDS, passes
from kb_qa.guardrails.quantities import Quantity

EVERYTHING = (1 << 64) - 1
_PIECES = st.sampled_from(
    (
        "0|1|5|12|2024|1998|1,234|1.5|3/4|10⁶|12:30|5.6.7|2024-03-31|31/12/2024|'000|24/7|10-K|[1]|【2】|(3)|1.|"
        " |. |\n|"
        "Q3|4Q|H1|1h24|FY25|fiscal |the first quarter|Second Half|March |31st|May 5| sept. |pm|a.m.|1990|s|'s|年代|"
        "million|in thousands|two|twenty-|half|a third of|doubled|dozens|fivefold|double-digit|http://a.com/1|b@c.de|x.pdf|"
        "www.|Section |note 3|v2|ISO |S&P |Python |A320|CO₂|GPT-4|l|O|P4·表格|§|№|第|图|表3|附注|步骤|版本|沪深|证|"
        "年|月|日|季度|上半年|前三季度|财年|度|点|时|分|下午|凌晨|至|到|-|–|~|三|十|二〇二四|百分之|分之|翻番|一半|数百|成千|几|"
        "万|亿|多|余|个|家|元|%|百分点|℃|$|¥|€|+|×|½|⅓|Ⅳ|①|²|٣|壹|廿|弍"
    ).split("|")
)


def _joined(pieces: list[str]) -> str:
    """No two words become one: what goes on in letters is another word, whatever a pass takes of it."""
    text = ""
    for piece in pieces:
        glued = text[-1:].isascii() and text[-1:].isalpha() and piece[:1].isascii() and piece[:1].isalpha()
        text += f" {piece}" if glued else piece
    return text


_TEXTS = st.lists(_PIECES, max_size=9).map(_joined)


def read_by(text: str, plan: tuple[object, ...]) -> list[tuple[str, str, int, int]]:
    """What the passes of a plan find, each span owned by the first; kind, value, span."""
    found: list[tuple[str, str, int, int]] = []
    free = text
    for read in plan:
        assert callable(read)
        taken: list[Quantity] = []
        for quantity in read(free):
            span = slice(quantity.start, quantity.end)
            if "\x00" not in free[span] and all(each.end <= span.start or span.stop <= each.start for each in taken):
                taken.append(quantity)
        for quantity in taken:
            found.append((quantity.kind, quantity.shown_value, quantity.start, quantity.end))
            free = free[: quantity.start] + "\x00" * (quantity.end - quantity.start) + free[quantity.end :]
    return sorted(found, key=lambda each: each[2:])


@settings(deadline=None, max_examples=400)
@given(st.one_of(_TEXTS, st.text(max_size=30)), st.sampled_from(["", "de"]))
@example("下午2:30", "")
@example("下午12:300", "")
def test_the_passes_left_out_would_have_found_nothing(text: str, locale: str) -> None:
    """The plan for a text's own traits reads what all passes together read."""
    normalised = normalise(text)
    own = traits.traits_of(normalised.text, normalised.characters, WORDS)
    assert read_by(normalised.text, passes(own, locale)) == read_by(normalised.text, passes(EVERYTHING, locale))


@pytest.mark.parametrize("text", ["", "No figure at all stands here.", "这里没有数字。", "Bedeutet nichts."])
def test_a_text_without_numerals_needs_no_pass_for_them(text: str) -> None:
    """Sentences without a numeral cost one look at their characters."""
    normalised = normalise(text)
    plan = passes(traits.traits_of(text, normalised.characters, WORDS), "")
    assert len(plan) <= 1  # links, where there is a full stop


@pytest.mark.parametrize(
    ("text", "bit"),
    [
        ("5", traits.DIGIT),
        ("二", traits.NUMERAL),
        ("in March", traits.MONTH_WORD),
        ("31stMarch", traits.MONTH_WORD),
        ("second-half", traits.PART_WORD),
        ("in 2024", traits.CENTURY),
        ("4Q", traits.PART_LETTER),
        ("31.12.24", traits.SEPARATED),
        ("Seven", traits.NUMBER_WORD),
        ("MILLIONS", traits.SCALE_WORD),
    ],
)
def test_traits(text: str, bit: int) -> None:
    """Digits, characters and whole words in any case have their bits, and their absence has none."""
    assert traits.traits_of(text, set(text), WORDS) & bit
    assert not traits.traits_of("marchpane, sevens", set("marchpane, sevens"), WORDS) & bit
