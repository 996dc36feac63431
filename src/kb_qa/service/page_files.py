"""The page's files: fixed paths, so that no path of a request ever reaches the disk."""

from __future__ import annotations

from importlib.resources import files
from typing import Final


def _files() -> dict[str, str]:
    """Paths → names in `web`: what is there when the service starts. Other people's work is in `vendor`."""
    names = [f"{folder}{name}" for folder in ("", "vendor/") for name in _names(folder)]
    return {"/": "index.html"} | {f"/{name}": name for name in names if name != "index.html"}


def _names(folder: str) -> list[str]:
    there = files("kb_qa").joinpath("web", folder)
    return sorted(file.name for file in there.iterdir() if file.is_file()) if there.is_dir() else []


FILES: Final = _files()
