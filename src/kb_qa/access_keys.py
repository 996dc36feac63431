"""Keys to the service: who may do what, and how many tokens each used, kept in the ledger's file.

A key is `kbqa_<id>_<secret>`: the id finds the row, the secret (256 random bits) is compared with the row's digest.
A secret of so many bits needs no slow hash: nobody can try them out.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, Literal, get_args

from sqlalchemy import Row, delete, insert, or_, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from kb_qa.database import Database
from kb_qa.errors import InputError, NotFoundError
from kb_qa.schema import access_keys, key_tokens

KeyScope = Literal["read", "write", "admin"]
KEY_SCOPES: Final[tuple[KeyScope, ...]] = get_args(KeyScope)
KEPT_DAYS: Final = 40  # of the tokens of a key

_KEY = re.compile(r"kbqa_(?P<id>[0-9a-f]{12})_(?P<secret>[A-Za-z0-9_-]{43})")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")


@dataclass(frozen=True, slots=True)
class AccessKey:
    """What is known of a key. Times are seconds since 1970; `knowledge_base` is empty where it opens any."""

    id: str
    name: str
    scopes: tuple[KeyScope, ...]
    knowledge_base: str
    created: float
    expires: float | None
    revoked: float | None
    digest: bytes = field(repr=False)

    def state(self, now: float) -> Literal["active", "expired", "revoked"]:
        if self.revoked is not None:
            return "revoked"
        return "expired" if self.expires is not None and self.expires <= now else "active"

    def opens(self, knowledge_base: str, now: float) -> bool:
        return self.state(now) == "active" and self.knowledge_base in ("", knowledge_base)

    def is_of(self, secret: str) -> bool:
        return hmac.compare_digest(self.digest, _digest(secret))


def split_key(text: str) -> tuple[str, str] | None:
    """Id and secret; None for what is no key."""
    match = _KEY.fullmatch(text)
    return None if match is None else (match["id"], match["secret"])


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("ascii", "replace")).digest()


class AccessKeys:
    """The table of keys. A name stands for one key, also for one that was revoked."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(
        self, name: str, scopes: Sequence[KeyScope], *, knowledge_base: str = "", expires: float | None = None
    ) -> tuple[AccessKey, str]:
        """The key as it is known, and the key itself, which nobody can tell again. Raises InputError."""
        if not _NAME.fullmatch(name):
            raise InputError(f"{name!r:.80} is no name of a key: letters, digits, '.', '_', '@' and '-', 64 at most")
        unknown = [scope for scope in scopes if scope not in KEY_SCOPES]
        if unknown or not scopes:
            raise InputError(f"the scopes of a key are some of {', '.join(KEY_SCOPES)}, not {unknown or 'none'}")
        now = time.time()
        if expires is not None and expires <= now:
            raise InputError(f"the key {name!r} would have expired already")
        secret = secrets.token_urlsafe(32)
        ordered = tuple(scope for scope in KEY_SCOPES if scope in scopes)
        key = AccessKey(secrets.token_hex(6), name, ordered, knowledge_base, now, expires, None, _digest(secret))
        with self._database.write() as connection:
            if connection.execute(select(access_keys.c.id).where(access_keys.c.name == name)).scalar():
                raise InputError(f"there is a key {name!r} already, maybe a revoked one; choose another name")
            connection.execute(
                insert(access_keys).values(
                    id=key.id,
                    name=name,
                    digest=key.digest,
                    scopes=list(ordered),
                    knowledge_base=knowledge_base,
                    created=now,
                    expires=expires,
                )
            )
        return key, f"kbqa_{key.id}_{secret}"

    def all(self) -> Sequence[AccessKey]:
        """Every key that was made and not forgotten, the oldest first."""
        with self._database.read() as connection:
            rows = connection.execute(select(access_keys).order_by(access_keys.c.created, access_keys.c.id)).all()
        return [_key(row) for row in rows]

    def revoke(self, name: str, *, forget: bool = False) -> AccessKey:
        """Ends the key with this name or id; `forget` takes its row out, too. Raises NotFoundError."""
        is_it = or_(access_keys.c.name == name, access_keys.c.id == name)
        with self._database.write() as connection:
            row = connection.execute(select(access_keys).where(is_it)).first()
            if row is None:
                raise NotFoundError(f"there is no key {name!r:.80}; kb-qa key list shows them")
            if forget:
                connection.execute(delete(key_tokens).where(key_tokens.c.key_id == row.id))
                connection.execute(delete(access_keys).where(access_keys.c.id == row.id))
            elif row.revoked is None:
                connection.execute(update(access_keys).where(access_keys.c.id == row.id).values(revoked=time.time()))
        return _key(row)

    def tokens(self, key_id: str, day: str) -> int:
        """What a key used on a day (`2026-11-30`, UTC)."""
        wanted = (key_tokens.c.key_id == key_id) & (key_tokens.c.day == day)
        with self._database.read() as connection:
            return int(connection.execute(select(key_tokens.c.tokens).where(wanted)).scalar() or 0)

    def add_tokens(self, key_id: str, day: str, amount: int) -> None:
        """Nothing where the key was forgotten meanwhile. Days long past are forgotten, too."""
        statement = upsert(key_tokens).values(key_id=key_id, day=day, tokens=amount)
        oldest = datetime.fromtimestamp(time.time() - KEPT_DAYS * 86400, UTC).strftime("%Y-%m-%d")
        with self._database.write() as connection:
            if connection.execute(select(access_keys.c.id).where(access_keys.c.id == key_id)).scalar() is None:
                return
            connection.execute(
                statement.on_conflict_do_update(
                    index_elements=["key_id", "day"], set_={"tokens": key_tokens.c.tokens + amount}
                )
            )
            connection.execute(delete(key_tokens).where(key_tokens.c.day < oldest))


def _key(row: Row[tuple[object, ...]]) -> AccessKey:
    return AccessKey(
        id=row.id,
        name=row.name,
        scopes=tuple(row.scopes),
        knowledge_base=row.knowledge_base,
        created=row.created,
        expires=row.expires,
        revoked=row.revoked,
        digest=row.digest,
    )
