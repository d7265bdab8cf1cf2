"""One step of a language model with its weights in single precision and compressed, against onnxruntime.

The compressed variants are made from an ONNX file with weights in single precision: half precision with a conversion,
int8 with a scale for each column, int4 with a scale for each 32 terms, tables of 16 and of 256 numbers, and matrices of
which half or three quarters of the elements are zeros.
Each engine runs each variant in a process of its own, on one thread. Printed are the CPU times (the tenth percentile of
the rounds), how much faster each is than the same engine in single precision, the bytes of the file, the memory that a
process holds after its last run, files apart, and the most that it held.

    python -m benchmarks.decode_step MODEL.onnx [--rounds N]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from commonir import api
from commonir.native.engine import ENGINE

from benchmarks.native_engine import inputs_of, times_ms

Array = NDArray[Any]
Nodes = list[onnx.NodeProto]

LEAST_ELEMENTS = 1 << 14
"""Smaller constants stay as they are."""

BLOCK = 32

OPSET = 21


def _tensor(name: str, array: Array, kind: int | None = None) -> onnx.TensorProto:
    if kind is None:
        return numpy_helper.from_array(array, name)
    codes = np.asarray(array, np.uint8).reshape(-1) & 15
    return helper.make_tensor(name, kind, array.shape, (codes[::2] | codes[1::2] << 4).tobytes(), raw=True)


def half(name: str, w: Array) -> tuple[list[onnx.TensorProto], Nodes]:
    """Returns a matrix in half precision, and its conversion."""
    stored = _tensor(f"{name} f16", w.astype(np.float16))
    return [stored], [helper.make_node("Cast", [stored.name], [name], to=TensorProto.FLOAT)]


def int8(name: str, w: Array) -> tuple[list[onnx.TensorProto], Nodes]:
    """Returns a matrix in int8 with a scale for each column, of a table for each row, and what decodes it."""
    axis = int(w.shape[0] < w.shape[1] or w.shape[0] % BLOCK == 0)
    scale = np.abs(w).max(1 - axis) / np.float32(127)
    codes = np.round(w / np.expand_dims(scale, 1 - axis)).astype(np.int8)
    tensors = [_tensor(f"{name} codes", codes), _tensor(f"{name} scale", scale)]
    return tensors, [helper.make_node("DequantizeLinear", [t.name for t in tensors], [name], axis=axis)]


def int4(name: str, w: Array) -> tuple[list[onnx.TensorProto], Nodes]:
    """Returns a matrix in int4 with a scale for each block of terms, of a table along its rows, and what decodes it."""
    axis = int(w.shape[0] % BLOCK != 0)
    shape = (w.shape[0] // BLOCK, BLOCK, w.shape[1]) if axis == 0 else (w.shape[0], w.shape[1] // BLOCK, BLOCK)
    blocks = w.reshape(shape)
    scale = np.maximum(np.abs(blocks).max(axis + 1), 1e-9) / np.float32(7)
    codes = np.round(blocks / np.expand_dims(scale, axis + 1)).astype(np.int8).reshape(w.shape)
    tensors = [_tensor(f"{name} codes", codes, TensorProto.INT4), _tensor(f"{name} scale", scale)]
    return tensors, [
        helper.make_node("DequantizeLinear", [t.name for t in tensors], [name], axis=axis, block_size=BLOCK)
    ]


def palette(name: str, w: Array, bits: int = 4) -> tuple[list[onnx.TensorProto], Nodes]:
    """Returns a matrix as positions in a table of quantiles, and what looks them up."""
    fractions = (np.arange(1 << bits) + 0.5) / (1 << bits)
    table = np.quantile(w.reshape(-1)[:: max(1, w.size >> 18)], fractions).astype(np.float32)
    codes = np.searchsorted((table[1:] + table[:-1]) / 2, w).astype(np.uint8)
    stored = _tensor(f"{name} codes", codes, TensorProto.UINT4 if bits == 4 else None)
    tensors = [stored, _tensor(f"{name} table", table)]
    positions = f"{name} positions"
    return tensors, [
        helper.make_node("Cast", [tensors[0].name], [positions], to=TensorProto.INT32),
        helper.make_node("Gather", [tensors[1].name, positions], [name], axis=0),
    ]


def sparse(name: str, w: Array, zeros: float) -> tuple[list[onnx.TensorProto], Nodes]:
    """Returns a matrix in single precision without its smallest numbers."""
    least = np.quantile(np.abs(w).reshape(-1)[:: max(1, w.size >> 18)], zeros)
    return [_tensor(name, np.where(np.abs(w) < least, np.float32(0), w))], []


Compress = Callable[[str, Array], tuple[list[onnx.TensorProto], Nodes]]

FORMS: Mapping[str, Compress | None] = {
    "f32": None,
    "f16": half,
    "int8": int8,
    "int4": int4,
    "palette": palette,
    "palette8": partial(palette, bits=8),
    "sparse50": partial(sparse, zeros=0.5),
    "sparse75": partial(sparse, zeros=0.75),
}


def compressed(path: Path, out: Path, compress: Compress) -> None:
    """Writes a model with its matrices compressed."""
    model = onnx.load(path)
    graph = model.graph
    kept: list[onnx.TensorProto] = []
    first: Nodes = []
    for tensor in graph.initializer:
        w = numpy_helper.to_array(tensor)
        if w.dtype != np.float32 or w.ndim != 2 or w.size < LEAST_ELEMENTS:
            kept.append(tensor)
            continue
        tensors, nodes = compress(tensor.name, w)
        kept += tensors
        first += nodes
    nodes = [*first, *graph.node]
    del graph.initializer[:], graph.node[:]
    graph.initializer.extend(kept)
    graph.node.extend(nodes)
    for opset in model.opset_import:
        if opset.domain in ("", "ai.onnx"):
            opset.version = max(opset.version, OPSET)
    model.ir_version = max(model.ir_version, 10)
    onnx.save(model, out)


def _native(path: Path, rounds: int) -> dict[str, float]:
    module = api.lower(api.load(path))
    inputs = inputs_of(module)
    executable = ENGINE.prepare(module)
    del module
    executable.run(inputs)
    return _report(lambda: executable.run(inputs), rounds)


def _onnxruntime(path: Path, rounds: int) -> dict[str, float]:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    inputs = inputs_of(api.load(path))
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return _report(lambda: session.run(None, inputs), rounds)


ENGINES = {"native": _native, "onnxruntime": _onnxruntime}


def _report(run: Callable[[], object], rounds: int) -> dict[str, float]:
    """Returns the time of a run, and the memory of this process after it."""
    ms = times_ms({"run": run}, rounds)["run"]
    return {"ms": ms, "held": _memory_mb("RssAnon"), "peak": _memory_mb("VmHWM")}


def _memory_mb(field: str) -> float:
    """Returns a field of the memory of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{field}:")), 0.0)


def _measured(engine: str, path: Path, rounds: int) -> dict[str, float]:
    """Returns the report of a process that runs a model with an engine."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", __spec__.name, str(path), "--rounds", str(rounds), "--engine", engine]
    result = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return json.loads(result.stdout.splitlines()[-1])


def main() -> None:
    """Prints a line for each variant and engine."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--engine", choices=ENGINES, help="run the model as it is, and print one line of JSON")
    parser.add_argument("--forms", nargs="+", choices=FORMS, default=list(FORMS))
    arguments = parser.parse_args()
    if arguments.engine:
        print(json.dumps(ENGINES[arguments.engine](arguments.model, arguments.rounds)))
        return
    print(f"{'weights':8} {'engine':12} {'ms':>7} {'faster':>7} {'file MB':>8} {'held MB':>8} {'peak MB':>8}")
    with tempfile.TemporaryDirectory() as folder:
        single: dict[str, float] = {}
        for name, compress in FORMS.items():
            if name not in arguments.forms:
                continue
            path = arguments.model
            if compress is not None:
                path = Path(folder, "compressed.onnx")
                compressed(arguments.model, path, compress)
            for engine in ENGINES:
                r = _measured(engine, path, arguments.rounds)
                faster = single.setdefault(engine, r["ms"]) / r["ms"]
                size = path.stat().st_size / 2**20
                print(
                    f"{name:8} {engine:12} {r['ms']:7.2f} {faster:7.2f} {size:8.0f} {r['held']:8.0f} {r['peak']:8.0f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
