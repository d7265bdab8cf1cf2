"""Converts a program to another dialect, operation by operation, by rules.

A rule is a function `(op, context, *operands) -> values | Mismatch`. `op` is the source operation, `operands` are its
converted operands, grouped as declared (None for an absent one, a tuple for a variadic one; parameters are read from
`op`). The rule returns values for the results, defined by detached operations of the target, or of any dialect whose
operations can be legalized in turn. An operation without an applicable rule is expanded by its reference.

A source operation of the target's dialect is copied, unless the requested version has another definition of it: then it
is converted like any other. Values keep their types and names. Rules are written for the newest version of the target:
operations are rebuilt with the definition of the requested version, and a rule whose operations that version lacks does
not apply.

The source is never changed, and the result is complete: either the whole program, or diagnostics with every reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from inspect import unwrap
from types import ModuleType

from commonir.base.codes import UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics, InternalError
from commonir.base.tuples import NamedTuple
from commonir.ir.module import Module
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.origins import Location, located_at
from commonir.ir.types import TensorType, Type, is_collection
from commonir.notation import NotKnownError
from commonir.ods import Dialect, Dialects, Form, Op, known_data, not_constant, operations_behind, path_of, results_of
from commonir.ods.data_dependent_dims import DataDependentDim, defined_dims, dims_introduced
from commonir.ods.fields import Field, FieldKind
from commonir.ods.inference import PlacedOperations
from commonir.rewrite.equivalence import have_same_meaning
from commonir.rewrite.expand import expand

MAX_EXPANSIONS = 100
"""The most steps to legalize one operation, far more than rules without a cycle need."""


class Mismatch(NamedTuple):
    """A rule does not apply, and why; the reason completes `because ...`."""

    reason: str


NO_REASON = Mismatch("")
"""Generic rules decline silently; only specific rules report why."""

Result = Value | tuple[Value, ...] | Operation | Mismatch


class LegalizationRule:
    """Converts the operations of one definition and of those that derive from it."""

    __slots__ = ("build", "definition")

    def __init__(self, definition: type[Op], build: Callable[..., Result]) -> None:
        self.definition = definition
        self.build = build

    def __repr__(self) -> str:
        return f"<rule {self.build.__name__} for {self.definition.__name__}>"


def rule(definition: type[Op]) -> Callable[[Callable[..., Result]], LegalizationRule]:
    """Returns a decorator that makes a function the rule for a definition.

    A rule decides whether it applies before it builds anything.
    """
    return lambda build: LegalizationRule(definition, build)


def direct_counterpart(source: type[Op], definition: Callable[..., Op]) -> LegalizationRule:
    """Returns the rule that replaces operations by those of another definition with the same operands and no
    attributes.
    """

    def same(op: Op, context: Context, *operands: Value) -> Value:
        del op, context
        return definition(*operands).result

    return LegalizationRule(source, same)


def counterparts_in(*modules: ModuleType) -> dict[type[Op], type[Op]]:
    """Returns the definitions in modules that name a direct counterpart as `fn`, by the counterpart."""
    result: dict[type[Op], type[Op]] = {}
    for member in [member for module in modules for member in vars(module).values()]:
        function: object = vars(member).get("fn") if isinstance(member, type) and issubclass(member, Op) else None
        if callable(function):
            source: object = unwrap(function)
            if isinstance(source, type) and issubclass(source, Op):
                result[source] = member
    return result


class Rules:
    """Rules by definition: those of the most specific definition first, in the given order for one definition."""

    __slots__ = ("_by_definition", "_cache")

    def __init__(self, rules: Iterable[LegalizationRule]) -> None:
        self._by_definition: dict[type[Op], list[LegalizationRule]] = {}
        for r in rules:
            self._by_definition.setdefault(r.definition, []).append(r)
        self._cache: dict[type[Op], tuple[LegalizationRule, ...]] = {}

    def all(self) -> Iterator[LegalizationRule]:
        """Yields all rules."""
        return (r for rules in self._by_definition.values() for r in rules)

    def for_definition(self, definition: type[Op]) -> tuple[LegalizationRule, ...]:
        """Returns the rules that may apply to the operations of a definition."""
        result = self._cache.get(definition)
        if result is None:
            result = tuple([r for base in definition.__mro__ for r in self._by_definition.get(base, ())])
            self._cache[definition] = result
        return result

    @staticmethod
    def members(*namespaces: Mapping[str, object]) -> Iterator[LegalizationRule]:
        """Yields the rules among the members of modules, in order."""
        return (member for names in namespaces for member in names.values() if isinstance(member, LegalizationRule))


class Target(NamedTuple):
    """The target of a conversion: a dialect and a version of it.

    `also_legal` are names of other dialects and single operations that are legal too, in any version.
    """

    dialect: str
    version: str = ""
    also_legal: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return f"{self.dialect} {self.version}".strip()


class Context:
    """The context of a rule besides its operation.

    `regions` are the legalized regions of the operation, and `origin` is the source operation from which it was built.
    `diagnostics` receives those that are not about single operations. `memo` is a cache of values that rules share
    within an outermost operation. `dims` maps the name of a data-dependent dim to a converted value and its axis.
    """

    __slots__ = (
        "_hoisted",
        "_last_hoisted",
        "_prologue",
        "_versioned",
        "diagnostics",
        "dims",
        "memo",
        "origin",
        "regions",
        "source",
        "target",
    )

    def __init__(self, target: Target, versioned: Callable[[Op], Op | Mismatch], diagnostics: Diagnostics) -> None:
        self.target = target
        self._versioned = versioned
        self.diagnostics = diagnostics
        self.origin: Operation | None = None
        self.regions: tuple[Region, ...] = ()
        self.memo: dict[object, Value] = {}
        self.source: Operation | None = None
        self.dims: dict[str, tuple[Value, int]] = {}
        self._prologue: Block | None = None
        self._last_hoisted: Operation | None = None
        self._hoisted: set[Value] = set()

    @property
    def prologue(self) -> Block:
        """The block of the outermost operation, whose arguments are visible in all nested regions."""
        if self._prologue is None:
            raise ValueError("the operation is not in a function")
        return self._prologue

    def start(self, source: Operation, block: Block | None) -> None:
        """Starts the conversion of an outermost operation."""
        self.source, self.memo, self.dims = source, {}, {}
        self._prologue, self._last_hoisted = block, None
        self._hoisted = set() if block is None else set(block.arguments)

    def passes_over(self, op: Operation, operands: Sequence[Value]) -> bool:
        """Returns whether an operation is skipped because errors in its operands were reported."""
        del op, operands
        return False

    def finished(self, op: Operation, values: Sequence[Value]) -> None:
        """Receives an operation and the values of its results."""
        del op, values

    def is_hoisted(self, value: Value) -> bool:
        """Returns whether a value is an argument of the outermost operation, or the result of a hoisted operation."""
        return value in self._hoisted

    def legal(self, op: Op) -> Op:
        """Returns a target operation with its definition in the requested version, for nested regions that a rule
        builds.

        Raises: DiagnosticError (E0601) when the version does not have it.
        """
        result = self._versioned(op)
        if isinstance(result, Mismatch):
            raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, result.reason))
        return result

    def hoist(self, op: Op) -> Value:
        """Inserts a target operation before everything that depends on the arguments, and returns its result.

        Its operands are arguments of the outermost operation, or results of hoisted operations.

        Raises: DiagnosticError (E0601) when the requested version does not have it.
        """
        built = self.legal(op)
        block = self.prologue
        if self._last_hoisted is not None:
            block.insert_after(self._last_hoisted, built)
        elif block.first is not None:
            block.insert_before(block.first, built)
        else:
            block.append(built)
        self._last_hoisted = built
        self._hoisted.update(built.results)
        return built.result


ContextMaker = Callable[[Target, Callable[[Op], Op | Mismatch], Diagnostics], Context]


def legalize(
    module: Module,
    rules: Rules,
    dialects: Dialects,
    target: Target,
    *,
    chosen: Callable[[Operation], bool] = lambda _: True,
    argument_type: Callable[[Type], Type] = lambda original: original,
    context: ContextMaker = Context,
) -> Module:
    """Returns the module converted to the target dialect, with those of its outermost operations for which `chosen` is
    True.

    `argument_type` converts types of block arguments that the target lacks; `context` builds the context of rules.

    Raises: DiagnosticError (E0601) for each operation that cannot be expressed, with the reasons as notes.
    """
    diagnostics = Diagnostics()
    result = Module(entry=module.entry)
    legalization = _Legalization(rules, dialects, target, diagnostics, argument_type, context)
    for op in module.body.operations:
        if chosen(op):
            legalization.outermost(op, result.body)
    diagnostics.raise_errors()
    return result


class _Frame:
    """Operations still to be legalized into a block, and a function to call afterwards."""

    __slots__ = ("_operations", "_postponed", "block", "depth", "finish", "origin")

    def __init__(
        self,
        operations: Iterable[Operation],
        block: Block,
        origin: Operation | None = None,
        finish: Callable[[], None] | None = None,
        depth: int = 0,
    ) -> None:
        self._operations: Iterator[Operation] = iter(operations)
        self._postponed: Operation | None = None
        self.block = block
        self.origin = origin
        self.finish = finish
        self.depth = depth

    def next(self) -> Operation | None:
        """Returns the next operation."""
        op, self._postponed = self._postponed, None
        return op or next(self._operations, None)

    def postpone(self, op: Operation) -> None:
        """Puts an operation back at the front, to be visited after its nested operations."""
        self._postponed = op


class _Legalization:
    """The state of legalizing one module."""

    def __init__(
        self,
        rules: Rules,
        dialects: Dialects,
        target: Target,
        diagnostics: Diagnostics,
        argument_type: Callable[[Type], Type],
        context: ContextMaker,
    ) -> None:
        dialect = dialects.get(target.dialect)
        if dialect is None:
            raise ValueError(f"no dialect '{target.dialect}' is in use")
        self.rules = rules
        self.argument_type = argument_type
        self.dialect: Dialect = dialect
        self.target = target
        self._also_legal = target.also_legal
        self.diagnostics = diagnostics
        self.context = context(target, self._versioned, diagnostics)
        self.values: dict[Value, Value] = {}
        self.regions: dict[Operation, tuple[Region, ...]] = {}
        self.frames: list[_Frame] = []

    def outermost(self, op: Operation, block: Block) -> None:
        """Legalizes an operation of the module with everything in it."""
        self.context.start(op, None)
        self.frames.append(_Frame([op], block))
        while self.frames:
            frame = self.frames[-1]
            following = frame.next()
            if following is not None:
                self._step(following, frame)
                continue
            self.frames.pop()
            if frame.finish is not None:
                frame.finish()

    def _step(self, op: Operation, frame: _Frame) -> None:
        is_of_source = frame.origin is None
        if not is_of_source and self._is_legal(op):
            # Its nested operations are legal already, but may use outer values that are replaced.
            for built in op.walk():
                built.operands = tuple([self.values.get(v, v) for v in built.operands])
            op.detach()
            frame.block.append(op)
        elif op.regions and op not in self.regions and self._may_be_legalized(op):
            self._enter(op, frame)
        elif self._is_legal(op) and self._holds(op):
            self._keep(op, frame)
        else:
            self._replace(op, frame)

    def _may_be_legalized(self, op: Operation) -> bool:
        """Returns whether an operation with regions can be converted at all; if not, its regions are not visited."""
        return not isinstance(op, Op) or self._is_legal(op) or bool(self.rules.for_definition(type(op)))

    def _is_legal(self, op: Operation) -> bool:
        return self._is_of_dialect(op) or not self._also_legal.isdisjoint((op.name, op.name.partition(".")[0]))

    def _is_of_dialect(self, op: Operation) -> bool:
        return op.name.startswith(f"{self.target.dialect}.")

    def _holds(self, op: Operation) -> bool:
        """Returns whether the requested version has an operation of the target unchanged."""
        if not isinstance(op, Op) or not self._is_of_dialect(op):
            return True
        return self.dialect.holds_in(type(op), self.target.version)

    def _keep(self, op: Operation, frame: _Frame) -> None:
        """Copies a source operation that is legal in the target."""
        copy = op.clone_shallow(tuple([self.values.get(v, v) for v in op.operands]), self.regions.get(op, ()))
        frame.block.append(copy)
        self.values.update(zip(op.results, copy.results, strict=True))
        self._define_dims(defined_dims(op), copy.results)

    def _enter(self, op: Operation, frame: _Frame) -> None:
        """Legalizes the regions of an operation before the operation itself."""
        nested: list[_Frame] = []
        copies: list[Region] = []
        for region in op.regions:
            copy = Region()
            for block in region.blocks:
                types = [self.argument_type(a.type) for a in block.arguments]
                built = Block(types, [a.name for a in block.arguments], block.label)
                self.values.update(zip(block.arguments, built.arguments, strict=True))
                copy.add(built)
                nested.append(_Frame(block.operations, built, frame.origin, depth=frame.depth))
            copies.append(copy)
        if len(self.frames) == 1 and nested:
            self.context.start(op, nested[0].block)
        for region in copies:
            for block in region.blocks:
                self._define_dims(dims_introduced(block.arguments, ()), block.arguments)
        self.regions[op] = tuple(copies)
        frame.postpone(op)
        self.frames.extend(reversed(nested))

    def _replace(self, op: Operation, frame: _Frame) -> None:
        reasons: list[str] = []
        operands = tuple([self.values.get(v, v) for v in op.operands])
        if self.context.passes_over(op, operands):
            self._add_placeholders(op)
            return
        self.context.origin = frame.origin or op
        if isinstance(op, Op):
            for r in self.rules.for_definition(type(op)):
                self.context.regions = self.regions.get(op, ())
                result = self._built(r, op, operands)
                if not isinstance(result, Mismatch):
                    self._place(op, result, frame)
                    return
                if result is not NO_REASON:
                    reasons.append(result.reason)
            if op.form is Form.COMPOSITE and not op.regions and not any(f.is_required for f in op.layout.regions):
                expansion = expand(op, operands)
                self._place(op, (expansion.results, expansion.operations), frame)
                return
        self._report(op, reasons, frame)

    def _built(
        self, r: LegalizationRule, op: Op, operands: Sequence[Value]
    ) -> tuple[tuple[Value, ...], list[Operation]] | Mismatch:
        """Returns the values of a rule and the operations that define them, in the requested version of the target."""
        placed = PlacedOperations(self.context.regions)
        try:
            result = r.build(op, self.context, *_grouped(op, operands))
        except DiagnosticError as error:
            return Mismatch("; ".join(d.message for d in error.diagnostics))
        except NotKnownError as reason:
            return Mismatch(str(reason))
        if isinstance(result, Mismatch):
            return result
        if isinstance(result, Operation) and not result.results:
            values, operations = (), [*operations_behind(result.operands), result]
        else:
            values = results_of(result)
            operations = operations_behind(values, placed=placed)
        replaced: dict[Value, Value] = {}
        for n, built in enumerate(operations):
            if not isinstance(built, Op) or not self._is_of_dialect(built):
                continue
            versioned = self._versioned(built)
            if not isinstance(versioned, Mismatch):
                for f in not_constant(versioned):
                    versioned = Mismatch(f"'{f.name}' of {built.name} must be constant in {self.target}")
                    break
            if not isinstance(versioned, Mismatch) and not set(values).isdisjoint(
                built.results[len(versioned.results) :]
            ):
                versioned = Mismatch(f"{built.name} has fewer results in {self.target}")
            if isinstance(versioned, Mismatch):
                _discard(operations)
                return versioned
            replaced.update(zip(built.results, versioned.results, strict=False))
            operations[n] = versioned
        return tuple([replaced.get(v, v) for v in values]), operations

    def _versioned(self, op: Op) -> Op | Mismatch:
        """Returns an operation with the definition of the requested version; a different definition replaces the
        operation.
        """
        definition = self.dialect.find(op.name, self.target.version)
        if definition is type(op) or not self._is_of_dialect(op):
            return op
        if definition is None:
            known = self.dialect.operations.get(op.name)
            first = known[0].since if known else "another dialect"
            return Mismatch(f"{op.name} needs {first}, the target is {self.target}")
        arguments: dict[str, object] = {}
        known = definition.layout.by_name
        for f in op.layout.arguments:
            value = op.field_value(f)
            expected = known.get(f.name)
            if expected is not None and expected.kind is FieldKind.ATTRIBUTE and isinstance(value, Value):
                arguments[f.name] = as_attribute(expected, value)
                if arguments[f.name] is None:
                    return Mismatch(f"'{f.spelling}' of {op.name} must be known before running in {self.target}")
            elif expected is not None:
                arguments[f.name] = value
            elif value not in (f.default, None, ()):
                return Mismatch(
                    f"'{f.name}' of {op.name} needs {self._first_with(op, f.name)}, the target is {self.target}"
                )
        missing = next((f.name for f in definition.layout.arguments if f.is_required and f.name not in arguments), None)
        if missing is not None:
            return Mismatch(f"{op.name} takes '{missing}' in {self.target}")
        try:
            result = definition(**arguments)
        except DiagnosticError as error:
            return Mismatch("; ".join(f"{d.message} in {self.target}" for d in error.diagnostics))
        if definition.reference is not type(op).reference and not have_same_meaning(op, result):
            return Mismatch(f"{op.name} has a different meaning in {self.target}")
        if any(r.is_used for r in op.results[len(result.results) :]):
            return Mismatch(f"{op.name} has fewer results in {self.target}")
        op.regions = ()
        for old, new in zip(op.results, result.results, strict=False):
            new.name = old.name
            old.replace_all_uses_with(new)
        op.erase()
        return result

    def _first_with(self, op: Op, field: str) -> str:
        """Returns the first version in which an operation has a field."""
        return next(d.since for d in self.dialect.operations[op.name] if field in d.layout.by_name)

    def _place(self, op: Operation, built: tuple[tuple[Value, ...], list[Operation]], frame: _Frame) -> None:
        """Appends the replacement of an operation to the block, after legalizing operations of other dialects."""
        values, operations = built
        location = op.location or _named_location(op)
        for new_op in operations:
            new_op.location = new_op.location or location
        if all(map(self._is_legal, operations)):
            for new_op in operations:
                frame.block.append(new_op)
            self._finish(op, values)
            return
        intermediate = [new_op for new_op in operations if not self._is_legal(new_op)]

        def finish() -> None:
            self._finish(op, values)
            _discard(intermediate)

        if frame.depth == MAX_EXPANSIONS:
            raise InternalError(f"the rules for {op.name} lead back to it")
        self.frames.append(_Frame(operations, frame.block, frame.origin or op, finish, frame.depth + 1))

    def _finish(self, op: Operation, values: Sequence[Value]) -> None:
        for old, new in zip(op.results, values, strict=True):
            replacement = self.values.get(new, new)
            replacement.retype(with_known_dims(replacement.type, old.type))
            self.values[old] = replacement
            replacement.name = replacement.name or old.name
        self.context.finished(op, [self.values[r] for r in op.results])
        self._define_dims(defined_dims(op), [self.values[r] for r in op.results])

    def _define_dims(self, defined: Iterable[DataDependentDim], values: Sequence[Value]) -> None:
        """Records the values that have data-dependent dims."""
        for dim in defined:
            self.context.dims[dim.name] = values[dim.position], dim.axis

    def _report(self, op: Operation, reasons: Sequence[str], frame: _Frame) -> None:
        origin = frame.origin or op
        within = "" if origin is op else f" (part of {origin.name})"
        notes = list(dict.fromkeys(reasons)) or [f"no rule takes {op.name}, and it cannot be expanded"]
        message = f"{op.name}{within} cannot be expressed in {self.target}"
        arguments = [a for region in op.regions for block in region.blocks for a in block.arguments]
        help = next(filter(None, [collection_help(v.type) for v in (*op.operands, *op.results, *arguments)]), None)
        diagnostic = Diagnostic(UNSUPPORTED_CONVERSION, message, where=path_of(origin), notes=tuple(notes), help=help)
        self.diagnostics.extend([located_at(diagnostic, origin.location)])
        self._add_placeholders(op)

    def _add_placeholders(self, op: Operation) -> None:
        """Adds values for the results of an operation that cannot be expressed, so that the others are tried too."""
        placeholders = [Value(r.type, name=r.name) for r in op.results]
        self.values.update(zip(op.results, placeholders, strict=True))
        self._define_dims(defined_dims(op), placeholders)


def collection_help(type: Type) -> str | None:
    """Returns what to do about a value that the target has no type for; None for a tensor."""
    if not is_collection(type):
        return None
    return f"values of type {type} are converted where the program makes and reads them; pass their elements instead"


def as_attribute(field: Field, value: Value) -> object:
    """Returns the value of an attribute that is an operand in another version; None when it is not known."""
    data = known_data(value)
    if data is None or field.type is None or field.type.from_elements is None:
        return None
    try:
        return field.type.from_elements(data.shape, data.values())
    except ValueError:
        return None


def with_known_dims(type: Type, source: Type) -> Type:
    """Returns a type with the dims of another type of the same value, where inference has none."""
    if not isinstance(type, TensorType) or not isinstance(source, TensorType):
        return type
    if type.shape is None:
        return type.with_shape(source.shape)
    if source.shape is None or len(source.shape) != len(type.shape) or None not in type.shape:
        return type
    return type.with_shape(tuple([s if n is None else n for n, s in zip(type.shape, source.shape, strict=True)]))


def _named_location(op: Operation) -> Location | None:
    name = op.first_name
    return Location(name=name) if name else None


def _grouped(op: Op, operands: Sequence[Value]) -> list[Value | tuple[Value, ...] | None]:
    """Returns the new operands of an operation, one entry for each of `formal_operands`."""
    replacement = dict(zip(op.operands, operands, strict=True))
    out: list[Value | tuple[Value, ...] | None] = []
    for name in op.formal_operands():
        v: Value | tuple[Value, ...] | None = op.as_operand(name)
        out.append(
            tuple([replacement[u] for u in v]) if isinstance(v, tuple) else None if v is None else replacement.get(v, v)
        )
    return out


def _discard(operations: Sequence[Operation]) -> None:
    """Removes the operands of detached operations, so that they are not users any more."""
    for op in reversed(operations):
        op.operands = ()
