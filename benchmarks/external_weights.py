"""The cost of renaming an input of a model with 2 GB of external weights, against onnx's own loading and saving.

Each command runs in a process of its own and flushes what it writes. Figures: wall time, memory, and bytes written to
disk, for `cir edit` in place and to another folder; the same for onnx, and for onnxsim where it is installed, which
also folds. Targets: in place nothing but the message of the model is written; another folder takes no longer than a
copy of the data file, and no blocks where the file system shares them.
Needs: pip install onnxsim==0.8.1 for that comparison.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, save

from benchmarks.harness import Usage, measure_process, report

_COUNT, _SIDE = 32, 4096
"""32 weights of 64 MiB."""
_MEGABYTE = 1e6

_ONNX = """
import os, sys
import onnx
model = onnx.load(sys.argv[1])
model.graph.input[0].name = model.graph.node[0].input[0] = "renamed"
onnx.save(model, sys.argv[2], save_as_external_data=True, location=sys.argv[3])
os.fsync(os.open(os.path.join(os.path.dirname(sys.argv[2]), sys.argv[3]), os.O_RDWR))
"""
_ONNXSIM = """
import sys
import onnx, onnxsim
model, _ = onnxsim.simplify(sys.argv[1], check_n=0)
onnx.save(model, sys.argv[2], save_as_external_data=True, location=sys.argv[3])
"""
_COPY = """
import os, shutil, sys
shutil.copyfile(sys.argv[1], sys.argv[2])
os.fsync(os.open(sys.argv[2], os.O_RDWR))
"""


def main() -> int:
    """Prints the figures; the exit status is 1 when a target is missed."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("COMMONIR_BENCHMARK_FOLDER")) as name:
        folder = Path(name)
        model, other = folder / "m.onnx", folder / "other"
        other.mkdir()
        _write_model(model)
        edit = [sys.executable, "-m", "commonir", "edit", str(model), "-o"]
        in_place = _measured("cir edit, in place", [*edit, str(model), "--rename", "x=renamed"], folder)
        elsewhere = _measured(
            "cir edit, another folder", [*edit, str(other / "m.onnx"), "--rename", "renamed=x"], folder
        )
        script = [sys.executable, "-c", _COPY, str(folder / "m.onnx.data"), str(other / "copy.data")]
        copied = _measured("copy of the data file", script, folder)
        (other / "copy.data").unlink()
        output = [str(model), str(other / "m.onnx"), "m.onnx.data"]
        onnx = _measured("onnx, load and save", [sys.executable, "-c", _ONNX, *output], folder)
        if importlib.util.find_spec("onnxsim") is None:
            print("onnxsim is not installed: no comparison")
        else:
            _measured("onnxsim", [sys.executable, "-c", _ONNXSIM, *output], folder)
    results = [
        report("in place, written", in_place.written_bytes / _MEGABYTE, " MB", 1),
        report("in place / onnx", in_place.wall_seconds / onnx.wall_seconds, "x of time", 0.25),
        report("in place, memory", in_place.peak_bytes / _MEGABYTE, " MB", 150),
        report("another folder, beyond a copy", elsewhere.wall_seconds - copied.wall_seconds, " s", 1),
        report("another folder, memory", elsewhere.peak_bytes / _MEGABYTE, " MB", 150),
    ]
    return 0 if all(results) else 1


def _measured(name: str, command: list[str], folder: Path) -> Usage:
    usage = measure_process(command)
    on_disk = sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())
    print(
        f"{name}: {usage.wall_seconds:.2f} s, {usage.peak_bytes / _MEGABYTE:,.0f} MB of memory,"
        f" {usage.written_bytes / _MEGABYTE:,.1f} MB written, {on_disk / _MEGABYTE:,.0f} MB on disk after it"
    )
    return usage


def _write_model(path: Path) -> None:
    """Writes a chain of products whose weights are in one file beside the model."""
    data = path.with_name(f"{path.name}.data")
    with data.open("wb") as stream:
        # Small pieces: the memory of this process would count as that of those that it starts.
        piece = np.random.default_rng(0).standard_normal(2**18, np.float32)
        for n in range(_COUNT * _SIDE * _SIDE // piece.size):
            np.roll(piece, n).tofile(stream)
    size_bytes = 4 * _SIDE * _SIDE
    tensors: list[TensorProto] = []
    for n in range(_COUNT):
        tensor = TensorProto(name=f"w{n}", data_type=TensorProto.FLOAT, dims=[_SIDE, _SIDE], data_location="EXTERNAL")
        for key, value in (("location", data.name), ("offset", n * size_bytes), ("length", size_bytes)):
            tensor.external_data.add(key=key, value=str(value))
        tensors.append(tensor)
    names = ["x", *[f"h{n}" for n in range(_COUNT - 1)], "y"]
    nodes = [helper.make_node("MatMul", [names[n], f"w{n}"], [names[n + 1]]) for n in range(_COUNT)]
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", _SIDE]) for name in ("x", "y")]
    graph = helper.make_graph(nodes, "g", info[:1], info[1:], tensors)
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)


if __name__ == "__main__":
    sys.exit(main())
