"""kb-qa: questions to documents, answered with the spot on the page that every figure came from."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from kb_qa.answers import AnswerEvent, Citation, Context, Filters, Hit, Located, Question
from kb_qa.elements import Block, Cell, Chunk, Element, Table, Word
from kb_qa.errors import KbQaError
from kb_qa.geometry import BBox, Page, Region
from kb_qa.locate import PrintedText, block_rects, find_all, locate  # now: the module has this name, too

# Of libraries that tell their makers of their use unless this is set before they load: onnxruntime, unstructured.
os.environ.update(ORT_DISABLE_TELEMETRY="1", DO_NOT_TRACK="1")

if TYPE_CHECKING:
    from kb_qa.citation import at_level, build_citation, citation_from_metadata, locate_cited
    from kb_qa.guardrails.figures import check_figures
    from kb_qa.knowledge_base import KnowledgeBase
    from kb_qa.pages import clip_region
    from kb_qa.prompts import build_context
    from kb_qa.references import Reference, ReferenceStream, Style
    from kb_qa.settings import Settings
    from kb_qa.wiring import open_knowledge_base

__all__ = [
    "AnswerEvent",
    "BBox",
    "Block",
    "Cell",
    "Chunk",
    "Citation",
    "Context",
    "Element",
    "Filters",
    "Hit",
    "KbQaError",
    "KnowledgeBase",
    "Located",
    "Page",
    "PrintedText",
    "Question",
    "Reference",
    "ReferenceStream",
    "Region",
    "Settings",
    "Style",
    "Table",
    "Word",
    "at_level",
    "block_rects",
    "build_citation",
    "build_context",
    "check_figures",
    "citation_from_metadata",
    "clip_region",
    "find_all",
    "locate",
    "locate_cited",
    "open_knowledge_base",
]

# Loaded when first asked for: these open the outside world (PyMuPDF, SQLite, Chroma, models), or take a while to
# compile their patterns, and every process that reads or draws a document imports this package.
_LATER = {
    "KnowledgeBase": "kb_qa.knowledge_base",
    "Reference": "kb_qa.references",
    "ReferenceStream": "kb_qa.references",
    "Settings": "kb_qa.settings",
    "Style": "kb_qa.references",
    "at_level": "kb_qa.citation",
    "build_citation": "kb_qa.citation",
    "build_context": "kb_qa.prompts",
    "check_figures": "kb_qa.guardrails.figures",
    "citation_from_metadata": "kb_qa.citation",
    "clip_region": "kb_qa.pages",
    "locate_cited": "kb_qa.citation",
    "open_knowledge_base": "kb_qa.wiring",
}


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module 'kb_qa' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_LATER[name]), name)
