"""Statistics over positions of channels, between convolutions, as machine code between guard pages."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from commonir.dialects import core
from commonir.ir.operation import Value
from commonir.symbolic import symbol

from tests.native.graphs import Width, available_widths, graph_of
from tests.native.images import between_convolutions, check, weights
from tests.oracles import require_package

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="guard pages are made as POSIX has them")

require_package("llvmlite")

NORMALIZATIONS: dict[str, Callable[[Value], Value]] = {
    "group": lambda x: core.group_norm(x, weights(24), weights(24), 4),
    "groups of one": lambda x: core.group_norm(x, weights(24), None, 24),
    "one group": lambda x: core.group_norm(x, weights(24), weights(24), 1),
    "instance": lambda x: core.instance_norm(x, weights(24), weights(24)),
    "layer": lambda x: core.layer_norm(x, None, None, (1, 2, 3)),
    "channels": lambda x: core.layer_norm(x, weights(24), weights(24), (1,)),
    "gate": lambda x: core.mul(x, core.sigmoid(core.reduce_mean(x, (2, 3), True))),
    "largest": lambda x: core.sub(x, core.reduce_max(x, (1, 2, 3), True)),
}


@pytest.mark.fast_every(7)
@pytest.mark.parametrize("width", available_widths())
@pytest.mark.parametrize("shape", [(1, 3, 16, 13), (2, 3, 9, 8), (1, 3, 70, 61)])
@pytest.mark.parametrize("name", NORMALIZATIONS)
def test_statistics_of_channels_agree_with_the_interpreter(
    name: str, shape: tuple[int, int, int, int], width: Width
) -> None:
    batch, _, height, columns = shape
    check(between_convolutions(NORMALIZATIONS[name], 24, height, columns, batch), shape, {}, width, height)


@pytest.mark.fast_every(3)
@pytest.mark.parametrize("name", ["instance", "channels", "gate"])
def test_statistics_of_images_of_any_size_agree_with_the_interpreter(name: str) -> None:
    module = between_convolutions(NORMALIZATIONS[name], 24, symbol("h"), symbol("w"))
    for height, columns in [(2, 3), (17, 30)]:
        check(module, (1, 3, height, columns), {"h": height, "w": columns}, "host", height)


def test_statistics_are_summed_along_vectors_of_channels() -> None:
    graph = graph_of(between_convolutions(NORMALIZATIONS["group"], 24, 70, 61))
    assert graph is not None
    shapes = [node.spec.shape for node in graph.nodes.values()]
    assert shapes.count((24,)) == 2
    assert shapes.count((1, 24, 70, 61)) == 2
