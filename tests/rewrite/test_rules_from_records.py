"""Rules of TableGen files in today's form: what they match and make, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonir.api import optimize
from commonir.ir.operation import Value
from commonir.ir.types import i32
from commonir.ods import Dialects, Op
from commonir.ods.terms import Precedence
from commonir.passes.rules import load_rules
from commonir.reports import RuleReport
from commonir.text.parser import parse_module

from tests.rewrite.td_rules import F, Functions, body, faults, generated, loaded

UNARY = f": ({F}) -> {F}"
BINARY = f": ({F}, {F}) -> {F}"


def _neg(name: str, of: str) -> str:
    return f'{name} = "d.neg"({of}) {UNARY}'


def _use(*names: str) -> str:
    return "\n".join([f'"d.print"({n}) : ({F}) -> ()' for n in names])


def test_nested_source_is_replaced_with_a_value(tmp_path: Path) -> None:
    rules = loaded(tmp_path, "def TwiceNegated : Pat<(Neg (Neg $x)), (replaceWithValue $x)>;")
    assert [repr(r) for r in rules.rewrites] == ["TwiceNegated"]
    assert body(rules, f"{_neg('%0', '%arg0')}\n{_neg('%1', '%0')}\n{_use('%1')}") == _use("%arg0")


def test_same_name_twice_is_the_same_operand(tmp_path: Path) -> None:
    rules = loaded(tmp_path, 'def : Pat<(Add $x, $x), (Scale $x, ConstantAttr<I32Attr, "2">)>;')
    same = f'%0 = "d.add"(%arg0, %arg0) {BINARY}'
    other = f'%1 = "d.add"(%arg0, %arg1) {BINARY}'
    assert body(rules, f"{same}\n{other}\n{_use('%0', '%1')}").splitlines()[:2] == [
        f'%0 = "d.scale"(%arg0) <{{k = 2 : i32}}> {UNARY}',
        other,
    ]


def test_operand_constraint_restricts_a_rule(tmp_path: Path) -> None:
    rules = loaded(tmp_path, "def : Pat<(Add F32Tensor, $y), (Neg $y)>;")
    i8 = "tensor<4xi8>"
    lines = f'%0 = "d.add"(%arg0, %arg1) : ({i8}, {i8}) -> {i8}\n"d.print"(%0) : ({i8}) -> ()'
    assert body(rules, lines, type=i8) == lines
    assert "d.neg" in body(rules, f'%0 = "d.add"(%arg0, %arg1) {BINARY}\n{_use("%0")}')


@pytest.mark.slow
def test_constant_attribute_restricts_and_is_made(tmp_path: Path) -> None:
    rules = loaded(
        tmp_path,
        'def : Pat<(Scale $x, ConstantAttr<I32Attr, "-1">), (Neg $x)>;\n'
        'def : Pat<(Scale $x, ConstantAttr<I32Attr, "1">:$k), (replaceWithValue $x)>;',
    )
    lines = "\n".join([f'%{n} = "d.scale"(%arg0) {{k = {k} : i32}} {UNARY}' for n, k in enumerate((-1, 1, 3))])
    assert body(rules, f"{lines}\n{_use('%0', '%1', '%2')}").splitlines() == [
        _neg("%0", "%arg0"),
        f'%1 = "d.scale"(%arg0) <{{k = 3 : i32}}> {UNARY}',
        *_use("%0", "%arg0", "%1").splitlines(),
    ]


def test_absent_optional_attribute_is_bound_and_stays_absent(tmp_path: Path) -> None:
    rules = loaded(tmp_path, "def : Pat<(Note (Neg $x), $text), (Neg (Note $x, $text))>;")
    lines = f'%0 = "d.neg"(%arg0) {UNARY}\n%1 = "d.note"(%0) {UNARY}\n%2 = "d.note"(%0) {{text = "a"}} {UNARY}'
    assert body(rules, f"{lines}\n{_use('%1', '%2')}").splitlines()[:4] == [
        f'%0 = "d.note"(%arg0) {UNARY}',
        _neg("%1", "%0"),
        f'%2 = "d.note"(%arg0) <{{text = "a"}}> {UNARY}',
        _neg("%3", "%2"),
    ]


def test_constrained_optional_attribute_must_be_there(tmp_path: Path) -> None:
    rules = loaded(tmp_path, "def : Pat<(Note $x, StrAttr:$text), (replaceWithValue $x)>;")
    lines = f'%0 = "d.note"(%arg0) {UNARY}\n%1 = "d.note"(%arg0) {{text = "a"}} {UNARY}\n{_use("%0", "%1")}'
    assert body(rules, lines) == f'%0 = "d.note"(%arg0) {UNARY}\n{_use("%0", "%arg0")}'


def test_either_order_of_two_operands(tmp_path: Path) -> None:
    rules = loaded(tmp_path, "def : Pat<(Add (either (Neg $x), $y)), (Add $x, $y)>;")
    for operands in ("%0, %arg1", "%arg1, %0"):
        lines = f'{_neg("%0", "%arg0")}\n%1 = "d.add"({operands}) {BINARY}\n{_use("%1")}'
        assert body(rules, lines).splitlines()[0] == f'%0 = "d.add"(%arg0, %arg1) {BINARY}'


def test_variadic_operands_one_by_one_and_as_a_whole(tmp_path: Path) -> None:
    rules = loaded(
        tmp_path,
        "def One : Pat<(Join (variadic $a)), (replaceWithValue $a)>;\n"
        "def Outer : Pat<(Join (variadic (Join $all))), (Join $all)>;\n"
        "def Three : Pat<(Join (variadic:$all (Neg $a), $b, $c)), (Join (variadic $c, $b, $a))>;",
    )
    pair = f'%0 = "d.join"(%arg0, %arg1) {BINARY}'
    assert body(rules, f'{pair}\n%1 = "d.join"(%0) {UNARY}\n{_use("%1")}') == f"{pair}\n{_use('%0')}"
    three = f'%1 = "d.join"(%0, %arg0, %arg1) : ({F}, {F}, {F}) -> {F}'
    assert body(rules, f"{_neg('%0', '%arg1')}\n{three}\n{_use('%1')}").splitlines()[0] == (
        f'%0 = "d.join"(%arg1, %arg0, %arg1) : ({F}, {F}, {F}) -> {F}'
    )


def test_several_results_and_results_by_number(tmp_path: Path) -> None:
    rules = loaded(
        tmp_path,
        "def : Pattern<(Split (Neg $x)), [(Neg (Split:$s__0 $x, (returnType $x, $x))), (Neg $s__1)]>;\n"
        "def : Pattern<(Split:$old (Note $x, $_)), [(replaceWithValue $x), (Neg:$n $x)]>;",
    )
    halves = f": ({F}) -> ({F}, {F})"
    lines = f'{_neg("%0", "%arg0")}\n%1:2 = "d.split"(%0) {halves}\n{_use("%1#0", "%1#1")}'
    assert body(rules, lines).splitlines() == [
        f'%0:2 = "d.split"(%arg0) {halves}',
        f'%1 = "d.neg"(%0#0) {UNARY}',
        f'%2 = "d.neg"(%0#1) {UNARY}',
        *_use("%1", "%2").splitlines(),
    ]
    lines = f'%0 = "d.note"(%arg0) {UNARY}\n%1:2 = "d.split"(%0) {halves}\n{_use("%1#0", "%1#1")}'
    assert body(rules, lines) == f"{_neg('%0', '%arg0')}\n{_use('%arg0', '%0')}"


def test_only_the_last_results_replace_and_others_are_made(tmp_path: Path) -> None:
    rules = loaded(
        tmp_path,
        'def : Pattern<(Note $x, ConstantAttr<StrAttr, "\\"log\\"">), '
        '[(Log $x, ConstantAttr<StrAttr, "\\"seen\\"">), (Neg $x)]>;',
    )
    assert body(rules, f'%0 = "d.note"(%arg0) {{text = "log"}} {UNARY}\n{_use("%0")}').splitlines() == [
        f'"d.log"(%arg0) <{{text = "seen"}}> : ({F}) -> ()',
        _neg("%0", "%arg0"),
        _use("%0"),
    ]


def test_operation_without_results_is_replaced(tmp_path: Path) -> None:
    rules = loaded(tmp_path, "def : Pat<(Log $x, $_), (Print $x)>;\ndef : Pattern<(Print (Neg $x)), [(Print $x)]>;")
    assert body(rules, f'{_neg("%0", "%arg0")}\n"d.log"(%0) {{text = "t"}} : ({F}) -> ()') == _use("%arg0")


def test_supplemental_patterns_are_made_after_the_results(tmp_path: Path) -> None:
    seen: list[tuple[str, str]] = []

    def note(old: Value, new: Value) -> None:
        assert isinstance(old.owner, Op)
        assert isinstance(new.owner, Op)
        seen.append((old.owner.name, new.owner.name))

    rules = loaded(
        tmp_path,
        'def Seen : NativeCodeCallVoid<"note($0, $1)">;\n'
        "def : Pattern<(Cast:$old (Neg $x)), [(Cast:$new $x)], [], [(Seen $old, $new), (Print $new)]>;",
        {"note": note},
    )
    lines = f'{_neg("%0", "%arg0")}\n%1 = "d.cast"(%0) {UNARY}\n{_use("%1")}'
    assert body(rules, lines) == f'%0 = "d.cast"(%arg0) {UNARY}\n{_use("%0", "%0")}'
    assert seen == [("d.cast", "d.cast")]


def test_locations_are_copied_named_and_fused(tmp_path: Path) -> None:
    rules = loaded(
        tmp_path,
        'def : Pat<(Neg (Neg:$inner $x)), (Note $x, ConstantAttr<StrAttr, "\\"a\\"">, (location $inner))>;\n'
        'def : Pat<(Neg (Cast $x)), (Note $x, ConstantAttr<StrAttr, "\\"b\\"">, (location "made"))>;\n'
        'def : Pat<(Neg:$outer (Split:$inner $x)), (Note $x, ConstantAttr<StrAttr, "\\"c\\"">, '
        '(location "both", $outer, $inner))>;',
    )
    text = f"""func.func @f(%a: {F}) {{
      %0 = "d.neg"(%a) {UNARY} loc("one")
      %1 = "d.neg"(%0) {UNARY} loc("two")
      %2 = "d.cast"(%a) {UNARY} loc("three")
      %3 = "d.neg"(%2) {UNARY} loc("four")
      %4:2 = "d.split"(%a) : ({F}) -> ({F}, {F}) loc("five")
      %5 = "d.neg"(%4#0) {UNARY} loc("six")
      "d.print"(%1) : ({F}) -> ()
      "d.print"(%3) : ({F}) -> ()
      "d.print"(%5) : ({F}) -> ()
      return }}"""
    optimized = optimize(parse_module(text, Dialects(rules.dialects)), passes=(), rules=rules.rewrites)
    result = [str(op.location) for op in optimized.walk() if op.name == "d.note"]
    assert result == ['loc("one")', 'loc("made")', 'loc(fused<"both">["six", "five"])']


@pytest.mark.slow
def test_types_of_results_are_stated(tmp_path: Path) -> None:
    rules = loaded(
        tmp_path,
        'def Wide : NativeCodeCall<"wide($0)">;\ndef : Pat<(Neg (Cast $x)), (Neg (Cast $x, (returnType $x)))>;\n',
        {"wide": lambda x: x.type},
    )
    lines = f'%0 = "d.cast"(%arg0) {UNARY}\n%1 = "d.neg"(%0) {UNARY}\n{_use("%1")}'
    # Applied without end: it makes what it matches.
    with pytest.raises(Exception, match="E0607"):
        body(rules, lines)
    rules = loaded(
        tmp_path,
        'def Same : NativeCodeCall<"same($0)">;\n'
        "def : Pat<(Note (Cast $x), $_), (Neg (Cast $x, (returnType (Same $x))))>;\n"
        'def Other : NativeCodeCall<"other($0)">;\n'
        "def : Pat<(Scale (Cast $x), $_), (Cast (Cast $x, (returnType (Other $x))))>;\n",
        {"same": lambda x: x.type, "other": lambda _: i32},
    )
    lines = f'%0 = "d.cast"(%arg0) {UNARY}\n%1 = "d.note"(%0) {UNARY}\n{_use("%1")}'
    assert body(rules, lines).splitlines()[:2] == [f'%0 = "d.cast"(%arg0) {UNARY}', f'%1 = "d.neg"(%0) {UNARY}']
    reports: list[RuleReport] = []
    lines = f'%0 = "d.cast"(%arg0) {UNARY}\n%1 = "d.scale"(%0) {{k = 1 : i32}} {UNARY}\n{_use("%1")}'
    body(rules, lines, reports=reports)
    assert [m.reason for r in reports for m in r.mismatches] == [
        "d.cast: result 'y': must be tensor of any type values, found i32"
    ]


CONDITIONS = [
    ('CPred<"$0 == $1">', "%arg0, %arg0", True),
    ('CPred<"$0 == $1">', "%arg0, %arg1", False),
    ('CPred<"$0 != $1">', "%arg0, %arg1", True),
    ('CPred<"$0.getType() == $1.getType()">', "%arg0, %arg1", True),
    ('CPred<"$0.getType() != $1.getType()">', "%arg0, %arg1", False),
    ('CombinedPred<PredCombinerNot, [CPred<"$0 == $1">]>', "%arg0, %arg1", True),
    ('And<[CPred<"$0 == $1">, CPred<"$0.use_empty()">]>', "%arg0, %arg0", False),
    ('Or<[CPred<"$0 == $1">, CPred<"$0->hasOneUse()">]>', "%arg0, %arg1", True),
    ('CPred<"llvm::isa<RankedTensorType>($0.getType())">', "%arg0, %arg1", True),
    ('CPred<"!llvm::cast<ShapedType>($0.getType()).hasStaticShape()">', "%arg0, %arg1", False),
    ('CPred<"llvm::cast<ShapedType>($1.getType()).getRank() == 1">', "%arg0, %arg1", True),
    ('CPred<"true">', "%arg0, %arg1", True),
]


@pytest.mark.slow
def test_condition_on_several_values(tmp_path: Path) -> None:
    numbered = list(enumerate(CONDITIONS))
    rules = loaded(
        tmp_path,
        "\n".join(
            f'def C{n} : Constraint<{constraint}, "fit">;\n'
            f'def R{n} : Pat<(Scale (Add $x, $y), ConstantAttr<I32Attr, "{n}">), (Neg $x), [(C{n} $x, $y)]>;'
            for n, (constraint, _, _) in numbered
        ),
    )
    for n, (constraint, operands, holds) in numbered:
        lines = f'%0 = "d.add"({operands}) {BINARY}\n%1 = "d.scale"(%0) {{k = {n} : i32}} {UNARY}\n{_use("%1")}'
        assert ("d.neg" in body(rules, lines)) is holds, constraint


def test_unused_value_is_a_known_condition(tmp_path: Path) -> None:
    rules = loaded(tmp_path, "def : Pattern<(Split:$s $x), [(Neg $x), (Neg $x)], [(HasNoUseOf:$s__1 $s__1)]>;")
    lines = f'%0:2 = "d.split"(%arg0) : ({F}) -> ({F}, {F})'
    assert "d.neg" in body(rules, f"{lines}\n{_use('%0#0')}")
    assert "d.neg" not in body(rules, f"{lines}\n{_use('%0#0', '%0#1')}")


def test_type_constraint_as_a_condition(tmp_path: Path) -> None:
    rules = loaded(tmp_path, "def : Pat<(Add $x, $y), (Neg $x), [(F32Tensor $y)]>;")
    assert "d.neg" in body(rules, f'%0 = "d.add"(%arg0, %arg1) {BINARY}\n{_use("%0")}')
    i8 = "tensor<4xi8>"
    lines = f'%0 = "d.add"(%arg0, %arg1) : ({i8}, {i8}) -> {i8}\n"d.print"(%0) : ({i8}) -> ()'
    assert body(rules, lines, type=i8) == lines


def test_native_calls_are_python_functions(tmp_path: Path) -> None:
    functions: Functions = {
        "sum": lambda a, b: a - b,
        "ByName": lambda k: k * 10,
        "$_builder.getI32IntegerAttr(7)": lambda: 7,
        "all": lambda first, *rest: first + sum(rest),
    }
    rules = loaded(
        tmp_path,
        'def Swapped : NativeCodeCall<"ns::sum($_builder, $1, $0)">;\n'
        'def ByName : NativeCodeCall<"whatever($0.getInt(), {})">;\n'
        'def All : NativeCodeCall<"all($0, $1...)">;\n'
        "def : Pat<(Scale (Scale $x, $k), $m), (Scale $x, (Swapped $k, $m))>;\n"
        "def : Pat<(Scale (Neg $x), $k), (Scale $x, (ByName $k))>;\n"
        'def : Pat<(Neg (Neg $x)), (Scale $x, (NativeCodeCall<"$_builder.getI32IntegerAttr(7)">))>;\n'
        "def : Pat<(Scale (Cast $x), $k), (Scale $x, (All $k, $k, $k))>;\n",
        functions,
    )
    scale = '"d.scale"({}) {{k = {} : i32}} ' + UNARY
    result = '%0 = "d.scale"(%arg0) <{{k = {} : i32}}> ' + UNARY
    for first, second, k in (
        (scale.format("%arg0", 3), scale.format("%0", 5), 2),
        (f'"d.neg"(%arg0) {UNARY}', scale.format("%0", 5), 50),
        (f'"d.neg"(%arg0) {UNARY}', f'"d.neg"(%0) {UNARY}', 7),
        (f'"d.cast"(%arg0) {UNARY}', scale.format("%0", 2), 6),
    ):
        assert body(rules, f"%0 = {first}\n%1 = {second}\n{_use('%1')}").splitlines()[0] == result.format(k)


def test_native_call_gives_values_by_number(tmp_path: Path) -> None:
    def both(x: Value, y: Value) -> tuple[Value, Value]:
        return y, x

    rules = loaded(
        tmp_path,
        'def Both : NativeCodeCall<"both($0, $1)", 2>;\n'
        "def : Pat<(Note (Add $x, $y), $_), (Add (Both:$b__0 $x, $y), $b__1)>;",
        {"both": both},
    )
    lines = f'%0 = "d.add"(%arg0, %arg1) {BINARY}\n%1 = "d.note"(%0) {UNARY}\n{_use("%1")}'
    assert body(rules, lines).splitlines()[0] == f'%0 = "d.add"(%arg1, %arg0) {BINARY}'


def test_native_call_in_a_source_matches_and_binds(tmp_path: Path) -> None:
    def negated(value: Value) -> Value | None:
        return value.owner.operands[0] if isinstance(value.owner, Op) and value.owner.name == "d.neg" else None

    rules = loaded(
        tmp_path,
        'def Negated : NativeCodeCall<"negated($_self, &$0)">;\n'
        'def Even : NativeCodeCall<"even($_self)">;\n'
        "def : Pat<(Add $x, (Negated F32Tensor:$y)), (Join (variadic $x, $y))>;\n"
        "def : Pat<(Scale $x, (Even)), (Neg $x)>;",
        {"negated": negated, "even": lambda k: k % 2 == 0},
    )
    lines = f'{_neg("%0", "%arg1")}\n%1 = "d.add"(%arg0, %0) {BINARY}\n%2 = "d.add"(%0, %arg0) {BINARY}'
    assert body(rules, f"{lines}\n{_use('%1', '%2')}").splitlines()[:3] == [
        _neg("%0", "%arg1"),
        f'%1 = "d.join"(%arg0, %arg1) {BINARY}',
        f'%2 = "d.add"(%0, %arg0) {BINARY}',
    ]
    scales = "\n".join([f'%{k} = "d.scale"(%arg0) {{k = {k} : i32}} {UNARY}' for k in (0, 1)])
    assert body(rules, f"{scales}\n{_use('%0', '%1')}").splitlines()[:2] == [
        _neg("%0", "%arg0"),
        f'%1 = "d.scale"(%arg0) <{{k = 1 : i32}}> {UNARY}',
    ]


@pytest.mark.slow
def test_constants_of_other_dialects_match_and_rules_apply_to_them(tmp_path: Path) -> None:
    rules = loaded(
        tmp_path,
        'include "mlir/Dialect/Arith/IR/ArithOps.td"\n'
        "def : Pat<(Arith_SubIOp $x, $x, $_), (Arith_MulIOp $x, $x, ConstantAttr<Arith_IntegerOverflowAttr, "
        '"::mlir::arith::IntegerOverflowFlags::nsw">)>;\n'
        'def : Pat<(Arith_AddIOp $x, (ConstantLikeMatcher ConstantAttr<I32Attr, "0">), $_), (replaceWithValue $x)>;',
    )
    assert [d.name for d in rules.dialects] == ["d"]
    lines = (
        "%c = arith.constant 0 : i32\n%d = arith.constant 1 : i32\n%0 = arith.addi %arg0, %c : i32\n"
        "%1 = arith.addi %0, %d : i32\n%2 = arith.subi %1, %1 : i32\n"
        '"d.use"(%2) : (i32) -> ()'
    )
    assert body(rules, lines, type="i32", inputs=1).splitlines()[-3:] == [
        "%0 = arith.addi %arg0, %c1_i32 : i32",
        "%1 = arith.muli %0, %0 overflow<nsw> : i32",
        '"d.use"(%1) : (i32) -> ()',
    ]


WRONG = [
    ("Pat<(Scale $x), (Neg $x)>", "E0604: d.scale has 2 arguments, 1 are given"),
    ("Pat<(Neg $x), (Scale $x)>", "E0604: d.scale has 2 arguments, 1 are given"),
    ("Pat<(Neg $x), (Neg $y)>", "E0604: $y is bound by nothing in its source"),
    ("Pat<(Neg $_), (Neg $_)>", "E0605: a result says what it is made of: `$_` stands for nothing"),
    ("Pat<(Split $x), (Neg $x)>", "E0605: 1 values cannot replace the 2 results of d.split"),
    ("Pat<(Split $x), (replaceWithValue $x)>", "E0605: 1 values cannot replace the 2 results of d.split"),
    ("Pattern<(Neg $x), []>", "E0605: 0 values cannot replace the 1 results of d.neg"),
    ("Pat<(Scale $x, $x), (Neg $x)>", "E0604: $x is bound more than once: to an operand, and to an attribute"),
    ("Pat<(Neg:$a (Neg:$a $x)), (Neg $x)>", "E0604: $a is bound more than once: to an operation, and to an operation"),
    ("Pat<(Neg:$a $x), (Neg:$a $x)>", "E0604: $a names something in the result, and is taken"),
    (
        "Pat<(Scale $x, F32Tensor:$k), (Neg $x)>",
        "E0604: 'k' is an attribute, and $k says what the type of a value must be",
    ),
    ('Pat<(Neg $x), (Note $x, "text")>', "E0604: 'text' of d.note cannot be \"text\""),
    ("Pat<(Neg $x), (replaceWithValue $x), [], [], (addBenefit $x)>", "E0604: 'addBenefit' takes one number"),
    ("Pat<(Neg $x), (Neg $x), [(AlwaysTrue $y)]>", "E0604: $y of a condition is bound by nothing in its source"),
    ("Pat<(Neg (replaceWithValue $x)), (Neg $x)>", "E0604: 'replaceWithValue' is not an operation"),
    ("Pat<(Neg I32Attr:$x), (Neg $x)>", "E0604: 'x' is an operand, and $x says what an attribute must be"),
    ("Pat<(Neg (variadic $x)), (Neg $x)>", "E0604: 'x' of d.neg is not variadic"),
]
"""Rules that mlir-tblgen refuses too."""

WRONG_HERE = [
    (
        'Pat<(Scale $x, ConstantAttr<I64Attr, "1">), (Neg $x)>',
        "E0604: attribute 'k' of d.scale: expected an integer of type i32, found 1 : i64",
    ),
    ("Pat<(Neg $x), (Neg (F2 $x))>", "E0604: f needs $1, and 1 arguments are given"),
    ("Pat<(Neg $x), (Nothing $x)>", "E0608: no function is registered for 'Nothing', \"nothing($0)\""),
    ("Pat<(Neg $x), (Neg $x), [(Odd $x)]>", 'E0608: the condition "(odd($0))" is not understood'),
    (
        "Pat<(Neg OddType:$x), (Neg $x)>",
        "E0608: the condition \"(odd($_self))\" of 'OddType' is C++ that is not understood",
    ),
    (
        'Pat<(Scale $x, ConstantAttr<I32Attr, "made()">), (Neg $x)>',
        "E0608: the constant 'made()' is C++ that is not understood",
    ),
    (
        'Pat<(Neg $x), (Neg (Cast $x, (returnType "made($_builder)")))>',
        'E0608: the type "made($_builder)" is C++ that is not understood',
    ),
]
"""Rules of which mlir-tblgen leaves it to a C++ compiler, or to running them, to find out what they lack."""

_CALLS = """
def F2 : NativeCodeCall<"f($0, $1)">;
def Nothing : NativeCodeCall<"nothing($0)">;
def Odd : Constraint<CPred<"odd($0)">, "odd">;
def OddType : TypeConstraint<CPred<"odd($_self)">, "odd">;
def AlwaysTrue : Constraint<CPred<"true">>;
"""


def test_rules_that_say_what_cannot_be_are_refused_all_at_once(tmp_path: Path) -> None:
    # On the last one mlir-tblgen ends with a fault of its own.
    either = ("Pat<(Add (either $x, $y, $z)), (Neg $x)>", "E0604: 'either' is of two operands of a source")
    rules = [*WRONG, *WRONG_HERE, either]
    text = "\n".join([f"def R{n} : {text};" for n, (text, _) in enumerate(rules)])
    result = [f.replace(f"rule R{n}: ", "") for n, f in enumerate(faults(tmp_path, _CALLS + text, {"f": lambda x: x}))]
    assert result == [message for _, message in rules]


@pytest.mark.parametrize("text", [text for text, _ in WRONG])
def test_rules_that_are_refused_here_are_refused_by_mlir_tblgen(tmp_path: Path, text: str) -> None:
    assert "error" in generated(tmp_path, f"{_CALLS}\ndef R : {text};")[1]


def test_rules_that_only_running_refutes_pass_mlir_tblgen(tmp_path: Path) -> None:
    text = "\n".join([f"def R{n} : {text};" for n, (text, _) in enumerate(WRONG_HERE)])
    assert generated(tmp_path, _CALLS + text)[1] == ""


def test_constraints_in_c_are_registered_functions(tmp_path: Path) -> None:
    rules = loaded(
        tmp_path,
        'def Small : TypeConstraint<CPred<"small($_self)">, "small">;\n'
        'def Odd : AttrConstraint<CPred<"odd($_self)">, "odd">;\n'
        'def Less : Constraint<CPred<"less($0, $1)">, "in order">;\n'
        "def : Pat<(Neg Small:$x), (replaceWithValue $x)>;\n"
        "def : Pat<(Scale $x, Odd:$k), (replaceWithValue $x)>;\n"
        "def : Pat<(Scale (Scale $x, $k), $m), (replaceWithValue $x), [(Less $k, $m)]>;\n",
        {"Small": lambda t: str(t) == F, "Odd": lambda k: k % 2 == 1, "Less": lambda a, b: a < b},
    )
    scales = f'%0 = "d.scale"(%arg0) {{k = 4 : i32}} {UNARY}\n%1 = "d.scale"(%0) {{k = 6 : i32}} {UNARY}'
    assert body(rules, f"{_neg('%3', '%arg1')}\n{scales}\n{_use('%3', '%1')}") == _use("%arg1", "%arg0")


@pytest.mark.slow
def test_benefit_then_names_decide_as_in_mlir(tmp_path: Path) -> None:
    """Rules without names come after those with names, in their order, which is that of mlir-tblgen."""
    result = [("def", 3), ("def", 2), ("def Late", 1), ("def Early", 4)]
    text = "\n".join([f'{head} : Pat<(Neg $x), (Scale $x, ConstantAttr<I32Attr, "{k}">)>;' for head, k in result])
    rules = loaded(tmp_path, text)
    assert all(r.precedence is Precedence.ORDER for r in rules.rewrites)
    ours = [r.results[0].fields["k"].value for r in rules.rewrites]  # pyright: ignore[reportAttributeAccessIssue]
    code, _ = generated(tmp_path, text)
    theirs = [int(part.split(")")[0]) for part in code.split("IntegerAttr(odsBuilder.getIntegerType(32), ")[1:]]
    theirs = theirs or [
        int(p.split(")")[0]) for p in code.split("rewriter.getIntegerAttr(rewriter.getIntegerType(32), ")[1:]
    ]
    assert ours == theirs == [4, 1, 3, 2]
    text += '\ndef Urgent : Pat<(Neg $x), (Scale $x, ConstantAttr<I32Attr, "9">), [], [], (addBenefit 1)>;'
    text += "\ndef Nested : Pat<(Neg (Neg $x)), (replaceWithValue $x)>;"
    first = body(loaded(tmp_path, text), f"{_neg('%0', '%arg0')}\n{_use('%0')}")
    assert "k = 9" in first


@pytest.mark.slow
def test_ambiguous_rules_of_todays_form_are_refused_on_request(tmp_path: Path) -> None:
    text = "def One : Pat<(Add $x, $y), (Neg $x)>;\ndef Two : Pat<(Add $a, $b), (Neg $b)>;"
    assert faults(tmp_path, text) == []
    assert faults(tmp_path, text, is_unambiguous=True) == [
        "E0606: rules One and Two match the same operations and are equally discriminating"
    ]


def test_a_name_that_tablegen_does_not_know_is_the_only_fault(tmp_path: Path) -> None:
    diagnostics = faults(tmp_path, "def One : Pat<(Scale $x), (Neg $x)>;\ndef Two : Pat<(Neg $x), (Nag $x)>;")
    assert len(diagnostics) == 1


def test_all_faults_of_a_file_are_reported_with_their_lines(tmp_path: Path) -> None:
    diagnostics = faults(tmp_path, "def One : Pat<(Scale $x), (Neg $x)>;\ndef Two : Pat<(Neg $x), (Scale $x)>;")
    assert [f.partition(": ")[2][:9] for f in diagnostics] == ["rule One:", "rule Two:"]


def test_result_of_another_type_is_not_put_in_place(tmp_path: Path) -> None:
    rules = loaded(tmp_path, "def R : Pat<(Cast $x), (replaceWithValue $x)>;")
    reports: list[RuleReport] = []
    lines = f'%0 = "d.cast"(%arg0) : ({F}) -> tensor<?xf32>\n"d.print"(%0) : (tensor<?xf32>) -> ()'
    assert body(rules, lines, reports=reports) == lines
    (report,) = reports
    assert [(m.reason, m.count, m.where) for m in report.mismatches] == [
        (f"a value of type {F} cannot replace a result of type tensor<?xf32>", 1, "f.operations[0] d.cast")
    ]


def test_refused_match_leaves_no_uses_behind(tmp_path: Path) -> None:
    rules = loaded(tmp_path, "def R : Pat<(Cast (Neg:$n $x)), (Neg (Neg $n))>;")
    lines = f'{_neg("%0", "%arg0")}\n%1 = "d.cast"(%0) : ({F}) -> tensor<?xf32>'
    # Were operations left that use it, `d.neg` could not be removed with the unused cast.
    assert body(rules, lines) == ""


def test_rules_name_operations_that_another_file_has_defined(tmp_path: Path) -> None:
    path = tmp_path / "rules.td"
    path.write_text("""
        def Neg : Op<"d.neg", [NoSideEffect]>, Arguments<(ins AnyTensor:$x)>, Results<[AnyTensor]>;
        def Print : Op<"d.print", []>, Arguments<(ins AnyTensor:$x)>, Results<[]>;
        def TwiceNegated : Pat<(Neg (Neg $x)), (replaceWithValue $x)>;
    """)
    rules = load_rules(path, dialects=load_rules(path).dialects)
    assert body(rules, f"{_neg('%0', '%arg0')}\n{_neg('%1', '%0')}\n{_use('%1')}") == _use("%arg0")
