"""Computes before running what depends on constants alone.

The operations of a function that do are cut out as a program of their own, which runs once; what the rest needs of it
becomes constants. Random numbers, and results that are larger than what they are computed from by more than a limit,
stay as they are.
"""

from __future__ import annotations

from commonir.dialects import ml_program
from commonir.ir.module import Function, Module
from commonir.ir.operation import Block, Region, Value, clone
from commonir.ir.types import FunctionType, TensorType, f16
from commonir.ods import Op, traits
from commonir.passes.lower import lower
from commonir.passes.remove_unused import remove_unused
from commonir.passes.simplify import constant_definition, replace_by_constant
from commonir.runtime.engine import Engine
from commonir.runtime.operations import data_of_array

MAX_GROWTH_BYTES = 1 << 20
"""How much larger than what it is computed from a constant may be, if nothing else is asked for."""


def fold_constants(module: Module, engines: tuple[Engine, Engine], max_growth_bytes: int = MAX_GROWTH_BYTES) -> None:
    """Folds the functions of a module in place.

    `engines` are a fast one, and one that rounds after every operation for programs in half precision.
    """
    for function in module.functions.values():
        definition = constant_definition(function)
        if definition is not None:
            _fold(function, definition, engines, max_growth_bytes)
            remove_unused(function.body)


def _fold(function: Function, definition: type[Op], engines: tuple[Engine, Engine], limit: int) -> None:
    foldable: dict[Op, None] = {}
    known: set[Value] = set()
    for op in function.body.operations:
        if isinstance(op, Op) and op.has_trait(traits.ConstantLike):
            known.update(op.results)
        elif isinstance(op, Op) and _is_foldable(op, known, limit):
            foldable[op] = None
            known.update(op.results)
    returned = {*function.outputs}
    wanted = [
        r for op in foldable for r in op.results if r not in returned and any(user not in foldable for user in r.users)
    ]
    if not wanted:
        return
    program = _program(foldable, wanted)
    has_halves = any(isinstance(r.type, TensorType) and r.type.element is f16 for op in foldable for r in op.results)
    arrays = engines[has_halves].prepare(lower(program)).run({})
    for n, value in enumerate(wanted):
        assert isinstance(value.type, TensorType)
        replace_by_constant(definition, value, data_of_array(value.type, arrays[str(n)]))


def _is_foldable(op: Op, known: set[Value], limit: int) -> bool:
    if op.regions or not op.has_trait(traits.Pure) or op.has_trait(traits.Random) or op.has_trait(traits.Terminator):
        return False
    if op.is_stated or not op.results or not all(v in known for v in op.operands):
        return False
    sizes = [_size_bytes(v) for v in op.results]
    given = sum(_size_bytes(v) or 0 for v in op.operands)
    return all(size is not None and size <= given + limit for size in sizes)


def _size_bytes(value: Value) -> int | None:
    """The size of a tensor of numbers; None for what has none that is known."""
    kind = value.type
    if not isinstance(kind, TensorType) or not kind.is_static or not kind.element.bits:
        return None
    return kind.element.size_bytes(kind.count)


def _program(operations: dict[Op, None], wanted: list[Value]) -> Module:
    """A program without inputs that computes some values, called by their numbers."""
    block = Block([])
    mapping: dict[Value, Value] = {}
    for op in operations:
        for v in op.operands:
            if v not in mapping and isinstance(v.owner, Op):
                block.append(clone(v.owner, mapping))
        block.append(clone(op, mapping))
    outputs = tuple([mapping[v] for v in wanted])
    block.append(ml_program.Return(outputs))
    types = FunctionType((), tuple([v.type for v in outputs]))
    names = tuple([str(n) for n in range(len(outputs))])
    module = Module()
    module.body.append(ml_program.Func("constants", types, Region([block]), names))
    return module
