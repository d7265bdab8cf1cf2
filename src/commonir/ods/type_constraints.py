"""The type constraints that MLIR's definitions use, under MLIR's names.

Definitions use them as the types of operands and results: `lhs: Value = operand(FloatLike)`.

Source: MLIR, common type constraints.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from commonir.ir.types import (
    ComplexType,
    ElementType,
    FunctionType,
    MemRefType,
    NoneType,
    Signedness,
    TensorType,
    TupleType,
    Type,
    VectorType,
    element_named,
    index,
    integer_type,
    none,
    signedness_of,
)
from commonir.ir.types import is_signless as is_signless_element
from commonir.ods.patterns import TypeConstraint
from commonir.ods.type_rules import NO_SHAPE, element_of, shape_of

Admits = Callable[[Type], bool]


def is_integer(type: Type) -> bool:
    """Returns whether a type is an integer of any width and signedness, bools included."""
    return isinstance(type, ElementType) and type.kind in ("bool", "int", "uint")


def is_signless(type: Type) -> bool:
    """Returns whether a type is a signless integer."""
    return isinstance(type, ElementType) and is_signless_element(type)


def _has_sign(sign: Signedness) -> Admits:
    return lambda t: isinstance(t, ElementType) and is_integer(t) and signedness_of(t) == sign


def is_float(type: Type) -> bool:
    """Returns whether a type is a real floating-point type."""
    return isinstance(type, ElementType) and type.is_float


def has_value_semantics(type: Type) -> bool:
    """Returns whether a type is a tensor or a vector, but not a memref."""
    return isinstance(type, TensorType | VectorType)


def rank_of(type: Type) -> int | None:
    """Returns the rank of a container; None for other types and where it is unknown."""
    shape = shape_of(type)
    return len(shape) if isinstance(shape, tuple) else None


# -- combining


def _any(constraints: Sequence[TypeConstraint]) -> Admits:
    return lambda t: any(c.admits(t) for c in constraints)


def any_type_of(*allowed: TypeConstraint, summary: str = "") -> TypeConstraint:
    """Returns the union of several sets."""
    names = ", ".join([c.name for c in allowed])
    builds = allowed[0].builds if len(allowed) == 1 else None
    text = summary or " or ".join([c.summary for c in allowed])
    return TypeConstraint(f"AnyTypeOf<[{names}]>", text, _any(allowed), builds)


def all_of_type(*required: TypeConstraint, summary: str = "") -> TypeConstraint:
    """Returns the intersection of several sets."""
    names = ", ".join([c.name for c in required])
    text = summary or " and ".join([c.summary for c in required])
    return TypeConstraint(f"AllOfType<[{names}]>", text, lambda t: all(c.admits(t) for c in required))


def confined(base: TypeConstraint, holds: Admits, summary: str) -> TypeConstraint:
    """Returns the types of a set that satisfy a condition."""
    return TypeConstraint(f"ConfinedType<{base.name}>", summary, lambda t: base.admits(t) and holds(t))


def _container(name: str, summary: str, is_container: Admits, allowed: Sequence[TypeConstraint]) -> TypeConstraint:
    inner = any_type_of(*(allowed or (AnyType,)))
    names = ", ".join([c.name for c in allowed])
    return TypeConstraint(
        f"{name}<[{names}]>",
        f"{summary} of {inner.summary} values",
        lambda t: is_container(t) and inner.admits(element_of(t)),
    )


# -- scalars

AnyType = TypeConstraint("AnyType", "any type", lambda _: True)
NoneConstraint = TypeConstraint("NoneType", "none type", lambda t: isinstance(t, NoneType), none)
FunctionConstraint = TypeConstraint("FunctionType", "function type", lambda t: isinstance(t, FunctionType))
AnyInteger = TypeConstraint("AnyInteger", "integer", is_integer)
AnySignlessInteger = TypeConstraint("AnySignlessInteger", "signless integer", is_signless)
AnySignedInteger = TypeConstraint("AnySignedInteger", "signed integer", _has_sign("signed"))
AnyUnsignedInteger = TypeConstraint("AnyUnsignedInteger", "unsigned integer", _has_sign("unsigned"))
Index = TypeConstraint("Index", "index", lambda t: t is index, index)
AnySignlessIntegerOrIndex = TypeConstraint(
    "AnySignlessIntegerOrIndex", "signless integer or index", lambda t: t is index or is_signless(t)
)
AnyFloat = TypeConstraint("AnyFloat", "floating-point", is_float)
AnyComplex = TypeConstraint("AnyComplex", "complex-type", lambda t: isinstance(t, ComplexType))
AnyTuple = TypeConstraint("AnyTuple", "tuple", lambda t: isinstance(t, TupleType))

_PREFIXES: dict[Signedness, str] = {"signless": "I", "signed": "SI", "unsigned": "UI"}


def integer(width: int, sign: Signedness = "signless") -> TypeConstraint:
    """Returns the constraint to one integer type."""
    only = integer_type(width, sign)
    return TypeConstraint(f"{_PREFIXES[sign]}{width}", f"{width}-bit {sign} integer", lambda t: t is only, only)


def integers_of(*widths: int) -> TypeConstraint:
    """Returns the signless integers of the given widths."""
    allowed = [integer(w) for w in widths]
    return any_type_of(*allowed, summary=f"{'/'.join(map(str, widths))}-bit signless integer")


def any_integer_of(width: int) -> TypeConstraint:
    """Returns the integers of a width and any signedness."""
    return TypeConstraint(
        f"AnyI<{width}>",
        f"{width}-bit integer",
        lambda t: isinstance(t, ElementType) and is_integer(t) and t is integer_type(width, signedness_of(t)),
    )


I1, I8, I16, I32, I64, I128 = [integer(w) for w in (1, 8, 16, 32, 64, 128)]
SI1, SI8, SI16, SI32, SI64 = [integer(w, "signed") for w in (1, 8, 16, 32, 64)]
UI1, UI8, UI16, UI32, UI64 = [integer(w, "unsigned") for w in (1, 8, 16, 32, 64)]


def floating(name: str, summary: str) -> TypeConstraint:
    """Returns the constraint to one floating-point type."""
    only = element_named(name)
    return TypeConstraint(name.upper(), summary, lambda t: t is only, only)


F16, F32, F64, F80, F128 = [floating(f"f{w}", f"{w}-bit float") for w in (16, 32, 64, 80, 128)]
BF16, TF32 = floating("bf16", "bfloat16 type"), floating("tf32", "tf32 type")
NARROW_FLOATS = (
    "f8E4M3FN",
    "f8E5M2",
    "f8E4M3",
    "f8E4M3FNUZ",
    "f8E4M3B11FNUZ",
    "f8E5M2FNUZ",
    "f8E3M4",
    "f8E8M0FNU",
    "f4E2M1FN",
    "f6E2M3FN",
    "f6E3M2FN",
)
"""Floats of at most 8 bits by name."""
F8E4M3FN, F8E5M2, F8E4M3, F8E4M3FNUZ, F8E4M3B11FNUZ, F8E5M2FNUZ, F8E3M4, F8E8M0FNU, F4E2M1FN, F6E2M3FN, F6E3M2FN = [
    floating(name, f"{name} type") for name in NARROW_FLOATS
]


def complex_of(element: TypeConstraint) -> TypeConstraint:
    """Returns the complex types of elements of a set."""
    return TypeConstraint(
        f"Complex<{element.name}>",
        f"complex type with {element.summary} elements",
        lambda t: isinstance(t, ComplexType) and element.admits(t.part),
    )


# -- containers


def _or_container(name: str, scalar: TypeConstraint, summary: str) -> TypeConstraint:
    return TypeConstraint(name, summary, lambda t: scalar.admits(element_of(t) if has_value_semantics(t) else t))


BoolLike = _or_container("BoolLike", I1, "bool-like")
SignlessIntegerLike = _or_container("SignlessIntegerLike", AnySignlessInteger, "signless-integer")
SignlessIntegerOrIndexLike = _or_container(
    "SignlessIntegerOrIndexLike", AnySignlessIntegerOrIndex, "signless-integer-like"
)
FloatLike = _or_container("FloatLike", AnyFloat, "floating-point-like")
SignlessIntegerOrFloatLike = any_type_of(
    SignlessIntegerLike, FloatLike, summary="signless-integer-like or floating-point-like"
)
SignlessIntegerOrIndexOrFloatLike = any_type_of(
    SignlessIntegerOrIndexLike, FloatLike, summary="signless-integer-or-index-like or floating-point-like"
)


def type_or_container(allowed: TypeConstraint, summary: str) -> TypeConstraint:
    """Returns the types of a set, and tensors and vectors of these."""
    return _or_container(f"TypeOrValueSemanticsContainer<{allowed.name}>", allowed, summary)


def container_of(*allowed: TypeConstraint) -> TypeConstraint:
    """Returns the tensors and vectors of elements of these sets."""
    return _container("ValueSemanticsContainerOf", "container with value semantics", has_value_semantics, allowed)


def is_tensor(type: Type) -> bool:
    """Returns whether a type is a tensor, of known rank or not."""
    return isinstance(type, TensorType)


def is_ranked_tensor(type: Type) -> bool:
    """Returns whether a type is a tensor of known rank."""
    return isinstance(type, TensorType) and type.shape is not None


def tensor_of(*allowed: TypeConstraint) -> TypeConstraint:
    """Returns the tensors of known or unknown rank."""
    return _container("TensorOf", "tensor", is_tensor, allowed)


def ranked_tensor_of(*allowed: TypeConstraint) -> TypeConstraint:
    """Returns the tensors of known rank."""
    return _container("RankedTensorOf", "ranked tensor", is_ranked_tensor, allowed)


def unranked_tensor_of(*allowed: TypeConstraint) -> TypeConstraint:
    """Returns the tensors of unknown rank."""
    return _container(
        "UnrankedTensorOf", "unranked tensor", lambda t: isinstance(t, TensorType) and t.shape is None, allowed
    )


def tensor_rank_of(allowed: Sequence[TypeConstraint], ranks: Sequence[int]) -> TypeConstraint:
    """Returns the tensors of one of the given ranks."""
    summary = "/".join([f"{r}D" for r in ranks]) + " tensor"
    return _container("TensorRankOf", summary, lambda t: is_ranked_tensor(t) and rank_of(t) in ranks, allowed)


def static_shape_tensor_of(*allowed: TypeConstraint) -> TypeConstraint:
    """Returns the tensors of static shape."""
    return _container(
        "StaticShapeTensorOf", "statically shaped tensor", lambda t: isinstance(t, TensorType) and t.is_static, allowed
    )


AnyTensor = tensor_of(AnyType)
AnyRankedTensor = ranked_tensor_of(AnyType)
AnyUnrankedTensor = unranked_tensor_of(AnyType)
AnyStaticShapeTensor = static_shape_tensor_of(AnyType)
I1Tensor, I8Tensor, I16Tensor, I32Tensor, I64Tensor = [tensor_of(c) for c in (I1, I8, I16, I32, I64)]
BF16Tensor, F16Tensor, F32Tensor, F64Tensor = [tensor_of(c) for c in (BF16, F16, F32, F64)]
IndexTensor = tensor_of(Index)
AnyShaped = _container("AnyShaped", "shaped", lambda t: shape_of(t) is not NO_SHAPE, (AnyType,))


def is_vector(type: Type) -> bool:
    """Returns whether a type is a vector of any rank."""
    return isinstance(type, VectorType)


def _is_fixed(type: Type) -> bool:
    return isinstance(type, VectorType) and not any(type.scalable)


def vector_of(*allowed: TypeConstraint) -> TypeConstraint:
    """Returns the vectors of rank 0 or more."""
    return _container("VectorOfAnyRankOf", "vector", is_vector, allowed)


def nonzero_rank_vector_of(*allowed: TypeConstraint) -> TypeConstraint:
    """Returns the vectors of rank 1 or more."""
    return _container("VectorOfNonZeroRankOf", "vector", lambda t: is_vector(t) and (rank_of(t) or 0) > 0, allowed)


def fixed_vector_of(*allowed: TypeConstraint) -> TypeConstraint:
    """Returns the vectors that are not scalable."""
    return _container("FixedVectorOfAnyRank", "fixed-length vector", _is_fixed, allowed)


AnyVectorOfAnyRank = vector_of(AnyType)
AnyVectorOfNonZeroRank = nonzero_rank_vector_of(AnyType)
AnyFixedVectorOfAnyRank = fixed_vector_of(AnyType)


def is_memref(type: Type) -> bool:
    """Returns whether a type is a memref of known rank."""
    return isinstance(type, MemRefType) and type.shape is not None


def memref_of(*allowed: TypeConstraint) -> TypeConstraint:
    """Returns the memrefs of known rank."""
    return _container("MemRefOf", "memref", is_memref, allowed)


def unranked_memref_of(*allowed: TypeConstraint) -> TypeConstraint:
    """Returns the memrefs of unknown rank."""
    return _container(
        "UnrankedMemRefOf", "unranked.memref", lambda t: isinstance(t, MemRefType) and t.shape is None, allowed
    )


def any_memref_of(*allowed: TypeConstraint) -> TypeConstraint:
    """Returns the memrefs of known or unknown rank."""
    return _container(
        "RankedOrUnrankedMemRefOf", "ranked or unranked memref", lambda t: isinstance(t, MemRefType), allowed
    )


AnyMemRef = memref_of(AnyType)
AnyRankedOrUnrankedMemRef = any_memref_of(AnyType)


def tensor_or_memref(*allowed: TypeConstraint) -> TypeConstraint:
    """Returns the tensors and memrefs."""
    return _container(
        "TensorOrMemRef", "Tensor or MemRef", lambda t: is_tensor(t) or isinstance(t, MemRefType), allowed
    )


AnyTensorOrMemRef = tensor_or_memref(AnyType)
