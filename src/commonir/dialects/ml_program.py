"""The ml_program dialect: functions, subgraphs, globals and tokens, the structure of every program here.

It defines no computation. Messages follow those of mlir-opt where it has one.
Source: MLIR ml_program dialect; `attributes` and messages as of MLIR 22.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import Self

from commonir.base.codes import MALFORMED_REGION, UNKNOWN_SYMBOL, WRONG_ATTRIBUTE, WRONG_TYPE
from commonir.base.diagnostics import Diagnostic
from commonir.base.suggestions import did_you_mean
from commonir.ir.attributes import Attribute, DataAttr, DialectAttr, DictionaryAttr
from commonir.ir.data import Data
from commonir.ir.interface import NO_PORT, NewInterface, Port, named_ports, port_attributes
from commonir.ir.module import Function, Module, Symbol, put_in_place
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import FunctionType, TensorType, Type, token
from commonir.ods import Dialect, Op, StatedResults, any_type, attribute, definitions_in, kinds, operand, region, result
from commonir.ods.traits import GraphRegion, IsolatedFromAbove, Pure, SingleBlock, SymbolTrait, Terminator, has_parent


class Visibility(Enum):
    """Who may refer to a symbol."""

    PUBLIC = "public"
    PRIVATE = "private"
    NESTED = "nested"


class _FunctionOp(
    Op,
    Function,
    traits=(IsolatedFromAbove, SymbolTrait),
    assembly="custom<FunctionSignature>($sym_visibility, $sym_name, $function_type, $arg_attrs, $res_attrs,"
    " $body_region) attr-dict-with-keyword ($body_region^)?",
):
    """Base of the two kinds of functions. The names of its inputs are those of the arguments of its first block."""

    __slots__ = ()

    sym_name: str = attribute(kinds.symbol_name, doc="the name it is called by")
    function_type: FunctionType = attribute(kinds.function_type, doc="what it receives and returns")
    body_region: Region = region(doc="what runs; without blocks it is a declaration")
    result_names: tuple[str, ...] = attribute(
        kinds.texts, default=(), doc="names of the results, for those who call it"
    )
    sym_visibility: Visibility | None = attribute(kinds.enumeration(Visibility), default=None, doc="public when absent")
    arg_attrs: tuple[DictionaryAttr, ...] | None = attribute(kinds.dictionaries, default=None, doc="one for each input")
    res_attrs: tuple[DictionaryAttr, ...] | None = attribute(
        kinds.dictionaries, default=None, doc="one for each result"
    )

    @property
    def symbol_name(self) -> str:
        return self.sym_name

    @property
    def is_declaration(self) -> bool:
        """Whether it has no body."""
        return not self.body_region.blocks

    @property
    def body(self) -> Block:
        return self.body_region.blocks[0]

    @property
    def inputs(self) -> tuple[Value, ...]:
        return () if self.is_declaration else self.body.arguments

    @property
    def outputs(self) -> tuple[Value, ...]:
        last = None if self.is_declaration else self.body_region.blocks[-1].last
        return () if last is None else last.operands

    @property
    def output_names(self) -> tuple[str, ...]:
        return self.result_names or tuple([v.name for v in self.outputs])

    @property
    def input_ports(self) -> Mapping[str, Port]:
        return named_ports([v.name for v in self.inputs], self.arg_attrs)

    @property
    def output_ports(self) -> Mapping[str, Port]:
        return named_ports(self.output_names, self.res_attrs)

    def infer(self) -> tuple[Type, ...]:
        return ()

    def verify(self) -> Iterator[Diagnostic]:
        inputs, results = self.function_type.inputs, self.function_type.results
        for what, name, given, expected in (
            ("argument attributes", "arg_attrs", self.arg_attrs, len(inputs)),
            ("result attributes", "res_attrs", self.res_attrs, len(results)),
            ("result names", "result_names", self.result_names or None, len(results)),
        ):
            if given is not None and len(given) != expected:
                message = f"{self.name}: '{name}' must have {expected} {what}, found {len(given)}"
                yield Diagnostic(WRONG_ATTRIBUTE, message)
        if self.is_declaration:
            if self.sym_visibility in (None, Visibility.PUBLIC):
                yield Diagnostic(WRONG_ATTRIBUTE, f"{self.name}: a declaration cannot be public")
            return
        yield from self._check_entry(inputs)

    def _check_entry(self, inputs: tuple[Type, ...]) -> Iterator[Diagnostic]:
        given = self.body.arguments
        if len(given) != len(inputs):
            message = (
                f"{self.name}: the entry block must have {len(inputs)} arguments as the signature, found {len(given)}"
            )
            yield Diagnostic(MALFORMED_REGION, message)
            return
        for n, (v, t) in enumerate(zip(given, inputs, strict=True)):
            if v.type is not t:
                message = f"{self.name}: entry block argument {n} has type {v.type}, but the signature says {t}"
                yield Diagnostic(MALFORMED_REGION, message)
        last = self.body_region.blocks[-1].last
        if last is None or not isinstance(last, Op) or not last.has_trait(Terminator):
            found = "nothing" if last is None else last.name
            yield Diagnostic(MALFORMED_REGION, f"{self.name}: the body must end in a terminator, found {found}")


class Func(_FunctionOp, name="ml_program.func"):
    """A function whose operations run in order."""

    __slots__ = ()

    constants = "core.constant"

    def give_interface(self, new: NewInterface) -> Function:
        block = new.body
        values = tuple([v for _, v in new.outputs])
        names = tuple([name for name, _ in new.outputs])
        block.append(Return(values))
        made = Func(
            self.sym_name,
            FunctionType(tuple([a.type for a in block.arguments]), tuple([v.type for v in values])),
            Region([block]),
            names,
            self.sym_visibility,
            port_attributes([new.input_ports.get(a.name, NO_PORT) for a in block.arguments]),
            port_attributes([new.output_ports.get(name, NO_PORT) for name in names]),
        )
        return put_in_place(self, made)


class Subgraph(_FunctionOp, name="ml_program.subgraph", traits=(GraphRegion, SingleBlock)):
    """A function whose operations run in any order that data and tokens allow."""

    __slots__ = ()


class _ReturnOp(Op, traits=(Pure, Terminator), assembly="attr-dict ($operands^ `:` type($operands))?"):
    __slots__ = ()

    operands_: tuple[Value, ...] = operand(any_type, variadic=True, doc="one for each result of the function")

    def infer(self) -> tuple[Type, ...]:
        return ()

    def verify(self) -> Iterator[Diagnostic]:
        holder = self.parent_op
        if not isinstance(holder, _FunctionOp):
            return
        expected = holder.function_type.results
        place = f"function @{holder.sym_name}"
        if len(self.operands) != len(expected):
            message = f"{self.name}: has {len(self.operands)} operands, but {place} returns {len(expected)}"
            yield Diagnostic(MALFORMED_REGION, message)
            return
        for n, (v, t) in enumerate(zip(self.operands, expected, strict=True)):
            if v.type is not t:
                yield Diagnostic(WRONG_TYPE, f"{self.name}: operand {n} has type {v.type}, but {place} returns {t}")


class Return(_ReturnOp, name="ml_program.return", traits=(has_parent("ml_program.func"),)):
    """Ends a function and returns values."""

    __slots__ = ()


class Output(_ReturnOp, name="ml_program.output", traits=(has_parent("ml_program.subgraph"),)):
    """Ends a subgraph and yields values."""

    __slots__ = ()


def extern(type: Type) -> DialectAttr:
    """The value of a global whose contents come from outside of the program."""
    return DialectAttr("ml_program", "extern", "", type)


class Global(
    Op,
    Symbol,
    name="ml_program.global",
    traits=(SymbolTrait,),
    assembly="custom<SymbolVisibility>($sym_visibility) (`mutable` $is_mutable^)? $sym_name ``"
    " custom<TypedInitialValue>($type, $value) attr-dict",
):
    """A named constant or variable of the module.

    A mutable global without a value is undefined until something is stored. The value may be of a narrower type than
    the global, as when dimensions of the global are unknown.

    C1. A global that is not mutable has a value.
    """

    __slots__ = ()

    sym_name: str = attribute(kinds.symbol_name, doc="the name it is loaded and stored by")
    type: Type = attribute(kinds.type_, doc="the type of its contents")
    value: Attribute | None = attribute(kinds.any_attribute, default=None, doc="data, or `#ml_program.extern`")
    is_mutable: bool = attribute(kinds.unit, default=False, doc="whether it can be stored to")
    sym_visibility: Visibility = attribute(kinds.enumeration(Visibility), default=Visibility.PUBLIC)

    @classmethod
    def constant(cls, sym_name: str, data: Data, visibility: Visibility = Visibility.PRIVATE) -> Self:
        """A global that holds data and never changes."""
        return cls(sym_name, data.type, DataAttr(data), sym_visibility=visibility)

    @property
    def symbol_name(self) -> str:
        return self.sym_name

    @property
    def data(self) -> Data | None:
        """Its initial contents, when the program has them."""
        return self.value.data if isinstance(self.value, DataAttr) else None

    @property
    def is_extern(self) -> bool:
        """Whether its contents come from outside of the program."""
        return isinstance(self.value, DialectAttr) and (self.value.dialect, self.value.name) == ("ml_program", "extern")

    def infer(self) -> tuple[Type, ...]:
        return ()

    def verify(self) -> Iterator[Diagnostic]:
        if self.value is None and not self.is_mutable:
            yield Diagnostic(WRONG_ATTRIBUTE, f"{self.name}: C1: immutable global @{self.sym_name} must have a value")
        held = self.data.type if self.data is not None else None
        if held is not None and not _holds(self.type, held):
            message = f"{self.name}: the value of @{self.sym_name} has type {held}, but the global is a {self.type}"
            yield Diagnostic(WRONG_ATTRIBUTE, message)


def _holds(wide: Type, narrow: TensorType) -> bool:
    if not isinstance(wide, TensorType) or wide.element is not narrow.element:
        return False
    if wide.shape is None or narrow.shape is None:
        return wide.shape is None
    return len(wide.shape) == len(narrow.shape) and all(
        not isinstance(a, int) or a == b for a, b in zip(wide.shape, narrow.shape, strict=True)
    )


def find_global(user: Operation, name: str) -> Global | None:
    """The global of a name, as seen from an operation: the nearest module that defines it decides."""
    for holder in user.ancestors():
        if isinstance(holder, Module):
            found = holder.symbols.get(name)
            if isinstance(found, Global):
                return found
    return None


class _GlobalUse(StatedResults):
    """Base of loads and stores."""

    __slots__ = ()

    global_: str = attribute(kinds.symbol, doc="the global")

    @property
    def moved_type(self) -> Type:
        """The type of what is loaded or stored."""
        return self.results[0].type

    def check_access(self, found: Global) -> Iterator[str]:
        """What forbids this access, as text."""
        del found
        yield from ()

    def verify(self) -> Iterator[Diagnostic]:
        if not any(isinstance(holder, Module) for holder in self.ancestors()):
            return
        found = find_global(self, self.global_)
        if found is None:
            known = [s.symbol_name for a in self.ancestors() if isinstance(a, Module) for s in a.symbols.values()]
            help = did_you_mean(self.global_, known)
            yield Diagnostic(UNKNOWN_SYMBOL, f"{self.name}: undefined global @{self.global_}", help=help)
            return
        for message in self.check_access(found):
            yield Diagnostic(WRONG_ATTRIBUTE, f"{self.name}: {message}")
        if self.moved_type is not found.type:
            message = f"{self.name}: global @{found.sym_name} has type {found.type}, not {self.moved_type}"
            yield Diagnostic(WRONG_TYPE, message)


class _GlobalLoad(_GlobalUse, assembly="$global `:` type($result) attr-dict"):
    __slots__ = ()

    result_: Value = result(any_type, doc="the contents")

    @classmethod
    def of(cls, source: Global) -> Self:
        """Loads a global."""
        return cls.build({"global_": source.sym_name}, [source.type])


class GlobalLoad(_GlobalLoad, name="ml_program.global_load"):
    """Reads a global that may be mutable, in program order."""

    __slots__ = ()


class GlobalLoadConst(_GlobalLoad, name="ml_program.global_load_const", traits=(Pure,)):
    """Reads a global that is not mutable."""

    __slots__ = ()

    def check_access(self, found: Global) -> Iterator[str]:
        if found.is_mutable:
            yield f"cannot load as const from mutable global @{found.sym_name}"

    def constant_data(self) -> Data | None:
        found = find_global(self, self.global_)
        return None if found is None or found.is_mutable else found.data


def _check_tokens(op: Op, tokens: Iterable[Value]) -> Iterator[Diagnostic]:
    for v in tokens:
        if v.type is not token:
            yield Diagnostic(WRONG_TYPE, f"{op.name}: expected {token} to order accesses, found {v.type}")


class GlobalLoadGraph(
    _GlobalUse,
    name="ml_program.global_load_graph",
    assembly="$global `` custom<TokenOrdering>($consume_tokens, type($produce_token)) `:` type($result) attr-dict",
):
    """Reads a global in a subgraph, after what its tokens come from."""

    __slots__ = ()

    consume_tokens: tuple[Value, ...] = operand(any_type, variadic=True, doc="it runs after what made these")
    result_: Value = result(any_type, doc="the contents")
    produce_token: Value = result(any_type, doc="exists once this has run")

    @classmethod
    def of(cls, source: Global, consume_tokens: Iterable[Value] = ()) -> Self:
        """Loads a global."""
        arguments = {"global_": source.sym_name, "consume_tokens": tuple(consume_tokens)}
        return cls.build(arguments, [source.type, token])

    def verify(self) -> Iterator[Diagnostic]:
        yield from super().verify()
        yield from _check_tokens(self, (*self.consume_tokens, self.produce_token))


class _GlobalStore(_GlobalUse):
    __slots__ = ()

    value: Value = operand(any_type, doc="what is stored")

    @property
    def moved_type(self) -> Type:
        return self.value.type

    def check_access(self, found: Global) -> Iterator[str]:
        if not found.is_mutable:
            yield f"cannot store to an immutable global @{found.sym_name}"


class GlobalStore(
    _GlobalStore, name="ml_program.global_store", assembly="$global `=` $value `:` type($value) attr-dict"
):
    """Replaces the contents of a mutable global, in program order."""

    __slots__ = ()

    @classmethod
    def to(cls, target: Global, value: Value) -> Self:
        """Stores to a global."""
        return cls.build({"global_": target.sym_name, "value": value}, [])


class GlobalStoreGraph(
    _GlobalStore,
    name="ml_program.global_store_graph",
    assembly="$global `=` $value `` custom<TokenOrdering>($consume_tokens, type($produce_token)) `:` type($value)"
    " attr-dict",
):
    """Replaces the contents of a mutable global in a subgraph, after what its tokens come from."""

    __slots__ = ()

    consume_tokens: tuple[Value, ...] = operand(any_type, variadic=True, doc="it runs after what made these")
    produce_token: Value = result(any_type, doc="exists once this has run")

    @classmethod
    def to(cls, target: Global, value: Value, consume_tokens: Iterable[Value] = ()) -> Self:
        """Stores to a global."""
        arguments = {"global_": target.sym_name, "value": value, "consume_tokens": tuple(consume_tokens)}
        return cls.build(arguments, [token])

    def verify(self) -> Iterator[Diagnostic]:
        yield from super().verify()
        yield from _check_tokens(self, (*self.consume_tokens, self.produce_token))


class Token(Op, name="ml_program.token", traits=(Pure,), assembly="attr-dict"):
    """A token that waits for nothing."""

    __slots__ = ()

    token: Value = result(any_type, doc="the token")

    def infer(self) -> tuple[Type, ...]:
        return (token,)


DIALECT = Dialect(
    "ml_program",
    definitions_in(globals(), "ml_program"),
    summary="functions, subgraphs, globals and tokens: the structure of a program",
)
