"""The pages of documents that are ready, and what was read of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import bindparam, exists, func, select

from kb_qa.database import Database
from kb_qa.element_rows import element_of
from kb_qa.elements import Element
from kb_qa.geometry import Page, Region
from kb_qa.ready_rows import only_ready
from kb_qa.records import from_data
from kb_qa.schema import elements, pages, versions

_PAGE = only_ready(select(pages.c.page), pages.c.version_id).where(
    versions.c.document_id == bindparam("document_id"), pages.c.number == bindparam("page_number")
)


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
