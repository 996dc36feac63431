"""Numbers of ordered lists, as a browser shows them."""

from __future__ import annotations

import pytest
from lxml import html

from ingest.list_numbers import write_list_numbers


def written(markup: str) -> str:
    root = html.fragment_fromstring(markup)
    write_list_numbers(root)
    return " ".join(" ".join(root.itertext()).split())


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        pytest.param("<ol><li>x</li><li>y</li></ol>", "1. x 2. y", id="plain"),
        pytest.param('<ol start="3"><li>x</li><li>y</li></ol>', "3. x 4. y", id="start"),
        pytest.param('<ol><li value="7">x</li><li>y</li></ol>', "7. x 8. y", id="value"),
        pytest.param("<ol reversed><li>x</li><li>y</li></ol>", "2. x 1. y", id="reversed"),
        pytest.param('<ol type="a" start="26"><li>x</li><li>y</li></ol>', "z. x aa. y", id="letters"),
        pytest.param('<ol type="I" start="4"><li>x</li><li>y</li></ol>', "IV. x V. y", id="roman"),
        pytest.param('<ol type="a" start="0"><li>x</li></ol>', "0. x", id="no letter for it"),
        pytest.param('<ol start="²"><li>x</li></ol>', "1. x", id="no number"),
        pytest.param("<ol><li><p>x <b>y</b></p><p>z</p></li></ol>", "1. x y z", id="in a paragraph"),
        pytest.param("<ol><li><img>x</li></ol>", "1. x", id="behind a picture"),
        pytest.param(
            "<ol><li>x<ol type=i><li>y</li></ol><ul><li>z</li></ul></li><li>w</li></ol>",
            "1. x i. y z 2. w",
            id="nested",
        ),
        pytest.param("<ol><li>1. x</li></ol>", "1. x", id="written already"),
        pytest.param('<ol style="margin:0;list-style: none"><li>x</li></ol>', "x", id="taken away"),
        pytest.param("<ul><li>x</li></ul>", "x", id="bullets"),
    ],
)
def test_an_item_has_the_number_that_a_reader_sees(markup: str, text: str) -> None:
    """By the list's attributes and its items', each list by itself."""
    assert written(f"<div>{markup}</div>") == text
