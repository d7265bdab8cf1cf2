"""Single operations made from their definitions: operands of types that are admitted, attributes that are decoded.

What is made is an operation on undefined values, and its generic text; whether it is right, mlir-opt says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from random import Random
from typing import NamedTuple

from commonir.base.diagnostics import DiagnosticError
from commonir.dialects.mlir.tosa import ConstShape
from commonir.ir.attributes import (
    ArrayAttr,
    Attribute,
    BoolAttr,
    DataAttr,
    DenseArrayAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    TypeAttr,
    UnitAttr,
    attribute_text,
)
from commonir.ir.data import data_of
from commonir.ir.literals import quoted
from commonir.ir.operation import Block, Value
from commonir.ir.types import (
    ComplexType,
    DialectType,
    ElementType,
    FunctionType,
    MemRefType,
    TensorType,
    Type,
    VectorType,
    element_named,
    index,
    integer_type,
    none,
)
from commonir.ods import Op
from commonir.ods.fields import Field
from commonir.ods.mlir_op import MlirOp, single_types
from commonir.ods.patterns import TypeConstraint
from commonir.ods.type_rules import TypeRule, Typing, deduce, element_of
from commonir.ods.verify import check_operation

_ATTEMPTS = 60


class Atom(NamedTuple):
    """A statement of a program, and the operation that it is made for.

    In its text `$0`, `$1` stand for operands, `$r` for what results are bound to, `$u` for a word that makes names of
    its own unique, `$a` for a dictionary of attributes that are not declared and `$l` for a location. `top` is what
    has to stand beside functions, `body` says that `$body` in the text stands for further statements.
    """

    name: str
    operands: tuple[str, ...]
    results: tuple[str, ...]
    text: str
    top: str = ""


# -- types


def _element(name: str) -> ElementType:
    result = element_named(name)
    assert result is not None
    return result


_SCALARS: tuple[ElementType, ...] = (
    *[integer_type(n) for n in (1, 8, 16, 32, 64, 4, 48)],
    *[_element(n) for n in ("f16", "bf16", "f32", "f64", "f8E5M2", "f8E4M3FN", "f8E8M0FNU", "f4E2M1FN")],
    index,
    integer_type(8, "unsigned"),
    integer_type(16, "signed"),
)
_NUMBERS = _SCALARS
_SHAPES: tuple[tuple[int | None, ...] | None, ...] = (
    (),
    (1,),
    (4,),
    (2, 3),
    (None, 3),
    (2, 3, 4),
    (1, 4, 5, 3),
    (None, None),
    (1, 1, 2, 2, 3),
    (2, 2, 2, 6),
    None,
)
_OTHERS: tuple[Type, ...] = (
    *[DialectType("tosa", "shape", str(n)) for n in range(5)],
    *[DialectType("shape", n) for n in ("shape", "size", "witness", "value_shape")],
    DialectType("ml_program", "token"),
    DialectType("other", "thing"),
    none,
    FunctionType((index,), (index,)),
)
_PARTS = tuple([_element(n) for n in ("f32", "f64")])


@cache
def _types_of(shape: tuple[int | None, ...] | None) -> tuple[Type, ...]:
    """All types that have to do with a shape."""
    complexes = [ComplexType(p) for p in _PARTS]
    out: list[Type] = [*_SCALARS, *complexes, *_OTHERS]
    out += [TensorType(e, shape) for e in (*_NUMBERS, *complexes)]
    out += [MemRefType(e, shape) for e in _NUMBERS[:12]]
    if shape is not None and None not in shape:
        out += [VectorType(e, tuple([n for n in shape if n is not None])) for e in _NUMBERS[:12]]
    return tuple(out)


@cache
def _admitted(constraint: TypeConstraint, shape: tuple[int | None, ...] | None) -> tuple[Type, ...]:
    return tuple([t for t in _types_of(shape) if constraint.admits(t)])


class _Theme:
    """Properties that the types of one operation tend to share."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.shape = random.choice(_SHAPES)
        self.element: Type = random.choice(_NUMBERS)
        self.kind = random.choice((ElementType, TensorType, TensorType, TensorType, VectorType))

    def type_for(self, field: Field, taken: Sequence[Type]) -> Type | None:
        """A type that a field admits: preferably one that is there already."""
        random, pattern = self.random, field.pattern
        if not isinstance(pattern, TypeConstraint):
            return random.choice(_types_of(self.shape))
        fitting = [t for t in taken if pattern.admits(t)]
        if fitting and random.random() < 0.7:
            return random.choice(fitting)
        shape = self.shape if random.random() < 0.9 else random.choice(_SHAPES)
        allowed = _admitted(pattern, shape) or next(
            (a for s in random.sample(_SHAPES, len(_SHAPES)) if (a := _admitted(pattern, s))), ()
        )
        similar = [t for t in allowed if self._is_similar(t)]
        if similar and random.random() < 0.8:
            return random.choice(similar)
        kinds = [t for t in allowed if isinstance(t, self.kind)]
        return random.choice(kinds or allowed) if allowed else None

    def _is_similar(self, type: Type) -> bool:
        if not isinstance(type, self.kind):
            return False
        return type is self.element or getattr(type, "element", None) is self.element


# -- attributes


def attributes(random: Random, types: Sequence[Type]) -> Iterator[Attribute]:
    """Attributes of all sorts, in a random order; some have to do with types."""
    result = list(_plain(random))
    for t in random.sample(list(types), len(types)):
        result += _of_type(random, t)
    random.shuffle(result)
    yield from result
    for text in _WORDS:
        yield StringAttr(text)


_WORDS = ("fast", "nnan", "nsw", "nuw", "none", "none,contract", "exact", "text")


def _plain(random: Random) -> Iterator[Attribute]:
    small = random.choice((0, 1, 1, 2, 3, -1, 7, 100))
    for kind in (*[integer_type(n) for n in (8, 16, 32, 64)], index):
        yield IntegerAttr(small, kind)
    for name in ("f32", "f64"):
        yield FloatAttr(random.choice((0.0, 1.0, -2.5, 0.1)), _element(name))
    yield BoolAttr(random.random() < 0.5)
    yield UnitAttr()
    yield StringAttr(random.choice(("text", "", "two words", '"q"')))
    yield SymbolRefAttr("symbol")
    yield DictionaryAttr(())
    count = random.randint(0, 4)
    for kind in (integer_type(64), integer_type(32), integer_type(8)):
        yield DenseArrayAttr(kind, tuple([random.choice((0, 1, 1, 1, 2, 3)) for _ in range(count)]))
    order = list(range(count))
    random.shuffle(order)
    yield DenseArrayAttr(integer_type(64), tuple(order))
    yield DenseArrayAttr(integer_type(32), tuple(order))
    yield ArrayAttr(tuple([IntegerAttr(n, integer_type(64)) for n in order]))
    yield ArrayAttr(())
    yield TypeAttr(random.choice(_SCALARS))
    yield DataAttr(data_of(index, (count,), order))


_NUMERIC = ("bool", "int", "uint", "index", "float")


def _of_type(random: Random, type: Type) -> Iterator[Attribute]:
    if isinstance(type, ElementType) and type.kind in _NUMERIC:
        yield from _scalar(random, type)
    elif isinstance(type, TensorType) and type.is_static and type.element.kind in _NUMERIC:
        values = [_number(random, type.element) for _ in range(type.count)]
        if random.random() < 0.3 and values:
            values = values[:1] * type.count
        yield DataAttr(data_of(type.element, tuple([n for n in type.shape or () if isinstance(n, int)]), values))
    elif isinstance(type, VectorType):
        count = 1
        for n in type.shape:
            count *= n
        yield DataAttr(data_of(type.element, type.shape, [_number(random, type.element) for _ in range(count)]), type)
    yield TypeAttr(type)


def _scalar(random: Random, type: ElementType) -> Iterator[Attribute]:
    value = _number(random, type)
    if type.kind == "bool":
        yield BoolAttr(bool(value))
    elif isinstance(value, float):
        yield FloatAttr(value, type)
    else:
        yield IntegerAttr(value, type)


def _number(random: Random, type: ElementType) -> bool | int | float:
    if type.kind == "bool":
        return random.random() < 0.5
    if type.kind == "uint":
        return random.choice((0, 1, 3, 200))
    if type.kind in ("int", "index"):
        return random.choice((0, 1, 2, 5, -1, -7))
    return random.choice((0.0, 1.0, -2.0, 0.5)) if type.bits < 32 else random.choice((0.0, 1.0, -2.5, 0.1, 3.14159))


def _attribute_for(random: Random, field: Field, types: Sequence[Type]) -> object:
    """A value that an attribute can have. Raises: ValueError when none is found."""
    kind = field.type
    if kind is None:
        raise ValueError(field.name)
    if kind.cases:
        return kind.coerce(random.choice(kind.cases))
    for candidate in attributes(random, types):
        try:
            value = kind.coerce(kind.from_attribute(candidate))
        except (ValueError, TypeError, KeyError, AttributeError, DiagnosticError):
            continue
        if field.check is None or field.check.holds(value):
            return value
    raise ValueError(field.name)


# -- operations


def sample(definition: type[Op], random: Random, *, attempts: int = _ATTEMPTS) -> Op | None:
    """An operation of a definition that we find nothing wrong with; None when none was found."""
    for _ in range(attempts):
        result = _candidate(definition, random)
        if result is not None and is_accepted(result):
            return result
    return None


def is_accepted(op: Op) -> bool:
    """Returns whether we find nothing wrong with an operation."""
    try:
        return not check_operation(op)
    except DiagnosticError:
        return False


def candidate(definition: type[Op], random: Random) -> Op | None:
    """An operation of a definition that may be wrong; None when nothing fits the fields."""
    return _candidate(definition, random)


def _candidate(definition: type[Op], random: Random) -> Op | None:
    layout, theme = definition.layout, _Theme(random)
    counts: dict[str, int] = {}
    for f in (*layout.inputs, *layout.results):
        counts[f.name] = random.choice((0, 1, 2, 3)) if f.variadic else int(not f.optional or random.random() < 0.5)
    typing = Typing([f.name for f in layout.inputs], [f.name for f in layout.results], counts, {})
    rules: Sequence[TypeRule] = definition.type_rules
    fixed = single_types([*layout.inputs, *layout.results])
    try:
        if not _type_fields(layout.inputs, theme, typing, rules, fixed):
            return None
        taken = [t for types in typing.types.values() for t in types]
        taken += [e for t in taken if isinstance(e := element_of(t), ElementType) and e is not t]
        values = {f.name: _chosen(random, f, taken) for f in layout.attributes}
        operands = _operands(random, layout.inputs, typing)
        if not _type_results(definition, {**operands, **values}, theme, typing, rules, fixed):
            return None
        types = [t for f in layout.results for t in typing.types.get(f.name, ())]
        return definition.build({**operands, **values}, types)
    except (ValueError, TypeError, DiagnosticError):
        return None


def _chosen(random: Random, field: Field, types: Sequence[Type]) -> object:
    if not field.is_required and random.random() < 0.5:
        return field.default
    return _attribute_for(random, field, types)


def _type_fields(
    fields: Sequence[Field], theme: _Theme, typing: Typing, rules: Sequence[TypeRule], fixed: dict[str, Type]
) -> bool:
    for f in fields:
        deduce(rules, fixed, typing)
        if f.name in typing.types or not typing.counts[f.name]:
            typing.types.setdefault(f.name, ())
            continue
        taken = [t for types in typing.types.values() for t in types]
        result = theme.type_for(f, taken)
        if result is None:
            return False
        several = [result] * typing.counts[f.name]
        if f.variadic and theme.random.random() < 0.3:
            several = [theme.type_for(f, taken) or result for _ in several]
        typing.types[f.name] = tuple(several)
    return True


def _sizes(random: Random, value: Value) -> Value:
    """A constant in the place of a list of sizes of the tosa dialect, which takes no other."""
    kind = value.type
    if not isinstance(kind, DialectType) or (kind.dialect, kind.mnemonic) != ("tosa", "shape"):
        return value
    count = int(kind.body or 0)
    numbers = [random.choice((1, 1, 2, 3, 4)) for _ in range(count)]
    return ConstShape.build({"values": data_of(index, (count,), numbers)}, (kind,)).results[0]


def _operands(random: Random, fields: Sequence[Field], typing: Typing) -> dict[str, object]:
    block = Block([t for f in fields for t in typing.types.get(f.name, ())])
    rest = iter(block.arguments)
    out: dict[str, object] = {}
    for f in fields:
        values = tuple([next(rest) for _ in typing.types.get(f.name, ())])
        values = tuple([_sizes(random, v) for v in values])
        out[f.name] = values if f.variadic else values[0] if values else None
    return out


def _type_results(
    definition: type[Op],
    arguments: dict[str, object],
    theme: _Theme,
    typing: Typing,
    rules: Sequence[TypeRule],
    fixed: dict[str, Type],
) -> bool:
    fields = definition.layout.results
    if issubclass(definition, MlirOp) and fields and theme.random.random() < 0.9:
        built = definition.build({k: v for k, v in arguments.items() if v is not None}, ())
        del built.results  # as while it is being made
        result = built.infer_results()
        if result is not None and len(fields) == len(result) and not any(f.variadic for f in fields):
            typing.types.update({f.name: (t,) for f, t in zip(fields, result, strict=True)})
            return True
        if result is not None and len(fields) == 1:
            typing.types[fields[0].name] = tuple(result)
            return True
    return _type_fields(fields, theme, typing, rules, fixed)


def atom_of(op: Op) -> Atom:
    """An operation as a statement in the generic form."""
    types = [str(v.type) for v in op.operands]
    operands = tuple([str(v.type) for v in op.operands if not isinstance(v.owner, ConstShape)])
    results = tuple([str(r.type) for r in op.results])
    places, before = _operand_names(op)
    properties = ", ".join([f"{_key(k)} = {attribute_text(v)}" for k, v in op.properties.items()])
    declared = f" <{{{properties}}}>" if properties else ""
    signature = f"({', '.join(types)}) -> ({', '.join(results)})"
    bound = "$r = " if results else ""
    return Atom(op.name, operands, results, f"{before}{bound}{quoted(op.name)}({places}){declared}$a : {signature}$l")


def _operand_names(op: Op) -> tuple[str, str]:
    """Places for operands, and the constants that come first for those that have to be constants."""
    names: list[str] = []
    before = ""
    inputs = 0
    for n, v in enumerate(op.operands):
        if not isinstance(v.owner, ConstShape):
            names.append(f"${inputs}")
            inputs += 1
            continue
        attributes = f"values = {attribute_text(v.owner.properties['values'])}"
        before += f'%$us{n} = "tosa.const_shape"() <{{{attributes}}}> : () -> {v.type}\n'
        names.append(f"%$us{n}")
    return ", ".join(names), before


def _key(name: str) -> str:
    return name if name.replace("_", "a").replace(".", "a").isalnum() else quoted(name)


def can_be_sampled(definition: type[Op]) -> bool:
    """Returns whether an operation of a definition can stand anywhere in a function, without regions and successors."""
    layout = definition.layout
    placed = any(t.name.startswith(("HasParent", "Symbol", "Terminator")) for t in definition.traits)
    return not (layout.regions or layout.successors or placed)


__all__ = ["Atom", "atom_of", "can_be_sampled", "candidate", "is_accepted", "sample"]
