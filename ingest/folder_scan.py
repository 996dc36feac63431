"""What a scan of folders says against the one before: new, changed, renamed, moved and deleted files.

Only what a scan saw itself can be missed by a later one, and only where that could look everywhere: a folder that
cannot be opened, or that lost all its files at once as if a disk were away, removes nothing.
"""

from __future__ import annotations

import errno
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ingest.discover import Discovery, Found, stamp_of
from ingest.pipeline import Outcome
from kb_qa.errors import NotFoundError
from kb_qa.file_names import display_name
from kb_qa.folder_table import FolderTable, SeenFile
from kb_qa.ledger import Ledger

RACY_SECONDS = 2.0  # a file that was written to so shortly before it was looked at may change and keep its times
NOTHING_REMOVED = "nothing_removed"  # the code of an outcome that says why

Place = tuple[str, str]  # folder and name, as the ledger has them


@dataclass(frozen=True, slots=True)
class Root:
    """A folder that was given. `unread` is something in it that could not be looked at; "" where all was seen."""

    path: str
    before: Mapping[Place, SeenFile]
    gone: Mapping[Place, SeenFile]
    is_empty: bool
    unread: str


@dataclass(slots=True)
class FolderScan:
    """One scan, for one run of the pipeline over `discovery`; for the one ingest writer."""

    ledger: Ledger
    discovery: Discovery
    roots: tuple[Root, ...]
    table: FolderTable
    allow_empty: bool = False
    began: float = field(default_factory=time.time)
    _found: dict[str, Found] = field(default_factory=dict)  # by the keys of outcomes
    _meant: dict[Place, str] = field(default_factory=dict)  # what each name meant before this run
    _paired: set[Place] = field(default_factory=set)  # old names of what was renamed or moved

    @classmethod
    def of(cls, ledger: Ledger, paths: Sequence[Path], found: Discovery, *, allow_empty: bool = False) -> FolderScan:
        """Remembers those of the paths that are folders."""
        table = FolderTable(ledger.database)
        given = [display_name(path.as_posix()) for path in paths if path.is_dir()]
        for path in given:
            table.remember(path)
        roots = tuple(_root(table, path, found) for path in dict.fromkeys(given))
        scan = cls(ledger, _new_names_first(found, roots), roots, table, allow_empty)
        scan._found = {str(file.path): file for file in found.found}
        return scan

    @property
    def knew_files(self) -> bool:
        return any(root.before for root in self.roots)

    def original(self, file: Found) -> str:
        """The id of the file's bytes, which are kept; a file that stands as it was is not read again.

        Raises OSError for a file that somebody writes to meanwhile.
        """
        place = _place(file)
        self._meant[place] = self.ledger.named(file.file_name, file.folder) or ""
        seen = self._seen(place)
        if seen is not None and seen.stamp == file.stamp and _is_settled(seen) and self._is_kept(seen.document_id):
            return seen.document_id
        document_id = self.ledger.store_blob(file.path)
        if stamp_of(file.path.stat()) != file.stamp:
            raise OSError(errno.EBUSY, "it changed while it was read")
        return document_id

    def told(self, outcome: Outcome) -> Outcome:
        """The outcome with what its file did; what stands there now is noted for the next scan."""
        file = self._found.get(outcome.key)
        if file is None or outcome.state == "skipped":
            return replace(outcome, change=outcome.state)
        place = _place(file)
        seen = self._seen(place)
        before = seen.document_id if seen else self._meant.get(place, "")
        if outcome.document_id and self._lies_in_root(file):
            self.table.note(SeenFile(*place, outcome.document_id, file.stamp, self.began))
        if outcome.state != "ready":
            return replace(outcome, change=outcome.state)
        if before:
            same = before == outcome.document_id and (seen is not None or outcome.reason == "unchanged")
            return replace(
                outcome, change="unchanged" if same else "changed" if before != outcome.document_id else "new"
            )
        old = self._old_place(outcome.document_id, file.folder)
        if old is None:
            return replace(outcome, change="new")
        self._paired.add(old)
        return replace(outcome, change="renamed" if old[0] == file.folder else "moved", was=self._shown(old))

    def removed(self, withdraw: Callable[[str], None]) -> Iterator[Outcome]:
        """Forgets the names of files that are gone, and withdraws the documents that have no other; once all others
        are settled, so that what was only renamed stays.
        """
        done: set[Place] = set()
        for root in self.roots:
            missed = {place: seen for place, seen in root.gone.items() if place not in self._paired | done}
            if refusal := self._refusal(root, missed):
                shown = display_name(root.path)
                yield Outcome(
                    shown, state="skipped", change="skipped", reason=refusal, code=NOTHING_REMOVED, key=f"{shown}/"
                )
                continue
            for place, seen in root.gone.items():
                if place in done:
                    continue
                done.add(place)
                outcome = self._forgotten(seen, withdraw)
                if place not in self._paired:
                    yield outcome

    def _refusal(self, root: Root, missed: Mapping[Place, SeenFile]) -> str:
        if not missed:
            return ""
        if root.unread:
            return f"nothing is removed, though {len(missed)} files are not seen: {root.unread!r} cannot be read"
        lost = len(missed) == len(root.before) and (root.is_empty or len(missed) > 1)
        if lost and not self.allow_empty:
            return (
                f"nothing is removed: all {len(missed)} files that stood there are gone; "
                "if that is meant, use --allow-empty"
            )
        return ""

    def _forgotten(self, seen: SeenFile, withdraw: Callable[[str], None]) -> Outcome:
        stays = ""
        # That of the row last: while it stands, a run that is cut here is made good by the next one.
        called = self.table.documents_called(seen.folder, seen.name)
        for document_id, other in sorted(called, key=lambda each: each[0] == seen.document_id):
            if other:
                stays = f"its content stays under the name {other!r}"
            else:
                withdraw(document_id)
        self.table.forget(seen.folder, seen.name)
        place = seen.folder, seen.name
        told = stays or "no file of this name stands there any more"
        key = f"{seen.folder}/{seen.name} gone"  # beside the line of a link or an ignored file of this name
        return Outcome(self._shown(place), seen.document_id, "deleted", reason=told, change="deleted", key=key)

    def _seen(self, place: Place) -> SeenFile | None:
        return next((root.before[place] for root in self.roots if place in root.before), None)

    def _lies_in_root(self, file: Found) -> bool:
        return not file.given and any(_is_below(root.path, file.folder) for root in self.roots)

    def _old_place(self, document_id: str, folder: str) -> Place | None:
        """Where this content stood, of the names that are gone: best in the same folder."""
        gone = [
            place
            for root in self.roots
            if not root.unread
            for place, seen in root.gone.items()
            if seen.document_id == document_id and place not in self._paired
        ]
        return min(gone, key=lambda place: (place[0] != folder, place), default=None)

    def _shown(self, place: Place) -> str:
        """As outcomes call a file: below the folder that was given."""
        full = "/".join(place)
        root = next((root.path for root in self.roots if _is_below(root.path, place[0])), "")
        return full.removeprefix(root.rstrip("/") + "/")

    def _is_kept(self, document_id: str) -> bool:
        try:
            self.ledger.blob_path(document_id)
        except NotFoundError:
            return False
        return True


def _root(table: FolderTable, path: str, found: Discovery) -> Root:
    before = {(seen.folder, seen.name): seen for seen in table.seen_under(path)}
    stand = {_place(file) for file in found.found}
    stand |= {_place_of(each.path) for each in found.rejected}
    stand |= {_place_of(each.path) for each in found.skipped if each.meaning == "stands"}
    unread = [
        each.name or path for each in found.skipped if each.meaning == "unknown" and _is_below(path, _of(each.path))
    ]
    gone = {place: seen for place, seen in before.items() if place not in stand}
    is_empty = not any(_is_below(path, folder) for folder, _ in stand)
    return Root(path, before, gone, is_empty, unread[0] if unread else "")


def _new_names_first(found: Discovery, roots: Sequence[Root]) -> Discovery:
    """So that what was renamed has its new name before another file takes its old one."""
    known = {place for root in roots for place in root.before}
    return replace(found, found=tuple(sorted(found.found, key=lambda file: _place(file) in known)))


def _is_settled(seen: SeenFile) -> bool:
    _, modified, changed, *_ = seen.stamp.split()
    return max(int(modified), int(changed)) / 1e9 < seen.looked - RACY_SECONDS


def _place(file: Found) -> Place:
    return file.folder, file.file_name


def _place_of(path: Path) -> Place:
    return display_name(path.absolute().parent.as_posix()), display_name(path.name)


def _of(path: Path) -> str:
    return display_name(path.absolute().as_posix())


def _is_below(root: str, folder: str) -> bool:
    return folder == root or folder.startswith(root.rstrip("/") + "/")
