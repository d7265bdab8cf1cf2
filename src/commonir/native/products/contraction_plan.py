"""How sums of products are computed: the roles of their indices, and how their factors lie in memory.

A constant right factor is packed in panels of a tile's columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from commonir.base.tuples import NamedTuple
from commonir.ir.types import f32
from commonir.llvm.target import Target
from commonir.native.products.product_tiles import (
    Tile,
    in_panels,
)
from commonir.native.products.residues import split_residues
from commonir.native.products.sparse_panels import is_sparse
from commonir.native.products.stored_factors import StoredFactor, stored_factor
from commonir.notation import Access, Expr, Fold, children, free, walk
from commonir.runtime.kernel_graph.contraction import factor_read, is_stored, roles_of, summed_products
from commonir.runtime.kernel_graph.factors import Factor, elements_of, factor_of
from commonir.runtime.kernel_graph.graph import KernelNode
from commonir.runtime.kernel_graph.layouts import MemoryLayout, layout_of
from commonir.runtime.kernel_graph.loop_kernel import Layouts, LoopKernel, loop_kernels, simplified
from commonir.symbolic import Dim, element_count, index, names, symbols

Array = NDArray[np.generic]


FEW_ROWS = 3
"""Rows that do not read a transposed factor often enough; of many terms more, one for every `TERMS_FOR_ROW`."""

TERMS_FOR_ROW = 128


class Plan(NamedTuple):
    """How a contraction is computed.

    `column` is the axis that vectors run along, `rows` are those of the left factor alone, `batch` the others. `sums`
    are folded, in the order of memory of the left factor. `factor` is the right one in the kernel; a `stored`
    one has steps of 1. `others` are further sums of the same left factor, whose right factors are other columns of the
    same constant: they differ in their start, and in the names of folded indices. Of a constant with `column_count`
    columns the kernel may compute those from a `first_column` on.
    """

    kernel: LoopKernel
    fold: Fold
    left: Factor
    right: Factor
    column: str
    rows: tuple[str, ...]
    batch: tuple[str, ...]
    sums: tuple[str, ...]
    factor: Expr
    stored: StoredFactor | None = None
    others: tuple[tuple[Fold, Factor], ...] = ()
    first_column: Dim = 0
    column_count: Dim = 0

    @property
    def folds(self) -> tuple[Fold, ...]:
        """All sums."""
        return (self.fold, *[fold for fold, _ in self.others])

    def extent(self, name: str) -> Dim:
        """Returns the range of an index."""
        return self.kernel.extents[name]

    @property
    def terms(self) -> Dim:
        """The number of terms of each sum."""
        return element_count(map(self.extent, self.sums))

    @property
    def right_batch(self) -> tuple[str, ...]:
        """The indices of the batch that the right factor differs by."""
        return tuple([i for i in self.batch if i in self.right.steps])

    @property
    def right_form(self) -> tuple[Dim, ...]:
        """The elements of its tensor that the right factors read, in order: where each starts, then a step and an
        extent for each index.
        """
        batch = self.right_batch
        order = [*map(self.extent, (*batch, *self.sums)), self.column_count]
        steps = [self.right.steps[i] for i in (*batch, *self.sums, self.column)]
        starts = [self.right.start, *[right.start for _, right in self.others]]
        return (*starts, *[d for pair in zip(steps, order, strict=True) for d in pair])

    def reads_beside(self) -> set[str]:
        """Returns the tensors that the kernel reads besides its right factor."""
        out: set[str] = set()
        pending = [self.kernel.body]
        while pending:
            e = pending.pop()
            if e is not self.factor:
                pending += children(e)
                if isinstance(e, Access):
                    out.add(e.tensor.name)
        return out

    @property
    def is_transposable(self) -> bool:
        """Whether it pays to transpose the right factor into panels while running.

        Few rows read it too rarely: their sums along vectors of terms take less time.
        """
        if len(self.sums) != 1:
            return False
        (k,), rows, few = self.sums, element_count(map(self.extent, self.rows)), 1
        if self.left.steps[k] == self.right.steps[k] == 1 and isinstance(self.terms, int):
            few = max(FEW_ROWS, self.terms // TERMS_FOR_ROW)
        return not isinstance(rows, int) or rows > few


def plan_of(kernel: LoopKernel, layouts: Layouts, constants: Mapping[str, Array], target: Target) -> Plan | None:
    """Returns the plan of a simplified kernel; None if it has no contraction that tiles pay for."""
    folds = kernel.folds()
    if not kernel.axes or kernel.steps[-1] != 1 or not folds or any(fold.dtype is not f32 for fold in folds):
        return None
    plans: list[Plan] = []
    products = list(summed_products(kernel.body))
    if len(products) < len(folds):
        return None
    for fold, factors in products:
        plan = _plan(kernel, fold, factors, layouts, constants, target, may_be_sparse=len(products) == 1)
        if plan is None or (plans and not _differs_in_start(plan, plans[0])):
            return None
        plans.append(plan)
    return plans[0]._replace(others=tuple([(plan.fold, plan.right) for plan in plans[1:]]))


def planned_kernels(
    node: KernelNode, layout: MemoryLayout, layouts: Layouts, constants: Mapping[str, Array]
) -> tuple[list[LoopKernel], Layouts]:
    """Returns the simplified kernels of a node that plans are made for, and the layouts of what they read."""
    own = {name: layouts[name] for name in node.reads if name in layouts}
    own |= {name: layout_of(constants[name].shape) for name in node.reads if name in constants}
    pieces = loop_kernels(node.kernel, node.extents, layout)
    return [simplified(loops, own) for piece in pieces for loops in split_residues(piece)], own


def plans_of(
    node: KernelNode, layout: MemoryLayout, layouts: Layouts, constants: Mapping[str, Array], target: Target
) -> list[Plan | None]:
    """Returns the plans of the kernels of a node, which lies as its layout says."""
    kernels, own = planned_kernels(node, layout, layouts, constants)
    return [plan_of(kernel, own, constants, target) for kernel in kernels]


def _differs_in_start(plan: Plan, other: Plan) -> bool:
    """Returns whether all of two sums is equal but where their right factors start in a tensor."""
    names = dict(zip(plan.sums, other.sums, strict=False))

    def form(p: Plan, factor: Factor) -> object:
        return factor.name, {names.get(i, i) if p is plan else i: step for i, step in factor.steps.items()}

    return (
        plan.stored is None
        and other.stored is None
        and plan.first_column == other.first_column
        and len(plan.sums) == len(other.sums)
        and all(plan.extent(i) == other.extent(k) for i, k in names.items())
        and plan.left.start == other.left.start
        and form(plan, plan.left) == form(other, other.left)
        and form(plan, plan.right) == form(other, other.right)
    )


def ordered_factors(factors: Sequence[Expr], column: str) -> tuple[Expr, Expr]:
    """Returns two factors, the one that depends on the column last."""
    first, factor = factors
    return (factor, first) if column in free(first) and column not in free(factor) else (first, factor)


def plan_of_factors(kernel: LoopKernel, fold: Fold, left: Factor, right: Factor, factor: Expr) -> Plan | None:
    """Returns the plan of a sum of products of two factors, the right one being an expression of the kernel."""
    column = kernel.axes[-1]
    rows = roles_of(left.steps, right.steps, kernel.axes, fold.over).rows
    batch = tuple([i for i in kernel.axes if i != column and i not in rows])
    if any(i not in left.steps or i not in right.steps or kernel.extents[i] == 0 for i in fold.over):
        return None
    sums = tuple(sorted(fold.over, key=lambda i: _distance(left.steps[i]), reverse=True))
    return Plan(kernel, fold, left, right, column, rows, batch, sums, factor, column_count=kernel.extents[column])


def _plan(
    kernel: LoopKernel,
    fold: Fold,
    factors: Sequence[Expr],
    layouts: Layouts,
    constants: Mapping[str, Array],
    target: Target,
    *,
    may_be_sparse: bool,
) -> Plan | None:
    column = kernel.axes[-1]
    first, factor = ordered_factors(factors, column)
    left, right = factor_read(first, constants), factor_read(factor, constants)
    if column in free(left) or column not in free(right) or not _is_single(left, constants):
        return None
    assert isinstance(left, Access)
    is_constant = any(isinstance(e, Access) and e.tensor.name in constants for e in walk(right))
    if is_constant and not all(isinstance(kernel.extents[i], int) for i in fold.over):
        # Constants are packed for known numbers of terms.
        return None
    is_plain = _is_single(right, constants)
    if not is_plain and not is_stored(right, constants):
        return None
    a = factor_of(left, layouts, kernel.extents)
    if is_plain:
        assert isinstance(right, Access)
        b = factor_of(right, layouts, kernel.extents)
    else:
        b = Factor("", 0, dict.fromkeys(free(right), 1))
    if a is None or b is None:
        return None
    plan = plan_of_factors(kernel, fold, a, b, factor)
    if plan is None:
        return None
    if is_plain:
        assert isinstance(right, Access)
        if may_be_sparse and right.tensor.name in constants and is_sparse(constants[right.tensor.name]):
            b_of_parts = Factor("", 0, dict.fromkeys(free(right), 1))
            sparse = _with_stored(plan._replace(right=b_of_parts), right, constants, target)
            if sparse is not None:
                return sparse
        first_column, count = _columns_of(right, column, kernel.extents[column])
        b = b._replace(start=b.start - first_column * b.steps[column])
        return plan._replace(right=b, first_column=first_column, column_count=count)
    return _with_stored(plan, right, constants, target)


def _with_stored(plan: Plan, right: Expr, constants: Mapping[str, Array], target: Target) -> Plan | None:
    """Returns a plan that reads the right factor as it is stored; None where that does not pay."""
    extents = plan.kernel.extents
    is_one_matrix = not any(i in plan.right.steps for i in plan.batch)
    if not is_one_matrix or any(not isinstance(extents[i], int) for i in (*plan.sums, plan.column)):
        return None
    has_one_row = all(extents[i] == 1 for i in plan.rows)
    stored = stored_factor(right, plan.sums, plan.column, extents, target, constants, has_one_row=has_one_row)
    return None if stored is None else plan._replace(stored=stored)


def _columns_of(right: Access, column: str, count: Dim) -> tuple[Dim, Dim]:
    """Returns the first column that is read, if a symbol says where that is, and the number of all columns."""
    for p, size in zip(right.at, right.tensor.shape, strict=True):
        if not isinstance(p, Expr) and column in names(p):
            first = p - index(column)
            if symbols(first) and not names(first):
                return first, size
    return 0, count


def _is_single(e: Expr, constants: Mapping[str, Array]) -> bool:
    """Returns whether a factor is a tensor that lies in memory in single precision, as all but constants do."""
    if not isinstance(e, Access) or any(isinstance(p, Expr) for p in e.at):
        return False
    array = constants.get(e.tensor.name)
    return e.dtype.kind == "float" and e.dtype.bits <= f32.bits if array is None else array.dtype == np.float32


def _distance(step: Dim) -> int:
    """Returns a step for comparison; those that are not known are long."""
    return step if isinstance(step, int) else 1 << 62


def packed(plan: Plan, array: Array, tile: Tile, lanes: int) -> Array:
    """Returns a constant right factor in panels, for each element of the batch one after another."""
    matrix, vectors = factor_matrix(plan, array, lanes), tile.vectors * len(plan.folds)
    if not plan.right_batch:
        return in_panels(matrix, vectors, lanes)
    terms = plan.terms
    assert isinstance(terms, int)
    return np.concatenate([in_panels(m, vectors, lanes) for m in matrix.reshape(-1, terms, matrix.shape[1])])


def factor_matrix(plan: Plan, array: Array, lanes: int) -> Array:
    """Returns a constant right factor with an axis for its batch and all summed indices, and one for columns.

    Columns of several sums are one matrix, in which a vector of each follows that of another.
    """
    order = (*plan.right_batch, *plan.sums, plan.column)
    extents = {**plan.kernel.extents, plan.column: plan.column_count}
    views = [
        elements_of(plan.right._replace(start=right.start), array, order, extents)
        for right in (plan.right, *[right for _, right in plan.others])
    ]
    matrices = [view.reshape(-1, view.shape[-1]) for view in views]
    if len(matrices) == 1:
        return matrices[0]
    terms, columns = matrices[0].shape
    vectors = -(-columns // lanes)
    out = np.zeros((terms, vectors, len(matrices), lanes), array.dtype)
    for n, matrix in enumerate(matrices):
        padded = np.pad(matrix, ((0, 0), (0, vectors * lanes - columns)))
        out[:, :, n] = padded.reshape(terms, vectors, lanes)
    return out.reshape(terms, -1)
