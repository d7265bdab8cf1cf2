"""Our definition of an operation, against its TableGen record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from commonir import tablegen
from commonir.ir.types import Type
from commonir.ods import Dialects, Op
from commonir.ods.fields import MISSING, Field, FieldKind
from commonir.ods.from_records import loaded
from commonir.ods.patterns import TypeConstraint
from commonir.text.parser import parse_module

from tests.ods.from_records.conformance import FILES
from tests.tablegen.oracle import mlir_include

_ELEMENTS = (
    "i1", "i4", "i8", "i16", "i32", "i48", "i64", "si8", "ui8", "index", "f16", "bf16", "f32", "f64", "tf32", "f80",
    "f8E4M3FN", "f8E5M2", "f8E8M0FNU", "f4E2M1FN", "f6E2M3FN", "f6E3M2FN", "complex<f32>", "complex<f64>",
    "complex<i32>", "!quant.uniform<i8:f32, 2.0:1>", "!quant.uniform<i4:f32, 2.0:1>", "!tosa.mxint8", "!shape.size",
)  # fmt: skip
_SHAPES = ("", "1x", "4x", "?x", "0x", "2x3x", "1x1x", "?x3x", "1x2x3x", "1x2x3x4x", "1x2x3x4x5x", "1x2x3x4x5x6x", "*x")
_OTHERS = (
    "none", "tuple<i32, f32>", "() -> ()", "(i32) -> i32", "!shape.shape", "!shape.witness", "!shape.value_shape",
    "!ml_program.token", "!other.thing", "!tosa.shape<0>", "!tosa.shape<1>", "!tosa.shape<2>", "!tosa.shape<4>",
    "vector<4xf32>", "vector<f32>", "vector<2x3xi32>", "vector<[4]xf32>", "vector<4xindex>", "vector<4xi1>",
    "memref<4xf32, strided<[2]>>", "memref<4xf32, affine_map<(d0) -> (d0 * 2)>>", "memref<4xi32, 1>",
    'tensor<4xf32, "encoding">',
)  # fmt: skip


@cache
def types() -> Sequence[Type]:
    """Types of all sorts."""
    texts = [*(e for e in _ELEMENTS), *_OTHERS]
    texts += [
        f"{c}<{s}{e}>" for c in ("tensor", "memref") for s in _SHAPES for e in _ELEMENTS if c == "tensor" or e[0] != "!"
    ]
    arguments = ", ".join([f"%{n}: {t}" for n, t in enumerate(texts)])
    program = parse_module(f'"test.op"() ({{\n^bb0({arguments}):\n}}) : () -> ()', Dialects())
    holder = next(iter(program.nested()))
    return [a.type for a in holder.regions[0].blocks[0].arguments]


@cache
def from_records(dialect: str) -> dict[str, type[Op]]:
    """The definitions of a dialect as its records alone state them."""
    root, sources = mlir_include(), tablegen.Sources()
    out: dict[str, type[Op]] = {}
    for name in FILES[dialect]:
        records = tablegen.load(root / f"mlir/{name}.td", [str(root)], sources=sources)
        result = loaded(records, Dialects(discover=False)).definitions.values()
        out |= {d.name: d for d in result if d.name.startswith(f"{dialect}.")}
    return out


def differences(own: type[Op], declared: type[Op]) -> Iterator[str]:
    """In what a definition of ours differs from that of a record: fields, bounds, defaults, sets of types, traits."""
    for kind in (FieldKind.OPERAND, FieldKind.RESULT, FieldKind.REGION, FieldKind.SUCCESSOR):
        ours, theirs = _of(own, kind), _of(declared, kind)
        shapes = [[(f.variadic, f.optional) for f in fields] for fields in (ours, theirs)]
        if kind is FieldKind.REGION:
            shapes = [[many for many, _ in shape] for shape in shapes]
        if shapes[0] != shapes[1]:
            yield f"{kind.name.lower()}s: {_shown(ours)}, the record has {_shown(theirs)}"
            continue
        for a, b in zip(ours, theirs, strict=True):
            yield from _types_that_differ(a, b)
    yield from _attributes_that_differ(own, declared)
    ours, theirs = ({t.name for t in d.traits} & _TRAITS for d in (own, declared))
    if ours != theirs:
        yield f"traits: {sorted(ours - theirs)} here only, {sorted(theirs - ours)} in the record only"


_TRAITS = frozenset({
    "Pure", "Commutative", "Elementwise", "Terminator", "IsolatedFromAbove", "ConstantLike", "SymbolTable", "Symbol",
    "SameVariadicOperandSize", "SameOperandsAndResultType", "SameTypeOperands", "SameOperandsShape",
    "SameOperandsAndResultShape", "SameOperandsElementType", "SameOperandsAndResultElementType",
    "SameOperandsAndResultRank",
})  # fmt: skip
"""Traits that definitions here state under upstream's names."""


def _of(definition: type[Op], kind: FieldKind) -> list[Field]:
    return [f for f in definition.layout.by_name.values() if f.kind is kind]


def _shown(fields: Sequence[Field]) -> str:
    return ", ".join([f"{f.spelling}{'...' if f.variadic else '?' if f.optional else ''}" for f in fields]) or "none"


def _types_that_differ(own: Field, declared: Field) -> Iterator[str]:
    if not isinstance(own.pattern, TypeConstraint) or not isinstance(declared.pattern, TypeConstraint):
        return
    a, b = own.pattern, declared.pattern
    extra = [str(t) for t in types() if a.admits(t) and not b.admits(t)]
    lacking = [str(t) for t in types() if b.admits(t) and not a.admits(t)]
    for what, result in (("admits", extra), ("refuses", lacking)):
        if result:
            more = f" and {len(result) - 1} more" if len(result) > 1 else ""
            yield f"'{own.spelling}' {what} {result[0]}{more}, unlike '{b.summary}' of the record"
    if a.builds is not b.builds:
        yield f"'{own.spelling}' builds {a.builds}, that of the record {b.builds}"


def _attributes_that_differ(own: type[Op], declared: type[Op]) -> Iterator[str]:
    ours, theirs = ({f.spelling: f for f in _of(d, FieldKind.ATTRIBUTE)} for d in (own, declared))
    for name in sorted({*ours, *theirs}):
        if name not in theirs:
            if ours[name].is_required:
                yield f"attribute '{name}' is not in the record"
        elif name not in ours:
            yield f"attribute '{name}' of the record is missing"
        else:
            yield from _attribute_that_differs(ours[name], theirs[name])


def _attribute_that_differs(own: Field, declared: Field) -> Iterator[str]:
    name = own.spelling
    if own.is_required != declared.is_required:
        yield f"attribute '{name}' is {'required' if own.is_required else 'not required'}, unlike in the record"
    a, b = own.type, declared.type
    if a is None or b is None:
        return
    if a.cases and b.cases and set(a.cases) != set(b.cases):
        yield f"attribute '{name}' is one of {', '.join(a.cases)}, in the record of {', '.join(b.cases)}"
    if declared.default in (MISSING, None) or own.default in (MISSING, None):
        return
    ours, theirs = a.to_attribute(own.default), b.to_attribute(declared.default)
    if ours is not theirs:
        yield f"attribute '{name}' is {ours} by default, in the record {theirs}"
