"""The `mpi` engine: a process for each rank of a program, started by `mpiexec`."""

from __future__ import annotations

from commonir.engines.mpi.engine import ENGINE, MpiEngine

__all__ = ["ENGINE", "MpiEngine"]
