"""A watched folder: one round a change, when what changed is finished, and none where nothing did."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ingest.watch import Watch, required_roots
from kb_qa.errors import InputError, LockHeldError, ReindexNeededError


@dataclass
class Desk:
    """A folder, a clock that is moved by hand, and what was asked for."""

    root: Path
    now: float = 0.0
    rounds: list[list[str]] = field(default_factory=list)  # the unfinished files of each
    said: list[str] = field(default_factory=list)
    error: Exception | None = None

    def __post_init__(self) -> None:
        self.root.mkdir()
        self.watch = Watch([self.root], 5.0, self._rescan, self.said.append, lambda: self.now)

    def _rescan(self, paths: Sequence[Path], unsettled: Collection[str]) -> None:
        if self.error is not None:
            raise self.error
        self.rounds.append([Path(path).name for path in unsettled])

    def look(self, seconds: float = 0.0) -> bool:
        self.now += seconds
        return self.watch.look()

    def write(self, name: str, text: str) -> None:
        (self.root / name).write_text(text)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "in")


def test_a_round_comes_at_first_and_then_only_after_a_change(desk: Desk) -> None:
    """A new, a changed, a renamed and a deleted file each make one."""
    desk.write("a.txt", "1")
    assert [desk.look(), desk.look(6), desk.look(6), desk.look(60)] == [False, True, False, False]
    desk.write("b.txt", "2")
    assert [desk.look(1), desk.look(4), desk.look(2), desk.look(9)] == [False, False, True, False]
    desk.write("b.txt", "22")
    assert [desk.look(1), desk.look(6), desk.look(9)] == [False, True, False]
    (desk.root / "b.txt").rename(desk.root / "c.txt")
    assert desk.look(1)  # the old name is gone
    assert [desk.look(6), desk.look(9)] == [True, False]
    (desk.root / "c.txt").unlink()
    assert [desk.look(1), desk.look(1)] == [True, False]
    assert desk.rounds == [[], [], [], ["c.txt"], [], []]


def test_a_copy_that_grows_is_waited_for_and_holds_up_no_other(desk: Desk) -> None:
    """Others are read meanwhile, and it is left out by its name."""
    desk.write("done.txt", "1")
    for n in range(10):
        desk.write("grows.txt", "x" * (n + 1))
        desk.look(2)
    assert desk.rounds == [["grows.txt"]]
    assert desk.look(6)
    assert desk.rounds == [["grows.txt"], []]
    assert not desk.look(60)


def test_what_a_scan_passes_over_makes_no_round(desk: Desk) -> None:
    """Hidden, temporary and lock files, links and pipes; the rules file makes one."""
    desk.look()
    assert desk.look(6)  # the first
    desk.write(".hidden", "1")
    desk.write("~$a.docx", "1")
    desk.write("film.crdownload", "1")
    (desk.root / "loop").symlink_to(desk.root)
    os.mkfifo(desk.root / "pipe")
    assert [desk.look(6), desk.look(6)] == [False, False]
    desk.write(".kbqaignore", "*.log")
    assert [desk.look(1), desk.look(6)] == [False, True]


def test_a_folder_that_is_away_is_waited_for(desk: Desk) -> None:
    """Said once; nothing is taken for deleted; when it is back as it was there is nothing to do."""
    desk.write("a.txt", "1")
    desk.look()
    assert desk.look(6)
    desk.root.rename(desk.root.with_name("away"))
    assert [desk.look(6), desk.look(6)] == [False, False]
    assert desk.said == [f"{str(desk.root)!r} is not there; waiting for it"]
    desk.root.with_name("away").rename(desk.root)
    assert not desk.look(6)
    assert len(desk.rounds) == 1


def test_a_round_that_cannot_be_now_is_tried_again(desk: Desk) -> None:
    """Another ingest is at work: said once. An index of another model ends the watch."""
    desk.write("a.txt", "1")
    desk.error = LockHeldError("process 7 ingests")
    assert [desk.look(), desk.look(6), desk.look(6)] == [False, False, False]
    assert desk.said == ["process 7 ingests; trying again"]
    desk.error = None
    assert desk.look(1)
    desk.write("a.txt", "2")
    desk.error = ReindexNeededError("another model")
    desk.look(1)
    with pytest.raises(ReindexNeededError):
        desk.look(6)


def test_without_paths_the_remembered_folders_are_watched(tmp_path: Path) -> None:
    """And where there are none, the command to give one is told."""
    assert required_roots([], ["/a", "/b"], tmp_path) == [Path("/a"), Path("/b")]
    assert required_roots([tmp_path], ["/a"], tmp_path) == [tmp_path]
    with pytest.raises(InputError, match="--watch FOLDER"):
        required_roots([], [], tmp_path)
