"""Rewriting a net's graph: the same numbers come out, in less time."""

import importlib.util
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from ingest.net_graph import _as_number, _fields, _written, with_leaky_relus

BYTES, VARINT, FLOATS = 2, 0, 1


def message(*fields: tuple[int, bytes | int]) -> bytes:
    return _written((number, VARINT if isinstance(value, int) else BYTES, value) for number, value in fields)


def tensor(name: bytes, values: list[float]) -> bytes:
    raw = np.array(values, "<f4").tobytes()
    return message((1, len(values)), (1, 1), (1, 1), (2, FLOATS), (8, name), (9, raw))


def value_info(name: bytes, channels: int) -> bytes:
    shape = message(*((1, message((1, size))) for size in (1, channels, 2, 2)))
    return message((1, name), (2, message((1, message((1, FLOATS), (2, shape))))))


def prelu_model(slopes: list[float]) -> bytes:
    """A model that is one PRelu over as many channels as it has slopes, at least two."""
    node = message((1, b"x"), (1, b"slope"), (2, b"y"), (4, b"PRelu"))
    channels = max(len(slopes), 2)
    parts = (1, node), (2, b"net"), (5, tensor(b"slope", slopes))
    graph = message(*parts, (11, value_info(b"x", channels)), (12, value_info(b"y", channels)))
    return message((1, 8), (7, graph), (8, message((1, b""), (2, 18))))


def outputs(model: bytes, picture: np.ndarray) -> list[np.ndarray]:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return list(session.run(None, {session.get_inputs()[0].name: picture}))


@pytest.mark.parametrize(
    ("slopes", "rewritten"),
    [pytest.param([0.25], True, id="one slope"), pytest.param([0.25, 0.5], False, id="a slope for each channel")],
)
def test_prelu_of_one_slope_becomes_a_leaky_relu(slopes: list[float], rewritten: bool) -> None:
    """Only a PRelu that has one slope for all channels is another operator's, and both say the same of any number."""
    model = prelu_model(slopes)
    new = with_leaky_relus(model)
    assert (b"LeakyRelu" in new, new == model) == (rewritten, not rewritten)
    picture = np.linspace(-2, 2, 8, dtype=np.float32).reshape(1, 2, 2, 2)
    np.testing.assert_array_equal(outputs(model, picture)[0], outputs(new, picture)[0])


def test_layout_net_sees_the_same() -> None:
    """The net of the wheel has no PRelu left, and its features are the same but for rounding."""
    spec = importlib.util.find_spec("pymupdf")
    assert spec is not None and spec.origin is not None
    model = (Path(spec.origin).parent / "layout/resources/onnx/feature_imf1.onnx").read_bytes()
    new = with_leaky_relus(model)
    assert b"PRelu" in model
    assert b"PRelu" not in new
    picture = np.random.default_rng(0).random((1, 1, 300, 300), dtype=np.float32)
    for before, after in zip(outputs(model, picture), outputs(new, picture), strict=True):
        np.testing.assert_allclose(before, after, atol=1e-4)


@pytest.mark.parametrize(
    "damaged",
    [
        pytest.param(b"\x3a\x05ab", id="a field longer than the file"),
        pytest.param(b"\x3a\x80", id="ends within a number"),
        pytest.param(b"\x3b", id="a group, which none of ours has"),
    ],
)
def test_what_is_no_model_is_refused(damaged: bytes) -> None:
    """A damaged file raises, it is not half rewritten."""
    with pytest.raises(ValueError, match="no protocol buffer"):
        with_leaky_relus(damaged)


@pytest.mark.parametrize("value", [0, 1, 127, 128, 300, 2**31])
def test_numbers_survive(value: int) -> None:
    """Numbers of variable length are read as they were written."""
    assert list(_fields(b"\x08" + _as_number(value))) == [(1, VARINT, value)]
