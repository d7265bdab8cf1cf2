"""Base classes of the operations of the scf dialect: values that regions yield, and their checks.

Source: MLIR scf dialect; messages as of MLIR 22.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from commonir.base.diagnostics import Diagnostic
from commonir.base.text import plural
from commonir.dialects.lazy_core import core
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import Type
from commonir.ods import MlirOp, Op, operations_behind, traits
from commonir.ods.text_form import FormWriter, written_assignments
from commonir.symbolic.errors import NotationError


class ScfOp(MlirOp):
    """Base of the operations of the scf dialect."""


def last_of(region: Region) -> Operation | None:
    """The operation that ends the first block of a region."""
    return region.blocks[0].last if region.blocks else None


def arguments_of(region: Region) -> tuple[Value, ...]:
    """Returns the arguments of a region."""
    return region.blocks[0].arguments if region.blocks else ()


def differing_types(op: ScfOp, what: str, actual: Sequence[Value], expected: Sequence[Type]) -> Iterator[Diagnostic]:
    """Yields the differences between the types of values and the expected ones."""
    if len(actual) != len(expected):
        yield op.malformed(f"{what}: expected {plural(len(expected), 'value')}, found {len(actual)}")
        return
    for n, (v, t) in enumerate(zip(actual, expected, strict=True)):
        if v.type is not t:
            yield op.malformed(f"{what}: type of value #{n} must be {t}, found {v.type}")


def end_region(region: Region, terminator: type[ScfOp]) -> None:
    """Adds the terminator that a text leaves out: one that says nothing."""
    if not region.blocks:
        region.add(Block())
    last = region.blocks[-1].last
    if last is None or not (isinstance(last, Op) and last.has_trait(traits.Terminator)):
        regions = {f.name: Region([Block()]) for f in terminator.layout.regions if not f.variadic}
        region.blocks[-1].append(terminator.build(regions, ()))


def write_loop_values(writer: FormWriter, keyword: str, arguments: Sequence[Value], initial: Iterable[Value]) -> None:
    """Writes `keyword(%argument = %initial, ...)`."""
    writer.write(f"{keyword}{written_assignments(writer, arguments, initial)}")


# -- regions in the core


def yields(block: Block) -> tuple[Value, ...]:
    """Returns the values that a nested block in the core yields, without its terminator."""
    last = block.last
    if not isinstance(last, core.Yield):
        raise NotationError("a nested block does not end as it should")
    values = last.values
    last.erase()
    return values


def end_with(block: Block, *values: Value) -> None:
    """Ends a nested block of the core: what stands behind values and is in no block yet, and that they are yielded."""
    for op in (*operations_behind(values), core.Yield(values)):
        block.append(op)


def yielding(*values: Value) -> Region:
    """A region that receives nothing and yields values of outside."""
    block = Block()
    end_with(block, *values)
    return Region([block])
