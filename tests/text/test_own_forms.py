"""Attributes and types of dialects where nothing says which: those that MLIR has are read, others refused, as mlir-opt
does, and those of unknown dialects stay as they are.
"""

from __future__ import annotations

import pytest

from commonir.formats.mlir.checking import check_piece
from commonir.ods import Dialects
from commonir.ods.own_forms import OwnForms
from commonir.text.pieces import Piece
from commonir.text.printer import print_module

from tests.mlir_programs import comparison, oracle
from tests.mlir_programs.comparison import FORMS

_RIGHT = """
#arith.fastmath<nnan, ninf>
#arith.fastmath<ninf,nnan>
#arith.fastmath<reassoc,nnan,ninf,nsz,arcp,contract,afn>
#arith.fastmath<none,nnan>
#arith.fastmath<"nnan">
#arith.fastmath<none> : f32
#arith<fastmath<nnan>>
#arith< fastmath < nnan > >
#arith.overflow<nuw,nsw>
#tosa.nan_mode<"IGNORE">
#tosa<rounding_mode<SINGLE_ROUND>>
#tosa.block_size<BLOCK_SIZE_32>
#tosa.pad_quant<input_zp = 3>
#linalg.iterator_type<parallel>
#linalg.type_fn<cast_signed>
#linalg.unary_fn<exp>
#linalg.elementwise_kind<add>
#index<cmp_predicate  slt >
#ub.poison
#ub.poison<>
#ub.poison<1>
#ub<poison>
#ml_program.extern : i32
#foo.bar<baz> : i32
#foo<bar<>>
!shape.shape<>
!shape.shape<1>
!shape<witness>
!tosa.shape<2>
!tosa.mxint8
!ml_program<token>
!foo.bar<baz>
tensor<2x!shape.size>
"""
_WRONG = """
#arith.fastmath<foo>
#arith.fastmath<nnan, foo>
#arith.fastmath<>
#arith.fastmath
#arith.overflow<nsw nuw>
#arith.foo<1>
#arith.foo
#arith<"x">
#arith<foo>
#arith.rounding_mode<to_nearest_even>
#tosa.foo
#tosa.nan_mode<ignore>
#tosa.nan_mode
#tosa.nan_mode<>
#tosa<nan_mode IGNORE>
#linalg.iterator_type<window>
#linalg.foo
#index<cmp_predicate foo>
#index<foo slt>
#index.cmp_predicate<slt>
#index.cmp_predicate
#ub.foo
#complex.foo
#ml_program.foo
#tensor.foo
#func.foo<1>
#math.foo
#scf.foo
#cf.foo
#shape.foo
#dlti.foo
#quant.foo
#builtin.foo
!shape.foo
!tosa.foo
!arith.foo
!arith<foo>
!tensor.foo
!linalg.foo
!scf.foo<3>
!complex.foo
!ml_program.foo
!builtin.foo
!dlti.foo
tensor<2x!shape.foo>
"""


def _holding(text: str) -> str:
    return f'"test.x"() {{a = [{text}]}} : () -> ()\n'


@pytest.mark.parametrize("text", _RIGHT.split("\n")[1:-1])
def test_what_a_dialect_has_is_printed_as_mlir_opt_prints_it(text: str) -> None:
    assert oracle.ask([_holding(text)])[0].text is not None
    assert [d for form in FORMS for d in comparison.differences([_holding(text)], form)] == []


@pytest.mark.parametrize("text", _WRONG.split("\n")[1:-1])
def test_what_a_dialect_does_not_have_is_refused_where_mlir_opt_refuses_it(text: str) -> None:
    _, diagnostics = check_piece(Piece(_holding(text), 0), "<stdin>", oracle.DIALECTS)
    assert [(d.line, d.column) for d in diagnostics if d.is_error] == [oracle.first_place(_holding(text))]


def test_what_a_word_may_be_is_reported() -> None:
    _, diagnostics = check_piece(Piece(_holding("#tosa.nan_mode<ignore>"), 0), "x", oracle.DIALECTS)
    assert [d.message for d in diagnostics] == ["expected nan_mode to be one of PROPAGATE, IGNORE, found 'ignore'"]
    _, diagnostics = check_piece(Piece(_holding("!shape.witnes"), 0), "x", oracle.DIALECTS)
    assert [(d.message, d.help) for d in diagnostics] == [("unknown type '!shape.witnes'", "did you mean 'witness'?")]


@pytest.mark.parametrize(
    "type", ["memref<4xf32, #hal.descriptor_type<storage_buffer>>", "memref<4x!krnl.string>", "memref<*xf32, #a.b>"]
)
def test_memory_may_be_that_of_a_dialect_that_is_not_known(type: str) -> None:
    text = f"func.func private @f({type})\n"
    module, diagnostics = check_piece(Piece(text, 0), "x", Dialects(allows_unregistered=True))
    assert diagnostics == []
    assert module is not None
    assert type in print_module(module)


def test_all_that_fields_hold_as_attributes_of_their_dialect_is_said_of_it() -> None:
    missing: list[str] = []
    for dialect in Dialects(discover=False).working():
        own = dialect.own
        definitions = [d for versions in dialect.operations.values() for d in versions] if own else []
        for field in [f for d in definitions for f in d.layout.attributes]:
            form = None if field.type is None else field.type.form
            at_home = form is not None and form.dialect == dialect.name
            if isinstance(own, OwnForms) and form is not None and at_home and form.mnemonic not in own.attributes:
                missing.append(f"{dialect.name}.{form.mnemonic}")
    assert missing == []
