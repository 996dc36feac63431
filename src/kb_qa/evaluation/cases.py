"""Questions with what is known of their answers, a JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kb_qa.answers import MAX_QUESTION
from kb_qa.errors import InputError
from kb_qa.geometry import BBox, Region

NAMES = ("question", "document", "pages", "region", "answer", "answers", "not_in_documents", "kind", "id")
# What public sets say beside it: `page_pools` in place of `pages`, and what a question was made from.
_OF_SETS = frozenset({"page_pools", "company", "currency", "note"})
_SHOWN_ERRORS = 5
MAX_PAGE = 1_000_000


@dataclass(frozen=True, slots=True)
class Case:
    """A question, and what is known of its answer; what is empty is not known and not scored.

    `document` is a name or an id. Of each of `pools` one page is enough, and the answer should cite one of each.
    `absent` says that no document answers it: a refusal is right. `kind` is the asker's own word, for grouping;
    `boolean` and `names` have a meaning: no yes is looked for in a quotation, and no name for a figure.
    """

    id: str
    question: str
    document: str = ""
    pools: tuple[tuple[int, ...], ...] = ()
    region: Region | None = None
    answers: tuple[str, ...] = ()
    absent: bool = False
    kind: str = ""

    @property
    def pages(self) -> frozenset[int]:
        return frozenset(page for pool in self.pools for page in pool)


def read_cases(lines: Sequence[bytes], name: str) -> tuple[Case, ...]:
    """The questions of a file called `name`. Raises InputError that names the lines that are none."""
    cases: list[Case] = []
    errors: list[str] = []
    seen: set[str] = set()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            case = _case(_fields(line), number)
            if case.id in seen:
                raise ValueError(f"the id {case.id!r:.80} was used before")
            seen.add(case.id)
            cases.append(case)
        except ValueError as error:
            errors.append(f"{name}, line {number}: {error}")
    if errors:
        left = len(errors) - _SHOWN_ERRORS
        raise InputError("\n".join([*errors[:_SHOWN_ERRORS], *([f"… and {left} more lines"] if left > 0 else [])]))
    if not cases:
        raise InputError(f'{name} has no question; each line is an object such as {{"question": "…", "answer": "…"}}')
    return tuple(cases)


def json_object(line: bytes, shape: str) -> Mapping[str, Any]:
    """The object that a line of a file holds; `shape` says what it should look like. ValueError where it is none."""
    try:
        data = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ValueError("not UTF-8") from error
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON: {error}") from error
    if not isinstance(data, dict):
        raise ValueError(shape)
    return data


def _fields(line: bytes) -> Mapping[str, Any]:
    data = json_object(line, "a question is an object {question, …}")
    if unknown := sorted(set(data) - set(NAMES) - _OF_SETS):
        raise ValueError(f"{unknown[0]!r:.80} is no field; the fields are {', '.join(NAMES)}")
    return data


def _case(data: Mapping[str, Any], number: int) -> Case:
    question = _text(data, "question").strip()
    if not 0 < len(question) <= MAX_QUESTION:
        raise ValueError(f"question must be a text of 1 to {MAX_QUESTION} characters")
    kind, answers = _text(data, "kind"), _answers(data)
    pools, region = _pools(data), _region(data.get("region"))
    if region is not None and region.page not in {page for pool in pools for page in pool}:
        pools = (*pools, (region.page,))
    absent = data.get("not_in_documents", False)
    if not isinstance(absent, bool):
        raise ValueError("not_in_documents must be true or false")
    if not absent and ("N/A" in answers or (kind == "boolean" and answers == ("False",) and not pools)):
        absent, answers = True, ()  # how the Enterprise RAG Challenge says it
    document = _text(data, "document")
    if absent and (answers or pools):
        raise ValueError("a question that is not in the documents can have no answer, pages or region")
    if pools and not document:
        raise ValueError("pages and region are those of a document: name it as document")
    return Case(_id(data, number), question, document, pools, region, answers, absent, kind)


def _id(data: Mapping[str, Any], number: int) -> str:
    given = data.get("id", number)
    if isinstance(given, bool) or not isinstance(given, int | str) or not str(given):
        raise ValueError("id must be a text or a whole number")
    return str(given)


def _text(data: Mapping[str, Any], name: str) -> str:
    value = data.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError(f"{name} must be a text")
    return value


def _answers(data: Mapping[str, Any]) -> tuple[str, ...]:
    if "answer" in data and "answers" in data:
        raise ValueError("give answer or answers, not both")
    given = data.get("answers", [data["answer"]] if data.get("answer") is not None else [])
    if not isinstance(given, list):
        raise ValueError("answers must be a list, each of which is right")
    if any(
        isinstance(each, bool) or not isinstance(each, str | int | float) or not str(each).strip() for each in given
    ):
        raise ValueError("an answer must be a text or a number")
    return tuple(str(each).strip() for each in given)


def _pools(data: Mapping[str, Any]) -> tuple[tuple[int, ...], ...]:
    pools = data.get("page_pools")
    if pools is None:
        pages = data.get("pages")
        pools = [] if pages in (None, []) else [[pages] if isinstance(pages, int) else pages]
    if not isinstance(pools, list):
        raise ValueError("page_pools must be a list of lists of pages")
    return tuple(tuple(_pages(pool)) for pool in pools if pool)


def _pages(pool: object) -> Iterator[int]:
    if not isinstance(pool, list):
        raise ValueError("pages must be a list of page numbers from 1, of which one is enough")
    for page in pool:
        yield _page(page)


def _page(page: object) -> int:
    if isinstance(page, bool) or not isinstance(page, int) or not 1 <= page <= MAX_PAGE:
        raise ValueError(f"{page!r:.40} is no page: pages are whole numbers from 1, as a viewer counts them")
    return page


def _region(data: object) -> Region | None:
    if data is None:
        return None
    if not isinstance(data, dict) or set(data) != {"page", "bbox"}:
        raise ValueError("region must be {page, bbox: [x0, y0, x1, y1]}, in points from the page's upper left corner")
    numbers = data["bbox"]
    if not isinstance(numbers, list) or len(numbers) != 4 or any(_is_no_number(each) for each in numbers):
        raise ValueError("bbox must be four numbers [x0, y0, x1, y1]")
    bbox = BBox(*(float(each) for each in numbers))
    if not (bbox.is_finite and bbox.width > 0 and bbox.height > 0):
        raise ValueError("bbox must have x0 < x1 and y0 < y1")
    return Region(_page(data["page"]), bbox)


def _is_no_number(value: object) -> bool:
    return isinstance(value, bool) or not isinstance(value, int | float)
