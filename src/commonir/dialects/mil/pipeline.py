"""Pipelines: models that consist of models, some of which are not programs.

A pipeline is a module that holds a module for each of its models, in order, and a function that runs them:

- A model keeps its message, without program and without the models of a pipeline, as `coreml.model`, as every module
  read from a file does. A model that is not a program keeps its content there too (`nonMaximumSuppression`, or the
  bytes of a `neuralNetwork`). A pipeline keeps the names of its models there. Modules and attributes together are the
  file.
- The function `mil.composition` follows from the description: inputs and outputs of the models are connected by name.
  It is made when a file is read, and a writer leaves it out. The module of a model that is not a program has one too.

Source: Model.proto, Pipeline and NonMaximumSuppression.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from commonir.base.codes import UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.file_codes import MALFORMED_PROGRAM
from commonir.dialects import core
from commonir.dialects.core.constants import range_
from commonir.dialects.mil.base import MilOp, Structural
from commonir.dialects.mil.program import DescribedFunction
from commonir.ir.attributes import DictionaryAttr, FloatAttr, IntegerAttr
from commonir.ir.interface import NO_PORT, Port
from commonir.ir.module import Function, Invocation, Module
from commonir.ir.operation import Block, Region, Value
from commonir.ir.types import StateType, TensorType, f32, f64, i64
from commonir.notation import NotationError
from commonir.ods import DeclaredResults, attr_types, attribute, operand, operations_behind, region, result
from commonir.ods.traits import IsolatedFromAbove, SingleBlock, SymbolTrait


class Composition(
    MilOp, DescribedFunction, name="mil.composition", traits=(IsolatedFromAbove, SymbolTrait, SingleBlock, Structural)
):
    """The function of a model that is not an ML Program: its description as operations of this dialect.

    `defaults` has the default values of omitted inputs.

    Source: Model.proto.
    """

    sym_name: str = attribute(attr_types.symbol_name)
    defaults: DictionaryAttr = attribute(attr_types.dictionary)
    content: Region = region(doc="the function")

    @property
    def input_ports(self) -> Mapping[str, Port]:
        ports = dict(super().input_ports)
        for name, content in self.defaults.entries:
            port = ports.get(name, NO_PORT)
            if port.default is None and isinstance(content, IntegerAttr | FloatAttr):
                ports[name] = port._replace(default=content.value)
        return ports

    @property
    def output_ports(self) -> Mapping[str, Port]:
        ports = dict(super().output_ports)
        for name, v in zip(self.output_names, self.outputs, strict=False):
            called = v.owner.callee if isinstance(v.owner, RunModel) else None
            if called is not None and called.output_names[v.index : v.index + 1]:
                labels = called.output_ports.get(called.output_names[v.index], NO_PORT).labels
                ports[name] = ports.get(name, NO_PORT)._replace(labels=labels)
        return ports

    @property
    def symbol_name(self) -> str:
        return self.sym_name

    @property
    def body(self) -> Block:
        return self.content.block


class RunModel(DeclaredResults, MilOp, Invocation, name="mil.run_model", traits=(Structural,)):
    """Runs a model of a pipeline: the main function of a module, by its index among the modules of the enclosing one.

    The operands are its inputs in order, without states; the results are its outputs.

    C1: the pipeline has the model, and the numbers of inputs and outputs are equal.
    """

    model: int = attribute(attr_types.integer)
    inputs: tuple[Value, ...] = operand("any", variadic=True)
    outputs: tuple[Value, ...] = result("any", variadic=True)

    @property
    def callee(self) -> Function | None:
        for holder in self.ancestors():
            if isinstance(holder, Module):
                models = holder.modules
                return models[self.model].main if 0 <= self.model < len(models) else None
        return None

    def verify(self) -> Iterator[Diagnostic]:
        called = self.callee
        given = [] if called is None else [v for v in called.inputs if not isinstance(v.type, StateType)]
        if called is None:
            yield Diagnostic(MALFORMED_PROGRAM, f"{self.name}: C1: the pipeline has no model {self.model}")
        elif (len(given), len(called.outputs)) != (len(self.inputs), len(self.outputs)):
            message = f"{self.name}: C1: model {self.model} has other inputs or outputs"
            yield Diagnostic(MALFORMED_PROGRAM, message)


class HandOver(DeclaredResults, MilOp, name="mil.hand_over", traits=(Structural,)):
    """Passes a value to the next model of a pipeline, in another element type or as an image.

    An image between two models has eight bits for each channel: values are rounded, halves to even, and limited to 0
    and 255. Core ML does not specify the rounding.
    """

    input: Value = operand("any")
    as_image: bool = attribute(attr_types.flag, default=False)
    output: Value = result("any")

    def reference(self, input: Value) -> Value:
        type = self.output.type
        if not isinstance(type, TensorType):
            return input
        if self.as_image and not type.element.is_integer:
            input = core.minimum(core.maximum(core.round(input), core.splat(0, input)), core.splat(255, input))
        elif self.as_image:
            input = core.round(input) if not core.tensor_type(input).element.is_integer else input
        return core.cast(input, type.element)


class OpaqueModel(DeclaredResults, MilOp, name="mil.opaque_model", traits=(Structural,)):
    """A model of a type that cannot be run or converted, such as a `neuralNetwork`; it is preserved unchanged."""

    kind: str = attribute(attr_types.string)
    inputs: tuple[Value, ...] = operand("any", variadic=True)
    outputs: tuple[Value, ...] = result("any", variadic=True)

    def reference(self, inputs: tuple[Value, ...]) -> tuple[Value, ...]:
        del inputs
        message = f"a model of type '{self.kind}' cannot be run or converted: only programs and suppression of boxes"
        raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message))


class PickTop(DeclaredResults, MilOp, name="mil.pick_top", traits=(Structural,)):
    """Non-maximum suppression: selects the best boxes; each suppresses those whose overlap (IoU) with it exceeds
    iou_threshold.

    A row of coordinates is a centre (x, y), a width and a height. The confidence of a box is the greatest of its
    classes; below confidence_threshold it is not a candidate. With per_class a box suppresses only boxes of the same
    best class. Results are the selected rows in descending order of confidence, of equal ones the first. They are
    padded with zeros to `least` rows and truncated to `most`, 0 for no limit.

    Source: NonMaximumSuppression.proto, PickTop.
    """

    confidence: Value = operand("any")
    coordinates: Value = operand("any")
    iou_threshold: Value = operand("any")
    confidence_threshold: Value = operand("any")
    per_class: bool = attribute(attr_types.flag)
    least: int = attribute(attr_types.integer, default=0)
    most: int = attribute(attr_types.integer, default=0)
    kept_confidence: Value = result("any")
    kept_coordinates: Value = result("any")

    def reference(
        self, confidence: Value, coordinates: Value, iou_threshold: Value, confidence_threshold: Value
    ) -> tuple[Value, ...]:
        best = core.reduce_max(core.cast(confidence, f64), (1,), False)
        fits = core.greater_equal(best, core.reshape(core.cast(confidence_threshold, f64), ()))
        # Sorted before any is left out: the number of boxes given is often known, that of candidates never.
        order = core.argsort(best, 0, True)
        rows = core.gather(order, _rows(core.gather(fits, order, 0)), 0)
        boxes = core.cast(core.gather(coordinates, rows, 0), f32)
        classes = core.arg_max(core.gather(confidence, rows, 0), 1) if self.per_class else None
        limit = core.reshape(core.cast(iou_threshold, f32), ())
        stays = _rows(_suppressed(boxes, classes, limit))
        rows = core.gather(rows, stays, 0)
        return tuple([self._sized(core.gather(v, rows, 0)) for v in (confidence, coordinates)])

    def _sized(self, rows: Value) -> Value:
        """Rows filled up with zeros, or cut off."""
        if not self.least and not self.most:
            return rows
        type = core.tensor_type(rows)
        columns = None if type.shape is None else type.shape[1]
        if columns is None:
            raise NotationError("the number of classes is not known")
        count = core.dim(rows, 0)
        if self.least:
            rows = core.concat((rows, core.fill(core.splat(0.0, rows), (self.least, columns))), 0)
            count = core.maximum(count, core.scalar(self.least, i64))
        if self.most:
            count = core.minimum(count, core.scalar(self.most, i64))
        return core.gather(rows, range_(core.scalar(0, i64), count, core.scalar(1, i64)), 0)


def _rows(truths: Value) -> Value:
    """The positions of a vector at which it is true."""
    return core.squeeze(core.non_zero(truths), (1,))


def _suppressed(boxes: Value, classes: Value | None, limit: Value) -> Value:
    """Returns which boxes are selected, the best first: each suppresses those after it that it overlaps too much."""
    x, y, width, height = (core.squeeze(v, (1,)) for v in core.split(boxes, 1, (1, 1, 1, 1)))
    half = core.scalar(0.5, f32)
    sides = [core.mul(width, half), core.mul(height, half)]
    least = [core.sub(v, s) for v, s in zip((x, y), sides, strict=True)]
    greatest = [core.add(v, s) for v, s in zip((x, y), sides, strict=True)]
    number = core.dim(x, 0)
    positions = range_(core.scalar(0, i64), number, core.scalar(1, i64))
    stays = core.greater_equal(positions, core.scalar(0, i64))
    fixed = (positions, number, limit, *least, *greatest, *(() if classes is None else (classes,)))
    # Values that a loop uses are loop-carried, so that nothing in it depends on its position.
    initial = (core.scalar(0, i64), stays, *fixed)
    requested = Block([v.type for v in initial])
    condition = _region(requested, core.less(requested.arguments[0], requested.arguments[3]))
    rounds = Block([v.type for v in initial])
    at, alive, *others = rounds.arguments
    body = _region(rounds, core.add(at, core.scalar(1, i64)), _round(at, alive, *others), *others)
    return core.while_(initial, condition, body)[1]


def _round(at: Value, alive: Value, positions: Value, number: Value, limit: Value, *parts: Value) -> Value:
    """The remaining boxes after one of them has suppressed others."""
    del number
    least, greatest, classes = parts[:2], parts[2:4], parts[4:]
    shared, own, whole = (_area(low, high) for low, high in _intersections(at, least, greatest))
    union = core.sub(core.add(own, whole), shared)
    # Boxes without area overlap nothing.
    away = core.greater(shared, core.mul(limit, union))
    away = core.logical_and(away, core.greater(positions, at))
    away = core.logical_and(away, core.gather(alive, at, 0))
    for v in classes:
        away = core.logical_and(away, core.equal(v, core.gather(v, at, 0)))
    return core.logical_and(alive, core.logical_not(away))


Corners = tuple[list[Value], list[Value]]


def _intersections(at: Value, least: Sequence[Value], greatest: Sequence[Value]) -> tuple[Corners, Corners, Corners]:
    """Returns the intersections of one box with each, that box itself, and all boxes."""
    low, high = [core.gather(v, at, 0) for v in least], [core.gather(v, at, 0) for v in greatest]
    common_low = [core.maximum(a, b) for a, b in zip(low, least, strict=True)]
    common_high = [core.minimum(a, b) for a, b in zip(high, greatest, strict=True)]
    return (common_low, common_high), (low, high), (list(least), list(greatest))


def _area(low: list[Value], high: list[Value]) -> Value:
    sides = [core.maximum(core.sub(b, a), core.scalar(0.0, f32)) for a, b in zip(low, high, strict=True)]
    return core.mul(sides[0], sides[1])


def _region(block: Block, *values: Value) -> Region:
    for op in operations_behind(values):
        block.append(op)
    block.append(core.Yield(values))
    return Region([block])
