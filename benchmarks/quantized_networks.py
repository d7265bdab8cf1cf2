"""Networks with quantized weights and values on the native engine, against onnxruntime and against single precision.

Variants are made of an ONNX file with `onnxruntime.quantization`: `dynamic` (integer products of values that are
quantized while running), `qdq` (products between dequantizing and quantizing, of values with fixed scales) and
`operators` (QLinearConv and the like). Printed are CPU times on one thread (the tenth percentile of the rounds, by
turns in one process), how many times faster ours is than onnxruntime, and than ours in single precision, and the
largest difference to onnxruntime over its largest element, which is that of a few quanta.

    python -m benchmarks.quantized_networks MODEL.onnx ... [--forms FORM ...] [--rounds N]
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnxruntime.quantization import (
    CalibrationDataReader,
    QuantFormat,
    QuantType,
    quantize_dynamic,
    quantize_static,
)
from onnxruntime.quantization.shape_inference import quant_pre_process

from commonir import api
from commonir.native.engine import ENGINE

from benchmarks.native_engine import inputs_of, times_ms

Array = NDArray[Any]

FORMS = ("dynamic", "qdq", "operators")


class _Inputs(CalibrationDataReader):
    """The inputs by which scales of values are chosen."""

    def __init__(self, inputs: dict[str, Array]) -> None:
        self._left: Iterator[dict[str, Array]] = iter([inputs])

    def get_next(self) -> dict[str, Array]:
        # The base class ends with a false value.
        return next(self._left, {})


def own_initializers(path: Path) -> None:
    """Gives each use of a shared initializer a copy of its own.

    onnxruntime quantizes a tensor once for all uses: as bytes, where a bias of a product would have to be 32 bits.
    """
    model = onnx.load(path)
    initializers = {tensor.name: tensor for tensor in model.graph.initializer}
    seen = set[str]()
    for node in model.graph.node:
        for at, name in enumerate(node.input):
            if name in seen and name in initializers:
                own = model.graph.initializer.add()
                own.CopyFrom(initializers[name])
                node.input[at] = own.name = f"{name}_{node.name}_{at}"
            seen.add(name)
    onnx.save(model, path)


def quantized(path: Path, out: Path, form: str, inputs: dict[str, Array]) -> None:
    """Writes a quantized variant of a model."""
    ready = out.with_stem("ready")
    quant_pre_process(path, ready, skip_symbolic_shape=True)
    own_initializers(ready)
    if form == "dynamic":
        quantize_dynamic(ready, out, weight_type=QuantType.QInt8)
        return
    quantize_static(
        ready,
        out,
        _Inputs(inputs),
        quant_format=QuantFormat.QDQ if form == "qdq" else QuantFormat.QOperator,
        per_channel=True,
        activation_type=QuantType.QUInt8,
        weight_type=QuantType.QInt8,
    )


def measured(path: Path, form: str, rounds: int) -> tuple[dict[str, float], float]:
    """Returns the times of a form of a model, and the largest difference of its first output."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    module = api.lower(api.load(path))
    inputs = inputs_of(module)
    single = ENGINE.prepare(module)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "quantized.onnx")
        quantized(path, out, form, inputs)
        ours = ENGINE.prepare(api.lower(api.load(out)))
        session = onnxruntime.InferenceSession(str(out), options, providers=["CPUExecutionProvider"])
        actual = np.asarray(next(iter(ours.run(inputs).values())), np.float64)
        expected = np.asarray(session.run(None, inputs)[0], np.float64)
        single.run(inputs)
        calls = {
            "ours": lambda: ours.run(inputs),
            "onnxruntime": lambda: session.run(None, inputs),
            "single": lambda: single.run(inputs),
        }
        return times_ms(calls, rounds), float(np.abs(actual - expected).max() / np.abs(expected).max())


def main() -> None:
    """Prints a line for each model and form."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", type=Path, nargs="+")
    parser.add_argument("--forms", nargs="+", choices=FORMS, default=list(FORMS))
    parser.add_argument("--rounds", type=int, default=20)
    arguments = parser.parse_args()
    print(f"{'model':16} {'form':10} {'ms':>7} {'ort ms':>7} {'faster':>6} {'f32 ms':>7} {'faster':>6} {'error':>8}")
    for path in arguments.models:
        for form in arguments.forms:
            ms, difference = measured(path, form, arguments.rounds)
            ours, ort, single = ms["ours"], ms["onnxruntime"], ms["single"]
            times = f"{ours:7.2f} {ort:7.2f} {ort / ours:6.2f} {single:7.2f} {single / ours:6.2f}"
            print(f"{path.stem:16} {form:10} {times} {difference:8.1e}", flush=True)


if __name__ == "__main__":
    main()
