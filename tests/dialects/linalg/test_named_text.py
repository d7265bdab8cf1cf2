"""Named operations are printed as mlir-opt prints them: bodies and maps too, which only the generic form shows."""

from random import Random

from tests.dialects.linalg.named_programs import (
    joined,
    named_operations,
    pointwise_operations,
    pointwise_program,
    program,
)
from tests.dialects.upstream_text import assert_printed_alike


def test_operations_with_indices_are_printed_as_upstream() -> None:
    random = Random(5)
    assert_printed_alike(joined([program(d, random)[0] for d in named_operations()]))


def test_operations_on_one_shape_are_printed_as_upstream() -> None:
    random = Random(6)
    assert_printed_alike(joined([pointwise_program(d, random)[0] for d in pointwise_operations() for _ in range(2)]))
