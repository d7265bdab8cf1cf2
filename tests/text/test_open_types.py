"""Lines that differ in types of tensors are read as if each were the first of its kind."""

from __future__ import annotations

import random

import pytest

from commonir.base.diagnostics import DiagnosticError
from commonir.ir.open_types import OpenTensor, TypeAskedError
from commonir.ir.types import TensorType, f32
from commonir.ods import Dialects
from commonir.ods.verify import verify
from commonir.text.parser import Parser, Task, parse_module
from commonir.text.printer import Naming, print_module
from commonir.text.repeated_lines import RepeatedLines

from tests.mlir_programs.programs import makers, module

DIALECTS = Dialects()
_TYPES = ("tensor<2xf32>", "tensor<3xf32>", "tensor<?xf32>", "tensor<4x5xi32>", "tensor<*xf32>", "tensor<02xf32>")


def _outcome(source: str) -> object:
    """Everything that is told of a program, before and after its operations are made."""
    try:
        made = parse_module(source, DIALECTS, file="x.mlir")
    except DiagnosticError as error:
        return [str(d) for d in error.diagnostics]
    found = [str(d) for d in verify(made, DIALECTS)]
    shown = [print_module(made, generic=g, elide=None, naming=Naming.MLIR) for g in (True, False)]
    located = print_module(made, elide=None, naming=Naming.MLIR, locations=True)
    return found, shown, located, [str(op) for op in made.nested()]


def _assert_like_the_parser(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fast = _outcome(source)
    with monkeypatch.context() as patch:
        patch.setattr(RepeatedLines, "read", lambda _self, offset, *_: (offset, 0))
        patch.setattr(Parser, "_begin_rows", lambda _self, _block: None)
        assert fast == _outcome(source)


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize(
    "wording",
    [
        "%r = tosa.abs %a : (T) -> T",
        "%r = tosa.add %a, %a2 : (T, T) -> T",
        "%r = tosa.add %a, %b : (T, U) -> T",
        "%r = tosa.add %a, %b : (T, U) -> tensor<2xf32>",
        '%r = "tosa.add"(%a, %b) : (T, U) -> T',
        '%r = "tosa.cast"(%a) : (T) -> U',
        "%r = tosa.cast %a : (T) -> U",
        "%r = tensor.cast %a : T to U",
        "%r = tensor.extract %a[%i] : T",
        "%r = tensor.dim %a, %i : T",
        "%r = tensor.insert %f into %a[%i] : T",
        "%r = tensor.empty() : T",
        "%r = arith.constant dense<1.0> : T",
        '%r = "tosa.const"() <{values = dense<1.0> : T}> : () -> T',
        "%r = arith.addf %a, %a2 : T",
        "%r = arith.select %c, %a, %a2 : T",
        '%r = tosa.abs %a {s = "T"} : (T) -> T',
        "%r = tosa.abs %a {s = T} : (T) -> T",
        "%r = tosa.abs %a {x.s = T} : (T) -> T",
        "%r = tosa.abs %a : (T) -> T // T",
        "%r = tosa.abs %a : (T) -> T loc(unknown)",
        '%r = "x.y"(%a) {s = "T"} : (T) -> T',
        '%r = "x.y"(%a) : (T) -> tuple<T, U>',
        "%r = builtin.unrealized_conversion_cast %a : T to tuple<T>",
        "%r = builtin.unrealized_conversion_cast %a, %b : T, U to U",
        "%r = shape.shape_of %a : T -> tensor<?xindex>",
        "%r = tosa.reduce_max %a {axis = 0 : i32} : (T) -> U",
        "%r = tosa.identity %a : (U) -> U",
        "%r = bufferization.to_buffer %a : T to memref<2xf32>",
    ],
)
def test_types_are_read_as_the_parser_reads_them(wording: str, nested: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def source(pairs: list[tuple[str, str]]) -> str:
        values = {f"%a{n}": t for n, (t, _) in enumerate(pairs)} | {f"%b{n}": u for n, (_, u) in enumerate(pairs)}
        values |= {f"%s{n}": t for n, (t, _) in enumerate(pairs)} | {"%i": "index", "%f": "f32", "%c": "i1"}
        arguments = ", ".join([f"{name}: {type}" for name, type in values.items()])
        lines = [
            wording.replace("%r", f"%r{n}")
            .replace("%a2", f"%s{n}")
            .replace("%a", f"%a{n}")
            .replace("%b", f"%b{n}")
            .replace("T", t)
            .replace("U", u)
            for n, (t, u) in enumerate(pairs)
        ]
        if nested:
            return "\n".join([f"func.func @f({arguments}) {{", *lines, "return", "}"])
        return "\n".join(['"t.m"() ({', f"^bb0({arguments}):", *lines, "}) : () -> ()"])

    rng = random.Random(wording)
    _assert_like_the_parser(source([(f"tensor<{n}xf32>", f"tensor<{n}xi32>") for n in range(2, 25)]), monkeypatch)
    for _ in range(6):
        _assert_like_the_parser(source([(rng.choice(_TYPES), rng.choice(_TYPES)) for _ in range(18)]), monkeypatch)


@pytest.mark.parametrize("seed", range(10))
def test_generated_programs_with_other_types_are_read_as_the_parser_reads_them(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = module(random.Random(seed), makers(), count=25)
    others = [source.replace("tensor<2x", f"tensor<{n}x").replace("tensor<4x", f"tensor<{n + 1}x") for n in (5, 8, 11)]
    _assert_like_the_parser("\n".join([f"module {{\n{s}\n}}" for s in (source, *others)]), monkeypatch)


@pytest.mark.parametrize(
    "form", ["tosa.abs %a : (T) -> T", '"tosa.add"(%a, %a2) : (T, T) -> T', "tensor.cast %a : T to T"]
)
def test_third_type_does_not_reach_the_parser(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    starts: list[int] = []
    read = Parser.operation

    def counted(self: Parser) -> Task:
        starts.append(self.start)
        return read(self)

    monkeypatch.setattr(Parser, "operation", counted)
    types = [f"tensor<{n}xf32>" for n in range(2, 20)]
    arguments = ", ".join([f"%a{t}: {type}, %s{t}: {type}" for t, type in enumerate(types)])
    lines = [
        f"%{n} = {form.replace('%a2', f'%s{n}').replace('%a', f'%a{n}').replace('T', type)}"
        for n, type in enumerate(types)
    ]
    parse_module("\n".join([f"func.func @f({arguments}) {{", *lines, "return", "}"]), DIALECTS)
    # The function, two types and the end.
    assert len(starts) == 4


def test_type_that_is_not_told_stops_whoever_asks() -> None:
    open_, known = OpenTensor(), TensorType(f32, (2,))
    assert isinstance(open_, TensorType)
    for ask in (lambda: open_.shape, lambda: open_.rank, lambda: open_.is_static, lambda: open_ == known):
        with pytest.raises(TypeAskedError):
            ask()
    with pytest.raises(TypeAskedError):
        match open_:
            case TensorType(shape=(2,)):
                pass
            case _:
                pass
