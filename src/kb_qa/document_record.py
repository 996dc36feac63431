"""What is told of a document, whether it can be asked or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """A document as listed: `names` are all the names its bytes were seen under, `reason` and `code` why it is not
    ready: a sentence in English, and the error's code. `dated` and `dated_by` are those of `elements.ParsedDocument`.
    `grades` counts its pages by `Quality.grade`, `page_reasons` on how many pages a grade has this reason.
    """

    document_id: str
    names: tuple[str, ...]
    state: str
    pages: int
    chunks: int
    parser: str
    flags: tuple[str, ...]
    reason: str
    size: int = 0
    code: str = ""
    dated: str = ""
    dated_by: str = ""
    grades: Mapping[str, int] = field(default_factory=dict)
    page_reasons: Mapping[str, int] = field(default_factory=dict)
