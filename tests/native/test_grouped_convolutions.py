"""Convolutions in groups of channels as machine code, between guard pages, against the interpreter."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from commonir.dialects import core
from commonir.ir.module import Module
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, f32
from commonir.llvm.compiler import host_target
from commonir.native.graph_code import code_of
from commonir.runtime.kernel_graph.layouts import assign_layouts
from commonir.symbolic import symbol

from tests.native.graphs import Width, available_widths, graph_of, of_width
from tests.native.images import check, weights
from tests.oracles import require_package
from tests.runtime.programs import program

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="guard pages are made as POSIX has them")

require_package("llvmlite")


class Grouped(NamedTuple):
    """A convolution of groups of channels, perhaps a transposed one."""

    groups: int
    channels: int
    filters: int
    window: tuple[int, ...]
    stride: int = 1
    dilation: int = 1
    pad: int = 0
    transposed: bool = False

    def of(self, x: Value) -> Value:
        """Returns the convolution of a value, and what follows."""
        inside, outside = self.channels // self.groups, self.filters // self.groups
        first, second = (self.channels, outside) if self.transposed else (self.filters, inside)
        rank = len(self.window)
        options: dict[str, Any] = {
            "strides": (self.stride,) * rank,
            "dilations": (self.dilation,) * rank,
            "pads": ((self.pad, self.pad),) * rank,
            "groups": self.groups,
        }
        conv = core.conv_transpose if self.transposed else core.conv
        return core.relu(conv(x, weights(first, second, *self.window), weights(self.filters), **options))


def alone(c: Grouped, batch: int, image: tuple[int, ...]) -> Module:
    """Returns a program of a convolution alone."""
    return program(c.of, {"x": TensorType(f32, (batch, c.channels, *image))})


def between_others(c: Grouped, batch: int, image: tuple[int, ...]) -> Module:
    """Returns a program of a convolution between others of all channels, so that channels are last in memory."""
    ones = (1,) * len(image)

    def build(x: Value) -> Value:
        y = core.conv(x, weights(c.channels, 5, *ones))
        return core.conv(c.of(y), weights(7, c.filters, *ones))

    return program(build, {"x": TensorType(f32, (batch, 5, *image))})


CASES = [
    (Grouped(8, 32, 32, (3, 3), pad=1), 1, (9, 13)),
    (Grouped(5, 40, 40, (3, 3), pad=1, stride=2), 2, (9, 12)),
    (Grouped(3, 36, 18, (3, 3), dilation=2, pad=2), 1, (8, 7)),
    (Grouped(4, 20, 48, (1, 1)), 1, (5, 31)),
    (Grouped(2, 34, 38, (2, 3)), 2, (6, 28)),
    (Grouped(7, 14, 21, (3, 3), pad=1), 1, (8, 8)),
    (Grouped(4, 4, 8, (3, 3), pad=1), 1, (8, 9)),
    (Grouped(6, 24, 30, (5,), pad=2), 2, (41,)),
    (Grouped(2, 8, 16, (3, 2, 2), pad=1), 1, (4, 5, 6)),
    (Grouped(4, 32, 32, (4, 4), stride=2, pad=1, transposed=True), 1, (6, 7)),
    (Grouped(3, 12, 15, (3, 3), stride=2, pad=1, transposed=True), 2, (5, 9)),
    (Grouped(2, 10, 40, (3, 3), stride=3, dilation=2, pad=1, transposed=True), 1, (4, 5)),
    (Grouped(8, 8, 32, (2, 2), stride=2, transposed=True), 1, (6, 8)),
    (Grouped(5, 20, 30, (4,), stride=2, pad=1, transposed=True), 1, (25,)),
]


@pytest.mark.fast_every(9)
@pytest.mark.parametrize("width", available_widths())
@pytest.mark.parametrize("is_alone", [True, False])
@pytest.mark.parametrize("case", range(len(CASES)))
def test_grouped_convolutions_agree_with_the_interpreter(case: int, is_alone: bool, width: Width) -> None:
    c, batch, image = CASES[case]
    module = (alone if is_alone else between_others)(c, batch, image)
    check(module, (batch, c.channels if is_alone else 5, *image), {}, width, case)


@pytest.mark.parametrize("width", available_widths())
def test_a_batch_of_any_size_is_convolved_in_groups(width: Width) -> None:
    c = Grouped(4, 32, 32, (3, 3), pad=1)
    for batch in (1, 3):
        module = program(c.of, {"x": TensorType(f32, (symbol("n"), 32, 10, 11))})
        check(module, (batch, 32, 10, 11), {"n": batch}, width, batch)


@pytest.mark.parametrize("width", available_widths())
@pytest.mark.parametrize("filters", [32, 64, 24])
@pytest.mark.parametrize(
    ("build", "stride", "transposed"),
    [
        (between_others, 1, False),
        (between_others, 2, False),
        (between_others, 2, True),
        (alone, 2, False),
        (alone, 2, True),
    ],
)
def test_groups_of_few_channels_are_products(
    build: Callable[[Grouped, int, tuple[int, ...]], Module], stride: int, transposed: bool, filters: int, width: Width
) -> None:
    """Loops would read the weights as they are, products read them in panels."""
    c = Grouped(4, 32, filters, (3, 3), stride=stride, pad=1, transposed=transposed)
    graph = graph_of(build(c, 1, (12, 12)))
    assert graph is not None
    code = code_of(graph, assign_layouts(graph), of_width(host_target(), width))
    forms = [form.text for form in code.forms.values() if graph.constants[form.sources[0]].shape[2:] == (3, 3)]
    assert forms
    assert all(text.startswith("packed") for text in forms)
