"""Simplifies a program of any dialect by removing redundant computations.

Operations on constants are evaluated, operations whose reference returns an operand are replaced by it, known shape
arithmetic by a constant, and common subexpressions by the first one; unused operations are removed. All of it follows
from definitions: no operation is named here. Outputs keep their names.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from commonir.base.diagnostics import DiagnosticError, InternalError
from commonir.ir.data import Data, FileData, data_of
from commonir.ir.module import Function, Module
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.types import TensorType
from commonir.notation import NotationError
from commonir.ods import Derived, Form, Op, infer, known_data, known_dims, traits
from commonir.ods.branching import RegionBranch
from commonir.passes.folding_growth import Growth
from commonir.passes.named_values import constant_definition
from commonir.passes.remove_unused import remove_unused
from commonir.passes.taken_branches import TakenBranches, constant_data
from commonir.rewrite.expand import equal_value

_COMPARED_BYTES = 1024
"""Constants up to this size are compared by contents."""


Evaluate = Callable[[Op, Sequence[Data]], Sequence[Data] | None]
"""Computes the results of an operation from the contents of its operands; None when it cannot."""


def simplify(module: Module, evaluate: Evaluate = lambda _op, _operands: None, growth: Growth | None = None) -> int:
    """Simplifies the functions of a module in place and returns the number of changes.

    `evaluate` computes operations on constants; `growth` limits what they add.
    """
    changes = 0
    for function in module.defined_functions.values():
        simplification = _Simplification(function, evaluate, growth=growth)
        simplification.plan_growth()
        simplification.run(simplification.simplify, forwards_outputs=bool(function.copies))
        changes += simplification.changes + remove_unused(function.body, simplification.is_referred)
    return changes


def fold_constants(module: Module, evaluate: Evaluate) -> None:
    """Evaluates operations on constants in the functions of a module, in place, and changes nothing else."""
    for function in module.defined_functions.values():
        simplification = _Simplification(function, evaluate)
        simplification.run(simplification.fold, take_branches=False)
        remove_unused(function.body, simplification.is_referred)


def settle(function: Function, constants: Collection[Value], evaluate: Evaluate) -> None:
    """Evaluates operations of a function that depend on some constants and on no input, in place, and takes the
    branches that these decide.
    """
    simplification = _Simplification(function, evaluate, constants)
    simplification.run(simplification.settle)
    remove_unused(function.body)


def take_branches(function: Function, evaluate: Evaluate) -> None:
    """Takes the branches that dims and constants decide, in place, and evaluates what depends on these only; a function
    without branches does not change.
    """
    if any(isinstance(op, RegionBranch) for op in function.walk()):
        simplification = _Simplification(function, evaluate)
        simplification.run(simplification.fold_known)
        remove_unused(function.body)


class _OpFacts:
    """Facts of a definition about all of its operations, computed once per definition."""

    __slots__ = ("is_computed", "is_constant", "is_derived", "is_random", "is_removable")

    def __init__(self, definition: type[Op]) -> None:
        has = definition.has_trait
        self.is_constant = has(traits.ConstantLike)
        self.is_random = has(traits.Random)
        self.is_removable = has(traits.Pure) and not has(traits.Terminator)
        # Whether what it gives for constants may be computed.
        self.is_computed = (
            self.is_removable and not self.is_random and not self.is_constant and not definition.declares_results
        )
        # Whether its results may be operands, according to its reference.
        self.is_derived = definition.form is Form.COMPOSITE and not definition.infers_types


class _Simplification:
    """The simplification of one function."""

    def __init__(
        self,
        function: Function,
        evaluate: Evaluate,
        decided: Collection[Value] = (),
        growth: Growth | None = None,
    ) -> None:
        self._function = function
        self._growth = growth
        self._evaluate = evaluate
        definition = constant_definition(function)
        self._constants = None if definition is None else _Constants(definition)
        self._branches = TakenBranches(function)
        self._decided = set(decided)
        self._referred = function.referred_names
        self._forwarded: dict[Derived, dict[int, int]] = {}
        self._facts: dict[type[Op], _OpFacts] = {}
        self.changes = 0

    def plan_growth(self) -> None:
        """Permits the folding of operations that together stay within the limit of growth."""
        if self._growth is not None and self._constants is not None:
            self._growth.plan(self._function, lambda definition: self._facts_of(definition).is_computed)

    def run(
        self,
        step: Callable[[Op, dict[object, Op]], object],
        *,
        take_branches: bool = True,
        forwards_outputs: bool = False,
    ) -> None:
        """Applies a step to each operation that computes no output, and takes branches that constants decide.

        With `forwards_outputs`, an operation that returns its operand as an output is removed if the operand can take
        its name.
        """
        # What is visible in a block: operations of it and of those around it, by what they compute.
        pending: list[tuple[Block, dict[object, Op]]] = [(self._function.body, {})]
        while pending:
            block, visible = pending.pop()
            returned = frozenset(block.last.operands) if block.last is not None else frozenset[Value]()
            op = block.first
            while op is not None:
                following = op.next
                before = op.previous if op.regions else None
                if op.regions and take_branches and self._branches.take(op):
                    self.changes += 1
                    following = block.first if before is None else before.next
                    returned = frozenset(block.last.operands) if block.last is not None else returned
                elif op.regions:
                    pending.extend([(inner, dict(visible)) for region in op.regions for inner in region.blocks])
                elif isinstance(op, Op) and returned.isdisjoint(op.results):
                    step(op, visible)
                elif isinstance(op, Op) and forwards_outputs and self._forward_output(op, returned):
                    returned = frozenset(block.last.operands) if block.last is not None else returned
                op = following

    def _forward_output(self, op: Op, returned: frozenset[Value]) -> bool:
        """Removes an operation whose only result is an output and equal to an operand that can take its name."""
        facts = self._facts_of(type(op))
        if len(op.results) != 1 or not facts.is_removable or facts.is_random or self.is_referred(op):
            return False
        result, value = op.results[0], self._equal_operands(op, facts).get(0)
        owner = None if value is None else value.owner
        if value is None or value in returned or not isinstance(owner, Op) or owner.parent is not op.parent:
            return False
        if owner.has_trait(traits.ConstantLike) or self.is_referred(owner):
            return False
        name = result.name
        result.replace_all_uses_with(value)
        op.erase()
        value.name = name
        self.changes += 1
        return True

    def is_referred(self, op: Op) -> bool:
        """Returns whether something other than an operation refers to a result by its name."""
        return bool(self._referred) and any(r.name in self._referred for r in op.results)

    def simplify(self, op: Op, visible: dict[object, Op]) -> None:
        """Removes an operation if possible; else adds it to the visible ones."""
        facts = self._facts_of(type(op))
        if not facts.is_removable:
            return
        if not (facts.is_random or facts.is_constant):
            constants = self._replace_by_constant(op) or self._fold(op, facts)
            for constant in constants:
                self._share(constant, visible, is_constant=True)
            if constants:
                return
        # A constant takes the name of what it stands for; everything else would lose it.
        if self.is_referred(op) or (not facts.is_constant and self._replace_by_operands(op, facts)) or facts.is_random:
            return
        self._share(op, visible, is_constant=facts.is_constant)

    def _share(self, op: Op, visible: dict[object, Op], *, is_constant: bool) -> None:
        """Replaces an operation by an equal visible one, if there is one; else adds it."""
        key = _identity(op, is_constant)
        if key is None or self.is_referred(op):
            return
        try:
            same = visible.setdefault(key, op)
        except TypeError:  # an attribute that no two operations share
            return
        if same is op:
            return
        for old, new in zip(op.results, same.results, strict=True):
            # Many operations may refer to a constant by its name.
            if is_constant and 0 < len(old.name or "") < len(new.name or "") and not self.is_referred(same):
                new.name = old.name
            old.replace_all_uses_with(new)
        op.erase()
        self.changes += 1

    def _facts_of(self, definition: type[Op]) -> _OpFacts:
        result = self._facts.get(definition)
        if result is None:
            result = self._facts[definition] = _OpFacts(definition)
        return result

    def _equal_operands(self, op: Op, facts: _OpFacts) -> dict[int, Value]:
        """Returns the operands that results are equal to, by the position of the result."""
        if not facts.is_derived:
            return {}
        try:
            derived = infer(op)
        except (DiagnosticError, NotationError):
            return {}
        # Operations of one meaning share what is derived for them.
        forwarded = self._forwarded.get(derived)
        if forwarded is None:
            forwarded = self._forwarded[derived] = _forwarded_operands(derived)
        if not forwarded:
            return {}
        operands = op.grouped_operands()
        return {n: v for n, m in forwarded.items() if m < len(operands) and isinstance(v := operands[m], Value)}

    def _replace_by_operands(self, op: Op, facts: _OpFacts) -> bool:
        """Replaces results by equal operands, and returns whether the operation was removed."""
        replacements = self._equal_operands(op, facts)
        if not replacements:
            return False
        result = [replacements.get(n) for n in range(len(op.results))]
        for r, v in zip(op.results, result, strict=False):
            if v is not None and r.is_used:
                r.replace_all_uses_with(v)
                self.changes += 1
        if any(r.is_used for r in op.results):
            return False
        op.erase()
        return True

    def _replace_by_constant(self, op: Op) -> Sequence[Op]:
        """Replaces shape arithmetic with known integers by a constant, and returns that."""
        type = op.results[0].type if len(op.results) == 1 else None
        if self._constants is None or not isinstance(type, TensorType) or not type.element.is_integer:
            return ()
        dims = known_dims(op.results[0]) if type.is_static and type.rank in (0, 1) else None
        numbers = [d for d in dims or () if isinstance(d, int)]
        if dims is None or len(numbers) != len(dims):
            return ()
        constant = self._constants.replace(op.results[0], data_of(type.element, type.static_shape, numbers))
        op.erase()
        self.changes += 1
        return (constant,)

    def fold(self, op: Op, _visible: object) -> None:
        """Replaces results by constants if all operands are constants."""
        self._fold(op, self._facts_of(type(op)))

    def fold_known(self, op: Op, _visible: object) -> None:
        """Replaces results by constants if dims or constant operands decide them."""
        facts = self._facts_of(type(op))
        if facts.is_computed and not self._replace_by_constant(op):
            self._fold(op, facts)

    def settle(self, op: Op, _visible: object) -> None:
        """Replaces results by constants if all operands are constants, and some of them are decided ones."""
        if self._decided.isdisjoint(op.operands):
            return
        for v in op.operands:
            definition = v.owner
            if isinstance(definition, Op) and not definition.operands and constant_data(v) is None:
                # A constant that its definition computes, as onnx.Constant.
                self._fold(definition, self._facts_of(type(definition)))
        self._fold(op, self._facts_of(type(op)))

    def _fold(self, op: Op, facts: _OpFacts) -> Sequence[Op]:
        """Replaces the results of an operation on constants by constants, and returns these."""
        if self._constants is None or not facts.is_computed:
            return ()
        contents: list[Data] = []
        for v in op.operands:
            data = constant_data(v)
            if data is None:
                return ()
            contents.append(data)
        result = self._evaluate(op, contents)
        # An operation that is not verified may have another number of results.
        if result is None or len(result) != len(op.results):
            return ()
        if not (self._growth is None or self._growth.permits(op, result)):
            return ()
        constants = [self._constants.replace(r, data) for r, data in zip(op.results, result, strict=True)]
        self._decided.update([constant.results[0] for constant in constants])
        op.erase()
        self.changes += 1
        return constants


def _forwarded_operands(derived: Derived) -> dict[int, int]:
    """Returns the positions of operands that results are equal to, by position of the result."""
    numbers = {v: n for n, v in enumerate(derived.inputs) if isinstance(v, Value)}
    folded = [fully_folded(v) for v in derived.outputs]
    return {n: numbers[v] for n, v in enumerate(folded) if v in numbers}


def fully_folded(value: Value) -> Value:
    """Returns a value of a reference, folded by its operations until none folds."""
    result: Value | None = value
    while result is not None:
        value = result
        result = equal_value(value.owner) if isinstance(value.owner, Op) else None
    return value


class _Constants:
    """Builds constants of one definition."""

    def __init__(self, definition: type[Op]) -> None:
        self._definition = definition

    def replace(self, value: Value, data: Data) -> Op:
        """Replaces a value by a constant, which is inserted before its operation, and returns that."""
        owner = value.owner
        if not isinstance(owner, Operation) or owner.parent is None:
            raise InternalError("only the result of an operation can become a constant")
        built = self._definition(data)
        owner.parent.insert_before(owner, built)
        built.results[0].name = value.name
        value.replace_all_uses_with(built.results[0])
        return built


def _identity(op: Op, is_constant: bool) -> object:
    """Returns a key that equal computations share; None if there is none."""
    if is_constant:
        data = known_data(op.results[0]) if len(op.results) == 1 else None
        if data is None or isinstance(data, FileData) or data.size_bytes > _COMPARED_BYTES:
            return None
        return type(op), op.results[0].type, data.contents()
    values = op.attribute_values
    if float in map(type, values):
        values = tuple([repr(v) if isinstance(v, float) else v for v in values])
    extra = op.extra
    extra_items = tuple(extra.items()) if extra else ()
    types = tuple([r.type for r in op.results]) if op.infers_types else len(op.results)
    return type(op), op.operands, op.operand_offsets, values, types, extra_items
