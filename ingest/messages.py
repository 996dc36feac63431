"""E-mail messages. The envelope is the standard library's; the body is read as HTML or plain text.

Not through unstructured's partition_email: it tries to partition attachments too, and takes the lines of a plain
Chinese body for titles.
"""

from __future__ import annotations

from email import policy
from email.message import EmailMessage
from email.parser import BytesParser

from ingest.markup import html_passages
from ingest.passages import Passage
from ingest.plain_text import decode, text_passages
from kb_qa.file_names import display_name

_NAMED = 10  # attachments that a flag names
_NAME_LENGTH = 100
_SHOWN = ("From", "To", "Cc", "Date")


def message_passages(data: bytes) -> tuple[list[Passage], str, tuple[str, ...]]:
    """Passages, the subject and flags. Attachments are not read: a flag names them."""
    message = BytesParser(policy=policy.default).parsebytes(data)
    subject = _header(message, "Subject")
    passages = [Passage("Title", subject, depth=0)] if subject else []
    passages += [Passage("UncategorizedText", f"{name}: {text}") for name in _SHOWN if (text := _header(message, name))]
    body, flags = _body(message)
    # The subject is the outermost heading; the body's own headings stand below it.
    passages += [_below(passage) for passage in body] if subject else body
    if names := [_attachment_name(part) for part in message.iter_attachments()]:
        shown = ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
        flags = (*flags, f"{len(names)} attachments not read: {shown}")
    return passages, subject, flags


def _attachment_name(part: EmailMessage) -> str:
    """The attachment's name, safe to show, or its type where it has none."""
    try:
        name = part.get_filename() or part.get_content_type()
    except (ValueError, IndexError, AttributeError):
        name = part.get_content_type()
    return display_name(name)[:_NAME_LENGTH]


def _header(message: EmailMessage, name: str) -> str:
    try:
        text = " ".join(str(message.get(name, "")).split())
    except (ValueError, IndexError, AttributeError):  # the header parser of the standard library trips over odd ones
        return ""
    return text.encode("utf-8", "replace").decode("utf-8")  # raw bytes in a header come as lone surrogates


def _body(message: EmailMessage) -> tuple[list[Passage], tuple[str, ...]]:
    part = message.get_body(preferencelist=("html", "plain"))
    if part is None:
        return [], ()
    payload = part.get_payload(decode=True)
    text, _ = decode(payload if isinstance(payload, bytes) else b"", part.get_content_charset() or "")
    if part.get_content_type() == "text/html":
        passages, _, flags = html_passages(text)
        return passages, flags
    return list(text_passages(text)), ()


def _below(passage: Passage) -> Passage:
    if passage.depth is None:
        return passage
    return Passage(passage.category, passage.text, depth=passage.depth + 1)
