"""Whose request it is: keys in headers, and the cookies of those who signed in with one."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Final

from starlette.datastructures import Headers

from kb_qa.access_keys import AccessKey, AccessKeys, split_key
from kb_qa.service.scopes import RouteScope

COOKIE: Final = "kb_qa_session"
SESSION_SECONDS: Final = 12 * 3600
MOST_SESSIONS: Final = 10_000
FRESH_SECONDS: Final = 1.0  # how long a revoked key may go on


@dataclass(frozen=True, slots=True)
class Caller:
    """`key_id` is empty where no key is asked for. `by_cookie`: a browser sent it by itself."""

    name: str
    key_id: str
    scopes: frozenset[str]
    by_cookie: bool = False

    def may(self, scope: RouteScope) -> bool:
        return scope == "open" or scope in self.scopes or "admin" in self.scopes


LOCAL: Final = Caller("local", "", frozenset({"admin"}))


@dataclass(slots=True)
class Sessions:
    """Who signed in, by the digest of their cookie; the process's own memory, so that a restart signs everybody out."""

    _by_digest: OrderedDict[bytes, tuple[str, float]] = field(default_factory=OrderedDict)

    def begin(self, key_id: str) -> str:
        token = secrets.token_urlsafe(32)
        self._by_digest[_digest(token)] = (key_id, time.monotonic() + SESSION_SECONDS)
        while len(self._by_digest) > MOST_SESSIONS:
            self._by_digest.popitem(last=False)
        return token

    def key_id(self, token: str) -> str:
        """Whose session it is; empty where it is none, or over."""
        key_id, until = self._by_digest.get(_digest(token), ("", 0.0))
        return key_id if time.monotonic() < until else ""

    def end(self, token: str) -> None:
        self._by_digest.pop(_digest(token), None)


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


class KeyRing:
    """The keys as the ledger had them at most a second ago. `always`: keys are asked for also where none was made."""

    def __init__(self, keys: AccessKeys | None, knowledge_base: str, *, always: bool) -> None:
        self.sessions = Sessions()
        self._keys = keys
        self._knowledge_base = knowledge_base
        self._always = always
        self._known: Mapping[str, AccessKey] = {}
        self._read_at = float("-inf")
        self._reading = asyncio.Lock()

    async def is_needed(self) -> bool:
        """Also where every key is revoked or expired: ending the last key must not open the door."""
        return self._always or bool(await self._current())

    async def caller(self, headers: Headers) -> Caller | None:
        """Who sends these headers; None where they name nobody who may come in."""
        if not await self.is_needed():
            return LOCAL
        if "authorization" in headers:
            kind, _, text = headers["authorization"].partition(" ")
            return await self.holder(text.strip()) if kind.lower() == "bearer" else None
        token = cookie_of(headers)
        key_id = self.sessions.key_id(token) if token else ""
        return self._admitted((await self._current()).get(key_id), by_cookie=True)

    async def holder(self, text: str) -> Caller | None:
        """Who holds this key; None where it is none, or none that opens this knowledge base now."""
        parts = split_key(text)
        if parts is None:
            return None
        key = (await self._current()).get(parts[0])
        return self._admitted(key) if key is not None and key.is_of(parts[1]) else None

    def _admitted(self, key: AccessKey | None, *, by_cookie: bool = False) -> Caller | None:
        if key is None or not key.opens(self._knowledge_base, time.time()):
            return None
        return Caller(key.name, key.id, frozenset(key.scopes), by_cookie)

    async def _current(self) -> Mapping[str, AccessKey]:
        if self._keys is None:
            return {}
        if time.monotonic() - self._read_at > FRESH_SECONDS:
            async with self._reading:
                if time.monotonic() - self._read_at > FRESH_SECONDS:
                    self._known = {key.id: key for key in await asyncio.to_thread(self._keys.all)}
                    self._read_at = time.monotonic()
        return self._known


def cookie_of(headers: Headers) -> str:
    """The session's token; empty where there is none."""
    try:
        cookies = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return ""
    return cookies[COOKIE].value if COOKIE in cookies else ""
