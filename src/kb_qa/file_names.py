"""What files are called, made safe to store and to show. A name is never a path of ours."""

from __future__ import annotations

import unicodedata
from pathlib import PurePosixPath

_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_UNPRINTABLE = frozenset({"Cc", "Cs", "Zl", "Zp"})
LONGEST_NAME = 1000  # characters
_LONGEST_SUFFIX = 20


def display_name(text: str) -> str:
    """`text`, safe to store as UTF-8 and to print: control and bidi characters and lone surrogates become U+FFFD."""
    return "".join("\ufffd" if char in _BIDI or unicodedata.category(char) in _UNPRINTABLE else char for char in text)


def uploaded_name(claimed: str) -> str:
    """What an upload is called: the last part of what its sender claims, without folders; never empty, not endless."""
    last = display_name(claimed.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]).strip()
    suffix = PurePosixPath(last).suffix
    if len(suffix) > _LONGEST_SUFFIX:
        suffix = ""
    stem = last.removesuffix(suffix)
    if not stem.strip(" ."):
        stem = "document"
    return f"{stem[: LONGEST_NAME - len(suffix)]}{suffix}"
