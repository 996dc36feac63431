"""A map of characters does in `tokenizers` what it says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import normalizers

from kb_qa.charsmap import charsmap

CHARACTERS = st.characters(exclude_characters="\0", exclude_categories=("Cs", "Mn", "Mc", "Me", "Cf", "Lm"))


def applied(replacements: dict[str, str], text: str) -> str:
    return str(normalizers.Precompiled(charsmap(replacements)).normalize_str(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Ａ净利润（亿元）", "A净利润（亿元）", id="only what is named"),
        pytest.param("½ﬁ", "1/2fi", id="longer"),
        pytest.param("a\x01b", "ab", id="dropped"),
        pytest.param("\u3000x\u3000", " x ", id="same text twice"),
        pytest.param("😀x", ":x", id="four bytes"),
        pytest.param("", "", id="nothing"),
    ],
)
def test_characters_become_their_texts(text: str, expected: str) -> None:
    """Longer, shorter and empty replacements; other characters of the same first bytes stay."""
    made = {"Ａ": "A", "½": "1/2", "ﬁ": "fi", "\x01": "", "\u3000": " ", "\xa0": " ", "😀": ":"}
    assert applied(made, text) == expected


@given(st.dictionaries(CHARACTERS, st.text(CHARACTERS, max_size=3), max_size=60), st.text(CHARACTERS, max_size=20))
def test_any_map_is_held(replacements: dict[str, str], text: str) -> None:
    """Whatever is in the map, each character of a text is replaced by itself or by what the map says."""
    letters = [*text, *list(replacements)[:20]]
    for letter in letters:
        assert applied(replacements, letter) == replacements.get(letter, letter)
