"""Which document a quotation is from: the one it points to, another one that has it, or none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kb_qa.answers import Located
from kb_qa.locate import NOT_FOUND, PrintedText


@dataclass(frozen=True, slots=True)
class Attribution:
    """The document that holds the quote, and where; `document_id` is empty and nothing is located where none does."""

    document_id: str
    located: Located

    @property
    def supported(self) -> bool:
        return self.located.found


UNSUPPORTED = Attribution("", NOT_FOUND)


def attribute(quote: str, pointed: str, documents: Mapping[str, PrintedText], *, prefer: str = "") -> Attribution:
    """The place of a quote that is said to be from document `pointed`; `prefer` is the cited element there.

    A quote that stands there has its place there. One that stands, to the letter, in exactly one other document is
    re-pointed to it. Anything else is unsupported: stitched from far apart, invented, empty, or in several others.
    """
    if pointed in documents:
        located = documents[pointed].locate(quote, prefer=prefer)
        if located.found:
            return Attribution(pointed, located)
    others = {name: text.locate(quote) for name, text in documents.items() if name != pointed}
    holding = [Attribution(name, located) for name, located in others.items() if located.method in {"exact", "text"}]
    return holding[0] if len(holding) == 1 else UNSUPPORTED
