"""Rule files at random: each is loaded, or refused with findings; what is loaded leaves programs that are valid."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

import commonir as cir
from commonir.base.diagnostics import DiagnosticError

OPERATIONS = """
def Neg : Op<"my.neg", [NoSideEffect]>, Arguments<(ins AnyTensor:$x)>, Results<[AnyTensor]>;
def Add : Op<"my.add", [NoSideEffect]>, Arguments<(ins AnyTensor:$a, AnyTensor:$b)>, Results<[AnyTensor]>;
def Scale : Op<"my.scale", [NoSideEffect]>, Arguments<(ins AnyTensor:$x, I32Attr:$k)>, Results<[AnyTensor]>;
def Two : Op<"my.two">, Arguments<(ins AnyTensor:$x)>, Results<[AnyTensor, AnyTensor]>;
def End : Op<"my.end">, Arguments<(ins AnyTensor:$x)>, Results<[]>;
def Known : NativeCodeCall<"known($0)">;
def Unknown : NativeCodeCall<"unknown($0)">;
def K : ConstantAttr<I32Attr, "3">;
def addBenefit; def either; def variadic; def returnType; def location;
class Pattern<dag source, list<dag> results, list<dag> preds, list<dag> supplements, dag added> {
  dag sourcePattern = source;
  list<dag> resultPatterns = results;
  list<dag> constraints = preds;
  list<dag> supplementalPatterns = supplements;
  dag benefitDelta = added;
}
class Pred;
class Constraint<Pred p, string text = ""> { Pred predicate = p; string summary = text; }
def True : Pred;
def Any : Constraint<True, "anything">;
"""
T = "tensor<2xf32>"
PROGRAM = f"""
func.func @main(%a: {T}, %b: {T}) -> ({T}, {T}) {{
  %0 = "my.neg"(%a) : ({T}) -> {T}
  %1 = "my.neg"(%0) : ({T}) -> {T}
  %2 = "my.add"(%1, %b) : ({T}, {T}) -> {T}
  %3 = "my.add"(%2, %2) : ({T}, {T}) -> {T}
  %4 = "my.scale"(%3) {{k = 3 : i32}} : ({T}) -> {T}
  %5:2 = "my.two"(%4) : ({T}) -> ({T}, {T})
  "my.end"(%5#1) : ({T}) -> ()
  return %5#0, %4 : {T}, {T}
}}
"""
OPERATORS = ("Neg", "Neg", "Add", "Add", "Scale", "Two", "End", "Known", "Unknown")
HEADS = (*OPERATORS, "either", "variadic", "replaceWithValue", "returnType", "location", "Any", "AnyTensor")
NAMES = ("$x", "$x", "$y", "$z", "$_", "$n", "$n__0", "$n__1", "$k")
LEAVES = (*NAMES, *NAMES, "F32Tensor:$x", "AnyTensor", "I32Attr:$k", "K", "K:$k", "Known:$x", '"text"', "3", "Neg")


def _dag(random: Random, depth: int) -> str:
    head = random.choice(HEADS)
    label = random.choice(("", "", "", ":$n", ":$n__1"))
    expected = {"Add": 2, "Scale": 2}.get(head, 1)
    count = expected if random.random() < 0.85 else random.randrange(4)
    items = [
        _dag(random, depth - 1) if depth and random.random() < 0.35 else random.choice(LEAVES) for _ in range(count)
    ]
    return f"({head}{label} {', '.join(items)})"


def _plausible(random: Random, depth: int, *, in_result: bool) -> str:
    """A pattern that is right but for what its names stand for."""
    head = random.choice(
        ("Neg", "Add", "Add", "Scale", "Two", "Known") if in_result else ("Neg", "Add", "Scale", "Two")
    )
    operands = [
        _plausible(random, depth - 1, in_result=in_result)
        if depth and random.random() < 0.5
        else random.choice(("$x", "$y", "$x" if in_result else "F32Tensor:$y", "$x" if in_result else "$_"))
        for _ in range(2 if head == "Add" else 1)
    ]
    if head == "Scale":
        operands.append(random.choice(("K", "K", "$k" if in_result else "I32Attr:$k")))
    if head == "Add" and not in_result and random.random() < 0.3:
        operands = [f"(either {', '.join(operands)})"]
    if head in ("Two", "Add") and in_result and random.random() < 0.5:
        operands.append("(returnType $x, $x)" if head == "Two" else "(returnType $x)")
    return f"({head} {', '.join(operands)})"


def _rule(random: Random) -> str:
    if random.random() < 0.6:
        results = [_plausible(random, 1, in_result=True) for _ in range(random.choice((1, 1, 2)))]
        results[-1] = random.choice((results[-1], "(replaceWithValue $x)"))
        return (
            f"def : Pattern<{_plausible(random, 2, in_result=False)}, [{', '.join(results)}], [], [], (addBenefit 0)>;"
        )
    if random.random() < 0.5:
        return f"def : Pat<{_dag(random, 2)}, {_dag(random, 2)}>;"
    several = ((1, 1, 2, 0), (0, 0, 1), (0, 0, 1))
    lists = [", ".join([_dag(random, 1) for _ in range(random.choice(some))]) for some in several]
    added = random.choice(("0", "1", "-1", "$x", "1, 2"))
    return f"def : Pattern<{_dag(random, 2)}, [{lists[0]}], [{lists[1]}], [{lists[2]}], (addBenefit {added})>;"


@pytest.mark.fast_every(3)
@pytest.mark.parametrize("seed", range(60))
def test_random_rules_are_loaded_or_refused(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    path = tmp_path / "rules.td"
    path.write_text(OPERATIONS + "\n".join([_rule(random) for _ in range(random.choice((1, 1, 4)))]))
    try:
        rules = cir.load_rules(path, functions={"known": lambda *inputs: inputs[0] if inputs else None})
    except DiagnosticError as error:
        assert all(d.code.id in {"E0604", "E0605", "E0606", "E0608", "E0260", "E0261"} for d in error.diagnostics)
        return
    program = cir.loads(PROGRAM, format="mlir", dialects=rules.dialects)
    try:
        optimized = cir.optimize(program, passes=(), rules=rules.rewrites, reports=[])
    except DiagnosticError as error:
        assert error.diagnostics[0].code.id == "E0607"
        return
    assert cir.verify(optimized, dialects=rules.dialects) == []
