"""Parts of random uses of operations.

A case is drawn from a random generator: how to build the operation, arrays for its operands, and the expected results
where an outside oracle exists. Cases of one name differ in shapes and attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from commonir.ir.operation import Value

from tests.oracles import oracle

Array = np.ndarray[Any, Any]
Build = Callable[..., Value | Sequence[Value]]
Random = np.random.Generator


class Case(NamedTuple):
    """One use of an operation. `expected` is called only where a test compares with the outside oracle."""

    build: Build
    arrays: Mapping[str, Array]
    expected: Callable[[], Array | Sequence[Array]] | None = None


Draw = Callable[[Random], Case]


def collects(cases: dict[str, Draw]) -> Callable[[Draw], Draw]:
    """A decorator that puts a function into a table under the name of the operation whose cases it draws."""

    def case(draw: Draw) -> Draw:
        cases[f"core.{draw.__name__.rstrip('_')}"] = draw
        return draw

    return case


def floats(r: Random, *shape: int) -> Array:
    return r.standard_normal(shape).astype(np.float32)


class WideRandom(np.random.Generator):
    """Draws sizes of several vectors, with and without a rest, instead of a few elements."""


def sizes(r: Random, low: int = 1, high: int = 4, least: int = 1) -> list[int]:
    most = 40 if isinstance(r, WideRandom) else 6
    return [int(n) for n in r.integers(least, most, r.integers(low, high))]


def ints(r: Random, low: int, high: int, *shape: int) -> Array:
    return r.integers(low, high, shape)


def chance(r: Random) -> bool:
    return bool(r.integers(0, 2))


def onnx_results(kind: str, arrays: Sequence[Array | None], outputs: int = 1, **attributes: Any) -> list[Array]:
    """Returns what onnxruntime gives for one ONNX operator (opset 21)."""
    onnx, ort = oracle("onnx"), oracle("onnxruntime")
    helper = onnx.helper
    arguments = {f"x{n}": a for n, a in enumerate(arrays) if a is not None}
    names = [f"x{n}" if a is not None else "" for n, a in enumerate(arrays)]
    result = [f"y{n}" for n in range(outputs)]
    node = helper.make_node(kind, names, result, **attributes)
    kind_of = helper.np_dtype_to_tensor_dtype
    inputs = [helper.make_tensor_value_info(n, kind_of(a.dtype), a.shape) for n, a in arguments.items()]
    results = [helper.make_empty_tensor_value_info(n) for n in result]
    graph = helper.make_graph([node], "one", inputs, results)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return list(session.run(None, arguments))


def flat_pads(pads: Sequence[tuple[int, int]]) -> list[int]:
    return [a for a, _ in pads] + [b for _, b in pads]


def broadcast_pair(r: Random) -> tuple[list[int], list[int]]:
    whole = sizes(r)
    a = [1 if r.integers(0, 4) == 0 else n for n in whole]
    b = [n if m == 1 or r.integers(0, 4) else 1 for n, m in zip(whole, a, strict=True)]
    return (a, b[int(r.integers(0, len(b) + 1)) :]) if chance(r) else (a[int(r.integers(0, len(a) + 1)) :], b)
