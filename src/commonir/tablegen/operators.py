"""Operators of TableGen: what `!add(a, b)` and its like, `record.field`, `Class<args>` and the casts between types are.

An operator whose operands are known folds to its value; one that is not known yet is an `Operation`, which folds when
it is resolved. How each folds is in `folding`. Source: TableGen Programmer's Reference, appendix A.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonir.tablegen.errors import EvaluationError
from commonir.tablegen.folding import FOLDERS, Scene, int_of
from commonir.tablegen.types import ListType, RecordType, Type
from commonir.tablegen.values import FINAL, Dag, DefRef, Int, Key, List, Resolver, Value, Variable, is_same, union

if TYPE_CHECKING:
    from commonir.tablegen.lexer import Location
    from commonir.tablegen.records import Record, Records

_DECIDED_LATE = frozenset({FINAL})
_LATE = frozenset({"cast", "exists", "instances"})
_TYPED = frozenset({"cast", "isa", "exists", "instances", "getdagarg", "getdagop"})
"""Operators that are written with a type."""


class Operation(Value):
    """An operator on operands. `stated` is the type that it is written with, as in `!isa<T>(x)`."""

    __slots__ = ("_type", "args", "op", "stated")

    def __init__(self, op: str, args: tuple[Value, ...], type: Type, declared: Type | None = None) -> None:
        self.op = op
        self.args = args
        self._type = type
        self.stated = declared
        names = union(args)
        self.names = names | _DECIDED_LATE if op in _LATE else names

    @property
    def type(self) -> Type:
        return self._type

    def folded(self, scene: Scene) -> Value:
        """Returns the value, folded as far as its operands are known.

        Raises: EvaluationError when that cannot be.
        """
        result = FOLDERS[self.op](self.args, self.stated or self._type, scene)
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
        """The operator on other operands, folded."""
        changed = not is_same(args, self.args)
        if not changed and not (resolver.final and self.op in _LATE):
            return self
        result = Operation(self.op, args, self._type, self.stated) if changed else self
        return result.folded(Scene(resolver.records, resolver.record, resolver.final))

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
        return (self.op, self._type, self.stated, *(arg.key() for arg in self.args))

    def __str__(self) -> str:
        texts = [str(arg) for arg in self.args]
        match self.op:
            case "element":
                return f"{texts[0]}[{texts[1]}]"
            case "slice":
                return f"{texts[0]}[{texts[1]}]"
            case "rangec":
                return f"{texts[0]}...{texts[1]}"
            case "cond":
                pairs = zip(texts[::2], texts[1::2], strict=True)
                return f"!cond({', '.join(f'{condition}: {value}' for condition, value in pairs)})"
            case _:
                declared = f"<{self.stated}>" if self.op in _TYPED and self.stated is not None else ""
                return f"!{self.op}{declared}({', '.join(texts)})"


class Repetition(Value):
    """`!foreach`, `!filter` or `!foldl`: an expression over variables that only it sees.

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
        around = [over] if start is None else [start, over]
        self.names = union(around) | (body.names - {each.name for each in variables})

    @property
    def type(self) -> Type:
        return self._type

    def folded(self, scene: Scene) -> Value:
        """Returns the value, folded once the list is known.

        Raises: EvaluationError.
        """
        if self.op == "foldl":
            return self._accumulated(scene)
        if isinstance(self.over, Dag) and self.op == "foreach":
            return self._over_dag(self.over, scene)
        if not isinstance(self.over, List):
            return self
        scene.records.count_items(len(self.over.items))
        items: list[Value] = []
        for item in self.over.items:
            value = self._body_of((item,), scene)
            if self.op == "foreach":
                items.append(value)
                continue
            kept = int_of(value)
            if kept is None:
                return self
            if kept:
                items.append(item)
        assert isinstance(self._type, ListType)
        return List(tuple(items), self._type.element)

    def _accumulated(self, scene: Scene) -> Value:
        if not isinstance(self.over, List):
            return self
        assert self.start is not None
        scene.records.count_items(len(self.over.items))
        value = self.start
        for item in self.over.items:
            value = self._body_of((value, item), scene)
        return value

    def _over_dag(self, dag: Dag, scene: Scene) -> Dag:
        op = self._body_of((dag.op,), scene)
        values = tuple(
            self._over_dag(value, scene) if isinstance(value, Dag) else self._body_of((value,), scene)
            for value, _ in dag.args
        )
        return dag.with_parts(op, values)

    def _body_of(self, values: tuple[Value, ...], scene: Scene) -> Value:
        names = (each.name for each in self.variables)
        return self.body.resolve(scene.records.resolver(dict(zip(names, values, strict=True)), scene.record))

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
        return result.folded(Scene(resolver.records, resolver.record, resolver.final))

    def key(self) -> Key:
        start = None if self.start is None else self.start.key()
        return (self.op, self._type, start, self.over.key(), self.body.key(), *(each.name for each in self.variables))

    def __str__(self) -> str:
        if self.start is None:
            return f"!{self.op}({self.variables[0]}, {self.over}, {self.body})"
        return f"!foldl({self.start}, {self.over}, {self.variables[0]}, {self.variables[1]}, {self.body})"


class FieldAccess(Value):
    """`record.field` of a record that is not known yet."""

    __slots__ = ("_type", "base", "field")

    def __init__(self, base: Value, field: str, type: Type) -> None:
        self.base = base
        self.field = field
        self._type = type
        self.names = base.names

    @property
    def type(self) -> Type:
        return self._type

    def folded(self, scene: Scene) -> Value:
        """The field's value, when the record is known and its value is concrete.

        Raises: EvaluationError when it is a field of the record that is being made.
        """
        if not isinstance(self.base, DefRef):
            return self
        record = self.base.record
        if record is scene.record:
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
            Scene(resolver.records, resolver.record, resolver.final)
        )

    def key(self) -> Key:
        return ("field", self.base.key(), self.field)

    def __str__(self) -> str:
        return f"{self.base}.{self.field}"


Argument = tuple["int | str", Value]
"""A template argument as given: by position, or by its name `Class:arg`."""


class Instance(Value):
    """`Class<args>`: a record of its own, which is made once the arguments are known.

    Those of the same class and arguments are one value, which stands where it is first made: see `instance_of`.
    """

    __slots__ = ("args", "location", "made", "owner")

    def __init__(self, owner: Record, args: tuple[Argument, ...], location: Location) -> None:
        self.owner = owner
        self.location = location
        self.made: DefRef | None = None
        self.args = args
        self.names = union(value for _, value in args)

    @property
    def type(self) -> Type:
        return RecordType((self.owner,))

    def folded(self, scene: Scene) -> Value:
        """The record, when all arguments are known.

        Raises: EvaluationError.
        """
        if any(value.has_variables for _, value in self.args):
            return self
        if self.made is None:
            self.made = scene.records.instance(self)
        return self.made

    def resolved(self, resolver: Resolver) -> Value:
        resolver.records.count_step()
        args = tuple((place, value.resolve(resolver)) for place, value in self.args)
        if is_same(tuple(value for _, value in args), tuple(value for _, value in self.args)):
            return self
        result = instance_of(resolver.records, self.owner, args, self.location)
        return result.folded(Scene(resolver.records, resolver.record, resolver.final))

    def key(self) -> Key:
        return _instance_key(self.owner, self.args)

    def __str__(self) -> str:
        args = (
            f"{place.rpartition(':')[2] if isinstance(place, str) else place}: {value}" for place, value in self.args
        )
        return f"{self.owner.name_text}<{', '.join(args)}>"


def _instance_key(owner: Record, args: tuple[Argument, ...]) -> Key:
    return ("instance", id(owner), *((place, value.key()) for place, value in args))


def instance_of(records: Records, owner: Record, args: tuple[Argument, ...], location: Location) -> Instance:
    """The value `Class<args>`."""
    key = _instance_key(owner, args)
    result = records.instances.get(key)
    if result is None:
        result = records.instances[key] = Instance(owner, args, location)
    return result


def cast(value: Value, type: Type) -> Value | None:
    """A value as another type, with an operator that converts it later when it is not known yet."""
    mine = value.type
    if mine is None or mine == type or mine.is_a(type):
        return value
    if not mine.converts_to(type):
        return None
    return value.convert_to(type) or Operation("cast", (value,), type, type)
