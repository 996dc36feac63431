"""What a killed process left is removed by the next one; what a living one uses is not touched."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kb_qa.scratch import PREFIX, Scratch, remove_abandoned

ROOT = Path(__file__).resolve().parent.parent
# Of the segmenter's dictionary; of a parser child, whose temporary folder is a scratch folder.
NO_DOCUMENTS = {"src/kb_qa/terms.py", "ingest/parse.py"}

# Makes a folder with a copy in it, says so, and waits to be killed.
HOLD = """
import sys, time
from pathlib import Path
from kb_qa.scratch import Scratch
scratch = Scratch(parent=Path(sys.argv[1]))
(scratch.path / "copy.txt").write_text("of a document")
print(scratch.path, flush=True)
time.sleep(60)
"""


def test_a_folder_is_its_owners_and_goes_with_its_block(tmp_path: Path) -> None:
    """Nobody else may look into it; removing it twice is no error."""
    scratch = Scratch(parent=tmp_path)
    with scratch as folder:
        assert folder.parent == tmp_path
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "deep").mkdir()
    scratch.remove()
    assert not list(tmp_path.iterdir())


def test_one_that_is_forgotten_goes(tmp_path: Path) -> None:
    """A folder ends with the object that stands for it."""
    scratch: Scratch | None = Scratch(parent=tmp_path)
    assert scratch is not None and scratch.path.is_dir()
    scratch = None
    assert not list(tmp_path.iterdir())


def test_what_a_killed_process_left_goes_with_the_next_and_not_before(tmp_path: Path) -> None:
    """While its process lives a folder stays, also for others of the same prefix; a moment after a kill it is gone."""
    with subprocess.Popen([sys.executable, "-c", HOLD, tmp_path], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        left = Path(process.stdout.readline().strip())
        with Scratch(parent=tmp_path):
            assert (left / "copy.txt").exists()
        process.kill()
    assert left.is_dir()
    with Scratch(parent=tmp_path) as own:
        assert list(tmp_path.iterdir()) == [own]


def test_only_folders_of_the_prefix_are_removed(tmp_path: Path) -> None:
    """A file or a link of such a name, and whatever is called otherwise, is somebody else's."""
    aim = tmp_path / "aim"
    aim.mkdir()
    (tmp_path / f"{PREFIX}file").write_text("x")
    (tmp_path / f"{PREFIX}link").symlink_to(aim)
    (tmp_path / f"{PREFIX}left").mkdir()
    remove_abandoned(parent=tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"aim", f"{PREFIX}file", f"{PREFIX}link"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_folders_of_other_users_stay(tmp_path: Path) -> None:
    """The temporary folder is everybody's."""
    other = tmp_path / f"{PREFIX}other"
    other.mkdir()
    os.chown(other, 12345, 12345)
    remove_abandoned(parent=tmp_path)
    assert other.is_dir()


def test_a_place_that_is_not_there_has_nothing(tmp_path: Path) -> None:
    """Where nothing was made yet there is nothing to remove, and nothing is made."""
    remove_abandoned(parent=tmp_path / "missing")
    assert not list(tmp_path.iterdir())


def test_nothing_else_is_made_in_the_temporary_folder() -> None:
    """Temporary files have a place of their own beside what they become, or lie in a scratch folder."""
    made = re.compile(r"tempfile\.(?:TemporaryDirectory|mkdtemp|mkstemp|\w*TemporaryFile)\((?![^\n]*\bdir=)")
    sources = [*ROOT.glob("src/**/*.py"), *ROOT.glob("ingest/*.py")]
    found = {path.relative_to(ROOT).as_posix() for path in sources if made.search(path.read_text(encoding="utf-8"))}
    assert found == NO_DOCUMENTS
