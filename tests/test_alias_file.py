"""The alias table is read whole, or the reader is told what is wrong with it."""

from pathlib import Path
from string import ascii_lowercase

import pytest

from kb_qa.alias_file import FILE_NAME, read_aliases
from kb_qa.errors import InputError


def written(folder: Path, text: str) -> Path:
    (folder / FILE_NAME).write_text(text, encoding="utf-8")
    return folder


def test_without_a_file_there_are_no_aliases(tmp_path: Path) -> None:
    """Most knowledge bases have none."""
    assert read_aliases(tmp_path) == ()


def test_longer_phrases_come_first(tmp_path: Path) -> None:
    """So that no alias takes a part of a longer one."""
    text = '[aliases]\n"Top" = "Revenue"\n"top line" = "revenue"\n"营收" = "营业收入"\n'
    assert read_aliases(written(tmp_path, text)) == (("top line", "revenue"), ("top", "revenue"), ("营收", "营业收入"))


LETTERS = ascii_lowercase
MANY = "\n".join(f"{a}{b}{c} = 'x'" for a in LETTERS for b in LETTERS for c in LETTERS[:2])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param("营收 = ", "not TOML", id="no toml"),
        pytest.param('"营收" = "营业收入"', r"\[aliases\]", id="no table"),
        pytest.param('[aliases]\na = "b"\n[more]\n', r"\[aliases\]", id="another table"),
        pytest.param("aliases = 7", r"\[aliases\]", id="no pairs"),
        pytest.param("[aliases]\na = 7", "'a'", id="number"),
        pytest.param('[aliases]\na = " "', "'a'", id="blank"),
        pytest.param('[aliases]\n"2023" = "2024"', "digit", id="a figure"),
        pytest.param("[aliases]\n" + MANY, "most", id="many"),
    ],
)
def test_a_wrong_file_is_an_error_that_says_why(tmp_path: Path, text: str, told: str) -> None:
    """Figures are bound by it: it is not half used."""
    with pytest.raises(InputError, match=told):
        read_aliases(written(tmp_path, text))
