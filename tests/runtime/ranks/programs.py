"""Programs of ranks for tests, as MLIR text, and what they give, computed here with numpy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

import commonir as cir
from commonir.ir.module import Module

from tests.passes.rank_programs import program, recv, ring, send

Array = npt.NDArray[Any]

DTYPES = {"f32": np.dtype(np.float32), "f16": np.dtype(np.float16), "bf16": np.dtype(ml_dtypes.bfloat16)}

FOREVER = [
    "scf.while : () -> () {",
    "  %always = arith.constant true",
    "  scf.condition(%always)",
    "} do {",
    "  scf.yield",
    "}",
]


def parsed(text: str) -> Module:
    """The program of a text."""
    return cir.loads(text, format="mlir")


def drawn(world: int, shape: Sequence[int] = (4,), dtype: npt.DTypeLike = np.float32) -> list[Array]:
    """A tensor for each rank, none like another."""
    source = np.random.default_rng(world)
    return [(source.standard_normal(tuple(shape)) * 10).astype(dtype) for _ in range(world)]


def given(tensors: Sequence[Array]) -> dict[str, Array]:
    """The inputs of a program whose ranks call theirs `x`."""
    return {f"rank{rank}.x": x for rank, x in enumerate(tensors)}


def all_reduced(tensors: Sequence[Array]) -> list[Array]:
    """Returns what each rank has after an all-reduce: its own plus those of the ranks below it, modulo their number."""
    out: list[Array] = []
    for rank in range(len(tensors)):
        total = tensors[rank]
        for n in range(1, len(tensors)):
            total = (total + tensors[rank - n]).astype(total.dtype)
        out.append(total)
    return out


def all_reduce_program(world: int, element: str = "4xf32") -> str:
    line = f"%y = core.all_reduce %x : tensor<{element}>"
    return program([[line]] * world, element)


def ring_program(world: int, element: str = "4xf32") -> str:
    """An all-reduce as it is expanded."""
    return program([ring(rank, world, "%x", "%y", 0, element) for rank in range(world)], element)


def pipeline_program(world: int, rounds: int = 3) -> str:
    """Each rank adds its own tensor to what the one before gives, and hands it on; several times."""
    bodies: list[list[str]] = []
    for rank in range(world):
        lines: list[str] = []
        for n in range(rounds):
            before = f"%r{n}"
            if rank == 0:
                lines.append(f"{before} = core.mul %x, %x : tensor<4xf32>")
            else:
                lines.append(recv(before, rank - 1, n))
            lines.append(f"%s{n} = core.add {before}, %x : tensor<4xf32>")
            if rank < world - 1:
                lines.append(send(f"%s{n}", rank + 1, n))
        lines.append("%a = core.add %s0, %s1 : tensor<4xf32>")
        lines.append("%y = core.add %a, %s2 : tensor<4xf32>")
        bodies.append(lines)
    return program(bodies)


def pipelined(tensors: Sequence[Array]) -> list[npt.NDArray[np.float32]]:
    """Returns what each rank of the pipeline gives."""
    out: list[npt.NDArray[np.float32]] = []
    value = tensors[0].astype(np.float32) ** 2
    for x in tensors:
        value = value + x
        out.append(value + value + value)
    return out


def deadlock_program(world: int) -> str:
    """Each rank waits for the next before it sends."""
    return program(
        [
            [
                recv("%r", (rank + 1) % world, 7),
                send("%x", (rank - 1) % world, 7),
                "%y = core.add %r, %x : tensor<4xf32>",
            ]
            for rank in range(world)
        ]
    )
