"""A finished answer to read or keep: its text with numbered markers, below it what was quoted (S1.3)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from kb_qa.answers import AnswerEvent
from kb_qa.references import MarkdownStyle, Reference, linkable, plain_markdown

_MARKERS = re.compile(r" (?:\[\d+\])+")
# What opens a block of Markdown at the start of a line: a list, a heading's underline.
_BLOCK_START = re.compile(r"^(\d*)([-+=.)])")
_ESCAPED = r"\1\\\2"
_TURNING = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})
_UNDERSTOOD = {"en": "Understood as: ", "zh": "理解为："}
_INCOMPLETE = {"en": "The answer is incomplete: {reason}.", "zh": "回答不完整：{reason}。"}


def terminal_text(text: str) -> str:
    """Text that can move no cursor and turn no line around: only line breaks and tabs are left of the controls."""
    return "".join(filter(_is_harmless, text))


def _is_harmless(character: str) -> bool:
    if unicodedata.category(character) == "Cc":
        return character in "\n\t"
    return unicodedata.bidirectional(character) not in _TURNING


def formula(figure: Mapping[str, Any], documents: Mapping[str, str]) -> str:
    """How a computed figure came about, and where each operand stands; empty for a figure that was not computed.

    `16.7% = (4,132-3,541)/3,541 = 16.69%; 4,132 [report.pdf · P8 · Revenue × 2024] · …`; `documents` are names by id.
    """
    derivation = figure.get("derivation")
    if not derivation:
        return ""
    shown = str(derivation["shown"]).partition("; ")[0]
    return f"{figure['raw']} = {shown}; " + " · ".join(_operand(place, documents) for place in derivation["places"])


def _operand(place: Mapping[str, Any], documents: Mapping[str, str]) -> str:
    where = [documents.get(str(place.get("document_id", "")), "")]
    where.append(f"P{place['page']}" if place.get("page") is not None else "")
    where.append(" × ".join(part for part in (place.get("row"), place.get("col")) if part))
    told = " · ".join(part for part in where if part)
    return f"{str(place['printed']).strip()} [{told}]"


def document_names(events: Iterable[AnswerEvent]) -> Mapping[str, str]:
    """The names of the documents of an answer's materials, by id."""
    sources = (cast("Mapping[str, Any]", event.data) for event in events if event.event == "sources")
    return {each["document_id"]: each["document"] for data in sources for each in data.get("sources", ())}


def to_markdown(events: Sequence[AnswerEvent], *, base_url: str | None = None) -> str:
    """The answer of these events as a Markdown document: question, text, references, and whether it was cut.

    Everything shows as it was released: nothing of it is markup. With a `base_url` (it may be empty: relative
    links) markers and titles lead to the cited pages.
    """
    start = _data(events, "start")
    urls = {} if base_url is None else _page_urls(events, base_url)
    language = str(start.get("language", "en"))
    parts = [f"# {plain_markdown(str(start.get('question', '')))}", _understood(start, language), _body(events, urls)]
    items = cast("Sequence[Mapping[str, Any]]", _data(events, "references").get("items", ()))
    parts.append("\n".join(_formulas(events)))
    parts.append("\n".join(_reference(item, urls) for item in items))
    parts.append(_ending(events, language))
    return "\n\n".join(part for part in parts if part) + "\n"


def _understood(start: Mapping[str, Any], language: str) -> str:
    """What a follow-up question was taken for: without it, its answer could not be read alone."""
    standalone = start.get("standalone")
    return f"{_UNDERSTOOD[language]}{plain_markdown(str(standalone))}" if standalone else ""


def _data(events: Sequence[AnswerEvent], name: str) -> Mapping[str, Any]:
    return next((event.data for event in events if event.event == name), {})


def _page_urls(events: Sequence[AnswerEvent], base_url: str) -> Mapping[int, str]:
    """The first cited page of each number."""
    cited = [cast("Mapping[str, Any]", event.data) for event in events if event.event == "citation"]
    linked = [(data["number"], data["page_url"]) for data in cited if data.get("page_url")]
    return {number: linkable(f"{base_url.rstrip('/')}{url}") for number, url in reversed(linked)}


def _body(events: Sequence[AnswerEvent], urls: Mapping[int, str]) -> str:
    """Lines are kept. Text that stands in place of a withheld sentence stands where the sentence would have stood."""
    text = "".join(_written(events, urls))
    lines = (line.strip() for line in text.strip().split("\n"))
    return "\n\n".join("  \n".join(group.split("\n")) for group in re.split(r"\n{2,}", "\n".join(lines)))


def _written(events: Sequence[AnswerEvent], urls: Mapping[int, str]) -> Iterator[str]:
    style = MarkdownStyle()
    for index, event in enumerate(events):
        data = cast("Mapping[str, Any]", event.data)
        if event.event == "delta":
            numbers = _marker_numbers(data["text"], events[index + 1 :])
            yield "".join(style.marker(Reference(number, "", url=urls.get(number, ""))) for number in numbers)
            yield "" if numbers else _plain_lines(data["text"])
        elif event.event in {"uncited", "withheld"}:
            yield _plain_lines(data["text"])
        elif event.event == "refusal":
            yield f"\n{_plain_lines(data['message'])}"


def _marker_numbers(text: str, following: Sequence[AnswerEvent]) -> Sequence[int]:
    """The numbers of a delta that is made of markers: the citations that follow it have the same ones."""
    if _MARKERS.fullmatch(text) is None:
        return ()
    numbers = [int(number) for number in re.findall(r"\d+", text)]
    cited: list[int] = []
    for event in following:
        if event.event != "citation":
            break
        cited.append(cast("Mapping[str, Any]", event.data)["number"])
    return numbers if list(dict.fromkeys(cited)) == numbers else ()


def _plain_lines(text: str) -> str:
    """Text that Markdown shows as it is, line by line."""
    return "\n".join(_plain_line(line) for line in text.split("\n"))


def _plain_line(line: str) -> str:
    blank = line[: len(line) - len(line.lstrip())]
    rest = line[len(line.rstrip()) :] if line.strip() else ""
    return f"{blank}{_BLOCK_START.sub(_ESCAPED, plain_markdown(line))}{rest}"


def _reference(item: Mapping[str, Any], urls: Mapping[int, str]) -> str:
    number, title = item["number"], plain_markdown(str(item["label"]))
    url = urls.get(number)
    title = f"[{title}]({url})" if url else title
    quote = plain_markdown(str(item["cited_text"]))
    return f'- [{number}] "{quote}" found in "{title}"' if quote else f"- [{number}] {title}"


def _formulas(events: Sequence[AnswerEvent]) -> Iterator[str]:
    names = document_names(events)
    for event in events:
        if event.event == "figure" and (said := formula(cast("Mapping[str, Any]", event.data), names)):
            yield f"- ƒ {plain_markdown(said)}"


def _ending(events: Sequence[AnswerEvent], language: str) -> str:
    """What a reader must know of an answer that was cut off."""
    end, error = _data(events, "end"), _data(events, "error")
    if end.get("complete"):
        return ""
    reason = plain_markdown(str(error.get("message") or end.get("stop_reason") or "incomplete"))
    return f"*{_INCOMPLETE['zh' if language == 'zh' else 'en'].format(reason=reason)}*"
