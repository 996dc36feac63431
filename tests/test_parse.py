"""The table of parsers."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingest.kinds import KINDS
from ingest.limits import Limits
from ingest.parse import PARSERS, parse_document
from kb_qa.errors import UnsupportedFileError


def test_every_kind_has_a_parser() -> None:
    """A new kind cannot be forgotten."""
    assert set(PARSERS) == set(KINDS)


def test_a_document_is_parsed_by_the_parser_of_its_kind(tmp_path: Path) -> None:
    """A text file goes to the partitioner."""
    path = tmp_path / "a.txt"
    path.write_text("净利润为4,812万元。", encoding="utf-8")
    parsed = parse_document(path, "d", "text", limits=Limits())
    assert (parsed.parser, [element.text for element in parsed.elements]) == ("plain text", ["净利润为4,812万元。"])


def test_an_unknown_kind_is_refused(tmp_path: Path) -> None:
    """The message names the kinds there are."""
    with pytest.raises(UnsupportedFileError, match="known are pdf, image"):
        parse_document(tmp_path / "a", "d", "song", limits=Limits())  # type: ignore[arg-type]
