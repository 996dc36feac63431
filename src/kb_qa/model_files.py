"""Folders of model files: where they are, and a digest that tells one model's files from another's."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from kb_qa.errors import EnvironmentProblemError

_SAMPLE = 1 << 20  # bytes of a weights file that its digest reads at its start, middle and end
_OF_A_MODEL = {".json", ".safetensors", ".bin", ".txt", ".model"}


def model_folder(name_or_folder: str) -> Path:
    """Where a model's files are. Raises EnvironmentProblemError where this machine does not have them."""
    if (folder := Path(name_or_folder).expanduser()).is_dir():
        return folder.resolve()
    import huggingface_hub

    try:
        return Path(huggingface_hub.snapshot_download(name_or_folder, local_files_only=True))
    except (OSError, ValueError) as error:
        raise EnvironmentProblemError(
            f"the model {name_or_folder!r} is not on this machine; give its folder, or fetch it first with "
            f"`hf download {name_or_folder}`"
        ) from error


def model_name(name_or_folder: str, folder: Path) -> str:
    """The name in a model's id: the folder's own, without the path to it, or the name it was asked for by."""
    return folder.name if Path(name_or_folder).expanduser().is_dir() else name_or_folder


def model_digest(folder: Path) -> str:
    """Twelve hex digits of a folder's settings and weights."""
    return files_digest(folder, (file for file in folder.rglob("*") if file.suffix in _OF_A_MODEL))


def files_digest(folder: Path, files: Iterable[Path]) -> str:
    """Twelve hex digits of files. Large ones by size and samples: other weights differ all over."""
    digest = hashlib.sha256()
    for file in sorted(files):
        if file.is_file():
            digest.update(f"{file.relative_to(folder).as_posix()}\n{file.stat().st_size}\n".encode())
            digest.update(_sample(file))
    return digest.hexdigest()[:12]


def _sample(file: Path) -> bytes:
    size = file.stat().st_size
    with file.open("rb") as opened:
        if size <= 3 * _SAMPLE:
            return opened.read()
        parts = []
        for start in (0, size // 2, size - _SAMPLE):
            opened.seek(start)
            parts.append(opened.read(_SAMPLE))
    return b"".join(parts)
