"""ONNX nodes written as text, one in each line: `y = Op a b attribute=1`."""

from __future__ import annotations

from typing import Any

import onnx
from onnx import helper


def nodes_of(text: str) -> list[onnx.NodeProto]:
    """Nodes from lines `y = Op a b attribute=1,2`."""
    out: list[onnx.NodeProto] = []
    for line in text.strip().splitlines():
        names, _, rest = line.strip().partition(" = ")
        op, *words = rest.split()
        pairs = [word.partition("=") for word in words if "=" in word]
        attributes = {k: _attribute(v) for k, _, v in pairs}
        out.append(helper.make_node(op, [w for w in words if "=" not in w], names.split(), **attributes))
    return out


def _attribute(text: str) -> Any:
    if text.startswith("["):
        return [int(n) for n in text.strip("[]").split(",")]
    return float(text) if "." in text else int(text)
