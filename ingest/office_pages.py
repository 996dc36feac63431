"""Pages of Office files: LibreOffice prints them to PDF, in the child that parses and under its limits."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import zipfile
from pathlib import Path

from ingest.docx_file import without_changes
from ingest.kinds import Kind
from ingest.limits import Limits
from kb_qa.errors import DamagedFileError, LimitExceededError, MissingDependencyError, UnsupportedFileError

PROGRAMS = ("soffice", "libreoffice")
_SUFFIXES: dict[Kind, str] = {"docx": ".docx", "pptx": ".pptx", "xlsx": ".xlsx", "opendocument": ".odt"}
RENDERED_KINDS = frozenset(_SUFFIXES)

_SHARE = 3  # of the time that a document may take, one part is for printing it
_ARGUMENTS = "--headless --invisible --norestore --nolockcheck --nodefault --nofirststartwizard".split()


def rendered_pdf(path: Path, kind: Kind, folder: Path, *, limits: Limits) -> Path:
    """The PDF that LibreOffice makes of the file, in `folder`, where its profile is too.

    Raises MissingDependencyError where it is not installed, LimitExceededError where it takes too long, and
    DamagedFileError where it makes nothing. Its processes have ended in any case.
    """
    program = next((found for name in PROGRAMS if (found := shutil.which(name))), None)
    if program is None:
        raise MissingDependencyError("LibreOffice is not installed; install it, or unset KB_QA_RENDER_OFFICE")
    source = folder / f"source{_SUFFIXES[kind]}"  # a name of ours: the file's own may look like an option
    _copy(path, kind, source)
    profile = f"-env:UserInstallation={(folder / 'profile').absolute().as_uri()}"
    command = [program, *_ARGUMENTS, profile, "--convert-to", "pdf", "--outdir", str(folder), str(source)]
    _run(command, path.name, seconds=max(limits.seconds // _SHARE, 1))
    target = source.with_suffix(".pdf")
    if not target.is_file() or target.stat().st_size == 0:
        raise DamagedFileError(f"LibreOffice makes no pages of {path.name!r}; open it there and save it again")
    return target


def _copy(path: Path, kind: Kind, target: Path) -> None:
    """Without tracked changes, of which LibreOffice prints both versions: `100200` for a 100 that became 200."""
    if kind == "opendocument":
        with zipfile.ZipFile(path) as archive:
            if "content.xml" in archive.namelist() and b"<text:tracked-changes" in archive.read("content.xml"):
                raise UnsupportedFileError(
                    f"{path.name!r} has tracked changes; accept or reject them and save it again"
                )
    if kind == "docx":
        without_changes(path, target)
    else:
        shutil.copyfile(path, target)


def _run(command: list[str], name: str, *, seconds: int) -> None:
    """Its own process group, within the session of the child: whoever ends the session ends it too."""
    nowhere = subprocess.DEVNULL
    process = subprocess.Popen(command, stdin=nowhere, stdout=nowhere, stderr=nowhere, process_group=0)
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired as error:
        raise LimitExceededError(
            f"LibreOffice took longer than {seconds} s for {name!r} (KB_QA_PARSE_SECONDS)"
        ) from error
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
