"""What was paid for models, by day, kept in the ledger's file."""

from __future__ import annotations

from sqlalchemy import select

from kb_qa.database import Database
from kb_qa.index_ledger import put_meta
from kb_qa.schema import meta


class SpendTable:
    """A row of `meta` a day. `day` is `2026-11-30`, amounts are billionths of a US dollar."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def spent(self, day: str) -> int:
        with self._database.read() as connection:
            found = connection.execute(select(meta.c.value).where(meta.c.key == _key(day))).scalar()
        return int(found or 0)

    def add(self, day: str, amount: int) -> None:
        with self._database.write() as connection:
            before = connection.execute(select(meta.c.value).where(meta.c.key == _key(day))).scalar()
            put_meta(connection, _key(day), int(before or 0) + amount)


def _key(day: str) -> str:
    return f"spent {day}"
