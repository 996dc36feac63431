"""Markers become numbers and a list, however the stream is cut; what is no marker passes unchanged."""

from __future__ import annotations

import doctest
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kb_qa.references
from kb_qa.references import STYLES, Numbering, Reference, ReferenceStream, references

ITEMS = (
    Reference(1, "briefing.pdf · P4·table", "Base pay\n is  22,000", "/v1/documents/d/pages/4.png"),
    Reference(2, "<b>x</b> [y](z)", '<img src=x onerror="alert(1)">', "javascript:alert(1)"),
    Reference(3, "hb.md"),
)


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


@pytest.mark.parametrize(
    ("source", "numbers"),
    [("document", "1112"), ("page", "1213"), ("url", "1123"), ("row", "1234")],
)
def test_what_one_source_is_can_be_chosen(source: str, numbers: str) -> None:
    """S4.2: fragments share a number by document, page, URL or `file#row`."""
    fragments = {
        1: Reference(0, "Sales", url="https://e.x/a", document="a.xlsx", page=1, row=7),
        2: Reference(0, "Sales", url="https://e.x/a", document="a.xlsx", page=2, row=8),
        3: Reference(0, "Costs", url="https://e.x/b", document="a.xlsx", page=1, row=9),
        4: Reference(0, "Costs", url="https://e.x/c", document="b.xlsx", page=1, row=7),
    }
    stream = ReferenceStream(fragments, source=source)
    assert stream.feed("a [1], b [2], c [3], d [4].") == "a [{}], b [{}], c [{}], d [{}].".format(*numbers)
    with pytest.raises(KeyError):
        ReferenceStream(fragments, source="colour")


def test_markers_in_a_row_name_a_source_once() -> None:
    """Two fragments of one source behind one claim are one number; behind the next claim it stands again."""
    fragments = {1: Reference(0, "a"), 2: Reference(0, "a"), 3: Reference(0, "b")}
    stream = ReferenceStream(fragments)
    assert stream.feed("x [1-3]. y [2](id=2)[1](id=1) z [7].") == "x [1][2]. y [1] z ."
    assert (stream.dropped, [item.title for item in stream.items]) == (1, ["a", "b"])


PIECES = st.sampled_from(
    ["[1](id=1)", "[1](id=", "[2]", "【3】", "[1, 3]", "[1-3]", "[9]", "[", "]", "(", "`", "\n", " ", "x", "1", "，"]
)


@given(pieces=st.lists(PIECES, max_size=30), data=st.data(), style=st.sampled_from(sorted(STYLES)))
def test_the_written_text_does_not_depend_on_the_cuts(pieces: list[str], data: st.DataObject, style: str) -> None:
    """I4: every way to split the stream gives the same text, list and count, in every style."""
    text = "".join(pieces)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    fragments = {1: Reference(0, "a", url="/a"), 2: Reference(0, "b", url="/b"), 3: Reference(0, "a", url="/a")}
    whole, split = ReferenceStream(fragments, style=style), ReferenceStream(fragments, style=style)
    written = "".join(split.feed(text[start:end]) for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True))
    held, listing = split.close()
    expected = whole.feed(text)
    rest, wanted = whole.close()
    assert (written + held, listing, split.dropped) == (expected + rest, wanted, whole.dropped)


def test_the_example_of_the_module_runs() -> None:
    """The documentation's example is executed."""
    results = doctest.testmod(kb_qa.references)
    assert (results.attempted, results.failed) == (5, 0)
