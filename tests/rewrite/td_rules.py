"""Rules in TableGen for tests: a small dialect in today's form, what a file makes of a program, and mlir-tblgen."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from commonir.api import optimize
from commonir.base.diagnostics import DiagnosticError
from commonir.ods import Dialects, verify
from commonir.passes.rules import Rules, load_rules
from commonir.reports import RuleReport
from commonir.text.parser import parse_module
from commonir.text.printer import Naming, print_module

from tests.oracles import find_program
from tests.tablegen.oracle import llvm_tblgen, mlir_include

DIALECT = """
include "mlir/IR/PatternBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def D : Dialect { let name = "d"; let cppNamespace = "d"; }
class D_Op<string name, dag given, dag made = (outs AnyTensor:$y), list<Trait> more = [SameOperandsAndResultType]>
    : Op<D, name, !listconcat([Pure], more)> {
  let arguments = given;
  let results = made;
}
def Neg : D_Op<"neg", (ins AnyTensor:$x)>;
def Scale : D_Op<"scale", (ins AnyTensor:$x, I32Attr:$k)>;
def Add : D_Op<"add", (ins AnyTensor:$a, AnyTensor:$b)>;
def Note : D_Op<"note", (ins AnyTensor:$x, OptionalAttr<StrAttr>:$text)>;
def Join : D_Op<"join", (ins Variadic<AnyTensor>:$parts)>;
def Split : D_Op<"split", (ins AnyTensor:$x), (outs AnyTensor, AnyTensor), []>;
def Cast : D_Op<"cast", (ins AnyTensor:$x), (outs AnyTensor:$y), []>;
def Use : Op<D, "use"> { let arguments = (ins AnyType:$x); }
def Print : Op<D, "print"> { let arguments = (ins AnyTensor:$x); }
def Log : Op<D, "log"> { let arguments = (ins AnyTensor:$x, StrAttr:$text); }
"""

F = "tensor<4xf32>"
Functions = Mapping[str, Callable[..., object]]


def loaded(folder: Path, text: str, functions: Functions | None = None, *, is_unambiguous: bool = False) -> Rules:
    """The rules of a text, which may use the dialect `d`."""
    path = folder / "rules.td"
    path.write_text(DIALECT + text)
    return load_rules(path, [str(mlir_include())], functions=functions or {}, unambiguous=is_unambiguous)


def faults(folder: Path, text: str, functions: Functions | None = None, *, is_unambiguous: bool = False) -> list[str]:
    """Code and message of everything that is wrong with the rules of a text."""
    try:
        loaded(folder, text, functions, is_unambiguous=is_unambiguous)
    except DiagnosticError as error:
        return [f"{d.code.id}: {d.message}" for d in error.diagnostics]
    return []


def body(rules: Rules, lines: str, *, inputs: int = 2, type: str = F, reports: list[RuleReport] | None = None) -> str:
    """Returns what rules make of the lines of a function, as text, without what is around them."""
    arguments = ", ".join([f"%arg{n}: {type}" for n in range(inputs)])
    module = parse_module(f"func.func @f({arguments}) {{\n{lines}\nreturn\n}}", Dialects(rules.dialects))
    optimized = optimize(module, passes=(), rules=rules.rewrites, reports=reports)
    assert [str(d) for d in verify(optimized, Dialects(rules.dialects))] == []
    printed = [line.strip() for line in print_module(optimized, naming=Naming.MLIR).splitlines()]
    return "\n".join(printed[2 : printed.index("return")])


@cache
def mlir_tblgen() -> str:
    """The generator of MLIR; skips the test when it is not installed."""
    beside = Path(os.path.realpath(llvm_tblgen())).parent / "mlir-tblgen"
    return find_program("mlir-tblgen", (str(beside), "mlir-tblgen-22"))


def generated(folder: Path, text: str) -> tuple[str, str]:
    """The C++ that mlir-tblgen makes of rules, and what it finds wrong with them."""
    path = folder / "oracle.td"
    path.write_text(DIALECT + text)
    command = [mlir_tblgen(), "--gen-rewriters", "-I", str(mlir_include()), str(path)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return run.stdout if run.returncode == 0 else "", "" if run.returncode == 0 else run.stderr
