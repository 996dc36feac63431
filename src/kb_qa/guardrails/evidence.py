"""Evidence: what a cited block says, with the headers and headings that give its figures their meaning."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from kb_qa.answers import Support
from kb_qa.elements import Block, Chunk
from kb_qa.geometry import Region
from kb_qa.guardrails.characters import normalise
from kb_qa.guardrails.lexer import lex
from kb_qa.guardrails.measures import SCALE_STATEMENT, units_named
from kb_qa.guardrails.quantities import Quantity


@dataclass(frozen=True, slots=True)
class Evidence:
    """A cited block. `text` is as printed, `labelled` has each cell's column header before it.

    `context` (section path, caption, header row, label) names periods and units, and supports no other figure.
    `locale` is the document's, empty where unknown: it decides what `1.234` means.
    """

    element_id: str
    document_id: str
    text: str
    labelled: str = ""
    context: str = ""
    regions: tuple[Region, ...] = ()
    locale: str = ""

    @property
    def said(self) -> str:
        """Everything the block and its headers say."""
        return "\n".join(part for part in (self.text, self.labelled, self.context) if part)

    def facts(self) -> tuple[Quantity, ...]:
        """The quantities printed in the block."""
        return _facts(self.text, self.labelled, self.locale)

    def periods(self) -> tuple[Quantity, ...]:
        """The quantities of the block, its headers and headings: what a period may be named by."""
        return (*self.facts(), *_lexed(self.context, self.locale))

    def units(self) -> frozenset[str]:
        """Units, `%` and currencies that the block's headers name for its bare numbers."""
        return _units(f"{self.labelled}\n{self.context}")

    def states_scale(self) -> bool:
        """Whether a scale stands in the headers: then a bare number of the block may be thousands or millions."""
        return SCALE_STATEMENT.search(f"{self.labelled}\n{self.context}") is not None

    def support(self, printed: str) -> Support:
        region = self.regions[0] if self.regions else None
        return Support(
            element_id=self.element_id,
            document_id=self.document_id,
            page=region.page if region else None,
            bbox=region.bbox if region else None,
            printed=printed,
        )


def evidence_of(chunk: Chunk, block: Block, *, label: str = "") -> Evidence:
    """The evidence of one block of a chunk; `label` is the material's label."""
    return Evidence(
        element_id=block.element_id,
        document_id=chunk.document_id,
        text=block.text,
        labelled=block.labelled if block.labelled != block.text else "",
        context="\n".join(part for part in (" > ".join(chunk.section), chunk.prefix, label) if part),
        regions=block.regions,
    )


def is_printed(phrase: str, text: str) -> bool:
    """Whether `phrase` stands in `text` as a whole token, spaces, hyphens and letter case aside: `SKU 48213`.

    `A32` does not stand in `A320`, nor `section 4.2` in `section 4.2.1`.
    """
    characters = re.sub(r"[\s\u00a0–-]", "", normalise(phrase).text)
    if not characters:
        return False
    pattern = r"[\s\u00a0–-]{0,3}".join(re.escape(character) for character in characters)
    edged = rf"(?ai)(?<![A-Za-z0-9]){pattern}(?![A-Za-z0-9]|[.,]\d)"
    return re.search(edged, normalise(text).text) is not None


@lru_cache(maxsize=4096)
def _lexed(text: str, locale: str) -> tuple[Quantity, ...]:
    return lex(text, locale=locale)


@lru_cache(maxsize=4096)
def _units(text: str) -> frozenset[str]:
    return units_named(normalise(text).text)


def _facts(text: str, labelled: str, locale: str) -> tuple[Quantity, ...]:
    printed = _lexed(text, locale)
    return (*printed, *_lexed(labelled, locale)) if labelled else printed
