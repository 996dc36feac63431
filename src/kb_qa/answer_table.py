"""Answers as they were given, and what their readers decided of their figures."""

from __future__ import annotations

import time
from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.dialects.sqlite import insert

from kb_qa.answers import AnswerEvent, Decision
from kb_qa.database import Database
from kb_qa.records import from_data, pack, to_data, unpack_all
from kb_qa.schema import answers, decisions


class AnswerTable:
    def __init__(self, database: Database) -> None:
        self.database = database

    def save_answer(self, answer_id: str, question: str, events: Sequence[AnswerEvent]) -> None:
        """Replaces what was stored under this id."""
        values = {"id": answer_id, "question": question, "created": time.time(), "events": pack(tuple(events))}
        statement = insert(answers).values(values).on_conflict_do_update(index_elements=["id"], set_=values)
        with self.database.write() as connection:
            connection.execute(statement)

    def answer(self, answer_id: str) -> Sequence[AnswerEvent] | None:
        with self.database.read() as connection:
            packed = connection.execute(select(answers.c.events).where(answers.c.id == answer_id)).scalar()
        return None if packed is None else unpack_all(AnswerEvent, packed)

    def save_decision(self, decision: Decision) -> None:
        """Replaces what was decided of this figure before."""
        key = {"answer_id": decision.answer_id, "n": decision.n}
        values = {**key, "decided": decision.decided, "decision": to_data(decision)}
        statement = insert(decisions).values(values).on_conflict_do_update(index_elements=list(key), set_=values)
        with self.database.write() as connection:
            connection.execute(statement)

    def decisions(self, answer_id: str = "") -> Sequence[Decision]:
        """Those of one answer by figure, or all of them, the oldest first."""
        statement = select(decisions.c.decision).order_by(decisions.c.decided, decisions.c.answer_id, decisions.c.n)
        if answer_id:
            statement = select(decisions.c.decision).where(decisions.c.answer_id == answer_id).order_by(decisions.c.n)
        with self.database.read() as connection:
            return [from_data(Decision, row.decision) for row in connection.execute(statement)]
