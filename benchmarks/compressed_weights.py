"""The cost of decoding compressed weights: 100 MB of each form, against decompression by coremltools.

Figures: time of decoding packed bytes over that of coremltools' own evaluation, which gets its arrays unpacked already.
Target: 1x.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from commonir.dialects import core
from commonir.ir.data import ArrayData, Data, InlineData
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, TensorType, f16, i4, i8, u4

from benchmarks.harness import paired_ratio, report

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from coremltools.converters.mil.mil.ops.defs.iOS18 import compression

SIZE_BYTES = 100_000_000
ROWS = 4000


def _constant(data: Data) -> Value:
    return core.constant(data)


def _floats(array: Any) -> Value:
    return _constant(ArrayData(TensorType(f16, array.shape), array))


def _seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def main() -> int:
    """Prints the figures; the exit status is 1 when a target is missed."""
    content = np.random.default_rng(1).integers(0, 256, SIZE_BYTES, dtype=np.uint8)

    def packed(element: ElementType) -> Data:
        columns = SIZE_BYTES * 8 // element.bits // ROWS
        return InlineData(TensorType(element, (ROWS, columns)), memoryview(content.tobytes()))

    blocks = np.full((ROWS, 2 * SIZE_BYTES // ROWS // 50), 0.5, np.float16)
    rows = np.full((ROWS, 1), 0.5, np.float16)
    table = np.linspace(-1, 1, 16, dtype=np.float16).reshape(1, 1, 16, 1)
    scaled = compression.constexpr_blockwise_shift_scale.decompress
    looked_up = compression.constexpr_lut_to_dense.decompress
    cases: dict[str, tuple[ElementType, Callable[[Value], Value], Callable[[Any], object]]] = {
        "int4 in blocks of 50": (i4, lambda v: core.dequantize(v, _floats(blocks)), lambda a: scaled(a, blocks, None)),
        "int8 in rows": (i8, lambda v: core.dequantize(v, _floats(rows)), lambda a: scaled(a, rows, None)),
        "table of 4 bits": (u4, lambda v: core.table_lookup(v, _floats(table)), lambda a: looked_up(a, table, None)),
    }
    results: list[bool] = []
    for name, (element, decode, decompress) in cases.items():
        source = packed(element)
        unpacked: Any = source.array().astype(np.int8 if element.kind == "int" else np.uint8)

        def ours(source: Data = source, decode: Callable[[Value], Value] = decode) -> float:
            data = _data_of(decode(_constant(source)))
            return _seconds(data.array)

        def theirs(unpacked: Any = unpacked, decompress: Callable[[Any], object] = decompress) -> float:
            return _seconds(lambda: decompress(unpacked))

        ratio = paired_ratio(ours, theirs, pairs=3)
        results.append(report(f"decode 100 MB, {name} / coremltools", ratio, "x", 1))
    return 0 if all(results) else 1


def _data_of(value: Value) -> Data:
    """Returns the data of a value on constants, decoded when it is read."""
    data = value.owner.constant_data() if isinstance(value.owner, core.Decoded) else None
    if data is None:
        raise ValueError("the value is not constant")
    return data


if __name__ == "__main__":
    sys.exit(main())
