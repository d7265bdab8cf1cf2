"""Constant factors of sums of products that are decoded once, where code does not read them as they are stored.

Those are factors whose parts take as much memory as their elements, and those of convolutions by transformed tiles.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.llvm.target import Target
from commonir.native.products.contraction_plan import planned_kernels, plans_of
from commonir.native.products.integer_products import IntegerTerms, integer_plan
from commonir.native.products.winograd_code import winograd_plan
from commonir.notation import Access, Expr, Kernel, Tensor, free, index, replace
from commonir.runtime.kernel_graph.contraction import is_stored, summed_products
from commonir.runtime.kernel_graph.graph import KernelGraph, KernelNode, TensorSpec, evaluated
from commonir.runtime.kernel_graph.layouts import MemoryLayout

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
        layout = layouts[node.name]
        kernels, own = planned_kernels(node, layout, layouts, graph.constants)
        if all(integer_plan(x, own, terms, target) is not None for x in kernels):
            continue
        if len(factors) == 1 and None not in plans_of(node, layout, layouts, graph.constants, target):
            dense = _with_dense(graph, node, factors, are_computed=False)
            plans = plans_of(dense, layout, layouts, graph.constants, target)
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
