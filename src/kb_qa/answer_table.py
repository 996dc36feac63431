"""Answers as they were given, and what their readers decided of their figures."""

from __future__ import annotations

import time
from collections.abc import Sequence

from sqlalchemy import select, tuple_
from sqlalchemy.dialects.sqlite import insert

from kb_qa.answers import AnswerEvent, Decision, KeptAnswer
from kb_qa.database import Database
from kb_qa.errors import NotFoundError
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

    def newest_answers(self, limit: int, before: str = "") -> Sequence[KeptAnswer]:
        """The newest first; with `before`, of those that are older than that answer. NotFoundError where it is none."""
        newest = select(answers.c.id).order_by(answers.c.created.desc(), answers.c.id.desc()).limit(limit)
        with self.database.read() as connection:
            if before:
                created = connection.execute(select(answers.c.created).where(answers.c.id == before)).scalar()
                if created is None:
                    raise NotFoundError("there is no answer with this id")
                newest = newest.where(tuple_(answers.c.created, answers.c.id) < (created, before))
            ids = connection.execute(newest).scalars().all()
            found = {row.id: row for row in connection.execute(select(answers).where(answers.c.id.in_(ids)))}
        rows = [found[answer_id] for answer_id in ids]
        return [KeptAnswer(row.id, row.question, row.created, unpack_all(AnswerEvent, row.events)) for row in rows]

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
