"""Constant factors of sums of products that are decoded once, where code does not read them as they are stored.

Those are factors whose parts take as much memory as their elements, and those of convolutions by transformed tiles.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.llvm.target import Target
from commonir.native.products.contraction_plan import Plan, plan_of
from commonir.native.products.integer_products import IntegerTerms, integer_plan
from commonir.native.products.residues import split_residues
from commonir.native.products.winograd_code import winograd_plan
from commonir.notation import Access, Expr, Kernel, Tensor, free, index, replace
from commonir.runtime.kernel_graph.contraction import is_stored, summed_products
from commonir.runtime.kernel_graph.graph import KernelGraph, KernelNode, TensorSpec, evaluated
from commonir.runtime.kernel_graph.layouts import MemoryLayout, layout_of
from commonir.runtime.kernel_graph.loop_kernel import LoopKernel, loop_kernels, simplified

Array = NDArray[Any]


def decode_factors(
    graph: KernelGraph, layouts: Mapping[str, MemoryLayout], terms: IntegerTerms, target: Target
) -> None:
    """Replaces factors of nodes by constants with their elements, where code does not read them as they are."""
    for node in list(graph.nodes.values()):
        if node.strips is not None:
            # Its factors are computed values.
            continue
        products = dict.fromkeys([x for _, factors in summed_products(node.kernel.body) for x in factors])
        factors = [e for e in products if _is_decoded(e, graph.constants)]
        if not factors:
            continue
        before = node.kernel, node.extents
        kernels = _kernels(graph, node, layouts)
        if all(integer_plan(x, own, terms, target) is not None for x, own in kernels):
            continue
        if all(plan is not None for plan in _plans(graph, node, layouts, target)) and len(factors) == 1:
            dense = _with_dense(graph, node, factors, are_computed=False)
            plans = _plans(graph, dense, layouts, target)
            if not any(plan is not None and winograd_plan(plan, target) is not None for plan in plans):
                continue
        dense = _with_dense(graph, node, factors, are_computed=True)
        graph.replace_kernel(node, dense.kernel, before[1])


def _is_decoded(e: Expr, constants: Mapping[str, Array]) -> bool:
    if not is_stored(e, constants):
        return False
    if not isinstance(e, Access) or any(isinstance(p, Expr) for p in e.at):
        return True
    return constants[e.tensor.name].dtype != np.float32


def _plans(
    graph: KernelGraph, node: KernelNode, layouts: Mapping[str, MemoryLayout], target: Target
) -> list[Plan | None]:
    return [plan_of(x, own, graph.constants, target) for x, own in _kernels(graph, node, layouts)]


def _kernels(
    graph: KernelGraph, node: KernelNode, layouts: Mapping[str, MemoryLayout]
) -> list[tuple[LoopKernel, Mapping[str, MemoryLayout]]]:
    """Returns the simplified kernels of a node, with the layouts of what they read."""
    own = {name: layouts[name] for name in node.reads if name in layouts}
    own |= {name: layout_of(graph.constants[name].shape) for name in node.reads if name in graph.constants}
    pieces = loop_kernels(node.kernel, node.extents, layouts[node.name])
    loops = [loops for piece in pieces for loops in split_residues(piece)]
    return [(simplified(x, own), own) for x in loops]


def _with_dense(graph: KernelGraph, node: KernelNode, factors: list[Expr], *, are_computed: bool) -> KernelNode:
    """Returns a node that reads the elements of factors, which are new constants, zeros if they are not computed."""
    tensors: dict[Expr, Expr] = {}
    for e in factors:
        axes = free(e)
        shape = [n for i in axes if isinstance(n := node.extents[i], int)]
        if len(shape) < len(axes):
            continue
        name = f"{node.name} factor {len(tensors)}"
        at = [index(i) for i in axes]
        made = KernelNode(name, Kernel(tuple(at), e), node.extents, TensorSpec(tuple(shape), e.dtype))
        empty = np.broadcast_to(np.zeros((), np.float32), shape)
        graph.constants[name] = evaluated(made, graph.constants) if are_computed else empty
        tensors[e] = Access(Tensor(name, tuple(shape), e.dtype), at)

    return KernelNode(node.name, Kernel(node.kernel.axes, replace(node.kernel.body, tensors)), node.extents, node.spec)
