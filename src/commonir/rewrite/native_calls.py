"""Functions that TableGen rules call, and conditions on the values that a rule binds.

C++ code is never executed. A call is implemented by a registered Python function; a condition too, unless it has one of
the forms that are understood. Everything else is an error. Source: MLIR, declarative rewrite rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from commonir.base.codes import UNKNOWN_RULE_FUNCTION
from commonir.base.diagnostics import DiagnosticError
from commonir.base.plugins import Plugins
from commonir.base.suggestions import did_you_mean
from commonir.base.tuples import NamedTuple
from commonir.ir.attributes import Attribute, is_sequence
from commonir.ir.operation import Value
from commonir.ir.types import Type
from commonir.ods import Op, traits
from commonir.ods.from_records import Loaded
from commonir.ods.from_records.expressions import normal, unwrapped
from commonir.ods.from_records.values import is_a, record_of, records_of, text_of
from commonir.tablegen import Record

ENTRY_POINTS = "commonir.rule_functions"

Function = Callable[..., object]
Test = Callable[..., bool]

_CALL = re.compile(r"(?:::)?(?:\w+(?:<\w*>)?(?:::|\.|->))*(\w+)\s*\(([^()]*)\)")
_ARGUMENT = re.compile(r"[*&]?\s*\$(\w+)(\.\.\.)?")
_EQUALITY = re.compile(r"\$(\d+)(\.getType\(\))?\s*(==|!=)\s*\$(\d+)(\.getType\(\))?")
_USES = re.compile(r"\$(\d+)(?:\.|->)(use_empty|hasOneUse|getUses\(\)\.empty)\(\)")
_IGNORED = frozenset({"_builder", "_loc"})


def _constant_attribute(value: object) -> object:
    """Returns the attribute of the constant operation that defines a value, as `ConstantLikeMatcher` binds it."""
    op = value.owner if isinstance(value, Value) else None
    if not isinstance(op, Op) or not op.has_trait(traits.ConstantLike) or not op.layout.attributes:
        return None
    return op.attribute_dictionary.get(op.layout.attributes[0].spelling)


class RuleFunction(NamedTuple):
    """A function that rules may call, provided by an installed package."""

    name: str
    function: Function


BUILTIN_FUNCTIONS: Mapping[str, Function] = MappingProxyType({"ConstantLikeMatcher": _constant_attribute})
"""Functions defined in the files of MLIR itself, by the names of their records."""


class Call(NamedTuple):
    """A function, and the positions of the arguments that it receives; all arguments if `positions` is None."""

    name: str
    function: Function
    positions: tuple[int | str, ...] | None = None

    def arguments(self, values: Sequence[object]) -> list[object]:
        """Returns the arguments in its order. Raises: ValueError for a missing one."""
        if self.positions is None:
            return list(values)
        out: list[object] = []
        for position in self.positions:
            number = int(str(position).removesuffix("..."))
            if number >= len(values):
                raise ValueError(f"{self.name} needs ${number}, and {len(values)} arguments are given")
            out += values[number:] if isinstance(position, str) else (values[number],)
        return out


class NativeCalls:
    """The functions that rules of one file may call."""

    def __init__(self, loaded: Loaded, functions: Mapping[str, Function]) -> None:
        self._loaded = loaded
        self._functions = {**BUILTIN_FUNCTIONS, **functions}
        self._plugins = Plugins(RuleFunction, ENTRY_POINTS, {})

    def registered(self, name: str) -> Function | None:
        """Returns the function passed in under a name."""
        return self._functions.get(name)

    def offered(self, name: str) -> Function | None:
        """Returns the function passed in under a name, else the one of an installed package."""
        registered = self._functions.get(name)
        if registered is not None or not name.isidentifier():
            return registered
        function = self._plugins.get(name)
        return None if function is None else function.function

    def call(self, record: Record) -> Call:
        """Returns the function for a `NativeCodeCall`. Raises: UNKNOWN_RULE_FUNCTION."""
        text = text_of(record, "expression")
        for name in (record.name_text, text, text.strip()):
            function = self.offered(name)
            if function is not None:
                return Call(name, function)
        match = _CALL.fullmatch(text.strip())
        positions = None if match is None else _positions(match[2])
        name = text.strip() if match is None or positions is None else match[1]
        function = self.offered(name)
        if function is not None:
            return Call(name, function, positions)
        shown = f"'{record.name_text}', " if not record.is_anonymous else ""
        raise self._unknown(record, f'no function is registered for {shown}"{text.strip()}"', name)

    def condition(self, record: Record) -> Test:
        """Returns the test of a constraint on several values and attributes in storage form. Raises:
        UNKNOWN_RULE_FUNCTION.
        """
        predicate = record_of(record, "predicate")
        return _always if predicate is None else self._predicate(record, predicate)

    def _predicate(self, record: Record, predicate: Record) -> Test:
        if not is_a(predicate, "CombinedPred"):
            text = text_of(predicate, "predExpr")
            test = self._leaf(text)
            if test is None:
                raise self._unknown(record, f'the condition "{text}" is not understood', record.name_text)
            return test
        parts = [self._predicate(record, each) for each in records_of(predicate, "children")]
        combiner = record_of(predicate, "kind")
        match "" if combiner is None else combiner.name_text:
            case "PredCombinerAnd":
                return lambda *arguments: all(part(*arguments) for part in parts)
            case "PredCombinerOr":
                return lambda *arguments: any(part(*arguments) for part in parts)
            case "PredCombinerNot":
                return lambda *arguments: not parts[0](*arguments)
            case _:
                shown = text_of(predicate, "predExpr") or predicate.name_text
                raise self._unknown(record, f'the condition "{shown}" is not understood', record.name_text)

    def _leaf(self, text: str) -> Test | None:
        """Returns the test of a single condition in C++, if its form is understood."""
        text = unwrapped(normal(text.replace("$_self", "$0")))
        if text.startswith("!") and not text.startswith("!="):
            inner = self._leaf(text[1:])
            return None if inner is None else lambda *arguments: not inner(*arguments)
        return _compared(text) or _used(text) or self._of_one(text)

    def _of_one(self, text: str) -> Test | None:
        """Returns the test of one type or attribute."""
        numbers = set(re.findall(r"\$(\w+)", text)) or {"0"}
        if len(numbers) != 1 or not (number := numbers.pop()).isdigit():
            return None
        of_type = text.replace(f"${number}.getType()", "$_self")
        is_of_type = f"${number}" not in of_type
        test = self._loaded.test(of_type if is_of_type else text.replace(f"${number}", "$_self"))
        if test is None:
            return None
        position = int(number)
        if f"${number}" not in text:
            return lambda *_: test(None)

        def holds(*arguments: object) -> bool:
            requested = arguments[position] if position < len(arguments) else None
            if is_of_type:
                return all(test(v.type) for v in _values(requested))
            return isinstance(requested, Attribute) and test(requested)

        return holds

    def _unknown(self, record: Record, message: str, name: str) -> DiagnosticError:
        help = did_you_mean(name, self._functions) or f"register a Python function as '{name}'"
        return DiagnosticError(record.locations[0].diagnostic(UNKNOWN_RULE_FUNCTION, message, help=help))


def _positions(text: str) -> tuple[int | str, ...] | None:
    """Returns the positions of the arguments in the text of a call: `$1...` are all from 1 on; None for other text."""
    out: list[int | str] = []
    for part in text.split(",") if text.strip() else ():
        match = _ARGUMENT.fullmatch(part.strip())
        if match is None:
            return None
        if match[1] in _IGNORED or match[1] == "_self":
            continue
        if not match[1].isdigit():
            return None
        out.append(f"{match[1]}..." if match[2] else int(match[1]))
    return tuple(out)


def _always(*_given: object) -> bool:
    return True


def _values(value: object) -> tuple[Value, ...]:
    if isinstance(value, Value):
        return (value,)
    return tuple([v for v in value if isinstance(v, Value)]) if is_sequence(value) else ()


def _types(value: object) -> list[Type]:
    return [v.type for v in _values(value)]


def _is_same(a: object, b: object) -> bool:
    """Returns whether two bound objects are identical."""
    first, second = _values(a), _values(b)
    return first == second if first or second else a is b


def _compared(text: str) -> Test | None:
    """Returns the test that two bound objects, or their types, are equal or not."""
    match = _EQUALITY.fullmatch(text)
    if match is None or match[2] != match[5]:
        return None
    a, b, expected = int(match[1]), int(match[4]), match[3] == "=="
    if match[2]:
        return lambda *arguments: (_types(arguments[a]) == _types(arguments[b])) == expected
    return lambda *arguments: _is_same(arguments[a], arguments[b]) == expected


def _used(text: str) -> Test | None:
    """Returns the test of the number of uses of a value."""
    match = _USES.fullmatch(text)
    if match is None:
        return None
    position, expected = int(match[1]), 1 if match[2] == "hasOneUse" else 0
    return lambda *arguments: sum(v.use_count for v in _values(arguments[position])) == expected
