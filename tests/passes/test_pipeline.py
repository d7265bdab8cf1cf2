"""Pass pipelines: syntax, options, order, and whether anything changed."""

from __future__ import annotations

import pytest

import commonir as cir
from commonir.base.diagnostics import Diagnostics
from commonir.ir.module import Module
from commonir.ods import Dialects
from commonir.passes.definition import OptionType, Pass, PassContext, Passes, PassOption, PassOptions, PassResult
from commonir.passes.pipeline import pipeline_of, run_pipeline

from tests.dialects.upstream_text import upstream

PROGRAM = """
func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = arith.addf %a, %a : tensor<2xf32>
  %1 = arith.addf %a, %a : tensor<2xf32>
  %2 = arith.mulf %0, %1 : tensor<2xf32>
  return %2 : tensor<2xf32>
}
"""


class Recorder:
    """A pass that records the options it was run with."""

    def __init__(self) -> None:
        self.calls: list[tuple[bool, int | None, str | None]] = []

    def run(self, module: Module, _: PassContext, options: PassOptions) -> PassResult:
        self.calls.append((options.flag("deep"), options.integer("depth"), options.string("where")))
        return PassResult(module, changed=False)

    def definition(self) -> Pass:
        options = (
            PassOption("deep", OptionType.FLAG, "whether it is deep"),
            PassOption("depth", OptionType.INTEGER, "how deep", 3),
            PassOption("where", OptionType.STRING, "where"),
        )
        return Pass("record", "records its options", self.run, options)


def context() -> PassContext:
    return PassContext(lambda _: lambda _op, _operands: None, Dialects(), [], Diagnostics())


def run(text: str, known: Passes | None = None) -> PassResult:
    pipeline = pipeline_of(text, Passes() if known is None else known)
    return run_pipeline(cir.loads(PROGRAM, format="mlir"), pipeline, context())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("record", (False, 3, None)),
        ("record{}", (False, 3, None)),
        ("record{deep}", (True, 3, None)),
        ("record{deep=false depth=-1}", (False, -1, None)),
        ("builtin.module( record{where='a, b' deep=1} )", (True, 3, "a, b")),
        ("any(record{ where={x=1} depth=2 })", (False, 2, "x=1")),
    ],
)
def test_options_reach_the_pass(text: str, expected: tuple[bool, int | None, str | None]) -> None:
    recorder = Recorder()
    run(text, Passes([recorder.definition()], discover=False))
    assert recorder.calls == [expected]


@pytest.mark.parametrize(
    ("text", "message", "help"),
    [
        ("canoncalize", "no pass is called 'canoncalize'", "did you mean 'canonicalize'?"),
        ("cse{x=1}", "pass 'cse' has no option 'x'", "it has no options"),
        (
            "canonicalize{max-fold-byte=1}",
            "pass 'canonicalize' has no option 'max-fold-byte'",
            "did you mean 'max-fold-bytes'?",
        ),
        (
            "canonicalize{max-fold-bytes=much}",
            "option 'max-fold-bytes' of pass 'canonicalize' takes an integer, found 'much'",
            None,
        ),
        (
            "builtin.module(func.func(cse,symbol-dce))",
            (
                "the pass pipeline is not understood at character 40: pass 'symbol-dce' runs on the whole program, and "
                "not on each 'func.func'"
            ),
            "write 'symbol-dce' outside of `func.func(...)`",
        ),
        ("func.func(cse{x=1})", "pass 'cse' has no option 'x'", "it has no options"),
        (
            "module(cse)",
            "the pass pipeline is not understood at character 7: unknown anchor 'module'",
            "did you mean 'builtin.module'?",
        ),
        (
            "builtin.modul(cse)",
            "the pass pipeline is not understood at character 14: unknown anchor 'builtin.modul'",
            "did you mean 'builtin.module'?",
        ),
        (
            "everything(cse)",
            "the pass pipeline is not understood at character 11: unknown anchor 'everything'",
            "write the name of an operation, such as `func.func(...)`",
        ),
        (
            "builtin.module(cse",
            "the pass pipeline is not understood at character 19: expected ')', found 'the end'",
            None,
        ),
        ("cse)", "the pass pipeline is not understood at character 4: expected the end, found ')'", None),
        ("cse{", "the pass pipeline is not understood at character 5: expected the name of an option", None),
        ("cse,", "the pass pipeline is not understood at character 5: expected the name of a pass", None),
        ("cse,,cse", "the pass pipeline is not understood at character 5: expected the name of a pass", None),
    ],
)
def test_wrong_pipelines_are_refused_with_the_reason(text: str, message: str, help: str | None) -> None:
    with pytest.raises(cir.DiagnosticError) as caught:
        pipeline_of(text, Passes())
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.message, diagnostic.help) == (message, help)


def test_passes_run_in_order() -> None:
    once = [op.name for op in run("cse,cse").module.nested() if op.name.startswith("arith")]
    assert once == ["arith.addf", "arith.mulf"]


@pytest.mark.parametrize("name", ["canonicalize", "cse", "inline", "sccp", "simplify", "symbol-dce", "lower"])
def test_a_pass_reports_a_change_only_where_there_is_one(name: str) -> None:
    first = run_pipeline(cir.loads(PROGRAM, format="mlir"), pipeline_of(name, Passes()), context())
    assert first.changed == (str(first.module) != str(cir.loads(PROGRAM, format="mlir")))
    again = run_pipeline(first.module, pipeline_of(name, Passes()), context())
    assert not again.changed


def test_a_pass_object_needs_no_installation() -> None:
    recorder = Recorder()
    cir.optimize(cir.loads(PROGRAM, format="mlir"), passes=["cse", recorder.definition(), "canonicalize"])
    assert recorder.calls == [(False, 3, None)]


NESTED = """
func.func @f(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  %1 = arith.addi %a, %a : i32
  %2 = arith.muli %0, %1 : i32
  return %2 : i32
}
module @inner {
  func.func @g(%a: i32) -> i32 {
    %0 = arith.addi %a, %a : i32
    %1 = arith.addi %a, %a : i32
    %2 = arith.muli %0, %1 : i32
    return %2 : i32
  }
}
"""

# The additions that are left in @f and @g.
ANCHORED = [
    ("builtin.module(func.func(cse))", (1, 2)),
    ("builtin.module(func.func(any(cse)))", (2, 2)),
    ("builtin.module(any(cse))", (1, 1)),
    ("any(builtin.module(func.func(cse)))", (2, 1)),
    ("builtin.module(builtin.module(cse))", (2, 1)),
    ("builtin.module(func.func(cse),builtin.module(func.func(canonicalize,cse)))", (1, 1)),
    ("builtin.module(func.func(canonicalize),cse)", (1, 1)),
    ("builtin.module(any(any(cse)))", (2, 1)),
    ("builtin.module(func.fun(cse))", (2, 2)),
    ("builtin.module(func.func(func.func(cse)))", (2, 2)),
]


def dumped(program: Module) -> str:
    return cir.dumps(program).decode()


def additions(text: str) -> tuple[int, int]:
    before, after = text.split("@inner")
    return before.count("addi"), after.count("addi")


@pytest.mark.parametrize(("text", "expected"), ANCHORED)
def test_nested_passes_run_on_the_named_operations(text: str, expected: tuple[int, int]) -> None:
    program = cir.loads(NESTED, format="mlir")
    assert additions(dumped(cir.optimize(program, passes=text))) == expected
    inner = text.removeprefix("builtin.module(").removesuffix(")")
    if inner.startswith("func"):
        # The module around may be left out.
        assert additions(dumped(cir.optimize(program, passes=inner))) == expected


@pytest.mark.slow
@pytest.mark.parametrize(("text", "expected"), ANCHORED)
def test_mlir_opt_runs_nested_passes_on_the_same_operations(text: str, expected: tuple[int, int]) -> None:
    assert additions(upstream(NESTED, f"--pass-pipeline={text}").stdout) == expected


@pytest.mark.parametrize(
    ("text", "message", "help"),
    [
        (
            "func.fun(cse)",
            "the passes of `func.fun(...)` run on nothing: no 'func.fun' is directly in a 'builtin.module'",
            "did you mean 'func.func'?",
        ),
        (
            "func.func(func.func(cse))",
            "the passes of `func.func(...)` run on nothing: no 'func.func' is directly in a 'func.func'",
            None,
        ),
        (
            "scf.for(cse)",
            "the passes of `scf.for(...)` run on nothing: no 'scf.for' is directly in a 'builtin.module'",
            "passes can be nested in builtin.module, func.func here",
        ),
    ],
)
def test_nested_passes_that_run_on_nothing_are_reported(text: str, message: str, help: str | None) -> None:
    findings = Diagnostics()
    cir.optimize(cir.loads(NESTED, format="mlir"), passes=text, findings=findings)
    assert [(d.code.id, d.message, d.help) for d in findings] == [("W0901", message, help)]


def test_passes_cannot_be_nested_in_an_operation_that_is_not_isolated() -> None:
    with pytest.raises(cir.DiagnosticError, match=r"passes cannot be nested in 'arith\.addi'"):
        cir.optimize(cir.loads(NESTED, format="mlir"), passes="func.func(arith.addi(cse))")


def test_options_reach_nested_passes() -> None:
    text = "func.func @f() -> i32 { %0 = arith.constant 2 : i32 %1 = arith.addi %0, %0 : i32 return %1 : i32 }"
    program = cir.loads(text, format="mlir")
    folded = cir.optimize(program, passes="func.func(sccp{max-fold-bytes=64},canonicalize)")
    assert [op.name for op in folded.main.body.operations] == ["arith.constant", "func.return"]
