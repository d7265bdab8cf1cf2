"""The greedy driver: applies steps wherever possible until none applies.

A step returns values for the results of an operation, defined by detached operations, or changes the program through an
editor. Operations are visited in order, so that operands are simplified first; operations to which a step may apply
after a change are visited again. Unused operations without effects are removed on the way.

Source: MLIR, greedy pattern rewrite driver.
"""

# pyright: reportPrivateUsage=false
# Reads operands and users directly from storage, because this dominates the cost of visiting an operation.

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from commonir.base.codes import ENDLESS_REWRITING
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.ir.operation import Block, Operation, Value
from commonir.ods import Op, traits
from commonir.ods.effects import is_unneeded, may_have_no_effect
from commonir.ods.rules import Editor, Simplification
from commonir.rewrite.constants import ConstantPool
from commonir.rewrite.matching import Compiled
from commonir.rewrite.peephole import Peephole, guard, may_match, peephole
from commonir.rewrite.replacing import replace_results
from commonir.rewrite.rule_set import RuleSet

# Each step simplifies the program; real programs take far fewer steps than this per operation.
_STEPS_PER_OPERATION = 16
_LAST_SHOWN = 3

Values = Sequence[Value]
Rewritten = tuple[str, Values | Editor]
RewriteStep = Callable[[Op], Rewritten | None]
"""Returns replacements of an operation's results, or the editor that changed the program, with the name of the rule or
reason; None where the step does not apply. The operation's own results mean that it was changed in place.
"""
Definers = Sequence[type[object]]
"""The definers of an operation's operands: classes of operations, or of blocks whose arguments they are."""


class SelectiveRewriteStep:
    """A step that applies only to operations with certain definers of their operands."""

    __slots__ = ()

    def __call__(self, op: Op) -> Rewritten | None:
        """Applies the step if possible."""
        raise NotImplementedError

    def may_apply(self, definers: Definers) -> bool:
        """Returns whether the step may apply to an operation whose operands have these definers."""
        raise NotImplementedError


StepsFor = Callable[[type[Op]], Sequence[RewriteStep]]
"""The steps for operations of a definition, in the order in which they are tried."""
Cleaning = Callable[[Operation], bool]
"""Cleans up a program after steps were applied; returns whether it changed anything."""


def rewrite(root: Operation, rules: RuleSet) -> Counter[str]:
    """Applies rules to all operations in an operation, in place; returns how often each was applied, by name.

    Raises: DiagnosticError (E0607) when rewriting does not terminate.
    """
    return rewrite_steps(root, partial(rule_steps, rules), users_first=rules.prefers_users())


def rule_steps(rules: RuleSet, definition: type[Op]) -> list[RewriteStep]:
    """Returns the steps that apply the rules for operations of a definition."""
    return [_RuleRewriteStep(rule) for rule in rules.for_definition(definition)]


class _RuleRewriteStep(SelectiveRewriteStep):
    """The step of a rule. `forward` finds the existing value that is its result, for rules that have one."""

    __slots__ = ("forward", "guard", "name", "rule")

    def __init__(self, rule: Compiled) -> None:
        self.rule = rule
        self.name = repr(rule)
        self.forward = peephole(rule)
        self.guard = guard(rule) if self.forward is None else None

    def __call__(self, op: Op) -> Rewritten | None:
        if self.forward is not None:
            value = self.forward(op)
            if value is None or value.owner is op:
                return None
            if value.type is op.results[0].type:
                return self.name, (value,)
        elif self.guard is not None and not self.guard(op):
            return None
        return _apply(self.rule, self.name, op)

    def may_apply(self, definers: Definers) -> bool:
        return may_match(self.rule, definers)


def _apply(rule: Compiled, name: str, op: Op) -> Rewritten | None:
    match = rule.match(op)
    if match is None:
        return None
    values = rule.build(op, match)
    if isinstance(values, str):
        return None
    if not match.has_unused:
        return name, values
    editor = Editor()
    for built in match.built:
        editor.insert(built, op)
    editor.replace(op, values)
    return name, editor


def function_step(
    name: str, function: Simplification, find: Callable[[str], type[Op] | None] = lambda _: None
) -> RewriteStep:
    """Returns the step of a function that changes the program in place; `find` looks up definitions of other
    dialects.
    """

    def step(op: Op) -> Rewritten | None:
        editor = Editor(find)
        return (name, editor) if function(op, editor) else None

    return step


def rewrite_steps(
    root: Operation,
    steps: StepsFor,
    *,
    removes_unused: bool = True,
    constants: ConstantPool | None = None,
    clean: Cleaning | None = None,
    users_first: bool = False,
) -> Counter[str]:
    """Applies steps to all operations in an operation, in place; returns how often each was applied, by name.

    With `constants`, the constants of a function are moved to its beginning, without duplicates. `clean` is called when
    no step applies any more; if it changes something, steps are applied again. `users_first` visits operations from the
    last to the first.

    Raises: DiagnosticError (E0607) when rewriting does not terminate.
    """
    return _Rewriting(root, steps, removes_unused, constants, clean, users_first).run()


_NamedSteps = Sequence[tuple[Peephole | None, str, RewriteStep]]
"""Steps with their names; for rules whose result is an existing value also the function that finds it."""
_MAX_DEFINERS = 4
"""Steps are selected by the definers of operands, for operations with up to this many of them."""


class _DefinitionFacts:
    """Facts about the operations of a definition, computed once.

    `may_have_no_effect`: whether some are without effect; `is_pure`: whether all are. `chosen` caches which of `steps`
    may apply to operations with certain definers of operands.
    """

    __slots__ = ("chosen", "is_pure", "may_have_no_effect", "steps")

    def __init__(self, definition: type[Operation], steps: Sequence[RewriteStep]) -> None:
        self.may_have_no_effect = may_have_no_effect(definition)
        self.is_pure = self.may_have_no_effect and issubclass(definition, Op) and definition.has_trait(traits.Pure)
        self.steps: _NamedSteps = [
            (step.forward, step.name, step) if isinstance(step, _RuleRewriteStep) else (None, "", step)
            for step in steps
        ]
        self.chosen: dict[Definers, _NamedSteps] = {}

    def choose(self, definers: Definers) -> _NamedSteps:
        """Returns the steps for operations whose operands have these definers."""
        result = self.chosen[definers] = [
            s
            for s in self.steps
            if len(definers) > _MAX_DEFINERS or not isinstance(s[2], SelectiveRewriteStep) or s[2].may_apply(definers)
        ]
        return result


class _Rewriting:
    """One run of the driver."""

    def __init__(
        self,
        root: Operation,
        steps: StepsFor,
        removes_unused: bool,
        constants: ConstantPool | None,
        clean: Cleaning | None,
        users_first: bool,
    ) -> None:
        self.root = root
        self.users_first = users_first
        self.find_steps = steps
        self.facts: dict[type[Operation], _DefinitionFacts] = {}
        self.removes_unused = removes_unused
        self.constants = constants
        self.clean = clean
        self.pending: list[Operation] = []
        self.waiting: set[Operation] = set()
        self.limit = 0
        self.applied: dict[str, int] = {}
        self.count = 0
        self.last: list[str] = []

    def run(self) -> Counter[str]:
        """Repeats sweeps over all operations until one changes nothing."""
        is_new = True
        while True:
            before = self.count
            for operations in self._groups():
                self._collect(operations, is_new)
                self._run_work_list()
            is_new = self.clean is not None and self.clean(self.root)
            if not is_new and (self.count == before or self.constants is None):
                return Counter(self.applied)

    def _groups(self) -> Iterator[list[Operation]]:
        """Yields all operations in order, in groups that share no values, so that a function is still in the
        processor's cache when it is rewritten.
        """
        children = [op for region in self.root.regions for block in region.blocks for op in block.operations]
        if not all(isinstance(op, Op) and op.has_trait(traits.IsolatedFromAbove) for op in children):
            yield [op for child in children for op in child.walk_list()]
            return
        for child in children:
            if child.parent is not None:
                yield child.walk_list()

    def _collect(self, operations: list[Operation], is_new: bool) -> None:
        """Fills the work list for a group, in reverse: for a new program with all operations, else with branches and
        the users of moved constants.
        """
        self.limit = max(self.limit, self.count + _STEPS_PER_OPERATION * (len(operations) + 1))
        changed: dict[Operation, None] = {}
        if self.constants is not None:
            operations = self._adopt(self.constants, operations, changed)
        if not is_new:
            # Branches may be simplified further after their successors changed.
            operations = [*[op for op in operations if op.successors], *[op for op in changed if op.parent is not None]]
        if not self.users_first:
            operations.reverse()
        self.pending, self.waiting = operations, set(operations)

    def _run_work_list(self) -> None:
        pending, waiting, facts_by_class = self.pending, self.waiting, self.facts
        removes_unused = self.removes_unused
        while pending:
            op = pending.pop()
            try:
                waiting.remove(op)
            except KeyError:
                continue
            facts = facts_by_class.get(type(op)) or self._facts_of(type(op))
            if removes_unused and facts.may_have_no_effect:
                for r in op.results:
                    if r._users is not None:
                        break
                else:
                    if facts.is_pure or is_unneeded(op):
                        self._remove(op)
                        self.count += 1
                        continue
            if not facts.steps:
                continue
            operands = op._operands
            if len(operands) == 2:
                # The most frequent case; a loop takes three times as long.
                lhs, rhs = operands
                definers = type(lhs.owner), type(rhs.owner)
            elif len(operands) == 1:
                definers = (type(operands[0].owner),)
            else:
                definers = tuple([type(v.owner) for v in operands[: _MAX_DEFINERS + 1]])
            chosen = facts.chosen.get(definers)
            for forward, name, step in facts.choose(definers) if chosen is None else chosen:
                if forward is not None:
                    value = forward(op)  # pyright: ignore[reportArgumentType]  only those of definitions have steps
                    if value is None:
                        continue
                    if value.type is op.results[0].type and value.owner is not op:
                        self._forward(op, name, value)
                        break
                replacement = step(op)  # pyright: ignore[reportArgumentType]
                if replacement is not None:
                    self._apply_replacement(op, *replacement)
                    break

    def _facts_of(self, definition: type[Operation]) -> _DefinitionFacts:
        steps = self.find_steps(definition) if issubclass(definition, Op) else ()
        result = self.facts[definition] = _DefinitionFacts(definition, steps)
        return result

    @staticmethod
    def _adopt(
        constants: ConstantPool, operations: Iterable[Operation], changed: dict[Operation, None]
    ) -> list[Operation]:
        """Moves constants to their place; returns the other operations."""
        others: list[Operation] = []
        is_constant_class: dict[type[Operation], bool] = {}
        for op in operations:
            op_class = type(op)
            is_constant = is_constant_class.get(op_class)
            if is_constant is None:
                is_constant = is_constant_class[op_class] = issubclass(op_class, Op) and op_class.has_trait(
                    traits.ConstantLike
                )
            before = op.parent
            same = constants.adopt(op) if is_constant and isinstance(op, Op) else None
            if same is None:
                others.append(op)
                if op.parent is not before:
                    # Steps of an operation may depend on values that its regions use from outside.
                    users = op.results[0].users
                    changed |= dict.fromkeys([*users, *[h for u in users if (h := u.parent_op) is not None]])
            else:
                changed |= dict.fromkeys(op.results[0].users)
                op.results[0].replace_all_uses_with(same)
                op.erase()
        return others

    def _forward(self, op: Operation, name: str, value: Value) -> None:
        """Replaces the only result of an operation by an existing value."""
        self._count_application(name)
        if op.regions:
            self._replace(op, (value,))
            return
        if self.constants is not None:
            self.constants.forget(op)
        unused, users = op.replace_and_erase(value)
        if unused:
            self._release(unused)
        self._visit(users)

    def _count_application(self, name: str) -> None:
        self.applied[name] = self.applied.get(name, 0) + 1
        self.count += 1
        if self.count > self.limit - _LAST_SHOWN:
            self.last.append(name)
            if self.count > self.limit:
                shown = ", ".join(dict.fromkeys(self.last))
                raise DiagnosticError(Diagnostic(ENDLESS_REWRITING, f"rewriting does not end; applied last: {shown}"))

    def _apply_replacement(self, op: Operation, name: str, replacement: Values | Editor) -> None:
        self._count_application(name)
        if isinstance(replacement, Editor):
            self.waiting.difference_update(replacement.erased)
            erased = set(replacement.erased)
            self._forget(replacement.erased)
            self._visit([o for o in reversed(replacement.touched) if o not in erased])
        elif replacement is op.results:
            self._visit([*[u for r in op.results for u in r.users], op])
        else:
            self._replace(op, replacement)

    def _replace(self, op: Operation, values: Values) -> None:
        built, users = replace_results(op, values)
        self._remove(op)
        self._visit(users)
        self._visit(reversed(built))

    def _remove(self, op: Operation) -> None:
        if op.regions:
            nested = list(op.walk())
            self.waiting.difference_update(nested)
            self._forget(nested)
        elif self.constants is not None:
            self.constants.forget(op)
        block = op.parent
        unused = op.erase()
        self._visit_holder(block)
        if unused:
            self._release(unused)

    def _release(self, unused: list[Operation]) -> None:
        """Removes unused pure operations, and pure operations that only they used; visits the others again."""
        facts_by_class = self.facts
        while unused:
            op = unused.pop()
            block = op.parent
            if block is None:
                # It was in the list twice and is already removed.
                continue
            facts = facts_by_class.get(type(op)) or self._facts_of(type(op))
            if not facts.is_pure or op.regions or not self.removes_unused:
                self._visit((op,))
                continue
            for r in op.results:
                if r._users is not None:
                    break
            else:
                self.waiting.discard(op)
                if self.constants is not None:
                    self.constants.forget(op)
                unused += op._leave(None)
                self.count += 1
                self._visit_holder(block)
                continue
            self._visit((op,))

    def _visit_holder(self, block: Block | None) -> None:
        """Revisits the operation that encloses a block after an operation of the block was removed."""
        region = None if block is None else block.parent
        holder = None if region is None else region.parent
        if holder is not None and self.removes_unused:
            facts = self.facts.get(type(holder)) or self._facts_of(type(holder))
            if facts.may_have_no_effect:
                self._visit((holder,))

    def _forget(self, ops: Iterable[Operation]) -> None:
        if self.constants is not None:
            for op in ops:
                self.constants.forget(op)

    def _visit(self, ops: Iterable[Operation]) -> None:
        waiting, pending = self.waiting, self.pending
        for op in ops:
            if op not in waiting:
                waiting.add(op)
                pending.append(op)
