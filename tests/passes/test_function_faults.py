"""Functions of MLIR that are wrong as a whole neither run nor convert."""

from __future__ import annotations

import pytest

import commonir
from commonir.base.diagnostics import DiagnosticError

_WRONG = {
    "a type that is not declared": ("E0503", 'func.func @f(%x: f32) -> i32 { "func.return"(%x) : (f32) -> () }'),
    "two values for one": ("E0403", 'func.func @f(%x: f32) -> f32 { "func.return"(%x, %x) : (f32, f32) -> () }'),
    "no terminator": ("E0403", "func.func @f(%x: f32) -> f32 { %y = arith.addf %x, %x : f32 }"),
    "a terminator before the end": (
        "E0508",
        """func.func @f(%x: f32) -> f32 {
             return %x : f32
             %y = arith.addf %x, %x : f32
             return %y : f32
           }""",
    ),
    "a name twice": ("E0402", "func.func @f() { return } func.func @f() { return }"),
}


@pytest.mark.parametrize("name", _WRONG)
def test_function_that_is_wrong_as_a_whole_is_refused(name: str) -> None:
    code, text = _WRONG[name]
    module = commonir.loads(text, format="mlir")
    assert code in [d.code.id for d in commonir.verify(module)]
    for use in (commonir.run, lambda m: commonir.convert(m, "onnx")):
        with pytest.raises(DiagnosticError) as caught:
            use(module)
        assert [d.code.id for d in caught.value.diagnostics] == [code]
        assert caught.value.diagnostics[0].where.startswith("f")
