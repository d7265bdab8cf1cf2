"""Random signatures of graphs and functions of a few operators: `check` refuses one exactly if some sizes break it.

numpy computes the shapes for all sizes from 1 to 4.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import commonir as cir

from tests.specifications.common_ir_files import document

NAMES = ("n", "m")
OPERATORS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "Identity": ("{y} = Identity({x})", lambda x: x),
    "Neg": ("{y} = Neg({x})", lambda x: -x),
    "Transpose": ("{y} = Transpose({x})", lambda x: x.T),
    "Flatten": ("{y} = Flatten({x})", lambda x: x.reshape(x.shape[0], prod(x.shape[1:]))),
    "Concat": ('{y} = Concat({x}, {x}) {{"axis": {{"i": 0}}}}', lambda x: np.concatenate([x, x])),
}


def computed(operators: Sequence[str], shape: Sequence[int]) -> tuple[int, ...]:
    x = np.zeros(shape)
    for operator in operators:
        x = OPERATORS[operator][1](x)
    return x.shape


def contradicts(given: Sequence[str], operators: Sequence[str], returned: Sequence[str]) -> bool:
    """Returns whether the operators give another shape than the declared one for some sizes."""
    for sizes in product(range(1, 5), repeat=len(NAMES)):
        dims = dict(zip(NAMES, sizes, strict=True))
        shape = computed(operators, [dims[d] if d in dims else int(d) for d in given])
        # A name that no input has is the size that it meets first.
        dims = {d: dims[d] for d in given if d in dims}
        expected = [int(d) if d.isdigit() else dims.setdefault(d, n) for d, n in zip(returned, shape, strict=False)]
        if list(shape) != expected or len(returned) != len(shape):
            return True
    return False


def drawn(draw: random.Random) -> tuple[list[str], list[str], list[str]]:
    """Returns the dims of an input, operators, and the dims of the output: often those that the operators give."""
    given = [draw.choice((*NAMES, "2", "3")) for _ in range(draw.choice((1, 2, 2, 3)))]
    operators = [draw.choice(list(OPERATORS)) for _ in range(draw.choice((1, 1, 2)))]
    if draw.random() < 0.4:
        return given, operators, [draw.choice((*NAMES, "k", "2", "3")) for _ in range(draw.choice((1, 2, 3)))]
    marks = {"n": 101, "m": 103}
    shown = {101: "n", 103: "m"}
    shape = computed(operators, [marks.get(d) or int(d) for d in given])
    return given, operators, [shown.get(d) or (str(d) if d < 100 else draw.choice(("n", "k"))) for d in shape]


@pytest.mark.parametrize("seed", [0, *[pytest.param(s, marks=pytest.mark.slow) for s in range(1, 12)]])
def test_check_decides_as_all_sizes_do(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    for _ in range(12):
        given, operators, returned = drawn(draw)
        values = [*(f"t{n}" for n in range(len(operators) - 1)), "y"]
        nodes = [OPERATORS[o][0].format(x=x, y=y) for o, x, y in zip(operators, ["a", *values], values, strict=False)]
        types = [f"a: float32[{', '.join(given)}]"], [f"y: float32[{', '.join(returned)}]"]
        graph: dict[str, Any] = {"name": "g", "doc_string": "A graph.", "input": types[0], "output": types[1]}
        if draw.random() < 0.5:
            function = {"input_params": types[0], "output_params": types[1], "node": nodes}
            function |= {"name": "F", "doc_string": "A function."}
            graph |= {"function": [function], "node": ["y = F[1](a)"]}
        else:
            graph["node"] = nodes
        path = tmp_path / "m.cir.json"
        path.write_text(document(json.dumps({"ModelProto": {"graph": graph}})))
        found = [d.message for d in cir.check(path)[1]]
        assert bool(found) is contradicts(given, operators, returned), (given, operators, returned, found)
