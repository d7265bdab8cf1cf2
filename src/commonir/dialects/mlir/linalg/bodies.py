"""Scalar programs of named operations: which operations of other dialects stand in their regions.

A body is stated over `Scalars`, which chooses the operation for the types: a sum of floats is `arith.addf`, of
bools `arith.ori`. Operations of other dialects are made by name.
Source: MLIR linalg dialect, named operations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from commonir.base.codes import WRONG_TYPE
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.ir.attributes import Attribute, FloatAttr, IntegerAttr
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import ElementType, Type, f64, i32, i64, index

CONSTANT = "arith.constant"
"""The operation that holds a number of a body."""

Create = Callable[[str, Sequence[Value], Mapping[str, Attribute], Sequence[Type]], Operation]


class Scalars:
    """Appends operations on scalars to a block. `is_unsigned` says how conversions take integers."""

    def __init__(self, block: Block, create: Create, name: str, *, is_unsigned: bool = False) -> None:
        self.block = block
        self.create = create
        self.name = name
        self.is_unsigned = is_unsigned

    def make(self, name: str, *operands: Value, type: Type | None = None) -> Value:
        """The result of an operation, of the type of its last operand if none is given."""
        return self._append(name, operands, {}, operands[-1].type if type is None else type)

    def constant(self, value: float, type: ElementType) -> Value:
        """A number."""
        attribute = FloatAttr(float(value), type) if type.is_float else IntegerAttr(int(value), type)
        return self._append(CONSTANT, (), {"value": attribute}, type)

    def position(self, dim: int) -> Value:
        """The position along a dimension."""
        return self._append("linalg.index", (), {"dim": IntegerAttr(dim, i64)}, index)

    def _append(self, name: str, operands: Sequence[Value], attributes: Mapping[str, Attribute], type: Type) -> Value:
        result = self.block.append(self.create(name, operands, attributes, (type,)))
        return result.results[0]

    def chosen(self, like: Value, *, whole: str = "", real: str = "", truth: str = "", complex: str = "") -> str:
        """The operation for a type. Raises: DiagnosticError (E0503) when there is none for it."""
        type = like.type
        result = ""
        if isinstance(type, ElementType):
            by_kind = {"float": real, "complex": complex, "bool": truth or whole, "int": whole, "index": whole}
            result = by_kind.get(type.kind, "")
        if not result:
            raise DiagnosticError(Diagnostic(WRONG_TYPE, f"{self.name}: unsupported non numeric type {type}"))
        return result

    # -- what bodies are made of

    def add(self, a: Value, b: Value) -> Value:
        return self.make(
            self.chosen(a, whole="arith.addi", real="arith.addf", truth="arith.ori", complex="complex.add"), a, b
        )

    def sub(self, a: Value, b: Value) -> Value:
        return self.make(self.chosen(a, whole="arith.subi", real="arith.subf", complex="complex.sub"), a, b)

    def mul(self, a: Value, b: Value) -> Value:
        return self.make(
            self.chosen(a, whole="arith.muli", real="arith.mulf", truth="arith.andi", complex="complex.mul"), a, b
        )

    def div(self, a: Value, b: Value) -> Value:
        return self.make(self.chosen(a, whole="arith.divsi", real="arith.divf", complex="complex.div"), a, b)

    def div_unsigned(self, a: Value, b: Value) -> Value:
        return self.make(self.chosen(a, whole="arith.divui"), a, b)

    def max_signed(self, a: Value, b: Value) -> Value:
        return self.make(self.chosen(a, whole="arith.maxsi", real="arith.maximumf"), a, b)

    def min_signed(self, a: Value, b: Value) -> Value:
        return self.make(self.chosen(a, whole="arith.minsi", real="arith.minimumf"), a, b)

    def max_unsigned(self, a: Value, b: Value) -> Value:
        return self.make(self.chosen(a, whole="arith.maxui", real="arith.maximumf"), a, b)

    def min_unsigned(self, a: Value, b: Value) -> Value:
        return self.make(self.chosen(a, whole="arith.minui", real="arith.minimumf"), a, b)

    def select(self, condition: Value, a: Value, b: Value) -> Value:
        return self.make("arith.select", condition, a, b)

    def real(self, name: str, *operands: Value) -> Value:
        """An operation that there is for floats only."""
        return self.make(self.chosen(operands[0], real=name), *operands)

    def cast(self, value: Value, to: Type, *, unsigned: bool | None = None) -> Value:
        """A number as one of another type."""
        source = value.type
        if source is to:
            return value
        name = self._conversion(source, to, self.is_unsigned if unsigned is None else unsigned)
        if not name:
            message = f"{self.name}: cannot convert {source} to {to}"
            raise DiagnosticError(Diagnostic(WRONG_TYPE, message))
        return self.make(name, value, type=to)

    def _conversion(self, source: Type, to: Type, unsigned: bool) -> str:
        if not isinstance(source, ElementType) or not isinstance(to, ElementType):
            return ""
        whole = ("int", "bool")
        if "index" in (source.kind, to.kind):
            return "arith.index_cast" if {source.kind, to.kind} <= {"index", *whole} else ""
        if to.is_float:
            if source.kind in whole:
                return "arith.uitofp" if unsigned else "arith.sitofp"
            return "" if not source.is_float else "arith.extf" if width(to) > width(source) else _narrow(source, to)
        if to.kind in whole:
            if source.is_float:
                return "arith.fptoui" if unsigned else "arith.fptosi"
            if source.kind in whole:
                wider = "arith.extui" if unsigned else "arith.extsi"
                return wider if width(to) > width(source) else "arith.trunci" if width(to) < width(source) else ""
        return ""


def _narrow(source: ElementType, to: ElementType) -> str:
    return "arith.truncf" if width(to) < width(source) else ""


def width(element: ElementType) -> int:
    """Returns the number of bits of a number: 1 for a bool, whatever its storage takes."""
    return 1 if element.kind == "bool" else element.bits


class Body(Protocol):
    """A function of the elements of inputs and of the initial value: it returns what the region yields."""

    def __call__(self, s: Scalars, inputs: Sequence[Value], before: Value, /) -> Value: ...


def multiply_add(s: Scalars, inputs: Sequence[Value], before: Value, /) -> Value:
    """Returns the initial value plus the product of the inputs, which are converted to its type first."""
    a = s.cast(inputs[0], before.type)
    b = s.cast(inputs[1], before.type)
    return s.add(before, s.mul(a, b))


def shifted_multiply_add(s: Scalars, inputs: Sequence[Value], before: Value, /) -> Value:
    """As `multiply_add`, after the zero points that are the last two inputs are subtracted."""
    factors: list[Value] = []
    for x, zero in zip(inputs[:2], inputs[2:], strict=True):
        wide = s.cast(x, before.type)
        factors.append(s.sub(wide, s.cast(zero, before.type)))
    return s.add(before, s.mul(factors[0], factors[1]))


def add_to(s: Scalars, inputs: Sequence[Value], before: Value, /) -> Value:
    """Returns the initial value plus the first input."""
    return s.add(before, s.cast(inputs[0], before.type))


def max_with(s: Scalars, inputs: Sequence[Value], before: Value, /) -> Value:
    """The larger of what is there and the first input."""
    return s.max_signed(before, s.cast(inputs[0], before.type))


def min_with(s: Scalars, inputs: Sequence[Value], before: Value, /) -> Value:
    """The smaller of what is there and the first input."""
    return s.min_signed(before, s.cast(inputs[0], before.type))


def max_with_unsigned(s: Scalars, inputs: Sequence[Value], before: Value, /) -> Value:
    """As `max_with`, of integers without sign."""
    return s.max_unsigned(before, s.cast(inputs[0], before.type, unsigned=True))


def min_with_unsigned(s: Scalars, inputs: Sequence[Value], before: Value, /) -> Value:
    """As `min_with`, of integers without sign."""
    return s.min_unsigned(before, s.cast(inputs[0], before.type, unsigned=True))


def converted(s: Scalars, inputs: Sequence[Value], before: Value, /) -> Value:
    """The only input in the type of what is there."""
    return s.cast(only(s, inputs, before), before.type)


def only(s: Scalars, inputs: Sequence[Value], before: Value, /) -> Value:  # noqa: ARG001  all bodies take it
    """The only input."""
    if len(inputs) != 1:
        raise DiagnosticError(Diagnostic(WRONG_TYPE, f"{s.name}: expects one input, found {len(inputs)}"))
    return inputs[0]


def random_number(s: Scalars, inputs: Sequence[Value], before: Value, /) -> Value:
    """A number between two limits that a linear congruential generator draws of a seed and the position."""
    least, most, seed = inputs
    offset = s.cast(s.constant(2147483647, i64), f64)

    def step(value: Value) -> Value:
        scaled = s.mul(value, s.cast(s.constant(1103515245, i64), i32))
        return s.add(scaled, s.cast(s.constant(12345, i64), i32))

    column = s.cast(s.position(1), i32)
    row = s.add(s.cast(s.position(0), i32), seed)
    drawn = s.cast(step(s.add(column, step(row))), f64)
    shifted = s.add(offset, drawn)
    scaling = s.mul(s.sub(most, least), s.constant(2.3283064e-10, f64))
    return s.cast(s.add(s.mul(shifted, scaling), least), before.type)


_REAL: Mapping[str, str] = {
    "exp": "math.exp",
    "log": "math.log",
    "abs": "math.absf",
    "ceil": "math.ceil",
    "floor": "math.floor",
    "round": "math.round",
    "sqrt": "math.sqrt",
    "rsqrt": "math.rsqrt",
    "tanh": "math.tanh",
    "erf": "math.erf",
    "powf": "math.powf",
}
_BINARY: Mapping[str, Callable[[Scalars, Value, Value], Value]] = {
    "add": Scalars.add,
    "sub": Scalars.sub,
    "mul": Scalars.mul,
    "div": Scalars.div,
    "div_unsigned": Scalars.div_unsigned,
    "max": Scalars.max_signed,
    "min": Scalars.min_signed,
    "max_signed": Scalars.max_signed,
    "min_signed": Scalars.min_signed,
    "max_unsigned": Scalars.max_unsigned,
    "min_unsigned": Scalars.min_unsigned,
}


def applied(s: Scalars, function: str, values: Sequence[Value]) -> Value:
    """A function of elements, by the name that operations and kinds of `linalg.elementwise` have for it.

    Raises: ValueError for another number of elements than it takes.
    """
    if function in _REAL and len(values) == (2 if function == "powf" else 1):
        return s.real(_REAL[function], *values)
    if function in _BINARY and len(values) == 2:
        return _BINARY[function](s, values[0], values[1])
    match function, values:
        case "negf", [x]:
            return s.make(s.chosen(x, real="arith.negf", complex="complex.neg"), x)
        case "reciprocal", [x] if isinstance(x.type, ElementType):
            name = s.chosen(x, real="arith.divf")
            return s.make(name, s.constant(1.0, x.type), x)
        case "square", [x]:
            return s.real("arith.mulf", x, x)
        case "select", [condition, a, b]:
            return s.select(condition, a, b)
        case _:
            raise ValueError(f"'{function}' does not take {len(values)} inputs")


def elementwise(function: str) -> Body:
    """The body that applies a function to the inputs."""

    def body(s: Scalars, inputs: Sequence[Value], before: Value, /) -> Value:  # noqa: ARG001  all bodies take it
        return applied(s, function, inputs)

    return body


def region_of(
    name: str, types: Sequence[Type], outputs: int, body: Body, create: Create, *, is_unsigned: bool = False
) -> Region:
    """The region of an operation on elements of some types, of which the last are what is there before.

    There are as many inputs as the body reads.

    Raises: DiagnosticError (E0503) when there are no operations for these types.
    """
    block = Block(types)
    first_output = len(types) - outputs
    scalars = Scalars(block, create, name, is_unsigned=is_unsigned)
    if not outputs:
        raise DiagnosticError(Diagnostic(WRONG_TYPE, f"{name}: expects an output to write to"))
    result = body(scalars, block.arguments[:first_output], block.arguments[first_output])
    block.append(create("linalg.yield", (result,), {}, ()))
    return Region([block])
