"""Legalization as a graph: chains of rules, their costs, partial results, casts, and why there is no path."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest

import commonir as cir
from commonir.base.diagnostics import DiagnosticError
from commonir.ir.module import Module
from commonir.ir.operation import Operation
from commonir.ir.types import TensorType, Type, f32, tensor
from commonir.ods import Dialects, Op
from commonir.ods.terms import Precedence, Rewrite, term, variables
from commonir.passes.rules import Rules, load_rules
from commonir.reports import LegalizationReport

NAMES = "abcdefgh"
OPERATIONS = "\n".join(
    [
        *[
            f'def {n.upper()}{k} : Op<"{n}.{name}", [NoSideEffect]>, Arguments<(ins {"AnyTensor:$x"}{more})>,'
            f' Results<[AnyTensor]>, Traits<["SameOperandsAndResultType"]>;'
            for n in NAMES
            for k, name, more in (("", "one", ""), ("2", "two", ", AnyTensor:$y"), ("K", "scale", ", I32Attr:$k"))
        ],
        'def Wide : Op<"a.wide", [NoSideEffect]>, Arguments<(ins F64Tensor:$x)>, Results<[F64Tensor]>;',
        'def Narrow : Op<"b.narrow", [NoSideEffect]>, Arguments<(ins F64Tensor:$x)>, Results<[F32Tensor]>;',
        'def Widen : Op<"b.widen", [NoSideEffect]>, Arguments<(ins F32Tensor:$x)>, Results<[F64Tensor]>;',
    ]
)
F, F64 = "tensor<4xf32>", "tensor<4xf64>"


@cache
def _rules(patterns: str) -> Rules:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rules.td"
        listed = [f"def R{n} : Pat<{p}>;" for n, p in enumerate(patterns.split(";"))]
        path.write_text("\n".join([OPERATIONS, *listed]))
        return load_rules(path)


def _program(lines: str, rules: Rules, *, type: str = F) -> Module:
    text = f"func.func @f(%x: {type}, %y: {type}) -> {type} {{\n{lines}\n}}"
    return cir.loads(text, format="mlir", dialects=rules.dialects)


def _one(name: str, of: str = "%x", type: str = F) -> str:
    return f'"{name}"({of}) : ({type}) -> {type}'


def _legalized(
    patterns: str, lines: str, to: str = "b", *, type: str = F, more: Sequence[Any] = (), **options: Any
) -> list[str]:
    """Returns the operations of the legalized program."""
    rules = _rules(patterns)
    module = _program(lines, rules, type=type)
    result = cir.legalize(module, to.split(","), rules=[*rules.rewrites, *more], dialects=rules.dialects, **options)
    return [op.name for op in result.main.body.operations if op.name != "func.return"]


def test_rules_from_a_to_b_and_from_b_to_c_compose() -> None:
    lines = f"%0 = {_one('a.one')}\nreturn %0 : {F}"
    assert _legalized("(A $x), (B $x);(B $x), (C (C $x))", lines, "c") == ["c.one", "c.one"]


def test_operations_that_are_legal_stay() -> None:
    lines = f"%0 = {_one('a.one')}\n%1 = {_one('b.one', '%0')}\nreturn %1 : {F}"
    assert _legalized("(A $x), (B $x);(B $x), (C (C $x))", lines, "b,c") == ["b.one", "b.one"]


def test_shortest_chain_is_chosen_whatever_the_order() -> None:
    lines = f"%0 = {_one('a.one')}\nreturn %0 : {F}"
    long = "(A (A $x)), (B $x);(A $x), (B2 $x, $x);(B2 $x, $y), (C2 $x, $y);(C2 $x, $y), (D2 $x, $y)"
    assert _legalized(f"{long};(A (B $x)), (D $x)", lines, "d") == ["d.two"]
    assert _legalized("(A $x), (B $x);(B $x), (C $x);(C $x), (D $x)", lines, "d") == ["d.one"]
    nested = f"%0 = {_one('b.one')}\n%1 = {_one('a.one', '%0')}\nreturn %1 : {F}"
    short = "(A (B $x)), (D $x)"
    assert _legalized(f"{long};{short};(B $x), (D2 $x, $x)", nested, "d") == ["d.one"]


def test_rule_whose_operations_have_no_path_is_undone() -> None:
    lines = f"%0 = {_one('a.one')}\nreturn %0 : {F}"
    assert _legalized("(A (A $x)), (D $x);(A $x), (B2 (C $x), (E $x));(A F32Tensor:$x), (B $x)", lines) == ["b.one"]


def test_several_operations_are_replaced_by_one_rule() -> None:
    lines = f"%0 = {_one('c.one')}\n%1 = {_one('a.one', '%0')}\nreturn %1 : {F}"
    # Nothing replaces c.one alone, and nothing uses it afterwards.
    assert _legalized("(A (C $x)), (B $x)", lines) == ["b.one"]


def test_partial_legalization_keeps_what_has_no_path() -> None:
    lines = f"%0 = {_one('c.one')}\n%1 = {_one('a.one', '%0')}\n%2 = {_one('d.one', '%1')}\nreturn %2 : {F}"
    assert _legalized("(A $x), (B $x);(D $x), (E $x)", lines, partial=True) == ["c.one", "b.one", "d.one"]
    with pytest.raises(DiagnosticError) as caught:
        _legalized("(A $x), (B $x);(D $x), (E $x)", lines)
    assert [(d.code.id, d.where, d.message, d.notes, d.help) for d in caught.value.diagnostics] == [
        (
            "E0601",
            "f.operations[0] c.one",
            "c.one cannot be expressed in b",
            ("no rule takes c.one, and it cannot be expanded",),
            "needed: a rule for c.one that gives operations of b, a, d",
        ),
        (
            "E0601",
            "f.operations[2] d.one",
            "e.one (part of d.one) cannot be expressed in b",
            ("no rule takes e.one, and it cannot be expanded",),
            "needed: a rule for e.one that gives operations of b, a, d",
        ),
    ]


def test_every_operation_without_a_path_is_reported() -> None:
    lines = f"%0 = {_one('c.one')}\n%1 = {_one('d.one', '%0')}\n%2 = {_one('e.one', '%1')}\nreturn %2 : {F}"
    with pytest.raises(DiagnosticError) as caught:
        _legalized("(A $x), (B $x)", lines)
    assert [d.where for d in caught.value.diagnostics] == [
        "f.operations[0] c.one",
        "f.operations[1] d.one",
        "f.operations[2] e.one",
    ]


def test_illegal_operations_must_be_replaced_in_a_partial_legalization_too() -> None:
    lines = f"%0 = {_one('c.one')}\n%1 = {_one('d.one', '%0')}\nreturn %1 : {F}"
    with pytest.raises(DiagnosticError, match=r"c\.one cannot be expressed in b"):
        _legalized("(A $x), (B $x)", lines, partial=True, illegal=["c"])
    assert _legalized("(A $x), (B $x);(D $x), (B $x)", lines, partial=True, illegal=["d.one"]) == ["c.one", "b.one"]


def test_illegal_operation_of_a_legal_dialect_is_replaced() -> None:
    lines = f"%0 = {_one('b.one')}\nreturn %0 : {F}"
    assert _legalized("(B $x), (B2 $x, $x)", lines, illegal=["b.one"]) == ["b.two"]


def test_more_operations_and_dialects_are_legal() -> None:
    lines = f"%0 = {_one('c.one')}\n%1 = {_one('d.one', '%0')}\nreturn %1 : {F}"
    assert _legalized("(A $x), (B $x)", lines, legal=["c", "d.one"]) == ["c.one", "d.one"]


@pytest.mark.parametrize("name", ["a.scale", "a", ""])
def test_operations_are_legal_under_a_condition(name: str) -> None:
    lines = "\n".join([f'%{n} = "a.scale"(%x) {{k = {n} : i32}} : ({F}) -> {F}' for n in range(2)]) + (
        f'\n%2 = "b.two"(%0, %1) : ({F}, {F}) -> {F}\nreturn %2 : {F}'
    )
    is_even: Callable[[Operation], bool] = lambda op: op.name != "a.scale" or getattr(op, "k") % 2 == 0  # noqa: B009, E731
    assert _legalized("(AK $x, $k), (BK $x, $k)", lines, dynamic={name: is_even}) == ["a.scale", "b.scale", "b.two"]


def test_rules_in_a_cycle_are_reported_with_the_chain() -> None:
    lines = f"%0 = {_one('a.one')}\nreturn %0 : {F}"
    with pytest.raises(DiagnosticError) as caught:
        _legalized("(A $x), (C $x);(C $x), (D $x);(D $x), (A $x)", lines)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code.id == "E0607"
    assert diagnostic.message == "rule R0: the rules for a.one lead back to it: a.one -> c.one -> d.one -> a.one"
    # A way out of the cycle is taken.
    assert _legalized("(A $x), (C $x);(C $x), (A $x);(A F32Tensor:$x), (B $x)", lines) == ["b.one"]


def test_every_rule_that_was_tried_is_a_reason() -> None:
    lines = f'%0 = "a.scale"(%x) {{k = 3 : i32}} : ({F}) -> {F}\nreturn %0 : {F}'
    patterns = '(AK (A $x), $k), (B $x);(AK $x, ConstantAttr<I32Attr, "2">), (B $x);(AK $x, $k), (C $x)'
    with pytest.raises(DiagnosticError) as caught:
        _legalized(patterns, lines)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.message == "c.one (part of a.scale) cannot be expressed in b"
    reports: list[LegalizationReport] = []
    assert _legalized(patterns, lines, partial=True, reports=reports) == ["a.scale"]
    (report,) = reports
    assert report.reasons == (
        "rule R0: 'x' of a.scale is an argument, not the result of a.one",
        "rule R1: 'k' of a.scale is 3, not 2 : i32",
        "rule R2: it gives c.one, and no rule takes c.one",
    )


def test_paths_are_reported() -> None:
    lines = f"%0 = {_one('a.one')}\n%1 = {_one('a.one', '%0')}\n%2 = {_one('c.one', '%1')}\nreturn %2 : {F}"
    reports: list[LegalizationReport] = []
    _legalized("(A $x), (C $x);(C $x), (B $x)", lines, reports=reports)
    assert [(r.name, r.where, r.count, [(s.operation, s.by, s.result) for s in r.steps]) for r in reports] == [
        ("a.one", "f.operations[0] a.one", 2, [("a.one", "rule R0", ("c.one",)), ("c.one", "rule R1", ("b.one",))]),
        ("c.one", "f.operations[2] c.one", 1, [("c.one", "rule R1", ("b.one",))]),
    ]


def _narrowing(rules: Rules) -> Rewrite:
    """Returns the rule that replaces a.wide of f64 by operations of f32."""
    wide, one, narrow = (Dialects(rules.dialects).find(name) for name in ("a.wide", "b.one", "b.narrow"))
    assert wide is not None
    assert one is not None
    assert narrow is not None
    (x,) = variables("x")
    return (term(wide, x) >> term(one, term(narrow, x).typed(tensor(f32, 4)))).named("narrowing")


CAST = "builtin.unrealized_conversion_cast"


def test_value_of_another_type_is_cast_for_operations_that_need_the_old_one() -> None:
    lines = f"%0 = {_one('a.wide', type=F64)}\n%1 = {_one('b.one', '%0', F64)}\nreturn %1 : {F64}"
    narrowing = _narrowing(_rules("(A $x), (B $x)"))
    names = _legalized("(A $x), (B $x)", lines, type=F64, partial=True, more=[narrowing])
    assert names == ["b.narrow", "b.one", CAST, "b.one"]
    with pytest.raises(DiagnosticError) as caught:
        _legalized("(A $x), (B $x)", lines, type=F64, more=[narrowing])
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.message == f"no rule converts {F} to {F64}, which b.one needs"


def test_casts_that_undo_each_other_are_folded() -> None:
    lines = f"""%0 = {_one("a.wide", type=F64)}
    %1 = {CAST} %0 : {F64} to {F}
    %2 = {_one("b.one", "%1")}
    %3 = {CAST} %2 : {F} to {F64}
    return %3 : {F64}"""
    narrowing = _narrowing(_rules("(A $x), (B $x)"))
    names = _legalized("(A $x), (B $x)", lines, type=F64, more=[narrowing])
    assert names == ["b.narrow", "b.one", "b.one", CAST]


def _narrow(type: Type) -> Type:
    return type.with_element(f32) if isinstance(type, TensorType) else type


def test_block_arguments_functions_and_calls_have_converted_types() -> None:
    rules = _rules("(A $x), (B $x)")
    text = f"""
    func.func @f(%x: {F64}, %c: i1) -> {F64} {{
      %0 = func.call @g(%x) : ({F64}) -> {F64}
      %1 = scf.if %c -> {F64} {{
        scf.yield %0 : {F64}
      }} else {{
        scf.yield %x : {F64}
      }}
      return %1 : {F64}
    }}
    func.func private @g(%x: {F64}) -> {F64} {{
      %0 = {_one("c.one", type=F64)}
      return %0 : {F64}
    }}"""
    module = cir.loads(text, format="mlir", dialects=rules.dialects)
    options: dict[str, Any] = {"legal": ["scf", "c"], "illegal": ["a"], "dialects": rules.dialects}
    result = cir.legalize(module, "b", partial=True, convert_type=_narrow, **options)
    types = {op.name: [str(r.type) for r in op.results] for op in result.walk() if op.results and op.name != CAST}
    # An operation that is legal keeps its types between casts.
    assert types == {"func.call": [F], "scf.if": [F], "c.one": [F64]}
    assert [str(f.function_type) for f in result.functions.values()] == [f"({F}, i1) -> {F}", f"({F}) -> {F}"]  # pyright: ignore[reportAttributeAccessIssue]
    assert [op.name for op in result.functions["g"].body.operations] == [CAST, "c.one", CAST, "func.return"]


def test_regions_and_blocks_are_legalized() -> None:
    lines = f"""
    %c = arith.constant true
    cf.cond_br %c, ^a(%x : {F}), ^b
    ^a(%p: {F}):
    %0 = {_one("a.one", "%p")}
    cf.br ^c(%0 : {F})
    ^b:
    %1 = scf.if %c -> {F} {{
      %2 = {_one("a.one", "%y")}
      scf.yield %2 : {F}
    }} else {{
      scf.yield %y : {F}
    }}
    cf.br ^c(%1 : {F})
    ^c(%q: {F}):
    return %q : {F}"""
    rules = _rules("(A $x), (B $x)")
    result = cir.legalize(
        _program(lines, rules), "b", rules=rules.rewrites, legal=["cf", "scf", "arith"], dialects=rules.dialects
    )
    names = [op.name for op in result.walk()]
    assert names.count("b.one") == 2
    assert "a.one" not in names
    assert [str(d) for d in cir.verify(result)] == []


def test_source_is_not_changed() -> None:
    rules = _rules("(A $x), (B $x)")
    module = _program(f"%0 = {_one('a.one')}\nreturn %0 : {F}", rules)
    before = cir.dumps(module, format="mlir")
    cir.legalize(module, "b", rules=rules.rewrites, dialects=rules.dialects)
    assert cir.dumps(module, format="mlir") == before
    assert all(user in set(module.walk()) for op in module.walk() for r in op.results for user in r.users)


def test_unknown_dialect_is_refused_with_a_suggestion() -> None:
    with pytest.raises(DiagnosticError, match=r"no dialect 'lineralg' is known(?s:.*)did you mean 'linalg'"):
        _legalized("(A $x), (B $x)", f"return %x : {F}", "lineralg", illegal=["func"])


def _random_rules(random: Random, definitions: dict[str, type[Op]]) -> list[tuple[str, list[str], Rewrite]]:
    """Returns rules from one operation to one or two others, each with its source and its products."""
    out: list[tuple[str, list[str], Rewrite]] = []
    (x,) = variables("x")
    for n in range(random.randint(4, 14)):
        source, products = random.choice(NAMES), random.choices(NAMES, k=random.choice((1, 1, 2)))
        made: object = x
        for each in reversed(products):
            made = term(definitions[each], made)
        rewrite = (term(definitions[source], x) >> made).named(f"rule{n}").preceding(Precedence.ORDER)
        out.append((source, products, rewrite))
    return out


def _least_costs(rules: list[tuple[str, list[str], Rewrite]], legal: str) -> dict[str, int]:
    """Returns the length of the shortest chain from each dialect, by relaxation of the rules until nothing changes."""
    costs = {legal: 0}
    for _ in NAMES:
        for source, products, _ in rules:
            if all(p in costs for p in products):
                cost = 1 + max(costs[p] for p in products)
                costs[source] = min(cost, costs.get(source, cost))
    return costs


@pytest.mark.parametrize("seed", [*range(10), 172, 240])
def test_random_graphs_give_shortest_chains_or_no_path(seed: int) -> None:
    random = Random(seed)
    base = _rules("(A $x), (B $x)")
    found = {name: Dialects(base.dialects).find(f"{name}.one") for name in NAMES}
    definitions = {name: definition for name, definition in found.items() if definition is not None}
    rules = _random_rules(random, definitions)
    costs = _least_costs(rules, "b")
    for start in NAMES:
        module = _program(f"%0 = {_one(f'{start}.one')}\nreturn %0 : {F}", base)
        reports: list[LegalizationReport] = []
        options: dict[str, Any] = {"rules": [r for *_, r in rules], "dialects": base.dialects, "reports": reports}
        if start not in costs:
            with pytest.raises(DiagnosticError, match=r"E060[17]"):
                cir.legalize(module, "b", **options)
            kept = cir.legalize(module, "b", partial=True, **options)
            assert [op.name for op in kept.main.body.operations] == [f"{start}.one", "func.return"]
            continue
        result = cir.legalize(module, "b", **options)
        assert {op.name for op in result.main.body.operations} == {"b.one", "func.return"}
        taken = {step.operation[0]: [name[0] for name in step.result] for r in reports for step in r.steps}

        def length(name: str, taken: dict[str, list[str]] = taken) -> int:
            return 0 if name == "b" else 1 + max(map(length, taken[name]))

        assert length(start) == costs[start]
