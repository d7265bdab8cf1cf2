"""What is checked once for all operations that are alike."""

from __future__ import annotations

from collections.abc import Iterator

from commonir.base.codes import WRONG_TYPE
from commonir.base.diagnostics import Diagnostic
from commonir.ir.operation import Block, Value
from commonir.ir.types import f32, tensor
from commonir.ir.unregistered import UnregisteredOperation
from commonir.ods import MlirOp, any_type, check_operation, operand, result
from commonir.ods.alike import AlikeChecks


class Unlike(MlirOp, name="test.unlike"):
    """Takes two different values."""

    __slots__ = ()

    lhs: Value = operand(any_type)
    rhs: Value = operand(any_type)
    out: Value = result(any_type)

    def verify(self) -> Iterator[Diagnostic]:
        if self.lhs is self.rhs:
            yield Diagnostic(WRONG_TYPE, "both are the same value")


def _values() -> tuple[Value, Value]:
    a, b = (UnregisteredOperation("test.value", (), {}, (tensor(f32, 2),), []) for _ in range(2))
    Block().append(a)
    return a.results[0], b.results[0]


def _unlike(lhs: Value, rhs: Value) -> Unlike:
    return Unlike.build({"lhs": lhs, "rhs": rhs}, (lhs.type,))


def test_operation_on_one_value_twice_is_not_like_one_on_two_values() -> None:
    a, b = _values()
    right, wrong = (_unlike(a, other) for other in (b, a))
    checks = AlikeChecks(lambda op: list(check_operation(op)))
    assert checks.is_right(right)
    assert not checks.is_right(wrong)
    assert checks.is_right(_unlike(b, a))
