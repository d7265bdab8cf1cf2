"""Rules on definitions of MLIR's own files, in today's form: programs come out as mlir-opt canonicalizes them."""

from __future__ import annotations

from pathlib import Path

import pytest

import commonir as cir
from commonir.dialects.mlir.arith import AddI, Select
from commonir.ir.attributes import IntegerAttr
from commonir.passes.rules import Rules
from commonir.reports import RuleReport
from commonir.text.printer import Naming, print_module

from tests.dialects.upstream_text import upstream
from tests.tablegen.oracle import mlir_include

RULES = """
include "mlir/IR/PatternBase.td"
include "mlir/Dialect/Arith/IR/ArithOps.td"

def SumOf : NativeCodeCall<"sum($0, $1, $2)">;
def Opposite : NativeCodeCall<"opposite($0)">;
defvar None = ConstantEnumCase<Arith_IntegerOverflowAttr, "none">;

def SumOfConstants : Pat<
  (Arith_AddIOp:$sum (Arith_AddIOp $x, (ConstantLikeMatcher I32Attr:$a), $_), (ConstantLikeMatcher I32Attr:$b), $_),
  (Arith_AddIOp $x, (Arith_ConstantOp (SumOf $sum, $a, $b)), None)>;
def NotOfComparison : Pat<
  (Arith_XOrIOp (Arith_CmpIOp $predicate, $a, $b), (ConstantLikeMatcher ConstantAttr<I1Attr, "1">)),
  (Arith_CmpIOp (Opposite $predicate), $a, $b)>;
def ChoiceInChoice : Pat<(SelectOp $c, (SelectOp $c, $a, $b), $d), (SelectOp $c, $a, $d)>;
def ThereAndBack : Pat<
  (Arith_IndexCastOp:$back (Arith_IndexCastOp $x)), (replaceWithValue $x),
  [(Constraint<CPred<"$0.getType() == $1.getType()">> $back, $x)]>;
def CarryUnused : Pattern<
  (Arith_AddUIExtendedOp:$sum $x, $y), [(Arith_AddIOp $x, $y, None), (replaceWithValue $x)],
  [(Constraint<CPred<"$0.getUses().empty()">> $sum__1), (AnyInteger $x)]>;
def SignOfUnsigned : Pat<(Arith_ExtSIOp (Arith_ExtUIOp $x)), (Arith_ExtUIOp $x)>;
def Both : Pat<
  (Arith_AndIOp (Arith_ExtUIOp $x), (Arith_ExtUIOp $y)), (Arith_ExtUIOp (Arith_AndIOp $x, $y)),
  [(Constraint<CPred<"$0.getType() == $1.getType()">> $x, $y)]>;
"""

_INNER = """
include "mlir/IR/PatternBase.td"
include "mlir/Dialect/Arith/IR/ArithOps.td"
include "mlir/Dialect/Math/IR/MathOps.td"

def Unsaid : Pat<
  (Math_AbsFOp (Math_AbsFOp $x, $f), $g), (Math_AbsFOp (Arith_BitcastOp %s), $f)>;
"""


@pytest.mark.slow
def test_nested_result_operation_without_inferable_types_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rules.td"
    path.write_text(_INNER % "$x")
    with pytest.raises(
        cir.DiagnosticError,
        match=r"E0605.*the types of the results of arith\.bitcast in the result of the rule cannot be inferred",
    ) as e:
        cir.load_rules(path, [mlir_include()])
    assert (e.value.diagnostics[0].file, e.value.diagnostics[0].line) == (str(path), 6)
    path.write_text(_INNER % "$x, (returnType $x)")
    assert [r.name for r in cir.load_rules(path, [mlir_include()]).rewrites] == ["Unsaid"]


_OPPOSITES = {"eq": "ne", "slt": "sge", "sle": "sgt", "ult": "uge", "ule": "ugt"}
OPPOSITES = {**_OPPOSITES, **{b: a for a, b in _OPPOSITES.items()}}

FUNCTIONS = {
    "sum": lambda _, a, b: IntegerAttr((a.value + b.value + 2**31) % 2**32 - 2**31, a.type),
    "opposite": lambda predicate: OPPOSITES[predicate.value],
}

PROGRAMS = {
    "SumOfConstants": "%c = arith.constant 5 : i32\n%d = arith.constant 7 : i32\n"
    "%0 = arith.addi %a, %c : i32\n%1 = arith.addi %0, %d : i32\nreturn %1 : i32",
    "NotOfComparison": "%c = arith.constant true\n%0 = arith.cmpi slt, %a, %b : i32\n%1 = arith.xori %0, %c : i1\n"
    "%2 = arith.extui %1 : i1 to i32\nreturn %2 : i32",
    "ChoiceInChoice": "%0 = arith.select %p, %a, %b : i32\n%c = arith.constant 3 : i32\n"
    "%1 = arith.select %p, %0, %c : i32\nreturn %1 : i32",
    "ThereAndBack": "%0 = arith.index_cast %a : i32 to index\n%1 = arith.index_cast %0 : index to i32\nreturn %1 : i32",
    "CarryUnused": "%0, %1 = arith.addui_extended %a, %b : i32, i1\nreturn %0 : i32",
    "SignOfUnsigned": "%0 = arith.extui %n : i8 to i16\n%1 = arith.extsi %0 : i16 to i32\nreturn %1 : i32",
    "Both": "%0 = arith.extui %n : i8 to i32\n%1 = arith.extui %m : i8 to i32\n"
    "%2 = arith.andi %0, %1 : i32\nreturn %2 : i32",
}


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Rules:
    path: Path = tmp_path_factory.mktemp("rules") / "arith.td"
    path.write_text(RULES)
    return cir.load_rules(path, [mlir_include()], functions=FUNCTIONS)


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_comes_out_as_mlir_opt_canonicalizes_it(name: str, rules: Rules) -> None:
    text = f"func.func @f(%a: i32, %b: i32, %p: i1, %n: i8, %m: i8) -> i32 {{\n{PROGRAMS[name]}\n}}"
    reports: list[RuleReport] = []
    optimized = cir.optimize(cir.loads(text, format="mlir"), passes=(), rules=rules.rewrites, reports=reports)
    assert {r.name: r.applied for r in reports if r.applied} == {name: 1}
    # Constants go to the beginning, which rules alone do not do.
    tidied = cir.optimize(optimized, passes=["canonicalize"])
    assert print_module(tidied, naming=Naming.MLIR) == upstream(text, "--canonicalize").stdout
    assert print_module(optimized, naming=Naming.MLIR).count("arith.") == upstream(text, "--canonicalize").stdout.count(
        "arith."
    )


def test_rules_are_on_the_definitions_that_programs_have(rules: Rules) -> None:
    assert rules.dialects == ()
    by_name = {rule.name: rule.source.definition for rule in rules.rewrites}
    assert by_name["ChoiceInChoice"] is Select
    assert by_name["SumOfConstants"] is AddI
