"""Layouts of integers that lie in memory as bytes: those of 32 bits whose range has at most 256 numbers.

Such are quantized values less their zero point. Products read the bytes as they are, and add what is missing to sums.
"""

from __future__ import annotations

from commonir.ir.types import i32
from commonir.llvm.target import Target
from commonir.native.products.integer_products import multiplies_bytes
from commonir.runtime.kernel_graph.graph import KernelGraph
from commonir.runtime.kernel_graph.integer_ranges import Interval, ranges_of
from commonir.runtime.kernel_graph.layouts import MemoryLayout


def use_bytes(graph: KernelGraph, layouts: dict[str, MemoryLayout], target: Target) -> None:
    """Changes the layouts of nodes that can lie as bytes, where the processor multiplies such."""
    if not multiplies_bytes(target):
        return
    ranges = ranges_of(graph)
    for name, node in graph.nodes.items():
        if node.spec.element is i32 and name not in graph.outputs and node.strips is None:
            low, high = ranges.of_tensor(name) or Interval(0, 256)
            has_zero = low <= 0 <= high or not layouts[name].has_border
            if high - low < 256 and has_zero:
                layouts[name] = layouts[name].in_bytes(low)
