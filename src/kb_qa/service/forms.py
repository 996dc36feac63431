"""Files of a multipart form, each to its own temporary file while it arrives; fields are read and dropped."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Final

from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser, parse_options_header

from kb_qa.errors import InputError, LimitExceededError

MOST_PARTS: Final = 50
MOST_FIELD_BYTES: Final = 64 * 1024  # of all fields together: none of them is wanted
MOST_HEADER_BYTES: Final = 16 * 1024  # of a part; a name may be long


@dataclass(frozen=True, slots=True)
class FilePart:
    """The beginning of a file, as its sender calls it."""

    name: str


@dataclass(frozen=True, slots=True)
class FileEnd:
    pass


FormEvent = FilePart | bytes | FileEnd


async def form_events(pieces: AsyncIterator[bytes], content_type: str) -> AsyncIterator[FormEvent]:
    """A `FilePart`, its bytes, and a `FileEnd` for each file. A file field where no file was chosen is none.

    Raises InputError for what is no form, LimitExceededError for too many parts or too large fields.
    """
    reader = _FormReader()
    parser = MultipartParser(
        _boundary(content_type),
        {
            "on_part_begin": reader.part_begins,
            "on_header_field": reader.header_name,
            "on_header_value": reader.header_value,
            "on_header_end": reader.header_ends,
            "on_headers_finished": reader.headers_end,
            "on_part_data": reader.data,
            "on_part_end": reader.part_ends,
            "on_end": reader.form_ends,
        },
        max_header_size=MOST_HEADER_BYTES,
    )
    try:
        async for piece in pieces:
            parser.write(piece)
            for event in reader.events():
                yield event
    except MultipartParseError as error:
        raise InputError("the body is no multipart form, or its parts have too large headers") from error
    if not reader.is_complete:
        raise InputError("the form ends before its last boundary")


def _boundary(content_type: str) -> bytes:
    kind, options = parse_options_header(content_type)
    boundary = options.get(b"boundary", b"")
    if kind != b"multipart/form-data" or not 1 <= len(boundary) <= 256:
        raise InputError("send the files as multipart/form-data, or one file as the body of PUT /v1/documents/NAME")
    return boundary


@dataclass(slots=True)
class _FormReader:
    """What the parser calls. A part is a file where its header says a file name."""

    parts: int = 0
    field_bytes: int = 0
    is_complete: bool = False
    _header: list[bytearray] = field(default_factory=lambda: [bytearray(), bytearray()])
    _disposition: bytes = b""
    _name: str | None = None  # of the file, None in a field
    _begun: bool = False
    _events: list[FormEvent] = field(default_factory=list)

    def events(self) -> list[FormEvent]:
        events, self._events = self._events, []
        return events

    def part_begins(self) -> None:
        self.parts += 1
        if self.parts > MOST_PARTS:
            raise LimitExceededError(f"the form has more than {MOST_PARTS} parts; send fewer files at a time")
        self._disposition, self._name, self._begun = b"", None, False

    def header_name(self, data: bytes, start: int, end: int) -> None:
        self._header[0] += data[start:end]

    def header_value(self, data: bytes, start: int, end: int) -> None:
        self._header[1] += data[start:end]

    def header_ends(self) -> None:
        name, value = self._header
        if bytes(name).lower() == b"content-disposition":
            self._disposition = bytes(value)
        self._header = [bytearray(), bytearray()]

    def headers_end(self) -> None:
        _, options = parse_options_header(self._disposition)
        if b"filename" in options:
            self._name = options[b"filename"].decode("utf-8", "replace")
            if self._name:
                self._begin()

    def data(self, data: bytes, start: int, end: int) -> None:
        if self._name is None:
            self.field_bytes += end - start
            if self.field_bytes > MOST_FIELD_BYTES:
                raise LimitExceededError(f"the form's fields have more than {MOST_FIELD_BYTES >> 10} kB")
            return
        self._begin()
        self._events.append(data[start:end])

    def part_ends(self) -> None:
        if self._begun:
            self._events.append(FileEnd())

    def form_ends(self) -> None:
        self.is_complete = True

    def _begin(self) -> None:
        """Where no file was chosen, browsers send a part without name and bytes."""
        if not self._begun:
            self._begun = True
            self._events.append(FilePart(self._name or ""))
