"""`python -m tests.dialects [NAMES]`: the programs of dialects that tests run by LLVM's tools, compiled by IREE.

IREE is large and compiles slowly, so this does not run as a test. Programs go to it in the generic form: it reads
another version of the custom form. Prints what differs and what it refuses; it does not know Winograd's transforms of
linalg.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence

from commonir.ir.types import TensorType
from commonir.ods import Dialects
from commonir.text.parser import parse_module
from commonir.text.printer import Naming, print_module

from tests.dialects.mlir.linalg.relayout_programs import softmax_cases, tile_cases
from tests.dialects.mlir.tensor import tensor_programs
from tests.dialects.mlir.tosa import tosa_programs
from tests.dialects.programs import Array, Case, assert_agree, run
from tests.iree import Compiled, Refused

TOGETHER = 24
"""Functions of a program."""

_KEEP = "--iree-input-demote-f64-to-f32=false"


def compiled(cases: Sequence[Case]) -> Iterator[tuple[Case, Compiled | Refused]]:
    """Cases with the program that has them; halves of what IREE refuses are tried on their own."""
    pending = [cases[n : n + TOGETHER] for n in range(0, len(cases), TOGETHER)]
    while pending:
        some = pending.pop()
        module = parse_module("\n".join(c.text for c in some), Dialects())
        try:
            text = print_module(module, generic=True, elide=None, naming=Naming.MLIR)
            program: Compiled | Refused = Compiled(text, flags=[_KEEP])
        except Refused as error:
            if len(some) > 1:
                pending += [some[: len(some) // 2], some[len(some) // 2 :]]
                continue
            program = error
        for case in some:
            yield case, program


def _given(case: Case) -> list[Array | float]:
    """The inputs of a case; IREE takes numbers where a function takes no tensors."""
    (function,) = parse_module(case.text, Dialects()).functions.values()
    kinds = [v.type for v in function.inputs]
    return [a if isinstance(k, TensorType) else a.item() for k, a in zip(kinds, case.arrays, strict=True)]


def main() -> int:
    """Returns 1 when a result differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="parts of names of cases")
    names: list[str] = parser.parse_args().names
    cases = [*tosa_programs.cases(), *tensor_programs.cases(), *softmax_cases(), *tile_cases()]
    chosen = [c for c in cases if not names or any(n in c.name for n in names)]
    equal = refused = different = 0
    for case, program in compiled(chosen):
        if isinstance(program, Refused):
            refused += 1
            reasons = [line for line in str(program).splitlines() if "error" in line]
            print(f"{case.name}: refused by IREE: {(reasons or [''])[0]}")
            continue
        try:
            expected = program.run(case.name, _given(case))
        except (RuntimeError, IndexError) as error:
            refused += 1
            print(f"{case.name}: not run by IREE: {str(error).splitlines()[0]}")
            continue
        try:
            assert_agree(case, run(case.text, *case.arrays), expected)
            equal += 1
        except AssertionError as error:
            different += 1
            print(f"{case.name}: {error}")
    print(f"{equal} as IREE, {different} different, {refused} refused or not run by IREE")
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main())
