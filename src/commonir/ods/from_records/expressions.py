"""Compiles C++ expressions of predicates to tests of types and attributes.

An expression is a path from the tested value (`cast<ShapedType>($_self).getRank()`), perhaps compared with a number, or
several of these joined by `&&` and `||`. For other expressions `compiled` returns None.

Source: MLIR, common type and attribute constraints.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from types import MappingProxyType

from commonir.ir.attributes import (
    ArrayAttr,
    BoolAttr,
    DataAttr,
    DenseArrayAttr,
    DictionaryAttr,
    EnumAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    TypeAttr,
    is_sequence,
)
from commonir.ir.quantized import quantized_of
from commonir.ir.types import (
    DYNAMIC,
    ComplexType,
    DialectType,
    ElementType,
    FunctionType,
    MemRefType,
    TupleType,
    Type,
    VectorType,
    element_named,
    index,
    signedness_of,
)
from commonir.ods.from_records.cpp_classes import Test
from commonir.ods.type_constraints import has_value_semantics, is_float, is_integer
from commonir.ods.type_rules import NO_SHAPE, element_of, shape_of, type_of_attribute

Path = Callable[[object], object]

SELF = "$_self"
_MAX_CHARACTERS = 4000
_MAX_DEPTH = 12


class MissingProperty(Exception):
    """A value lacks a requested property: a test of it fails."""


# -- methods


def _shape(value: object) -> tuple[int, ...]:
    shape = shape_of(value) if isinstance(value, Type) else NO_SHAPE
    if not isinstance(shape, tuple):
        raise MissingProperty
    return tuple([n if isinstance(n, int) else DYNAMIC for n in shape])


def _element(value: object) -> Type:
    if isinstance(value, ComplexType):
        return value.part
    if not isinstance(value, Type):
        raise MissingProperty
    return element_of(value)


def _type_of(value: object) -> Type:
    type = value.type if isinstance(value, DataAttr) else type_of_attribute(value)
    if type is None:
        raise MissingProperty
    return type


def _content(value: object) -> object:
    match value:
        case TypeAttr(type=type):
            return type
        case BoolAttr() | IntegerAttr() | FloatAttr() | StringAttr():
            return int(value.value) if isinstance(value, BoolAttr) else value.value
        case EnumAttr(keyword=keyword):
            return keyword
        case SymbolRefAttr(path=path):
            return path[-1]
        case ArrayAttr(values=values) | DenseArrayAttr(values=values):
            return values
        case DictionaryAttr(entries=entries):
            return entries
        case _:
            raise MissingProperty


def numbers_of(value: object) -> tuple[object, ...]:
    """Returns the items of an array. Raises: MissingProperty for other values."""
    match value:
        case DenseArrayAttr(values=values) | ArrayAttr(values=values):
            return values
        case DataAttr(data=data):
            return data.values()
        case _ if is_sequence(value):
            return tuple(value)
        case _:
            raise MissingProperty


def _number(value: object) -> int | float:
    if not isinstance(value, int | float):
        raise MissingProperty
    return value


def _integer(value: object) -> int:
    return int(_number(value))


def _length(value: object) -> int:
    if isinstance(value, str):
        return len(value)
    return len(value.entries) if isinstance(value, DictionaryAttr) else len(numbers_of(value))


def _rank(value: object) -> int:
    if isinstance(value, DialectType) and value.body is not None and value.body.isdigit():
        return int(value.body)  # `!tosa.shape<4>`
    return len(_shape(value))


def _count(value: object) -> int:
    total = 1
    for n in _shape(_type_of(value) if isinstance(value, DataAttr) else value):
        total *= n
    return total


def _width(value: object) -> int:
    if not isinstance(value, ElementType):
        raise MissingProperty
    return value.width


def _storage_width(value: object) -> int:
    quantized = quantized_of(value) if isinstance(value, DialectType) else None
    if quantized is None:
        raise MissingProperty
    return quantized.bits


def _is_strided(value: object) -> bool:
    if not isinstance(value, MemRefType):
        raise MissingProperty
    return value.layout is None or type(value.layout).__name__ == "StridedLayoutAttr"


def _types(value: object) -> tuple[Type, ...]:
    if not isinstance(value, TupleType):
        raise MissingProperty
    return value.elements


def _of_function(results: bool) -> Path:
    def read(value: object) -> tuple[Type, ...]:
        if not isinstance(value, FunctionType):
            raise MissingProperty
        return value.results if results else value.inputs

    return read


_METHODS: Mapping[str, Path] = MappingProxyType(
    {
        "getElementType": _element,
        "getType": _type_of,
        "getShape": _shape,
        "getRank": _rank,
        "hasRank": lambda v: isinstance(v, Type) and shape_of(v) is not None,
        "hasStaticShape": lambda v: (
            DYNAMIC not in _shape(v) if isinstance(v, Type) and shape_of(v) is not None else False
        ),
        "isDynamicDim": lambda v: DYNAMIC in _shape(v),
        "getNumElements": _count,
        "isScalable": lambda v: isinstance(v, VectorType) and any(v.scalable),
        "isStrided": _is_strided,
        "getValue": _content,
        "getInt": lambda v: _integer(_content(v)),
        "getZExtValue": _integer,
        "getSExtValue": _integer,
        "getValueAsDouble": lambda v: _number(_content(v)),
        "size": _length,
        "empty": lambda v: _length(v) == 0,
        "asArrayRef": numbers_of,
        "getTypes": _types,
        "getInputs": _of_function(False),
        "getResults": _of_function(True),
        "isStrictlyPositive": lambda v: _number(v) > 0,
        "isNonNegative": lambda v: _number(v) >= 0,
        "isNegative": lambda v: _number(v) < 0,
        "isZero": lambda v: _number(v) == 0,
        "isPowerOf2": lambda v: _integer(v) > 0 and _integer(v) & (_integer(v) - 1) == 0,
        "getWidth": _width,
        "getIntOrFloatBitWidth": _width,
        "getElementTypeBitWidth": lambda v: _width(_element(v)),
        "getStorageTypeIntegralWidth": _storage_width,
        "isIndex": lambda v: v is index,
        "isSplat": lambda v: isinstance(v, DataAttr) and len(set(v.data.values())) == 1,
    }
)
"""Methods without arguments."""


def _integers(sign: str) -> Callable[[object, int | None], bool]:
    def test(value: object, width: int | None) -> bool:
        if not isinstance(value, ElementType) or not is_integer(value):
            return False
        return (not sign or signedness_of(value) == sign) and width in (None, _width(value))

    return test


_BY_WIDTH: Mapping[str, Callable[[object, int | None], bool]] = MappingProxyType(
    {
        "isInteger": _integers(""),
        "isSignlessInteger": _integers("signless"),
        "isSignedInteger": _integers("signed"),
        "isUnsignedInteger": _integers("unsigned"),
    }
)
"""Methods with an optional width."""


def _or(*tests: Callable[[Type], bool]) -> Test:
    return lambda v: isinstance(v, Type) and any(test(v) for test in tests)


def _is_signless(type: Type) -> bool:
    return _BY_WIDTH["isSignlessInteger"](type, None)


def _is_index(type: Type) -> bool:
    return type is index


_CLASSES_OF_TYPES: Mapping[str, Test] = MappingProxyType(
    {
        "isIntOrIndex": _or(is_integer, _is_index),
        "isSignlessIntOrIndex": _or(_is_signless, _is_index),
        "isSignlessIntOrFloat": _or(_is_signless, is_float),
        "isSignlessIntOrIndexOrFloat": _or(_is_signless, _is_index, is_float),
        "isIntOrFloat": _or(is_integer, is_float),
        "isIntOrIndexOrFloat": _or(is_integer, _is_index, is_float),
        "isFloat": _or(is_float),
        "hasTrait<ValueSemantics>": _or(has_value_semantics),
    }
)

_FLOAT_METHOD = re.compile(r"is(B?F\d+\w*|TF32|Float\d+\w+)")


def _method(name: str, argument: str) -> Path | None:
    """Returns the function of a method; None if it is not understood."""
    if name in _BY_WIDTH and (not argument or argument.isdigit()):
        width = int(argument) if argument else None
        return lambda v: _BY_WIDTH[name](v, width)
    if name == "eq" and (match := re.fullmatch(r"APInt\(\d+, (-?\d+)\)", argument)):
        expected = int(match[1])
        return lambda v: _number(v) == expected
    if argument:
        return None
    if name in _METHODS or name in _CLASSES_OF_TYPES:
        return _METHODS.get(name) or _CLASSES_OF_TYPES[name]
    if match := _FLOAT_METHOD.fullmatch(name):
        stem = match[1].replace("Float", "f") if match[1].startswith("Float") else match[1].lower()
        only = element_named(stem)
        return None if only is None else lambda v: v is only
    return None


# -- reading


_NAMESPACES = re.compile(r"(?<![\w>])(?:::)?(?:mlir|llvm)::|(?<![\w>])::(?=\w)|\bstd::(?=\w)")
_CASTS = re.compile(r"(?:(?:dyn_)?cast(?:_or_null|_if_present)?<[\w:]+>\()*")
_CALL = re.compile(r"\.([A-Za-z_]\w*(?:<[\w:]+>)?)\(([^()]*(?:\([^()]*\))?[^()]*)\)")
_COMPARED = re.compile(
    r"(.*?)\s*(==|!=|<=|>=|<|>)\s*(-?\d+(?:\.\d*)?|ArrayRef<\w+>\(\{[-\d, ]*\}\)|\"[^\"]*\"|true|false)", re.DOTALL
)
_ISA = re.compile(r"isa(?:_and_nonnull|_and_present)?<([\w:, ]+)>\((.*)\)", re.DOTALL)
_EVERY = re.compile(
    r"(all_of|any_of|none_of)\((.*?), \[[&=]?\]\((?:const )?[\w:]+ ?&? ?(\w+)\) \{ ?return (.*?); ?\}\)", re.DOTALL
)
_LET = re.compile(r"\[[&=]?\]\((?:const )?[\w:<>]+ ?&? ?(\w+)\) ?\{ ?return (.*); ?\}\((.*)\)", re.DOTALL)
_ADJACENT = re.compile(r"adjacent_find\(begin\((\w+)\), end\(\1\)\) == end\(\1\)")
_SORTED = re.compile(r"is_sorted\((.*)\)", re.DOTALL)
_CONTAINED = re.compile(r"is_contained\(\{([-\d, ]*)\}, (.*)\)", re.DOTALL)
_SUBSCRIPT = re.compile(r"\[(\d+)\]")
_FREE = re.compile(r"(tosa::isa_tosa_shape_type|getElementTypeOrSelf)\((.*)\)", re.DOTALL)

_COMPARISONS: Mapping[str, Callable[[object, object], bool]] = MappingProxyType(
    {
        "==": lambda a, b: a == b,
        "!=": lambda a, b: a != b,
        "<": lambda a, b: _number(a) < _number(b),
        "<=": lambda a, b: _number(a) <= _number(b),
        ">": lambda a, b: _number(a) > _number(b),
        ">=": lambda a, b: _number(a) >= _number(b),
    }
)


def normal(text: str) -> str:
    """Returns an expression without namespaces of MLIR and LLVM, and with single blanks."""
    shorter = _NAMESPACES.sub("", " ".join(text.split()))
    return re.sub(r" ?\. ?(?=[a-z])", ".", shorter)


def compiled(text: str, classes: Mapping[str, Test], variable: str = SELF, depth: int = 0) -> Test | None:
    """Returns the test of a variable for an expression; None when it is not understood."""
    if len(text) > _MAX_CHARACTERS or depth > _MAX_DEPTH:
        return None
    text = unwrapped(normal(text))
    for mark, every in (("||", any), ("&&", all)):
        parts = _split(text, mark)
        if len(parts) > 1:
            tests = [compiled(part, classes, variable, depth + 1) for part in parts]
            known = [test for test in tests if test is not None]
            return _joined(known, every) if len(known) == len(tests) else None
    if text.startswith("!") and not text.startswith("!="):
        inner = compiled(text[1:], classes, variable, depth + 1)
        return None if inner is None else lambda v: not inner(v)
    return _leaf(text, classes, variable, depth)


def _joined(tests: list[Test], every: Callable[[list[bool]], bool]) -> Test:
    if every is all:
        return lambda v: all(test(v) for test in tests)
    return lambda v: any(test(v) for test in tests)


def _leaf(text: str, classes: Mapping[str, Test], variable: str, depth: int) -> Test | None:
    """Returns the test of an expression without outer `&&`, `||` and `!`."""
    if text in ("true", "false"):
        is_true = text == "true"
        return lambda _: is_true
    if text == variable:
        return lambda v: v is not None  # the attribute is present
    for read in (_isa, _quantified, _let, _membership, _order, _comparison):
        result = read(text, classes, variable, depth)
        if result is not None:
            return result
    path = path_of(text, variable)
    return None if path is None else _guarded(lambda v: path(v) is True)


def _guarded(test: Test) -> Test:
    def holds(value: object) -> bool:
        try:
            return test(value)
        except MissingProperty:
            return False

    return holds


def _isa(text: str, classes: Mapping[str, Test], variable: str, _: int) -> Test | None:
    match = _ISA.fullmatch(text)
    path = path_of(match[2], variable) if match else None
    if match is None or path is None:
        return None
    tests = [classes.get(name.strip()) for name in match[1].split(",")]
    known = [test for test in tests if test is not None]
    return _guarded(lambda v: any(test(path(v)) for test in known)) if len(known) == len(tests) else None


def _quantified(text: str, classes: Mapping[str, Test], variable: str, depth: int) -> Test | None:
    match = _EVERY.fullmatch(text)
    path = path_of(match[2], variable) if match else None
    if match is None or path is None:
        return None
    inner = compiled(match[4], classes, match[3], depth + 1)
    if inner is None:
        return None
    match match[1]:
        case "all_of":
            return _guarded(lambda v: all(inner(item) for item in numbers_of(path(v))))
        case "any_of":
            return _guarded(lambda v: any(inner(item) for item in numbers_of(path(v))))
        case _:
            return _guarded(lambda v: not any(inner(item) for item in numbers_of(path(v))))


def _let(text: str, classes: Mapping[str, Test], variable: str, depth: int) -> Test | None:
    match = _LET.fullmatch(text)
    path = path_of(match[3], variable) if match else None
    if match is None or path is None:
        return None
    if _ADJACENT.fullmatch(match[2]):
        return _guarded(lambda v: _differ(numbers_of(path(v))))
    inner = compiled(match[2], classes, match[1], depth + 1)
    return None if inner is None else _guarded(lambda v: inner(path(v)))


def _differ(items: tuple[object, ...]) -> bool:
    """Returns whether all neighbours differ."""
    return all(a != b for a, b in pairwise(items))


def _membership(text: str, _classes: Mapping[str, Test], variable: str, _: int) -> Test | None:
    match = _CONTAINED.fullmatch(text)
    path = path_of(match[2], variable) if match else None
    if match is None or path is None:
        return None
    allowed = {int(n) for n in match[1].split(",") if n.strip()}
    return _guarded(lambda v: path(v) in allowed)


def _order(text: str, _classes: Mapping[str, Test], variable: str, _: int) -> Test | None:
    match = _SORTED.fullmatch(text)
    path = path_of(match[1], variable) if match else None
    if path is None:
        return None
    return _guarded(lambda v: sorted(map(_number, numbers_of(path(v)))) == list(numbers_of(path(v))))


def _comparison(text: str, _classes: Mapping[str, Test], variable: str, _: int) -> Test | None:
    match = _COMPARED.fullmatch(text)
    path = path_of(match[1], variable) if match else None
    if match is None or path is None:
        return None
    compare, expected = _COMPARISONS[match[2]], _literal(match[3])
    return _guarded(lambda v: compare(path(v), expected))


def _literal(text: str) -> object:
    if text.startswith("ArrayRef"):
        inside = text[text.index("{") + 1 : text.index("}")]
        return tuple([int(n) for n in inside.split(",") if n.strip()])
    if text.startswith('"'):
        return text[1:-1]
    if text in ("true", "false"):
        return text == "true"
    return float(text) if "." in text else int(text)


def path_of(text: str, variable: str = SELF) -> Path | None:
    """Returns a function for an expression that selects a part of a variable; None when it is not understood."""
    text = normal(text)
    free = _FREE.fullmatch(text)
    if free is not None:
        inner = path_of(free[2], variable)
        if inner is None:
            return None
        if free[1] == "getElementTypeOrSelf":
            return lambda v: _element(inner(v))
        return lambda v: str(inner(v)).startswith("!tosa.shape")
    casts = _CASTS.match(text)
    opened = casts[0].count("(") if casts else 0
    at = casts.end() if casts else 0
    if not text.startswith(variable, at):
        return None
    at += len(variable)
    steps: list[Path] = []
    while at < len(text):
        if text[at] == ")" and opened:
            opened, at = opened - 1, at + 1
            continue
        subscript = _SUBSCRIPT.match(text, at)
        if subscript is not None:
            steps.append(_item(int(subscript[1])))
            at = subscript.end()
            continue
        call = _CALL.match(text, at)
        step = _method(call[1], call[2].strip()) if call else None
        if call is None or step is None:
            return None
        steps.append(step)
        at = call.end()
    return None if opened else _along(steps)


def _item(number: int) -> Path:
    def read(value: object) -> object:
        items = numbers_of(value)
        if number >= len(items):
            raise MissingProperty
        return items[number]

    return read


def _along(steps: list[Path]) -> Path:
    if len(steps) == 1:
        return steps[0]

    def follow(value: object) -> object:
        for step in steps:
            value = step(value)
        return value

    return follow


# -- dividing


def unwrapped(text: str) -> str:
    """Returns an expression without outer parentheses."""
    while text.startswith("(") and _closing(text) == len(text) - 1:
        text = text[1:-1].strip()
    return text.strip()


def _closing(text: str) -> int:
    depth = 0
    for n, mark in enumerate(text):
        depth += (mark == "(") - (mark == ")")
        if depth == 0:
            return n
    return -1


def _split(text: str, mark: str) -> list[str]:
    """Returns the parts between separators that are not inside brackets."""
    depth, start = 0, 0
    out: list[str] = []
    for n, each in enumerate(text):
        depth += (each in "({[") - (each in ")}]")
        if depth == 0 and text.startswith(mark, n):
            out.append(text[start:n])
            start = n + len(mark)
    return [*out, text[start:]]
