"""Reference pages and records follow from the definitions."""

from __future__ import annotations

import json

import pytest

from commonir.ir import Value
from commonir.ir.types import TensorType, f32
from commonir.ods import Dialect, Dialects, Op, element_type, operand, result
from commonir.ods.documentation import dialect_page, dialect_record, operation_page, operation_record, pages_of

from tests.ods.sample import DIALECT, Mode, Scale


def test_page_of_a_kernel() -> None:
    assert (
        operation_page(DIALECT, "t.affine")
        == """\
# `t.affine`

A product of matrices and, if given, a bias.

```python
Affine(x, weight, bias=None)
```

## Operands

| name | type | notes |
|---|---|---|
| `x` | `T[b*, k]` |  |
| `weight` | `T[k, n]` |  |
| `bias` | `T[n]` | optional |

## Results

| name | type | notes |
|---|---|---|
| `y` | `T[b*, n]` |  |

## Element types

| variable | one of |
|---|---|
| `T` | f16, f32 |

## Example

```
t.affine(x: f32[b0, b1, k], weight: f32[k, n], bias: f32[n]) -> f32[b0, b1, n]
```

## Traits

| trait | meaning |
|---|---|
| `Pure` | has no effect: it may be removed when unused, repeated and moved |

## Meaning

Kernel: each element of the result, in index notation.

```
y[b0, b1, n] = Σ_{k} x[b0, b1, k]·weight[k, n] + bias[n]
```
"""
    )


def test_record_of_attributes_says_kind_cases_default_and_check() -> None:
    record = operation_record(DIALECT, "t.scale")
    assert record["attributes"] == [
        {
            "name": "factor",
            "kind": "float",
            "cases": [],
            "optional": False,
            "default": "2.0",
            "check": "positive",
            "doc": "what to multiply with",
        },
        {
            "name": "mode",
            "kind": "Mode",
            "cases": ["fast", "exact"],
            "optional": False,
            "default": '"fast"',
            "check": "",
            "doc": "",
        },
    ]
    assert record["derived_attributes"] == {"halved": "Half of the factor."}
    assert record["source"] == "made up for tests."
    assert record["reference"] == "y[s0, s1] = x[s0, s1]·2"


def test_record_of_parameters_and_constraints() -> None:
    record = operation_record(DIALECT, "t.window")
    assert record["constraints"] == {
        "C1": "The window starts inside of x",
        "C2": "The window has at least one element",
    }
    operands = record["operands"]
    assert isinstance(operands, list)
    assert [(o["name"], o["constant"]) for o in operands] == [("x", False), ("size", True), ("start", True)]


def test_page_of_regions_and_several_results() -> None:
    page = operation_page(DIALECT, "t.choose")
    assert "| `then` |  |" in page
    assert "| `outcome` | `any` | any number |" in page
    assert "Structural" in page


def test_composite_shows_the_operations_it_is_made_of() -> None:
    class Twice(Op, name="t.twice"):
        """Two scalings."""

        x: Value = operand("T[s*]")
        y: Value = result("T[s*]")
        T = element_type(f32)

        def reference(self, x: Value) -> Value:
            return Scale(Scale(x, 3.0).y, mode=Mode.EXACT).y

    assert (
        operation_record(Dialect("t", (Twice,)), "t.twice")["reference"]
        == """\
t0 = t.scale(x, factor = 3.0)
y = t.scale(t0, mode = "exact")"""
    )


class Undecided(Op, name="u.undecided"):
    """Nothing that follows from an example."""

    x: Value = operand("T[s*]")
    y: Value = result("T[s*]")
    T = element_type(f32)

    def reference(self, x: Value) -> Value:
        if isinstance(x.type, TensorType):
            raise ValueError("no example")
        return x


def test_reference_without_an_example_is_shown_as_it_is_written() -> None:
    page = operation_page(Dialect("u", [Undecided]), "u.undecided")
    assert (
        """```python
def reference(self, x: Value) -> Value:
    if isinstance(x.type, TensorType):
        raise ValueError("no example")
    return x
```"""
        in page
    )


def test_index_of_a_dialect_links_its_pages() -> None:
    page = dialect_page(DIALECT)
    assert page.startswith("# Dialect `t`\n\nDefinitions of every kind, for tests.\n\n10 operations.\n")
    assert "| [`t.scale`](t.scale.md) | Every element times a factor. |" in page
    assert sorted(pages_of(DIALECT)) == sorted(["t.md", *(f"{name}.md" for name in DIALECT.operations)])


@pytest.mark.slow_cases("linalg", "mil", "onnx", "stablehlo", "tosa")
@pytest.mark.parametrize("name", Dialects().names())
def test_every_definition_has_a_page_and_a_record(name: str) -> None:
    dialect = Dialects().get(name)
    assert dialect is not None
    assert json.loads(json.dumps(dialect_record(dialect)))["name"] == name
    for operation in dialect.operations:
        record = operation_record(dialect, operation)
        json.dumps(record)
        assert record["summary"], f"{operation} has no summary"
        assert operation_page(dialect, operation).startswith(f"# `{operation}`\n")


def test_page_of_a_later_version_begins_with_what_the_operation_does() -> None:
    mil = Dialects().get("mil")
    assert mil is not None
    page = operation_page(mil, "mil.conv")
    assert page.startswith(
        "# `mil.conv`\n\nConvolution over one to three spatial axes, without mirroring the filter.\n"
    )
    assert "| `CoreML6` | `pad_type` may also be `same_lower`. |" in page
    assert "| `CoreML7` | `bias` need not be constant; `weight` and `bias` have an element type of their own" in page
    assert page.endswith("Source: MIL operation reference, conv (iOS 17).\n")
