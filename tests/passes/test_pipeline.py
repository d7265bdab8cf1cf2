"""Pass pipelines: syntax, options, order, and whether anything changed."""

from __future__ import annotations

import pytest

import commonir as cir
from commonir.base.diagnostics import Diagnostics
from commonir.ir.module import Module
from commonir.ods import Dialects
from commonir.passes.definition import OptionType, Pass, PassContext, Passes, PassOption, PassOptions, PassResult
from commonir.passes.pipeline import pipeline_of, run_pipeline

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
            "builtin.module(func.func(cse))",
            (
                "the pass pipeline is not understood at character 25: passes run on the whole program, and not on each "
                "'func.func'"
            ),
            "write `builtin.module(...)`, or the passes alone",
        ),
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
            "write `builtin.module(...)`, or the passes alone",
        ),
        (
            "builtin.module(cse",
            "the pass pipeline is not understood at character 19: expected ')', found 'the end'",
            None,
        ),
        ("cse)", "the pass pipeline is not understood at character 4: expected the end, found ')'", None),
        ("cse{", "the pass pipeline is not understood at character 5: expected the name of an option", None),
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
