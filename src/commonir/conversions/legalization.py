"""Legalizes programs to dialects by all rules there are: those of users, references of operations, and conversions.

Dialects are the nodes of a graph and rules its edges. An edge as data leads from one operation to others, the reference
of an operation leads to the core, and a conversion from the core to its target. The cheapest path is chosen for each
operation: first rules are applied to operations that they bring to the target, then operations whose path leads through
the core are lowered, then rules of conversions are applied to core operations. All rules are applied by
`rewrite.legalize`. Operations that are legal stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import permutations
from types import MappingProxyType

from commonir.base.codes import UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.suggestions import did_you_mean
from commonir.base.tuples import NamedTuple
from commonir.conversions.conversion import DEFAULT_OPTIONS, Conversion, Conversions, CoreRules
from commonir.conversions.core_to_core.foreign_kernels import kernel_rule
from commonir.dialects.mlir import arith, tensor
from commonir.dialects.mlir.builtin import UnrealizedConversionCast
from commonir.ir.cloning import clone
from commonir.ir.interface import neutral_attributes
from commonir.ir.module import Function, Invocation, Module
from commonir.ir.operation import Operation, Value
from commonir.ir.types import ElementType, TensorType, Type, i64, index
from commonir.ods import Dialects, Form, Op, path_of, traits
from commonir.ods.terms import Rewrite
from commonir.passes.lower import PreservedOperations, lower
from commonir.passes.remove_unused import remove_unused
from commonir.passes.without_requirements import drop_requirements
from commonir.reports import LegalizationReport, LegalizationStepReport
from commonir.rewrite.attempts import LegalizationStep
from commonir.rewrite.casts import cast, fold_casts, is_same_type
from commonir.rewrite.legality import Predicate, Target
from commonir.rewrite.legalize import Legalization, LegalizationOptions, LegalizationRule, Rules, legalization
from commonir.rewrite.pattern_rules import pattern_rules

CORE = "core"
_STRUCTURE = frozenset({"builtin", "func"})
"""Dialects of what holds the operations of a program, which are always legal."""
_LOWERED_STRUCTURE = "ml_program"
"""The dialect of functions of lowered programs, which conversions replace."""
_MAX_ROUNDS = 8
"""How often operations are added to those that stay because no rule takes what they are lowered to."""

_NO_PREDICATES: Mapping[str, Predicate] = MappingProxyType({})


class LegalizationRequest(NamedTuple):
    """A legalization as users choose it.

    `dialects` are the targets; `legal`, `illegal` and `dynamic` are names of dialects and operations, as of
    `rewrite.legality.Target`. `rules` are rewrite rules, and rules of legalizations. With `is_partial`, operations
    without a path stay unless they are illegal. `convert_type` returns the type that values of a type have afterwards.
    """

    dialects: tuple[str, ...]
    rules: tuple[Rewrite | LegalizationRule, ...] = ()
    legal: frozenset[str] = frozenset()
    illegal: frozenset[str] = frozenset()
    dynamic: Mapping[str, Predicate] = _NO_PREDICATES
    is_partial: bool = False
    convert_type: Callable[[Type], Type] | None = None


def legalize_to(
    module: Module,
    request: LegalizationRequest,
    dialects: Dialects,
    conversions: Conversions,
    lost: Diagnostics,
    reports: list[LegalizationReport] | None = None,
) -> Module:
    """Returns a program whose operations are legal, as an independent copy; `reports` receives the paths.

    `lost` receives what the target cannot express.

    Raises: DiagnosticError (E0601) for each operation without a path, with the rules that were tried and why each did
    not apply; E0604 to E0608 for rules.
    """
    return _Program(module, request, dialects, conversions, lost).legalized(reports)


class _Program:
    """The legalization of one program."""

    def __init__(
        self,
        module: Module,
        request: LegalizationRequest,
        dialects: Dialects,
        conversions: Conversions,
        lost: Diagnostics,
    ) -> None:
        self.module = module
        self.request = request
        _check_names(module, request, dialects, conversions)
        self.dialects = dialects
        self.conversions = conversions
        self.lost = lost
        self.conversion, self.core_rules = _edges_from_core(request, conversions, dialects)
        self.rules = [
            *[r for r in request.rules if isinstance(r, LegalizationRule)],
            *pattern_rules([r for r in request.rules if not isinstance(r, LegalizationRule)]),
        ]
        self.target = self._target()

    def _target(self) -> Target:
        request, also = self.request, set(_STRUCTURE | self.request.legal)
        also.update(request.dialects)
        if not self.core_rules:
            also.add(_LOWERED_STRUCTURE)
        for each in self.core_rules:
            also |= {each.target.dialect, *each.target.also_legal}
        first = request.dialects[0]
        return Target(
            first,
            "",
            frozenset(also) - {first},
            request.illegal,
            request.dynamic,
            ", ".join(request.dialects),
        )

    # -- what is legal, and what leads through the core

    @property
    def leads_through_core(self) -> bool:
        """Whether anything leads from the core to the target."""
        has_rules = bool(self.core_rules) or self.conversion is not None or CORE in self.request.dialects
        return has_rules or any(r.definition.name.startswith(f"{CORE}.") for r in self.rules)

    def _cost_by_core(self, definition: type[Op]) -> int | None:
        """Returns the cost of operations whose path leads through the core; None if none does."""
        if not self.leads_through_core:
            return None
        last = 0 if CORE in self.request.dialects else 1
        if definition.name.startswith(f"{CORE}."):
            return last
        is_structure = issubclass(definition, Function | Invocation | Module) or any(
            definition.has_trait(t) for t in (traits.Declares, traits.Terminator, traits.ReadsState, traits.WritesState)
        )
        return last + 1 if is_structure or definition.form is not Form.STRUCTURAL else None

    def _is_legal(self, op: Operation) -> bool:
        return bool(self.target.legality(op))

    @property
    def reachable(self) -> tuple[str, ...]:
        """The dialects from which a path leads to the target, for messages."""
        sources = {r.definition.name.partition(".")[0] for r in self.rules}
        through = {CORE} if self.leads_through_core else set[str]()
        return (*self.request.dialects, *sorted((sources | through) - {*self.request.dialects}))

    # -- steps

    def legalized(self, reports: list[LegalizationReport] | None) -> Module:
        if self.request.convert_type is None and all(map(self._is_legal, self.module.walk())):
            return clone(self.module)
        if self.conversion is not None and self.request.is_partial:
            message = f"a program of {self.request.dialects[0]} has no operations of other dialects"
            raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message, help="legalize it without `--partial`"))
        first = self._by_rules()
        last = self._by_core(first) if self._needs_core(first.module) else _Stages(first)
        self._finish(last.module)
        if reports is not None:
            reports += last.reports(self.module)
        return last.module

    def _options(
        self,
        origin_of: Callable[[Operation], Operation],
        settled: Callable[[Operation], bool] = lambda _: False,
        *,
        is_last: bool,
    ) -> LegalizationOptions:
        return LegalizationOptions(
            self.request.is_partial,
            casts=True,
            elsewhere=_nowhere if is_last else self._cost_by_core,
            origin_of=origin_of,
            reachable=self.reachable,
            settled=settled,
        )

    def _by_rules(self) -> Legalization:
        """Applies the rules whose path does not lead through the core."""
        options = self._options(lambda op: op, is_last=False)
        convert = self.request.convert_type or _same
        return legalization(self.module, Rules(self.rules), self.dialects, self.target, options, argument_type=convert)

    def _needs_core(self, module: Module) -> bool:
        if not self.leads_through_core:
            return False
        illegal = [op for op in module.walk() if not self._is_legal(op)]
        return any(isinstance(op, Op) and self._cost_by_core(type(op)) is not None for op in illegal)

    def _by_core(self, first: Legalization) -> _Stages:
        """Lowers what leads through the core, and applies the rules of conversions."""
        stays: set[Operation] = set()
        stages = self._lowered(first, stays)
        for _ in range(_MAX_ROUNDS if self.request.is_partial else 0):
            unfinished = {
                source
                for op in stages.module.nested()
                if op.name.startswith(f"{CORE}.") and not self._is_legal(op)
                for source in [stages.before_core(op)]
                if source is not None and not source.name.startswith(f"{CORE}.")
            }
            # What is in an operation that stays is as the operation requires.
            added = {nested for op in unfinished | stages.failed for nested in op.walk()} - stays
            if not added:
                break
            stays |= added
            stages = self._lowered(first, stays)
        return stages

    def _lowered(self, first: Legalization, stays: set[Operation]) -> _Stages:
        origins: dict[Operation, Operation] = {}

        def is_kept(op: Operation) -> bool:
            return op in stays or self._is_legal(op)

        preserved = PreservedOperations(is_kept, self.request.is_partial, origins, set())
        if self.conversion is not None:
            # A program of such a format has only operations of its own, and another container.
            last = Legalization(self.conversion.convert(lower(first.module), DEFAULT_OPTIONS, self.lost))
            to = self.request.dialects[0]
            computing = [
                op for op in first.module.nested() if isinstance(op, Op) and not op.has_trait(traits.Terminator)
            ]
            by = f"its reference and the conversion to {to}"
            last.steps = [LegalizationStep(op, op.name, by, (to,)) for op in computing if not isinstance(op, Function)]
            return _Stages(first, origins, last)
        lowered = lower(first.module, preserved=preserved)
        if not all(each.has_requirements for each in self.core_rules):
            drop_requirements(lowered, self.lost)

        within = self._legalize_nested(lowered)

        def origin_of(op: Operation) -> Operation:
            before = origins.get(op, op)
            return first.origins.get(before, before)

        # Operations of the core are a target of their own: the kernels of other dialects become those.
        core = [kernel_rule(i64)] if CORE in self.request.dialects else []
        rules = Rules([*self.rules, *[r for each in self.core_rules for r in each.rules.all()], *core])

        def is_settled(op: Operation) -> bool:
            source = origins.get(op)
            stayed = source is not None and preserved.stays(source)
            return op in within or (stayed and self.target.legality(op) is not False)

        options = self._options(origin_of, is_settled, is_last=True)
        last = legalization(lowered, rules, self.dialects, self.target, options)
        for function in last.module.functions.values():
            if not function.is_declaration:
                remove_unused(function.body, lambda op: type(last.origins.get(op)) is type(op))
        types = _types_of_kept(last)
        for each in self.core_rules:
            each.finish(last.module)
        _restore_types(types)
        for key, attribute in neutral_attributes(first.module).items():
            last.module.set_extra(key, attribute)
        return _Stages(first, origins, last, preserved.failed)

    def _legalize_nested(self, module: Module) -> set[Operation]:
        """Legalizes the modules in a module, in place; returns the operations in them."""
        within: set[Operation] = set()
        for op in list(module.body.operations):
            if isinstance(op, Module):
                program = _Program(op, self.request, self.dialects, self.conversions, self.lost)
                new = program.legalized(None)
                module.body.insert_before(op, new)
                op.erase()
                within.update(new.walk())
        return within

    def _finish(self, module: Module) -> None:
        """Replaces casts of dims, and reports those that remain."""
        before = sum(isinstance(op, UnrealizedConversionCast) for op in self.module.nested())
        remaining = fold_casts(module)
        remaining = [op for op in remaining if not _realize(op, self.target)]
        if self.request.is_partial or len(remaining) <= before:
            return
        diagnostics = Diagnostics()
        for op in remaining:
            old, new = ", ".join([str(v.type) for v in op.inputs]), ", ".join([str(v.type) for v in op.outputs])
            users = ", ".join(dict.fromkeys([u.name for r in op.results for u in r.users]))
            message = f"no rule converts {old} to {new}, which {users} needs"
            diagnostics.add(
                UNSUPPORTED_CONVERSION,
                message,
                where=path_of(op),
                help="a rule for what gives or needs the value must keep its type, or `--partial` leaves a cast",
            )
        diagnostics.raise_errors()


def _same(type: Type) -> Type:
    return type


def _nowhere(definition: type[Op]) -> None:
    """Returns that no later step legalizes operations of a definition."""
    del definition


class _Stages:
    """The stages of a program: after rules, after lowering, and after rules of conversions."""

    def __init__(
        self,
        first: Legalization,
        lowered: Mapping[Operation, Operation] = MappingProxyType({}),
        last: Legalization | None = None,
        failed: AbstractSet[Operation] = frozenset(),
    ) -> None:
        self.first = first
        self.lowered = lowered
        self.last = last
        self.failed = failed

    @property
    def module(self) -> Module:
        """The program after the last stage."""
        return self.first.module if self.last is None else self.last.module

    def before_core(self, op: Operation) -> Operation | None:
        """Returns the operation before lowering from which an operation of the last stage comes."""
        origin = None if self.last is None else self.last.origins.get(op)
        return None if origin is None else self.lowered.get(origin)

    def reports(self, source: Module) -> list[LegalizationReport]:
        """Returns the paths of the operations of the source that did not stay as they are."""
        steps: dict[Operation, dict[LegalizationStepReport, None]] = {}
        for step in self.first.steps:
            steps.setdefault(step.origin, {})[_reported(step.name, step.by, step.produced)] = None
        products: dict[Operation, list[Operation]] = {}
        for new, old in self.lowered.items():
            products.setdefault(old, []).append(new)
        later: dict[Operation, list[LegalizationStepReport]] = {}
        for step in () if self.last is None else self.last.steps:
            later.setdefault(step.origin, []).append(_reported(step.name, step.by, step.produced))
        for old, new in products.items():
            names = [op.name for op in new]
            if names == [old.name]:
                continue
            own = steps.setdefault(self.first.origins.get(old, old), {})
            own[_reported(old.name, "its reference", names)] = None
            own.update(dict.fromkeys([step for op in new for step in later.pop(op, ())]))
        for old, rest in later.items():
            # An operation that is not lowered, or one of a program that is converted as a whole.
            before = self.lowered.get(old, old)
            steps.setdefault(self.first.origins.get(before, before), {}).update(dict.fromkeys(rest))
        return _grouped(source, steps, self.first.kept)


_Types = list[tuple[Operation, list[Type], list[Type]]]


def _types_of_kept(legalized: Legalization) -> _Types:
    """Returns the types of the operands and results of operations that stayed and have no regions."""
    kept = [op for op, source in legalized.origins.items() if type(op) is type(source) and not op.regions]
    return [
        (op, [v.type for v in op.operands], [r.type for r in op.results])
        for op in kept
        if op.parent is not None and not (isinstance(op, Op) and op.has_trait(traits.Terminator))
    ]


def _restore_types(types: _Types) -> None:
    """Gives operations that stayed their types, by casts, where the types of a target have replaced them."""
    for op, operands, results in types:
        block = op.parent
        if block is None:
            continue
        for n, (value, type) in enumerate(zip(op.operands, operands, strict=True)):
            if not is_same_type(value.type, type):
                converted = cast(value, _without_names(type))
                if isinstance(converted.owner, Operation):
                    block.insert_before(op, converted.owner)
                op.operands = (*op.operands[:n], converted, *op.operands[n + 1 :])
        for result, type in zip(op.results, results, strict=True):
            if not is_same_type(result.type, type):
                converted, users = cast(result, result.type), result.users
                if users and isinstance(converted.owner, Operation):
                    result.replace_all_uses_with(converted)
                    converted.owner.operands = (result,)
                    block.insert_after(op, converted.owner)
                result.retype(_without_names(type))


def _without_names(type: Type) -> Type:
    return type.without_symbolic_dims() if isinstance(type, TensorType) else type


def _reported(name: str, by: str, names: Iterable[str]) -> LegalizationStepReport:
    return LegalizationStepReport(name, by, tuple(dict.fromkeys(names)))


def _grouped(
    source: Module,
    steps: Mapping[Operation, Mapping[LegalizationStepReport, None]],
    preserved: Mapping[Operation, Sequence[str]],
) -> list[LegalizationReport]:
    """Returns one report for operations with the same name and path, in the order of the first ones."""
    groups: dict[tuple[object, ...], list[Operation]] = {}
    nested = dict.fromkeys(source.nested())
    # Control flow between blocks is structured before operations are lowered.
    for op in (*nested, *[op for op in steps if op not in nested]):
        if op in preserved:
            groups.setdefault((op.name, (), tuple(preserved[op])), []).append(op)
        elif op in steps:
            groups.setdefault((op.name, tuple(steps[op]), ()), []).append(op)
    return [
        LegalizationReport(op.name, path_of(op), len(ops), tuple(steps.get(op, ())), tuple(preserved.get(op, ())))
        for ops in groups.values()
        for op in ops[:1]
    ]


def _realize(op: UnrealizedConversionCast, target: Target) -> bool:
    """Replaces a cast by operations of the target if it has some for these types; returns whether it did.

    They are between tensors that differ in known dims only, and between a scalar and a tensor of rank 0.
    """
    if len(op.inputs) != 1 or len(op.outputs) != 1 or op.parent is None:
        return False
    (value,), (result,) = op.inputs, op.outputs
    built = _cast_by_operations(value, result.type)
    if built is None or not all(target.may_hold(each.name) for each in built):
        return False
    for each in built:
        each.location = op.location
        op.parent.insert_before(op, each)
    result.replace_all_uses_with(built[-1].results[0])
    op.erase()
    return True


def _cast_by_operations(value: Value, type: Type) -> list[Operation] | None:
    """Returns detached operations that convert a value to a type; None if there are none."""
    old, new = value.type, type
    if isinstance(old, TensorType) and isinstance(new, TensorType):
        is_only_shape = old.element is new.element and old.rank == new.rank
        return [tensor.Cast.build({"source": value}, (new,))] if is_only_shape else None
    built: list[Operation] = []
    if isinstance(old, TensorType) and old.shape == () and isinstance(new, ElementType):
        built.append(tensor.Extract.build({"tensor": value, "indices": ()}, (old.element,)))
        built += _index_cast(built[-1].results[0], new)
        return built if built[-1].results[0].type is new else None
    if isinstance(old, ElementType) and isinstance(new, TensorType) and new.shape == ():
        built += _index_cast(value, new.element)
        element = built[-1].results[0] if built else value
        built.append(tensor.FromElements.build({"elements": (element,)}, (new,)))
        return built if element.type is new.element else None
    return None


def _index_cast(value: Value, element: ElementType) -> list[Operation]:
    """Returns the conversion between `index` and an integer, if a value needs it."""
    if value.type is element or index not in (value.type, element):
        return []
    return [arith.IndexCast.build({"in_": value}, (element,))]


def _check_names(module: Module, request: LegalizationRequest, dialects: Dialects, conversions: Conversions) -> None:
    """Refuses names that are legal or illegal, or that have a predicate, of which there is no dialect or operation.

    Operations of dialects that are not known count if they are in the program.

    Raises: DiagnosticError (E0601).
    """
    present = {op.name for op in module.walk()}
    known = {*conversions.names(), *(name.partition(".")[0] for name in present)}
    for name in sorted({*request.legal, *request.illegal, *request.dynamic} - {"", *present, *request.dialects}):
        dialect, _, operation = name.partition(".")
        found = dialects.get(dialect)
        if not operation and (dialect in known or found is not None):
            continue
        if found is not None and name in found.operations:
            continue
        if operation and found is None and dialect in known:
            continue
        what = "operation" if operation else "dialect"
        candidates = [*present, *(found.operations if found is not None else ())] if operation else sorted(known)
        message = f"no {what} '{name}' is known, which the legalization names"
        raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message, help=did_you_mean(name, candidates)))


def _edges_from_core(
    request: LegalizationRequest, conversions: Conversions, dialects: Dialects
) -> tuple[Conversion | None, list[CoreRules]]:
    """Returns the conversion of a whole program that leads to the target, or the rules that take core operations there.

    Raises: DiagnosticError (E0601) for dialects that do not exist, or that cannot be targets together.
    """
    known = set(conversions.names())
    combined = next((name for p in permutations(request.dialects) if (name := "-".join(p)) in known), None)
    names = [combined] if combined is not None else [name for name in request.dialects if name in known]
    for name in request.dialects:
        if name not in known and dialects.get(name) is None:
            message = f"no dialect '{name}' is known"
            help = did_you_mean(name, sorted(known)) or "rules in a TableGen file (`--rules`) may define it"
            raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message, help=help))
    found = [conversions.get(name) for name in names]
    whole = [each for each in found if each.core_rules is None]
    if not whole:
        return None, [each.core_rules for each in found if each.core_rules is not None]
    if len(request.dialects) > 1:
        message = f"a program of {whole[0].name} has no operations of other dialects"
        raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message, help=f"legalize to {whole[0].name} alone"))
    return whole[0], []
