"""ONNX operators that run nested graphs.

Source: ONNX operator reference, default domain, versions 16 to 23.
"""

from __future__ import annotations

from collections.abc import Iterator

from commonir.base.diagnostics import Diagnostic
from commonir.dialects.onnx.base import OnnxOp
from commonir.dialects.onnx.program import check_graph, returned
from commonir.ir.operation import Region, Value
from commonir.ir.types import TensorType, Type
from commonir.ods import any_type, attribute, kinds, operand, region, result


def common_type(a: Type, b: Type) -> Type:
    """A type for values of either type: dimensions that differ are unknown."""
    if a is b or not isinstance(a, TensorType) or not isinstance(b, TensorType):
        return a
    if a.shape is None or b.shape is None or len(a.shape) != len(b.shape):
        return a.with_shape(None)
    return a.with_shape(tuple([x if x == y else None for x, y in zip(a.shape, b.shape, strict=True)]))


def _stacked(type: Type) -> Type:
    """The type of values of one type, one for each round."""
    if not isinstance(type, TensorType) or type.shape is None:
        return type
    return type.with_shape((None, *type.shape))


class If16(OnnxOp, name="onnx.If", since="opset16"):
    """Runs one of two graphs and gives their outputs."""

    __slots__ = ()

    else_branch: Region = region()
    then_branch: Region = region()
    cond: Value = operand("i1")
    outputs: tuple[Value, ...] = result(any_type, variadic=True)

    def infer(self) -> tuple[Type, ...]:
        pairs = zip(returned(self.then_branch), returned(self.else_branch), strict=False)
        return tuple([common_type(a.type, b.type) for a, b in pairs])

    def verify(self) -> Iterator[Diagnostic]:
        yield from check_graph(self.then_branch)
        yield from check_graph(self.else_branch)


class If19(If16, name="onnx.If", since="opset19"):
    """As `If16`, for more element types."""

    __slots__ = ()


class If21(If19, name="onnx.If", since="opset21"):
    """As `If19`, for more element types."""

    __slots__ = ()


class If(If21, name="onnx.If", since="opset23"):
    """As `If21`, for more element types."""

    __slots__ = ()


class Loop16(OnnxOp, name="onnx.Loop", since="opset16"):
    """Runs a graph again and again: at most M times, and while it says so; outputs that are not carried are stacked."""

    __slots__ = ()

    body: Region = region()
    M: Value | None = operand("i64", default=None)
    cond: Value | None = operand("i1", default=None)
    v_initial: tuple[Value, ...] = operand(any_type, variadic=True, default=())
    v_final_and_scan_outputs: tuple[Value, ...] = result(any_type, variadic=True)

    def infer(self) -> tuple[Type, ...]:
        carried, made = self.v_initial, returned(self.body)[1:]
        kept = [common_type(v.type, r.type) for v, r in zip(carried, made, strict=False)]
        return (*kept, *(_stacked(r.type) for r in made[len(carried) :]))

    def verify(self) -> Iterator[Diagnostic]:
        yield from check_graph(self.body)


class Loop19(Loop16, name="onnx.Loop", since="opset19"):
    """As `Loop16`, for more element types."""

    __slots__ = ()


class Loop21(Loop19, name="onnx.Loop", since="opset21"):
    """As `Loop19`, for more element types."""

    __slots__ = ()


class Loop(Loop21, name="onnx.Loop", since="opset23"):
    """As `Loop21`, for more element types."""

    __slots__ = ()


class Scan16(OnnxOp, name="onnx.Scan", since="opset16"):
    """Runs a graph for each slice of its last operands; outputs after the states are stacked."""

    __slots__ = ()

    initial_state_and_scan_inputs: tuple[Value, ...] = operand(any_type, variadic=True)
    body: Region = region()
    num_scan_inputs: int = attribute(kinds.integer)
    scan_input_axes: tuple[int, ...] | None = attribute(kinds.integers, default=None)
    scan_input_directions: tuple[int, ...] | None = attribute(kinds.integers, default=None)
    scan_output_axes: tuple[int, ...] | None = attribute(kinds.integers, default=None)
    scan_output_directions: tuple[int, ...] | None = attribute(kinds.integers, default=None)
    final_state_and_scan_outputs: tuple[Value, ...] = result(any_type, variadic=True)

    def infer(self) -> tuple[Type, ...]:
        states = len(self.initial_state_and_scan_inputs) - self.num_scan_inputs
        carried, made = self.initial_state_and_scan_inputs[:states], returned(self.body)
        kept = [common_type(v.type, r.type) for v, r in zip(carried, made, strict=False)]
        return (*kept, *(_stacked(r.type) for r in made[states:]))

    def verify(self) -> Iterator[Diagnostic]:
        yield from check_graph(self.body)


class Scan19(Scan16, name="onnx.Scan", since="opset19"):
    """As `Scan16`, for more element types."""

    __slots__ = ()


class Scan21(Scan19, name="onnx.Scan", since="opset21"):
    """As `Scan19`, for more element types."""

    __slots__ = ()


class Scan(Scan21, name="onnx.Scan", since="opset23"):
    """As `Scan21`, for more element types."""

    __slots__ = ()
