"""Question and materials → what a Messages API is sent. Pure: the same values give the same bytes.

The stable part comes first: a constant system prompt, then the materials, then what is said about them, and the
question last. Untrusted text stands in blocks of its own; nothing is ever formatted over it.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from kb_qa.answers import Context, Language, Material, Question, WholeFile
from kb_qa.citation import section_path
from kb_qa.prompts import CAPTION_NOTES, MARKER_PROMPTS, SYSTEM_PROMPTS, defanged, neutral_name

CacheTtl = Literal["5m", "1h"]
Json = dict[str, Any]

_PLACE: Mapping[Language, str] = {"en": "From: ", "zh": "出处："}
_NOTE: Mapping[Language, str] = {"en": "Note: ", "zh": "注意："}


LARGE_WINDOW = 1_000_000  # tokens


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """`temperature` None and `effort` "" leave the model its own. `name_sources`: file names stand in the prompt.

    `window` is the model's, in tokens.
    """

    model_id: str
    max_tokens: int = 4096
    cache_ttl: CacheTtl = "5m"
    temperature: float | None = None
    effort: str = ""
    name_sources: bool = False
    window: int = LARGE_WINDOW


@dataclass(frozen=True, slots=True)
class SentDocument:
    """A material as it was sent: `blocks[i]` is its block (from 0) that stands in content block i, None for a picture.

    In a plain-text document block i stands at characters `spans[i]` instead.
    """

    material: int
    blocks: tuple[int | None, ...]
    spans: tuple[tuple[int, int], ...] = ()


WHOLE_PDF = SentDocument(0, ())  # holds the place of a whole PDF among the documents; no block of it is cited


@dataclass(frozen=True, slots=True)
class MessagesRequest:
    """`body` is what the SDK's `messages.create` takes. `documents` and `results` are numbered as citations do it.

    `pdf_pages` counts the pages of whole PDFs in it; `window` is the model's, in tokens.
    """

    body: Json
    documents: tuple[SentDocument, ...] = ()
    results: tuple[SentDocument, ...] = ()
    pdf_pages: int = 0
    window: int = LARGE_WINDOW


@dataclass(frozen=True, slots=True)
class Beside:
    """What goes along: notes and pictures (PNG) by material number; texts that stand before the question."""

    notes: Mapping[int, Sequence[str]] = field(default_factory=dict)
    pictures: Mapping[int, Sequence[bytes]] = field(default_factory=dict)
    instructions: Sequence[str] = ()
    file_id: str = ""  # of the whole file, where the host has it already


NOTHING_BESIDE = Beside()


def cited_request(
    question: Question, context: Context, options: ModelOptions, beside: Beside = NOTHING_BESIDE
) -> MessagesRequest:
    """Each material a document with citations on, one content block per block: what is cited is known by its number.

    A whole PDF is a document itself, cited by its pages. Of a picture, and of pages that were recognised, what was read
    goes along as documents: the API cannot cite what a picture says (S1.6).
    """
    content: list[Json] = []
    sent: list[SentDocument] = []
    whole = context.whole
    if whole is not None:
        content.append(_whole(whole, beside.file_id, neutral_name(len(context.materials) + 1, question.language)))
        sent += [WHOLE_PDF] if whole.is_pdf else []
    for material in context.materials:
        if whole is not None and whole.is_pdf and material.chunk.origin != "ocr":
            continue
        blocks, places = _content(material, beside.pictures.get(material.number, ()))
        if any(place is not None for place in places):
            notes = beside.notes.get(material.number, ())
            content.append(_document(material, blocks, _beside_text(material, notes, question.language, options)))
            sent.append(SentDocument(material.number, tuple(places)))
            content[-1] |= {"title": neutral_name(material.number, question.language)}
    if content:
        content[-1] = content[-1] | {"cache_control": cache_mark(options)}
    system = [_text(SYSTEM_PROMPTS[question.language]) | {"cache_control": cache_mark(options)}]
    content += _ending(question, beside.instructions)
    pages = whole.pages if whole is not None and whole.is_pdf else 0
    return MessagesRequest(
        _body(system, content, options), documents=tuple(sent), pdf_pages=pages, window=options.window
    )


def marked_request(
    question: Question, context: Context, options: ModelOptions, beside: Beside = NOTHING_BESIDE
) -> MessagesRequest:
    """The same for an endpoint without citations: the model writes markers. Nothing in it but plain text."""
    system = [_text(f"{SYSTEM_PROMPTS[question.language]}\n{MARKER_PROMPTS[question.language]}")]
    content = [_text(context.for_models), *_ending(question, beside.instructions)]
    return MessagesRequest(_body(system, content, options))


def _body(system: Sequence[Json], content: Sequence[Json], options: ModelOptions) -> Json:
    messages = [{"role": "user", "content": list(content)}]
    return settled_body(options) | {"system": list(system), "messages": messages}


def settled_body(options: ModelOptions) -> Json:
    """What of a request the settings decide."""
    body: Json = {"model": options.model_id, "max_tokens": options.max_tokens}
    if options.effort:
        body["output_config"] = {"effort": options.effort}  # and never `format`: citations exclude it
    if options.temperature is not None:
        body["extra_body"] = {"temperature": options.temperature}  # the SDK has no parameter for it any more
    return body


def _whole(whole: WholeFile, file_id: str, title: str) -> Json:
    source: Json = {"type": "file", "file_id": file_id}
    if not file_id:
        data = base64.b64encode(whole.data).decode("ascii")
        source = {"type": "base64", "media_type": whole.media_type, "data": data}
    if not whole.is_pdf:
        return {"type": "image", "source": source}
    return {"type": "document", "source": source, "title": title, "citations": {"enabled": True}}


def _document(material: Material, blocks: Sequence[Json], beside: str) -> Json:
    document: Json = {
        "type": "document",
        "source": {"type": "content", "content": list(blocks)},
        "citations": {"enabled": True},
    }
    return document | ({"context": beside} if beside else {})


def _content(material: Material, pictures: Sequence[bytes]) -> tuple[list[Json], list[int | None]]:
    """The content blocks, and which block each of them is. Pictures stand before the text that they show."""
    content: list[Json] = [_picture(png) for png in pictures]
    places: list[int | None] = [None] * len(content)
    for index, block in enumerate(material.chunk.blocks):
        text = defanged(block.labelled or block.text)
        if text.strip():  # the API refuses empty text
            content.append(_text(text))
            places.append(index)
    return content, places


def _beside_text(material: Material, notes: Sequence[str], language: Language, options: ModelOptions) -> str:
    """What gives the material its meaning and cannot be cited: its section, caption, unit line and notes."""
    chunk = material.chunk
    path = material.label if options.name_sources else section_path(chunk.section)
    lines = [line for line in chunk.prefix.splitlines() if line.strip() and line != " > ".join(chunk.section)]
    said = [_PLACE[language] + path] if path else []
    own = [CAPTION_NOTES[language]] if chunk.origin == "caption" else []
    return "\n".join(map(defanged, [*said, *lines, *(_NOTE[language] + note for note in (*own, *notes))]))


def _ending(question: Question, instructions: Sequence[str]) -> Iterator[Json]:
    """After the materials: what is said about them (facts, how to write a computed figure), then the question."""
    yield from map(_text, instructions)
    yield _text(question.text)


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def describing_request(png: bytes, instruction: str, options: ModelOptions) -> MessagesRequest:
    """One picture to describe: no material and no question go along, and nothing that stands in the document."""
    body = settled_body(options) | {
        "system": [_text(instruction)],
        "messages": [{"role": "user", "content": [_picture(png)]}],
    }
    return MessagesRequest(body)


def _picture(png: bytes) -> Json:
    data = base64.b64encode(png).decode("ascii")
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


def cache_mark(options: ModelOptions) -> Json:
    return {"type": "ephemeral", "ttl": options.cache_ttl}
