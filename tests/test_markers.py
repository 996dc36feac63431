"""Markers are found however the stream is cut; what is no marker passes unchanged, and soon."""

from __future__ import annotations

import cProfile
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_qa.markers import HOLD_BACK, Mark, MarkerStream, Part


def marked(text: str, known: Sequence[int] = (1, 2, 3)) -> tuple[list[str | Mark], int]:
    """The parts of the whole text in one piece, and the markers dropped."""
    stream = MarkerStream(known)
    return joined([*stream.feed(text), *stream.close()]), stream.dropped


def joined(parts: Sequence[str | Mark]) -> list[str | Mark]:
    out: list[str | Mark] = []
    for part in parts:
        if out and isinstance(part, str) and isinstance(last := out[-1], str):
            out[-1] = last + part
        else:
            out.append(part)
    return out


def test_markers_are_found_wherever_the_text_is_cut() -> None:
    """S4.2: a marker split over any number of deltas is recognised."""
    stream = MarkerStream([7])
    parts = [part for character in "It rose [1](id=7)." for part in stream.feed(character)]
    assert joined([*parts, *stream.close()]) == ["It rose ", Mark(7), "."]


@pytest.mark.parametrize(
    "text",
    [
        "see [2023] and a[0] and f(x)[1] and x[2] and row_total[1] and x2[1] and itemCount[1]",
        "`x[1](id=1)` and ``a ` b [1](id=1)``",
        "```python\na[1](id=1)\n```",
        "```\n``\n[1](id=1)\n```` x\n[1](id=1)\n```",
        "~~~\n[1](id=1)\n~~~",
        "- item\n  ```\n  [1](id=1)\n  ```",
        "[Title](https://e.x/f.pdf)",
        "[Title](https://e.x/[1](id=1))",
        "[1](javascript:alert(1))",
        "[[1]] and [^1] and [[1](id=3)]",
        r"\[1](id=1)",
        "[1](id=1",
        "[1](id=x)",
        "[1](ID=1)",
        "[one](id=1)",
        "[1](id=1234567)",
        "[1](https://e.x) and [1, 2](https://e.x) and [Title][1]",
        "https://e.x/page[1] and https://e.x/?q=[1]",
        "in [0, 1] or [0-9] or [3-1] or [1.5] or [1, 2023] or [ 1] or [1 2] or [1,,2] or [1-2-3]",
        "[1]: https://e.x",
        "a report[7] attached",
        "【表1】 and 【2023】",
        "[",
        "[12](i",
    ],
)
def test_what_is_no_marker_passes_unchanged(text: str) -> None:
    """F2: code, links, years, indexes and odd shapes are text."""
    assert marked(text) == ([text], 0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[1](id=1)[2](id=2)", [Mark(1), Mark(2)]),
        ("a [1[1](id=1)", ["a [1", Mark(1)]),
        ("`x` [1](id=1)", ["`x` ", Mark(1)]),
        ("a stray ` here\n[1](id=1)", ["a stray ` here\n", Mark(1)]),
        ("```\ncode\n```\n[1](id=1)", ["```\ncode\n```\n", Mark(1)]),
        ("```in line``` [1](id=1)\n[2](id=2)", ["```in line``` ", Mark(1), "\n", Mark(2)]),
        (r"\\[1](id=1)", ["\\\\", Mark(1)]),
        ("[t](https://e.x/a_(b)) [1](id=1)", ["[t](https://e.x/a_(b)) ", Mark(1)]),
        ("收入为4,812万元[1](id=3)。", ["收入为4,812万元", Mark(3), "。"]),
        ("a [1] (b)", ["a ", Mark(1), " (b)"]),
    ],
)
def test_markers_beside_code_and_links(text: str, expected: list[Part]) -> None:
    """What follows code, a link or a stray backtick is looked at again."""
    assert marked(text) == (expected, 0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It rose [1].", ["It rose ", Mark(1), "."]),
        ("It rose[1]. In Q2[2], USD[3]", ["It rose", Mark(1), ". In Q2", Mark(2), ", USD", Mark(3)]),
        ("by 41[1] or 41%[2]", ["by 41", Mark(1), " or 41%", Mark(2)]),
        ("[1][2] [3]", [Mark(1), Mark(2), " ", Mark(3)]),
        ("[1](id=2)[3]", [Mark(2), Mark(3)]),
        ("收入增长【1】，利润增长[2]。", ["收入增长", Mark(1), "，利润增长", Mark(2), "。"]),
        ("【1】【2】【１】", [Mark(1), Mark(2), Mark(1)]),
        ("【1】(id=3)", [Mark(3)]),
        ("a [1, 2] b", ["a ", Mark(1), Mark(2), " b"]),
        ("a [1,2,1]", ["a ", Mark(1), Mark(2)]),
        ("a 【1、3】", ["a ", Mark(1), Mark(3)]),
        ("a 【1，3】", ["a ", Mark(1), Mark(3)]),
        ("a [1-3]", ["a ", Mark(1), Mark(2), Mark(3)]),
        ("a [1–2, 3]: b", ["a ", Mark(1), Mark(2), Mark(3), ": b"]),
        ("said [1]: b", ["said ", Mark(1), ": b"]),
        ("`a[1]` [2]", ["`a[1]` ", Mark(2)]),
    ],
)
def test_short_forms_are_markers(text: str, expected: list[Part]) -> None:
    """`[n]`, `【n】`, lists and ranges name materials by their number; each is one mark a material."""
    assert marked(text) == (expected, 0)


@pytest.mark.parametrize(
    ("text", "expected", "dropped"),
    [("a [1, 7] b", ["a ", Mark(1), " b"], 1), ("a [2-5].", ["a ", Mark(2), Mark(3), "."], 2), ("【9】", [], 1)],
)
def test_of_a_list_only_what_was_given_is_kept(text: str, expected: list[Part], dropped: int) -> None:
    """Every id of a list or range that no material has is dropped and counted."""
    assert marked(text) == (expected, dropped)


@pytest.mark.parametrize(
    "marker",
    ["[7](id=7)", "[0](id=0)", "[-1](id=-1)", "[٣](id=٣)", "[7]", "[0]", "[-1]", "[٣]", "【7】"],
)
def test_a_marker_of_nothing_given_is_dropped_and_counted(marker: str) -> None:
    """F4 and S4.5: an id outside the materials, or of other digits, is neither shown nor cited."""
    assert marked(f"It rose {marker}.") == (["It rose ."], 1)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 50 + "[123456](id=123456789) " + "[1](id=" * 40,
        "[1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3] " * 3,
        "【1、2、3、1、2、3、1、2、3、1、2、3、1、2、3、1、2、3、1、2、3、1 " * 3,
        "[1-2-1-2-1-2-1-2-1-2-1-2-1-2-1-2-1-2-1-2-1-2-1-2-1-2-1-2] ",
    ],
)
def test_text_is_held_back_by_a_few_characters_at_most(text: str) -> None:
    """S4.2: what only looks like a marker is late by `HOLD_BACK` characters at most, and none of it is lost."""
    stream = MarkerStream([])
    shown = 0
    for fed, character in enumerate(text, 1):
        shown += length(stream.feed(character))
        assert fed - shown <= HOLD_BACK
    assert shown + length(stream.close()) == len(text)
    assert stream.dropped == 0


def length(parts: Sequence[Part]) -> int:
    return sum(len(part) for part in parts if isinstance(part, str))


def test_what_cannot_become_a_marker_is_not_held_back() -> None:
    """Ordinary text leaves with its delta; only an open bracket with digits waits."""
    stream = MarkerStream([1])
    assert stream.feed("Net revenue was 4,812 million [see note 4] (12) a[i") == [
        "Net revenue was 4,812 million [see note 4] (12) a[i"
    ]
    assert stream.feed("] [1") == ["] "]
    assert stream.feed("2") == []
    assert stream.feed("345678") == ["[12345678"]


PIECES = st.sampled_from(
    [
        *("[1](id=1)", "[2](id=9)", "[1](id=", "[", "]", "(", ")", "`", "```", "\n", "~~~", "\\", " ", "x", "[a](b)"),
        *("[1]", "【1】", "[1, 9]", "[1-", "1", "9", "，", "word", ":", "://", "2023", "Q2"),
    ]
)


@given(pieces=st.lists(PIECES, max_size=30), data=st.data())
def test_the_result_does_not_depend_on_the_cuts(pieces: list[str], data: st.DataObject) -> None:
    """I4: any splitting of the stream gives the same texts, marks and count."""
    text = "".join(pieces)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    stream = MarkerStream([1])
    parts: list[Part] = []
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        parts += stream.feed(text[start:end])
    parts += stream.close()
    assert (joined(parts), stream.dropped) == marked(text, [1])


LONG_PIECES = st.sampled_from(
    ["[1](id=1)", "[2](id=9)", "[1](id=", "[", "(", ")", "`", "```", "\n", "~~~", "\\", " ", "x", "[a](b)"]
)


@given(pieces=st.lists(LONG_PIECES, max_size=30))
def test_nothing_but_markers_is_ever_lost(pieces: list[str]) -> None:
    """Text and markers put together again are what came in."""
    text = "".join(pieces)
    stream = MarkerStream([1, 9])
    parts = [*stream.feed(text), *stream.close()]
    names = {1: "[1](id=1)", 9: "[2](id=9)"}
    assert "".join(names[part.id] if isinstance(part, Mark) else part for part in parts) == text
    assert stream.dropped == 0


@pytest.mark.parametrize("piece", ["word ", "[1] ", "[", "【1、2", "[1](id=1)", "(", "`"])
def test_long_text_stays_cheap(piece: str) -> None:
    """Twice the text, without a line break, takes twice the steps."""
    once, twice = (steps(piece * count) for count in (1_000, 2_000))
    assert twice < 2.2 * once


def steps(text: str) -> int:
    """The calls that reading the text makes: the same on every machine."""
    profile = cProfile.Profile()
    profile.runcall(MarkerStream([1]).feed, text)
    return sum(entry.callcount for entry in profile.getstats())
