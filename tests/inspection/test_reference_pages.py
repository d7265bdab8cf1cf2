"""A page that does not exist is reported with what would help."""

from __future__ import annotations

import pytest

from commonir.api import reference_page
from commonir.base.diagnostics import DiagnosticError


@pytest.mark.parametrize(
    ("name", "help"),
    [
        ("conv", "did you mean 'core.conv', 'mil.conv' or 'onnx.Conv'?"),
        ("memref.load", "--dialect DIR/mlir/Dialect/MemRef/IR/MemRefOps.td -I DIR"),
        ("gpu", "--dialect DIR/mlir/Dialect/GPU/IR/GPUOps.td -I DIR"),
        ("tossa.add", "did you mean 'tosa'?"),
        ("foo.bar", "`cir ops` lists what is known"),
    ],
)
def test_an_unknown_name_comes_with_help(name: str, help: str) -> None:
    with pytest.raises(DiagnosticError) as error:
        reference_page(name)
    assert help in (error.value.diagnostics[0].help or "")
