"""Named operations: maps, iterators and body follow from one line.

Source: MLIR linalg dialect, named operations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from commonir.base.codes import WRONG_TYPE
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.text import plural
from commonir.dialects.mlir.linalg.base import (
    MEMOIZED,
    IteratorType,
    StructuredOp,
    TypeFn,
    maps_attribute,
    operand_shape,
    type_function,
)
from commonir.dialects.mlir.linalg.bodies import Body, Create, converted, elementwise, only, random_number, region_of
from commonir.dialects.mlir.linalg.forms import NamedForm
from commonir.dialects.mlir.linalg.formula import Formula
from commonir.ir.affine import AffineMap
from commonir.ir.attributes import Attribute
from commonir.ir.operation import Region, Value
from commonir.ir.types import Type
from commonir.ods import attribute, operand, region, result
from commonir.ods.text_form import CustomForm
from commonir.ods.type_constraints import AnyRankedTensor, AnyShaped, AnyType
from commonir.ods.type_rules import element_of, shape_of


class NamedOp(StructuredOp):
    """Base of operations on any number of inputs whose name determines the body.

    `indices` is the line with maps and iterators (see `formula.py`), `order` that of the dimensions where it is
    not that of appearance, and `scalars` the body.
    """

    custom_form: ClassVar[CustomForm | None] = NamedForm()
    formula: ClassVar[Formula | None] = None
    scalars: ClassVar[Body] = staticmethod(only)
    memoizes: ClassVar[bool] = True

    inputs: tuple[Value, ...] = operand(AnyType, variadic=True, doc="tensors, or numbers, that are read")
    outputs: tuple[Value, ...] = operand(AnyShaped, variadic=True, doc="initial values, of the types of the results")
    region: Region = region(doc="one element of the result; the name of the operation determines it")
    result_tensors: tuple[Value, ...] = result(AnyRankedTensor, variadic=True)

    def __init_subclass__(cls, *, indices: str = "", order: str = "", **named: object) -> None:
        super().__init_subclass__(**named)  # pyright: ignore[reportArgumentType]  # what `Definition` takes
        if indices:
            cls.formula, cls.index_formula = Formula(indices, order), indices

    def indexing(self) -> tuple[AffineMap, ...]:
        formula = self.formula
        assert formula is not None
        return formula.maps()

    def iterator_kinds(self) -> tuple[IteratorType, ...]:
        formula = self.formula
        assert formula is not None
        return kinds_of(formula.is_reduced)

    @property
    def discardable(self) -> Mapping[str, Attribute]:
        shown = dict(self.extra)
        if self.memoizes and MEMOIZED not in shown:
            shown[MEMOIZED] = maps_attribute(self.indexing())
        return dict(sorted(shown.items()))

    @classmethod
    def body_for(
        cls, inputs: Sequence[Type], outputs: Sequence[Type], attributes: Mapping[str, Attribute], create: Create
    ) -> Region:
        """The body on elements of some types. Raises: DiagnosticError (E0503) when there is none."""
        count = cls.input_count()
        if count is not None and len(inputs) != count:
            message = f"{cls.name}: expects {plural(count, 'input')}, found {len(inputs)}"
            raise DiagnosticError(Diagnostic(WRONG_TYPE, message))
        body = cls.scalars_of(attributes)
        return region_of(cls.name, [*inputs, *outputs], len(outputs), body, create, is_unsigned=_unsigned(attributes))

    @classmethod
    def input_count(cls) -> int | None:
        """Returns the number of inputs whose map the name determines; None where the elementwise function determines
        it.
        """
        return None if cls.formula is None else cls.formula.inputs

    @classmethod
    def scalars_of(cls, attributes: Mapping[str, Attribute]) -> Body:  # noqa: ARG003  for overrides
        """The body for some attributes."""
        return cls.scalars

    @classmethod
    def examples(cls) -> Iterator[str]:
        for types in cls.sample_types():
            *values, out = [f"%{n}" for n in (*"abcd"[: len(types) - 1], "init")]
            inputs = ", ".join([f"{v}: {t}" for v, t in zip([*values, out], types, strict=True)])
            ins = f"{', '.join(values)} : {', '.join(types[:-1])}"
            op = f"%result = {cls.name} ins({ins}) outs({out} : {types[-1]}) -> {types[-1]}"
            yield f"func.func @main({inputs}) -> {types[-1]} {{ {op} return %result : {types[-1]} }}"

    @classmethod
    def sample_types(cls) -> Iterator[Sequence[str]]:
        """Yields types of operands that may fit the operation: small ones, different where there are few dims."""
        formula = cls.formula
        if formula is None:
            return
        last = [1, 2, 3] if len(formula.dims) < 4 else [0] + [1] * (len(formula.dims) - 1)
        for element in ("i32",) if "unsigned" in cls.name else ("f32", "i32"):
            maps = formula.maps((1,) * formula.windows, (1,) * formula.windows)
            shapes = ["".join([f"{e.evaluate(last) + 1}x" for e in m.results]) for m in maps]
            yield [f"tensor<{shape}{element}>" if shape else element for shape in shapes]

    def reference(self, inputs: tuple[Value, ...], outputs: tuple[Value, ...], *, region: Region) -> tuple[Value, ...]:
        return self.computed(inputs, outputs, region)


def kinds_of(is_reduced: Sequence[bool]) -> tuple[IteratorType, ...]:
    """Kinds of iterators."""
    return tuple([IteratorType.REDUCTION if r else IteratorType.PARALLEL for r in is_reduced])


def _unsigned(attributes: Mapping[str, Attribute]) -> bool:
    declared = attributes.get("cast")
    return declared is not None and type_function.from_attribute(declared) is TypeFn.CAST_UNSIGNED


class PointwiseOp(NamedOp):
    """Base of operations on tensors of one shape, whatever its rank. `function` is that of elements."""

    function: ClassVar[str] = ""
    memoizes = False

    def __init_subclass__(cls, *, function: str = "", **named: object) -> None:
        super().__init_subclass__(**named)  # pyright: ignore[reportArgumentType]  # what `Definition` takes
        cls.function = function or cls.function

    @classmethod
    def sample_types(cls) -> Iterator[Sequence[str]]:
        for elements in (("f32",), ("f32", "f32"), ("i1", "f32", "f32"), ("i32", "i32")):
            yield [f"tensor<2x3x{element}>" for element in (*elements, elements[-1])]

    def _rank(self) -> int:
        shape = shape_of(self.outputs[0].type) if self.outputs else ()
        return len(shape) if isinstance(shape, tuple) else 0

    def indexing(self) -> tuple[AffineMap, ...]:
        rank = self._rank()
        whole = AffineMap.identity(rank)
        scalar = AffineMap(rank, 0, ())
        given = (*self.inputs, *self.outputs)
        return tuple([whole if operand_shape(v.type) else scalar for v in given])

    def iterator_kinds(self) -> tuple[IteratorType, ...]:
        return (IteratorType.PARALLEL,) * self._rank()

    @classmethod
    def scalars_of(cls, attributes: Mapping[str, Attribute]) -> Body:  # noqa: ARG003  the name determines them
        return elementwise(cls.function) if cls.function else cls.scalars


class Exp(PointwiseOp, name="linalg.exp", function="exp"):
    """Elementwise exponential."""


class Log(PointwiseOp, name="linalg.log", function="log"):
    """Elementwise natural logarithm."""


class Abs(PointwiseOp, name="linalg.abs", function="abs"):
    """Elementwise absolute value."""


class Ceil(PointwiseOp, name="linalg.ceil", function="ceil"):
    """Rounds each element up."""


class Floor(PointwiseOp, name="linalg.floor", function="floor"):
    """Rounds each element down."""


class NegF(PointwiseOp, name="linalg.negf", function="negf"):
    """Negates each element."""


class Reciprocal(PointwiseOp, name="linalg.reciprocal", function="reciprocal"):
    """Elementwise reciprocal."""


class Round(PointwiseOp, name="linalg.round", function="round"):
    """Rounds each element to the nearest integer, halves away from zero."""


class Sqrt(PointwiseOp, name="linalg.sqrt", function="sqrt"):
    """Elementwise square root."""


class Rsqrt(PointwiseOp, name="linalg.rsqrt", function="rsqrt"):
    """Elementwise reciprocal square root."""


class Square(PointwiseOp, name="linalg.square", function="square"):
    """Elementwise square."""


class Tanh(PointwiseOp, name="linalg.tanh", function="tanh"):
    """Elementwise hyperbolic tangent."""


class Erf(PointwiseOp, name="linalg.erf", function="erf"):
    """Elementwise error function."""


class Add(PointwiseOp, name="linalg.add", function="add"):
    """Elementwise addition."""


class Sub(PointwiseOp, name="linalg.sub", function="sub"):
    """Elementwise subtraction."""


class Mul(PointwiseOp, name="linalg.mul", function="mul"):
    """Elementwise multiplication."""


class Div(PointwiseOp, name="linalg.div", function="div"):
    """Elementwise division; signed integers are truncated toward zero."""


class DivUnsigned(PointwiseOp, name="linalg.div_unsigned", function="div_unsigned"):
    """Elementwise unsigned integer division."""


class Max(PointwiseOp, name="linalg.max", function="max"):
    """Elementwise maximum."""


class Min(PointwiseOp, name="linalg.min", function="min"):
    """Elementwise minimum."""


class PowF(PointwiseOp, name="linalg.powf", function="powf"):
    """Elementwise power."""


class Select(PointwiseOp, name="linalg.select", function="select"):
    """Selects elements of the second input where the first is true, else of the third."""


class Copy(PointwiseOp, name="linalg.copy"):
    """Copies a tensor, converting its elements if the types differ."""

    scalars = staticmethod(converted)

    cast: TypeFn | None = attribute(type_function, default=None)


class Fill(PointwiseOp, name="linalg.fill"):
    """Fills a tensor with a scalar. C1: the value has the element type of the output."""

    def verify(self) -> Iterator[Diagnostic]:
        if len(self.inputs) == len(self.outputs) == 1:
            value, element = self.inputs[0].type, element_of(self.outputs[0].type)
            if value is not element:
                message = f"expected fill value type ('{value}') to match output element type ('{element}')"
                yield self.violated(message)
                return
        yield from super().verify()


class FillRng2D(NamedOp, name="linalg.fill_rng_2d", indices="least most seed -> O[m, n]"):
    """Fills a matrix with pseudorandom numbers between two limits, which depend on a seed and the position."""

    scalars = staticmethod(random_number)
