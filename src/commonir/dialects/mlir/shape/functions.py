"""Functions of the shape dialect, and libraries of shape functions for operations.

Source: MLIR shape dialect; messages as of MLIR 22.
"""

from __future__ import annotations

from collections.abc import Iterator

from commonir.base.codes import MALFORMED_REGION
from commonir.base.diagnostics import Diagnostic
from commonir.dialects.mlir.function_operations import FunctionOp, Visibility
from commonir.dialects.mlir.shape.base import ShapeOp
from commonir.ir.attributes import DictionaryAttr
from commonir.ir.module import Symbol
from commonir.ir.operation import Block, Region, Value
from commonir.ods import attr_types, attribute, operand, region, traits
from commonir.ods.text_form import FormReader, FormTask, FormWriter
from commonir.ods.traits import has_parent
from commonir.ods.type_constraints import AnyType


class Func(FunctionOp, name="shape.func"):
    """A shape function; a declaration if it has no body."""

    default_dialect = "shape"


class Return(
    ShapeOp,
    name="shape.return",
    traits=(traits.Pure, traits.Terminator, has_parent("shape.func")),
    assembly="attr-dict ($operands^ `:` type($operands))?",
):
    """Returns values from a shape function."""

    operands_: tuple[Value, ...] = operand(AnyType, variadic=True)


class _LibraryForm:
    """`@name attributes {..} { functions } mapping { operation = @function }`."""

    def read(self, reader: FormReader) -> FormTask:
        name = reader.symbol()
        attributes = reader.dictionary("attributes")
        body = yield reader.region()
        if not body.blocks:
            body.add(Block())
        reader.expect("mapping")
        mapping = DictionaryAttr(tuple(reader.dictionary().items()))
        return reader.make({"sym_name": name, "mapping": mapping, "body": body}, (), attributes)

    def write(self, writer: FormWriter) -> None:
        op = writer.op
        if not isinstance(op, FunctionLibrary):
            writer.refuse()
        hidden = ("sym_name", "sym_visibility", "mapping")
        writer.write(f" {writer.symbol(op.sym_name)}{writer.dictionary(hidden, 'attributes')} ")
        writer.region(op.body, arguments=False)
        writer.write(f" mapping {writer.entries(dict(op.mapping.entries))}")


class FunctionLibrary(
    ShapeOp,
    Symbol,
    name="shape.function_library",
    traits=(traits.IsolatedFromAbove, traits.SymbolTable, traits.SymbolTrait, traits.SingleBlock),
):
    """A library of shape functions, with the operations whose result shapes they compute. C1: the region has one block
    without arguments.
    """

    custom_form = _LibraryForm()
    ends_blocks = False
    default_dialect = "shape"

    sym_name: str = attribute(attr_types.symbol_name)
    mapping: DictionaryAttr = attribute(attr_types.dictionary)
    body: Region = region(doc="the functions")
    sym_visibility: Visibility | None = attribute(attr_types.enumeration(Visibility), default=None)

    @property
    def symbol_name(self) -> str:
        return self.sym_name

    def verify(self) -> Iterator[Diagnostic]:
        if len(self.body.blocks) != 1:
            message = "C1: Operations with a 'SymbolTable' must have exactly one block"
            yield Diagnostic(MALFORMED_REGION, f"{self.name}: {message}")
        elif self.body.block.arguments:
            yield Diagnostic(MALFORMED_REGION, f"{self.name}: C1: region should have no arguments")
