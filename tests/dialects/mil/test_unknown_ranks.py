"""Operations whose operands have an unknown rank, or unknown dims, are valid: only a run can break their rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import mil
from commonir.ir.types import TensorType
from commonir.ods import Op
from commonir.ods.examples import example_of
from commonir.ods.inference import infer, is_not_known

# Their operands are constants, or they state that a dim must be a number.
_STATIC = ("mil.constexpr_", "mil.conv_quantized", "mil.gather_nd", "mil.scatter_nd")


def _unranked(type: TensorType) -> TensorType:
    return TensorType(type.element, None)


def _without_dims(type: TensorType) -> TensorType:
    return TensorType(type.element, None if type.shape is None else (None,) * len(type.shape))


def _examples() -> Iterator[Op]:
    for versions in mil.DIALECT.operations.values():
        for definition in versions:
            op = example_of(definition, ("numbers after names", "numbers"))
            if op is not None and not op.name.startswith(_STATIC):
                yield op


def _refusals(op: Op, weaker: Callable[[TensorType], TensorType]) -> Iterator[str]:
    """Yields the errors of an operation, with weaker types of all operands, and of each."""
    tensors = {v: v.type for v in op.operands if isinstance(v.type, TensorType)}
    for changed in (tuple(tensors), *[(v,) for v in tensors]):
        for value, type in tensors.items():
            value.type = weaker(type) if value in changed else type
        try:
            infer(op)
        except DiagnosticError as error:
            if not is_not_known(error):
                yield from (d.message for d in error.diagnostics)


@pytest.mark.parametrize(
    "weaker", [pytest.param(_unranked, id="ranks"), pytest.param(_without_dims, id="dims", marks=pytest.mark.slow)]
)
def test_operands_of_unknown_shape_are_accepted(weaker: Callable[[TensorType], TensorType]) -> None:
    examples = list(_examples())
    assert len(examples) > 150
    assert [m for op in examples for m in _refusals(op, weaker)] == []
