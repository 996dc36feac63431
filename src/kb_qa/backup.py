"""A knowledge base in one file, made while others read and write it, and made a knowledge base again.

The archive holds a manifest (first, with the digest of everything), the ledger, the originals that it knows, and the
aliases. The vector index is not in it: it comes back from the ledger.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import sqlite3
import tarfile
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from kb_qa.blobs import blob_place, digest_of, rendering_place
from kb_qa.database import FILE_NAME
from kb_qa.errors import FULL, EnvironmentProblemError, InputError, KbQaError, NotFoundError
from kb_qa.ledger import Ledger
from kb_qa.schema import SCHEMA_VERSION
from kb_qa.scratch import Scratch, remove_abandoned

FORMAT = 1
MANIFEST = "manifest.json"
ALIASES = "aliases.toml"
_BLOBS = "blobs"
_SCRATCH = ".backup-"
_TRIES = 5  # documents may be deleted between the ledger's copy and that of the originals
_MOST_MANIFEST = 256 << 20
_PIECE = 1 << 20
_DAMAGE = (tarfile.TarError, EOFError, zlib.error, ValueError, KeyError, TypeError, sqlite3.DatabaseError)


@dataclass(frozen=True, slots=True)
class Contents:
    """What is in a backup."""

    name: str
    documents: int
    bytes: int  # unpacked


def backup(kb_dir: Path, output: Path) -> Contents:
    """Writes the archive, whole or not at all. Raises MissingIndexError where there is no ledger."""
    with Ledger.open(kb_dir, create=False) as ledger:
        name = ledger.name()
    try:
        with Scratch(_SCRATCH, kb_dir) as scratch:
            documents = _consistent(kb_dir, scratch)
            manifest = _manifest(scratch, name)
            _pack(scratch, manifest, output)
    except OSError as error:
        raise _disk_problem(error, f"the backup {str(output)!r}") from error
    return Contents(name, documents, sum(each["size"] for each in manifest["files"].values()))


def restore(archive: Path, kb_dir: Path) -> Contents:
    """Makes a knowledge base of the archive, whole or not at all, in a directory that is missing or empty.

    Raises InputError for an archive that is damaged or no backup, or a directory that is not empty;
    EnvironmentProblemError for one of a newer kb-qa, or where the disk has no room.
    """
    if os.path.lexists(kb_dir) and (not kb_dir.is_dir() or any(kb_dir.iterdir())):
        raise InputError(f"{str(kb_dir)!r} is not empty; restore into a new directory")
    target = kb_dir.absolute()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with Scratch(f".{target.name}-restoring-", target.parent) as folder:
            made = folder / "kb"
            made.mkdir()
            contents = _unpacked(archive, made)
            _sync(made)
            made.replace(target)  # over an empty directory too; one that filled up meanwhile is an error
    except OSError as error:
        raise _disk_problem(error, f"{str(kb_dir)!r}") from error
    return contents


def _consistent(kb_dir: Path, scratch: Path) -> int:
    """A copy of the ledger, and links to all originals that it knows, which last whatever is deleted; how many."""
    for _ in range(_TRIES):
        for left in scratch.iterdir():
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        _copy_ledger(kb_dir / FILE_NAME, scratch / FILE_NAME)
        ids = _document_ids(scratch / FILE_NAME)
        if all(_linked(kb_dir / _BLOBS, scratch / _BLOBS, document_id) for document_id in ids):
            if (kb_dir / ALIASES).is_file():
                shutil.copyfile(kb_dir / ALIASES, scratch / ALIASES)
            return len(ids)
    raise EnvironmentProblemError(
        "originals of documents are missing, or documents are deleted all the time; try again, and see kb-qa doctor"
    )


def _copy_ledger(source: Path, target: Path) -> None:
    """One moment of the ledger; whoever writes waits for it."""
    with closing(sqlite3.connect(source, timeout=30)) as old, closing(sqlite3.connect(target)) as new:
        old.backup(new)
        new.execute("PRAGMA journal_mode = DELETE").close()


def _document_ids(ledger: Path) -> list[str]:
    """Of those that are not deleted, or not yet quite."""
    alive = (
        "SELECT id FROM documents WHERE id IN (SELECT document_id FROM names) "
        "OR id IN (SELECT document_id FROM versions WHERE state NOT IN ('deleting', 'deleted')) ORDER BY id"
    )
    with closing(sqlite3.connect(ledger)) as connection:
        return [str(row[0]) for row in connection.execute(alive)]


def _linked(blobs: Path, copies: Path, document_id: str) -> bool:
    source, target = blob_place(blobs, document_id), blob_place(copies, document_id)
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        _link(source, target)
    except FileNotFoundError:
        return False
    if rendering_place(source).is_file():
        try:
            _link(rendering_place(source), rendering_place(target))
        except FileNotFoundError:
            return False
    return True


def _link(source: Path, target: Path) -> None:
    try:
        target.hardlink_to(source)
    except FileNotFoundError:
        raise
    except OSError:  # a file system without links
        shutil.copyfile(source, target)


def _manifest(scratch: Path, name: str) -> dict[str, Any]:
    files = {
        path.relative_to(scratch).as_posix(): {"size": path.stat().st_size, "sha256": digest_of(path)}
        for path in sorted(scratch.rglob("*"))
        if path.is_file()
    }
    return {"format": FORMAT, "schema": SCHEMA_VERSION, "name": name, "made": int(time.time()), "files": files}


def _pack(scratch: Path, manifest: Mapping[str, Any], output: Path) -> None:
    with _written(output) as target, tarfile.open(fileobj=target, mode="w:gz", compresslevel=1) as tar:
        told = json.dumps(manifest, ensure_ascii=True).encode()
        tar.addfile(_entry(MANIFEST, len(told)), io.BytesIO(told))
        for path, file in manifest["files"].items():
            with (scratch / path).open("rb") as source:
                tar.addfile(_entry(path, file["size"]), source)


def _entry(name: str, size: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = size, 0o600
    return entry


@contextmanager
def _written(output: Path) -> Iterator[IO[bytes]]:
    """A file that takes its place when it is whole; readable by its owner alone, as it holds what readers asked."""
    with Scratch(f".{output.name[:40]}-making-", output.absolute().parent) as folder:
        made = folder / "archive"
        with os.fdopen(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as target:
            yield target
            target.flush()
            os.fsync(target.fileno())
        made.replace(output)


def _unpacked(archive: Path, made: Path) -> Contents:
    """The archive's files below `made`, each as the manifest says, and a ledger that can be opened."""
    try:
        with archive.open("rb") as source, tarfile.open(fileobj=source, mode="r|gz") as tar:
            manifest = _read_manifest(tar)
            files = {str(path): (int(each["size"]), str(each["sha256"])) for path, each in manifest["files"].items()}
            _require_room(made, sum(size for size, _ in files.values()))
            for path in files:
                _require_known(path, files[path][1])
            left = dict(files)
            while (entry := tar.next()) is not None:
                if entry.name not in left or not entry.isreg():
                    raise ValueError(f"{entry.name!r:.80} is not in its manifest")
                _unpack(tar, entry, made / entry.name, left.pop(entry.name))
            if left:
                raise ValueError(f"{min(left)!r:.80} is missing")
        documents = _checked_ledger(made, files)
    except KbQaError:
        raise
    except _DAMAGE as error:
        raise InputError(f"{str(archive)!r} is damaged or no backup of kb-qa: {error}") from error
    except FileNotFoundError as error:
        if Path(error.filename or "") != archive:
            raise
        raise InputError(f"there is no file {str(archive)!r}") from error
    return Contents(str(manifest["name"]), documents, sum(size for size, _ in files.values()))


def _read_manifest(tar: tarfile.TarFile) -> Mapping[str, Any]:
    first = tar.next()
    if first is None or first.name != MANIFEST or not first.isreg() or first.size > _MOST_MANIFEST:
        raise ValueError("it does not begin with a manifest")
    data = tar.extractfile(first)
    assert data is not None  # of a regular file
    manifest: Mapping[str, Any] = json.loads(data.read())
    if int(manifest["format"]) > FORMAT or int(manifest["schema"]) > SCHEMA_VERSION:
        raise EnvironmentProblemError(
            f"the backup was made by a newer kb-qa (format {manifest['format']}, schema {manifest['schema']}); "
            "upgrade kb-qa"
        )
    return manifest


def _require_known(path: str, digest: str) -> None:
    """Nothing but what a backup holds, so that no path leads anywhere else."""
    if path in {FILE_NAME, ALIASES}:
        return
    kind, _, rest = path.partition("/")
    document_id = rest.replace("/", "").removesuffix(".pdf")
    try:
        place = blob_place(Path(_BLOBS), document_id)
    except NotFoundError as error:
        raise ValueError(f"{path!r:.80} is no file of a knowledge base") from error
    if kind != _BLOBS or path not in {place.as_posix(), rendering_place(place).as_posix()}:
        raise ValueError(f"{path!r:.80} is no file of a knowledge base")
    if path == place.as_posix() and digest != document_id:
        raise ValueError(f"{path!r:.80} is not what its name says")


def _unpack(tar: tarfile.TarFile, entry: tarfile.TarInfo, target: Path, expected: tuple[int, str]) -> None:
    size, digest = expected
    if entry.size != size:
        raise ValueError(f"{entry.name!r:.80} has {entry.size} bytes, not {size}")
    data = tar.extractfile(entry)
    assert data is not None  # of a regular file
    found = hashlib.sha256()
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("xb") as file:
        while piece := data.read(_PIECE):
            found.update(piece)
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())
    if found.hexdigest() != digest:
        raise ValueError(f"{entry.name!r:.80} is not what was backed up")


def _checked_ledger(made: Path, files: Mapping[str, object]) -> int:
    """How many documents it has; work that was open when it was copied is called off, as its files are elsewhere."""
    with closing(sqlite3.connect(made / FILE_NAME)) as connection:
        connection.execute("PRAGMA trusted_schema = off")
        if connection.execute("SELECT count(*) FROM sqlite_master WHERE type IN ('trigger', 'view')").fetchone()[0]:
            raise ValueError("its ledger holds programs")
        if connection.execute("PRAGMA quick_check").fetchone()[0] != "ok":
            raise ValueError("its ledger is damaged")
        schema = connection.execute("PRAGMA user_version").fetchone()[0]
        if not 0 < schema <= SCHEMA_VERSION:
            raise EnvironmentProblemError(f"the backup's ledger has schema {schema}; upgrade kb-qa")
    ids = _document_ids(made / FILE_NAME)
    for document_id in ids:
        if blob_place(Path(_BLOBS), document_id).as_posix() not in files:
            raise ValueError(f"the original of {document_id!r:.80} is missing")
    with Ledger.open(made, create=False) as ledger:
        ledger.jobs.call_off("open when the backup was made; start it again")
    return len(ids)


def _require_room(place: Path, needed: int) -> None:
    free = shutil.disk_usage(place).free
    if needed > free:
        where = str(place.parent.parent)
        raise EnvironmentProblemError(
            f"the backup unpacks to {needed:,} bytes, and {free:,} are free in {where!r}; make room"
        )


def _sync(folder: Path) -> None:
    for place in (folder, *(each for each in folder.rglob("*") if each.is_dir())):
        handle = os.open(place, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def remove_unfinished_backups(kb_dir: Path) -> None:
    """Of processes that were killed. They link originals, which would outlive their documents."""
    remove_abandoned(_SCRATCH, kb_dir)


def _disk_problem(error: OSError, what: str) -> EnvironmentProblemError:
    problem = EnvironmentProblemError(f"{what} could not be written: {error.strerror or error}")
    problem.retryable = error.errno in FULL
    return problem
