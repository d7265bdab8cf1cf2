"""The greedy driver: steps are taken wherever one applies, until none does.

A step looks at one operation and gives values for its results, by operations that are in no block yet. Operations are
visited in order, so that what an operation uses is simple already; what a step may have made applicable is looked at
again. Operations without effect that nobody uses are removed on the way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from commonir.base.codes import ENDLESS_REWRITING
from commonir.base.diagnostics import Diagnostic, DiagnosticError, InternalError
from commonir.ir.operation import Block, Operation, Value
from commonir.ods import Op, operations_behind, traits
from commonir.rewrite.constants import ConstantPool
from commonir.rewrite.rule_set import RuleSet

# A step leads to something simpler; far fewer than this are taken at each operation of a real program.
_STEPS_PER_OPERATION = 16
_LAST_SHOWN = 3

Step = Callable[[Op], tuple[str, Sequence[Value]] | None]
"""What takes the place of an operation's results with the name of what tells so, or None."""


def rewrite(root: Operation, rules: RuleSet) -> Counter[str]:
    """Applies rules to everything in an operation, in place; how often each was applied, by name.

    Raises: DiagnosticError (E0607) when that does not end.
    """
    return rewrite_steps(root, (rule_step(rules),))


def rule_step(rules: RuleSet) -> Step:
    """The step that applies the first rule that matches."""

    def step(op: Op) -> tuple[str, Sequence[Value]] | None:
        for rule in rules.for_operation(op):
            match = rule.match(op)
            if match is not None:
                made = rule.build(op, match)
                if not isinstance(made, str):
                    return repr(rule), made
        return None

    return step


def rewrite_steps(
    root: Operation, steps: Iterable[Step], *, removes_unused: bool = True, constants: ConstantPool | None = None
) -> Counter[str]:
    """Takes steps at everything in an operation, in place; how often each was taken, by name.

    With `constants`, each constant of a function stands once, at its beginning.

    Raises: DiagnosticError (E0607) when that does not end.
    """
    return _Rewriting(root, tuple(steps), removes_unused, constants).run()


class _Rewriting:
    """One run of the driver."""

    def __init__(
        self, root: Operation, steps: tuple[Step, ...], removes_unused: bool, constants: ConstantPool | None
    ) -> None:
        self.steps = steps
        self.removes_unused = removes_unused
        self.constants = constants
        self.pending = [op for op in root.walk() if op is not root]
        if constants is not None:
            self._adopt(constants)
        self.pending.reverse()
        self.waiting = set(self.pending)
        self.limit = _STEPS_PER_OPERATION * (len(self.pending) + 1)
        self.taken: Counter[str] = Counter()
        self.last: list[str] = []

    def run(self) -> Counter[str]:
        while self.pending:
            op = self.pending.pop()
            if op not in self.waiting:
                continue
            self.waiting.discard(op)
            if op.parent is None or not isinstance(op, Op):
                continue
            if self.removes_unused and is_dead(op):
                self._remove(op)
                continue
            for step in self.steps:
                found = step(op)
                if found is not None:
                    self._replace(op, *found)
                    break
        return self.taken

    def _adopt(self, constants: ConstantPool) -> None:
        left: list[Operation] = []
        for op in self.pending:
            same = constants.adopt(op) if isinstance(op, Op) and op.has_trait(traits.ConstantLike) else None
            if same is None:
                left.append(op)
            else:
                op.results[0].replace_all_uses_with(same)
                op.erase()
        self.pending = left

    def _replace(self, op: Op, name: str, values: Sequence[Value]) -> None:
        self.taken[name] += 1
        self.last = [*self.last, name][-_LAST_SHOWN:]
        if self.taken.total() > self.limit:
            shown = ", ".join(dict.fromkeys(self.last))
            raise DiagnosticError(Diagnostic(ENDLESS_REWRITING, f"rewriting does not end; applied last: {shown}"))
        block = op.parent
        if not isinstance(block, Block):
            raise InternalError(f"{op.name} is in no block")
        if self.constants is not None:
            values = [self._placed(v, op, self.constants) for v in values]
        made = operations_behind(values)
        for new in made:
            block.insert_before(op, new)
            new.location = new.location or op.location
        again: list[Operation] = []
        for old, new in zip(op.results, values, strict=True):
            if new.owner in made:
                new.name = new.name or old.name
            again += old.users
            old.replace_all_uses_with(new)
        self._remove(op)
        self._visit(again)
        self._visit(reversed(made))

    @staticmethod
    def _placed(value: Value, near: Op, constants: ConstantPool) -> Value:
        made = value.owner
        if not isinstance(made, Op) or made.parent is not None or not made.has_trait(traits.ConstantLike):
            return value
        made.location = made.location or near.location
        return constants.place(made, near)

    def _remove(self, op: Operation) -> None:
        if self.constants is not None:
            self.constants.forget(op)
        used = [v.owner for v in op.operands if isinstance(v.owner, Operation)]
        self.waiting.difference_update(op.walk())
        op.erase()
        self._visit([o for o in used if not any(r.is_used for r in o.results)])

    def _visit(self, ops: Iterable[Operation]) -> None:
        for op in ops:
            if op not in self.waiting:
                self.waiting.add(op)
                self.pending.append(op)


def is_dead(op: Operation) -> bool:
    """Whether an operation has no effect and nobody uses its results."""
    if not isinstance(op, Op) or not op.has_trait(traits.Pure) or op.has_trait(traits.Terminator):
        return False
    return not any(r.is_used for r in op.results)


__all__ = ["Step", "is_dead", "rewrite", "rewrite_steps", "rule_step"]
