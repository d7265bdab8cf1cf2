"""Code that asks the processor whether it has the instructions that other code was compiled for.

On x86 it executes `cpuid` and `xgetbv`, on AArch64 under Linux it calls `getauxval`; elsewhere nothing can be asked,
and the answer is yes. The code itself is compiled for the oldest processor of its architecture.
Sources: Intel 64 and IA-32 Software Developer's Manual, volume 2, CPUID; Linux, `arch/arm64/include/uapi/asm/hwcap.h`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import MappingProxyType

from commonir.base.tuples import NamedTuple
from commonir.llvm.llvm_ir import I32, I64, Function, LlvmValue, Module, Variable
from commonir.llvm.target import Target


class CpuidBit(NamedTuple):
    """A bit of a register (`eax`, `ebx`, `ecx`, `edx` as 0 to 3) that `cpuid` returns for a leaf and a subleaf."""

    leaf: int
    subleaf: int
    register: int
    bit: int


def _bits(leaf: int, subleaf: int, register: int, **bits: int) -> dict[str, CpuidBit]:
    return {name.replace("_", "."): CpuidBit(leaf, subleaf, register, bit) for name, bit in bits.items()}


X86_FEATURES = MappingProxyType(
    {
        **_bits(1, 0, 2, sse3=0, ssse3=9, fma=12, sse4_1=19, sse4_2=20, popcnt=23, avx=28, f16c=29),
        **_bits(7, 0, 1, bmi=3, avx2=5, bmi2=8, avx512f=16, avx512dq=17, avx512ifma=21, avx512cd=28, avx512bw=30),
        **_bits(7, 0, 1, avx512vl=31),
        **_bits(7, 0, 2, avx512vbmi=1, avx512vbmi2=6, gfni=8, avx512vnni=11, avx512bitalg=12, avx512vpopcntdq=14),
        **_bits(7, 0, 3, avx512fp16=23),
        **_bits(7, 1, 0, avxvnni=4, avx512bf16=5),
        **_bits(0x80000001, 0, 2, lzcnt=5),
    }
)
"""Instructions that code for x86 may use, by LLVM's names."""

_OSXSAVE = CpuidBit(1, 0, 2, 27)
_YMM_STATE, _ZMM_STATE = 0x06, 0xE6
"""Bits of the register XCR0: the system saves vectors of 256 bits, and of 512."""

AARCH64_FEATURES = MappingProxyType(
    {
        "fullfp16": (16, 10),
        "dotprod": (16, 20),
        "fp16fml": (16, 23),
        "sve": (16, 22),
        "i8mm": (26, 13),
        "bf16": (26, 14),
    }
)
"""Instructions that code for AArch64 may use: the entry of `getauxval`, and the bit there."""


def checked_features(triple: str) -> tuple[str, ...]:
    """Returns the names of the features that code for a processor may rely on beyond the oldest one."""
    if triple.startswith("x86_64"):
        return tuple(X86_FEATURES)
    return tuple(AARCH64_FEATURES) if triple.startswith(("aarch64", "arm64")) else ()


def enabled_features(target: Target) -> tuple[str, ...]:
    """Returns those of these features that code for a target uses."""
    return tuple([n for n in checked_features(target.triple) if target.has(n)])


def can_check(triple: str, host: str) -> bool:
    """Returns whether the check can be compiled: LLVM assembles `cpuid` only where it runs on x86 itself."""
    return triple.startswith("x86_64") == host.startswith("x86_64") or not triple.startswith("x86_64")


def check_code(name: str, triple: str, features: Sequence[str], host: str) -> str:
    """Returns a module with a function that returns 1 if the processor has all features, else 0."""
    oldest = "x86-64" if triple.startswith("x86_64") else "generic"
    module = Module(f'nounwind "target-cpu"="{oldest}" "target-features"=""')
    f = Function(module, name, [], I32)
    needed = list(features)
    has_all = f.constant(I32, 1)
    if triple.startswith("x86_64") and can_check(triple, host):
        has_all = _x86_check(f, needed)
    elif "linux" in triple and needed and triple.startswith(("aarch64", "arm64")):
        has_all = _aarch64_check(f, needed)
    f.add_line(f"ret i32 {has_all.text}")
    return str(module)


def _x86_check(f: Function, needed: Iterable[str]) -> LlvmValue:
    """Returns 1 if `cpuid` reports all features, and the system saves the vectors that they use."""
    bits = [X86_FEATURES[n] for n in needed]
    vectors = [n for n in needed if n.startswith("avx") or n in ("fma", "f16c")]
    masks: dict[tuple[int, int, int], int] = {}
    for b in [*bits, *([_OSXSAVE] if vectors else ())]:
        key = (b.leaf, b.subleaf, b.register)
        masks[key] = masks.get(key, 0) | 1 << b.bit
    answer = f.variable(I32, 1)
    # An unknown leaf gives the values of another one, so the largest is asked for first.
    for base in (0, 0x80000000):
        leaves = [leaf for leaf, _, _ in masks if leaf & 0x80000000 == base]
        if leaves:
            largest = _cpuid(f, base, 0, 0)
            _require(answer, largest.compare("uge", _signed(max(leaves))))
    for (leaf, subleaf, register), mask in masks.items():
        with f.when(answer.get().compare("ne", 0)):
            found = _cpuid(f, leaf, subleaf, register)
            _require(answer, (found & _signed(mask)).compare("eq", _signed(mask)))
    if vectors:
        state = _ZMM_STATE if any(n.startswith("avx512") for n in vectors) else _YMM_STATE
        # Without OSXSAVE the instruction does not exist.
        with f.when(answer.get().compare("ne", 0)):
            result = f.computed(I64, 'call i64 asm sideeffect "xgetbv", "={ax},{cx},~{dx}"(i32 0)')
            low = f.cast("trunc", result, "i32")
            _require(answer, (low & state).compare("eq", state))
    return answer.get()


def _require(answer: Variable, condition: LlvmValue) -> None:
    f = condition.function
    answer.set(f.select(condition, answer.get(), 0))


def _signed(value: int) -> int:
    """Returns a number of 32 bits as LLVM's text has it."""
    return value - (1 << 32) if value >= 1 << 31 else value


def _cpuid(f: Function, leaf: int, subleaf: int, register: int) -> LlvmValue:
    """Returns a register after `cpuid`."""
    all_four = "{ i32, i32, i32, i32 }"
    constraints = "={ax},={bx},={cx},={dx},{ax},{cx}"
    arguments = f"i32 {_signed(leaf)}, i32 {subleaf}"
    f.add_line(f'%r{leaf}.{subleaf}.{register} = call {all_four} asm "cpuid", "{constraints}"({arguments})')
    return f.computed(I32, f"extractvalue {all_four} %r{leaf}.{subleaf}.{register}, {register}")


def _aarch64_check(f: Function, needed: Iterable[str]) -> LlvmValue:
    """Returns 1 if the system reports all features, by a function of the C library of Linux."""
    masks: dict[int, int] = {}
    for entry, bit in [AARCH64_FEATURES[n] for n in needed]:
        masks[entry] = masks.get(entry, 0) | 1 << bit
    answer = f.variable(I32, 1)
    for entry, mask in masks.items():
        found = f.called("getauxval", I64, f.integer(entry))
        _require(answer, (found & mask).compare("eq", mask))
    return answer.get()
