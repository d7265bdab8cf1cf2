"""Converts a program to another dialect, operation by operation, by rules.

A rule is a function `(op, context, *operands) -> values | Mismatch`. `op` is the source operation, `operands` are its
converted operands, grouped as declared (None for an absent one, a tuple for a variadic one; parameters are read from
`op`). The rule returns values for the results, defined by detached operations of the target, or of any dialect whose
operations can be legalized in turn. An operation without an applicable rule is expanded by its reference.

A source operation of the target's dialect is copied, unless the requested version has another definition of it: then it
is converted like any other. Values keep their types and names. Rules are written for the newest version of the target:
operations are rebuilt with the definition of the requested version, and a rule whose operations that version lacks does
not apply.

The candidates for an operation are tried in the order of their costs (`legalization_costs`), then in their given order;
if what one of them gives cannot be legalized, it is undone and the next one is tried.

The source is never changed, and the result is complete: either the whole program, or diagnostics with every reason.
`LegalizationOptions` allow partial results, casts where a rule changes types, and operations for later steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from inspect import unwrap
from types import ModuleType

from commonir.base.codes import ENDLESS_REWRITING, RULE_FUNCTION_FAILED, UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.tuples import NamedTuple
from commonir.dialects.mlir.builtin import UnrealizedConversionCast
from commonir.dialects.mlir.function_operations import FunctionOp
from commonir.ir.module import Function, Invocation, Module
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.origins import Location, located_at
from commonir.ir.types import FunctionType, Type, with_known_dims
from commonir.notation import NotKnownError, OutOfRangeError
from commonir.ods import Dialect, Dialects, Form, Op, not_constant, operations_behind, path_of, results_of, traits
from commonir.ods.data_dependent_dims import DataDependentDim, defined_dims, dims_introduced
from commonir.ods.inference import PlacedOperations
from commonir.rewrite.attempts import Attempt, Fallback, Frame, LegalizationStep, discard
from commonir.rewrite.casts import cast, fold_casts, is_same_type
from commonir.rewrite.expand import expand
from commonir.rewrite.legality import Mismatch, Target, collection_help
from commonir.rewrite.legalization_costs import Costs
from commonir.rewrite.target_versions import versioned

MAX_EXPANSIONS = 100
"""The most steps to legalize one operation, far more than rules without a cycle need."""
_MOST_REPEATS = 3
"""How often a function may be the rule for equal operations in a chain, before that is taken for a cycle."""


NO_REASON = Mismatch("")
"""Generic rules decline silently; only specific rules report why."""


class Replacement(NamedTuple):
    """Values for the results of an operation, and all operations that were built for them, in order."""

    values: tuple[Value, ...]
    operations: tuple[Operation, ...]


Result = Value | tuple[Value, ...] | Operation | Replacement | Mismatch


class LegalizationRule:
    """Converts the operations of one definition and of those that derive from it.

    `produces` are the definitions of the operations that it gives, if they are known. A rule that `reads_source` builds
    on operands of the source, which are cast where their types have been converted. `name` is for messages; of rules of
    the same cost, one with a higher `benefit` is tried first.
    """

    __slots__ = ("benefit", "build", "definition", "name", "produces", "reads_source")

    def __init__(
        self,
        definition: type[Op],
        build: Callable[..., Result],
        *,
        name: str = "",
        produces: tuple[type[Op], ...] | None = None,
        reads_source: bool = False,
        benefit: int = 0,
    ) -> None:
        self.definition = definition
        self.build = build
        self.name = name
        self.produces = produces
        self.reads_source = reads_source
        self.benefit = benefit

    def __repr__(self) -> str:
        return self.name or f"<rule {self.build.__name__} for {self.definition.__name__}>"

    @property
    def label(self) -> str:
        """Its name in reports."""
        return f"rule {self.name or self.build.__name__}"


def rule(definition: type[Op]) -> Callable[[Callable[..., Result]], LegalizationRule]:
    """Returns a decorator that makes a function the rule for a definition.

    A rule decides whether it applies before it builds anything.
    """
    return lambda build: LegalizationRule(definition, build)


def direct_counterpart(source: type[Op], definition: Callable[..., Op]) -> LegalizationRule:
    """Returns the rule for operations that another definition has with the same operands and no attributes."""

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

    @property
    def have_costs(self) -> bool:
        """Whether the products of some rules are known."""
        return any(r.produces is not None or r.benefit for r in self.all())

    @staticmethod
    def members(*namespaces: Mapping[str, object]) -> Iterator[LegalizationRule]:
        """Yields the rules among the members of modules, in order."""
        return (member for names in namespaces for member in names.values() if isinstance(member, LegalizationRule))


class Context:
    """The context of a rule besides its operation.

    `regions` are the legalized regions of the operation, and `origin` is the source operation from which it was built.
    `diagnostics` receives those that are not about single operations. `memo` is a cache of values that rules share
    within an outermost operation. `dims` maps the name of a data-dependent dim to a converted value and its axis, and
    `converted` a value of the source to its converted one, such as the value that a parameter is bound to.
    `can_undo`: a rule that was applied has no effect besides the operations that it returned or hoisted.
    """

    can_undo = True

    __slots__ = (
        "_hoisted",
        "_last_hoisted",
        "_prologue",
        "_versioned",
        "converted",
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
        self.converted: Mapping[Value, Value] = {}
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


class LegalizationOptions(NamedTuple):
    """Options of a legalization.

    With `is_partial`, operations stay as they are unless the target declares them illegal. With `casts`, a rule may
    give values of other types than those that it replaces: operations that need the old ones receive casts. `elsewhere`
    returns the cost of legalizing the operations of a definition in a later step, None for those that it cannot.
    `origin_of` maps source operations to those that messages are about, and
    `reachable` are the dialects from which a path leads to the target, for messages. Source operations that are
    `settled` stay.
    """

    is_partial: bool = False
    casts: bool = False
    elsewhere: Callable[[type[Op]], int | None] = lambda _: None
    origin_of: Callable[[Operation], Operation] = lambda op: op
    reachable: tuple[str, ...] = ()
    settled: Callable[[Operation], bool] = lambda _: False


DEFAULT_LEGALIZATION = LegalizationOptions()


class Legalization:
    """The result of a legalization: a module, and how its operations came about.

    `steps` are in order. `origins` maps new operations to the source operations that they are for, and `kept` source
    operations that stay although nothing says that they are legal to the reasons. `casts` are those that remain.
    """

    def __init__(self, module: Module) -> None:
        self.module = module
        self.steps: list[LegalizationStep] = []
        self.origins: dict[Operation, Operation] = {}
        self.kept: dict[Operation, tuple[str, ...]] = {}
        self.casts: list[UnrealizedConversionCast] = []


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
    return legalization(
        module, rules, dialects, target, chosen=chosen, argument_type=argument_type, context=context
    ).module


def legalization(
    module: Module,
    rules: Rules,
    dialects: Dialects,
    target: Target,
    options: LegalizationOptions = DEFAULT_LEGALIZATION,
    *,
    chosen: Callable[[Operation], bool] = lambda _: True,
    argument_type: Callable[[Type], Type] = lambda original: original,
    context: ContextMaker = Context,
) -> Legalization:
    """Returns the module converted as by `legalize`, with what was done.

    Raises: DiagnosticError (E0601) for each operation that cannot be expressed; E0607 for rules that form a cycle.
    """
    diagnostics = Diagnostics()
    run = _Run(module, rules, dialects, target, options, diagnostics, argument_type, context)
    for op in module.body.operations:
        if chosen(op):
            run.outermost(op)
    run.finish()
    diagnostics.raise_errors()
    return run.result


class _Run:
    """The state of legalizing one module."""

    def __init__(
        self,
        module: Module,
        rules: Rules,
        dialects: Dialects,
        target: Target,
        options: LegalizationOptions,
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
        self.options = options
        self.diagnostics = diagnostics
        self.context = context(target, self._versioned, diagnostics)
        self.costs = Costs(target, rules.for_definition, options.elsewhere) if rules.have_costs else None
        self.result = Legalization(Module(module.extra if options.casts else None, module.entry))
        self.legal_names: dict[str, bool] = {}
        self.values: dict[Value, Value] = {}
        self.context.converted = self.values
        self.blocks: dict[Block, Block] = {}
        self.regions: dict[Operation, tuple[Region, ...]] = {}
        self.frames: list[Frame] = []
        self.failures: list[tuple[Operation, Diagnostic, Sequence[Value]]] = []
        self.has_late_operands = False

    def outermost(self, op: Operation) -> None:
        """Legalizes an operation of the module with everything in it."""
        self.context.start(op, None)
        self.frames.append(Frame([op], self.result.module.body))
        while self.frames:
            frame = self.frames[-1]
            following = frame.next()
            if following is not None:
                self._step(following, frame)
                continue
            self.frames.pop()
            if frame.finish is not None:
                frame.finish()

    def finish(self) -> None:
        """Reports failures, and replaces operands that were not known when their users were built."""
        if self.has_late_operands:
            for op in self.result.module.walk():
                op.operands = tuple([self.values.get(v, v) for v in op.operands])
        cycles: set[str] = set()
        for diagnostic in self._needed_failures():
            if diagnostic.code is not ENDLESS_REWRITING or diagnostic.where not in cycles:
                self.diagnostics.extend([diagnostic])
            cycles |= {diagnostic.where} if diagnostic.code is ENDLESS_REWRITING else set()
        if self.options.casts:
            self._remove_replaced()
            self.result.casts = fold_casts(self.result.module)

    def _needed_failures(self) -> list[Diagnostic]:
        """Returns the failures of operations that converted operations need, or others without a path."""
        needed: set[Operation] = set()
        for op, _, placeholders in reversed(self.failures):
            is_pure = self.options.casts and isinstance(op, Op) and op.has_trait(traits.Pure)
            users = [user for r in op.results for user in r.users]
            if not (is_pure and users) or any(v.is_used for v in placeholders) or not needed.isdisjoint(users):
                needed.add(op)
        return [diagnostic for op, diagnostic, _ in self.failures if op in needed]

    def _remove_replaced(self) -> None:
        """Removes pure operations for sources whose users were replaced by operations that do not use them."""
        for built, source in reversed(self.result.origins.items()):
            is_pure = isinstance(built, Op) and built.has_trait(traits.Pure) and bool(built.results)
            was_used = any(r.is_used for r in source.results)
            if is_pure and was_used and built.parent is not None and not any(r.is_used for r in built.results):
                built.erase()

    def _step(self, op: Operation, frame: Frame) -> None:
        is_of_source = frame.origin is None
        if not is_of_source and self._is_legal(op):
            # Its nested operations are legal already, but may use outer values that are replaced.
            self._append(op, frame)
        elif op.regions and op not in self.regions and self._may_be_legalized(op):
            self._enter(op, frame)
        elif self._is_legal(op) and self._holds(op):
            self._keep(op, frame)
        else:
            self._replace(op, frame)

    def _may_be_legalized(self, op: Operation) -> bool:
        """Returns whether an operation with regions can be converted at all; if not, its regions are not visited."""
        if not isinstance(op, Op) or self._is_legal(op) or self.rules.for_definition(type(op)):
            return True
        return self.options.is_partial or self.options.elsewhere(type(op)) is not None

    def _is_legal(self, op: Operation) -> bool:
        legal = self.legal_names.get(op.name)
        if legal is None:
            legal = bool(self.target.legality(op))
            if not self.target.dynamic:
                self.legal_names[op.name] = legal
        return legal or self.options.settled(op)

    def _is_of_dialect(self, op: Operation) -> bool:
        return op.name.startswith(f"{self.target.dialect}.")

    def _holds(self, op: Operation) -> bool:
        """Returns whether the requested version has an operation of the target unchanged."""
        if not isinstance(op, Op) or not self._is_of_dialect(op):
            return True
        return self.dialect.holds_in(type(op), self.target.version)

    def _versioned(self, op: Op) -> Op | Mismatch:
        return versioned(op, self.dialect, self.target)

    # -- values and blocks

    def _converted(self, value: Value, type: Type, block: Block) -> Value:
        """Returns the replacement of a value as a value of a type, by a cast if it has another one."""
        new = self.values.get(value, value)
        if not self.options.casts or is_same_type(new.type, type):
            return new
        result = cast(new, type)
        if isinstance(result.owner, Operation):
            block.append(result.owner)
        return result

    def _append(self, op: Operation, frame: Frame) -> None:
        """Appends a built operation to a block, on replaced operands of their old types."""
        for built in op.walk():
            expected = [(self._converted(v, v.type, frame.block) if v in self.values else v) for v in built.operands]
            built.operands = tuple(expected)
        op.detach()
        frame.block.append(op)
        if self.options.casts and frame.origin is not None:
            for built in op.walk():
                # What is nested in it may come from other operations.
                self.result.origins.setdefault(built, frame.origin)

    def _keep(self, op: Operation, frame: Frame) -> None:
        """Copies a source operation that stays. Structure follows converted types, others keep theirs."""
        follows = (
            bool(op.regions) or isinstance(op, Invocation) or (isinstance(op, Op) and op.has_trait(traits.Terminator))
        )
        expected = [self.argument_type(v.type) if follows else v.type for v in op.operands]
        if self.options.casts and any(v not in self.values for v in op.operands):
            self.has_late_operands = True
        operands = tuple(
            [
                self._converted(v, t, frame.block) if v in self.values else v
                for v, t in zip(op.operands, expected, strict=True)
            ]
        )
        copy = op.clone_shallow(operands, self.regions.get(op, ()))
        if op.successors:
            copy.successors = tuple([self.blocks.get(b, b) for b in op.successors])
        if self.options.casts and isinstance(copy, FunctionOp):
            copy = self._with_signature(copy)
        frame.block.append(copy)
        if follows and self.options.casts:
            for r in copy.results:
                r.retype(self.argument_type(r.type))
        self.values.update(zip(op.results, copy.results, strict=True))
        if self.options.casts:
            self.result.origins[copy] = frame.origin or op
        self._define_dims(defined_dims(op), copy.results)

    def _with_signature(self, function: FunctionOp) -> Operation:
        """Returns a function whose type has converted types."""
        type = function.function_type
        new = FunctionType(*[tuple([self.argument_type(t) for t in each]) for each in (type.inputs, type.results)])
        return function if new is type else function.with_attributes(function_type=new)

    def _enter(self, op: Operation, frame: Frame) -> None:
        """Legalizes the regions of an operation before the operation itself."""
        nested: list[Frame] = []
        copies: list[Region] = []
        for region in op.regions:
            copy = Region()
            for block in region.blocks:
                types = [self.argument_type(a.type) for a in block.arguments]
                built = Block(types, [a.name for a in block.arguments], block.label)
                self.values.update(zip(block.arguments, built.arguments, strict=True))
                self.blocks[block] = built
                copy.add(built)
                nested.append(Frame(block.operations, built, frame.origin, depth=frame.depth))
            copies.append(copy)
        if len(self.frames) == 1 and nested:
            self.context.start(op, nested[0].block)
        for region in copies:
            for block in region.blocks:
                self._define_dims(dims_introduced(block.arguments, ()), block.arguments)
        self.regions[op] = tuple(copies)
        frame.postpone(op)
        self.frames.extend(reversed(nested))

    # -- replacing operations

    def _replace(self, op: Operation, frame: Frame) -> None:
        operands = tuple([self.values.get(v, v) for v in op.operands])
        if self.context.passes_over(op, operands):
            self._add_placeholders(op)
            return
        attempt = Attempt(op, operands, frame, self._candidates(op, frame))
        attempt.memo = dict(self.context.memo) if len(attempt.candidates) > 1 else {}
        attempt.step_count = len(self.result.steps)
        self._try(attempt)

    def _candidates(self, op: Operation, frame: Frame) -> list[object]:
        """Returns the rules for an operation and what may be done instead, the cheapest first."""
        is_of_source = frame.origin is None
        out: list[object] = []
        if isinstance(op, Op):
            definition = type(op)
            found = self.rules.for_definition(definition)
            costs, later = self.costs, self.options.elsewhere(definition)
            if costs is None:
                out += found
                out += [] if later is None else [Fallback.LATER]
            else:
                ranked: list[tuple[int, int, object]] = [(costs.of_rule(r), -r.benefit, r) for r in found]
                ranked += [] if later is None else [(later, 0, Fallback.LATER)]
                out += [candidate for *_, candidate in sorted(ranked, key=lambda entry: entry[:2])]
            is_expandable = later is None and op.form is Form.COMPOSITE
            if is_expandable and not op.regions and not any(f.is_required for f in op.layout.regions):
                out.append(Fallback.REFERENCE)
        has_container_rule = isinstance(op, Function) and bool(out)
        if is_of_source and self.options.is_partial and self.target.legality(op) is None and not has_container_rule:
            out.append(Fallback.KEEP)
        return out

    def _try(self, attempt: Attempt) -> None:
        """Applies the next candidate that applies."""
        op, frame = attempt.op, attempt.frame
        self.context.origin = frame.origin or op
        while attempt.candidates:
            candidate = attempt.applied = attempt.candidates.pop(0)
            if candidate in (Fallback.LATER, Fallback.KEEP):
                if candidate is Fallback.KEEP:
                    reasons = dict.fromkeys(attempt.reasons)
                    self.result.kept[op] = tuple(reasons) or (f"no rule takes {op.name}",)
                self._keep(op, frame)
                return
            built = self._built(candidate, attempt)
            if isinstance(built, Mismatch):
                if built is not NO_REASON:
                    attempt.reasons.append(_labelled(candidate, built.reason))
                continue
            self._place(attempt, built)
            return
        self._fail(attempt)

    def _built(self, candidate: object, attempt: Attempt) -> Replacement | Mismatch:
        """Returns the replacement by a candidate, in the requested version of the target, or why it does not apply."""
        op = attempt.op
        if not isinstance(op, Op):
            return NO_REASON
        chain = [f.attempt for f in self.frames if f.attempt is not None]
        # A function may give the operation that it takes for another reason than its attributes and types.
        most = 1 if isinstance(candidate, LegalizationRule) and candidate.reads_source else _MOST_REPEATS
        repeats = sum(a.applied is candidate and a.is_same(op) for a in chain)
        if attempt.frame.depth >= MAX_EXPANSIONS or repeats >= most:
            attempt.is_cycle = True
            names = " -> ".join(dict.fromkeys([a.op.name for a in chain]))
            return Mismatch(f"the rules for {op.name} lead back to it: {names} -> {op.name}")
        if not isinstance(candidate, LegalizationRule):
            try:
                expansion = expand(op, attempt.operands)
            except DiagnosticError as error:
                if not self.options.casts:
                    raise
                return Mismatch("; ".join(d.message for d in error.diagnostics))
            return Replacement(expansion.results, tuple(expansion.operations))
        self.context.regions = self.regions.get(op, ())
        placed = PlacedOperations(self.context.regions)
        try:
            result = candidate.build(op, self.context, *_grouped(op, attempt.operands))
        except DiagnosticError as error:
            if error.diagnostics[0].code is RULE_FUNCTION_FAILED:
                raise
            return Mismatch("; ".join(d.message for d in error.diagnostics))
        except (NotKnownError, OutOfRangeError) as reason:
            return Mismatch(str(reason))
        if isinstance(result, Mismatch | Replacement):
            return result
        if isinstance(result, Operation) and not result.results:
            values, operations = (), [*operations_behind(result.operands), result]
        else:
            values = results_of(result)
            operations = operations_behind(values, placed=placed)
        return self._in_version(values, operations)

    def _in_version(self, values: tuple[Value, ...], operations: list[Operation]) -> Replacement | Mismatch:
        """Returns a replacement whose operations of the target have the definitions of the requested version."""
        replaced: dict[Value, Value] = {}
        for n, built in enumerate(operations):
            if not isinstance(built, Op) or not self._is_of_dialect(built):
                continue
            new = self._versioned(built)
            if not isinstance(new, Mismatch):
                for f in not_constant(new):
                    new = Mismatch(f"'{f.spelling}' of {built.name} must be constant in {self.target}")
                    break
            if not isinstance(new, Mismatch) and not set(values).isdisjoint(built.results[len(new.results) :]):
                new = Mismatch(f"{built.name} has fewer results in {self.target}")
            if isinstance(new, Mismatch):
                discard(operations)
                return new
            replaced.update(zip(built.results, new.results, strict=False))
            operations[n] = new
        return Replacement(tuple([replaced.get(v, v) for v in values]), tuple(operations))

    def _place(self, attempt: Attempt, built: Replacement) -> None:
        """Appends the replacement of an operation to the block, after legalizing operations of other dialects."""
        op, frame = attempt.op, attempt.frame
        values, operations = built
        location = op.location or _named_location(op)
        for new_op in operations:
            new_op.location = new_op.location or location
        attempt.built = operations
        if self.options.casts:
            names = tuple([new_op.name for new_op in operations])
            applied = attempt.applied
            label = applied.label if isinstance(applied, LegalizationRule) else Fallback.REFERENCE.value
            self.result.steps.append(LegalizationStep(frame.origin or op, op.name, label, names))
        if not self.options.casts and all(map(self._is_legal, operations)):
            for new_op in operations:
                frame.block.append(new_op)
            self._finish(op, values, attempt.applied)
            return
        intermediate = [new_op for new_op in operations if not self._is_legal(new_op)]

        def finish() -> None:
            self._finish(op, values, attempt.applied)
            discard(intermediate)

        self.frames.append(Frame(operations, frame.block, frame.origin or op, finish, frame.depth + 1, attempt))

    def _finish(self, op: Operation, values: Sequence[Value], applied: object) -> None:
        # What a rule as data gives has exactly the types that its definition infers.
        may_refine = not (isinstance(applied, LegalizationRule) and applied.reads_source)
        for old in op.results[len(values) :]:
            # Another version of an operation has fewer results than this one, of which those are not used.
            self.values[old] = Value(old.type, name=old.name)
        for old, new in zip(op.results[: len(values)], values, strict=True):
            replacement = self.values.get(new, new)
            if may_refine or is_same_type(replacement.type, old.type):
                replacement.retype(with_known_dims(replacement.type, old.type))
            self.values[old] = replacement
            replacement.name = replacement.name or old.name
        self.context.finished(op, [self.values[r] for r in op.results])
        self._define_dims(defined_dims(op), [self.values[r] for r in op.results])

    def _define_dims(self, defined: Iterable[DataDependentDim], values: Sequence[Value]) -> None:
        """Records the values that have data-dependent dims."""
        for dim in defined:
            self.context.dims[dim.name] = values[dim.position], dim.axis

    # -- failures

    def _fail(self, attempt: Attempt) -> None:
        """Tries another candidate for the operation that this one is for, or reports it."""
        failure = attempt.failure or self._diagnostic(attempt)
        for frame in reversed(self.frames):
            outer = frame.attempt
            if outer is not None and outer.candidates and self.context.can_undo:
                outer.failure = outer.failure or failure
                outer.is_cycle = outer.is_cycle or attempt.is_cycle
                of = attempt.op.name
                reasons = "; ".join(dict.fromkeys(attempt.reasons)) or f"no rule takes {of}"
                outer.reasons.append(_labelled(outer.applied, f"it gives {of}, and {reasons}"))
                self._undo(outer)
                self._try(outer)
                return
        placeholders = self._add_placeholders(attempt.op)
        self.failures.append((attempt.op, failure, placeholders))

    def _undo(self, attempt: Attempt) -> None:
        """Removes everything that the last candidate of an attempt gave."""
        while self.frames.pop().attempt is not attempt:
            pass
        op, block = attempt.op, attempt.frame.block
        if op in self.regions:
            # A rule may have moved them to an operation that is discarded.
            self.regions[op] = tuple([region.take() for region in self.regions[op]])
        last = block.last
        while last is not None and last is not attempt.mark:
            previous = last.previous
            if not any(map(self.context.is_hoisted, last.results)):
                last.detach()
                discard(list(last.walk()))
                self.result.origins.pop(last, None)
            last = previous
        discard([nested for built in attempt.built for nested in built.walk() if built.parent is None])
        self.context.memo = dict(attempt.memo)
        del self.result.steps[attempt.step_count :]

    def _diagnostic(self, attempt: Attempt) -> Diagnostic:
        """Returns the report that no candidate for an operation led to legal operations."""
        op, origin = attempt.op, self.options.origin_of(attempt.frame.origin or attempt.op)
        within = "" if origin is op else f" (part of {origin.name})"
        unknown = f"no rule takes {op.name}, and it cannot be expanded"
        notes = tuple(dict.fromkeys(attempt.reasons)) or (unknown,)
        message = f"{op.name}{within} cannot be expressed in {self.target}"
        if attempt.is_cycle and len(notes) == 1:
            diagnostic = Diagnostic(ENDLESS_REWRITING, notes[0], where=path_of(origin))
        else:
            arguments = [a for region in op.regions for block in region.blocks for a in block.arguments]
            help = next(filter(None, [collection_help(v.type) for v in (*op.operands, *op.results, *arguments)]), None)
            if help is None and self.options.reachable:
                help = f"needed: a rule for {op.name} that gives operations of {', '.join(self.options.reachable)}"
            diagnostic = Diagnostic(UNSUPPORTED_CONVERSION, message, where=path_of(origin), notes=notes, help=help)
        return located_at(diagnostic, origin.location)

    def _add_placeholders(self, op: Operation) -> list[Value]:
        """Adds values for the results of an operation that cannot be expressed, so that the others are tried too."""
        placeholders = [Value(r.type, name=r.name) for r in op.results]
        self.values.update(zip(op.results, placeholders, strict=True))
        self._define_dims(defined_dims(op), placeholders)
        return placeholders


def _labelled(candidate: object, reason: str) -> str:
    """Returns a reason with the name of the rule, if it has one of its own."""
    if isinstance(candidate, LegalizationRule) and candidate.name:
        return f"{candidate.label}: {reason}"
    return reason


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
