"""The machine that code is generated for: its instructions, and the sizes that schedules are chosen by."""

from __future__ import annotations

from collections.abc import Mapping

from commonir.base.tuples import NamedTuple


class Target(NamedTuple):
    """A processor, as LLVM names it, and the vectors that generated code uses.

    `features` is LLVM's list of features, each after `+` or `-`. `vector_bits` is the width of vectors, `registers`
    the number of them. `fast_math` is that of `EngineOptions`.
    """

    triple: str
    cpu: str
    features: str
    vector_bits: int
    registers: int
    fast_math: str = "winograd"

    def lanes(self, bits: int = 32) -> int:
        """Returns the number of elements of some bits in a vector."""
        return self.vector_bits // bits

    @property
    def function_attributes(self) -> str:
        """Attributes of functions. Without the widths LLVM splits vectors of 512 bits; inlined calls only cost time.

        The stack is aligned for sums that do not stay in registers. LLVM finds that there are some when it cannot do so
        any more, and where the stack happens to start lower, those that cross cache lines cost a tenth of the time.
        """
        return (
            f'nounwind noinline alignstack={self.vector_bits // 8} "min-legal-vector-width"="{self.vector_bits}" '
            f'"prefer-vector-width"="{self.vector_bits}" '
            f'"target-cpu"="{self.cpu}" "target-features"="{self.features}"'
        )

    def has(self, feature: str) -> bool:
        """Returns whether the processor has a feature."""
        return f"+{feature}" in self.features.split(",")


def target_of(triple: str, cpu: str, features: Mapping[str, bool]) -> Target:
    """Returns the target with the widest vectors that a processor has."""
    if features.get("avx512f"):
        bits, registers = 512, 32
    elif features.get("avx2"):
        bits, registers = 256, 16
    else:
        # NEON, and x86 without AVX, where fewer registers only cost spills.
        bits, registers = 128, 32 if triple.startswith(("aarch64", "arm64")) else 16
    listed = ",".join(f"{'+' if present else '-'}{name}" for name, present in sorted(features.items()))
    return Target(triple, cpu, listed, bits, registers)
