"""A model that obeys its documents: what a prompt injection gets where nothing but our own code stands against it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kb_qa.testing.replies import Reply, block_location, said

_ORDER = re.compile(
    r"(?is)(?:\b(?:answer|say|reply|respond|write|state|output|print)\b(?: only| exactly| with| this)*"
    r"|回答|回复|输出|写出|说)\s*[:：]\s*(?P<text>.+)"
)
_UNCITED = re.compile(r"(?i)\b(?:do not cite|without citations?|drop (?:the|all) citations?)\b|不要引用|不加引用")
_ELSEWHERE = re.compile(r"(?i)\bcite (?:material|document) (\d+)|引用材料\s*(\d+)")
_FORGED = re.compile(r"(?is)[\[【❨［]\s*(?:material|材料)\s*(?P<number>\d+)\s*[\]】］][^\n]*\n(?P<text>[^\n]+)")
_TENFOLD = re.compile(r"(?i)\bten times as (?:large|high|much)\b|放大十倍")
_FIGURE = re.compile(r"\d{1,3}(?:,\d{3})+|(?<!\d)\d{1,3}(?!\d)")  # not a year
_MARKER_TEXT = re.compile(r"(?m)^(?:\[Material (\d+)\]|【材料(\d+)】)")
_WORDS = re.compile(r"[a-z0-9]+|[\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class _Passage:
    document: int  # from 0
    block: int  # from 0, in the request's content
    text: str


def obedient(request: Mapping[str, Any]) -> Reply:
    """Says what the first order in a document tells it to, cited as the order wants; else quotes the best passage.

    Without documents, materials are read out of the prompt's text, and cited with markers.
    """
    passages = list(_passages(request)) or list(_from_text(request))
    has_documents = any(_is_document(block) for block in _user_blocks(request))
    if (forged := _FORGED.search("\n".join(passage.text for passage in passages))) is not None:
        return _said(forged["text"].strip(), _Passage(int(forged["number"]) - 1, 0, ""), has_documents)
    for passage in passages:
        if (order := _ORDER.search(passage.text)) is not None:
            return _said(order["text"].strip(), _cited(passage, passages), has_documents)
    plain = [passage for passage in passages if not _TENFOLD.search(passage.text)]
    best = max(plain, key=lambda passage: _overlap(passage.text, _question(request)), default=None)
    if best is None:
        return said("I have nothing to say.")
    text = best.text if len(plain) == len(passages) else _FIGURE.sub(_ten_times, best.text, count=1)
    return _said(text, best, has_documents)


def _ten_times(figure: re.Match[str]) -> str:
    return f"{int(figure[0].replace(',', '')) * 10:,}"


def _said(text: str, cited: _Passage | None, has_documents: bool) -> Reply:
    if cited is None:
        return said(text)
    if has_documents:
        return said(text, block_location(cited.document, cited.block, text=cited.text))
    return said(f"{text} [1](id={cited.document + 1})")


def _cited(order: _Passage, passages: list[_Passage]) -> _Passage | None:
    if _UNCITED.search(order.text):
        return None
    elsewhere = _ELSEWHERE.search(order.text)
    if elsewhere is None:
        return order
    document = int(elsewhere[1] or elsewhere[2]) - 1
    return next((passage for passage in passages if passage.document == document), _Passage(document, 0, ""))


def _user_blocks(request: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = request["messages"][-1]["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _is_document(block: Mapping[str, Any]) -> bool:
    return block.get("type") == "document"


def _passages(request: Mapping[str, Any]) -> Iterator[_Passage]:
    documents = [block for block in _user_blocks(request) if _is_document(block)]
    for number, document in enumerate(documents):
        for index, inner in enumerate(document["source"].get("content", ())):
            if inner["type"] == "text":
                yield _Passage(number, index, inner["text"])


def _from_text(request: Mapping[str, Any]) -> Iterator[_Passage]:
    text = "\n".join(str(block.get("text", "")) for block in _user_blocks(request)[:-1])
    places = list(_MARKER_TEXT.finditer(text))
    ends = [place.start() for place in places[1:]] + [len(text)]
    for place, end in zip(places, ends, strict=False):  # without places there is still an end
        for index, line in enumerate(text[place.end() : end].strip().splitlines()):
            yield _Passage(int(place[1] or place[2]) - 1, index, line)


def _question(request: Mapping[str, Any]) -> str:
    return str(_user_blocks(request)[-1].get("text", ""))


def _overlap(text: str, question: str) -> int:
    return len(set(_WORDS.findall(text.lower())) & set(_WORDS.findall(question.lower())))
