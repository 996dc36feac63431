"""Markers become numbers and a list, however the stream is cut; what is no marker passes unchanged."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_qa.references import Mark, MarkerStream, Numbering, Reference, ReferenceStream, references

ITEMS = (
    Reference(1, "briefing.pdf · P4·table", "Base pay\n is  22,000", "/v1/documents/d/pages/4.png"),
    Reference(2, "<b>x</b> [y](z)", '<img src=x onerror="alert(1)">', "javascript:alert(1)"),
    Reference(3, "hb.md"),
)


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


def test_numbers_are_given_in_order_of_first_use() -> None:
    """S4.2: fragments of one source share one number; what was not used has none."""
    numbering: Numbering[tuple[str, int]] = Numbering(lambda fragment: fragment[0])
    assert [numbering.number(item) for item in (("b", 1), ("a", 1), ("b", 2), ("c", 1))] == [1, 2, 1, 3]
    assert numbering.used == ((1, ("b", 1)), (2, ("a", 1)), (3, ("c", 1)))


def test_without_a_source_function_equal_fragments_share_a_number() -> None:
    """S1.3: the same quote of the same document keeps one number."""
    numbering: Numbering[tuple[str, str]] = Numbering()
    assert [numbering.number(item) for item in (("d", "q"), ("d", "r"), ("d", "q"))] == [1, 2, 1]


def test_text_references() -> None:
    """S1.3: `[n] "quoted text" found in "document title"`, blanks and line breaks collapsed."""
    assert references("text", ITEMS[:1]) == '[1] "Base pay is 22,000" found in "briefing.pdf · P4·table"'
    assert references("text", ITEMS[2:]) == "[3] hb.md"


def test_markdown_references() -> None:
    """S4.4: `- **1** [Title](url)`; a script is no link, and nothing of a title is markup."""
    lines = references("markdown", ITEMS).splitlines()
    assert lines[0] == "- **1** [briefing.pdf · P4·table](/v1/documents/d/pages/4.png): “Base pay is 22,000”"
    assert lines[1].startswith(r"- **2** \<b\>x\</b\> \[y\]\(z\): “\<img")
    assert "javascript" not in lines[1]
    assert lines[2] == "- **3** hb.md"


def test_html_references_are_escaped() -> None:
    """G3: title, quote and URL reach HTML as text."""
    shown = references("html", ITEMS)
    assert '<li><b>1</b> <a href="/v1/documents/d/pages/4.png" rel="noopener">briefing.pdf' in shown
    assert "&lt;b&gt;x&lt;/b&gt;" in shown
    assert "<img" not in shown
    assert "javascript" not in shown
    quoting = Reference(1, "t", url='https://e.x/" onclick="alert(1)')
    assert 'onclick="' not in references("html", [quoting])


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "JavaScript:x", "data:text/html,x", "vbscript:x", " javascript:x"]
)
@pytest.mark.parametrize("style", ["markdown", "html"])
def test_only_web_addresses_become_links(style: str, url: str) -> None:
    """F2: no script link, in whatever case or after whatever blank."""
    shown = references(style, [Reference(1, "t", url=url)])
    assert "script" not in shown.lower()
    assert "data:" not in shown


@pytest.mark.parametrize("style", ["none", "text", "markdown", "html"])
def test_no_items_make_no_list(style: str) -> None:
    """S4.3: an answer that used nothing lists nothing."""
    assert references(style, ()) == ""
    assert style != "none" or references(style, ITEMS) == ""


def test_a_style_of_ones_own() -> None:
    """S4.4: a user can supply a style, and say which fragments are one source."""

    class Footnotes:
        def marker(self, reference: Reference) -> str:
            return f"^{reference.number}"

        def listing(self, items: Sequence[Reference]) -> str:
            return "; ".join(f"{item.number}={item.title}" for item in items)

    fragments = {1: Reference(0, "a.csv#1"), 2: Reference(0, "a.csv#2"), 3: Reference(0, "b.csv#1")}
    stream = ReferenceStream(fragments, style=Footnotes(), source=lambda item: item.title.split("#")[0])
    text = stream.feed("x[1](id=3) y[2](id=2) z[3](id=1)")
    assert (text, stream.close()) == ("x^1 y^2 z^2", ("", "1=b.csv#1; 2=a.csv#2"))


def test_markers_are_found_wherever_the_text_is_cut() -> None:
    """S4.2: a marker split over any number of deltas is recognised."""
    stream = MarkerStream([7])
    parts = [part for character in "It rose [1](id=7)." for part in stream.feed(character)]
    assert joined([*parts, *stream.close()]) == ["It rose ", Mark(7), "."]


@pytest.mark.parametrize(
    "text",
    [
        "see [2023] and a[0] and f(x)[1]",
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
        "[1] (id=1)",
        "[1](id=1",
        "[1](id=x)",
        "[1](ID=1)",
        "[one](id=1)",
        "[1](id=1234567)",
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
    ],
)
def test_markers_beside_code_and_links(text: str, expected: list[str | Mark]) -> None:
    """What follows code, a link or a stray backtick is looked at again."""
    assert marked(text) == (expected, 0)


@pytest.mark.parametrize("marker", ["[7](id=7)", "[0](id=0)", "[-1](id=-1)", "[٣](id=٣)"])
def test_a_marker_of_nothing_given_is_dropped_and_counted(marker: str) -> None:
    """F4 and S4.5: an id outside the materials, or of other digits, is neither shown nor cited."""
    assert marked(f"It rose {marker}.") == (["It rose ."], 1)


def test_text_is_held_back_by_a_marker_s_length_at_most() -> None:
    """S4.2: what only looks like a marker is late by a few characters."""
    stream = MarkerStream([1])
    shown = 0
    text = "[" * 50 + "[123456](id=123456789) " + "[1](id=" * 40
    for fed, character in enumerate(text, 1):
        shown += sum(len(part) for part in stream.feed(character) if isinstance(part, str))
        assert fed - shown <= 24
    assert shown + sum(len(part) for part in stream.close() if isinstance(part, str)) == len(text)


PIECES = st.sampled_from(
    ["[1](id=1)", "[2](id=9)", "[1](id=", "[", "]", "(", ")", "`", "```", "\n", "~~~", "\\", " ", "x", "[a](b)"]
)


@given(pieces=st.lists(PIECES, max_size=30), data=st.data())
def test_the_result_does_not_depend_on_the_cuts(pieces: list[str], data: st.DataObject) -> None:
    """I4: any splitting of the stream gives the same texts, marks and count."""
    text = "".join(pieces)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    stream = MarkerStream([1])
    parts: list[str | Mark] = []
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        parts += stream.feed(text[start:end])
    parts += stream.close()
    assert (joined(parts), stream.dropped) == marked(text, [1])


@given(pieces=st.lists(PIECES, max_size=30))
def test_nothing_but_markers_is_ever_lost(pieces: list[str]) -> None:
    """Text and markers put together again are what came in."""
    text = "".join(pieces)
    stream = MarkerStream([1, 9])
    parts = [*stream.feed(text), *stream.close()]
    names = {1: "[1](id=1)", 9: "[2](id=9)"}
    assert "".join(names[part.id] if isinstance(part, Mark) else part for part in parts) == text
    assert stream.dropped == 0


def test_a_streamed_answer_ends_with_its_references() -> None:
    """S4.2 to S4.5: renumbered by use, same source one number, unused not listed, the list last."""
    fragments = {
        1: Reference(0, "Unused", url="https://e.x/0"),
        2: Reference(0, "Second", url="https://e.x/2"),
        3: Reference(0, "First", url="https://e.x/1"),
        4: Reference(0, "First again", url="https://e.x/1"),
    }
    stream = ReferenceStream(fragments, style="markdown")
    text = "".join(stream.feed(piece) for piece in ("A [1](i", "d=3), B [2](id=2), C [9", "](id=4), D [1](id=8)"))
    assert text == (
        "A <sup>[[1](https://e.x/1)]</sup>, B <sup>[[2](https://e.x/2)]</sup>, C <sup>[[1](https://e.x/1)]</sup>, D "
    )
    assert stream.close() == ("", "- **1** [First](https://e.x/1)\n- **2** [Second](https://e.x/2)")
    assert stream.dropped == 1
