"""Names of dims of outputs: which stay beside what inference finds. The expected types follow from the operators."""

from __future__ import annotations

import pytest

import commonir as cir
from commonir.ir.types import Type, f32, tensor
from commonir.passes.output_dims import with_declared_names
from commonir.symbolic import symbol

N, M, K = symbol("N"), symbol("M"), symbol("K")


@pytest.mark.parametrize(
    ("declared", "inferred", "expected"),
    [
        ([tensor(f32, K)], [tensor(f32, 2 * N + M)], [tensor(f32, K)]),
        ([tensor(f32, K, 3)], [tensor(f32, 8, 3)], [tensor(f32, 8, 3)]),
        # One name for one dim: N + 1 is not N, and twice N is not three times it.
        ([tensor(f32, N)], [tensor(f32, N + 1)], [tensor(f32, N + 1)]),
        (
            [tensor(f32, K), tensor(f32, K)],
            [tensor(f32, 2 * N), tensor(f32, 3 * N)],
            [tensor(f32, 2 * N), tensor(f32, 3 * N)],
        ),
        ([tensor(f32, K), tensor(f32, K)], [tensor(f32, 2 * N), tensor(f32, 2 * N)], [tensor(f32, K)] * 2),
        # What could be equal is what the program says.
        ([tensor(f32, K), tensor(f32, K)], [tensor(f32, 2 * N), tensor(f32, M)], [tensor(f32, K)] * 2),
        ([tensor(f32, K)], [tensor(f32, N, 2)], [tensor(f32, N, 2)]),
    ],
)
def test_declared_names_stay_unless_inference_contradicts_them(
    declared: list[Type], inferred: list[Type], expected: list[Type]
) -> None:
    assert with_declared_names([tensor(f32, N), tensor(f32, M)], declared, inferred) == expected


PROGRAM = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[N, 4] x, float[M] y) => (float[twice, 4] joined, int64[1, hits] places, float[N] doubled)
{
    joined = Concat <axis = 0> (x, x)
    places = NonZero (y)
    doubled = Concat <axis = 0> (y, y)
}
"""
KEPT = ['tensor<"twice"x4xf32>', 'tensor<1x"hits"xi64>', 'tensor<"N"xf32>']


def _types(module: cir.Module) -> list[str]:
    return [str(v.type) for v in module.outputs]


@pytest.mark.parametrize("to", ["onnx", "common_ir"])
def test_names_of_outputs_survive_passes_conversions_and_edits(to: str) -> None:
    program = cir.loads(PROGRAM, format="onnxtxt")
    assert _types(program) == KEPT
    assert _types(cir.optimize(program)) == KEPT
    assert _types(cir.convert(program, "onnx", opset=21)) == KEPT
    assert _types(cir.convert(cir.lower(program), to)) == KEPT
    assert _types(cir.edit(program, dims={"M": 3, "N": "rows"})) == [*KEPT[:2], "tensor<6xf32>"]
    assert _types(cir.extract(program, [], ["joined"])) == KEPT[:1]


UNKNOWN = """
<ir_version: 8, opset_import: ["" : 17]>
g (bool c, float[?, 4] x, float[2] y) => (float[] joined, float[many, ?] doubled, float[?] chosen)
{
    joined = Concat <axis = 0> (x, x)
    doubled = Expand (y, shape)
    shape = Constant <value_ints = [3, 2]> ()
    chosen = If (c) <
        then_branch = a () => (float[?] p) { p = Neg (y) },
        else_branch = b () => (float[?] q) { q = Abs (y) }>
}
"""


def test_interface_stays_as_declared_where_more_is_inferred() -> None:
    program = cir.loads(UNKNOWN, format="onnxtxt")
    declared = [str(v.type) for v in (*program.inputs, *program.outputs)]
    assert declared[1] == "tensor<?x4xf32>"
    assert declared[3:] == ["tensor<*xf32>", 'tensor<"many"x?xf32>', "tensor<?xf32>"]
    optimized = cir.optimize(program)
    assert [str(v.type) for v in (*optimized.inputs, *optimized.outputs)] == declared
    assert b"float[?] p" in cir.dumps(optimized, format="onnxtxt")
    # Sizes that are set go on to the outputs.
    assert _types(cir.edit(program, dims={"x.0": 3})) == ["tensor<6x4xf32>", "tensor<3x2xf32>", "tensor<?xf32>"]


def test_names_of_dims_survive_dialects_without_them() -> None:
    program = cir.loads(
        PROGRAM.replace("places = NonZero (y)", "").replace(", int64[1, hits] places", ""), format="onnxtxt"
    )
    text = cir.dumps(cir.convert(program, "stablehlo"), format="mlir")
    back = cir.convert(cir.loads(text, format="mlir"), "onnx")
    assert [str(v.type) for v in back.inputs] == ['tensor<"N"x4xf32>', 'tensor<"M"xf32>']
    assert _types(back) == [KEPT[0], KEPT[2]]
