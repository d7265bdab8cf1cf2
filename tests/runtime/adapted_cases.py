"""Random uses of operations, drawn as in the tests that compare with oracles."""

from __future__ import annotations

from commonir.ir.operation import Value

from tests.dialects.core.drawing import Draw as Source
from tests.dialects.core.running import built, definition, flat_arrays, grouped
from tests.dialects.core.test_results import BETWEEN_RANKS, DECOMPOSITIONS, MAKERS, ON_COLLECTIONS, ON_TEXTS
from tests.runtime.drawing import Case, Draw, Random

ELSEWHERE = ON_COLLECTIONS | ON_TEXTS | BETWEEN_RANKS | DECOMPOSITIONS
"""Operations whose results are written out in tests of their own."""


def adapted(name: str) -> Draw:
    """The uses of an operation, without what is expected of them."""

    def draw(r: Random) -> Case:
        case = MAKERS[name](Source(name, int(r.integers(2**31))))

        def build(*values: Value) -> tuple[Value, ...]:
            return built(definition(name), grouped(values, case.operands), case.attributes).results

        return Case(build, {f"x{n}": x for n, x in enumerate(flat_arrays(case.operands))})

    return draw
