"""Nested programs, classifier labels and state in the mil dialect.

Source: MIL operation reference, control_flow, classify and states; MIL specification, Block.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from commonir.base.codes import MALFORMED_REGION, WRONG_TYPE
from commonir.base.diagnostics import Diagnostic
from commonir.base.text import plural
from commonir.dialects import core
from commonir.dialects.mil.base import CORE_ML_8, MilOp
from commonir.dialects.mil.operands import Condition
from commonir.dialects.mil.program import Labelling, Return
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import ListType, MapType, StateType, TensorType, Type, boolean, f64, tensor
from commonir.ods import are_compatible, constraint, known_data, operand, operations_behind, region, result, traits
from commonir.ods.branching import Conditional
from commonir.ods.operand_shapes import ranked_shape
from commonir.symbolic import element_count


def returned(nested: Region) -> tuple[Value, ...]:
    """Returns the values that a nested block returns; none when its terminator is not the expected one."""
    last = nested.blocks[0].last if nested.blocks else None
    return last.values if isinstance(last, Return) else ()


def _common(a: Type, b: Type) -> Type:
    """A type for values of either type: sizes that differ are unknown."""
    if a is b or not isinstance(a, TensorType) or not isinstance(b, TensorType):
        return a
    if a.shape is None or b.shape is None or len(a.shape) != len(b.shape):
        return a.with_shape(None)
    return a.with_shape(tuple([n if n == m else None for n, m in zip(a.shape, b.shape, strict=True)]))


def _differences(what: str, actual: Iterable[Value], expected: Iterable[Type]) -> Iterator[Diagnostic]:
    """Yields the differences between the types of values and the expected ones."""
    values, types = tuple(actual), tuple(expected)
    if len(values) != len(types):
        yield Diagnostic(MALFORMED_REGION, f"{what}: expected {plural(len(types), 'value')}, found {len(values)}")
        return
    for v, t in zip(values, types, strict=True):
        if not are_compatible(v.type, t):
            yield Diagnostic(MALFORMED_REGION, f"{what}: expected {t}, found '{v.name}' of type {v.type}")


class Cond(MilOp, Conditional, name="mil.cond", traits=(traits.SingleBlock,)):
    """Executes the first block if pred is true, else the second, and returns its results.

    The blocks have no arguments, and return values of the same types.

    Source: MIL operation reference, cond (iOS 15); MIL specification, Block.
    """

    pred: Value = operand("i1[]")
    then: Region = region(doc="runs if `pred` is true")
    otherwise: Region = region(doc="runs if `pred` is false")
    outputs: tuple[Value, ...] = result("any", variadic=True)

    def infer(self) -> tuple[Type, ...]:
        pairs = zip(returned(self.then), returned(self.otherwise), strict=False)
        return tuple([_common(a.type, b.type) for a, b in pairs])

    def choices(self) -> tuple[Region, Region]:
        return self.then, self.otherwise

    def verify(self) -> Iterator[Diagnostic]:
        for what, nested in (("the first block", self.then), ("the second block", self.otherwise)):
            if nested.blocks and nested.blocks[0].arguments:
                yield Diagnostic(MALFORMED_REGION, f"{self.name}: {what} must have no inputs")
        types = [v.type for v in returned(self.then)]
        yield from _differences(f"{self.name}: outputs of the second block", returned(self.otherwise), types)

    def reference(self, pred: Value, *, then: Region, otherwise: Region) -> tuple[Value, ...] | core.If:
        new_op = core.If(pred, then, otherwise)
        return new_op.results or new_op


class WhileLoop(MilOp, name="mil.while_loop", traits=(traits.SingleBlock,)):
    """While loop: runs a block on loop variables while a condition on them is true.

    Both blocks take the loop variables. The first, run before each iteration, returns the condition; the second returns
    the next values. A dim that changes between iterations is unknown in the types of the blocks. The condition has rank
    0; shape [1] is accepted too, since coremltools writes it where the source compares tensors of one element.

    Source: MIL operation reference, while_loop (iOS 15); MIL specification, Block.
    """

    loop_vars: tuple[Value, ...] = operand("any", variadic=True)
    condition: Region = region(doc="returns whether there is another iteration")
    body: Region = region(doc="returns the next loop variables")
    outputs: tuple[Value, ...] = result("any", variadic=True)

    def infer(self) -> tuple[Type, ...]:
        arguments = self.body.blocks[0].arguments if self.body.blocks else ()
        # A loop has a result for each loop variable, whatever its body takes, so that `verify` reports the body.
        taken = [a.type for a in arguments] + [v.type for v in self.loop_vars[len(arguments) :]]
        return tuple([_common(v.type, type) for v, type in zip(self.loop_vars, taken, strict=False)])

    def verify(self) -> Iterator[Diagnostic]:
        types = [v.type for v in self.loop_vars]
        for what, nested in (("the condition", self.condition), ("the body", self.body)):
            arguments = nested.blocks[0].arguments if nested.blocks else ()
            yield from _differences(f"{self.name}: inputs of {what}", arguments, types)
        yield from _differences(f"{self.name}: outputs of the body", returned(self.body), types)
        answer = returned(self.condition)
        expected = tensor(boolean, 1) if [v.type for v in answer] == [tensor(boolean, 1)] else tensor(boolean)
        yield from _differences(f"{self.name}: outputs of the condition", answer, [expected])

    def reference(self, loop_vars: tuple[Value, ...], *, condition: Region, body: Region) -> tuple[Value, ...]:
        _answer_as_scalar(condition.blocks[0])
        return core.while_(loop_vars, condition, body)


def _answer_as_scalar(block: Block) -> None:
    """Makes the block of a condition, in the core, yield a scalar where it yields a vector of one element."""
    last = block.last
    if not isinstance(last, core.Yield) or [v.type for v in last.values] != [tensor(boolean, 1)]:
        return
    scalar = core.reshape(last.values[0], ())
    last.erase()
    for op in (*operations_behind((scalar,)), core.Yield((scalar,))):
        block.append(op)


class Classify(MilOp, Labelling, name="mil.classify", traits=(traits.Pure,)):
    """The label with the greatest probability, and a dictionary from each label to its probability.

    In the core the dictionary is the vector of probabilities, in order of the labels.

    C2: it is the last operation of its block, and only the block uses its results.
    """

    probabilities: Value = operand("f32[*]")
    classes: Value = operand("any", constant=True)
    label: Value = result("any")
    scores: Value = result("any")

    @constraint("C1")
    def _has_one_label_each(self) -> Condition:
        """classes is a list of strings or integers, with one entry for each probability."""
        type, labels = self._label_type(), known_data(self.classes)
        if type is None or labels is None:
            return False
        sizes = [d for d in ranked_shape(self.probabilities) if d is not None]
        if len(sizes) != len(ranked_shape(self.probabilities)):
            return True
        count = element_count(tuple(sizes))
        return not isinstance(count, int) or count == labels.count

    def trace_key(self) -> object:
        return known_data(self.classes)

    @property
    def labels(self) -> tuple[str, ...] | tuple[int, ...]:
        data = known_data(self.classes)
        if data is None:
            return ()
        result = data.values()
        texts = tuple([v for v in result if isinstance(v, str)])
        return texts or tuple([int(v) for v in result if not isinstance(v, str)])

    def _label_type(self) -> TensorType | None:
        type = self.classes.type
        label = type.element if isinstance(type, ListType) else None
        return label if isinstance(label, TensorType) else None

    def infer(self) -> tuple[Type, ...]:
        type = self._label_type() or TensorType(f64, ())
        return type, MapType(type, tensor(f64))

    def verify(self) -> Iterator[Diagnostic]:
        following: Operation | None = self.next
        users = {user for r in self.results for user in r.users}
        if not isinstance(following, Return) or users - {following}:
            text = "it is the last operation of its block, and only the block uses its results"
            yield Diagnostic(WRONG_TYPE, f"{self.name}: C2: {text}")

    def reference(self, probabilities: Value, classes: Value) -> tuple[Value, ...]:
        flat = core.reshape(probabilities, (-1,))
        return core.gather(classes, core.arg_max(flat, 0), 0), flat


class ReadState(MilOp, name="mil.read_state", since=CORE_ML_8, traits=(traits.ReadsState,)):
    """Reads a copy of the contents of a state."""

    input: Value = operand("any")
    output: Value = result("any")

    @constraint("C1")
    def _reads_state(self) -> bool:
        """input is a state."""
        return isinstance(self.input.type, StateType)

    def infer(self) -> tuple[Type, ...]:
        type = self.input.type
        return (type.element if isinstance(type, StateType) else type,)


class WriteState(MilOp, name="mil.write_state", since=CORE_ML_8, traits=(traits.WritesState,)):
    """Updates a state; later reads in the same run see the update.

    Source: MIL operation reference, read_state (iOS 18); coremltools 9 represents it as coreml_update_state.
    """

    input: Value = operand("any")
    data: Value = operand("any")

    @constraint("C1")
    def _fits_state(self) -> bool:
        """input is a state of the type of data."""
        type = self.input.type
        return isinstance(type, StateType) and are_compatible(type.element, self.data.type)

    def infer(self) -> tuple[Type, ...]:
        return ()
