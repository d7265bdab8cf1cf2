"""Base classes of the operations of the stablehlo dialect: types, enumerations, checks, and dims of core values.

Source: StableHLO specification, types and constants; StableHLO dialect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from typing import TypeVar

from commonir.base.diagnostics import Diagnostic
from commonir.dialects.lazy_core import core
from commonir.dialects.mlir.stablehlo.quantization import fits, quantization_of
from commonir.ir.attributes import ArrayAttr, Attribute, DialectAttr
from commonir.ir.operation import Value
from commonir.ir.types import (
    ComplexType,
    DialectType,
    ElementType,
    MemRefType,
    Shape,
    TensorType,
    TupleType,
    Type,
    boolean,
    i32,
    i64,
    index,
)
from commonir.notation import NotKnownError
from commonir.ods import MlirOp, TypeConstraint, attr_types, known_data, known_dims
from commonir.ods.attr_types import AttrType
from commonir.ods.fields import Check
from commonir.ods.mlir_attr_types import array_of, dialect_enumeration, numbered, typed_integer
from commonir.ods.type_constraints import is_float, is_integer
from commonir.ods.type_rules import TypeRule, Typing, are_compatible_shapes, element_of
from commonir.symbolic import Dim

# -- types

Admits = Callable[[Type], bool]
E = TypeVar("E", bound=Enum)

_WIDTHS = frozenset({2, 4, 8, 16, 32, 64})
TOKEN = DialectType("stablehlo", "token")


def _is_truth(type: Type) -> bool:
    return type is boolean


def is_number(type: Type) -> bool:
    """Returns whether a type is an integer of the widths that there are; bools are none."""
    if not is_integer(type) or type is boolean or not isinstance(type, ElementType):
        return False
    return type.bits in _WIDTHS and not str(type).startswith("si")


def is_signed_number(type: Type) -> bool:
    """Returns whether a type is an integer with a sign: one that states none."""
    return is_number(type) and not str(type).startswith("ui")


def is_complex(type: Type) -> bool:
    """Returns whether a type is a complex number of single or double precision."""
    return isinstance(type, ComplexType) and type.part.bits in (32, 64)


def is_quantized(type: Type) -> bool:
    """Returns whether a type is of the quant dialect: integers that stand for reals."""
    return isinstance(type, DialectType) and type.dialect == "quant"


def _is_per_axis(type: Type) -> bool:
    quantization = quantization_of(type)
    return quantization is not None and quantization.axis is not None


def _is_per_tensor(type: Type) -> bool:
    quantization = quantization_of(type)
    return quantization is not None and quantization.axis is None


def _any(*tests: Admits) -> Admits:
    return lambda t: any(test(t) for test in tests)


_FLOAT = ("4/6/8/16/32/64-bit float", is_float)
_INT = ("2/4/8/16/32/64-bit integer", is_number)
_SINT = ("2/4/8/16/32/64-bit signless integer", is_signed_number)
_PRED = ("bool", _is_truth)
_COMPLEX = ("complex type with 32/64-bit float elements", is_complex)
_QUANT = ("per-tensor integer quantized", _is_per_tensor)
_AXIS_QUANT = ("per-axis integer quantized", _is_per_axis)


def _is_dimension(type: Type) -> bool:
    return type is index or is_number(type)


_DIMENSION = ("index or 2/4/8/16/32/64-bit integer", _is_dimension)


Element = tuple[str, Admits]


def tensors(
    name: str,
    *elements: Element,
    rank: int | None = None,
    static: bool = False,
    bounded: bool = False,
    summary: str = "",
) -> TypeConstraint:
    """Tensors of known rank of some elements, perhaps of one rank or of sizes that are all stated, or have bounds; with
    `bounded`, at most one is dynamic.
    """
    test = _any(*[admits for _, admits in elements])
    words = " or ".join([text for text, _ in elements])

    def admits(type: Type) -> bool:
        if not isinstance(type, TensorType) or type.shape is None or not test(type.element):
            return False
        if (rank is not None and len(type.shape) != rank) or (is_quantized(type.element) and not fits(type)):
            return False
        if bounded and sum(not isinstance(d, int) for d in type.shape) > 1:
            return False
        return not static or _is_static_or_bounded(type)

    shown = summary or ("ranked tensor" if rank is None else f"{rank}D tensor")
    return TypeConstraint(name, f"{shown} of {words} values", admits)


def _is_static_or_bounded(type: TensorType) -> bool:
    return type.encoding is not None or all(isinstance(d, int) for d in type.shape or ())


_ALL = (_FLOAT, _PRED, _INT, _COMPLEX, _QUANT)
AnyHlo = tensors("HLO_Tensor", *_ALL)
AnyQuantizedToo = tensors("HLO_TensorOrPerAxisQuantizedTensor", *_ALL, _AXIS_QUANT)
StaticTensor = tensors(
    "HLO_StaticShapeTensorOrPerAxisQuantizedTensor", *_ALL, _AXIS_QUANT, static=True, summary="statically shaped tensor"
)
BoundedTensor = tensors(
    "HLO_StaticShapeTensorPerAxisQuantizedTensorOrBoundedTensor",
    *_ALL,
    _AXIS_QUANT,
    static=True,
    bounded=True,
    summary="statically shaped or single bounded dimension tensor",
)
StaticIotaTensor = tensors(
    "HLO_StaticShapeIntFpComplexOrQuantizedTensor",
    _INT,
    _FLOAT,
    _COMPLEX,
    _QUANT,
    static=True,
    summary="statically shaped tensor",
)
Truths = tensors("HLO_PredTensor", _PRED)
Integers = tensors("HLO_IntTensor", _INT)
ScalarInteger = tensors("HLO_ScalarIntTensor", _INT, rank=0)
Scalar = tensors("HLO_ScalarTensor", *_ALL, rank=0)
Floats = tensors("HLO_FpTensor", _FLOAT)
WideFloats = tensors("HLO_Fp32Or64Tensor", ("32/64-bit float", lambda t: is_float(t) and str(t) in ("f32", "f64")))
Complexes = tensors("HLO_ComplexTensor", _COMPLEX)
FloatsOrComplexes = tensors("HLO_FpOrComplexTensor", _FLOAT, _COMPLEX)
IntegersOrFloats = tensors("HLO_IntOrFpTensor", _INT, _FLOAT)
StaticIntegersOrFloats = tensors("HLO_StaticShapeIntOrFpTensor", _INT, _FLOAT, static=True)
TruthsOrIntegers = tensors("HLO_PredOrIntTensor", _PRED, _INT)
PredIntOrFloats = tensors("HLO_PredIntOrFpTensor", _PRED, _INT, _FLOAT)
ScalarPredIntOrFloat = tensors("HLO_ScalarPredIntOrFp", _PRED, _INT, _FLOAT, rank=0)
NonQuantized = tensors("HLO_NonQuantizedTensor", _FLOAT, _PRED, _INT, _COMPLEX)
FloatsOrQuantized = tensors("HLO_FpOrQuantizedIntTensor", _FLOAT, _QUANT)
Analytic = tensors("HLO_FpComplexOrQuantizedIntTensor", _FLOAT, _COMPLEX, _QUANT)
Numbers = tensors("HLO_IntFpOrComplexOrQuantizedIntTensor", _INT, _FLOAT, _COMPLEX, _QUANT)
SignedNumbers = tensors("HLO_SIntFpComplexOrQuantized", _SINT, _FLOAT, _COMPLEX, _QUANT)
SignedReals = tensors("HLO_SIntFpOrQuantized", _SINT, _FLOAT, _QUANT)
NormInput = tensors("HLO_BatchNormTensor", _FLOAT, _QUANT)
NormVector = tensors("HLO_BatchNorm1DTensor", _FLOAT, _QUANT, rank=1)
Sizes = tensors(
    "HLO_StaticDimensionTensor", _DIMENSION, rank=1, static=True, summary="statically shaped 1-dimensional tensor"
)
Positions = tensors("HLO_DimensionTensor", _DIMENSION, rank=1)
ScatterPositions = tensors("HLO_ScatterIndices", ("integer or index", lambda t: t is index or is_integer(t)))
StaticIntegers1D = tensors(
    "HLO_Static1DIntTensor", _INT, rank=1, static=True, summary="statically shaped 1-dimensional integer tensor"
)
StaticIntegers2D = tensors(
    "HLO_Static2DIntTensor", _INT, rank=2, static=True, summary="statically shaped 2-dimensional integer tensor"
)
Quantizable = tensors("HLO_FloatOrQuantizedIntTensor", _FLOAT, _QUANT, _AXIS_QUANT)
Quantized = tensors("HLO_QuantizedIntOrPerAxisQuantizedIntTensor", _QUANT, _AXIS_QUANT)
I32Tensor = tensors("I32RankedTensor", ("32-bit signless integer", lambda t: t is i32))
UI32Tensor = tensors("UI32RankedTensor", ("32-bit unsigned integer", lambda t: str(t) == "ui32"))


def is_token(type: Type) -> bool:
    """Returns whether a type is that of tokens, which order effects."""
    return type is TOKEN


def is_future(type: Type) -> bool:
    """Returns whether a type is that of what an operation that still runs will give."""
    return isinstance(type, DialectType) and (type.dialect, type.mnemonic) == ("stablehlo", "future")


def _is_buffer(type: Type) -> bool:
    return isinstance(type, MemRefType)


def _is_tensor(type: Type) -> bool:
    return AnyQuantizedToo.admits(type)


def _is_tuple(type: Type) -> bool:
    pending = [type]
    while pending:
        at = pending.pop()
        if isinstance(at, TupleType):
            pending += at.elements
        elif at is type or not (_is_tensor(at) or _is_buffer(at) or is_token(at)):
            return False
    return True


def _is_any_tensor(type: Type) -> bool:
    return isinstance(type, TensorType) and _any(*[a for _, a in (*_ALL, _AXIS_QUANT)])(type.element)


Token = TypeConstraint("HLO_Token", "token", is_token, TOKEN)
Future = TypeConstraint("HLO_Future", "future", is_future)
Tuple = TypeConstraint("HLO_Tuple", "nested tuple", _is_tuple)
Carried = TypeConstraint(
    "HLO_TensorOrPerAxisQuantizedTensorOrTokenOrBuffer",
    "tensor, token or buffer",
    _any(_is_tensor, is_token, _is_buffer),
)
StaticOrToken = TypeConstraint(
    "HLO_StaticShapeTensorOrPerAxisQuantizedTensorOrToken",
    "statically shaped tensor or token",
    _any(StaticTensor.admits, is_token),
)
TensorOrToken = TypeConstraint("HLO_TensorOrToken", "tensor or token", _any(AnyHlo.admits, is_token))
Held = TypeConstraint(
    "HLO_TensorOrPerAxisQuantizedTensorOrTokenOrTupleOrBuffer",
    "tensor, token, nested tuple or buffer",
    _any(_is_tensor, is_token, _is_buffer, _is_tuple),
)
TensorTokenOrTuple = TypeConstraint(
    "HLO_TensorOrPerAxisQuantizedTensorOrTokenOrTuple",
    "tensor, token or nested tuple",
    _any(_is_tensor, is_token, _is_tuple),
)
CustomCallValue = TypeConstraint(
    "HLO_CustomCallValue",
    "tensor, buffer, token, nested tuple or future",
    _any(_is_any_tensor, _is_buffer, is_token, _is_tuple, is_future),
)

# -- attributes

STABLEHLO = "stablehlo"


class ComparisonDirection(Enum):
    """Comparisons of two values."""

    EQ = "EQ"
    NE = "NE"
    GE = "GE"
    GT = "GT"
    LE = "LE"
    LT = "LT"


class ComparisonType(Enum):
    """The number format in which values are compared."""

    NOTYPE = "NOTYPE"
    FLOAT = "FLOAT"
    TOTALORDER = "TOTALORDER"
    SIGNED = "SIGNED"
    UNSIGNED = "UNSIGNED"


class Precision(Enum):
    """Precision of the products of an operand: a hint, which changes nothing here."""

    DEFAULT = "DEFAULT"
    HIGH = "HIGH"
    HIGHEST = "HIGHEST"


class FftType(Enum):
    """Kinds of Fourier transforms."""

    FFT = "FFT"
    IFFT = "IFFT"
    RFFT = "RFFT"
    IRFFT = "IRFFT"


class Transposition(Enum):
    """Uses of a matrix: as it is, transposed, or transposed and conjugated."""

    TRANSPOSE_INVALID = "TRANSPOSE_INVALID"
    NO_TRANSPOSE = "NO_TRANSPOSE"
    TRANSPOSE = "TRANSPOSE"
    ADJOINT = "ADJOINT"


class RngDistribution(Enum):
    """Distributions of random numbers."""

    UNIFORM = "UNIFORM"
    NORMAL = "NORMAL"


class RngAlgorithm(Enum):
    """Generators of random bits."""

    DEFAULT = "DEFAULT"
    THREE_FRY = "THREE_FRY"
    PHILOX = "PHILOX"


class ApiVersion(Enum):
    """Calling conventions of foreign functions."""

    UNSPECIFIED = "API_VERSION_UNSPECIFIED"
    ORIGINAL = "API_VERSION_ORIGINAL"
    STATUS_RETURNING = "API_VERSION_STATUS_RETURNING"
    STATUS_RETURNING_UNIFIED = "API_VERSION_STATUS_RETURNING_UNIFIED"
    TYPED_FFI = "API_VERSION_TYPED_FFI"


def _worded(cases: type[E], mnemonic: str, dialect: str = STABLEHLO) -> AttrType[E]:
    """An enumeration that is stored as `#dialect<mnemonic CASE>`; a form says the word."""
    kind = dialect_enumeration(cases, dialect, mnemonic=mnemonic)
    words = kind.cases
    return AttrType(
        kind.name, kind.coerce, kind.to_attribute, kind.from_attribute, cases=words, spelled=lambda v: str(v.value)
    )


comparison_direction = _worded(ComparisonDirection, "comparison_direction")
comparison_type = _worded(ComparisonType, "comparison_type")
precision = _worded(Precision, "precision")
fft_type = _worded(FftType, "fft_type")
transposition = _worded(Transposition, "transpose")
rng_distribution = _worded(RngDistribution, "rng_distribution")
rng_algorithm = _worded(RngAlgorithm, "rng_algorithm")
api_version = numbered(ApiVersion, i32)


def precisions_of(dialect: str) -> AttrType[tuple[Precision, ...]]:
    """Returns the attribute type of how exact products are to be, for each operand."""
    one = _worded(Precision, "precision", dialect)

    def precisions(attr: Attribute) -> tuple[Precision, ...]:
        if not isinstance(attr, ArrayAttr):
            raise ValueError(f"expected an array of precisions, found {attr!r}")
        return tuple([one.from_attribute(v) for v in attr.values])

    return AttrType(
        "precisions",
        attr_types.sequence_of(one.coerce, "precisions"),
        lambda v: ArrayAttr(tuple([one.to_attribute(p) for p in v])),
        precisions,
    )


precision_config = precisions_of(STABLEHLO)

axes = array_of(i64)
flags = attr_types.flags
axis = typed_integer(i64)
small = typed_integer(i32)


def _dialect_attribute(value: object) -> Attribute:
    if not isinstance(value, DialectAttr):
        raise ValueError(f"expected an attribute of this dialect, found {value!r}")
    return value


dialect_attribute: AttrType[Attribute] = AttrType(
    "attribute of the dialect", _dialect_attribute, _dialect_attribute, _dialect_attribute
)
"""An attribute that means nothing here and is kept as it is."""

distinct = Check("without repetitions", lambda v: len(set(v)) == len(v))


def _numbers(value: int | tuple[int, ...]) -> tuple[int, ...]:
    return value if isinstance(value, tuple) else (value,)


positive = Check("positive", lambda v: all(n > 0 for n in _numbers(v)))
non_negative = Check("at least 0", lambda v: all(n >= 0 for n in _numbers(v)))

# -- traits


def _operand_types(typing: Typing) -> list[Type]:
    return typing.all((*typing.operands, *typing.results))


def _elements_agree(a: Type, b: Type) -> bool:
    first, second = quantization_of(a), quantization_of(b)
    if first is not None and second is not None:
        return all(getattr(first, part) == getattr(second, part) for part in ("storage", "bounds", "expressed"))
    return element_of(a) is element_of(b)


def _compatible_types(typing: Typing) -> Iterator[str]:
    types = _operand_types(typing)
    for t in types[1:]:
        if not _elements_agree(types[0], t) or not are_compatible_shapes(types[0], t):
            yield f"requires compatible types for all operands and results, found {types[0]} and {t}"
            return


def _spread(typing: Typing) -> None:
    known = next((t for n in (*typing.operands, *typing.results) if (t := typing.of(n)) is not None), None)
    if known is not None:
        for n in (*typing.operands, *typing.results):
            typing.set_default(n, known)


CompatibleTypes = TypeRule(
    "CompatibleOperandsAndResultType",
    "its operands and results have one type, but for sizes that are not stated",
    _compatible_types,
    _spread,
)


def _compatible_elements(typing: Typing) -> Iterator[str]:
    types = _operand_types(typing)
    for t in types[1:]:
        if not _elements_agree(types[0], t):
            yield f"requires compatible element types for all operands and results, found {types[0]} and {t}"
            return


CompatibleElements = TypeRule(
    "CompatibleOperandsAndResultElementType", "its operands and results have one element type", _compatible_elements
)


def _compatible_operands(typing: Typing) -> Iterator[str]:
    types = typing.all(typing.operands)
    for t in types[1:]:
        if not _elements_agree(types[0], t):
            yield f"requires compatible element types for all operands, found {types[0]} and {t}"
            return


CompatibleOperandElements = TypeRule(
    "CompatibleOperandsElementType", "its operands have one element type", _compatible_operands
)

# -- operations

FUNCTIONAL = "operands attr-dict `:` functional-type(operands, results)"


NO_SHAPE: Shape = ()
"""Stands for the shape of what has none."""


class HloOp(MlirOp):
    """Base of the operations of the stablehlo dialect."""

    def check_result(self, expected: Shape | None, number: int = 0) -> Iterator[Diagnostic]:
        """Yields diagnostics of what contradicts the shape of a result."""
        if expected is None:
            return
        declared = self.results[number].type
        if not are_compatible_shapes(declared, TensorType(boolean, expected)):
            yield self.violated(
                f"inferred shape {shape_text(expected)} is incompatible with the result type {declared} "
                "of the operation"
            )

    def check_sizes_given(self, sizes: Value) -> Iterator[Diagnostic]:
        """Yields diagnostics where the dims of the result are known to differ from those of a list."""
        given = numbers_given(sizes)
        if given is not None and any(n < 0 for n in given):
            yield self.violated(f"output shape {list(given)} is incompatible with the type {self.results[0].type}")
        else:
            yield from self.check_result(given)


def numbers_given(sizes: Value) -> tuple[int, ...] | None:
    """The integers of a value that is known; None of any other."""
    data = known_data(sizes)
    return None if data is None else tuple([int(v) for v in data.values() if isinstance(v, int)])


def shape_text(shape: Iterable[Dim | None]) -> str:
    """A shape as messages show it."""
    return f"[{', '.join(['?' if d is None else str(d) for d in shape])}]"


def stated_shape(value: Value) -> Shape | None:
    """The shape of a tensor as the program says it; None where it does not."""
    return value.type.shape if isinstance(value.type, TensorType) else None


def shape_of(value: Value) -> Shape:
    """The shape of a tensor as the program says it, of what is not a tensor that of a single number."""
    return stated_shape(value) or NO_SHAPE


def rank_of(value: Value) -> int:
    """The number of axes of a tensor as the program says it, of what is not a tensor 0."""
    return len(stated_shape(value) or ())


def element(value: Value | Type) -> Type:
    """The element type of a tensor."""
    return element_of(value.type if isinstance(value, Value) else value)


def like(type: Type, shape: Shape | None, element: Type | None = None) -> Type:
    """A tensor type of the elements of another one, or of others."""
    element_type = element_of(type) if element is None else element
    assert isinstance(element_type, ElementType)
    return TensorType(element_type, shape)


# -- values of the core


def kind_of(value: Value) -> ElementType:
    """The element type of a value of the core."""
    return core.tensor_type(value).element


def sizes_in(value: Value) -> tuple[Dim, ...]:
    """The elements of a list of sizes. Raises: NotKnownError when they are not known."""
    result = known_dims(value)
    if result is None:
        result = numbers_given(value)
    if result is None:
        raise NotKnownError("a shape that is computed is not known before running")
    return result


def numbers_in(value: Value) -> tuple[int, ...]:
    """The elements of a list of numbers. Raises: NotKnownError when they are not known."""
    given = numbers_given(value)
    if given is not None:
        return given
    result = [d for d in known_dims(value) or (None,) if isinstance(d, int)]
    if len(result) != len(known_dims(value) or (None,)):
        raise NotKnownError("numbers that are computed are not known before running")
    return tuple(result)


def known_scalar(value: Value) -> float | None:
    """The only element of a constant; None when it is not known."""
    data = known_data(value)
    if data is None or data.count == 0:
        return None
    result = data.values()
    first = result[0]
    if not isinstance(first, int | float) or any(v != first for v in result[1:]):
        return None
    return first


def splat(value: float, element: ElementType) -> Value:
    """A number as a constant of rank 0."""
    return core.scalar(value, element)


def filled(value: Value, shape: Sequence[Dim]) -> Value:
    """A tensor whose elements are one number."""
    return core.broadcast_to(value, tuple(shape))


def transposed(x: Value, permutation: Sequence[int]) -> Value:
    """A tensor with its axes in another order; itself when the order is the same."""
    return x if list(permutation) == sorted(permutation) else core.transpose(x, tuple(permutation))


def reshaped(x: Value, shape: Sequence[Dim]) -> Value:
    """A tensor in another shape; itself when it has that."""
    return x if core.tensor_type(x).shape == tuple(shape) else core.reshape(x, tuple(shape))


_BYTE_BITS = 8


def converted(x: Value, expected: ElementType) -> Value:
    """A tensor with elements of another type; of integers that do not fit the low bits are left."""
    if expected.is_integer and expected.bits < _BYTE_BITS and kind_of(x) is not expected:
        # Casts to whole bytes leave them by themselves.
        return core.narrow_cast(x, expected)
    return x if kind_of(x) is expected else core.cast(x, expected)
