"""Keys are shown once, kept as digests, and end when they are told to."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from kb_qa.access_keys import AccessKeys, split_key
from kb_qa.database import Database
from kb_qa.errors import InputError, NotFoundError


@pytest.fixture
def keys(tmp_path: Path) -> Iterator[AccessKeys]:
    with closing(Database.open(tmp_path, create=True)) as database:
        yield AccessKeys(database)


def test_a_key_is_long_random_and_nowhere_in_the_ledger(keys: AccessKeys, tmp_path: Path) -> None:
    """256 random bits, different each time; the file holds neither the key nor its secret part."""
    (_, first), (_, second) = keys.create("a", ["read"]), keys.create("b", ["read"])
    parts = split_key(first)
    assert parts is not None
    assert len(parts[1]) == 43  # 32 bytes in base 64
    assert parts[1] not in second
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite3")) as connection:
        assert parts[1] not in "\n".join(connection.iterdump())
        digest = connection.execute("SELECT digest FROM access_keys WHERE name = 'a'").fetchone()[0]
    assert len(digest) == 32


def test_only_the_whole_secret_is_the_key(keys: AccessKeys) -> None:
    """One letter changed, and it is none."""
    made, text = keys.create("a", ["read"])
    parts = split_key(text)
    assert parts is not None
    assert made.is_of(parts[1])
    assert not made.is_of(parts[1][:-1] + ("A" if parts[1][-1] != "A" else "B"))
    assert not made.is_of("")


@pytest.mark.parametrize("text", ["", "kbqa_", "Bearer x", "kbqa_0123456789ab_short", "kbqa_0123456789AB_" + "a" * 43])
def test_other_texts_are_no_keys(text: str) -> None:
    """They reach no table."""
    assert split_key(text) is None


def test_states_of_a_key(keys: AccessKeys) -> None:
    """Active until it expires or is revoked; bound to one knowledge base, it opens no other."""
    made, _ = keys.create("a", ["admin", "read"], knowledge_base="kb", expires=time.time() + 100)
    now = time.time()
    assert made.scopes == ("read", "admin")
    assert (made.state(now), made.state(now + 200)) == ("active", "expired")
    assert (made.opens("kb", now), made.opens("other", now), made.opens("kb", now + 200)) == (True, False, False)
    keys.revoke("a")
    (revoked,) = keys.all()
    assert (revoked.state(now), revoked.opens("kb", now)) == ("revoked", False)


def test_a_revoked_key_is_not_made_again_and_can_be_forgotten(keys: AccessKeys) -> None:
    """Its name stays taken while it is listed; the id is a name, too; what it used is forgotten with it."""
    made, _ = keys.create("a", ["read"])
    keys.add_tokens(made.id, "2026-11-30", 5)
    keys.revoke("a")
    with pytest.raises(InputError, match="already"):
        keys.create("a", ["read"])
    keys.revoke(made.id, forget=True)
    assert keys.all() == []
    assert keys.tokens(made.id, "2026-11-30") == 0
    with pytest.raises(NotFoundError, match="kb-qa key list"):
        keys.revoke("a")


@pytest.mark.parametrize(
    ("name", "scopes", "expires"),
    [
        pytest.param("", ["read"], None, id="no name"),
        pytest.param("../x", ["read"], None, id="path"),
        pytest.param("a\nb", ["read"], None, id="two lines"),
        pytest.param("a" * 65, ["read"], None, id="long"),
        pytest.param("a", [], None, id="no scope"),
        pytest.param("a", ["root"], None, id="unknown scope"),
        pytest.param("a", ["read"], 1.0, id="past"),
    ],
)
def test_wrong_keys_are_not_made(name: str, scopes: list[str], expires: float | None, keys: AccessKeys) -> None:
    """What is wrong is told, and nothing is kept."""
    with pytest.raises(InputError):
        keys.create(name, scopes, expires=expires)  # type: ignore[arg-type]
    assert keys.all() == []


def test_tokens_add_up_by_day(keys: AccessKeys) -> None:
    """A day's tokens are its own; those of a key that nobody knows are nobody's."""
    made, _ = keys.create("a", ["read"])
    today = time.strftime("%Y-%m-%d", time.gmtime())
    for amount in (5, 7):
        keys.add_tokens(made.id, today, amount)
    keys.add_tokens("nobody", today, 3)
    assert (keys.tokens(made.id, today), keys.tokens(made.id, "2020-01-01"), keys.tokens("nobody", today)) == (12, 0, 0)
