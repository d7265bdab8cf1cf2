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


def test_names_of_dims_survive_dialects_without_them() -> None:
    program = cir.loads(
        PROGRAM.replace("places = NonZero (y)", "").replace(", int64[1, hits] places", ""), format="onnxtxt"
    )
    text = cir.dumps(cir.convert(program, "stablehlo"), format="mlir")
    back = cir.convert(cir.loads(text, format="mlir"), "onnx")
    assert [str(v.type) for v in back.inputs] == ['tensor<"N"x4xf32>', 'tensor<"M"xf32>']
    assert _types(back) == [KEPT[0], KEPT[2]]
