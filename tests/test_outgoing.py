"""Nothing leaves the machine but what the model's host is asked: no library reports its use to its maker."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# onnxruntime keeps an id of the machine and what it is going to send in the home and temporary folders.
RUN_A_MODEL = """
import kb_qa
import numpy
import onnxruntime
from onnx import TensorProto, helper
shape = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "ab"]
graph = helper.make_graph([helper.make_node("Identity", ["a"], ["b"])], "g", shape[:1], shape[1:])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
session = onnxruntime.InferenceSession(model.SerializeToString())
assert session.run(None, {"a": numpy.ones(1, numpy.float32)})[0][0] == 1
"""


def _run(program: str, home: Path) -> None:
    """As on a machine of its own: what a CI system sets would silence some libraries by itself."""
    path = f"{ROOT}{os.pathsep}{ROOT / 'src'}"
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": path, "HOME": str(home), "TMPDIR": str(home)}
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120, env=environment)


def test_the_model_runtime_keeps_and_reports_nothing(tmp_path: Path) -> None:
    """A process that imported kb_qa before onnxruntime leaves no id and no queue of events behind."""
    _run(RUN_A_MODEL, tmp_path)
    assert not list(tmp_path.rglob("*"))
