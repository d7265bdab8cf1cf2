"""Contractions of integers of few bits with constants, several terms in an instruction, summed in 32 bits.

Terms are pairs of 16 bits, or four bytes where the processor multiplies unsigned bytes with signed ones. Where a left
factor lies in bytes, it is read in place. Else a row of it is narrowed to its differences to its least term. What that
takes away is added to the sums. Sums are exact, or wrap around as the definition's do, so their order does not matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from commonir.base.tuples import NamedTuple
from commonir.ir.types import i32
from commonir.llvm.llvm_ir import I32, Function, LlvmType, LlvmValue, Variable
from commonir.llvm.target import Target
from commonir.native.kernels.expression_code import Buffer
from commonir.native.kernels.kernel_code import KernelCode
from commonir.native.products.contraction_code import ContractionCode, TermRun, term_runs
from commonir.native.products.contraction_plan import Plan, ordered_factors, plan_of_factors
from commonir.native.products.packed_rows import PackedRowsCode, has_packed_rows, has_packed_terms, in_words
from commonir.native.products.product_tiles import Columns, PlainColumns, Tile, in_panels
from commonir.notation import Access, Apply, Cast, Const, Expr, Kernel, Padded, free, index, walk
from commonir.runtime.interpreter.evaluation import evaluate_kernel
from commonir.runtime.kernel_graph.contraction import is_stored, summed_products
from commonir.runtime.kernel_graph.factors import Factor, factor_of
from commonir.runtime.kernel_graph.graph import KernelGraph, known_count
from commonir.runtime.kernel_graph.integer_ranges import Interval, ranges_of
from commonir.runtime.kernel_graph.loop_kernel import Layouts, LoopKernel
from commonir.runtime.values import compute_dtype
from commonir.symbolic import Dim

Array = NDArray[np.generic]


_BYTES = Interval(-(1 << 7), (1 << 7) - 1)

_SHORTS = Interval(-(1 << 15), (1 << 15) - 1)


class Terms(Enum):
    """The terms that an instruction multiplies: pairs of 16 bits, or four bytes, those on the left minus one number.

    Stored bytes lie in memory as such.
    """

    PAIRS = "pairs"
    BYTES = "bytes"
    STORED = "stored bytes"


class IntegerTerms:
    """The terms of products of integers in a graph, by the ranges of their factors."""

    def __init__(self, graph: KernelGraph, layouts: Layouts) -> None:
        self._constants = graph.constants
        self._layouts = layouts
        self._ranges = ranges_of(graph)
        self._shifted_bytes = {name for name, node in graph.nodes.items() if _is_shifted_byte(node.kernel.body)}

    def of(self, factors: Sequence[Expr]) -> Terms | None:
        """Returns the terms of products of a value with an expression of constants; None if they have more bits."""
        stored = [is_stored(x, self._constants) for x in factors]
        if sorted(stored) != [False, True]:
            return None
        right, left = factors[stored.index(True)], factors[stored.index(False)]
        known = self._ranges.of(right)
        if not isinstance(left, Access) or not (known.is_within(_SHORTS) and self._ranges.of(left).is_within(_SHORTS)):
            return None
        is_filled = any(isinstance(view, Padded) and view.fill != 0 for view, _ in left.tensor.steps)
        if is_filled or not known.is_within(_BYTES):
            return Terms.PAIRS
        layout = self._layouts.get(left.tensor.name)
        if layout is not None and layout.base is not None:
            return Terms.STORED
        return Terms.BYTES if left.tensor.name in self._shifted_bytes else Terms.PAIRS

    def in_kernel(self, body: Expr) -> tuple[Terms | None, ...]:
        """Returns the terms of all products in a kernel."""
        return tuple([self.of(factors) for fold, factors in summed_products(body) if fold.dtype is i32])


def _is_shifted_byte(e: Expr) -> bool:
    """Returns whether an expression is a byte, or one minus a number of its type that is the same everywhere.

    Any two values are then at most 255 apart, and so are any one and 0.
    """
    if isinstance(e, Apply) and e.fn == "subtract":
        byte, number = e.args
        if free(number) or not _is_byte(byte):
            return False
        assert isinstance(byte, Cast)
        if isinstance(number, Const):
            low, high = byte.body.dtype.integer_limits
            return isinstance(number.value, int) and low <= number.value <= high
        return isinstance(number, Cast) and number.body.dtype is byte.body.dtype
    return _is_byte(e)


def _is_byte(e: Expr) -> bool:
    return isinstance(e, Cast) and e.dtype is i32 and e.body.dtype.is_integer and e.body.dtype.bits == 8


class IntegerPlan(NamedTuple):
    """A contraction of integers, its terms, and the number that is 0 on the left."""

    plan: Plan
    terms: Terms
    base: int = 0

    @property
    def sources(self) -> tuple[str, ...]:
        """The constants that the right factor is computed from."""
        return tuple(dict.fromkeys([a.tensor.name for a in _accesses(self.plan.factor)]))

    @property
    def run_length(self) -> int:
        """The number of terms that are neighbours on the left, and are padded to words."""
        return known_count([term_runs(self.plan, is_packed=True, has_codes=False)[-1].extent])

    def panels(self, arrays: Mapping[str, Array], tile: Tile, lanes: int) -> Array:
        """Returns the right factor in panels of words; behind its bytes is the sum of those of each column."""
        plan = self.plan
        order = (*plan.sums, plan.column)
        kernel = Kernel(tuple(map(index, order)), plan.factor)
        extents = {i: n for i in order if isinstance(n := plan.extent(i), int)}
        matrix = evaluate_kernel(kernel, extents, arrays, compute_dtype).reshape(-1, extents[plan.column])
        narrow = matrix.astype(np.int16 if self.terms is Terms.PAIRS else np.int8)
        length = self.run_length if self.terms is Terms.STORED else len(narrow)
        words = np.vstack([in_words(narrow[n : n + length]) for n in range(0, len(narrow), length)])
        if self.terms is not Terms.PAIRS:
            behind = matrix.sum(axis=0, dtype=np.int32)
            words = np.vstack([words, behind * np.int32(self.base) if self.terms is Terms.STORED else behind])
        return in_panels(words, tile.vectors, lanes)


def _accesses(e: Expr) -> list[Access]:
    return [x for x in walk(e) if isinstance(x, Access)]


def integer_plan(kernel: LoopKernel, layouts: Layouts, terms: IntegerTerms, target: Target) -> IntegerPlan | None:
    """Returns the plan of a simplified kernel; None if it does not multiply integers of known few bits."""
    products, folds = list(summed_products(kernel.body)), kernel.folds()
    if len(products) != 1 or len(folds) != 1 or not kernel.axes or kernel.steps[-1] != 1:
        return None
    ((fold, factors),) = products
    column = kernel.axes[-1]
    left, right = ordered_factors(factors, column)
    if fold.dtype is not i32:
        return None
    found = terms.of((left, right))
    if found is None or not isinstance(left, Access) or column in free(left) or column not in free(right):
        return None
    a = factor_of(left, layouts, kernel.extents)
    plan = None if a is None else plan_of_factors(kernel, fold, a, Factor("", 0, dict.fromkeys(free(right), 1)), right)
    if plan is None:
        return None
    if found is Terms.STORED:
        return IntegerPlan(plan, found, layouts[plan.left.name].base or 0) if has_packed_terms(plan) else None
    if not has_packed_rows(plan):
        return None
    return IntegerPlan(plan, found if multiplies_bytes(target) else Terms.PAIRS)


def multiplies_integers(target: Target) -> bool:
    """Returns whether products of integers take less time than those of single precision."""
    return multiplies_bytes(target) or _pair_sums(target) is not None


def multiplies_bytes(target: Target) -> bool:
    """Returns whether the processor multiplies four unsigned bytes with signed ones in an instruction."""
    return target.has("avx512vnni") and target.lanes() == 16


class IntegerContractionCode(PackedRowsCode):
    """Adds the code of a contraction of integers of 16 bits."""

    sum_type = I32.scalar

    def __init__(self, code: KernelCode, function: Function, target: Target, plan: Plan, out: Buffer) -> None:
        super().__init__(code, function, target, plan, out)
        self._target = target

    def narrowed(self, x: LlvmValue) -> LlvmValue:
        return self._f.cast("trunc", x, self.stored)

    def multiply_add(self, f: Function, a: LlvmValue, b: LlvmValue, c: LlvmValue) -> LlvmValue:
        name = _pair_sums(self._target)
        if name is None:
            low, high = [[x.shift_left(shift).shift_right(16, is_signed=True) for x in (a, b)] for shift in (16, 0)]
            return c + low[0] * low[1] + high[0] * high[1]
        pairs = LlvmType("i16", 2 * self._lanes)
        return c + f.called(name, c.type, *[f.reinterpreted(x, pairs) for x in (a, b)])


def _pair_sums(target: Target) -> str | None:
    """Returns the function that adds the products of pairs of 16 bits; None if the processor has none."""
    match target.vector_bits:
        case 512 if target.has("avx512bw"):
            return "llvm.x86.avx512.pmaddw.d.512"
        case 256 if target.has("avx2"):
            return "llvm.x86.avx2.pmadd.wd"
        case 128 if target.triple.startswith("x86_64"):
            return "llvm.x86.sse2.pmadd.wd"
        case _:
            return None


class ByteContractionCode(IntegerContractionCode):
    """Adds the code of a contraction of bytes. The number of a row is its least term, or 0."""

    stored = "i8"
    words_behind = 1

    _least: LlvmValue

    def start_row(self, row: LlvmValue, source: LlvmValue, runs: Sequence[TermRun]) -> None:
        f = self._f
        least = f.variable(LlvmType(self.sum_type, self._lanes), 0)
        self._find_least(runs, source, least)
        vector = least.get()
        self._least = f.called(f"llvm.vector.reduce.smin.{vector.type.mangled}", I32, vector)
        f.store(self._least, self._number_of_row(row))

    def _find_least(self, runs: Sequence[TermRun], source: LlvmValue, least: Variable) -> None:
        f = self._f
        run, *inner = runs
        if inner:
            with f.loop(f.integer(0), self._code.size(run.extent)) as k:
                self._find_least(inner, f.element(source, k * self._code.size(run.left_step), self.sum_type), least)
            return
        for _, x in self.vectors(source, run):
            least.set(f.intrinsic("smin", least.get(), x))

    def narrowed(self, x: LlvmValue) -> LlvmValue:
        return self._f.cast("trunc", x - self._least, self.stored)

    def multiply_add(self, f: Function, a: LlvmValue, b: LlvmValue, c: LlvmValue) -> LlvmValue:
        return _with_quads(f, a, b, c)

    def corrected_row(self, sums: list[LlvmValue], row: LlvmValue, columns: PlainColumns) -> list[LlvmValue]:
        f = self._f
        least = f.load(self._number_of_row(row), I32)
        behind = columns.moved(0, f.integer(self._words))
        return [x + f.reinterpreted(behind.vector(n), x.type) * least for n, x in enumerate(sums)]


class StoredByteContractionCode(ContractionCode):
    """Adds the code of a contraction of bytes that are read where they lie, four neighbouring terms at once."""

    has_short_vectors = False
    # The instruction reads signed bytes from memory, but not unsigned ones.
    left_registers = 2
    left_type = "i8"
    sum_type = I32.scalar

    def term_runs(self, *, is_packed: bool, has_codes: bool) -> list[TermRun]:
        *outer, inner = super().term_runs(is_packed=is_packed, has_codes=has_codes)
        return [*outer, inner._replace(extent=-(-known_count([inner.extent]) // 4), left_step=4)]

    @property
    def panel_terms(self) -> Dim:
        return self._words + 1

    @property
    def _words(self) -> int:
        return known_count([run.extent for run in self._runs])

    def multiply_add(self, f: Function, a: LlvmValue, b: LlvmValue, c: LlvmValue) -> LlvmValue:
        return _with_quads(f, a, b, c)

    def corrected(self, sums: list[LlvmValue], columns: Columns) -> list[LlvmValue]:
        f = self._f
        assert isinstance(columns, PlainColumns)
        width = columns.vectors * self._lanes
        behind = columns._replace(pointer=f.element(columns.pointer, f.integer(self._words * width), I32.scalar))
        return [x + f.reinterpreted(behind.vector(n), x.type) for n, x in enumerate(sums)]


def _with_quads(f: Function, a: LlvmValue, b: LlvmValue, c: LlvmValue) -> LlvmValue:
    """Returns sums to which the products of the four unsigned bytes on the left in each lane are added."""
    quads = LlvmType("i8", 4 * c.type.lanes)
    return f.called("llvm.x86.avx512.vpdpbusd.512", c.type, c, *[f.reinterpreted(x, quads) for x in (a, b)])
