"""Sessions keep their last questions in order, within bounds of number and age."""

import sqlite3
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from kb_qa import session_table
from kb_qa.answers import Filters, Turn
from kb_qa.database import FILE_NAME
from kb_qa.ledger import Ledger


def turn(text: str, **changed: object) -> Turn:
    return replace(Turn(0, text, text, "answer", time=time.time()), **changed)  # type: ignore[arg-type]


def test_turns_come_back_as_they_were_given(tmp_path: Path) -> None:
    """The last ones, oldest first, with what they were limited to; other sessions are not seen."""
    filters = Filters(documents=("a.pdf", "\ud800.pdf"), folder="2024")
    with Ledger.open(tmp_path, create=True) as ledger:
        assert ledger.turns("s", 6) == []
        assert ledger.add_turn("s", turn("first")) == 1
        assert ledger.add_turn("other", turn("elsewhere")) == 1
        asked = turn("And in 2023?", standalone="Sales in 2023?", documents=("d1", "d2"), filters=filters)
        assert ledger.add_turn("s", asked) == 2
        assert ledger.turns("s", 6)[1] == replace(asked, ordinal=2)
        assert [each.question for each in ledger.turns("s", 1)] == ["And in 2023?"]


def test_a_session_keeps_its_last_turns(tmp_path: Path) -> None:
    """What is beyond the bound is forgotten; ordinals go on counting."""
    with Ledger.open(tmp_path, create=True) as ledger:
        for number in range(session_table.KEPT_TURNS + 5):
            ledger.add_turn("s", turn(str(number)))
        kept = ledger.turns("s", 1000)
    assert [each.ordinal for each in kept] == list(range(6, session_table.KEPT_TURNS + 6))


def test_old_turns_are_neither_seen_nor_kept(tmp_path: Path) -> None:
    """A turn past the age is as good as gone at once, and gone with the next one that is written."""
    old = turn("old", time=time.time() - session_table.KEPT_SECONDS - 1)
    with Ledger.open(tmp_path, create=True) as ledger:
        ledger.add_turn("s", old)
        assert ledger.turns("s", 6) == []
        ledger.add_turn("other", turn("new"))
    with sqlite3.connect(tmp_path / FILE_NAME) as connection:
        assert connection.execute("SELECT question FROM turns").fetchall() == [("new",)]


def test_oldest_turns_of_all_sessions_go_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of turns is bounded, whoever makes new sessions."""
    monkeypatch.setattr(session_table, "KEPT_IN_ALL", 10)
    now = time.time()
    with Ledger.open(tmp_path, create=True) as ledger:
        for number in range(25):
            ledger.add_turn(f"s{number}", turn("q", time=now + number))
        assert [bool(ledger.turns(f"s{number}", 1)) for number in range(25)] == [False] * 15 + [True] * 10


def test_turns_written_at_once_have_an_order(tmp_path: Path) -> None:
    """Two answers of one session that end together are two turns."""
    with Ledger.open(tmp_path, create=True) as ledger:
        threads = [threading.Thread(target=ledger.add_turn, args=("s", turn(str(n)))) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [each.ordinal for each in ledger.turns("s", 20)] == list(range(1, 9))
