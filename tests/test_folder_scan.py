"""A folder is the truth about its documents: what changed is told, what is gone leaves, and doubt removes nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from kb_qa.blobs import UPLOADS
from kb_qa.folder_table import FolderTable
from kb_qa.ledger import Ledger
from kb_qa.locks import DirectoryLock
from kb_qa.publish import catch_up
from kb_qa.settings import Settings
from tests.test_worker import Bench

Lines = Mapping[str, Mapping[str, Any]]


class Folder(Bench):
    """A bench whose folder `in` is scanned again and again."""

    @property
    def root(self) -> Path:
        return self.settings.kb.parent / "in"

    def scan(self, kind: str = "ingest", **arguments: Any) -> Lines:
        """The lines of the job, by path."""
        job = self.ledger.jobs.add(kind, {"paths": [str(self.root)]} | arguments)
        assert self.worker.work_on(self.claimed())
        catch_up(self.ledger, self.index)
        assert self.ledger.jobs.get(job).report.get("error") is None, self.ledger.jobs.get(job)
        return {line["path"]: line for line in self.ledger.jobs.outcomes(job)}

    def changes(self, **arguments: Any) -> dict[str, str]:
        return {path: line["change"] for path, line in self.scan(**arguments).items()}

    def names(self) -> list[str]:
        return sorted(name for record in self.ledger.documents() for name in record.names if record.state == "ready")

    def put(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    kb = tmp_path / "kb"
    with Ledger.open(kb, create=True) as ledger, DirectoryLock(kb, "index").acquire("http://127.0.0.1:1"):
        bench = Folder(Settings(kb=kb), ledger)
        for number, name in enumerate(["a.txt", "b.txt", "sub/c.txt", "sub/d.txt"]):
            bench.put(name, f"Item {number} costs 37 dollars.")
        yield bench


def test_each_file_says_what_it_did(folder: Folder) -> None:
    """New at first, unchanged then; changed, renamed, moved, deleted and new ones, each under its name."""
    assert folder.changes() == dict.fromkeys(["a.txt", "b.txt", "sub/c.txt", "sub/d.txt"], "new")
    assert set(folder.changes().values()) == {"unchanged"}
    folder.put("a.txt", "Item 0 costs 41 dollars.")
    (folder.root / "b.txt").rename(folder.root / "z.txt")
    (folder.root / "sub" / "c.txt").rename(folder.root / "moved.txt")
    (folder.root / "sub" / "d.txt").unlink()
    folder.put("new.txt", "Something else costs 5 dollars.")
    folder.put("empty.txt", "")
    parsed = len(folder.pool.parsed)
    lines = folder.scan()
    assert {path: line["change"] for path, line in lines.items()} == {
        "a.txt": "changed",
        "z.txt": "renamed",
        "moved.txt": "moved",
        "sub/d.txt": "deleted",
        "new.txt": "new",
        "empty.txt": "quarantined",
    }
    assert (lines["z.txt"]["was"], lines["moved.txt"]["was"]) == ("b.txt", "sub/c.txt")
    assert lines["sub/d.txt"]["state"] == "deleted"
    assert folder.names() == ["a.txt", "moved.txt", "new.txt", "z.txt"]
    assert len(folder.pool.parsed) == parsed + 2  # the changed and the new one
    assert len(folder.ledger.documents()) == 4


def test_the_same_folder_ten_times_touched_and_renamed_is_no_work(folder: Folder) -> None:
    """One version a document, nothing parsed or embedded, the canonical export byte for byte the same."""
    folder.scan()
    rows, parsed, embedded = list(folder.ledger.export()), len(folder.pool.parsed), folder.embedder.count
    for number in range(10):
        (folder.root / "a.txt").touch()
        if number == 5:
            (folder.root / "b.txt").rename(folder.root / "renamed.txt")
        folder.scan()
    assert list(folder.ledger.export()) == rows
    assert (len(folder.pool.parsed), folder.embedder.count) == (parsed, embedded)
    assert folder.names() == ["a.txt", "c.txt", "d.txt", "renamed.txt"]


def test_what_is_gone_leaves_index_and_disk(folder: Folder) -> None:
    """As `delete` does: no row, no vector, no original."""
    folder.scan()
    original = folder.ledger.blob_path(folder.ledger.named("a.txt", str(folder.root)) or "")
    (folder.root / "a.txt").unlink()
    before = folder.index.store.count()
    folder.scan()
    assert not original.exists()
    assert folder.index.store.count() == before - 1
    assert folder.names() == ["b.txt", "c.txt", "d.txt"]


def test_the_same_bytes_under_two_names_stay_while_one_name_stays(folder: Folder) -> None:
    """The name that is gone is told, with the one that keeps the content."""
    folder.put("copy.txt", "Item 0 costs 37 dollars.")
    folder.scan()
    (folder.root / "a.txt").unlink()
    lines = folder.scan()
    assert (lines["a.txt"]["change"], lines["a.txt"]["reason"]) == (
        "deleted",
        "its content stays under the name 'copy.txt'",
    )
    assert "copy.txt" in folder.names()
    (folder.root / "copy.txt").unlink()
    folder.scan()
    assert folder.names() == ["b.txt", "c.txt", "d.txt"]


def test_a_file_that_takes_the_name_of_a_renamed_one_costs_only_itself(folder: Folder) -> None:
    """a.txt became old.txt, and another a.txt came: the first is not read again."""
    folder.scan()
    (folder.root / "a.txt").rename(folder.root / "old.txt")
    folder.put("a.txt", "Another item costs 99 dollars.")
    parsed = len(folder.pool.parsed)
    folder.scan()
    assert len(folder.pool.parsed) == parsed + 1
    assert folder.names() == ["a.txt", "b.txt", "c.txt", "d.txt", "old.txt"]


def test_uploads_and_files_given_singly_are_never_missed(folder: Folder, tmp_path: Path) -> None:
    """Neither belongs to a folder: a file that was given by itself may go, its document stays."""
    (folder.settings.kb / UPLOADS).mkdir()
    (folder.settings.kb / UPLOADS / ("0" * 32)).write_text("Uploaded for 12 dollars.", encoding="utf-8")
    folder.scan(uploads=[{"file": "0" * 32, "name": "up.txt"}], paths=[])
    single = folder.put("single.txt", "Given singly for 13 dollars.")
    folder.scan(paths=[str(single)])
    single.unlink()
    folder.scan()
    (folder.root / "a.txt").unlink()
    folder.scan()
    assert folder.names() == ["b.txt", "c.txt", "d.txt", "single.txt", "up.txt"]
    assert FolderTable(folder.ledger.database).roots() == [str(folder.root)]


def test_a_folder_that_lost_everything_at_once_removes_nothing_unless_told(folder: Folder) -> None:
    """A disk that is not mounted looks like this; --allow-empty says that it is meant."""
    folder.scan()
    for name in ["a.txt", "b.txt", "sub/c.txt", "sub/d.txt"]:
        (folder.root / name).unlink()
    lines = folder.scan()
    (line,) = lines.values()
    assert (line["state"], line["code"]) == ("skipped", "nothing_removed")
    assert "all 4 files that stood there are gone; if that is meant, use --allow-empty" in line["reason"]
    assert len(folder.names()) == 4
    assert set(folder.changes(allow_empty=True).values()) == {"deleted"}
    assert folder.names() == []


def test_a_root_that_is_away_removes_nothing(folder: Folder) -> None:
    """A rescan of all remembered folders says which one is not there."""
    folder.scan()
    folder.root.rename(folder.root.with_name("elsewhere"))
    (line,) = folder.scan("rescan", paths=[]).values()
    assert (line["path"], line["code"]) == (str(folder.root), "nothing_removed")
    assert len(folder.names()) == 4
    folder.root.with_name("elsewhere").rename(folder.root)
    assert set(folder.changes(kind="rescan", paths=[]).values()) == {"unchanged"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root opens everything")
def test_a_folder_that_cannot_be_opened_removes_nothing(folder: Folder) -> None:
    """Neither below it nor beside it: what is missing may have been moved there."""
    folder.scan()
    (folder.root / "a.txt").unlink()
    (folder.root / "sub").chmod(0)
    try:
        lines = folder.scan()
    finally:
        (folder.root / "sub").chmod(0o755)
    assert "nothing is removed, though 3 files are not seen" in lines[str(folder.root)]["reason"]
    assert len(folder.names()) == 4
    assert folder.changes()["a.txt"] == "deleted"


def test_a_scan_that_was_cut_removes_nothing_and_the_next_one_does(folder: Folder) -> None:
    """The end of the process comes before any name is forgotten."""
    folder.scan()
    (folder.root / "a.txt").unlink()
    folder.put("new.txt", "Something else costs 5 dollars.")
    folder.embedder.most = folder.embedder.count
    folder.ledger.jobs.add("ingest", {"paths": [str(folder.root)]})
    with pytest.raises(KeyboardInterrupt):
        folder.worker.work_on(folder.claimed())
    assert "a.txt" in folder.names()
    folder.embedder.most = 10**9
    folder.ledger.jobs.take_back()
    assert folder.work()
    assert folder.names() == ["b.txt", "c.txt", "d.txt", "new.txt"]


def test_what_lies_in_a_folder_and_is_no_file_ends_no_scan(folder: Folder) -> None:
    """Links, pipes, devices' kin and loops are skipped with a reason, and a file that became one is gone."""
    folder.scan()
    (folder.root / "loop").symlink_to(folder.root)
    (folder.root / "sub" / "up").symlink_to("..")
    os.mkfifo(folder.root / "pipe")
    os.link(folder.root / "b.txt", folder.root / "hard.txt")
    (folder.root / "a.txt").unlink()
    (folder.root / "a.txt").symlink_to(folder.root / "b.txt")
    lines = folder.scan()
    assert {path: line["reason"] for path, line in lines.items() if line["state"] == "skipped"} == {
        "loop": "a symbolic link",
        "sub/up": "a symbolic link",
        "pipe": "a named pipe, not a file",
        "hard.txt": "the same file as 'b.txt'",
    }
    assert lines["a.txt"]["state"] == "deleted"
    assert folder.names() == ["b.txt", "c.txt", "d.txt"]


def test_unfinished_copies_stay_what_they_were(folder: Folder) -> None:
    """A file that is still written keeps its old document; names of unfinished copies are passed over."""
    folder.scan()
    folder.put("a.txt", "Item 0 costs 4")
    folder.put("film.txt.crdownload", "half")
    folder.put("~$b.txt", "lock")
    lines = folder.scan(unsettled=[str(folder.root / "a.txt")])
    assert lines["a.txt"]["reason"] == "still being written"
    assert lines["film.txt.crdownload"]["reason"] == "an unfinished copy"
    assert len(folder.names()) == 4
    folder.put("a.txt", "Item 0 costs 41 dollars.")
    assert folder.changes()["a.txt"] == "changed"


def test_ignored_files_are_skipped_and_leave(folder: Folder) -> None:
    """With their reason; a file that comes back into view is new."""
    folder.scan()
    folder.put(".kbqaignore", "# private\nsub/\n*.log\n!keep.log\n")
    folder.put("x.log", "x")
    folder.put("keep.log.txt", "Kept for 3 dollars.")
    lines = folder.scan()
    assert lines["x.log"]["reason"] == lines["sub"]["reason"] == "ignored by .kbqaignore"
    assert folder.names() == ["a.txt", "b.txt", "keep.log.txt"]
    (folder.root / ".kbqaignore").unlink()
    (folder.root / "x.log").unlink()
    assert folder.changes()["sub/c.txt"] == "new"


def test_a_document_deleted_by_hand_is_new_again_for_its_folder(folder: Folder) -> None:
    """The folder is the truth: what lies in it is read."""
    folder.scan()
    document_id = folder.ledger.named("a.txt", str(folder.root)) or ""
    folder.ledger.jobs.add("delete", {"documents": [document_id]})
    assert folder.work()
    assert folder.changes()["a.txt"] == "new"


def test_a_file_that_stands_as_it_was_is_not_copied_again(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Size and times say so, unless it was written to just before it was looked at; a touched one is read."""
    for path in folder.root.rglob("*.txt"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    monkeypatch.setattr("ingest.folder_scan.RACY_SECONDS", -60.0)  # the entries' own times are of this very moment
    folder.scan()
    copied: list[str] = []
    keep = Ledger.store_blob

    def counted(ledger: Ledger, path: Path) -> str:
        copied.append(path.name)
        return keep(ledger, path)

    monkeypatch.setattr(Ledger, "store_blob", counted)
    (folder.root / "b.txt").touch()
    assert set(folder.changes().values()) == {"unchanged"}
    assert copied == ["b.txt"]
