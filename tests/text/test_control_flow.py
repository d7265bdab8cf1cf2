"""Blocks that name each other, and properties of operations that no dialect defines."""

from __future__ import annotations

from commonir.ir import Module, UnregisteredOperation, clone
from commonir.ir.equality import first_difference
from commonir.ods import Dialects
from commonir.text.parser import parse_module
from commonir.text.printer import print_module

LOOP = """\
"x.f"() ({
^entry(%n: i32):
  "x.br"(%n)[^head] : (i32) -> ()
^head(%i: i32):
  "x.cond"(%i)[^head, ^exit] : (i32) -> ()
^exit:
  "x.end"() : () -> ()
}) : () -> ()
"""


def _parsed(text: str) -> Module:
    return parse_module(text, Dialects())


def test_successor_may_be_named_before_its_block_is_defined() -> None:
    holder = _parsed(LOOP).body.first
    assert holder is not None
    entry, head, end = holder.regions[0].blocks
    assert (entry.successors, head.successors, end.successors) == ((head,), (head, end), ())
    assert holder.regions[0].predecessors() == {entry: [], head: [entry, head], end: [head]}


def test_successors_are_those_of_the_copy() -> None:
    module = _parsed(LOOP)
    copy = clone(module)
    holder = copy.body.first
    assert holder is not None
    blocks = holder.regions[0].blocks
    assert blocks[1].successors == (blocks[1], blocks[2])
    assert first_difference(module, copy) is None


def test_programs_with_other_successors_differ() -> None:
    other = LOOP.replace("[^head, ^exit]", "[^exit, ^head]")
    assert first_difference(_parsed(LOOP), _parsed(other)) == "x.cond: other successors"


def test_text_of_successors_reads_back() -> None:
    module = _parsed(LOOP)
    text = print_module(module, generic=True)
    assert '"x.cond"(%i)[^head, ^exit] : (i32) -> ()' in text
    assert first_difference(_parsed(text), module) is None


def test_properties_of_an_unknown_operation_stay_apart_from_its_other_attributes() -> None:
    op = _parsed('"x.a"() <{a = 1 : i32}> {b = 2 : i32} : () -> ()').body.first
    assert isinstance(op, UnregisteredOperation)
    assert (list(op.properties), list(op.extra), list(op.attribute_dictionary)) == (["a"], ["b"], ["a", "b"])
    assert str(op) == '"x.a"() <{a = 1 : i32}> {b = 2 : i32} : () -> ()'
    assert str(clone(op)) == str(op)
