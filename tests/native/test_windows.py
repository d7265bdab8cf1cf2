"""Windows over channels last: pools and depthwise convolutions, several positions at once, guarded only at borders."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from commonir.dialects import core
from commonir.dialects.core.shape import PadMode
from commonir.ir.operation import Value
from commonir.llvm.compiler import host_target
from commonir.native.products.contraction_plan import plan_of
from commonir.runtime.kernel_graph.layouts import assign_layouts
from commonir.runtime.kernel_graph.loop_kernel import loop_kernels, simplified
from commonir.symbolic import symbol

from tests.native.graphs import Width, available_widths, graph_of
from tests.native.images import between_convolutions, check, weights
from tests.oracles import require_package

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="guard pages are made as POSIX has them")

require_package("llvmlite")

WINDOWS: dict[str, Callable[[Value], Value]] = {
    "largest": lambda x: core.max_pool(x, (3, 3), (2, 2), pads=((1, 1), (1, 1))),
    "largest without padding": lambda x: core.max_pool(x, (2, 2), (2, 2)),
    "largest of far ones": lambda x: core.max_pool(x, (3, 3), (1, 1), dilations=(2, 2), pads=((2, 2), (1, 3))),
    "mean": lambda x: core.average_pool(x, (3, 3), (1, 1), pads=((1, 1), (1, 1))),
    "depthwise": lambda x: core.relu(core.conv(x, weights(24, 1, 3, 3), pads=((1, 1), (1, 1)), groups=24)),
    "dense with strides": lambda x: core.conv(x, weights(24, 24, 3, 3), strides=(2, 2), pads=((1, 1), (1, 1))),
    "dense behind mirrored edges": lambda x: core.conv(
        core.pad(x, (0, 0, 1, 1), (0, 0, 1, 1), PadMode.REFLECT), weights(24, 24, 3, 3)
    ),
    "depthwise with strides": lambda x: core.conv(
        x, weights(24, 1, 5, 5), strides=(2, 2), pads=((2, 2), (2, 2)), groups=24
    ),
}


@pytest.mark.fast_every(7)
@pytest.mark.parametrize("width", available_widths())
@pytest.mark.parametrize("size", [(1, 9, 14), (2, 6, 5), (1, 31, 20)])
@pytest.mark.parametrize("name", WINDOWS)
def test_windows_agree_with_the_interpreter(name: str, size: tuple[int, int, int], width: Width) -> None:
    batch, height, columns = size
    module = between_convolutions(WINDOWS[name], 24, height, columns, batch)
    check(module, (batch, 3, height, columns), {}, width, height)


@pytest.mark.fast_every(2)
@pytest.mark.parametrize("name", ["largest", "depthwise", "dense with strides"])
def test_windows_of_images_of_any_size_agree_with_the_interpreter(name: str) -> None:
    module = between_convolutions(WINDOWS[name], 24, symbol("h"), symbol("w"), symbol("n"))
    for batch, height, columns in [(1, 3, 4), (3, 17, 30)]:
        dims = {"n": batch, "h": height, "w": columns}
        check(module, (batch, 3, height, columns), dims, "host", height)


@pytest.mark.parametrize("name", ["dense with strides", "dense behind mirrored edges"])
def test_convolutions_of_images_of_any_size_are_products(name: str) -> None:
    module = between_convolutions(WINDOWS[name], 24, symbol("h"), symbol("w"), symbol("n"))
    graph = graph_of(module)
    assert graph is not None
    layouts = assign_layouts(graph)
    plans = []
    for node in [node for node in graph.nodes.values() if node.has_folds]:
        (loops,) = loop_kernels(node.kernel, node.extents, layouts[node.name])
        plans.append(plan_of(simplified(loops, layouts), layouts, graph.constants, host_target()))
    assert len(plans) == 3
    assert None not in plans
