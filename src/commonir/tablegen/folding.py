"""Functions that fold TableGen's operators, one for each.

A function takes the operands, the explicit type of the operator or else that of its result, and the context. It returns
None if operands are unknown, and for an index out of range, which is allowed in a branch that is not taken. Numbers
have 64 bits and wrap.
Source: TableGen Programmer's Reference, appendix A.
"""

# ruff: noqa: ARG001  all functions have the same parameters

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from commonir.base.tuples import NamedTuple
from commonir.tablegen.errors import EvaluationError
from commonir.tablegen.regular_expressions import RegularExpression
from commonir.tablegen.types import INT, STRING, ListType, RecordType, Type
from commonir.tablegen.values import (
    MAX_SIZE,
    ONE,
    UNSET,
    ZERO,
    AnonymousName,
    Dag,
    DefRef,
    Int,
    List,
    String,
    Value,
    Variable,
    too_large,
)

if TYPE_CHECKING:
    from commonir.tablegen.records import Record, Records

MAX_STRING_CHARS = 2**24
"""The longest string that operators create."""


class FoldingContext(NamedTuple):
    """The context in which an operator folds: the records, the current one, and whether it is being completed."""

    records: Records
    record: Record | None
    final: bool = False


Args = tuple[Value, ...]
Folder = Callable[[Args, Type, FoldingContext], Value | None]


def int_of(value: Value) -> int | None:
    """Returns the number that a value converts to, if it is known."""
    result = value if isinstance(value, Int) else value.convert_to(INT)
    return result.value if isinstance(result, Int) else None


def _bit(value: bool) -> Value:
    return ONE if value else ZERO


def _flag(value: bool) -> Value:
    return Int(int(value))


def _text(value: str, *, is_code: bool = False) -> String:
    if len(value) > MAX_STRING_CHARS:
        raise EvaluationError(f"a string has {len(value)} characters, the limit is {MAX_STRING_CHARS}")
    return String(value, is_code=is_code)


# -- conversions and tests of types


def _cast(args: Args, type: Type, context: FoldingContext) -> Value | None:
    (value,) = args
    if isinstance(type, RecordType) and isinstance(value, String):
        return _record_named(value.value, type, context)
    if type is STRING:
        if isinstance(value, DefRef):
            return String(str(value))
        number = int_of(value)
        if number is not None:
            return String(str(number))
    return None if value is UNSET else value.convert_to(type)


def _record_named(name: str, type: RecordType, context: FoldingContext) -> Value | None:
    record = context.records.defs.get(name)
    if record is None:
        mine = None if context.record is None else context.record.name
        is_self = isinstance(mine, String | AnonymousName) and mine.value == name
        if not context.final:
            return None
        if not is_self or context.record is None:
            raise EvaluationError(f"there is no record '{name}'")
        record = context.record
    if not record.ref.type.is_a(type):
        raise EvaluationError(f"the record '{name}' is a '{record.ref.type}'; a '{type}' is needed")
    return record.ref


def _exists(args: Args, type: Type, context: FoldingContext) -> Value | None:
    (name,) = args
    if not isinstance(name, String):
        return None
    record = context.records.defs.get(name.value)
    if record is not None:
        return _flag(record.ref.type.is_a(type))
    if context.record is not None:
        mine = context.record.name
        if isinstance(mine, String | AnonymousName) and mine.value == name.value:
            return _flag(context.record.type.is_a(type)) if context.final else None
    return _flag(value=False) if context.final or context.record is None else None


def _instances(args: Args, type: Type, context: FoldingContext) -> Value | None:
    (pattern,) = args
    if not isinstance(pattern, String) or (context.record is not None and not context.final):
        return None
    expression = RegularExpression(pattern.value)
    result = [
        record.ref
        for name, record in sorted(context.records.defs.items())
        if record.ref.type.is_a(type) and expression.is_found_in(name)
    ]
    return List(tuple(result), type)


def _isa(args: Args, type: Type, context: FoldingContext) -> Value | None:
    mine = args[0].type
    if mine is None:
        return None
    if mine.is_a(type):
        return _flag(value=True)
    if isinstance(type, RecordType):
        # A reference of a more general type may be to a record of the type.
        is_undecided = isinstance(mine, RecordType) and not isinstance(args[0], DefRef)
        return None if is_undecided else _flag(value=False)
    return None if type.converts_to(mine) and args[0].has_variables else _flag(value=False)


def _initialized(args: Args, type: Type, context: FoldingContext) -> Value | None:
    if args[0] is UNSET:
        return _flag(value=False)
    return _flag(value=True) if args[0].is_concrete else None


def _repr(args: Args, type: Type, context: FoldingContext) -> Value | None:
    (value,) = args
    if not value.is_concrete:
        return None
    return _text(value.record.text() if isinstance(value, DefRef) else str(value))


# -- numbers


def _wrapped(number: int) -> Int:
    return Int((number + 2**63) % 2**64 - 2**63)


def _number(count: Callable[[int, int], int]) -> Folder:
    def fold(args: Args, type: Type, context: FoldingContext) -> Value | None:
        lhs, rhs = int_of(args[0]), int_of(args[1])
        return None if lhs is None or rhs is None else _wrapped(count(lhs, rhs))

    return fold


def _quotient(lhs: int, rhs: int) -> int:
    if rhs == 0:
        raise EvaluationError("division by zero")
    if lhs == -(2**63) and rhs == -1:
        raise EvaluationError(f"the quotient of {lhs} and {rhs} has more than 64 bits")
    return abs(lhs) // abs(rhs) * (1 if (lhs < 0) == (rhs < 0) else -1)


def _shift(count: Callable[[int, int], int]) -> Callable[[int, int], int]:
    def shifted(lhs: int, rhs: int) -> int:
        if not 0 <= rhs < 64:
            raise EvaluationError(f"a shift by {rhs} bits; 0 to 63 are possible")
        return count(lhs, rhs)

    return shifted


def _not(args: Args, type: Type, context: FoldingContext) -> Value | None:
    number = int_of(args[0])
    return None if number is None else _flag(not number)


def _logtwo(args: Args, type: Type, context: FoldingContext) -> Value | None:
    number = int_of(args[0])
    if number is None:
        return None
    if number <= 0:
        raise EvaluationError(f"the logarithm of {number} is not defined")
    return Int(number.bit_length() - 1)


def _compared(holds: Callable[[int | str, int | str], bool], records: bool | None = None) -> Folder:
    """Returns the folder of a comparison; `records` is its result for two references to one record."""

    def fold(args: Args, type: Type, context: FoldingContext) -> Value | None:
        lhs, rhs = args
        a, b = int_of(lhs), int_of(rhs)
        if a is not None and b is not None:
            return _bit(holds(a, b))
        if isinstance(lhs, String) and isinstance(rhs, String):
            return _bit(holds(lhs.value, rhs.value))
        if records is not None and isinstance(lhs, DefRef) and isinstance(rhs, DefRef):
            return _bit((lhs.record is rhs.record) == records)
        return None

    return fold


def _order(holds: Callable[[int], bool]) -> Folder:
    def compare(a: int | str, b: int | str) -> bool:
        if isinstance(a, int) and isinstance(b, int):
            return holds((a > b) - (a < b))
        return holds((str(a).encode() > str(b).encode()) - (str(a).encode() < str(b).encode()))

    return _compared(compare)


# -- choices


def _if(args: Args, type: Type, context: FoldingContext) -> Value | None:
    number = int_of(args[0])
    return None if number is None else args[1 if number else 2]


def _cond(args: Args, type: Type, context: FoldingContext) -> Value | None:
    for condition, value in zip(args[::2], args[1::2], strict=True):
        number = int_of(condition)
        if number is None:
            return None
        if number:
            return value.convert_to(type)
    raise EvaluationError("no condition of '!cond' holds")


# -- strings


def _strconcat(args: Args, type: Type, context: FoldingContext) -> Value | None:
    lhs, rhs = args
    if isinstance(lhs, String) and isinstance(rhs, String):
        return _text(lhs.value + rhs.value, is_code=lhs.is_code or rhs.is_code)
    return None


def _interleave(args: Args, type: Type, context: FoldingContext) -> Value | None:
    items, delimiter = args
    if not isinstance(items, List) or not isinstance(delimiter, String):
        return None
    parts: list[str] = []
    for item in items.items:
        if isinstance(item, String):
            parts.append(item.value)
            continue
        number = int_of(item)
        if number is None:
            return None
        parts.append(str(number))
    return _text(delimiter.value.join(parts))


def _case(change: Callable[[bytes], bytes]) -> Folder:
    """Returns the folder of a change of ASCII letters."""

    def fold(args: Args, type: Type, context: FoldingContext) -> Value | None:
        return String(change(args[0].value.encode()).decode()) if isinstance(args[0], String) else None

    return fold


def _substr(args: Args, type: Type, context: FoldingContext) -> Value | None:
    text, start, count = args[0], int_of(args[1]), int_of(args[2])
    if not isinstance(text, String) or start is None or count is None:
        return None
    content = text.value.encode()
    if not 0 <= start <= len(content):
        raise EvaluationError(f"the substring begins at {start}; 0 to {len(content)} are possible")
    if count < 0:
        raise EvaluationError(f"the substring has the length {count}")
    return String(content[start : start + count].decode(errors="replace"), is_code=text.is_code)


def _find(args: Args, type: Type, context: FoldingContext) -> Value | None:
    text, expected, start = args[0], args[1], int_of(args[2])
    if not isinstance(text, String) or not isinstance(expected, String) or start is None:
        return None
    content = text.value.encode()
    if not 0 <= start <= len(content):
        raise EvaluationError(f"the search begins at {start}; 0 to {len(content)} are possible")
    return Int(content.find(expected.value.encode(), start))


def _match(args: Args, type: Type, context: FoldingContext) -> Value | None:
    text, pattern = args
    if not isinstance(text, String) or not isinstance(pattern, String):
        return None
    return _bit(RegularExpression(pattern.value).is_found_in(text.value))


def _subst(args: Args, type: Type, context: FoldingContext) -> Value | None:
    old, new, where = args
    if isinstance(where, DefRef):
        if isinstance(old, DefRef) and isinstance(new, DefRef):
            return new if old.record is where.record else where
    elif isinstance(where, Variable):
        if isinstance(old, Variable) and isinstance(new, Variable):
            return new if old.name == where.name else where
    elif isinstance(where, String) and isinstance(old, String) and isinstance(new, String):
        if not old.value:
            raise EvaluationError("'!subst' replaces an empty text")
        return _text(where.value.replace(old.value, new.value), is_code=where.is_code)
    return None


# -- lists


def _length(args: Args, type: Type, context: FoldingContext) -> Value | None:
    match args[0]:
        case List(items=items):
            return Int(len(items))
        case Dag(args=arguments):
            return Int(len(arguments))
        case String(value=text):
            return Int(len(text.encode()))
        case _:
            return None


def _empty(args: Args, type: Type, context: FoldingContext) -> Value | None:
    length = _length(args, type, context)
    return _flag(length.value == 0) if isinstance(length, Int) else None


def _head(args: Args, type: Type, context: FoldingContext) -> Value | None:
    return args[0].items[0] if isinstance(args[0], List) and args[0].items else None


def _tail(args: Args, type: Type, context: FoldingContext) -> Value | None:
    items = args[0]
    return List(items.items[1:], items.element) if isinstance(items, List) and items.items else None


def _listconcat(args: Args, type: Type, context: FoldingContext) -> Value | None:
    lhs, rhs = args
    if not isinstance(lhs, List) or not isinstance(rhs, List):
        return None
    context.records.count_items(len(lhs.items) + len(rhs.items))
    return List(lhs.items + rhs.items, lhs.element)


def _listflatten(args: Args, type: Type, context: FoldingContext) -> Value | None:
    (outer,) = args
    if not isinstance(outer, List) or not isinstance(outer.element, ListType):
        return outer if isinstance(outer, List) else None
    items: list[Value] = []
    for inner in outer.items:
        if not isinstance(inner, List):
            return None
        items += inner.items
    context.records.count_items(len(items))
    return List(tuple(items), outer.element.element)


def _listsplat(args: Args, type: Type, context: FoldingContext) -> Value | None:
    count = int_of(args[1])
    if count is None or args[0].type is None:
        return None
    if count < 0:
        raise EvaluationError(f"'!listsplat' makes {count} items")
    context.records.count_items(count)
    return List((args[0],) * count, args[0].type)


def _listremove(args: Args, type: Type, context: FoldingContext) -> Value | None:
    items, without = args
    if not isinstance(items, List) or not isinstance(without, List):
        return None
    if items.names or without.names:
        return None
    removed = {item.key() for item in without.items}
    return List(tuple(item for item in items.items if item.key() not in removed), items.element)


def _range(args: Args, type: Type, context: FoldingContext) -> Value | None:
    start, end, step = (int_of(arg) for arg in args)
    if start is None or end is None or step is None:
        return None
    if step == 0:
        raise EvaluationError("'!range' with the step 0")
    numbers = range(start, end, step)
    if numbers[MAX_SIZE:]:  # Python does not count the longest ranges
        raise too_large()
    context.records.count_items(len(numbers))
    return List(tuple(Int(number) for number in numbers), INT)


def _rangec(args: Args, type: Type, context: FoldingContext) -> Value | None:
    """Folds the numbers `first...last` of a slice, perhaps descending."""
    first, last = (int_of(arg) for arg in args)
    if first is None or last is None:
        return None
    step = 1 if first <= last else -1
    return _range((Int(first), Int(last + step), Int(step)), type, context)


def _element(args: Args, type: Type, context: FoldingContext) -> Value | None:
    items, index = args[0], int_of(args[1])
    if not isinstance(items, List) or index is None or not 0 <= index < len(items.items):
        return None
    return items.items[index]


def _slice(args: Args, type: Type, context: FoldingContext) -> Value | None:
    items, indices = args
    if not isinstance(items, List) or not isinstance(indices, List):
        return None
    context.records.count_items(len(indices.items))
    taken = [_element((items, index), type, context) for index in indices.items]
    known = tuple(each for each in taken if each is not None)
    return List(known, items.element) if len(known) == len(taken) else None


# -- dags


def _con(args: Args, type: Type, context: FoldingContext) -> Value | None:
    lhs, rhs = args
    if not isinstance(lhs, Dag) or not isinstance(rhs, Dag):
        return None
    known = [op for op in (lhs.op, rhs.op) if op is not UNSET]
    if not all(isinstance(op, DefRef) for op in known):
        return None
    if len(known) == 2 and str(known[0]) != str(known[1]):
        raise EvaluationError(f"'!con' of dags whose operators differ: '{lhs}' and '{rhs}'")
    op = known[0] if known else UNSET
    context.records.count_items(len(lhs.args) + len(rhs.args))
    return Dag(op, lhs.op_name or rhs.op_name, lhs.args + rhs.args)


def _dag(args: Args, type: Type, context: FoldingContext) -> Value | None:
    op, values, names = args
    if not (isinstance(values, List) or values is UNSET) or not (isinstance(names, List) or names is UNSET):
        return None
    arguments = [list(each.items) if isinstance(each, List) else None for each in (values, names)]
    count = (
        max(len(each) for each in arguments if each is not None) if any(each is not None for each in arguments) else 0
    )
    items, labels = (each if each is not None else [UNSET] * count for each in arguments)
    if len(items) != len(labels) or not all(isinstance(label, String) or label is UNSET for label in labels):
        return None
    names_of_items = (label.value if isinstance(label, String) else None for label in labels)
    return Dag(op, None, tuple(zip(items, names_of_items, strict=True)))


def _getdagop(args: Args, type: Type, context: FoldingContext) -> Value | None:
    if not isinstance(args[0], Dag):
        return None
    op = args[0].op
    if isinstance(op, DefRef) and not op.type.is_a(type):
        raise EvaluationError(f"the operator of '{args[0]}' is a '{op.type}'; a '{type}' is needed")
    return op


def _setdagop(args: Args, type: Type, context: FoldingContext) -> Value | None:
    dag, op = args
    if not isinstance(dag, Dag) or not isinstance(op, DefRef):
        return None
    return Dag(op, dag.op_name, dag.args)


def _getdagopname(args: Args, type: Type, context: FoldingContext) -> Value | None:
    if not isinstance(args[0], Dag):
        return None
    return UNSET if args[0].op_name is None else String(args[0].op_name)


def _setdagopname(args: Args, type: Type, context: FoldingContext) -> Value | None:
    dag, name = args
    if not isinstance(dag, Dag) or not isinstance(name, String):
        return None
    return Dag(dag.op, name.value, dag.args)


def _position(dag: Dag, selector: Value, op: str) -> int | None:
    """Returns the position of the argument with a number or a name."""
    if isinstance(selector, String):
        result = dag.position(selector.value)
        if result is None:
            raise EvaluationError(f"'!{op}': '{dag}' has no argument '{selector.value}'")
        return result
    index = int_of(selector)
    if index is not None and not 0 <= index < len(dag.args):
        raise EvaluationError(f"'!{op}': the index {index} is out of range: '{dag}' has {len(dag.args)} arguments")
    return index


def _getdagarg(args: Args, type: Type, context: FoldingContext) -> Value | None:
    dag, selector = args
    if not isinstance(dag, Dag):
        return None
    index = _position(dag, selector, "getdagarg")
    if index is None:
        return None
    value = dag.args[index][0]
    mine = value.type
    return UNSET if mine is not None and not mine.is_a(type) else value


def _getdagname(args: Args, type: Type, context: FoldingContext) -> Value | None:
    if not isinstance(args[0], Dag):
        return None
    index = _position(args[0], args[1], "getdagname")
    if index is None:
        return None
    name = args[0].args[index][1]
    return UNSET if name is None else String(name)


def _setdagarg(args: Args, type: Type, context: FoldingContext) -> Value | None:
    dag, selector, value = args
    if not isinstance(dag, Dag):
        return None
    index = _position(dag, selector, "setdagarg")
    if index is None:
        return None
    changed = list(dag.args)
    changed[index] = (value, changed[index][1])
    return Dag(dag.op, dag.op_name, tuple(changed))


def _setdagname(args: Args, type: Type, context: FoldingContext) -> Value | None:
    dag, selector, name = args
    if not isinstance(dag, Dag) or not (isinstance(name, String) or name is UNSET):
        return None
    index = _position(dag, selector, "setdagname")
    if index is None:
        return None
    changed = list(dag.args)
    changed[index] = (changed[index][0], name.value if isinstance(name, String) else None)
    return Dag(dag.op, dag.op_name, tuple(changed))


FOLDERS: Mapping[str, Folder] = {
    "add": _number(lambda a, b: a + b),
    "and": _number(lambda a, b: a & b),
    "cast": _cast,
    "con": _con,
    "cond": _cond,
    "dag": _dag,
    "div": _number(_quotient),
    "element": _element,
    "empty": _empty,
    "eq": _compared(lambda a, b: a == b, records=True),
    "exists": _exists,
    "find": _find,
    "ge": _order(lambda sign: sign >= 0),
    "getdagarg": _getdagarg,
    "getdagname": _getdagname,
    "getdagop": _getdagop,
    "getdagopname": _getdagopname,
    "gt": _order(lambda sign: sign > 0),
    "head": _head,
    "if": _if,
    "initialized": _initialized,
    "instances": _instances,
    "interleave": _interleave,
    "isa": _isa,
    "le": _order(lambda sign: sign <= 0),
    "listconcat": _listconcat,
    "listflatten": _listflatten,
    "listremove": _listremove,
    "listsplat": _listsplat,
    "logtwo": _logtwo,
    "lt": _order(lambda sign: sign < 0),
    "match": _match,
    "mul": _number(lambda a, b: a * b),
    "ne": _compared(lambda a, b: a != b, records=False),
    "not": _not,
    "or": _number(lambda a, b: a | b),
    "range": _range,
    "rangec": _rangec,
    "repr": _repr,
    "setdagarg": _setdagarg,
    "setdagname": _setdagname,
    "setdagop": _setdagop,
    "setdagopname": _setdagopname,
    "shl": _number(_shift(lambda a, b: a << b)),
    "size": _length,
    "slice": _slice,
    "sra": _number(_shift(lambda a, b: a >> b)),
    "srl": _number(_shift(lambda a, b: a % 2**64 >> b)),
    "strconcat": _strconcat,
    "sub": _number(lambda a, b: a - b),
    "subst": _subst,
    "substr": _substr,
    "tail": _tail,
    "tolower": _case(bytes.lower),
    "toupper": _case(bytes.upper),
    "xor": _number(lambda a, b: a ^ b),
}
