"""Base classes of the operations of the tosa dialect: types, attributes, broadcasting, and the text of enumerations.

Source: MLIR tosa dialect; TOSA specification 1.0, operator arguments and broadcast rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from typing import ClassVar

from commonir.ir.attributes import Attribute, BoolAttr, EnumAttr, FloatAttr, IntegerAttr, StringAttr, UnitAttr
from commonir.ir.data import Data
from commonir.ir.operation import Operation, Value
from commonir.ir.quantized import quantized_of
from commonir.ir.types import DialectType, ElementType, Shape, TensorType, Type, VectorType, i32, i64, integer_type
from commonir.ods import MlirOp, TypeConstraint, attr_types, known_data, known_dims
from commonir.ods.attr_types import AttrType
from commonir.ods.broadcasting import broadcast_dims
from commonir.ods.mlir_attr_types import array_of, dialect_enumeration, typed_integer
from commonir.ods.own_forms import own_forms
from commonir.ods.text_form import ExtendsAssembly, FormReader, FormTask, FormWriter
from commonir.ods.traits import Pure, Trait
from commonir.ods.type_constraints import is_float, is_integer, is_signless
from commonir.ods.type_rules import element_of
from commonir.symbolic import Dim
from commonir.symbolic.errors import NotKnownError

FUNCTIONAL = "operands attr-dict `:` functional-type(operands, results)"

# -- types


def is_number(type: Type) -> bool:
    """Returns whether a type may be that of the elements of a tensor."""
    return (is_integer(type) and not str(type).startswith("si")) or is_float(type) or is_quantized(type)


def is_quantized(type: Type) -> bool:
    """Returns whether elements are of a type of the quant dialect, or the 8-bit block format that this dialect
    names.
    """
    return isinstance(type, DialectType) and (
        type.dialect == "quant" or (type.dialect, type.mnemonic) == ("tosa", "mxint8")
    )


def _has_no_empty_axis(shape: Shape) -> bool:
    return all(d != 0 for d in shape)


def tensors(
    name: str,
    summary: str,
    element: Callable[[Type], bool] = is_number,
    shape: Callable[[Shape], bool] = lambda _: True,
    unranked: Callable[[Type], bool] = is_number,
) -> TypeConstraint:
    """Tensors without empty axes of some elements and shapes; `unranked`: elements of those of unknown rank."""

    def admits(type: Type) -> bool:
        if not isinstance(type, TensorType):
            return False
        if type.shape is None:
            return unranked(type.element)
        return element(type.element) and _has_no_empty_axis(type.shape) and shape(type.shape)

    return TypeConstraint(name, summary, admits)


def _rank(*allowed: int) -> Callable[[Shape], bool]:
    return lambda shape: len(shape) in allowed


def _one_element(shape: Shape) -> bool:
    return shape == (1,)


def _int_or_float(type: Type) -> bool:
    return is_number(type) and not is_quantized(type)


def _width(*bits: int) -> Callable[[Type], bool]:
    # The element type of bools is an integer of 1 bit, however many it takes in memory.
    allowed = frozenset([integer_type(n) for n in bits])
    return lambda t: t in allowed


AnyTosaTensor = tensors("Tosa_Tensor", "tosa-conformant tensor of number values")
AtLeast1D = tensors("Tosa_TensorAtLeast1D", "tosa-conformant tensor of at least rank 1", shape=lambda s: len(s) > 0)
Tensor1D, Tensor3D, Tensor4D, Tensor5D = [
    tensors(f"Tosa_Tensor{n}D", f"{n}-d tosa-conformant tensor", shape=_rank(n)) for n in (1, 3, 4, 5)
]


def _is_truth(type: Type) -> bool:
    return str(type) == "i1"


TruthTensor = tensors(
    "Tosa_I1Tensor", "tosa-conformant tensor of 1-bit signless integer values", _is_truth, unranked=_is_truth
)
FloatTensor = tensors(
    "Tosa_FloatTensor", "tosa-conformant tensor of floating-point values", is_float, unranked=is_float
)
WideIntegerTensor = tensors(
    "Tosa_Int32Or64Tensor",
    "tosa-conformant tensor of 32-bit signless integer or 64-bit signless integer values",
    _width(32, 64),
    unranked=_width(32, 64),
)
IndexTensor2D = tensors(
    "Tosa_IndexTensor2D",
    "tosa-conformant 2D tensor of 32-bit signless integer or 64-bit signless integer values",
    _width(32, 64),
    _rank(2),
)
_SCALAR = "tosa-conformant scalar tensor of {} values"
ScalarInt8 = tensors(
    "Tosa_ScalarInt8Tensor", _SCALAR.format("8-bit signless integer"), _width(8), _one_element, _width(8)
)
ScalarInt32 = tensors(
    "Tosa_ScalarInt32Tensor", _SCALAR.format("32-bit signless integer"), _width(32), _one_element, _width(32)
)
ScalarNumber = tensors("Tosa_ScalarTensor", _SCALAR.format("number"), shape=_one_element, unranked=_int_or_float)
ZeroPoint = tensors(
    "Tosa_ScalarIntOrFloatTensor",
    _SCALAR.format("unsigned integer or signless integer or floating-point"),
    _int_or_float,
    _one_element,
    _int_or_float,
)


def _vector_of(bits: tuple[int, ...]) -> Callable[[Type], bool]:
    return lambda t: (
        isinstance(t, TensorType) and t.shape is not None and len(t.shape) == 1 and _width(*bits)(t.element)
    )


Multipliers = TypeConstraint(
    "Tosa_1DInt16Or32Tensor",
    "1D tensor of 16-bit signless integer or 32-bit signless integer values",
    _vector_of((16, 32)),
)
Shifts = TypeConstraint("Tosa_1DInt8Tensor", "1D tensor of 8-bit signless integer values", _vector_of((8,)))

_BLOCK_FLOATS = frozenset({"f8E4M3FN", "f8E5M2", "f4E2M1FN", "f6E2M3FN", "f6E3M2FN", "!tosa.mxint8"})


def _is_block_number(type: Type) -> bool:
    return str(type) in _BLOCK_FLOATS


def _is_block_scale(type: Type) -> bool:
    return str(type) == "f8E8M0FNU"


BlockData = tensors(
    "Tosa_MXFPDataTensorAtLeast1D",
    "tosa-conformant tensor of at least rank 1",
    _is_block_number,
    lambda s: len(s) > 0,
    _is_block_number,
)
BlockScale = tensors(
    "Tosa_MXFPScaleTensorAtLeast1D",
    "tosa-conformant tensor of at least rank 1",
    _is_block_scale,
    lambda s: len(s) > 0,
    _is_block_scale,
)
BlockData3D = tensors(
    "Tosa_MXFPDataTensor3D",
    "tosa-conformant 3D tensor of micro-scaling format number values",
    _is_block_number,
    _rank(3),
    _is_block_number,
)
BlockScale3D = tensors(
    "Tosa_MXFPScaleTensor3D",
    "tosa-conformant 3D tensor of micro-scaling format scale number values",
    _is_block_scale,
    _rank(3),
    _is_block_scale,
)


def shape_type(rank: int) -> DialectType:
    """The type of a list of `rank` sizes: `!tosa.shape<2>`."""
    return DialectType("tosa", "shape", str(rank))


def shape_rank(type: Type) -> int | None:
    """Returns the number of dims of a shape type; None for other types."""
    if not isinstance(type, DialectType) or (type.dialect, type.mnemonic) != ("tosa", "shape"):
        return None
    return int(type.body) if type.body is not None and type.body.isdecimal() else None


def _shapes(name: str, summary: str, rank: int | None = None) -> TypeConstraint:
    return TypeConstraint(
        name, summary, lambda t: (found := shape_rank(t)) is not None and (rank is None or found == rank)
    )


AnyShape = _shapes("Tosa_Shape", "Shape with static rank and Index element type")
Shape2 = _shapes("Rank2TosaShape", "Tosa shape type of rank 2", 2)
Shape4 = _shapes("Rank4TosaShape", "Tosa shape type of rank 4", 4)


def _scalar_or_container(name: str, summary: str, admits: Callable[[Type], bool]) -> TypeConstraint:
    def holds(type: Type) -> bool:
        match type:
            case VectorType(element=element, shape=shape):
                return bool(shape) and admits(element)
            case TensorType(element=element, shape=shape):
                return admits(element) and (shape is None or _has_no_empty_axis(shape))
            case _:
                return admits(type)

    return TypeConstraint(name, summary, holds)


def _is_integer(type: Type) -> bool:
    return is_signless(type) or str(type).startswith("ui")


IntegerLike = _scalar_or_container("Tosa_IntLike", "signless-integer-like", _is_integer)
Int8Like = _scalar_or_container("Tosa_Int8Like", "signless-integer-8-bit-like", _width(8))

# -- attributes


class NanMode(Enum):
    """NaN handling: propagate NaN, or ignore it."""

    PROPAGATE = "PROPAGATE"
    IGNORE = "IGNORE"


class RoundingMode(Enum):
    """Rounding of a scaled number."""

    SINGLE_ROUND = "SINGLE_ROUND"
    INEXACT_ROUND = "INEXACT_ROUND"
    DOUBLE_ROUND = "DOUBLE_ROUND"


class ResizeMode(Enum):
    """Interpolation between the elements of the input."""

    NEAREST_NEIGHBOR = "NEAREST_NEIGHBOR"
    BILINEAR = "BILINEAR"


class BlockSize(Enum):
    """Number of elements that share a scale."""

    BLOCK_SIZE_32 = "BLOCK_SIZE_32"


nan_mode = dialect_enumeration(NanMode, "tosa.nan_mode")
rounding_mode = dialect_enumeration(RoundingMode, "tosa.rounding_mode")
resize_mode = dialect_enumeration(ResizeMode, "tosa.resize_mode")
block_size = dialect_enumeration(BlockSize, "tosa.block_size")
OWN = own_forms(
    nan_mode, rounding_mode, resize_mode, block_size, attributes="pad_quant target_env", types="mxint8 shape"
)
axis = typed_integer(i32)
sizes = array_of(i64)
permutation = array_of(i32)


def _to_number(value: object) -> Attribute:
    if not isinstance(value, IntegerAttr | FloatAttr | BoolAttr):
        raise ValueError(f"expected an integer or a float with its type, found {value!r}")
    return value


number: AttrType[Attribute] = AttrType("number", _to_number, _to_number, _to_number)
"""A number with its type."""

# -- operations


def _unresolvable(op: Operation) -> Iterator[str]:
    for v in op.operands:
        if shape_rank(v.type) is None:
            continue
        owner = v.owner
        if owner is not None and not (isinstance(owner, TosaOp) and shape_rank(owner.results[0].type) is not None):
            yield "shape operand is not compile time resolvable"
            return


ResolvableShapeOperands = Trait(
    "TosaResolvableShapeOperands", "operations of this dialect compute the lists of sizes that it takes", _unresolvable
)


class TosaOp(MlirOp, traits=(Pure, ResolvableShapeOperands), assembly=FUNCTIONAL):
    """Base of the operations of the tosa dialect. Constants of one number are computed where `folds_splats` says so."""

    folds_splats: ClassVar[bool] = False

    def folds(self, operands: Sequence[Data]) -> bool:
        return self.folds_splats and all(d.splat() is not None for d in operands)


def stated_shape(value: Value) -> Shape | None:
    """The shape of a tensor as the program says it; None where it does not."""
    return value.type.shape if isinstance(value.type, TensorType) else None


def element(value: Value | Type) -> ElementType:
    """The element type of a tensor."""
    type = value.type if isinstance(value, Value) else value
    result = element_of(type)
    assert isinstance(result, ElementType)
    return result


def stored_element(value: Value) -> ElementType:
    """Returns the type that stores the elements of a value: of quantized ones, that of the integers."""
    quantized = quantized_of(element(value))
    return element(value) if quantized is None else integer_type(quantized.bits)


def tensor_like(element_type: ElementType, shape: Shape | None) -> TensorType:
    """A tensor type."""
    return TensorType(element_type, shape)


def numbers_in(value: Value) -> tuple[Dim, ...]:
    """The elements of a list of sizes. Raises: NotKnownError when they are not known."""
    result = known_dims(value)
    if result is None:
        raise NotKnownError("a shape that is computed is not known before running")
    return result


def integers_in(value: Value) -> tuple[int, ...]:
    """The elements of a list of sizes, which are numbers. Raises: NotKnownError when they are not known."""
    result = [d for d in numbers_in(value) if isinstance(d, int)]
    if len(result) != len(numbers_in(value)):
        raise NotKnownError("a shape depends on sizes that are not known before running")
    return tuple(result)


def known_number(value: Value) -> float | None:
    """The only element of a constant; None when it is not known."""
    data = known_data(value)
    if data is None or data.count != 1:
        return None
    result = data.values()[0]
    return result if isinstance(result, int | float) else None


def known_integers(value: Value) -> tuple[int, ...] | None:
    """The elements of a list of sizes that a program states; None where it does not."""
    result = known_dims(value)
    numbers = [] if result is None else [d for d in result if isinstance(d, int)]
    return tuple(numbers) if result is not None and len(numbers) == len(result) else None


# -- broadcasting


def broadcast(shapes: Sequence[Shape | None]) -> Shape | None:
    """The shape of what is computed from tensors element by element; None when a rank is unknown or sizes differ."""
    known = [s for s in shapes if s is not None]
    return broadcast_dims(known) if len(known) == len(shapes) and len({len(s) for s in known}) == 1 else None


# -- text


class EnumForm(ExtendsAssembly):
    """Operands, a dictionary in which cases of enumerations are words, a colon and a function type."""

    def read(self, reader: FormReader) -> FormTask:
        uses = reader.uses()
        attributes = _read_entries(reader)
        reader.expect(":")
        type = reader.function_type()
        values = reader.resolve_all(uses, type.inputs)
        fields = reader.definition.layout.inputs
        if len(values) != len(fields):
            reader.fail(f"expected {len(fields)} operands, found {len(values)}")
        arguments = {f.name: v for f, v in zip(fields, values, strict=True)}
        return reader.make(arguments, type.results, attributes)
        yield  # makes it a generator, as forms with regions are

    def write(self, writer: FormWriter) -> None:
        op = writer.op
        writer.write(f" {writer.values(op.operands)}")
        entries = ", ".join(_entries(writer))
        if entries:
            writer.write(f" {{{entries}}}")
        results = writer.result_types([r.type for r in op.results])
        writer.write(f" : ({writer.types([v.type for v in op.operands])}) -> {results}")


def _read_entries(reader: FormReader) -> dict[str, Attribute]:
    fields = {f.spelling: f for f in reader.definition.layout.attributes}
    out: dict[str, Attribute] = {}

    def entry() -> None:
        at = reader.position
        key = reader.keyword()
        field = fields.get(key)
        if key in out:
            reader.fail(f"attribute '{key}' is given twice", at=at)
        reader.expect("=")
        is_word = field is not None and field.type is not None and bool(field.type.cases)
        out[key] = StringAttr(reader.keyword()) if is_word else reader.attribute()

    if reader.take("{"):
        reader.separated(entry, "}")
    return out


def _entries(writer: FormWriter) -> Iterator[str]:
    op = writer.op
    fields = {f.spelling: f for f in op.layout.attributes}
    for key, value in sorted(op.attribute_dictionary.items()):
        field = fields.get(key)
        if field is None or field.type is None or not field.type.cases:
            yield f"{key} = {'unit' if isinstance(value, UnitAttr) else writer.attribute(value)}"
            continue
        stored = op.field_value(field)
        if field.is_required or stored is not field.default:
            yield f"{key} = {field.type.spelled(stored) if field.type.spelled else _word(value)}"


def _word(value: Attribute) -> str:
    return value.keyword if isinstance(value, EnumAttr) else str(value)


flag = attr_types.flag
