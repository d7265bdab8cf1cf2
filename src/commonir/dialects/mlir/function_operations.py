"""Base classes of functions and of the operations that return from them, for any dialect.

Source: MLIR, interface of function operations; messages as of MLIR 22.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, ClassVar

from commonir.base.codes import MALFORMED_REGION, WRONG_ATTRIBUTE, WRONG_TYPE
from commonir.base.diagnostics import Diagnostic
from commonir.ir.attributes import DictionaryAttr
from commonir.ir.module import Function, NamedValues, distinct_names
from commonir.ir.operation import Block, Region, Value
from commonir.ir.types import FunctionType, Type
from commonir.ods import Op, any_type, attr_types, attribute, operand, region
from commonir.ods.fields import MISSING
from commonir.ods.traits import IsolatedFromAbove, Pure, SymbolTrait, Terminator
from commonir.ods.verify import not_ended

if TYPE_CHECKING:
    from commonir.ir.interface import Port


class Visibility(Enum):
    """Visibility of a symbol."""

    PUBLIC = "public"
    PRIVATE = "private"
    NESTED = "nested"


class FunctionOp(
    Op,
    Function,
    traits=(IsolatedFromAbove, SymbolTrait),
    assembly="custom<FunctionSignature>($sym_visibility, $sym_name, $function_type, $arg_attrs, $res_attrs)"
    " attr-dict-with-keyword ($body_region^)?",
):
    """Base of operations that are functions. The names of its inputs are those of the arguments of its first block."""

    sym_name: str = attribute(attr_types.symbol_name, doc="the name it is called by")
    function_type: FunctionType = attribute(attr_types.function_type, doc="what it receives and returns")
    body_region: Region = region(doc="what runs; without blocks it is a declaration")
    result_names: tuple[str, ...] = attribute(
        attr_types.strings, default=(), doc="names of the results, for those who call it"
    )
    sym_visibility: Visibility | None = attribute(
        attr_types.enumeration(Visibility), default=None, doc="public when absent"
    )
    arg_attrs: tuple[DictionaryAttr, ...] | None = attribute(
        attr_types.dictionaries, default=None, doc="one for each input"
    )
    res_attrs: tuple[DictionaryAttr, ...] | None = attribute(
        attr_types.dictionaries, default=None, doc="one for each result"
    )

    @property
    def has_signature(self) -> bool:
        """Returns whether it states what it receives and returns: a reader may have found nothing."""
        return self.stored_attributes["function_type"] is not MISSING

    @property
    def symbol_name(self) -> str:
        return self.sym_name

    @property
    def is_declaration(self) -> bool:
        """Returns whether it has no body."""
        return not self.body_region.blocks

    @property
    def body(self) -> Block:
        return self.body_region.blocks[0]

    @property
    def inputs(self) -> NamedValues:
        return NamedValues(() if self.is_declaration else self.body.arguments)

    @property
    def outputs(self) -> NamedValues:
        last = None if self.is_declaration else self.body_region.blocks[-1].last
        return NamedValues(() if last is None else last.operands, lambda: self.output_names)

    @property
    def output_names(self) -> tuple[str, ...]:
        return self.result_names or tuple([name for name, _ in self.named_output_types])

    @property
    def named_output_types(self) -> Sequence[tuple[str, Type]]:
        last = None if self.is_declaration else self.body_region.blocks[-1].last
        values = () if last is None else last.operands
        names = self.result_names or distinct_names([v.name for v in values], "result")
        return [(name, v.type) for name, v in zip(names, values, strict=False)]

    @property
    def input_ports(self) -> Mapping[str, Port]:
        from commonir.ir.interface import named_ports  # noqa: PLC0415  few programs are asked for their ports

        return named_ports([v.name for v in self.inputs], self.arg_attrs)

    @property
    def output_ports(self) -> Mapping[str, Port]:
        from commonir.ir.interface import named_ports  # noqa: PLC0415  as above

        # Finding the names may take long.
        return named_ports(self.output_names, self.res_attrs) if self.res_attrs else {}

    def infer(self) -> tuple[Type, ...]:
        return ()

    def verify(self) -> Iterator[Diagnostic]:
        inputs, results = self.function_type.inputs, self.function_type.results
        yield from self._check_count("function result names", self.result_names or None, len(results))
        for what, given, expected in (("argument", self.arg_attrs, inputs), ("result", self.res_attrs, results)):
            yield from self._check_count(f"{what} attribute", given, len(expected))
            if any("." not in name for entry in given or () for name, _ in entry.entries):
                yield Diagnostic(WRONG_ATTRIBUTE, f"{self.name}: {what}s may only have dialect attributes")
        if not self.is_declaration:
            yield from self._check_body(inputs)
        elif self.sym_visibility in (None, Visibility.PUBLIC):
            yield Diagnostic(WRONG_ATTRIBUTE, f"{self.name}: symbol declaration cannot have public visibility")

    def _check_count(self, what: str, items: Sequence[object] | None, expected: int) -> Iterator[Diagnostic]:
        if items is not None and len(items) != expected:
            of = "results" if what.startswith(("result", "function result")) else "arguments"
            message = f"{self.name}: expects {what} array to have as many elements as the function has {of}, "
            yield Diagnostic(WRONG_ATTRIBUTE, f"{message}got {len(items)}, but expected {expected}")

    def _check_body(self, inputs: tuple[Type, ...]) -> Iterator[Diagnostic]:
        given = self.body.arguments
        if len(given) != len(inputs):
            message = f"{self.name}: entry block must have {len(inputs)} arguments to match function signature"
            yield Diagnostic(MALFORMED_REGION, f"{message}, found {len(given)}")
            return
        for n, (v, t) in enumerate(zip(given, inputs, strict=True)):
            if v.type is not t:
                message = f"{self.name}: type of entry block argument #{n}('{v.type}') must match the type of the"
                message += f" corresponding argument in function signature('{t}')"
                yield Diagnostic(MALFORMED_REGION, message)
        for block in self.body_region.blocks:
            last = block.last
            if last is None:
                yield Diagnostic(MALFORMED_REGION, f"{self.name}: empty block: expect at least a terminator")
            elif isinstance(last, Op) and not last.has_trait(Terminator):
                yield not_ended(self, block)


class ReturnOp(Op, traits=(Pure, Terminator), assembly="attr-dict ($operands^ `:` type($operands))?"):
    """Base of operations that end a function and give its results."""

    operands_: tuple[Value, ...] = operand(any_type, variadic=True, doc="one for each result of the function")

    gives: ClassVar[str] = ""
    """The verb for it in messages."""

    def infer(self) -> tuple[Type, ...]:
        return ()

    def verify(self) -> Iterator[Diagnostic]:
        holder = self.parent_op
        if not isinstance(holder, FunctionOp) or not holder.has_signature:
            return
        expected = holder.function_type.results
        if len(self.operands) != len(expected):
            message = f"{self.name}: has {len(self.operands)} operands, but enclosing function (@{holder.sym_name})"
            yield Diagnostic(MALFORMED_REGION, f"{message} {self.gives}s {len(expected)}")
            return
        for n, (v, t) in enumerate(zip(self.operands, expected, strict=True)):
            if v.type is not t:
                message = f"{self.name}: type of {self.gives} operand {n} ('{v.type}') doesn't match function result"
                yield Diagnostic(WRONG_TYPE, f"{message} type ('{t}') in function @{holder.sym_name}")
