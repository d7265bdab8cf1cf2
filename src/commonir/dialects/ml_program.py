"""The ml_program dialect: functions, subgraphs, globals and tokens, the structure of every program here.

It defines no computation. Messages follow those of mlir-opt where it has one.
Source: MLIR ml_program dialect; attributes and messages as of MLIR 22.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import ClassVar, Self

from commonir.base.codes import MALFORMED_REGION, UNKNOWN_SYMBOL, WRONG_ATTRIBUTE, WRONG_TYPE
from commonir.base.diagnostics import Diagnostic
from commonir.base.suggestions import did_you_mean
from commonir.ir.attribute_text import attribute_text
from commonir.ir.attributes import Attribute, DataAttr, DialectAttr, DictionaryAttr, SymbolRefAttr
from commonir.ir.carriers import carrier
from commonir.ir.data import Data
from commonir.ir.interface import NO_PORT, NewInterface, Port, named_ports, port_attributes
from commonir.ir.module import Function, Module, Symbol, distinct_names, put_in_place
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import FunctionType, TensorType, Type, token
from commonir.ods import (
    Dialect,
    MlirOp,
    Op,
    StatedResults,
    TypeConstraint,
    any_type,
    attribute,
    definitions_in,
    kinds,
    operand,
    region,
    result,
)
from commonir.ods.kinds import Kind
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
        return self.result_names or distinct_names([v.name for v in self.outputs], "result")

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
        yield from self._check_count("function result names", self.result_names or None, len(results))
        for what, given, expected in (("argument", self.arg_attrs, inputs), ("result", self.res_attrs, results)):
            yield from self._check_count(f"{what} attribute", given, len(expected))
            if any("." not in name for entry in given or () for name, _ in entry.entries):
                yield Diagnostic(WRONG_ATTRIBUTE, f"{self.name}: {what}s may only have dialect attributes")
        if not self.is_declaration:
            yield from self._check_body(inputs)
        elif self.sym_visibility in (None, Visibility.PUBLIC):
            yield Diagnostic(WRONG_ATTRIBUTE, f"{self.name}: symbol declaration cannot have public visibility")

    def _check_count(self, what: str, given: Sequence[object] | None, expected: int) -> Iterator[Diagnostic]:
        if given is not None and len(given) != expected:
            of = "results" if what.startswith(("result", "function result")) else "arguments"
            message = f"{self.name}: expects {what} array to have as many elements as the function has {of}, "
            yield Diagnostic(WRONG_ATTRIBUTE, f"{message}got {len(given)}, but expected {expected}")

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
                yield Diagnostic(MALFORMED_REGION, f"{self.name}: block with no terminator, has {last.name}")


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

    gives: ClassVar[str] = ""
    """What it does, as messages say it."""

    def infer(self) -> tuple[Type, ...]:
        return ()

    def verify(self) -> Iterator[Diagnostic]:
        holder = self.parent_op
        if not isinstance(holder, _FunctionOp):
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


class Return(_ReturnOp, name="ml_program.return", traits=(has_parent("ml_program.func"),)):
    """Ends a function and returns values."""

    __slots__ = ()

    gives = "return"


class Output(_ReturnOp, name="ml_program.output", traits=(has_parent("ml_program.subgraph"),)):
    """Ends a subgraph and yields values."""

    __slots__ = ()

    gives = "output"


def extern(type: Type | None) -> DialectAttr:
    """The value of a global whose contents come from outside of the program, of a type that may be left out."""
    return DialectAttr("ml_program", "extern", None, type)


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
        value = self.value
        return isinstance(value, DialectAttr) and value is extern(value.type)

    def infer(self) -> tuple[Type, ...]:
        return ()

    def verify(self) -> Iterator[Diagnostic]:
        if self.value is None and not self.is_mutable:
            message = f"{self.name}: C1: immutable global must have an initial value, @{self.sym_name} has none"
            yield Diagnostic(WRONG_ATTRIBUTE, message)
        held = self.data.type if self.data is not None else None
        if held is not None and not _holds(carrier(self.type), held) and not _holds(self.type, held):
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


def _looked_up(holder: Module, path: Sequence[str]) -> Symbol | None:
    """What a reference finds in a module and the modules nested in it."""
    at: Module | None = holder
    for name in path[:-1]:
        at = None if at is None else next((m for m in at.modules if m.symbol_name == name), None)
    return None if at is None else at.symbols.get(path[-1])


def find_global(user: Operation, path: Sequence[str], *, outward: bool = True) -> Global | None:
    """The global that a reference means, as seen from an operation.

    The nearest module decides; with `outward`, one in which the reference means no global leaves it to those around.
    """
    for holder in user.ancestors():
        if isinstance(holder, Module):
            found = _looked_up(holder, path)
            if isinstance(found, Global):
                return found
            if not outward:
                return None
    return None


def _to_path(value: object) -> tuple[str, ...]:
    if isinstance(value, SymbolRefAttr):
        return value.path
    if isinstance(value, str):
        return (value,)
    if isinstance(value, tuple):
        names = tuple([n for n in value if isinstance(n, str)])  # pyright: ignore[reportUnknownVariableType]
        if names and len(names) == len(value):  # pyright: ignore[reportUnknownArgumentType]
            return names
    raise ValueError(f"expected a reference to a symbol, found {value!r}")


_reference: Kind[tuple[str, ...]] = Kind("symbol reference", _to_path, lambda v: SymbolRefAttr(*v), _to_path)
"""A symbol, or one in a module that is a symbol: `@g`, `@m::@g`."""


class GlobalUse(StatedResults):
    """Base of loads and stores."""

    __slots__ = ()

    global_: tuple[str, ...] = attribute(_reference, doc="the global")

    outward: ClassVar[bool] = True
    """Whether modules around the nearest one are searched too."""

    @property
    def global_name(self) -> str:
        """The name of the global, without the modules that hold it."""
        return self.global_[-1]

    @property
    def target(self) -> Global | None:
        """The global that it uses; None when there is none."""
        return find_global(self, self.global_, outward=self.outward)

    @property
    def moved_type(self) -> Type:
        """The type of what is loaded or stored."""
        return self.results[0].type

    def check_access(self, found: Global) -> Iterator[Diagnostic]:
        """What forbids this access."""
        if self.moved_type is not found.type:
            message = f"{self.name}: cannot load from global typed '{found.type}' as '{self.moved_type}'"
            yield Diagnostic(WRONG_TYPE, message)

    def verify(self) -> Iterator[Diagnostic]:
        if not any(isinstance(holder, Module) for holder in self.ancestors()):
            return
        found = self.target
        if found is not None:
            yield from self.check_access(found)
            return
        known = [s.symbol_name for a in self.ancestors() if isinstance(a, Module) for s in a.symbols.values()]
        shown = SymbolRefAttr(*self.global_)
        message = f"{self.name}: undefined global: {attribute_text(shown)}"
        yield Diagnostic(UNKNOWN_SYMBOL, message, help=did_you_mean(self.global_name, known))


class _GlobalLoad(GlobalUse, assembly="$global `:` type($result) attr-dict"):
    __slots__ = ()

    result_: Value = result(any_type, doc="the contents")

    @classmethod
    def of(cls, source: Global) -> Self:
        """Loads a global."""
        return cls.build({"global_": (source.sym_name,)}, [source.type])


class GlobalLoad(_GlobalLoad, name="ml_program.global_load"):
    """Reads a global that may be mutable, in program order."""

    __slots__ = ()


class GlobalLoadConst(_GlobalLoad, name="ml_program.global_load_const", traits=(Pure,)):
    """Reads a global that is not mutable."""

    __slots__ = ()

    outward = False

    def check_access(self, found: Global) -> Iterator[Diagnostic]:
        if found.is_mutable:
            message = f"{self.name}: cannot load as const from mutable global @{found.sym_name}"
            yield Diagnostic(WRONG_ATTRIBUTE, message)
        yield from super().check_access(found)

    def constant_data(self) -> Data | None:
        found = self.target
        return None if found is None or found.is_mutable else found.data


_Token = TypeConstraint(
    "MLProgram_TokenType",
    "Token for establishing execution ordering in a graph",
    lambda t: t is token,
    token,
)


class GlobalLoadGraph(
    GlobalUse,
    name="ml_program.global_load_graph",
    assembly="$global `` custom<TokenOrdering>($consume_tokens, type($produce_token)) `:` type($result) attr-dict",
):
    """Reads a global in a subgraph, after what its tokens come from."""

    __slots__ = ()

    outward = False

    consume_tokens: tuple[Value, ...] = operand(_Token, variadic=True, doc="it runs after what made these")
    result_: Value = result(any_type, doc="the contents")
    produce_token: Value = result(_Token, doc="exists once this has run")

    @classmethod
    def of(cls, source: Global, consume_tokens: Iterable[Value] = ()) -> Self:
        """Loads a global."""
        arguments = {"global_": (source.sym_name,), "consume_tokens": tuple(consume_tokens)}
        return cls.build(arguments, [source.type, token])


class _GlobalStore(GlobalUse):
    __slots__ = ()

    value: Value = operand(any_type, doc="what is stored")

    @property
    def moved_type(self) -> Type:
        return self.value.type

    def check_access(self, found: Global) -> Iterator[Diagnostic]:
        if not found.is_mutable:
            message = f"{self.name}: cannot store to an immutable global @{found.sym_name}"
            yield Diagnostic(WRONG_ATTRIBUTE, message)
        if self.moved_type is not found.type:
            message = f"{self.name}: cannot store to a global typed '{found.type}' from '{self.moved_type}'"
            yield Diagnostic(WRONG_TYPE, message)


class GlobalStore(
    _GlobalStore, name="ml_program.global_store", assembly="$global `=` $value `:` type($value) attr-dict"
):
    """Replaces the contents of a mutable global, in program order."""

    __slots__ = ()

    @classmethod
    def to(cls, target: Global, value: Value) -> Self:
        """Stores to a global."""
        return cls.build({"global_": (target.sym_name,), "value": value}, [])


class GlobalStoreGraph(
    _GlobalStore,
    name="ml_program.global_store_graph",
    assembly="$global `=` $value `` custom<TokenOrdering>($consume_tokens, type($produce_token)) `:` type($value)"
    " attr-dict",
):
    """Replaces the contents of a mutable global in a subgraph, after what its tokens come from."""

    __slots__ = ()

    outward = False

    consume_tokens: tuple[Value, ...] = operand(_Token, variadic=True, doc="it runs after what made these")
    produce_token: Value = result(_Token, doc="exists once this has run")

    @classmethod
    def to(cls, target: Global, value: Value, consume_tokens: Iterable[Value] = ()) -> Self:
        """Stores to a global."""
        arguments = {"global_": (target.sym_name,), "value": value, "consume_tokens": tuple(consume_tokens)}
        return cls.build(arguments, [token])


class Token(MlirOp, name="ml_program.token", traits=(Pure,), assembly="attr-dict"):
    """A token that waits for nothing."""

    __slots__ = ()

    token: Value = result(_Token, doc="the token")


DIALECT = Dialect(
    "ml_program",
    definitions_in(globals(), "ml_program"),
    summary="functions, subgraphs, globals and tokens: the structure of a program",
)
