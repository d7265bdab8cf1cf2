"""Operators of TableGen: bang operators such as `!add(a, b)`, `record.field`, `Class<args>` and casts.

An operator with known operands folds to its value; otherwise it is an `Operation`, which folds when it is resolved. The
folding functions are in `folding`. Source: TableGen Programmer's Reference, appendix A.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonir.tablegen.errors import EvaluationError
from commonir.tablegen.folding import FOLDERS, FoldingContext, int_of
from commonir.tablegen.types import ListType, RecordType, Type
from commonir.tablegen.values import (
    FINAL,
    Dag,
    DefRef,
    Int,
    Key,
    List,
    Resolver,
    String,
    Value,
    Variable,
    is_same,
    union,
)

if TYPE_CHECKING:
    from commonir.tablegen.lexer import Location
    from commonir.tablegen.records import Record, Records

_ON_COMPLETION = frozenset({FINAL})
_RESOLVED_ON_COMPLETION = frozenset({"cast", "exists", "instances"})
_TYPED = frozenset({"cast", "isa", "exists", "instances", "getdagarg", "getdagop"})
"""Operators that have an explicit type."""


class Operation(Value):
    """An operator on operands. `declared_type` is its explicit type, as in `!isa<T>(x)`."""

    __slots__ = ("_type", "args", "declared_type", "op")

    def __init__(self, op: str, args: tuple[Value, ...], type: Type, declared: Type | None = None) -> None:
        self.op = op
        self.args = args
        self._type = type
        self.declared_type = declared
        names = union(args)
        self.names = names | _ON_COMPLETION if op in _RESOLVED_ON_COMPLETION else names

    @property
    def type(self) -> Type:
        return self._type

    def folded(self, context: FoldingContext) -> Value:
        """Returns the folded value; itself if operands are unknown.

        Raises: EvaluationError for invalid operands.
        """
        result = FOLDERS[self.op](self.args, self.declared_type or self._type, context)
        return self if result is None else result

    def resolved(self, resolver: Resolver) -> Value:
        resolver.records.count_step()
        if self.op == "if":
            return self._resolved_choice(resolver)
        if self.op in ("and", "or"):
            return self._resolved_logic(resolver)
        args = tuple(arg.resolve(resolver) for arg in self.args)
        return self.with_args(args, resolver)

    def with_args(self, args: tuple[Value, ...], resolver: Resolver) -> Value:
        """Returns the operator on other operands, folded."""
        changed = not is_same(args, self.args)
        if not changed and not (resolver.final and self.op in _RESOLVED_ON_COMPLETION):
            return self
        result = Operation(self.op, args, self._type, self.declared_type) if changed else self
        return result.folded(FoldingContext(resolver.records, resolver.record, resolver.final))

    def _resolved_choice(self, resolver: Resolver) -> Value:
        condition, then, other = self.args
        known = condition.resolve(resolver)
        if known is not condition:
            number = int_of(known)
            if number is not None:
                return (then if number else other).resolve(resolver)
        return self.with_args((known, then.resolve(resolver), other.resolve(resolver)), resolver)

    def _resolved_logic(self, resolver: Resolver) -> Value:
        lhs = self.args[0].resolve(resolver)
        number = int_of(lhs)
        if number is not None and number == (0 if self.op == "and" else -1):
            return Int(number)
        return self.with_args((lhs, self.args[1].resolve(resolver)), resolver)

    def key(self) -> Key:
        return (self.op, self._type, self.declared_type, *(arg.key() for arg in self.args))

    def __str__(self) -> str:
        shown = [str(arg) for arg in self.args]
        match self.op:
            case "element":
                return f"{shown[0]}[{shown[1]}]"
            case "slice":
                return f"{shown[0]}[{shown[1]}]"
            case "rangec":
                return f"{shown[0]}...{shown[1]}"
            case "cond":
                pairs = zip(shown[::2], shown[1::2], strict=True)
                return f"!cond({', '.join(f'{condition}: {value}' for condition, value in pairs)})"
            case _:
                declared = f"<{self.declared_type}>" if self.op in _TYPED and self.declared_type is not None else ""
                return f"!{self.op}{declared}({', '.join(shown)})"


def joined_name(name: Value) -> Value:
    """Returns the name of a record with texts after an unknown prefix joined to one.

    Multiclasses in each other add a text each, and the names of all their records are resolved at each of them.
    """
    match name:
        case Operation(op="strconcat", args=(Operation(op="strconcat", args=(prefix, String() as a)), String() as b)):
            return Operation("strconcat", (prefix, String(a.value + b.value)), name.type)
        case _:
            return name


class Repetition(Value):
    """`!foreach`, `!filter` or `!foldl`: an expression with variables of its own.

    `over` is the list; of `!foldl`, `start` is the first value and `variables` are the accumulator and the element.
    """

    __slots__ = ("_type", "body", "op", "over", "start", "variables")

    def __init__(
        self, op: str, variables: tuple[Variable, ...], over: Value, body: Value, type: Type, start: Value | None = None
    ) -> None:
        self.op = op
        self.variables = variables
        self.over = over
        self.body = body
        self.start = start
        self._type = type
        outer = [over] if start is None else [start, over]
        self.names = union(outer) | (body.names - {each.name for each in variables})

    @property
    def type(self) -> Type:
        return self._type

    def folded(self, context: FoldingContext) -> Value:
        """Returns the value, folded once the list is known.

        Raises: EvaluationError.
        """
        if self.op == "foldl":
            return self._accumulated(context)
        if isinstance(self.over, Dag) and self.op == "foreach":
            return self._over_dag(self.over, context)
        if not isinstance(self.over, List):
            return self
        context.records.count_items(len(self.over.items))
        items: list[Value] = []
        for item in self.over.items:
            value = self._body_of((item,), context)
            if self.op == "foreach":
                items.append(value)
                continue
            is_selected = int_of(value)
            if is_selected is None:
                return self
            if is_selected:
                items.append(item)
        assert isinstance(self._type, ListType)
        return List(tuple(items), self._type.element)

    def _accumulated(self, context: FoldingContext) -> Value:
        if not isinstance(self.over, List):
            return self
        assert self.start is not None
        context.records.count_items(len(self.over.items))
        value = self.start
        for item in self.over.items:
            value = self._body_of((value, item), context)
        return value

    def _over_dag(self, dag: Dag, context: FoldingContext) -> Dag:
        op = self._body_of((dag.op,), context)
        values = tuple(
            self._over_dag(value, context) if isinstance(value, Dag) else self._body_of((value,), context)
            for value, _ in dag.args
        )
        return dag.with_parts(op, values)

    def _body_of(self, values: tuple[Value, ...], context: FoldingContext) -> Value:
        names = (each.name for each in self.variables)
        return self.body.resolve(context.records.resolver(dict(zip(names, values, strict=True)), context.record))

    def resolved(self, resolver: Resolver) -> Value:
        resolver.records.count_step()
        start = None if self.start is None else self.start.resolve(resolver)
        over = self.over.resolve(resolver)
        hidden = frozenset(each.name for each in self.variables)
        inner = resolver.records.shadowed(resolver, hidden) if hidden & resolver.names else resolver
        body = self.body.resolve(inner)
        if start is self.start and over is self.over and body is self.body:
            return self
        result = Repetition(self.op, self.variables, over, body, self._type, start)
        return result.folded(FoldingContext(resolver.records, resolver.record, resolver.final))

    def key(self) -> Key:
        start = None if self.start is None else self.start.key()
        return (self.op, self._type, start, self.over.key(), self.body.key(), *(each.name for each in self.variables))

    def __str__(self) -> str:
        if self.start is None:
            return f"!{self.op}({self.variables[0]}, {self.over}, {self.body})"
        return f"!foldl({self.start}, {self.over}, {self.variables[0]}, {self.variables[1]}, {self.body})"


class FieldAccess(Value):
    """`record.field` of an unknown record."""

    __slots__ = ("_type", "base", "field")

    def __init__(self, base: Value, field: str, type: Type) -> None:
        self.base = base
        self.field = field
        self._type = type
        self.names = base.names

    @property
    def type(self) -> Type:
        return self._type

    def folded(self, context: FoldingContext) -> Value:
        """Returns the value of the field, if the record is known and the value is concrete.

        Raises: EvaluationError when it is a field of the record that is being built.
        """
        if not isinstance(self.base, DefRef):
            return self
        record = self.base.record
        if record is context.record:
            raise EvaluationError(f"'{record.name_text}' refers to its own field '{self.field}' through itself")
        field = record.fields.get(self.field)
        if field is None:
            raise EvaluationError(f"'{record.name_text}' has no field '{self.field}'")
        return field.value if field.value.is_concrete else self

    def resolved(self, resolver: Resolver) -> Value:
        base = self.base.resolve(resolver)
        if base is self.base:
            return self
        return FieldAccess(base, self.field, self._type).folded(
            FoldingContext(resolver.records, resolver.record, resolver.final)
        )

    def key(self) -> Key:
        return ("field", self.base.key(), self.field)

    def __str__(self) -> str:
        return f"{self.base}.{self.field}"


Argument = tuple["int | str", Value]
"""A template argument, by position or by its name `Class:arg`."""


class Instance(Value):
    """`Class<args>`: an anonymous record, which is built when the arguments are known.

    Instances with equal class and arguments are one value: see `instance_of`.
    """

    __slots__ = ("args", "location", "owner", "result")

    def __init__(self, owner: Record, args: tuple[Argument, ...], location: Location) -> None:
        self.owner = owner
        self.location = location
        self.result: DefRef | None = None
        self.args = args
        self.names = union(value for _, value in args)

    @property
    def type(self) -> Type:
        return RecordType((self.owner,))

    def folded(self, context: FoldingContext) -> Value:
        """Returns the record, if all arguments are known.

        Raises: EvaluationError.
        """
        if any(value.has_variables for _, value in self.args):
            return self
        if self.result is None:
            self.result = context.records.instance(self)
        return self.result

    def resolved(self, resolver: Resolver) -> Value:
        resolver.records.count_step()
        args = tuple((key, value.resolve(resolver)) for key, value in self.args)
        if is_same(tuple(value for _, value in args), tuple(value for _, value in self.args)):
            return self
        result = instance_of(resolver.records, self.owner, args, self.location)
        return result.folded(FoldingContext(resolver.records, resolver.record, resolver.final))

    def key(self) -> Key:
        return _instance_key(self.owner, self.args)

    def __str__(self) -> str:
        args = (f"{key.rpartition(':')[2] if isinstance(key, str) else key}: {value}" for key, value in self.args)
        return f"{self.owner.name_text}<{', '.join(args)}>"


def _instance_key(owner: Record, args: tuple[Argument, ...]) -> Key:
    return ("instance", id(owner), *((key, value.key()) for key, value in args))


def instance_of(records: Records, owner: Record, args: tuple[Argument, ...], location: Location) -> Instance:
    """Returns the value `Class<args>`."""
    key = _instance_key(owner, args)
    result = records.instances.get(key)
    if result is None:
        result = records.instances[key] = Instance(owner, args, location)
    return result


def cast(value: Value, type: Type) -> Value | None:
    """Returns a value as another type, None if it has no such conversion; of an unknown value, the conversion."""
    mine = value.type
    if mine is None or mine == type or mine.is_a(type):
        return value
    if not mine.converts_to(type):
        return None
    return value.convert_to(type) or Operation("cast", (value,), type, type)
