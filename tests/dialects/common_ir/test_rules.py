"""Every rule of the Common IR that a program can break, broken once; the test is named after the rule."""

from __future__ import annotations

import pytest

from commonir.base.diagnostics import Diagnostic
from commonir.dialects.common_ir.rules import RULES, THIS_TOOL, Checked, Level
from commonir.ods import Dialects, verify
from commonir.text.parser import parse_module

BY_LABEL = {rule.label: rule for rule in RULES}

PROGRAM = """
module attributes {onnx.domain = "com.example", onnx.ir_version = 3, onnx.model_version = 1,
    onnx.doc_string = "A *model*."} {
  "common_ir.import"() <{uri = "commonir:core"}> : () -> ()
  "common_ir.import"() <{uri = "libraries/nn.cir"}> : () -> ()
  "common_ir.library"() <{sym_name = "com.example.nn", identifier = "nn", domain = "com.example", ir_version = 3,
      model_version = 2}> ({
    "common_ir.operator"() <{sym_name = "Scale", signatures = [
        {inputs = [{name = "x", type = "f32[n, m]"}], outputs = [{name = "y", type = "f32[n, m]"}],
         attributes = [{name = "alpha", type = "f32[]"}]}]}> {onnx.doc_string = "Scales."} : () -> ()
    "common_ir.function"() <{sym_name = "Twice"}> ({
    ^bb0(%x: tensor<"n"xf32>):
      %y = "core.add"(%x, %x) : (tensor<"n"xf32>, tensor<"n"xf32>) -> tensor<"n"xf32> loc("add")
      "onnx.return"(%y) : (tensor<"n"xf32>) -> ()
    }) : () -> ()
  }) {onnx.doc_string = "Operators for networks."} : () -> ()
  "common_ir.graph"() <{sym_name = "main", opset_import = {}}> ({
  ^bb0(%a: tensor<2x4xf32>):
    %b = "common_ir.op.com.example.nn.Scale"(%a) <{alpha = 2.0}> : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("scale")
    %c = "core.add"(%b, %b) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("sum")
    "onnx.return"(%c) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
}
"""
SIGNATURE = "(tensor<2x4xf32>) -> tensor<2x4xf32>"
SCALE = f'    %b = "common_ir.op.com.example.nn.Scale"(%a) <{{alpha = 2.0}}> : {SIGNATURE} loc("scale")\n'
CUSTOM = (
    '    %b = "onnx.custom"(%a) <{op_type = "Scale", domain = "com.example.nn"}> '
    f"{{common_ir.input_arg_count = array<i64: 1, 0>}} : {SIGNATURE}\n"
)
SUM = '    %c = "core.add"(%b, %b) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("sum")\n'
TWICE = '%y = "core.add"(%x, %x) : (tensor<"n"xf32>, tensor<"n"xf32>) -> tensor<"n"xf32> loc("add")'
RETURN = '"onnx.return"(%y) : (tensor<"n"xf32>) -> ()'
OPERANDS = 'inputs = [{name = "x", type = "f32[n, m]"}]'

# For each rule what is put in the place of what, and a part of the message that the finding must have.
CASES: dict[str, tuple[list[tuple[str, str]], str]] = {
    "CIR1": (
        [(SCALE, SCALE.replace("(%a)", "(%c)"))],
        "nodes need each other in a cycle: 'scale' -> 'sum' -> 'scale'",
    ),
    "CIR2": (
        [(SCALE, SCALE + '    "ml_program.global_store"(%b) <{global = @g}> : (tensor<2x4xf32>) -> ()\n')],
        "no output",
    ),
    "CIR4": ([('sym_name = "main"', 'sym_name = ""')], "there is no name"),
    "CIR5": ([('onnx.domain = "com.example", ', "")], "there is no domain"),
    "CIR6": ([('onnx.domain = "com.example"', 'onnx.domain = "example.com"')], "'example.com' is not a reversed"),
    "CIR7": (
        [("^bb0(%a: tensor<2x4xf32>)", "^bb0(%a: tensor<2x4xf32>, %u: !builtin.unknown)")],
        "input 'u' has no type",
    ),
    "CIR8": (
        [
            (SUM, SUM + '    %d = "onnx.custom"(%b) <{op_type = "F"}> : (tensor<2x4xf32>) -> !builtin.unknown\n'),
            ('return"(%c) : (tensor<2x4xf32>)', 'return"(%c, %d) : (tensor<2x4xf32>, !builtin.unknown)'),
        ],
        "output 'd' has no type",
    ),
    "CIR9": ([(',\n    onnx.doc_string = "A *model*."', "")], "there is no documentation string"),
    "CIR10": ([("A *model*.", "A <b>model</b>.")], "markup that is not Markdown: '<b>'"),
    "CIR11": ([('onnx.domain = "com.example"', 'onnx.domain = "com..ex ample"')], "not a valid DNS name"),
    "CIR12": ([("onnx.ir_version = 3, ", "")], "ir_version is not stated"),
    "CIR13": ([("onnx.model_version = 1,", "")], "model_version is not stated"),
    "CIR14": ([('loc("sum")', 'loc("b")')], "'b' is the name of a node output and a node"),
    "CIR15": ([('sym_name = "Twice"', 'sym_name = "Scale"')], "'Scale' is the name of a function and an operator"),
    "CIR16": ([('loc("sum")', 'loc("/layer/sum")')], "'/layer/sum' is not a C identifier"),
    "CIR17": (
        [
            (
                '    ^bb0(%x: tensor<"n"xf32>):\n      ' + TWICE,
                '    ^bb0():\n      %y = "onnx.custom"() <{op_type = "Scale"}> : () -> tensor<"n"xf32>',
            )
        ],
        "function 'Twice' has no input",
    ),
    "CIR18": ([(RETURN, '"onnx.return"() : () -> ()')], "'Twice' has no output"),
    "CIR19": (
        [('^bb0(%x: tensor<"n"xf32>)', '^bb0(%x: tensor<"n"xf32>, %u: !builtin.unknown)')],
        "parameter 'u' has no type",
    ),
    "CIR21": ([('return"(%c)', 'return"(%a)')], "the output 'a' is an input of the graph"),
    "CIR23": (
        [
            (
                SCALE,
                CUSTOM,
            )
        ],
        "has 1 parameters, found 2 counts",
    ),
    "CIR24": (
        [
            ('-> tensor<2x4xf32> loc("sum")', '-> tensor<2x4xf32> loc("sum")'),
            ('"core.add"(%b, %b) :', '"core.add"(%b, %b) {common_ir.control_input = ["scole"]} :'),
        ],
        "the control input 'scole' names no node",
    ),
    "CIR25": ([(SCALE + SUM, SUM + SCALE)], "it reads what node[1] 'scale' makes, which follows it"),
    "CIR26": (
        [
            ("<{alpha = 2.0}> :", '<{alpha = 2.0}> {common_ir.control_input = ["late"]} :'),
            (SUM, SUM + SUM.replace("%c", "%d").replace("(%b, %b)", "(%a, %a)").replace("sum", "late")),
        ],
        "its control input 'late' follows it",
    ),
    "CIR28": ([('uri = "libraries/nn.cir"', 'uri = "/etc/nn.cir"')], "neither an absolute URI nor a relative path"),
    "CIR30": ([('"common_ir.import"() <{uri = "commonir:core"}> : () -> ()', "")], "whose library is not imported"),
    "CIR31": (
        [
            (OPERANDS, 'inputs = [{name = "x", type = "any"}, {name = "z", type = "f32[n, m]"}]'),
            (SCALE, '    %b = "core.neg"(%a) : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("scale")\n'),
        ],
        "the type may be any",
    ),
    "CIR32": ([(OPERANDS, 'inputs = [{name = "x", type = "f32"}]')], "the type f32 states no shape"),
    "CIR33": ([('name = "alpha", type = "f32[]"', 'name = "alpha", type = "any"')], "the attribute may be anything"),
    "CIR34": (
        [
            (OPERANDS, 'inputs = [{name = "x", type = "f32[n, m]"}, {name = "z", type = "map<i64, list<f32[]>>"}]'),
            (SCALE, '    %b = "core.neg"(%a) : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("scale")\n'),
        ],
        "the type is map<i64, list<f32[]>>",
    ),
    "CIR36": (
        [
            (OPERANDS, 'inputs = [{name = "x", type = "f32[n, n*]"}]'),
            (SCALE, '    %b = "core.neg"(%a) : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("scale")\n'),
        ],
        "'n' stands for one dimension and, as 'n*', for any number of them",
    ),
    "CIR37": (
        [
            (OPERANDS, 'inputs = [{name = "x", type = "f32[m*, n*]"}]'),
            (SCALE, '    %b = "core.neg"(%a) : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("scale")\n'),
        ],
        "at most one wildcard",
    ),
    "CIR38": (
        [
            (PROGRAM[PROGRAM.index("signatures = [") : PROGRAM.index("]}]}>") + 5], "signatures = []}>"),
            (SCALE, '    %b = "core.neg"(%a) : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("scale")\n'),
        ],
        "operator 'Scale' has no signature",
    ),
    "CIR39": (
        [(TWICE, '%y = "common_ir.call"(%x) <{function = "Twice"}> : (tensor<"n"xf32>) -> tensor<"n"xf32> loc("add")')],
        "function 'Twice' calls itself: Twice -> Twice",
    ),
    "CIR40": (
        [("<{alpha = 2.0}> :", '<{alpha = 2.0}> {common_ir.control_input = ["sum"]} :')],
        "control inputs form a cycle",
    ),
    "CIR41": (
        [(TWICE, TWICE.replace('-> tensor<"n"xf32>', "-> tensor<2xf32>")), (RETURN, RETURN.replace('"n"', "2"))],
        "'y' is declared tensor<2xf32>, and the node gives tensor<\"n\"xf32>: nothing declares that n and 2 are equal",
    ),
}


def _findings(text: str) -> list[Diagnostic]:
    dialects = Dialects()
    return verify(parse_module(text, dialects), dialects)


def test_the_program_that_the_cases_change_breaks_no_rule() -> None:
    assert [str(d) for d in _findings(PROGRAM)] == []


@pytest.mark.parametrize("label", CASES)
def test_breaking(label: str) -> None:
    changes, message = CASES[label]
    text = PROGRAM
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    diagnostics = [d for d in _findings(text) if d.message.startswith(f"{label}: ")]
    assert diagnostics
    assert message in diagnostics[0].message
    assert diagnostics[0].where
    assert diagnostics[0].help
    assert diagnostics[0].is_error is (BY_LABEL[label].level is Level.MUST)


def test_every_rule_that_a_program_shows_has_a_case() -> None:
    # CIR20 has its case among those of files: a text that names an undefined value is not a program.
    shown = [r.label for r in RULES if r.checked is Checked.PROGRAM and r.label != "CIR20"]
    assert [label for label in shown if label not in CASES] == []


def test_rules_are_numbered_in_order_and_say_what_to_do() -> None:
    assert [r.number for r in RULES] == list(range(1, len(RULES) + 1))
    assert all(r.text and r.remedy and r.source for r in RULES)
    assert [r.source == THIS_TOOL for r in RULES] == sorted(r.source == THIS_TOOL for r in RULES)


GRAPH_END = '    "onnx.return"(%c) : (tensor<2x4xf32>) -> ()\n  }) : () -> ()\n}'
KEPT = '{onnx.type_forms = {"input a" = {doc_string = "An <b>input</b>."}}}'


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("<{alpha = 2.0}> :", '<{alpha = 2.0}> {onnx.doc_string = "A <b>node</b>."} :', "node 'scale'"),
        (TWICE, TWICE.replace("(%x, %x) :", '(%x, %x) {onnx.doc_string = "A <i>sum</i>."} :'), "node 'add'"),
        (GRAPH_END, GRAPH_END.replace("}) : () -> ()", f"}}) {KEPT} : () -> ()"), "input a"),
    ],
)
def test_documentation_of_nodes_and_values_has_no_markup_either(old: str, new: str, place: str) -> None:
    assert old in PROGRAM
    diagnostics = [d for d in _findings(PROGRAM.replace(old, new)) if d.message.startswith("CIR10: ")]
    assert [d.where.endswith(place) for d in diagnostics] == [True]
