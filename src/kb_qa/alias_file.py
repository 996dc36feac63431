"""The alias table of one knowledge base: `aliases.toml` in its directory, what is said → what is meant.

[aliases]
"营收" = "营业收入"
"top line" = "revenue"
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from kb_qa.errors import InputError

FILE_NAME = "aliases.toml"
MOST = 1000  # pairs; every text is searched for every one of them
LONGEST = 80  # characters
MOST_BYTES = 1_000_000


def read_aliases(kb_dir: Path) -> tuple[tuple[str, str], ...]:
    """Pairs (said, meant) in lower case, longest first; none where there is no file.

    Raises InputError for a file that is no such table: figures are bound by it, so it is not half used.
    """
    path = kb_dir / FILE_NAME
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InputError(f"{str(path)!r} is larger than {MOST_BYTES} bytes")
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{str(path)!r} is not TOML: {error}") from error
    table = data.pop("aliases", None)
    if not isinstance(table, dict) or data:
        raise InputError(f"{str(path)!r} must hold one table, [aliases], and nothing else")
    if len(table) > MOST:
        raise InputError(f"{str(path)!r} has {len(table)} aliases; at most {MOST} are read")
    pairs = [_pair(path, said, meant) for said, meant in table.items()]
    return tuple(sorted(pairs, key=lambda pair: (-len(pair[0]), pair)))


def _pair(path: Path, said: str, meant: object) -> tuple[str, str]:
    for text in (said, meant):
        if not isinstance(text, str) or not text.strip() or len(text) > LONGEST:
            raise InputError(f"{str(path)!r}: alias {said!r:.99} must be 1 to {LONGEST} characters for as many others")
        if any(character.isdigit() for character in text):
            raise InputError(f"{str(path)!r}: alias {said!r} holds a digit; words are aliases, figures are not")
    return said.strip().lower(), str(meant).strip().lower()
