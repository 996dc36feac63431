"""The turns of each session: what was asked, so that a follow-up question can be understood."""

from __future__ import annotations

import time
from collections.abc import Sequence

from sqlalchemy import Row, delete, func, insert, select

from kb_qa.answers import Filters, Turn
from kb_qa.database import Database
from kb_qa.records import from_data, to_data
from kb_qa.schema import turns

KEPT_TURNS = 20  # of a session
KEPT_SECONDS = 30 * 24 * 3600.0
KEPT_IN_ALL = 20_000  # turns of all sessions together


class SessionTable:
    """Bounded in turns a session, in age and in number; what is oldest goes first."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def turns(self, session_id: str, count: int) -> Sequence[Turn]:
        """The last `count` turns that are not too old, oldest first."""
        statement = (
            select(turns)
            .where(turns.c.session_id == session_id, turns.c.time >= time.time() - KEPT_SECONDS)
            .order_by(turns.c.ordinal.desc())
            .limit(count)
        )
        with self.database.read() as connection:
            return [_turn(row) for row in reversed(connection.execute(statement).all())]

    def add_turn(self, session_id: str, turn: Turn) -> int:
        """Keeps the turn as the session's last, and forgets what is beyond the bounds; the turn's ordinal."""
        latest = select(func.max(turns.c.ordinal)).where(turns.c.session_id == session_id)
        beyond = select(turns.c.time).order_by(turns.c.time.desc()).offset(KEPT_IN_ALL).limit(1).scalar_subquery()
        with self.database.write() as connection:
            ordinal = (connection.execute(latest).scalar() or 0) + 1
            values = {
                "session_id": session_id,
                "ordinal": ordinal,
                "question": turn.question,
                "standalone": turn.standalone,
                "answer_id": turn.answer_id,
                "documents": list(turn.documents),
                "filters": to_data(turn.filters),
                "time": turn.time,
            }
            connection.execute(insert(turns).values(values))
            surplus = (turns.c.session_id == session_id) & (turns.c.ordinal <= ordinal - KEPT_TURNS)
            connection.execute(
                delete(turns).where(surplus | (turns.c.time < time.time() - KEPT_SECONDS) | (turns.c.time <= beyond))
            )
        return ordinal


def _turn(row: Row[tuple[object, ...]]) -> Turn:
    return Turn(
        ordinal=row.ordinal,
        question=row.question,
        standalone=row.standalone,
        answer_id=row.answer_id,
        documents=tuple(row.documents),
        filters=from_data(Filters, row.filters),
        time=row.time,
    )
