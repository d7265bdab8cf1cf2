"""ONNX operators that generate tensors: constants, ranges, identity matrices.

Source: ONNX operator reference, default domain, versions 1 to 27.
"""

from __future__ import annotations

from collections.abc import Iterator

from commonir.base.diagnostics import Diagnostic
from commonir.base.file_codes import QUESTIONABLE_MODEL
from commonir.dialects import core
from commonir.dialects.onnx.base import (
    ANY_1,
    ANY_13,
    ANY_19,
    ANY_21,
    ANY_23,
    ANY_24,
    ANY_25,
    BOOLEAN,
    FLOATS_8,
    INTEGERS_2,
    INTEGERS_4,
    NUMBERS,
    NUMBERS_1,
    POSITIONS,
    SCALES_8,
    OnnxOp,
    element_of,
    known,
    length_of,
    shape_of,
    tensor_type,
)
from commonir.dialects.onnx.program import densified
from commonir.dialects.onnx.shape import broadcast_when_running
from commonir.ir.attributes import Attribute, DataAttr, DenseArrayAttr, DictionaryAttr
from commonir.ir.data import Data, data_of, rounded
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, TensorType, Type, bf16, f4e2m1fn, f16, f32, f64, i16, i64, string
from commonir.notation import NotationError, NotKnownError
from commonir.ods import Check, attr_types, attribute, by_version, element_type, one_of, operand, result
from commonir.ods.definition import ATTRIBUTE_REFERENCES
from commonir.ods.requiring import Requiring
from commonir.symbolic import Dim

_FILLS_20 = NUMBERS | BOOLEAN | FLOATS_8
_FILLS_21 = _FILLS_20 | INTEGERS_4
_FILLS_23 = _FILLS_21 | element_type(f4e2m1fn)
_FILLS_24 = _FILLS_23 | SCALES_8
_RANGED = POSITIONS | element_type(f32, f64, i16)


class ConstantOp(OnnxOp):
    """A tensor known before the program runs, given by exactly one attribute."""

    attr_types_suffice = True

    def data(self) -> Data:
        """The contents, from whichever attribute is given. Raises: NotationError when it is not exactly one."""
        raise NotImplementedError

    def infer(self) -> tuple[Type, ...]:
        return (self.data().type,)

    def reference(self) -> Value:
        return core.constant(self.data())

    def constant_data(self) -> Data | None:
        try:
            return self.data()
        except NotationError:
            return None

    def constant_dims(self) -> tuple[Dim, ...] | None:
        data = self.constant_data()
        return None if data is None else core.integer_values(data)


class Constant(
    ConstantOp,
    name="onnx.Constant",
    since="opset1 opset9 opset11 opset12 opset13 opset19 opset21 opset23 opset24 opset25",
):
    """A tensor known before the program runs, given by exactly one of the attributes.

    `sparse_value` has the entries `values`, `indices` (a row-major index, or a row of indices, for each value) and
    `dims` (the shape); all other elements are zero. Before version 9 only floats are documented; exporters wrote all
    types, and runtimes take them.
    """

    value_strings: tuple[str, ...] | None = attribute(attr_types.strings, default=None, since="opset12")
    value_string: str | None = attribute(attr_types.string, default=None, since="opset12")
    value_floats: tuple[float, ...] | None = attribute(attr_types.numbers, default=None, since="opset12")
    value_float: float | None = attribute(attr_types.number, default=None, since="opset12")
    value_ints: tuple[int, ...] | None = attribute(attr_types.integers, default=None, since="opset12")
    value_int: int | None = attribute(attr_types.integer, default=None, since="opset12")
    sparse_value: DictionaryAttr | None = attribute(attr_types.dictionary, default=None, since="opset11")
    value: Data | None = attribute(attr_types.data, default=None, since="opset11", before=attribute(attr_types.data))
    output: Value = result("T")
    T = by_version(
        opset1=ANY_1, opset9=ANY_1, opset13=ANY_13, opset19=ANY_19, opset21=ANY_21, opset23=ANY_23, opset24=ANY_24,
        opset25=ANY_25,
    )  # fmt: skip

    def verify(self) -> Iterator[Diagnostic]:
        value = self.value
        if self.since == "opset1" and value is not None and not value.element.is_float:
            text = (
                f"{self.name}: before opset 9 constants are documented to be floats, and this one is of {value.element}"
            )
            help = "runtimes take it; convert the model to opset 9 or later for onnx's shape inference"
            yield Diagnostic(QUESTIONABLE_MODEL, text, help=help)

    def data(self) -> Data:
        value = self.value
        if value is not None and sum([v is not None for v in self.attribute_values]) == 1:
            return value
        arguments: list[Data | None] = [
            value,
            None if self.value_int is None else data_of(i64, (), (self.value_int,)),
            None if self.value_float is None else data_of(f32, (), (rounded(self.value_float, f32),)),
            None if self.value_string is None else data_of(string, (), (self.value_string,)),
            None if self.value_ints is None else data_of(i64, (len(self.value_ints),), self.value_ints),
            None if self.value_floats is None else _singles(self.value_floats),
            None if self.value_strings is None else data_of(string, (len(self.value_strings),), self.value_strings),
            None if self.sparse_value is None else _dense(self.sparse_value),
        ]
        result = [d for d in arguments if d is not None]
        if not result and ATTRIBUTE_REFERENCES in self.extra:
            raise NotKnownError("the value is that of an attribute of the function around")
        if len(result) != 1:
            raise NotationError(f"exactly one attribute must be given, found {len(result)}")
        return result[0]


MOST_DENSE = 1 << 24
"""The maximum number of elements of a sparse constant."""


def _singles(values: tuple[float, ...]) -> Data:
    """A vector of numbers in single precision."""
    return data_of(f32, (len(values),), [rounded(v, f32) for v in values])


def _dense(content: DictionaryAttr) -> Data:
    """The elements of a sparse constant. Raises: NotationError when its entries are not those of one."""
    entries: dict[str, Attribute] = dict(content.entries)
    match entries.get("values"), entries.get("indices"), entries.get("dims"):
        case DataAttr(data=values), DataAttr(data=indices), DenseArrayAttr(values=dims):
            shape = tuple([d for d in dims if isinstance(d, int)])
        case _:
            raise NotationError("a sparse constant has values, indices and dims")
    count = 1
    for d in shape:
        count *= d
    if not 0 <= count <= MOST_DENSE:
        raise NotationError(f"a sparse constant of shape {list(shape)} is not made dense")
    try:
        return densified(TensorType(values.element, shape), values, indices)
    except ValueError as error:
        raise NotationError(f"a sparse constant: {error}") from None


def _is_vector_of_one(value: object) -> bool:
    return isinstance(value, Data) and value.shape == (1,)


_ONE_ELEMENT = Check("a vector of one element", _is_vector_of_one)


class ConstantOfShape(OnnxOp, name="onnx.ConstantOfShape"):
    """A tensor of the given shape filled with `value`, by default zero in single precision."""

    input: Value = operand("T1", by_value=True)
    value: Data | None = attribute(attr_types.data, default=None, check=_ONE_ELEMENT)
    output: Value = result("T2")
    T1 = element_type(i64)
    T2 = by_version(
        opset9=NUMBERS_1 | BOOLEAN, opset20=_FILLS_20, opset21=_FILLS_21, opset23=_FILLS_23, opset24=_FILLS_24,
        opset25=_FILLS_24 | INTEGERS_2,
    )  # fmt: skip

    def infer_partially(self) -> tuple[Type, ...]:
        count = length_of(self.input)
        element = f32 if self.value is None else self.value.element
        return (TensorType(element, (None,) * count if isinstance(count, int) else None),)

    def reference(self, input: Value) -> Value:
        return core.broadcast_to(self._fill(), known(input, "input"))

    def dynamic_reference(self, input: Value) -> Requiring | Value:
        return broadcast_when_running(self._fill(), input)

    def _fill(self) -> Value:
        return core.scalar(0.0, f32) if self.value is None else core.reshape(core.constant(self.value), ())


class EyeLike(OnnxOp, name="onnx.EyeLike"):
    """A matrix of the shape of another one, with ones on a diagonal and zeros elsewhere."""

    input: Value = operand("T1")
    dtype: ElementType | None = attribute(attr_types.element, default=None)
    k: int = attribute(attr_types.integer, default=0)
    output: Value = result("T2")
    T1 = by_version(opset9=NUMBERS_1 | BOOLEAN, opset22=NUMBERS | BOOLEAN)
    T2 = by_version(opset9=NUMBERS_1 | BOOLEAN, opset22=NUMBERS | BOOLEAN)

    def reference(self, input: Value) -> Value:
        shape = shape_of(input)
        if len(shape) != 2:
            raise NotationError(f"expected a matrix, found rank {len(shape)}")
        offset = core.sub(core.iota(shape, 1), core.iota(shape, 0))
        return core.cast(core.equal(offset, core.scalar(self.k, i64)), self.dtype or element_of(input))

    def infer_partially(self) -> tuple[Type, ...]:
        type = tensor_type(self.input)
        return (TensorType(self.dtype or type.element, type.shape or (None, None)),)


class Range(OnnxOp, name="onnx.Range"):
    """Numbers from start (inclusive) to limit (exclusive) by delta.

    Half-precision numbers are computed in the type `stash_type`: single (1) or double precision (11).
    """

    start: Value = operand("T", by_value=True)
    limit: Value = operand("T", by_value=True)
    delta: Value = operand("T", by_value=True)
    stash_type: int = attribute(attr_types.integer, default=1, check=one_of(1, 11), since="opset27")
    output: Value = result("T")
    T = by_version(opset11=_RANGED, opset27=_RANGED | element_type(f16, bf16))

    def reference(self, start: Value, limit: Value, delta: Value) -> Value:
        element = element_of(start)
        # Some exporters give vectors of one element.
        bounds = [v if tensor_type(v).rank == 0 else core.reshape(v, ()) for v in (start, limit, delta)]
        if element not in (f16, bf16):
            return core.range(*bounds)
        wide = f64 if self.stash_type == 11 else f32
        return core.cast(core.range(*[core.cast(v, wide) for v in bounds]), element)
