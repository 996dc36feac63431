"""A backup is one moment of a knowledge base that is in use; what is restored answers the same, or nothing is there."""

from __future__ import annotations

import gzip
import io
import json
import sqlite3
import tarfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kb_qa import backup as module
from kb_qa.backup import backup, restore
from kb_qa.database import FILE_NAME
from kb_qa.errors import EnvironmentProblemError, InputError, MissingIndexError
from kb_qa.ledger import Ledger
from tests.test_pipeline import Workshop

Entries = dict[str, bytes]


@pytest.fixture
def workshop(tmp_path: Path) -> Iterator[Workshop]:
    with Ledger.open(tmp_path / "kb", create=True) as ledger:
        made = Workshop(tmp_path, ledger)
        for number in range(3):
            made.write(f"{number}.txt", f"Item {number} costs 37 dollars.")
        made.ingest()
        ledger.set_name("年报")
        (tmp_path / "kb" / "aliases.toml").write_text('[aliases]\n"top line" = "revenue"\n', encoding="utf-8")
        yield made


def entries(archive: Path) -> Entries:
    with tarfile.open(archive) as tar:
        return {each.name: (tar.extractfile(each) or io.BytesIO()).read() for each in tar}


def packed(archive: Path, parts: Entries, *, change: Callable[[tarfile.TarInfo], None] = lambda entry: None) -> Path:
    with tarfile.open(archive, "w:gz") as tar:
        for name, data in parts.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            change(entry)
            tar.addfile(entry, io.BytesIO(data))
    return archive


def test_what_is_restored_is_the_same(workshop: Workshop, tmp_path: Path) -> None:
    """The canonical export byte for byte, name, originals and aliases; the index is made anew, and nothing embedded."""
    made = backup(tmp_path / "kb", tmp_path / "b.tar.gz")
    restored = restore(tmp_path / "b.tar.gz", tmp_path / "new" / "kb")
    assert (made.name, made.documents) == ("年报", 3)
    assert restored == made
    with Ledger.open(tmp_path / "new" / "kb", create=False) as ledger:
        assert list(ledger.export()) == list(workshop.ledger.export())
        assert ledger.name() == "年报"
        again = Workshop(tmp_path / "new", ledger)
        for number in range(3):
            again.write(f"{number}.txt", f"Item {number} costs 37 dollars.")
        again.ingest()
        assert (again.pool.parsed, again.embedder.count) == ([], 0)
        assert again.visible().keys() == workshop.visible().keys()
    assert (tmp_path / "new" / "kb" / "aliases.toml").read_text() == (tmp_path / "kb" / "aliases.toml").read_text()
    assert [path.name for path in (tmp_path / "new").iterdir() if path.name.startswith(".")] == []
    assert [path.name for path in (tmp_path / "kb").iterdir() if path.name.startswith(".backup")] == []


def test_a_backup_is_whole_while_others_write_and_delete(workshop: Workshop, tmp_path: Path) -> None:
    """Every document of the restored ledger has its original."""
    stopped = threading.Event()

    def churn() -> None:
        number = 100
        while not stopped.is_set():
            path = workshop.write("churn.txt", f"Item {number} costs 1 dollar.")
            document_id = workshop.ledger.store_blob(path)
            workshop.ledger.receive(document_id, "churn.txt", "in", size=1, kind="text", pipeline="3")
            workshop.ledger.delete(document_id)
            number += 1

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        for n in range(3):
            backup(tmp_path / "kb", tmp_path / f"{n}.tar.gz")
    finally:
        stopped.set()
        thread.join()
    for n in range(3):
        assert restore(tmp_path / f"{n}.tar.gz", tmp_path / f"kb{n}").documents in {3, 4}


def test_what_a_killed_backup_or_restore_left_goes_with_the_next(workshop: Workshop, tmp_path: Path) -> None:
    """Half an archive, links to originals, half a knowledge base; the archive is its owner's alone."""
    archive, kb = tmp_path / "b.tar.gz", tmp_path / "kb"
    for left in (kb / ".backup-x", tmp_path / ".b.tar.gz-making-x", tmp_path / ".new-restoring-x"):
        left.mkdir()
        (left / "half").write_text("of a document")
    backup(kb, archive)
    restore(archive, tmp_path / "new")
    assert archive.stat().st_mode & 0o777 == 0o600
    assert not [path for folder in (tmp_path, kb) for path in folder.iterdir() if path.name.startswith(".")]


def test_open_jobs_are_called_off(workshop: Workshop, tmp_path: Path) -> None:
    """What a job is about may not be where the backup is restored."""
    job = workshop.ledger.jobs.add("ingest", {"paths": ["/somewhere"]})
    backup(tmp_path / "kb", tmp_path / "b.tar.gz")
    restore(tmp_path / "b.tar.gz", tmp_path / "kb2")
    with Ledger.open(tmp_path / "kb2", create=False) as ledger:
        assert (ledger.jobs.get(job).state, ledger.jobs.waiting()) == ("failed", 0)
    assert workshop.ledger.jobs.waiting() == 1


def test_nothing_is_backed_up_of_nothing(tmp_path: Path) -> None:
    """Neither a ledger nor an archive is made."""
    with pytest.raises(MissingIndexError):
        backup(tmp_path / "kb", tmp_path / "b.tar.gz")
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_is_in_use_is_not_restored_into(workshop: Workshop, tmp_path: Path) -> None:
    """An empty one is."""
    backup(tmp_path / "kb", tmp_path / "b.tar.gz")
    with pytest.raises(InputError, match="is not empty"):
        restore(tmp_path / "b.tar.gz", tmp_path / "kb")
    (tmp_path / "empty").mkdir()
    assert restore(tmp_path / "b.tar.gz", tmp_path / "empty").documents == 3


def _cut(archive: Path) -> None:
    archive.write_bytes(archive.read_bytes()[:-200])


def _flipped(archive: Path) -> None:
    data = bytearray(gzip.decompress(archive.read_bytes()))
    place = data.index(b"Item 1 costs")
    data[place] ^= 1
    archive.write_bytes(gzip.compress(bytes(data)))


def _rewritten(change: Callable[[Entries, Any], None]) -> Callable[[Path], None]:
    def rewrite(archive: Path) -> None:
        parts = entries(archive)
        manifest = json.loads(parts["manifest.json"])
        change(parts, manifest)
        parts["manifest.json"] = json.dumps(manifest).encode()
        packed(archive, parts)

    return rewrite


def _outside(parts: Entries, manifest: Any) -> None:
    parts["../evil.txt"] = b"x"
    manifest["files"]["../evil.txt"] = {
        "size": 1,
        "sha256": "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881",
    }


def _unlisted(parts: Entries, manifest: Any) -> None:
    parts["blobs/more"] = b"x"


def _missing(parts: Entries, manifest: Any) -> None:
    del parts[next(name for name in parts if name.startswith("blobs/"))]


def _unmentioned(parts: Entries, manifest: Any) -> None:
    name = next(name for name in parts if name.startswith("blobs/"))
    del parts[name], manifest["files"][name]


def _programmed(parts: Entries, manifest: Any) -> None:
    import hashlib
    import tempfile

    with tempfile.NamedTemporaryFile() as file:
        file.write(parts[FILE_NAME])
        file.flush()
        with sqlite3.connect(file.name) as connection:
            connection.execute("CREATE TRIGGER t AFTER INSERT ON jobs BEGIN DELETE FROM documents; END")
        connection.close()
        data = Path(file.name).read_bytes()
    parts[FILE_NAME] = data
    manifest["files"][FILE_NAME] = {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def _newer(parts: Entries, manifest: Any) -> None:
    manifest["schema"] = 99


@pytest.mark.parametrize(
    ("damage", "kind", "words"),
    [
        pytest.param(_cut, InputError, "is damaged", id="cut"),
        pytest.param(_flipped, InputError, "is not what was backed up", id="a bit flipped"),
        pytest.param(lambda path: path.write_bytes(b"PK"), InputError, "is damaged", id="another file"),
        pytest.param(lambda path: path.write_bytes(b""), InputError, "is damaged", id="empty"),
        pytest.param(_rewritten(_outside), InputError, "is damaged", id="a path outside"),
        pytest.param(_rewritten(_unlisted), InputError, "is not in its manifest", id="a file too many"),
        pytest.param(_rewritten(_missing), InputError, "is missing", id="a file too few"),
        pytest.param(_rewritten(_unmentioned), InputError, "the original of .* is missing", id="an original too few"),
        pytest.param(_rewritten(_programmed), InputError, "holds programs", id="a trigger"),
        pytest.param(_rewritten(_newer), EnvironmentProblemError, "newer kb-qa", id="of a newer schema"),
        pytest.param(lambda path: path.unlink(), InputError, "there is no file", id="no file"),
    ],
)
def test_what_is_no_whole_backup_leaves_nothing_behind(
    workshop: Workshop, tmp_path: Path, damage: Callable[[Path], None], kind: type[Exception], words: str
) -> None:
    """A clear error, and no directory."""
    archive = tmp_path / "b.tar.gz"
    backup(tmp_path / "kb", archive)
    damage(archive)
    before = {path.name for path in tmp_path.iterdir()}
    with pytest.raises(kind, match=words):
        restore(archive, tmp_path / "kb2")
    assert {path.name for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("type_", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_links_and_devices_are_refused(workshop: Workshop, tmp_path: Path, type_: bytes) -> None:
    """Under the name of a file that the manifest lists."""
    archive = tmp_path / "b.tar.gz"
    backup(tmp_path / "kb", archive)

    def change(entry: tarfile.TarInfo) -> None:
        if entry.name == "aliases.toml":
            entry.type, entry.linkname, entry.size = type_, "/etc/passwd", 0

    packed(archive, entries(archive), change=change)
    with pytest.raises(InputError, match="is damaged"):
        restore(archive, tmp_path / "kb2")
    assert not (tmp_path / "kb2").exists()


def test_what_does_not_fit_is_refused_before_it_is_unpacked(
    workshop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the sizes of the manifest."""
    backup(tmp_path / "kb", tmp_path / "b.tar.gz")
    monkeypatch.setattr(module.shutil, "disk_usage", lambda place: type("Usage", (), {"free": 10})())
    with pytest.raises(EnvironmentProblemError, match="make room"):
        restore(tmp_path / "b.tar.gz", tmp_path / "kb2")
