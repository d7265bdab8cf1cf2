"""Programs that are run over MPI one after another by every process, and in one process by the test.

`mpiexec -n N python -m tests.engines.mpi_programs FILE.npz` saves the outputs of those of N ranks.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import commonir as cir
from commonir.dialects.core.communication import ranks_of

from tests.passes.rank_programs import program, recv, send
from tests.runtime.ranks.programs import (
    DTYPES,
    all_reduce_program,
    drawn,
    given,
    parsed,
    pipeline_program,
    ring_program,
)

Array = npt.NDArray[Any]

LARGE = 524288
"""Elements of a message of 2 MB in single precision, far above what any MPI sends without the receiver."""


def programs(world: int) -> dict[str, str]:
    """The texts of programs of some ranks by name."""
    return {
        "all_reduce": all_reduce_program(world, "3x5xf32"),
        "all_reduce_f16": all_reduce_program(world, "64xf16"),
        "all_reduce_bf16": all_reduce_program(world, "64xbf16"),
        "all_reduce_2mb": all_reduce_program(world, f"{LARGE}xf32"),
        "ring": ring_program(world),
        "ring_f16": ring_program(world, "64xf16"),
        "ring_2mb": ring_program(world, f"{LARGE}xf32"),
        "pipeline": pipeline_program(world),
        "tags": tags_program(world),
        "loop": loop_program(world),
        "tensor_parallel": tensor_parallel_program(world),
        "unreceived": unreceived_program(world),
        "unreceived_again": unreceived_program(world),
    }


def tags_program(world: int) -> str:
    """Every rank sends every other one tensors under tags that MPI does not take, which are taken in another order."""
    tags = (2147483647, -2147483648, 9007199254740993, 0)
    bodies: list[list[str]] = []
    for rank in range(world):
        lines = ["%t0 = core.mul %x, %x : tensor<4xf32>"]
        lines += [f"%t{n} = core.add %t{n - 1}, %x : tensor<4xf32>" for n in range(1, len(tags))]
        others = [other for other in range(world) if other != rank]
        lines += [send(f"%t{n}", other, tag) for other in others for n, tag in enumerate(tags)]
        lines.append("%s0 = core.add %x, %x : tensor<4xf32>")
        number = 0
        for other in others:
            for tag in reversed(tags):
                lines.append(recv(f"%r{number}", other, tag))
                lines.append(f"%h{number} = core.sub %r{number}, %s{number} : tensor<4xf32>")
                number += 1
                lines.append(f"%s{number} = core.add %h{number - 1}, %h{number - 1} : tensor<4xf32>")
        lines.append(f"%y = core.add %s{number}, %x : tensor<4xf32>")
        bodies.append(lines)
    return program(bodies)


def loop_program(world: int) -> str:
    """Returns a program that is known only when its loop runs: tensors go round several times, barriers between."""
    bodies = [
        [
            "%from = arith.constant 0 : index",
            "%to = arith.constant 5 : index",
            "%by = arith.constant 1 : index",
            "%y = scf.for %i = %from to %to step %by iter_args(%held = %x) -> (tensor<4xf32>) {",
            "  " + send("%held", (rank + 1) % world, 3),
            "  " + recv("%r", (rank - 1) % world, 3),
            "  core.barrier",
            "  %next = core.sub %r, %x : tensor<4xf32>",
            "  scf.yield %next : tensor<4xf32>",
            "}",
        ]
        for rank in range(world)
    ]
    return program(bodies)


def tensor_parallel_program(world: int) -> str:
    """Two layers split by columns and rows; the sums of their parts are added up."""
    size = 16
    attributes = f"{size}x{size}xf32"
    lines = [
        f"%h = core.matmul %x, %x : tensor<{attributes}>",
        f"%r = core.relu %h : tensor<{attributes}>",
        f"%p = core.matmul %r, %x : tensor<{attributes}>",
        f"%y = core.all_reduce %p : tensor<{attributes}>",
    ]
    return program([lines] * world, attributes)


def unreceived_program(world: int) -> str:
    """A message that is never received must not reach the next run."""
    sends = [send("%x", 1, 5), send("%x", 1, 5), "%y = core.all_reduce %x : tensor<4xf32>"]
    takes = [recv("%r", 0, 5), "%s = core.add %r, %x : tensor<4xf32>", "%y = core.all_reduce %s : tensor<4xf32>"]
    return program([sends, takes, *[sends[2:]] * (world - 2)])


def inputs_of(module: cir.Module, name: str) -> dict[str, Array]:
    """Inputs for a program; those of `unreceived_again` are others."""
    functions = ranks_of(module)
    kind = functions[0].inputs[0].type
    shape: Sequence[int] = kind.static_shape  # pyright: ignore[reportAttributeAccessIssue]  all are tensors
    dtype = DTYPES[str(kind.element)]  # pyright: ignore[reportAttributeAccessIssue]  the same
    scale = 3 if name.endswith("again") else 1
    return given([(x * scale).astype(dtype) for x in drawn(len(functions), shape, dtype)])


def outputs_of(world: int, engine: str) -> dict[str, Array]:
    """Returns what all programs give, by name of the program and of the output; in half precision as bits."""
    out: dict[str, Array] = {}
    for name, text in programs(world).items():
        module = parsed(text)
        for output, array in cir.run(module, inputs_of(module, name), engine=engine).items():
            out[f"{name}/{output}"] = array.view(np.uint16) if array.dtype.itemsize == 2 else array
    return out


if __name__ == "__main__":
    from mpi4py import MPI

    found = outputs_of(MPI.COMM_WORLD.Get_size(), "mpi")
    if MPI.COMM_WORLD.Get_rank() == 0:
        np.savez(sys.argv[1], **found)  # pyright: ignore[reportArgumentType]  numpy states its options first
