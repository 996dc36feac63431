"""Embedding models in the layout of model repositories, run by onnxruntime without torch.

Needed are `tokenizer.json` and an ONNX file, in the folder or in its `onnx/`; read where they are: `config.json`,
`1_Pooling/config.json`, `sentence_bert_config.json`, and the prompts of `config_sentence_transformers.json`.

Each text runs alone, one per core at a time. That is as fast as batches (nothing is padded, and what a layer makes of
one text stays in the processor's cache), and a text has the same vector whatever was asked for beside it: in eight bits
the scale of what flows in is found over all that runs together.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from kb_qa.errors import EnvironmentProblemError
from kb_qa.model_files import files_digest
from kb_qa.pieces import Pieces
from kb_qa.protocols import Vectors
from kb_qa.records import well_formed

Pooling = Literal["mean", "cls", "max", "lasttoken"]
PRECISIONS = ("auto", "float32", "float16", "bfloat16", "int8", "int4")
_PRECISION_OF = (
    ("int8", re.compile(r"quantized|u?int8|qu?int8")),
    ("int4", re.compile(r"int4|q4|bnb4")),
    ("bfloat16", re.compile(r"bf(loat)?16")),
    ("float16", re.compile(r"fp16|float16")),
)
_MODULES = {"Transformer", "Pooling", "Normalize"}
_TOKENS = 512  # read at once, where a folder does not say how many
_ROBERTA = {"roberta", "xlm-roberta", "camembert", "mpnet"}  # two of their positions are never a token's
_IS_E5 = re.compile(r"(^|[-_])e5([-_]|$)", re.IGNORECASE)
# What a folder may call a passage's prompt, as sentence-transformers looks for it.
_PASSAGE_NAMES = ("document", "passage", "corpus")


@dataclass(frozen=True, slots=True)
class Layout:
    """What a folder says of its model. `prompts`: what stands before a question, and before a passage."""

    graph: Path
    precision: str
    pooling: Pooling
    limit: int
    prompts: tuple[str, str]


class OnnxEmbedder:
    """The model of a folder. A text longer than it reads is read in parts, and its vector is their weighted mean.

    `name` stands in the id; with `id` the folder is called by that. Raises EnvironmentProblemError where files are
    missing, damaged or of a layout that is not known.
    """

    def __init__(self, folder: Path, *, precision: str = "auto", name: str = "", id: str = "") -> None:
        name = name or folder.name
        self._layout = read_layout(folder, precision, name)
        self._session = _session(self._layout.graph)
        self._pieces = Pieces(folder / "tokenizer.json", self._layout.limit)
        self._inputs = _known_inputs(self._session, self._layout.graph)
        self.id = id or f"onnx/{name}-{self._layout.precision}@{_digest(folder, self._layout.graph)}"
        self.dimension = len(self.embed_query("x"))

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        with ThreadPoolExecutor(_threads()) as pool:
            return np.stack(list(pool.map(self._passage, texts)))

    def embed_query(self, text: str) -> Vectors:
        return self._vector(self._pieces.of_question(self._layout.prompts[0] + embeddable(text)))

    def _passage(self, text: str) -> Vectors:
        return self._vector(self._pieces.of_passage(self._layout.prompts[1] + embeddable(text)))

    def _vector(self, windows: Sequence[Sequence[int]]) -> Vectors:
        weights = np.array([[len(window)] for window in windows], dtype=np.float32)
        mean = (np.stack([self._pooled(window) for window in windows]) * weights).sum(axis=0)
        vector: Vectors = (mean / max(float(np.linalg.norm(mean)), 1e-12)).astype(np.float32)
        return vector

    def _pooled(self, window: Sequence[int]) -> Vectors:
        length = len(window)
        given = {
            "input_ids": np.array([window], dtype=np.int64),
            "attention_mask": np.ones((1, length), dtype=np.int64),
            "token_type_ids": np.zeros((1, length), dtype=np.int64),
            "position_ids": np.arange(length, dtype=np.int64)[None],
        }
        output = self._session.run(None, {name: given[name] for name in self._inputs})[0][0]
        states: Vectors = np.asarray(output, dtype=np.float32)
        if states.ndim == 1:  # pooled in the graph
            return states
        pooled: Vectors = {
            "mean": lambda: states.mean(axis=0),
            "cls": lambda: states[0],
            "max": lambda: states.max(axis=0),
            "lasttoken": lambda: states[-1],
        }[self._layout.pooling]()
        return pooled


def read_layout(folder: Path, precision: str, name: str) -> Layout:
    """Raises EnvironmentProblemError for a folder that is not of this layout."""
    if not (folder / "tokenizer.json").is_file():
        raise EnvironmentProblemError(f"{str(folder)!r} has no tokenizer.json, which an ONNX model needs beside it")
    modules = {str(module.get("type", "")).rsplit(".", 1)[-1] for module in _json(folder / "modules.json") or []}
    if modules - _MODULES:
        raise EnvironmentProblemError(
            f"{str(folder)!r} has parts that its ONNX file does not hold ({', '.join(sorted(modules - _MODULES))}); "
            "use it as sentence-transformers:FOLDER"
        )
    graph = chosen_file(folder, "onnx", precision)
    pooling = _pooling(_json(folder / "1_Pooling" / "config.json"), folder)
    prompts = _prompts(_json(folder / "config_sentence_transformers.json"), name)
    return Layout(graph, precision_of(graph), pooling, _limit(folder), prompts)


def chosen_file(folder: Path, kind: str, precision: str) -> Path:
    """The folder's model file `*.KIND`, there or in its subfolder of that name, in the precision that is asked for.

    `auto` takes the one there is, or among several the one that is called model. Raises EnvironmentProblemError.
    """
    files = sorted(file for place in (folder / kind, folder) for file in place.glob(f"*.{kind}"))
    fitting = [file for file in files if precision in {"auto", precision_of(file)}]
    plain = [file for file in fitting if file.stem in {"model", "model_quantized", "model_int8", "model_fp16"}]
    if len(fitting) != 1 and not plain:
        there = ", ".join(f"{file.relative_to(folder)} ({precision_of(file)})" for file in files) or "none"
        raise EnvironmentProblemError(
            f"{str(folder)!r} has no one .{kind} file in the precision {precision!r}; it has {there}"
        )
    return plain[0] if plain else fitting[0]


def precision_of(file: Path) -> str:
    """By its name, as exporters name files."""
    stem = file.stem.lower()
    return next((precision for precision, pattern in _PRECISION_OF if pattern.search(stem)), "float32")


def prompts_by_name(name: str) -> tuple[str, str]:
    """E5 models were trained with these words before each text, and few of their folders say so."""
    return ("query: ", "passage: ") if _IS_E5.search(name.rsplit("/", 1)[-1]) else ("", "")


def embeddable(text: str) -> str:
    """NUL ends a text in C, and lone surrogates cannot be encoded."""
    return well_formed(text).replace("\x00", " ")


def _prompts(config: Any, name: str) -> tuple[str, str]:
    said: Mapping[str, str] = (config or {}).get("prompts") or {}
    if not any(said.values()):
        return prompts_by_name(name)
    return said.get("query", ""), next((said[key] for key in _PASSAGE_NAMES if key in said), "")


def _pooling(config: Any, folder: Path) -> Pooling:
    """Mean where nothing is said, as in sentence-transformers."""
    if config is None:
        return "mean"
    names: dict[str, Pooling] = {
        "mean_tokens": "mean",
        "cls_token": "cls",
        "max_tokens": "max",
        "lasttoken": "lasttoken",
    }
    said = {key.removeprefix("pooling_mode_") for key, value in config.items() if value is True}
    chosen = [names[key] for key in names if key in said] or [
        mode for mode in names.values() if config.get("pooling_mode") == mode
    ]
    if len(chosen) != 1:
        raise EnvironmentProblemError(f"the pooling of {str(folder)!r} is not one of {', '.join(names.values())}")
    return chosen[0]


def _limit(folder: Path) -> int:
    config = _json(folder / "config.json") or {}
    positions = config.get("max_position_embeddings")
    if isinstance(positions, int) and config.get("model_type") in _ROBERTA:
        positions -= 2
    said = [
        positions,
        (_json(folder / "sentence_bert_config.json") or {}).get("max_seq_length"),
        (_json(folder / "tokenizer_config.json") or {}).get("model_max_length"),
    ]
    return min((value for value in said if isinstance(value, int) and value > 2), default=_TOKENS)


def _json(file: Path) -> Any:
    """None where there is no such file."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise EnvironmentProblemError(f"{str(file)!r} cannot be read: {error}") from error


def _session(graph: Path) -> Any:
    import onnxruntime  # type: ignore[import-untyped]

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_mem_pattern = False  # for texts of one length
    options.log_severity_level = 4  # what fails is raised
    try:
        return onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # each of its errors is a class of its own
        raise EnvironmentProblemError(f"{str(graph)!r} is no model that onnxruntime can read: {error}") from error


def _known_inputs(session: Any, graph: Path) -> tuple[str, ...]:
    names = tuple(entry.name for entry in session.get_inputs())
    if unknown := set(names) - {"input_ids", "attention_mask", "token_type_ids", "position_ids"}:
        raise EnvironmentProblemError(
            f"{str(graph)!r} asks for inputs that are not known: {', '.join(sorted(unknown))}"
        )
    return names


def _digest(folder: Path, graph: Path) -> str:
    settings = [file for file in folder.rglob("*") if file.suffix in {".json", ".txt"}]
    return files_digest(folder, [*settings, *graph.parent.glob(f"{graph.name}*")])


def _threads() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
