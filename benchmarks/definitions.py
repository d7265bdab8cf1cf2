"""The cost of definitions: importing one, and constructing an operation.

Figures: milliseconds of CPU per definition for importing all of them, and microseconds per constructed operation.
Targets: 0.2 ms and 5 us. For comparison: xDSL, 0.4 ms and 28 us and more.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from commonir.dialects import core
from commonir.ir import Value, tensor
from commonir.ir.types import f32

from benchmarks.harness import run_script

IMPORT = """
import time
import commonir.ods, commonir.notation
start = time.process_time()
count = 0
from commonir.ods import Dialects
dialects = Dialects()
for name in ("core", "mil", "onnx", "ml_program", "builtin"):
    found = dialects.get(name)
    count += 0 if found is None else sum(len(versions) for versions in found.operations.values())
print((time.process_time() - start) * 1e3, count)
"""


def import_cost() -> tuple[float, int]:
    """Milliseconds of CPU per definition (the best of five processes), and the number of definitions."""
    best, count = float("inf"), 0
    for _ in range(5):
        spent, number = run_script(IMPORT).split()
        best, count = min(best, float(spent)), int(number)
    return best / count, count


def construction_cost(build: Callable[[], object], rounds: int = 20, count: int = 2000) -> float:
    """Microseconds of CPU per call, the best of some rounds."""
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        for _ in range(count):
            build()
        best = min(best, time.process_time() - start)
    return best / count * 1e6


def main() -> None:
    """Prints the figures."""
    per_definition, count = import_cost()
    print(f"import of {count} definitions: {per_definition:.3f} ms each (target 0.2)")
    a, b = Value(tensor(f32, 4, 5)), Value(tensor(f32, 4, 5))
    x, w, bias = Value(tensor(f32, 1, 3, 8, 8)), Value(tensor(f32, 8, 3, 3, 3)), Value(tensor(f32, 8))

    def add() -> object:
        return core.Add(a, b)

    def softmax() -> object:
        return core.Softmax(a, axis=-1)

    def conv() -> object:
        return core.Conv(x, w, bias, strides=(2, 2), pads=((1, 1), (1, 1)))

    for name, build in (
        ("add", add),
        ("softmax with an attribute", softmax),
        ("conv with bias and two keywords", conv),
    ):
        print(f"construction of {name}: {construction_cost(build):.1f} us (target 5)")


if __name__ == "__main__":
    main()
