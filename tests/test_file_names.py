"""What files are called, made safe to store and to show."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_qa.file_names import LONGEST_NAME, display_name, uploaded_name


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_any_name_can_be_stored_and_shown(text: str) -> None:
    """No folder, no control or direction character, no surrogate, never empty, not endless; and the same twice."""
    name = uploaded_name(text)
    assert "/" not in name
    assert name == display_name(name) == uploaded_name(name)
    assert name.encode()
    assert 1 <= len(name) <= LONGEST_NAME


@pytest.mark.parametrize(
    ("claimed", "name"),
    [
        ("report.pdf", "report.pdf"),
        ("C:\\fakepath\\report.pdf", "report.pdf"),
        ("2024/report.pdf", "report.pdf"),
        ("", "document"),
        (".", "document"),
        ("a/", "a"),
        (" .. ", "document"),
        (".pdf", ".pdf"),
        ("x" * 2000 + ".pdf", "x" * 996 + ".pdf"),
        ("x." + "y" * 2000, "x." + "y" * 998),
        ("x.pdf" + "y" * 30, "x.pdf" + "y" * 30),
    ],
)
def test_an_upload_keeps_the_last_part_of_its_name(claimed: str, name: str) -> None:
    """Without folders of either kind; one that is no name gets one; a long one keeps its suffix."""
    assert uploaded_name(claimed) == name
