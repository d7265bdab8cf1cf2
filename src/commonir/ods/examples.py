"""Builds a small operation of a definition, for its documentation.

A file `examples.txt` next to the modules of a dialect has some, one on each line, such as `mil.conv(x: f32[n, 3, h, w],
weight: f32[8, 3, 5, 5], strides = (2, 2))`, with `x = (1, 2)` for an operand of known elements, `and` between the
values of a variadic one, and ` -> f32[2, 6]` at its end where the types of results are declared, not inferred. Others
are guessed, like required fields that a line omits: dims are the names in the patterns, or small numbers, and a few
values of each attribute are tried until the definition accepts the operation.
"""

from __future__ import annotations

import re
import sys
from ast import literal_eval
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from commonir.base.diagnostics import DiagnosticError, InternalError
from commonir.base.tuples import NamedTuple
from commonir.ir.data import data_of
from commonir.ir.operation import Value
from commonir.ir.types import (
    ELEMENT_TYPES,
    ElementType,
    ListType,
    MapType,
    OptionalType,
    SparseTensorType,
    TensorType,
    TupleType,
    Type,
    boolean,
    complex64,
    f32,
    i32,
    index,
)
from commonir.notation import NotationError
from commonir.ods import attr_types
from commonir.ods.attr_types import AttrType
from commonir.ods.fields import Field, FieldKind
from commonir.ods.known import Known
from commonir.ods.operation import Op
from commonir.ods.patterns import Mapped, Pattern, TypeClass, TypeConstraint, TypeVariable, Wrapped, wrapped
from commonir.symbolic import Dim, symbol

_RANKS = (2, 1, 3, 4)
_TRIALS = 8
_SCALARS = {**ELEMENT_TYPES, "index": index}
_PREFERRED = (f32, i32)
_CLASSES = {"float": f32, "number": f32, "any": f32, "": f32, "int": i32}
_FIELD = re.compile(r"(\w+)(: | = )(.*?)(?=, \w+(?:: | = )|$)")
_BETWEEN_PARTS = re.compile(r", (?![^\[]*\])")
_ERRORS = (DiagnosticError, NotationError, InternalError, TypeError, ValueError, IndexError, KeyError)

Dims = Callable[[str], Dim]
"""Returns the dim for a name of a pattern."""


def _numbered() -> Dims:
    """Returns a function that numbers names from 2."""
    known: dict[str, int] = {}
    return lambda name: known.setdefault(name, len(known) + 2)


class _Guess(NamedTuple):
    """The choices for an example: dims of the first operand and of the others, the number of axes of a wildcard, the
    index among the values of each attribute, and whether optional operands are present.
    """

    first: Dims
    others: Dims
    rank: int
    trial: int
    has_optional: bool


STATIC = ("numbers", "equal")
"""The styles of dims in examples that run."""


def _guesses(trials: int, dim_styles: Sequence[str]) -> Iterator[_Guess]:
    def equal(name: str) -> Dim:  # noqa: ARG001  one number for all names
        return 4

    for dims in dim_styles:
        for has_optional, rank, trial in product((True, False), _RANKS, range(trials)):
            others = symbol if dims == "names" else equal if dims != "numbers" else _numbered()
            first = symbol if dims.endswith("names") else others
            yield _Guess(first, others, rank, trial, has_optional)


def example_of(
    definition: type[Op], dim_styles: Sequence[str] = ("names", "numbers after names", *STATIC)
) -> Op | None:
    """Returns an operation of the definition: that of `examples.txt`, else a guess, if possible with all optional
    operands; None when there is none.
    """
    if any(not f.optional for f in definition.layout.regions):
        return None
    declared, results = _declared(definition)
    for guess in _guesses(_trials(definition), dim_styles):
        try:
            arguments = _arguments(definition, guess, declared)
            return definition.build(arguments, results) if results else definition(**arguments)
        except _ERRORS:
            continue  # this guess does not fit the definition
    return None


def general_example_of(definition: type[Op]) -> Op | None:
    """Returns an operation of the definition, if possible with symbolic dims, for its general meaning."""
    if all(f.optional for f in definition.layout.regions):
        for guess in _guesses(_trials(definition), ("names",)):
            try:
                return definition(**_arguments(definition, guess, {}))
            except _ERRORS:
                continue  # this guess does not fit the definition
    return example_of(definition)


def _trials(definition: type[Op]) -> int:
    """Returns the number of values of required attributes to try."""
    fields = [f for f in definition.layout.arguments if f.kind is not FieldKind.OPERAND and f.is_required]
    return min(max([len(_candidates(f, 1)) for f in fields], default=1), _TRIALS)


def _declared(definition: type[Op]) -> tuple[Mapping[str, tuple[bool, str]], Sequence[Type]]:
    """Returns the fields of an operation in `examples.txt`, each with whether it is a type and its text, and the types
    of results.
    """
    line = _lines(definition.__module__).get(definition.name, "")
    text, results = line.rsplit(" -> ", 1) if " -> " in line else (line, "")
    fields: list[tuple[str, str, str]] = _FIELD.findall(text.removesuffix(")"))
    types = [_named(definition, part) for part in results.split(" and ")] if results else []
    return {name: (mark == ": ", text) for name, mark, text in fields}, types


def _named(definition: type[Op], text: str) -> Type:
    """Returns the type of a text such as `f32[2, n]`, `tuple<f32[n], i64[]>`, or `f32` if it is not a tensor."""
    if text.startswith("tuple<"):
        return TupleType(tuple([_named(definition, part) for part in _BETWEEN_PARTS.split(text[6:-1])]))
    return _SCALARS.get(text) or _type(definition, Pattern(text), 0, symbol)


@cache
def _lines(module: str) -> Mapping[str, str]:
    """Returns the arguments in the `examples.txt` next to a module, by the name of the operation."""
    path = Path(getattr(sys.modules.get(module), "__file__", None) or module).with_name("examples.txt")
    if not path.is_file():
        return {}
    lines = [line.partition("(") for line in path.read_text(encoding="utf-8").splitlines()]
    return {name: text for name, _, text in lines}


def _arguments(definition: type[Op], guess: _Guess, declared: Mapping[str, tuple[bool, str]]) -> dict[str, object]:
    out: dict[str, object] = {}
    for n, f in enumerate(definition.layout.arguments):
        dims = guess.others if n else guess.first
        if f.spelling in declared:
            out[f.name] = _argument(definition, f, *declared[f.spelling])
        elif f.kind is FieldKind.OPERAND:
            if f.variadic:
                count = 0 if declared else 2
                out[f.name] = tuple([_operand(definition, f, guess, dims) for _ in range(count)])
            elif f.is_required or (guess.has_optional and not declared):
                out[f.name] = _operand(definition, f, guess, dims)
        elif f.is_required:
            values = _candidates(f, guess.rank)
            out[f.name] = values[guess.trial % len(values)]
    return out


def _argument(definition: type[Op], field: Field, is_type: bool, text: str) -> object:
    """Returns an argument from its text in `examples.txt`."""
    if field.kind is not FieldKind.OPERAND:
        value = literal_eval(text)
        return ELEMENT_TYPES.get(value, value) if field.type in (attr_types.element, attr_types.type_) else value
    values = [_value(definition, field, is_type, part) for part in text.split(" and ")]
    return tuple(values) if field.variadic else values[0]


def _value(definition: type[Op], field: Field, is_type: bool, text: str) -> Value:
    """Returns a value of a type, or one of known elements."""
    if is_type:
        return Value(_named(definition, text))
    is_vector = text.startswith("(")
    elements: tuple[int | float, ...] = literal_eval(text if is_vector else f"({text},)")
    shape = (len(elements),) if is_vector else ()
    name = "" if field.pattern is None else field.pattern.element
    variable = definition.layout.variables.get(name)
    may_be_integer = (variable is None and name == "any") or (variable is not None and i32 in variable.elements)
    element = i32 if may_be_integer and all(isinstance(e, int) for e in elements) else _element(definition, name)
    dims = tuple([e for e in elements if isinstance(e, int)]) if element.is_integer else None
    return Known(TensorType(element, shape), dims, data_of(element, shape, elements)).result


def _operand(definition: type[Op], field: Field, guess: _Guess, dims: Dims) -> Value:
    type = _type(definition, field.pattern, guess.rank, dims)
    if field.by_value and isinstance(type, TensorType):
        if field.pattern is not None and field.pattern.dims == ():
            return Known(type, (dims(field.spelling),)).result
        elements = tuple([dims(f"{field.spelling}{n}") for n in range(guess.rank)])
        return Known(TensorType(type.element, (guess.rank,)), elements).result
    return Value(type)


def _type(definition: type[Op], pattern: Pattern | None, rank: int, dims: Dims) -> Type:
    if pattern is None:
        return TensorType(f32, (dims("m"), dims("n")))
    if isinstance(pattern, TypeConstraint):
        return _admitted(pattern, rank, dims)
    if pattern.content is not None:
        content = _type(definition, pattern.content, rank, dims)
        if pattern.key is not None:
            return MapType(_element(definition, pattern.key.element), content)
        return wrapped(pattern.wrapper, content) or content
    shape: list[Dim] = []
    for name, many in pattern.dims if pattern.dims is not None else (("s", True),):
        if many:
            shape += [dims(f"{name or 'd'}{n}") for n in range(rank)]
        else:
            shape.append(int(name) if name.isdigit() else dims(name or "d"))
    variable = definition.layout.variables.get(pattern.element)
    if isinstance(variable, TypeClass):
        return _member(variable, tuple(shape))
    return TensorType(_element(definition, pattern.element), tuple(shape))


def _admitted(pattern: TypeConstraint, rank: int, dims: Dims) -> Type:
    """Returns a type of a set: the only one, else the first member of a list of common types."""
    if pattern.builds is not None:
        return pattern.builds
    shape = tuple([dims(f"s{n}") for n in range(rank)])
    elements = (f32, i32, boolean, index, complex64)
    plain: list[Type] = [TensorType(e, shape) for e in elements]
    plain += [*elements, *[TensorType(e, ()) for e in elements]]
    return next((t for t in plain if pattern.admits(t)), plain[0])


def _member(variable: TypeVariable, shape: tuple[Dim, ...]) -> Type:
    """Returns a type of a set of which not all are tensors."""
    match variable:
        case TypeClass():
            return _member(variable.members[0], shape)
        case Wrapped(wrapper=wrapper, content=content):
            nested = _member(content, shape)
            if wrapper == "sparse" and isinstance(nested, TensorType):
                return SparseTensorType(nested.element, nested.shape)
            return ListType(nested) if wrapper == "list" else OptionalType(nested)
        case Mapped():
            return MapType(_preferred(variable.key.elements), _member(variable.content, ()))
        case _:
            return TensorType(_preferred(variable.elements), shape)


def _element(definition: type[Op], name: str) -> ElementType:
    variable = definition.layout.variables.get(name)
    if variable is None:
        return ELEMENT_TYPES.get(name) or _CLASSES.get(name, f32)
    return _preferred(variable.elements)


def _preferred(elements: frozenset[ElementType]) -> ElementType:
    return next((e for e in _PREFERRED if e in elements), None) or min(elements, key=lambda e: e.name)


def _candidates(field: Field, rank: int) -> Sequence[object]:
    """Returns a few values that an attribute may have."""
    attr_type = field.type
    if attr_type is None:
        return (None,)
    values = [v for v in _values(attr_type, rank) if _is_accepted(attr_type, field, v)]
    return values or [v for v in _plain(rank) if _is_accepted(attr_type, field, v)] or (None,)


def _is_accepted(attr_type: AttrType[Any], field: Field, value: object) -> bool:
    try:
        stored = attr_type.coerce(value)
    except _ERRORS:
        return False
    return field.check is None or field.check.holds(stored)


def _plain(rank: int) -> Sequence[object]:
    """Returns values of several types, for other types of attributes."""
    lists = ((1,) * rank, tuple(range(rank)), (0,), (1,), (1.0,) * rank, (True,) * rank, ((0, 1),))
    return (1, 0, 2, 0.5, 0.0, -1, True, *lists, "name", f32, i32, TensorType(f32, (2, 3)))


def _values(attr_type: AttrType[Any], rank: int) -> Sequence[object]:
    """Returns a few values of a type of attributes."""
    values: Mapping[str, Sequence[object]] = {
        attr_types.integer.name: (1, 0, 2),
        attr_types.number.name: (0.5, 1.0),
        attr_types.flag.name: (False, True),
        attr_types.unit.name: (False, True),
        attr_types.string.name: ("name",),
        attr_types.symbol.name: ("name",),
        attr_types.strings.name: (("name",),),
        attr_types.element.name: (f32, i32),
        attr_types.type_.name: (TensorType(f32, (2, 3)),),
        attr_types.data.name: (data_of(f32, (2,), (1.0, 2.0)), data_of(f32, (), (1.0,))),
        attr_types.dim.name: (symbol("n"), 2),
        attr_types.integers.name: ((1,) * rank, tuple(range(rank)), (0,), (1,), (0, 1), (1, 0), (1, 1), ()),
        attr_types.pairs.name: (((1, 1),) * rank, ((0, 0),), ((0, 1), (0, 1)), ()),
        attr_types.dims.name: (tuple([symbol(f"n{k}") for k in range(rank)]), (2, 3), (1,), ()),
        attr_types.numbers.name: ((1.0,) * rank, (0.5,), (1.0, 2.0), ()),
        attr_types.flags.name: ((False,) * rank, (True,), ()),
    }
    return attr_type.cases or values.get(attr_type.name, ())
