"""The base class of ONNX operations, its sets of element types, and accessors that references use."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.text import plural
from commonir.dialects import core
from commonir.dialects.core.base import axis_of as axis_from_start
from commonir.dialects.core.base import rank_of
from commonir.dialects.onnx.attribute_values import unfit_faults
from commonir.dialects.onnx.data_types import DATA_TYPES
from commonir.ir.data import Data
from commonir.ir.operation import Value
from commonir.ir.types import (
    ElementType,
    TensorType,
    are_known,
    bf16,
    boolean,
    complex64,
    complex128,
    f6e2m3fn,
    f6e3m2fn,
    f8e4m3fn,
    f8e4m3fnuz,
    f8e5m2,
    f8e5m2fnuz,
    f8e8m0fnu,
    f16,
    f32,
    f64,
    i2,
    i4,
    i8,
    i16,
    i32,
    i64,
    string,
    u2,
    u4,
    u8,
    u16,
    u32,
    u64,
    unknown,
)
from commonir.notation import NotationError, NotKnownError
from commonir.ods import (
    Form,
    Known,
    Op,
    by_version,
    element_type,
    is_short,
    known_data,
    known_dims,
    lists,
    optionals,
    results_of,
    traits,
    types,
    types_by_version,
)
from commonir.ods.patterns import ElementClass, TypeClass
from commonir.symbolic import Dim

# Element types that came with a version of the operator set carry its number.
FLOATS_1 = element_type(f16, f32, f64)
FLOATS = FLOATS_1 | element_type(bf16)
SIGNED_INTEGERS = element_type(i8, i16, i32, i64)
UNSIGNED_INTEGERS = element_type(u8, u16, u32, u64)
INTEGERS = SIGNED_INTEGERS | UNSIGNED_INTEGERS
NUMBERS_1 = INTEGERS | FLOATS_1
NUMBERS = INTEGERS | FLOATS
WIDE_NUMBERS_1 = FLOATS_1 | element_type(i32, i64, u32, u64)
WIDE_NUMBERS = FLOATS | element_type(i32, i64, u32, u64)
POSITIONS = element_type(i32, i64)
BYTES = element_type(i8, u8)
COMPLEX = element_type(complex64, complex128)
FLOATS_8 = element_type(f8e4m3fn, f8e4m3fnuz, f8e5m2, f8e5m2fnuz)
INTEGERS_4 = element_type(i4, u4)
INTEGERS_2 = element_type(i2, u2)
FLOATS_6 = element_type(f6e2m3fn, f6e3m2fn)
SCALES_8 = element_type(f8e8m0fnu)
BOOLEAN = element_type(boolean)
STRING = element_type(string)
FLOATS_1_22 = by_version(opset1=FLOATS_1, opset22=FLOATS)
ANY_1, ANY_13, ANY_19, ANY_21, ANY_23, ANY_24, ANY_25, ANY_28 = [
    element_type(*[d.element for d in DATA_TYPES if d.since <= opset]) for opset in (1, 13, 19, 21, 23, 24, 25, 28)
]
ANY = by_version(
    opset1=ANY_1, opset13=ANY_13, opset19=ANY_19, opset21=ANY_21, opset23=ANY_23, opset24=ANY_24, opset25=ANY_25,
    opset28=ANY_28,
)  # fmt: skip
"""Every element type a version knows. An operator that uses it states its versions: not all changed with each of them.
"""


_ANYTHING = {"opset16": ANY_13, "opset19": ANY_19, "opset21": ANY_21, "opset23": ANY_23, "opset24": ANY_24,
             "opset25": ANY_25}  # fmt: skip


def anything(contents: ElementClass | None = None, **before: TypeClass) -> TypeClass:
    """Returns the types of values by version: those before opset 16, then also lists and optional values of tensors, of
    all elements of the version or of `contents`.
    """
    later: dict[str, TypeClass] = {}
    for version, tensors in _ANYTHING.items():
        inner = tensors if contents is None else contents
        later[version] = types(tensors, lists(inner), optionals(inner), optionals(lists(inner)))
    return types_by_version(**before, **later)


_FOLLOWED = INTEGERS | BOOLEAN | element_type(f32, f64)
"""Elements that shape arithmetic goes through; those of floats where they are integers."""


class OnnxOp(Op, traits=(traits.Pure,)):
    """Base of the operators. Trailing optional results that are not requested are omitted."""

    @property
    def keeps_declared_shapes(self) -> bool:
        """Whether a wrong declared shape is an error: it is where a graph promises its shapes."""
        return any(isinstance(a, Op) and a.has_trait(traits.PromisesShapes) for a in self.ancestors())

    @property
    def counts_axes_in(self) -> Value:
        """The value whose axes the attributes `axis` and `axes` count."""
        return self.operands[0]

    deprecated_since = ""
    """The version that deprecates the operator; of its definitions, that of this version."""

    removed_in = ""
    """The version of the default domain from which on runtimes do not have the operator that they add to it."""

    ignores_unknown_attributes = False
    """Whether runtimes ignore attributes that the operator does not have."""

    successor = ""
    """The operator that replaces a deprecated one."""

    def materialize_constant(self, data: Data) -> Value:
        return core.constant(data)

    def verify_extra(self) -> Iterator[Diagnostic]:
        return unfit_faults(self, ignores_unknown=self.ignores_unknown_attributes)

    def constant_dims(self) -> tuple[Dim, ...] | None:
        """Returns the dims that the reference computes from the types and known elements of operands."""
        if self.form is not Form.COMPOSITE or self.regions or len(self.results) != 1:
            return None
        type = self.results[0].type
        if not isinstance(type, TensorType) or type.element not in _FOLLOWED or not is_short(type):
            return None
        elements = tuple([(v.type, _elements(v)) for v in self.operands])
        key = ("elements", elements, self.operand_offsets, self.attribute_values)
        try:
            is_found = key in self.memo
        except TypeError:  # an attribute that no two operations share
            return self._followed()
        if not is_found:
            self.memo[key] = self._followed()
        return self.memo[key]

    def _followed(self) -> tuple[Dim, ...] | None:
        try:
            built = results_of(self.reference(*map(_placeholder, self.grouped_operands())))
        except (DiagnosticError, NotationError):
            return None
        return known_dims(built[0])


def is_deprecated(definition: type[Op]) -> bool:
    """Returns whether a definition is that of versions which have the operator no more."""
    return issubclass(definition, OnnxOp) and definition.since == definition.deprecated_since != ""


def _elements(value: Value) -> tuple[Dim, ...] | None:
    """The elements of an operand as far as shape arithmetic knows them."""
    return known_dims(value) if not isinstance(value.type, TensorType) or is_short(value.type) else None


def _placeholder(operand: Value | tuple[Value, ...] | None) -> Value | tuple[Value, ...] | None:
    """Returns a placeholder of the same type and known elements, with which a reference is called."""
    if isinstance(operand, tuple):
        return tuple([_placeholder_for(v) for v in operand])
    return None if operand is None else _placeholder_for(operand)


def _placeholder_for(value: Value) -> Value:
    dims = _elements(value)
    return Value(value.type) if dims is None else Known(value.type, dims).result


def tensor_type(value: Value) -> TensorType:
    """The type of a value that is known to be a tensor. Raises: NotationError otherwise."""
    if value.type is unknown:
        raise NotKnownError("the type of an operand is not known before running")
    if not isinstance(value.type, TensorType):
        raise NotationError(f"expected a tensor, found {value.type}")
    return value.type


def element_of(value: Value) -> ElementType:
    """The element type of a tensor."""
    return tensor_type(value).element


def shape_of(value: Value) -> tuple[Dim, ...]:
    """The sizes of a tensor. Raises: NotKnownError when one is unknown."""
    shape = tensor_type(value).shape
    if not are_known(shape):
        raise NotKnownError("the shape of an operand is not known before running")
    return shape


def sizes_of_rank(value: Value, name: str, rank: int) -> tuple[Dim, ...]:
    """The sizes of an operand of a given rank. Raises: NotationError for another rank; NotKnownError."""
    sizes = shape_of(value)
    if len(sizes) != rank:
        raise NotationError(f"'{name}' has rank {len(sizes)}, expected {rank}")
    return sizes


def image_sizes(value: Value, name: str) -> tuple[Dim, Dim, tuple[Dim, ...]]:
    """The sizes of batch, channels and spatial axes. Raises: NotationError when there is none; NotKnownError."""
    sizes = shape_of(value)
    if len(sizes) < 3:
        raise NotationError(f"'{name}' has rank {len(sizes)}, expected 3 or more")
    return sizes[0], sizes[1], sizes[2:]


def single(value: Value, name: str) -> int:
    """The only element of an operand, a number known before running. Raises: NotationError; NotKnownError."""
    result = fixed(value, name)
    if len(result) != 1:
        raise NotationError(f"'{name}' has {plural(len(result), 'element')}, expected one")
    return result[0]


def single_size(value: Value, name: str) -> Dim:
    """The only element of an operand, a number or an expression of sizes. Raises: NotationError; NotKnownError."""
    result = known(value, name)
    if len(result) != 1:
        raise NotationError(f"'{name}' has {plural(len(result), 'element')}, expected one")
    return result[0]


def single_number(value: Value, name: str) -> float:
    """The only element of an operand of floats. Raises: NotationError; NotKnownError."""
    result = known_numbers(value, name)
    if len(result) != 1:
        raise NotationError(f"'{name}' has {plural(len(result), 'element')}, expected one")
    return result[0]


def known(value: Value, name: str) -> tuple[Dim, ...]:
    """The elements of an operand that must be known before running. Raises: NotKnownError when they are not."""
    result = known_dims(value)
    if result is None:
        raise NotKnownError(f"'{name}' is not known before running")
    return result


def fixed(value: Value, name: str) -> tuple[int, ...]:
    """The elements of an operand that must be numbers. Raises: NotKnownError when they are not."""
    result = known(value, name)
    numbers = tuple([d for d in result if isinstance(d, int)])
    if len(numbers) != len(result):
        raise NotKnownError(f"'{name}' depends on symbolic dimensions")
    return numbers


def known_numbers(value: Value, name: str) -> tuple[float, ...]:
    """The elements of an operand of floats that must be known before running. Raises: NotKnownError otherwise."""
    data = known_data(value)
    if data is None:
        raise NotKnownError(f"'{name}' is not known before running")
    return tuple(map(float, data.values()))


def with_unknown(type: TensorType, axes: Iterable[int] | None) -> TensorType:
    """A type without the sizes of some axes, or of all when none are named."""
    if type.shape is None:
        return type
    rank = len(type.shape)
    open_axes = set(range(rank)) if axes is None else {axis_from_start(a, rank) for a in axes}
    return type.with_shape(tuple([None if a in open_axes else n for a, n in enumerate(type.shape)]))


def trailing_axes(x: Value, first: int) -> tuple[int, ...]:
    """The axes from one on."""
    rank = rank_of(x)
    return tuple(range(axis_from_start(first, rank), rank))


def whole(value: float) -> int:
    """A number without its fraction. Raises: NotationError when it is not finite."""
    if not math.isfinite(value):
        raise NotationError(f"{value} is not an integer")
    return int(value)


def length_of(vector: Value) -> Dim | None:
    """The number of elements of a vector, where it is known; a scalar counts as one. Raises: NotationError for more
    axes.
    """
    shape = tensor_type(vector).shape
    if shape is not None and len(shape) > 1:
        raise NotationError(f"expected a vector, found {vector.type}")
    return None if shape is None else shape[0] if shape else 1
