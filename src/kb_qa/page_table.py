"""The pages of documents that are ready, and what was read of each."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, bindparam, exists, func, select, type_coerce

from kb_qa.database import Database
from kb_qa.element_rows import element_of
from kb_qa.elements import Element
from kb_qa.geometry import Page, Quality, Region
from kb_qa.ready_rows import only_ready
from kb_qa.records import from_data
from kb_qa.schema import Text, elements, pages, versions

_PAGE = only_ready(select(pages.c.page), pages.c.version_id).where(
    versions.c.document_id == bindparam("document_id"), pages.c.number == bindparam("page_number")
)


def doubtful_pages(connection: Connection, version: int | None = None) -> Mapping[int, Mapping[Quality, int]]:
    """By version, or of one, how many pages have each quality that is not the best. One statement for all of them."""
    told = func.json_extract(pages.c.page, "$.quality")
    tells = func.instr(type_coerce(pages.c.page, Text), '"quality"') > 0  # most do not, and are not parsed for it
    statement = select(pages.c.version_id, told.label("quality"), func.count().label("pages"))
    statement = statement.where(tells, told.is_not(None))
    if version is not None:
        statement = statement.where(pages.c.version_id == version)
    found: dict[int, dict[Quality, int]] = {}
    for row in connection.execute(statement.group_by(pages.c.version_id, told)):
        found.setdefault(row.version_id, {})[from_data(Quality, json.loads(row.quality))] = row.pages
    return found


def pages_by_grade(count: int, doubts: Mapping[Quality, int]) -> tuple[dict[str, int], dict[str, int]]:
    """Of so many pages: how many have each grade, and how many each reason, the most frequent first."""
    grades, reasons = Counter[str](good=count - sum(doubts.values())), Counter[str]()
    for quality, pages_of in doubts.items():
        grades[quality.grade] += pages_of
        for reason in quality.reasons:
            reasons[reason] += pages_of
    return {grade: counted for grade, counted in grades.items() if counted}, dict(reasons.most_common())


class PageTable:
    def __init__(self, database: Database) -> None:
        self.database = database

    def page(self, document_id: str, number: int) -> Page | None:
        with self.database.read() as connection:
            data = connection.execute(_PAGE, {"document_id": document_id, "page_number": number}).scalar()
        return None if data is None else from_data(Page, data)

    def pages(self, document_id: str) -> Sequence[Page]:
        """All pages that have one, in their order; none where the document is not ready."""
        statement = only_ready(select(pages.c.page), pages.c.version_id).where(versions.c.document_id == document_id)
        with self.database.read() as connection:
            return [from_data(Page, data) for data in connection.execute(statement.order_by(pages.c.number)).scalars()]

    def elements_on(self, document_id: str, number: int) -> Sequence[Element]:
        """What was read of a page, in reading order; an element that goes over a page break is on each of its pages."""
        region = func.json_each(elements.c.regions).table_valued("value")
        here = exists(select(region.c.value).where(func.json_extract(region.c.value, "$.page") == number))
        statement = only_ready(select(elements, versions.c.document_id), elements.c.version_id).where(
            versions.c.document_id == document_id, here
        )
        with self.database.read() as connection:
            rows = connection.execute(statement.order_by(elements.c.order)).mappings().all()
        return [element_of(row) for row in rows]

    def elements_from(self, document_id: str, first: int, count: int) -> Sequence[Element]:
        """At most `count` of a document in reading order, pages or not, from the one with this `order` on."""
        statement = only_ready(select(elements, versions.c.document_id), elements.c.version_id).where(
            versions.c.document_id == document_id, elements.c.order >= first
        )
        with self.database.read() as connection:
            rows = connection.execute(statement.order_by(elements.c.order).limit(count)).mappings().all()
        return [element_of(row) for row in rows]

    def page_texts(self, document_id: str) -> Mapping[int | None, str]:
        """All that was read of each page, headers and footers too, but nothing hidden or written by a model.

        None is the page of what has none; an element on several pages is said on each.
        """
        statement = only_ready(select(elements.c.text, elements.c.regions), elements.c.version_id).where(
            versions.c.document_id == document_id, elements.c.hidden == "", elements.c.origin != "caption"
        )
        texts: dict[int | None, list[str]] = {}
        with self.database.read() as connection:
            for row in connection.execute(statement.order_by(elements.c.order)):
                pages_of: set[int | None] = {from_data(Region, region).page for region in row.regions}
                for page in pages_of or {None}:
                    texts.setdefault(page, []).append(row.text)
        return {page: "\n".join(parts) for page, parts in texts.items()}
