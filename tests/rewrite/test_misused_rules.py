"""Misused patterns in both syntaxes: each is refused when the rules load, with its line, and mlir-tblgen's verdict."""

from __future__ import annotations

from enum import Enum
from pathlib import Path

import pytest

import commonir as cir
from commonir.base.diagnostics import DiagnosticError
from commonir.passes.rules import load_rules

from tests.rewrite.td_rules import Functions, faults, generated


class Verdict(Enum):
    """A verdict of mlir-tblgen 22 on a pattern, and where MLIR finds what is wrong with one that it accepts."""

    REFUSED = "refused"
    CRASHES = "mlir-tblgen crashes"
    COMPILER = "the C++ that it writes does not compile"
    VERIFIER = "the operation that the rule makes is invalid"
    NEVER = "the rule never matches"


DEFINITIONS = """
def Tag : D_Op<"tag", (ins AnyTensor:$x, StrAttr:$text)>;
def OnF : D_Op<"on_f", (ins F32Tensor:$x), (outs F32Tensor:$y), []>;
def OnI : D_Op<"on_i", (ins I32Tensor:$x), (outs I32Tensor:$y), []>;
def Kind : I32EnumAttr<"Kind", "", [I32EnumAttrCase<"One", 1>, I32EnumAttrCase<"Two", 2>]>;
def Choice : D_Op<"choice", (ins AnyTensor:$x, Kind:$kind)>;
def IsText : AttrConstraint<CPred<"::llvm::isa<::mlir::StringAttr>($_self)">, "a string">;
def Make : NativeCodeCall<"make($0)">;
"""

PROPOSAL = """
def Neg : Op<"d.neg", [NoSideEffect]>, Arguments<(ins AnyTensor:$x)>, Results<[AnyTensor]>,
          Traits<["SameOperandsAndResultType"]>;
def Scale : Op<"d.scale", [NoSideEffect]>, Arguments<(ins AnyTensor:$x, I32Attr:$k)>, Results<[AnyTensor]>;
def Add : Op<"d.add", [NoSideEffect]>, Arguments<(ins AnyTensor:$a, AnyTensor:$b)>, Results<[AnyTensor]>;
def Tag : Op<"d.tag", [NoSideEffect]>, Arguments<(ins AnyTensor:$x, StrAttr:$text)>, Results<[AnyTensor]>;
def OnF : Op<"d.on_f", [NoSideEffect]>, Arguments<(ins F32Tensor:$x)>, Results<[F32Tensor]>;
def OnI : Op<"d.on_i", [NoSideEffect]>, Arguments<(ins I32Tensor:$x)>, Results<[I32Tensor]>;
def Log : Op<"d.log">, Arguments<(ins AnyTensor:$x, StrAttr:$text)>, Results<[]>;
def Make : NativeCodeCall<"make($0)">;
"""

I32, F32, STR = "i32 integer", "tensor of 32-bit float values", "string"
I32_TENSOR = "tensor of 32-bit signless integer values"

SHARED = [
    ("(Scale $x, $k), (Neg $k)", "'x' of d.neg is an operand, and $k is an attribute", Verdict.COMPILER),
    ("(Scale $x, $k), (Add $x, $k)", "'b' of d.add is an operand, and $k is an attribute", Verdict.COMPILER),
    ("(Log $x, $t), (Neg $t)", "'x' of d.neg is an operand, and $t is an attribute", Verdict.COMPILER),
    ("(Add $a, $b), (Scale $a, $b)", "'k' of d.scale is an attribute, and $b is an operand", Verdict.COMPILER),
    ("(Neg $x), (Scale $x, $x)", "'k' of d.scale is an attribute, and $x is an operand", Verdict.COMPILER),
    ("(Scale:$r $x, $k), (Scale $x, $r)", "'k' of d.scale is an attribute, and $r is an operation", Verdict.COMPILER),
    ("(Scale $x, $k), (Tag $x, $k)", f"'text' of d.tag must be {STR}, and $k is {I32}", Verdict.COMPILER),
    ("(Tag $x, $t), (Scale $x, $t)", f"'k' of d.scale must be {I32}, and $t is {STR}", Verdict.COMPILER),
    (
        "(Scale I32Attr:$x, $k), (Neg $x)",
        "'x' is an operand, and $x says what an attribute must be",
        Verdict.REFUSED,
    ),
    (
        "(Scale $x, F32Tensor:$k), (Scale $x, $k)",
        "'k' is an attribute, and $k says what the type of a value must be",
        Verdict.REFUSED,
    ),
    (
        "(Scale $x, StrAttr:$k), (Neg $x)",
        f"'k' of d.scale must be {I32}, which is never string attribute",
        Verdict.NEVER,
    ),
    (
        "(Scale $x, I64Attr:$k), (Neg $x)",
        f"'k' of d.scale must be {I32}, which is never 64-bit signless integer attribute",
        Verdict.NEVER,
    ),
    ("(OnI F32Tensor:$x), (Neg $x)", f"'x' of d.on_i must be {I32_TENSOR}, which is never {F32}", Verdict.NEVER),
    ("(OnF (OnI $x)), (Neg $x)", f"'x' of d.on_f must be {F32}, and d.on_i gives {I32_TENSOR}", Verdict.NEVER),
    (
        "(Add F32Tensor:$x, I32Tensor:$x), (Neg $x)",
        f"'b' of d.add must be {F32}, which is never {I32_TENSOR}",
        Verdict.NEVER,
    ),
    (
        "(Add (Scale $x, $k), (Tag $y, $k)), (Neg $x)",
        f"'text' of d.tag must be {I32}, which is never {STR}",
        Verdict.REFUSED,
    ),
    ("(OnI $x), (OnF $x)", f"'x' of d.on_f must be {F32}, and $x is {I32_TENSOR}", Verdict.VERIFIER),
    ("(Scale $x, (Neg $y)), (Neg $x)", "attribute 'k' cannot be d.neg(x=$y)", Verdict.COMPILER),
    (
        "(Scale (Log $x, $t), $k), (Neg $x)",
        "'x' of d.scale cannot be a result of d.log, which has none",
        Verdict.COMPILER,
    ),
    (
        "(Tag $x, $t), (Neg (Log $x, $t))",
        "'x' of d.neg cannot be a result of d.log, which has none",
        Verdict.COMPILER,
    ),
    ("(Neg $x), (Scale $x, (Neg $x))", "'k' of d.scale is an attribute, and d.neg is an operation", Verdict.REFUSED),
    (
        "(Scale $x, $x), (Neg $x)",
        "$x is bound more than once: to an operand, and to an attribute",
        Verdict.REFUSED,
    ),
    (
        '(Scale $x, ConstantAttr<I64Attr, "1">), (Neg $x)',
        "attribute 'k' of d.scale: expected an integer of type i32, found 1 : i64",
        Verdict.NEVER,
    ),
    (
        '(Scale $x, $k), (Scale $x, ConstantAttr<I64Attr, "1">)',
        "'k' of d.scale: expected an integer of type i32, found 1 : i64",
        Verdict.VERIFIER,
    ),
    (
        '(Scale $x, ConstantAttr<StrAttr, "1">), (Neg $x)',
        f"'k' of d.scale must be {I32}, and the constant '1' is string attribute",
        Verdict.COMPILER,
    ),
    (
        '(Scale $x, $k), (Scale $x, ConstantAttr<StrAttr, "name()">)',
        f"'k' of d.scale must be {I32}, and the constant 'name()' is string attribute",
        Verdict.COMPILER,
    ),
    (
        '(Scale $x, $k), (Neg ConstantAttr<I32Attr, "1">)',
        "'x' of d.neg is an operand, and 1 : i32 is an attribute: make an operation that has it as its result",
        Verdict.REFUSED,
    ),
    ("(Scale $x, $k), (replaceWithValue $k)", "$k is an attribute, which cannot replace a result", Verdict.COMPILER),
    ("(Neg $x), (replaceWithValue $x, $x)", "'replaceWithValue' takes one name", Verdict.REFUSED),
    ("(Neg:$r $x), (Add $r, $x)", "'a' of d.add would be a result that the rule replaces", Verdict.COMPILER),
    ("(Neg (Neg:$n $x)), (Add $n, $n__2)", "d.neg has 1 results, not one with number 2", Verdict.CRASHES),
    ("(Neg (Neg:$n $x)), (Add $n, $x__1)", "$x is an operand, which has no number 1", Verdict.COMPILER),
    ("(Neg $x), (Scale $x, 3)", "'k' of d.scale cannot be 3", Verdict.REFUSED),
    ('(Neg "x"), (Neg $x)', "'x' of d.neg cannot be \"x\"", Verdict.CRASHES),
    ("(F32Tensor $x), (Neg $x)", "'F32Tensor' is not an operation", Verdict.REFUSED),
    ("(Neg (Neg:$x $x)), (Neg $x)", "$x is bound more than once: to an operation, and to an operand", Verdict.REFUSED),
    (
        "(Scale $x, (Make $a)), (Neg $x)",
        "make in a source takes the operand or attribute as '$_self'",
        Verdict.REFUSED,
    ),
]
"""Patterns of both syntaxes: the message of E0604 without `rule R:`, and the verdict on the second."""

TODAY = [
    (
        "(Scale (either $x, $k)), (Scale $x, $k)",
        "'either' is of two operands, and 'k' is an attribute",
        Verdict.REFUSED,
    ),
    (
        "(Scale $x, $k), (Neg $x), [(F32Tensor $k)]",
        "$k is an attribute, and the condition is on the type of a value",
        Verdict.COMPILER,
    ),
    (
        "(Scale $x, $k), (Neg $x), [(StrAttr $k)]",
        "'StrAttr' constrains one attribute: write `StrAttr:$name` in the source",
        Verdict.REFUSED,
    ),
    ("(OnI $x), (Neg $x), [(F32Tensor $x)]", f"$x must be {I32_TENSOR}, which is never {F32}", Verdict.NEVER),
    ("(Scale $x, IsText:$k), (Neg $x)", f"'k' of d.scale must be {I32}, which is never a string", Verdict.NEVER),
    (
        '(Choice $x, I32EnumAttrCase<"Red", 5>), (Neg $x)',
        "attribute 'kind' of d.choice: 5 is the number of no case of One, Two",
        Verdict.NEVER,
    ),
    ("(Join $all), (Scale $all, $all)", "'k' of d.scale is an attribute, and $all is operands", Verdict.COMPILER),
    (
        "(Scale $x, $k), (Join (variadic $x, $k))",
        "'parts' of d.join is an operand, and $k is an attribute",
        Verdict.REFUSED,
    ),
    ("(Neg (Split:$s $x)), (Neg $s__2)", "d.split has 2 results, not one with number 2", Verdict.CRASHES),
    (
        '(Neg $x), (Neg (Cast $x, (returnType "$_builder.getF32Type()")))',
        "a result of d.cast must be tensor of any type values, not f32",
        Verdict.VERIFIER,
    ),
    ("(Scale $x, $k), (Neg $x, (location $k))", "$k is an attribute, which has no location", Verdict.COMPILER),
    (
        "(Scale $x, $k), (Neg (Cast $x, (returnType $k)))",
        "$k is an attribute, which has no type that a result could have",
        Verdict.COMPILER,
    ),
    ("(Neg $x, (returnType $x)), (Neg $x)", "'returnType' applies to results, not to sources", Verdict.REFUSED),
    ("(Neg $x), (Neg $x), [(Neg $x)]", "'Neg' is not a constraint", Verdict.CRASHES),
]

CALLS: Functions = {"make": lambda *_: None}


def _rules(patterns: list[str]) -> str:
    return "\n".join([f"def R{n} : Pat<{pattern}>;" for n, pattern in enumerate(patterns)])


def _without_name(fault: str) -> str:
    """Returns a message without its code and the name of its rule."""
    return fault.partition(" never applies: ")[2] or fault.partition(": ")[2].partition(": ")[2]


def test_misused_patterns_are_refused_when_they_load(tmp_path: Path) -> None:
    cases = [*SHARED, *TODAY]
    result = faults(tmp_path, DEFINITIONS + _rules([pattern for pattern, *_ in cases]), CALLS)
    assert [_without_name(f) for f in result] == [message for _, message, _ in cases]
    assert {f.partition(":")[0] for f in result} == {"E0604"}


def test_misused_patterns_of_the_first_proposal_are_refused_when_they_load(tmp_path: Path) -> None:
    path = tmp_path / "rules.td"
    path.write_text(PROPOSAL + _rules([pattern for pattern, *_ in SHARED]))
    with pytest.raises(DiagnosticError) as caught:
        load_rules(path, functions=CALLS)
    diagnostics = caught.value.diagnostics
    assert [_without_name(f"E0604: {d.message}") for d in diagnostics] == [message for _, message, _ in SHARED]
    first = PROPOSAL.count("\n") + 1
    assert [d.line for d in diagnostics] == [first + n for n in range(len(SHARED))]


@pytest.mark.slow
def test_misused_patterns_have_this_verdict_of_mlir_tblgen(tmp_path: Path) -> None:
    for pattern, _, verdict in (*SHARED, *TODAY):
        is_refused = bool(generated(tmp_path, f"{DEFINITIONS}def R : Pat<{pattern}>;")[1])
        # What it crashes on is undefined behaviour: not every run ends so.
        assert verdict is Verdict.CRASHES or is_refused is (verdict is Verdict.REFUSED), pattern


FITTING = [
    "(Join $all), (Neg $all)",
    "(Choice $x, $kind), (Scale $x, $kind)",
    "(Neg:$r $x), (Neg $x, (location $r))",
    "(OnI $x), (Cast $x)",
    "(Add (Scale $x, $k), $y), (Join (variadic (Scale $y, $k), $x))",
    "(Neg F32Tensor:$x), (OnF $x)",
    '(Scale $x, ConstantAttr<I32Attr, "3">:$k), (Scale (Neg $x), $k)',
    "(OnI (Cast $x)), (Neg $x)",
]


def test_patterns_that_may_match_are_accepted(tmp_path: Path) -> None:
    assert faults(tmp_path, DEFINITIONS + _rules(FITTING)) == []


def test_results_of_a_pattern_are_built_in_order_and_have_types(tmp_path: Path) -> None:
    # mlir-tblgen accepts both, and its C++ does not compile.
    early = "def R0 : Pattern<(Neg $x), [(Add $b, $b), (Neg:$b $x)]>;"
    untyped = "def R1 : Pattern<(Neg $x), [(Cast:$b $x), (Add $b, $b)]>;"
    assert faults(tmp_path, f"{DEFINITIONS}{early}\n{untyped}") == [
        "E0604: rule R0: $b is used before the operation that it names is built",
        "E0605: rule R1: the types of the results of d.cast in the result of the rule cannot be inferred: state them",
    ]


@pytest.mark.slow
def test_patterns_that_may_match_are_accepted_by_mlir_tblgen(tmp_path: Path) -> None:
    assert generated(tmp_path, DEFINITIONS + _rules(FITTING))[1] == ""


def test_rule_that_changes_types_loads_for_a_legalization_and_never_rewrites(tmp_path: Path) -> None:
    path = tmp_path / "rules.td"
    path.write_text(PROPOSAL + "def R : Pat<(OnI $x), (OnF (Make $x))>;")
    rules = load_rules(path, functions=CALLS)
    module = cir.loads("func.func @f() { return }", format="mlir")
    with pytest.raises(
        DiagnosticError, match=f"E0604.*rule R never applies: d.on_f gives {F32}, and d.on_i {I32_TENSOR}"
    ):
        cir.optimize(module, rules=rules.rewrites)
