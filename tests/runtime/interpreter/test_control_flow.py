"""Control flow of MLIR runs: branches between blocks, loops in any order, switches; against mlir-runner.

Stores and loops that the runner cannot do are compared with numbers written out.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import commonir as cir
from commonir.base.diagnostics import Diagnostics
from commonir.ir.module import Module
from commonir.ods import Dialects, verify
from commonir.text.parser import parse_module

from tests.mlir_runner import Call, results_of_calls

Array = NDArray[Any]

PROGRAM = """\
func.func @collatz(%n: i64) -> i64 {
  %c1 = arith.constant 1 : i64
  %c0 = arith.constant 0 : i64
  %c2 = arith.constant 2 : i64
  %c3 = arith.constant 3 : i64
  cf.br ^head(%n, %c0 : i64, i64)
^head(%v: i64, %steps: i64):
  %done = arith.cmpi sle, %v, %c1 : i64
  cf.cond_br %done, ^out(%steps : i64), ^body
^body:
  %bit = arith.andi %v, %c1 : i64
  %odd = arith.cmpi eq, %bit, %c1 : i64
  %next = arith.addi %steps, %c1 : i64
  cf.cond_br %odd, ^up, ^down
^up:
  %m = arith.muli %v, %c3 : i64
  %p = arith.addi %m, %c1 : i64
  cf.br ^head(%p, %next : i64, i64)
^down:
  %h = arith.shrsi %v, %c1 : i64
  cf.br ^head(%h, %next : i64, i64)
^out(%r: i64):
  return %r : i64
}
func.func @switch(%x: i32, %t: tensor<3xf32>) -> tensor<3xf32> {
  cf.switch %x : i32, [
    default: ^d,
    1: ^a(%t : tensor<3xf32>),
    -7: ^b
  ]
^d:
  %n = math.absf %t : tensor<3xf32>
  return %n : tensor<3xf32>
^a(%u: tensor<3xf32>):
  %s = arith.addf %u, %u : tensor<3xf32>
  return %s : tensor<3xf32>
^b:
  cf.br ^a(%t : tensor<3xf32>)
}
func.func @irreducible(%c: i1, %n: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  cf.cond_br %c, ^a(%c0 : i32), ^b(%c1 : i32)
^a(%x: i32):
  %x1 = arith.addi %x, %c1 : i32
  %lx = arith.cmpi slt, %x1, %n : i32
  cf.cond_br %lx, ^b(%x1 : i32), ^e(%x1 : i32)
^b(%y: i32):
  %y1 = arith.muli %y, %c2 : i32
  %y2 = arith.addi %y1, %c2 : i32
  %ly = arith.cmpi slt, %y2, %n : i32
  cf.cond_br %ly, ^a(%y2 : i32), ^e(%y2 : i32)
^e(%r: i32):
  %q = arith.muli %r, %c2 : i32
  return %q : i32
}
func.func @parallel(%t: tensor<4x5xf32>) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %z = arith.constant 0.0 : f32
  %o = arith.constant -1000.0 : f32
  %r:2 = scf.parallel (%i, %j) = (%c0, %c0) to (%c4, %c5) step (%c1, %c1) init (%z, %o) -> (f32, f32) {
    %v = tensor.extract %t[%i, %j] : tensor<4x5xf32>
    scf.reduce(%v, %v : f32, f32) {
      ^bb0(%a: f32, %b: f32):
        %s = arith.addf %a, %b : f32
        scf.reduce.return %s : f32
    }, {
      ^bb0(%a: f32, %b: f32):
        %s = arith.maximumf %a, %b : f32
        scf.reduce.return %s : f32
    }
  }
  return %r#0, %r#1 : f32, f32
}
func.func @forall(%t: tensor<4x6xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = scf.forall (%i, %j) = (0, 0) to (4, 6) step (2, 3) shared_outs(%s = %o) -> (tensor<4x6xf32>) {
    %a = tensor.extract_slice %t[%i, %j] [2, 3] [1, 1] : tensor<4x6xf32> to tensor<2x3xf32>
    %b = tensor.extract_slice %s[%i, %j] [2, 3] [1, 1] : tensor<4x6xf32> to tensor<2x3xf32>
    %c = arith.addf %a, %b : tensor<2x3xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %s[%i, %j] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<4x6xf32>
    }
  }
  return %r : tensor<4x6xf32>
}
func.func @iswitch(%i: index, %t: tensor<?xf32>) -> (tensor<?xf32>, i32) {
  %r:2 = scf.index_switch %i -> tensor<?xf32>, i32
  case 2 {
    %s = arith.addf %t, %t : tensor<?xf32>
    %c = arith.constant 5 : i32
    scf.yield %s, %c : tensor<?xf32>, i32
  }
  case 5 {
    %s = arith.mulf %t, %t : tensor<?xf32>
    %c = arith.constant 6 : i32
    scf.yield %s, %c : tensor<?xf32>, i32
  }
  default {
    %c = arith.constant 7 : i32
    scf.yield %t, %c : tensor<?xf32>, i32
  }
  return %r#0, %r#1 : tensor<?xf32>, i32
}
func.func @execute(%c: i1, %x: f32) -> f32 {
  %r = scf.execute_region -> f32 {
    cf.cond_br %c, ^a, ^b
  ^a:
    %n = arith.negf %x : f32
    scf.yield %n : f32
  ^b:
    scf.yield %x : f32
  }
  return %r : f32
}
"""

VECTOR = np.array([1, -2, 3], "f4")
GRID = np.arange(24, dtype="f4").reshape(4, 6)
CALLS = (
    Call("collatz", [np.array(27, "i8")]),
    *[Call("switch", [np.array(k, "i4"), VECTOR]) for k in (0, 1, -7)],
    *[Call("irreducible", [np.array(c), np.array(n, "i4")]) for c in (True, False) for n in (0, 30)],
    Call("parallel", [GRID[:, :5]]),
    Call("forall", [np.ones((4, 6), "f4"), GRID]),
    *[Call("iswitch", [np.array(k), VECTOR]) for k in (2, 5, 9)],
    *[Call("execute", [np.array(c), np.array(2, "f4")]) for c in (True, False)],
)


def _program(text: str) -> Module:
    dialects = Dialects()
    result = parse_module(text, dialects)
    assert [str(d) for d in verify(result, dialects)] == []
    return result


def _results(program: Module, call: Call, engine: str = "numpy", state: cir.State | None = None) -> list[Array]:
    inputs = dict(zip([v.name for v in program.functions[call.function].inputs], call.arrays, strict=True))
    outputs = cir.run(program, inputs, function=call.function, engine=engine, state=state)
    return [np.asarray(v) for v in outputs.values()]


def _assert_as_upstream(source: str, calls: Sequence[Call], engine: str = "numpy") -> None:
    program = _program(source)
    for call, expected in zip(calls, results_of_calls(source, calls), strict=True):
        for actual, array in zip(_results(program, call, engine), expected, strict=True):
            assert actual.dtype == array.dtype
            assert np.array_equal(actual, array), (call.function, actual, array)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["numpy", "reference"])
def test_branches_loops_and_switches_run_as_compiled_by_llvm(engine: str) -> None:
    _assert_as_upstream(PROGRAM, CALLS, engine)


def random_blocks(random: Random, name: str) -> str:
    """A function of blocks that branch anywhere, until a count that all of them lower is used up."""
    count = random.randint(2, 7)
    arguments = "(%fuel{n}: i32, %a{n}: i32, %b{n}: i32)"
    kinds = "i32, i32, i32"
    lines = [
        f"func.func @{name}(%n: i32, %x: i32, %y: i32) -> (i32, i32) {{",
        "  %one = arith.constant 1 : i32",
        "  %zero = arith.constant 0 : i32",
        f"  cf.br ^b0(%n, %x, %y : {kinds})",
    ]
    for n in range(count):
        names = [f"%a{n}", f"%b{n}", "%x", "%one"]
        # The first block is on every way: what it computes may be used everywhere.
        names += ["%c0", "%d0"] if n else []
        left, right = random.choice(names), random.choice(names)
        chosen = random.choice(["arith.addi", "arith.subi", "arith.muli", "arith.xori"])
        other = random.choice(["arith.addi", "arith.maxsi", "arith.andi"])
        lines += [
            f"^b{n}{arguments.format(n=n)}:",
            f"  %c{n} = {chosen} {left}, {right} : i32",
            f"  %d{n} = {other} %c{n}, {random.choice(names)} : i32",
            f"  %left{n} = arith.subi %fuel{n}, %one : i32",
            f"  %more{n} = arith.cmpi sgt, %left{n}, %zero : i32",
            f"  %odd{n} = arith.andi %d{n}, %one : i32",
            f"  %is{n} = arith.cmpi eq, %odd{n}, %one : i32",
            f"  cf.cond_br %more{n}, ^go{n}, ^out(%c{n}, %d{n} : i32, i32)",
            f"^go{n}:",
        ]
        passed = [[random.choice([*names, f"%c{n}", f"%d{n}"]) for _ in range(2)] for _ in range(3)]
        targets = [f"^b{random.randrange(count)}(%left{n}, {p}, {q} : {kinds})" for p, q in passed]
        match random.randrange(3):
            case 0:
                lines.append(f"  cf.br {targets[0]}")
            case 1:
                lines.append(f"  cf.cond_br %is{n}, {targets[0]}, {targets[1]}")
            case _:
                lines.append(
                    f"  cf.switch %c{n} : i32, [ default: {targets[0]}, 1: {targets[1]}, {n + 2}: {targets[2]} ]"
                )
    lines += ["^out(%r: i32, %s: i32):", "  return %r, %s : i32, i32", "}"]
    return "\n".join(lines)


@pytest.mark.slow
def test_blocks_that_branch_anywhere_run_as_compiled_by_llvm() -> None:
    random = Random(5)
    sources = {name: random_blocks(random, name) for name in [f"f{n}" for n in range(40)]}
    calls = [
        Call(name, [np.array(v, "i4") for v in (random.randint(0, 12), random.randint(-9, 9), random.randint(-9, 9))])
        for name in sources
    ]
    expected = results_of_calls("\n".join(sources.values()), calls)
    for call, arrays in zip(calls, expected, strict=True):
        result = _results(_program(sources[call.function]), call)
        assert [a.tolist() for a in result] == [a.tolist() for a in arrays], sources[call.function]


def test_stores_before_a_loop_decides_happen_in_each_round() -> None:
    program = _program("""\
ml_program.global private mutable @count(dense<0> : tensor<i32>) : tensor<i32>
func.func @main(%n: i32) -> (i32, tensor<i32>) {
  %z = arith.constant 0 : i32
  %one = arith.constant dense<1> : tensor<i32>
  %c1 = arith.constant 1 : i32
  %r = scf.while (%a = %z) : (i32) -> i32 {
    %v = ml_program.global_load @count : tensor<i32>
    %w = arith.addi %v, %one : tensor<i32>
    ml_program.global_store @count = %w : tensor<i32>
    %l = arith.cmpi slt, %a, %n : i32
    scf.condition(%l) %a : i32
  } do {
  ^bb0(%b: i32):
    %k = arith.addi %b, %c1 : i32
    scf.yield %k : i32
  }
  %f = ml_program.global_load @count : tensor<i32>
  return %r, %f : i32, tensor<i32>
}
""")
    state = cir.State()
    call = Call("main", [np.array(4, "i4")])
    # The first region runs once more than the second, also when that never runs.
    assert [int(v) for v in _results(program, call, state=state)] == [4, 5]
    assert [int(v) for v in _results(program, Call("main", [np.array(-1, "i4")]), state=state)] == [0, 6]


ASSERTING = """\
ml_program.global private mutable @count(dense<0> : tensor<i32>) : tensor<i32>
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1> : tensor<i32>
  ml_program.global_store @count = %one : tensor<i32>
  %true = arith.constant true
  cf.assert %true, "never false"
  %a = tensor.dim %x, %c0 : tensor<?xf32>
  %b = tensor.dim %y, %c0 : tensor<?xf32>
  %equal = arith.cmpi eq, %a, %b : index
  cf.assert %equal, "mismatched size for broadcast"
  %r = arith.addf %x, %y : tensor<?xf32>
  return %r : tensor<?xf32>
}
"""


@pytest.mark.parametrize("engine", ["numpy", "reference"])
def test_what_a_program_asserts_ends_the_run_when_it_is_false(engine: str) -> None:
    program, state = _program(ASSERTING), cir.State()
    with pytest.raises(cir.DiagnosticError) as refused:
        _results(program, Call("main", [np.ones(3, "f4"), np.ones(4, "f4")]), engine, state)
    (diagnostic,) = refused.value.diagnostics
    assert (diagnostic.code.id, diagnostic.message) == ("E0716", "mismatched size for broadcast")
    assert state == {}
    assert [a.tolist() for a in _results(program, Call("main", [np.ones(2, "f4")] * 2), engine, state)] == [[2, 2]]
    assert state["count"].tolist() == 1


@pytest.mark.parametrize("engine", ["numpy", "reference"])
def test_branches_within_each_other_without_end_are_refused(engine: str) -> None:
    for depth, expected in ((90, ""), (200, "calls, branches and loops are nested more than 100 deep")):
        program = _program(f"func.func @main(%c: i1) -> i1 {{ {'scf.if %c {' * depth}{'}' * depth} return %c : i1 }}")
        result = ""
        try:
            assert [a.tolist() for a in _results(program, Call("main", [np.array(True)]), engine)] == [True]
        except cir.DiagnosticError as refused:
            result = refused.diagnostics[0].message
        assert result == expected


@pytest.mark.parametrize("engine", ["reference", "numpy"])
def test_an_operation_that_nothing_defines_is_not_run(engine: str) -> None:
    text = """func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
      %y = "core.outr"(%x) : (tensor<3xf32>) -> tensor<3xf32>
      return %y : tensor<3xf32>
    }"""
    with pytest.raises(cir.DiagnosticError) as caught:
        cir.run(cir.loads(text, format="mlir"), engine=engine)
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code.id, diagnostic.message) == ("E0709", "core.outr cannot be run: it is not defined")
    assert diagnostic.help == "`cir check` names the nearest operations; `--dialect FILE.td` defines others"


def test_conversions_report_that_assertions_are_left_out() -> None:
    program = _program(ASSERTING)
    lost = Diagnostics()
    cir.convert(program, "onnx", findings=lost)
    assert [d.message for d in lost if d.code.id == "W0601"] == [
        "the check that ends the program where a condition does not hold is left out: 'mismatched size for broadcast'"
    ]


def _counting(step: str, *, unsigned: bool = False) -> str:
    """A loop from %a up to %b, which counts its rounds. MLIR: the step is "required to be positive"."""
    return f"""\
func.func @main(%a: i64, %b: i64, %s: i64) -> i64 {{
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %step = {step}
  %r = scf.for {"unsigned " if unsigned else ""}%i = %a to %b step %step iter_args(%n = %zero) -> (i64) : i64 {{
    %next = arith.addi %n, %one : i64
    scf.yield %next : i64
  }}
  return %r : i64
}}
"""


_GIVEN_STEP = "arith.addi %s, %zero : i64"


@pytest.mark.parametrize("engine", ["reference", "numpy"])
@pytest.mark.parametrize(
    ("bounds", "step", "rounds"),
    [((0, 5), 2, 3), ((5, 0), 0, 0), ((5, 0), -1, 0), ((0, 0), 0, 0), ((0, 5), 0, None), ((0, 5), -1, None)],
)
def test_a_loop_whose_step_is_not_positive_ends_the_run_where_it_has_rounds(
    engine: str, bounds: tuple[int, int], step: int, rounds: int | None
) -> None:
    for text in (_counting(_GIVEN_STEP), _counting(f"arith.constant {step} : i64")):
        module = cir.loads(text, format="mlir")
        inputs = {"a": np.array(bounds[0]), "b": np.array(bounds[1]), "s": np.array(step)}
        if rounds is None:
            with pytest.raises(cir.DiagnosticError, match=r"E0716.*the step has to be positive"):
                cir.run(module, inputs, engine=engine)
        else:
            assert cir.run(module, inputs, engine=engine)["r"] == rounds


def test_a_step_without_sign_is_positive_unless_it_is_zero() -> None:
    module = cir.loads(_counting(_GIVEN_STEP, unsigned=True), format="mlir")
    assert cir.run(module, {"a": np.array(0), "b": np.array(5), "s": np.array(-1)})["r"] == 1
    with pytest.raises(cir.DiagnosticError, match="E0716"):
        cir.run(module, {"a": np.array(0), "b": np.array(-1), "s": np.array(0)})


@pytest.mark.parametrize(
    ("step", "messages"),
    [
        ("arith.constant 0 : i64", ["scf.for: step 0 is not positive, so that the loop never ends"]),
        ("arith.constant -3 : i64", ["scf.for: step -3 is not positive, so that the loop never ends"]),
        ("arith.constant 1 : i64", []),
        (_GIVEN_STEP, []),
    ],
)
def test_a_constant_step_that_is_not_positive_is_reported_before_running(step: str, messages: list[str]) -> None:
    diagnostics = verify(parse_module(_counting(step), Dialects()), Dialects())
    assert [(d.message, d.is_error) for d in diagnostics] == [(m, False) for m in messages]


def test_conversions_say_that_a_step_is_not_checked() -> None:
    diagnostics = Diagnostics()
    cir.convert(cir.loads(_counting(_GIVEN_STEP), format="mlir"), "onnx", findings=diagnostics)
    assert [d.code.id for d in diagnostics] == ["W0601"]
    diagnostics = Diagnostics()
    cir.convert(cir.loads(_counting("arith.constant 2 : i64"), format="mlir"), "onnx", findings=diagnostics)
    assert list(diagnostics) == []
