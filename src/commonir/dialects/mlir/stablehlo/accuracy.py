"""The accuracies that stablehlo programs request, and which of them are refused.

None of it changes what is computed here. Source: StableHLO specification, dot_general (C20 to C25) and result accuracy.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from math import nan

from commonir.dialects.mlir.stablehlo.base import Precision
from commonir.ir.attributes import Attribute, DialectAttr

_ENTRY = re.compile(r"([a-z_]+)\s*=\s*([^,<>]+(?:<[^<>]*>)?)")
_FLOATS_OF_8_BITS = ("f8E3M4", "f8E4M3", "f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E4M3B11FNUZ", "f8E5M2FNUZ")
_KNOWN = frozenset(
    {
        ("f16", "f16", 1),
        ("f16", "f32", 1),
        ("bf16", "bf16", 1),
        ("bf16", "f32", 1),
        ("bf16", "f32", 3),
        ("bf16", "f32", 6),
        ("bf16", "f32", 9),
        ("tf32", "f32", 1),
        ("tf32", "f32", 3),
        ("f32", "f32", 1),
        ("f64", "f64", 1),
    }
)
"""Operands, sums, and how many products one takes: what some machine has."""
_MOST_PRECISIONS = 2


def _entries(attr: Attribute | None) -> Mapping[str, str]:
    body = attr.body if isinstance(attr, DialectAttr) else None
    return {name: value.strip() for name, value in _ENTRY.findall(body or "")}


def in_one_line(attr: Attribute) -> Attribute:
    """Returns an attribute of entries `name = value` with the blanks that a printer writes."""
    shown = ", ".join([f"{name} = {value}" for name, value in _entries(attr).items()])
    return DialectAttr(attr.dialect, attr.mnemonic, shown) if isinstance(attr, DialectAttr) and shown else attr


def _number(text: str) -> float:
    """Returns the number of a text, which may be hexadecimal; NaN for another text."""
    try:
        return int(text, 16) if text.startswith("0x") else float(text)
    except ValueError:
        return nan


def algorithm_faults(algorithm: Attribute | None) -> Iterator[str]:
    """Yields the faults of a dot algorithm."""
    values = _entries(algorithm)
    counts = {
        "lhs component count": values.get("lhs_component_count", "1"),
        "rhs component count": values.get("rhs_component_count", "1"),
        "num primitive operations": values.get("num_primitive_operations", "1"),
    }
    for what, count in counts.items():
        if not _number(count) >= 1:
            yield f"{what} must be positive"
            return
    if values and not _is_known(values):
        shown = ", ".join([f"{name} = {value}" for name, value in values.items()])
        yield f"dot algorithm not known to be supported on any hardware: {shown}"


def _is_known(values: Mapping[str, str]) -> bool:
    left, right, total = (
        values.get(name, "") for name in ("lhs_precision_type", "rhs_precision_type", "accumulation_type")
    )
    operations = _number(values.get("num_primitive_operations", "1"))
    if any(_number(values.get(name, "1")) != 1 for name in ("lhs_component_count", "rhs_component_count")):
        return False
    if left in _FLOATS_OF_8_BITS and right in _FLOATS_OF_8_BITS:
        return total == "f32" and operations == 1
    return (
        values.get("allow_imprecise_accumulation") != "true" and left == right and (left, total, operations) in _KNOWN
    )


def precision_faults(precisions: Sequence[Precision] | None, algorithm: Attribute | None = None) -> Iterator[str]:
    """Yields the faults of the precisions of operands."""
    given = precisions or ()
    if len(given) > _MOST_PRECISIONS:
        yield f"expects precision config to be empty or have <= 2 elements, got {len(given)}"
    elif algorithm is not None and any(p is not Precision.DEFAULT for p in given):
        yield "must specify DEFAULT precision config when algorithm is set"


def result_faults(accuracy: Attribute | None) -> Iterator[str]:
    """Yields the faults of the requested accuracy of results."""
    values = _entries(accuracy)
    mode = values.get("mode", "").partition("<")[2].rstrip("> ")
    tolerances = [_number(values.get(name, "0")) for name in ("atol", "rtol", "ulps")]
    if mode in ("DEFAULT", "HIGHEST") and any(tolerances):
        yield f"invalid tolerances for the accuracy of a result with mode {mode}, must be all zero"
