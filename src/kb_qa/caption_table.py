"""What models wrote of pictures: kept by picture, and put into versions of the documents that show them."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, delete, insert, literal, or_, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from kb_qa.arrows import require_state, retire, take_arrow
from kb_qa.database import Database
from kb_qa.element_rows import element_of, element_row
from kb_qa.elements import Element
from kb_qa.job_table import inserted_id
from kb_qa.library import SLICE
from kb_qa.schema import captions, elements, pages, versions

_REVISION = "+"  # `3+17`: the parse of version 17, made by pipeline 3, with other captions or cut into other chunks


# What of a version is that of its parse.
_KEPT = ("parser", "title", "flags", "locale", "facts_reading", "dated", "dated_by")


def forget_captions(connection: Connection, version: int) -> None:
    """What models wrote of this version's pictures and no other version shows; to be done before its elements go."""
    is_caption = elements.c.origin == "caption"
    own = set(connection.execute(select(elements.c.text).where(elements.c.version_id == version, is_caption)).scalars())
    if not own:
        return
    others = select(elements.c.text).where(elements.c.version_id != version, is_caption)
    for text in own - set(connection.execute(others).scalars()):
        connection.execute(delete(captions).where(captions.c.text == text))


class CaptionTable:
    """No picture is paid for twice while a document shows it; with the last one its captions go, too."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def caption(self, png: bytes, *, model: str, instruction: str) -> str | None:
        """What the model wrote of this picture when so instructed: "" where it had nothing to say.

        None where it was not asked yet.
        """
        statement = select(captions.c.text).where(
            captions.c.picture == _digest(png), captions.c.model == model, captions.c.instruction == instruction
        )
        with self.database.read() as connection:
            return connection.execute(statement).scalar()

    def keep_caption(self, png: bytes, text: str, *, model: str, instruction: str) -> None:
        values = {"picture": _digest(png), "model": model, "instruction": instruction}
        statement = upsert(captions).values(values | {"text": text, "time": time.time()})
        with self.database.write() as connection:
            connection.execute(statement.on_conflict_do_nothing())

    def images(self, version: int) -> Sequence[Element]:
        """The version's pictures and captions, ready or not, in order."""
        statement = (
            select(elements, versions.c.document_id)
            .join(versions, versions.c.id == elements.c.version_id)
            .where(elements.c.version_id == version, elements.c.element_type == "image")
            .order_by(elements.c.order, elements.c.origin == "caption", elements.c.id)
        )
        with self.database.read() as connection:
            return [element_of(row) for row in connection.execute(statement).mappings()]

    def store_captions(self, version: int, described: Sequence[Element], flags: Sequence[str]) -> None:
        """Puts them in place of those that the parsed version has, with its flags."""
        own = (elements.c.version_id == version) & (elements.c.origin == "caption")
        with self.database.write() as connection:
            require_state(connection, version, "parsed")
            connection.execute(delete(elements).where(own))
            if described:
                connection.execute(insert(elements), [element_row(each, version) for each in described])
            connection.execute(update(versions).where(versions.c.id == version).values(flags=list(flags)))

    def set_flags(self, version: int, flags: Sequence[str]) -> None:
        with self.database.write() as connection:
            connection.execute(update(versions).where(versions.c.id == version).values(flags=list(flags)))

    def revise(self, version: int, *, with_captions: bool = False) -> int:
        """A new version with the parse of a ready one, captions left out unless wanted, in state parsed.

        The ready one answers until the new one is published. Killed half-way, the next ingest of the file starts over
        with the copy.
        """
        with self.database.write() as connection:
            require_state(connection, version, "ready")
            old = connection.execute(select(versions).where(versions.c.id == version)).one()
            retire(connection, old.document_id, versions.c.state != "ready")
            pipeline = f"{old.pipeline.partition(_REVISION)[0]}{_REVISION}{version}"
            row = {"document_id": old.document_id, "pipeline": pipeline, "state": "parsing", "flags": []}
            now = time.time()
            made = inserted_id(connection.execute(insert(versions).values(row | {"created": now, "updated": now})))
        self._copy_rows(version, made, with_captions=with_captions)
        with self.database.write() as connection:
            take_arrow(connection, made, "parsed", **{name: old._mapping[name] for name in _KEPT})
        return made

    def _copy_rows(self, version: int, made: int, *, with_captions: bool) -> None:
        """The pages and elements, in small transactions."""
        with self.database.read() as connection:
            copied = elements.c.version_id == version
            if not with_captions:
                copied &= elements.c.origin != "caption"
            ids = connection.execute(select(elements.c.id).where(copied)).scalars().all()
            numbers = connection.execute(select(pages.c.number).where(pages.c.version_id == version)).scalars().all()
        for rows, key, keys in ((pages, pages.c.number, numbers), (elements, elements.c.id, ids)):
            others = [column for column in rows.c if column.name != "version_id"]
            for start in range(0, len(keys), SLICE):
                part = key.in_(keys[start : start + SLICE])
                found = select(literal(made), *others).where(rows.c.version_id == version, part)
                with self.database.write() as connection:
                    require_state(connection, made, "parsing")
                    connection.execute(insert(rows).from_select(["version_id", *others], found))


def is_of_pipeline(pipeline: str) -> ColumnElement[bool]:
    """Made by this pipeline, captions revised or not."""
    return or_(
        versions.c.pipeline == pipeline, versions.c.pipeline.startswith(f"{pipeline}{_REVISION}", autoescape=True)
    )


def _digest(png: bytes) -> str:
    return hashlib.sha256(png).hexdigest()
