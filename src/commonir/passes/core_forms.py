"""Operations of any dialect as operations of the core, and core operations written in the dialect of a function.

The core form of an operation follows from its reference: where that consists of one core operation, after folding, the
operation is this one on its own operands. Rules about core operations so hold for every dialect. What they return is
written by the conversion to the dialect of the function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from commonir.base.diagnostics import DiagnosticError
from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.dialects.mlir import ml_program
from commonir.ir.cloning import clone
from commonir.ir.data import Data, computed_data
from commonir.ir.module import Function, Module
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import ElementType, FunctionType, TensorType
from commonir.notation import NotationError
from commonir.ods import Form, Op, known_data, operations_behind, trace, traits
from commonir.passes.simplify import fully_folded

FromCore = Callable[[Module, str, str], Module | None]
"""Converts a core module with one function to a dialect, by its name, and to an operation set of it. None if there is
no such conversion.
"""


def no_conversion(_module: Module, _dialect: str, _operation_set: str) -> Module | None:
    """Returns None: there is no conversion."""
    return None


_Operand = Value | tuple[Value, ...] | None


class CoreForm(NamedTuple):
    """A core operation on values of a program. `op` has its attributes, and placeholders for its operands."""

    op: core.CoreOp
    operands: tuple[_Operand, ...]

    @property
    def x(self) -> Value:
        """Its first operand, which is one value."""
        (first, *_) = self.operands
        assert isinstance(first, Value)
        return first


def core_form(op: Operation | Block) -> CoreForm | None:
    """Returns the core operation that computes the first result of an operation; None if it takes several, or none.

    Operations with other results that are used have no core form.
    """
    if not isinstance(op, Op) or any(r.is_used for r in op.results[1:]):
        return None
    return _form_of_results(op, 1)


def equal_operands(op: Op) -> list[Value] | None:
    """Returns the operands that the results of an operation are, in their order; None if one is computed."""
    if op.has_trait(traits.Annotates):
        return None
    found = _traced(op, len(op.results))
    if found is None:
        return None
    values, actual = found
    results = [actual.get(v) for v in values]
    equal = [v for v, r in zip(results, op.results, strict=True) if v is not None and v.type is r.type]
    return equal if len(equal) == len(op.results) else None


def form_of_all_results(op: Operation | Block) -> CoreForm | None:
    """Returns the core operation that computes all results of an operation, in their order; None if there is none."""
    return _form_of_results(op, len(op.results)) if isinstance(op, Op) else None


_Actual = dict[Value, Value]
"""The values of the program, by the placeholders of a reference."""


def _form_of_results(op: Op, count: int) -> CoreForm | None:
    found = _reference(op, count)
    return None if found is None else _form(*found)


def _reference(op: Op, count: int) -> tuple[core.CoreOp, _Actual] | None:
    """Returns the last core operation of a reference, and the values that the reference is about."""
    found = _traced(op, count)
    if found is None:
        return None
    values, actual = found
    owner = values[0].owner
    if not isinstance(owner, core.CoreOp) or owner.has_trait(traits.ConstantLike):
        return None
    if count > 1 and tuple(values) != owner.results:
        return None
    return owner, actual


def _traced(op: Op, count: int) -> tuple[list[Value], _Actual] | None:
    """Returns the first results of a reference, folded, and the values that the reference is about."""
    if op.form is not Form.COMPOSITE or op.regions or not op.results:
        return None
    if op.has_trait(traits.ConstantLike) or not op.has_trait(traits.Pure) or op.is_annotated:
        return None
    try:
        derived = trace(op)
    except (DiagnosticError, NotationError):
        return None
    if derived.is_data_dependent or len(derived.outputs) < count:
        return None
    values = [fully_folded(v) for v in derived.outputs[:count]]
    actual: _Actual = {}
    for placeholder, operand in zip(derived.inputs, op.grouped_operands(), strict=True):
        if isinstance(operand, tuple):
            actual.update(zip(placeholder, operand, strict=True))
        elif operand is not None:
            actual[placeholder] = operand
    return values, actual


def _form(owner: core.CoreOp, actual: _Actual) -> CoreForm | None:
    """Returns a core operation of a reference on the values of the program; None if it takes results of others."""
    operands: list[_Operand] = []
    for operand in owner.grouped_operands():
        if isinstance(operand, tuple):
            several = [_actual(v, actual) for v in operand]
            found = [v for v in several if v is not None]
            if len(found) < len(several):
                return None
            operands.append(tuple(found))
            continue
        one = None if operand is None else _actual(operand, actual)
        if operand is not None and one is None:
            return None
        operands.append(one)
    return CoreForm(owner, tuple(operands))


def _actual(placeholder: Value, actual: _Actual) -> Value | None:
    """Returns the value of the program for one of a reference; of a constant of the reference, a detached copy."""
    value = fully_folded(placeholder)
    if value in actual:
        return actual[value]
    owner = value.owner
    if not isinstance(owner, Op) or not owner.has_trait(traits.ConstantLike):
        return None
    return owner.clone_shallow((), ()).results[value.index]


def inner_form(value: Value, *classes: type[core.CoreOp]) -> CoreForm | None:
    """Returns the core form of the operation that computes a value, of some classes, if nothing else uses the value."""
    owner = _only_used_result(value)
    form = None if owner is None else core_form(owner)
    return form if form is not None and isinstance(form.op, classes) else None


def inner_sum(value: Value, *classes: type[core.CoreOp]) -> tuple[CoreForm, Value] | None:
    """Like `inner_form`, for an operation that adds a value to the result of the core operation; returns both."""
    owner = _only_used_result(value)
    found = None if owner is None else _reference(owner, 1)
    if found is None or not isinstance(found[0], core.Add):
        return None
    total, actual = found
    first, second = total.operands
    op, added = fully_folded(first).owner, _actual(second, actual)
    form = _form(op, actual) if isinstance(op, core.CoreOp) and isinstance(op, classes) else None
    return None if form is None or added is None else (form, added)


_MOVES = (core.BroadcastTo, core.Reshape, core.Squeeze, core.Unsqueeze, core.Transpose)


def repeated_value(value: Value) -> Value | None:
    """Returns a value that repeats elements of another one in its form by detached core operations; None for one that
    is computed otherwise, or used elsewhere too.
    """
    owner = _only_used_result(value)
    return None if owner is None else _in_moves(owner, needs_repetition=True)


def moved_value(value: Value) -> Value | None:
    """Like `repeated_value`, also for a value that only has its elements in other places."""
    owner = _only_used_result(value)
    return None if owner is None else _in_moves(owner, needs_repetition=False)


def _in_moves(op: Op, *, needs_repetition: bool) -> Value | None:
    found = _traced(op, 1)
    if found is None or found[0][0] in found[1]:
        return None
    chain: list[core.CoreOp] = []
    at = found[0][0]
    while at not in found[1]:
        if not isinstance(at.owner, _MOVES) or len(at.owner.operands) != 1:
            return None
        chain.append(at.owner)
        at = fully_folded(at.owner.operands[0])
    if needs_repetition and not any(isinstance(each, core.BroadcastTo) for each in chain):
        return None
    value = found[1][at]
    for each in reversed(chain):
        value = each.clone_shallow((value,), ()).results[0]
    return value


def repeated_constant(value: Value) -> Data | None:
    """Returns the constant that a value repeats along axes, which are aligned at the end; None for another value."""
    owner = value.owner
    found = _traced(owner, 1) if isinstance(owner, Op) and value.index == 0 else None
    last = None if found is None else found[0][0].owner
    if found is None or not isinstance(last, core.BroadcastTo):
        return None
    at = inner = fully_folded(last.operands[0])
    while isinstance(at.owner, core.Reshape | core.Squeeze | core.Unsqueeze):
        at = fully_folded(at.owner.operands[0])
    data = known_data(found[1][at]) if at in found[1] else None
    if data is None or not isinstance(inner.type, TensorType):
        return None
    shape = inner.type.static_shape
    return computed_data(inner.type, lambda: data.array().reshape(shape))


def _only_used_result(value: Value) -> Op | None:
    """Returns the operation that computes a value as its first result, if one operation beside it uses the value."""
    user, owner = value.only_user, value.owner
    # One in a nested block may run more often.
    if user is None or value.index != 0 or not isinstance(owner, Op) or user.parent is not owner.parent:
        return None
    return None if any(r.is_used for r in owner.results[1:]) else owner


def shared_form(value: Value, *classes: type[core.CoreOp]) -> CoreForm | None:
    """Returns the core form of the operation that computes a value, of some classes, even if it has other users."""
    owner = value.owner
    form = core_form(owner) if isinstance(owner, Op) and value.index == 0 else None
    return form if form is not None and isinstance(form.op, classes) else None


def replaced_with(op: Op, value: Value) -> set[Operation]:
    """Returns the operations that nothing uses any more where a value, which detached operations define, takes the
    place of the results of one: that one, and those before it; constants do not count.
    """
    body = operations_behind((value,))
    kept = {v for built in body for v in built.operands}
    out: set[Operation] = {op}
    pending: list[Operation] = [op]
    while pending:
        for v in pending.pop().operands:
            owner = v.owner
            if not isinstance(owner, Op) or owner in out or owner.parent is not op.parent or owner.regions:
                continue
            is_free = owner.has_trait(traits.Pure) and not owner.has_trait(traits.ConstantLike)
            users = [(r, u) for r in owner.results for u in r.users]
            if is_free and all(r not in kept and (u in out or u in body) for r, u in users):
                out.add(owner)
                pending.append(owner)
    return out


class Written(NamedTuple):
    """Values for results, and the operations that define them, detached and in order."""

    values: tuple[Value, ...]
    operations: tuple[Operation, ...]

    @property
    def value(self) -> Value:
        """The only value, or the first one."""
        return self.values[0]


class CoreWriter:
    """Writes core operations in the dialect of a function, or in that of an operation where functions of MLIR hold
    operations of several.
    """

    def __init__(self, function: Function, from_core: FromCore) -> None:
        self._function = function
        self._from_core = from_core
        self._names: set[str] | None = None

    def written(self, value: Value, most: int, like: Op, operation_set: str = "") -> Written | None:
        """Returns a value that detached core operations define, which are erased, as one of the dialect of `like`.

        None if that takes more than a number of operations besides constants, or cannot be expressed. `operation_set`
        is another one than that of the function.
        """
        return self.all_written((value,), most, like, operation_set)

    def all_written(self, values: Sequence[Value], most: int, like: Op, operation_set: str = "") -> Written | None:
        """Returns several values like `written`; the operations that define them are erased, too."""
        body = operations_behind(values)
        own = {r for op in body for r in op.results}
        used = list(dict.fromkeys([v for op in body for v in op.operands if v not in own]))
        source = _Source(used, body, values) if all(isinstance(v.type, TensorType) for v in used) else None
        for op in reversed(body):
            op.erase()
        try:
            # Constants of graphs are of the dialect of their operations, of which the names may be chosen by users.
            dialect = (self._function.constants or like.name).partition(".")[0]
            version = operation_set or self._function.operation_set
            result = None if source is None else self._from_core(source.module, dialect, version)
        except (DiagnosticError, NotationError):
            return None
        if source is None or result is None or len(result.main.inputs) != len(source.arguments):
            return None
        function = result.main
        if any(_element(v) is not _element(a) for v, a in zip(function.inputs, source.arguments, strict=True)):
            return None
        mapping: dict[Value, Value] = dict(zip(function.inputs, source.arguments, strict=True))
        copies: list[Operation] = []
        count = 0
        # Limits and the like are literals in core operations, and constants in others.
        equal = {
            (v.type, data.identity): v
            for v in like.operands
            if isinstance(v.owner, Op) and (data := _constant_data(v.owner)) is not None
        }
        for op in function.body.operations:
            constant = _constant_data(op)
            known = None if constant is None else source.constants.get(id(constant))
            if constant is not None and known is None and self._function.constants:
                known = equal.get((constant.type, constant.identity))
            if known is not None:
                mapping[op.results[0]] = known
            elif op is not function.body.last:
                copies.append(clone(op, mapping))
                count += constant is None
        if count > most:
            for op in reversed(copies):
                op.erase()
            return None
        results = tuple([mapping[v] for v in function.outputs])
        own = set(results)
        for r in [r for copy in copies for r in copy.results]:
            r.name = self.unique_name(r.name) if r.name and r not in own else ""
        return Written(results, tuple(copies))

    def unique_name(self, name: str) -> str:
        """Returns a name that no other value of the function has."""
        if self._names is None:
            body = self._function.walk_list()
            self._names = {a.name for op in body for region in op.regions for b in region.blocks for a in b.arguments}
            self._names.update([r.name for op in body for r in op.results])
        result, n = name, 0
        while result in self._names:
            n += 1
            result = f"{name}_{n}"
        self._names.add(result)
        return result


def _element(value: Value) -> ElementType | None:
    return value.type.element if isinstance(value.type, TensorType) else None


def _constant_data(op: Operation) -> Data | None:
    is_constant = isinstance(op, Op) and op.has_trait(traits.ConstantLike) and len(op.results) == 1
    return known_data(op.results[0]) if is_constant else None


class _Source:
    """Core operations as a module. `arguments` are the values of the program that its function takes, and `constants`
    those that it has as constants, by the identity of their contents: a format may require that.
    """

    def __init__(self, used: list[Value], body: list[Operation], values: Sequence[Value]) -> None:
        contents = {v: _constant_data(v.owner) if isinstance(v.owner, Op) else None for v in used}
        self.arguments = [v for v, data in contents.items() if data is None]
        self.constants = {id(data): v for v, data in contents.items() if data is not None}
        types = [v.type for v in self.arguments]
        block = Block(types, [f"x{n}" for n in range(len(types))])
        mapping: dict[Value, Value] = dict(zip(self.arguments, block.arguments, strict=True))
        for v, data in contents.items():
            if data is not None:
                mapping[v] = block.append(core.Constant(data)).y
        for op in body:
            block.append(clone(op, mapping))
        results = tuple([mapping[v] for v in values])
        block.append(ml_program.Return(results))
        signature = FunctionType(tuple(types), tuple([v.type for v in results]))
        names = tuple([f"y{n}" for n in range(len(results))])
        self.module = Module()
        self.module.body.append(ml_program.Func("main", signature, Region([block]), names))


def is_tensor(value: Value) -> bool:
    """Returns whether a value is a tensor with known dims, perhaps symbolic ones."""
    return isinstance(value.type, TensorType) and value.type.shape is not None and None not in value.type.shape
