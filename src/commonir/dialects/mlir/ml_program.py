"""The ml_program dialect: functions, subgraphs, globals and tokens, the structure of every program here.

It defines no computation. Messages follow those of mlir-opt where it has one.
Source: MLIR ml_program dialect; attributes and messages as of MLIR 22.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, Self

from commonir.base.codes import UNKNOWN_SYMBOL, WRONG_ATTRIBUTE, WRONG_TYPE
from commonir.base.diagnostics import Diagnostic
from commonir.dialects.mlir.function_operations import FunctionOp, ReturnOp, Visibility
from commonir.ir.attributes import (
    Attribute,
    BoolAttr,
    DataAttr,
    DialectAttr,
    FloatAttr,
    IntegerAttr,
    SparseAttr,
    StringAttr,
    SymbolRefAttr,
    attribute_text,
)
from commonir.ir.data import Data
from commonir.ir.module import Function, Module, Symbol, replace_function
from commonir.ir.operation import Operation, Region, Value
from commonir.ir.symbol_suggestions import symbol_help
from commonir.ir.types import (
    DialectType,
    ElementType,
    FunctionType,
    MemRefType,
    TensorType,
    Type,
    VectorType,
    boolean,
    token,
)
from commonir.ods import (
    DeclaredResults,
    Dialect,
    MlirOp,
    Op,
    TypeConstraint,
    any_type,
    attr_types,
    attribute,
    definitions_in,
    operand,
    result,
)
from commonir.ods.attr_types import AttrType
from commonir.ods.own_forms import own_forms
from commonir.ods.text_form import CustomForm, FormReader, FormTask, FormWriter, Use
from commonir.ods.traits import GraphRegion, OnlyReads, Pure, SingleBlock, SymbolTrait, has_parent

if TYPE_CHECKING:
    from commonir.ir.ports import NewInterface


class Func(FunctionOp, name="ml_program.func"):
    """A function, whose operations run in order."""

    constants = "core.constant"

    def replace_interface(self, new: NewInterface) -> Function:
        from commonir.ir.interface import NO_PORT, port_attributes  # noqa: PLC0415  few programs get another interface

        block = new.body
        values = tuple([v for _, v in new.outputs])
        names = tuple([name for name, _ in new.outputs])
        block.append(Return(values))
        built = Func(
            self.sym_name,
            FunctionType(tuple([a.type for a in block.arguments]), tuple([v.type for v in values])),
            Region([block]),
            names,
            self.sym_visibility,
            port_attributes([new.input_ports.get(a.name, NO_PORT) for a in block.arguments]),
            port_attributes([new.output_ports.get(name, NO_PORT) for name in names]),
        )
        return replace_function(self, built)


class Subgraph(FunctionOp, name="ml_program.subgraph", traits=(GraphRegion, SingleBlock)):
    """A function, whose operations run in any order that data and tokens permit."""


class Return(ReturnOp, name="ml_program.return", traits=(has_parent("ml_program.func"),)):
    """Returns values from a function."""

    gives = "return"


class Output(ReturnOp, name="ml_program.output", traits=(has_parent("ml_program.subgraph"),)):
    """Returns values from a subgraph."""

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

    A mutable global without a value is undefined until something is stored. The type of the value, which may also be
    extern, may be narrower than that of the global, as when dimensions of the global are unknown.

    C1. A global that is not mutable has a value.
    C2. The type of the value has the element type of the global, and no other dims. Types of dialects and values
        without a type are not compared.
    """

    sym_name: str = attribute(attr_types.symbol_name, doc="the name it is loaded and stored by")
    type: Type = attribute(attr_types.type_, doc="the type of its contents")
    value: Attribute | None = attribute(attr_types.any_attribute, default=None, doc="data, or `#ml_program.extern`")
    is_mutable: bool = attribute(attr_types.unit, default=False, doc="whether it can be stored to")
    sym_visibility: Visibility | None = attribute(
        attr_types.enumeration(Visibility), default=None, doc="public when absent"
    )

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
    def begins_with_zeros(self) -> bool:
        """Returns whether no initial element differs from 0."""
        return self.data is None or not self.data.count or self.data.splat() == 0

    @property
    def is_extern(self) -> bool:
        """Returns whether its contents come from outside of the program."""
        value = self.value
        return isinstance(value, DialectAttr) and value is extern(value.type)

    def infer(self) -> tuple[Type, ...]:
        return ()

    def verify(self) -> Iterator[Diagnostic]:
        if self.value is None and not self.is_mutable:
            message = f"{self.name}: C1: immutable global must have an initial value, @{self.sym_name} has none"
            yield Diagnostic(WRONG_ATTRIBUTE, message)
        type = _type_of(self.value)
        if type is not None and not _holds(self.type, type):
            message = f"{self.name}: C2: the value of @{self.sym_name} has type {type}, but the global is a {self.type}"
            is_number = isinstance(self.value, IntegerAttr | FloatAttr)
            help = f"a number without a type is an i64 or f64: write `value : {self.type}`" if is_number else None
            yield Diagnostic(WRONG_ATTRIBUTE, message, help=help)


def _type_of(value: Attribute | None) -> Type | None:
    """Returns the type of an attribute that has one."""
    match value:
        case BoolAttr():
            return boolean
        case IntegerAttr() | FloatAttr() | StringAttr() | DataAttr() | SparseAttr() | DialectAttr():
            return value.type
        case _:
            return None


def _holds(wide: Type, narrow: Type) -> bool:
    """Returns whether a global of one type can hold a value of another; types of dialects are assumed to."""
    if isinstance(wide, DialectType) or isinstance(narrow, DialectType):
        return True
    wide, narrow = _contents(wide), _contents(narrow)
    if not isinstance(wide, TensorType) or not isinstance(narrow, TensorType):
        return wide is narrow
    if not isinstance(wide.element, DialectType) and wide.element is not narrow.element:
        return False
    if wide.shape is None or narrow.shape is None:
        return wide.shape is None
    return len(wide.shape) == len(narrow.shape) and all(
        not isinstance(a, int) or a == b for a, b in zip(wide.shape, narrow.shape, strict=True)
    )


def _contents(type: Type) -> Type:
    """Returns the tensor of the contents of a number, vector or buffer; other types as they are."""
    match type:
        case VectorType(element=element, shape=shape) | MemRefType(element=ElementType() as element, shape=shape):
            return TensorType(element, shape)
        case ElementType():
            return TensorType(type, ())
        case _:
            return type


def _looked_up(holder: Module, path: Sequence[str]) -> Symbol | None:
    """Returns the symbol that a reference names in a module and the modules nested in it."""
    at: Module | None = holder
    for name in path[:-1]:
        at = None if at is None else at.module(name)
    return None if at is None else at.symbol(path[-1])


def find_global(user: Operation, path: Sequence[str], *, outward: bool = True) -> Global | None:
    """The global that a reference means, as seen from an operation.

    The nearest module decides; with `outward`, one in which the reference means no global leaves it to those around.
    """
    for holder in user.ancestors():
        if isinstance(holder, Module):
            result = _looked_up(holder, path)
            if isinstance(result, Global):
                return result
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


_reference: AttrType[tuple[str, ...]] = AttrType("symbol reference", _to_path, lambda v: SymbolRefAttr(*v), _to_path)
"""A symbol, or one in a module that is a symbol: `@g`, `@m::@g`."""


class GlobalUse(DeclaredResults):
    """Base of loads and stores."""

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

    def check_access(self, target: Global) -> Iterator[Diagnostic]:
        """Yields the reasons that forbid this access."""
        if self.moved_type is not target.type:
            message = f"{self.name}: cannot load from global typed '{target.type}' as '{self.moved_type}'"
            yield Diagnostic(WRONG_TYPE, message)

    def verify(self) -> Iterator[Diagnostic]:
        if not any(isinstance(holder, Module) for holder in self.ancestors()):
            return
        result = self.target
        if result is not None:
            yield from self.check_access(result)
            return
        shown = SymbolRefAttr(*self.global_)
        message = f"{self.name}: undefined global: {attribute_text(shown)}"
        yield Diagnostic(UNKNOWN_SYMBOL, message, help=symbol_help(self, self.global_name, Global))


class _GlobalLoad(GlobalUse, assembly="$global `:` type($result) attr-dict"):
    result_: Value = result(any_type, doc="the contents")

    @classmethod
    def of(cls, source: Global) -> Self:
        """Loads a global."""
        return cls.build({"global_": (source.sym_name,)}, [source.type])

    def suggested_names(self) -> Iterable[tuple[Value, str]]:
        return ((self.results[0], self.global_[-1]),) if self.global_ else ()


class GlobalLoad(_GlobalLoad, name="ml_program.global_load", traits=(OnlyReads,)):
    """Loads a global, which may be mutable, in program order."""


class GlobalLoadConst(_GlobalLoad, name="ml_program.global_load_const", traits=(Pure,)):
    """Loads an immutable global."""

    outward = False

    def check_access(self, target: Global) -> Iterator[Diagnostic]:
        if target.is_mutable:
            message = f"{self.name}: cannot load as const from mutable global @{target.sym_name}"
            yield Diagnostic(WRONG_ATTRIBUTE, message)
        yield from super().check_access(target)

    def constant_data(self) -> Data | None:
        result = self.target
        return None if result is None or result.is_mutable else result.data


_Token = TypeConstraint(
    "MLProgram_TokenType", "Token for establishing execution ordering in a graph", lambda t: t is token, token
)


class GlobalLoadGraph(
    GlobalUse,
    name="ml_program.global_load_graph",
    traits=(OnlyReads,),
    assembly="$global `` custom<TokenOrdering>($consume_tokens, type($produce_token)) `:` type($result) attr-dict",
):
    """Loads a global in a subgraph, ordered by tokens."""

    outward = False

    consume_tokens: tuple[Value, ...] = operand(_Token, variadic=True, doc="it runs after what made these")
    result_: Value = result(any_type, doc="the contents")
    produce_token: Value = result(_Token, doc="exists once this has run")

    @classmethod
    def of(cls, source: Global, consume_tokens: Iterable[Value] = ()) -> Self:
        """Loads a global."""
        arguments = {"global_": (source.sym_name,), "consume_tokens": tuple(consume_tokens)}
        return cls.build(arguments, [source.type, token])

    def suggested_names(self) -> Iterable[tuple[Value, str]]:
        return zip(self.results, ("result", "produceToken"), strict=False)


class _GlobalStore(GlobalUse):
    value: Value = operand(any_type, doc="what is stored")

    @property
    def moved_type(self) -> Type:
        return self.value.type

    def check_access(self, target: Global) -> Iterator[Diagnostic]:
        if not target.is_mutable:
            message = f"{self.name}: cannot store to an immutable global @{target.sym_name}"
            yield Diagnostic(WRONG_ATTRIBUTE, message)
        if self.moved_type is not target.type:
            message = f"{self.name}: cannot store to a global typed '{target.type}' from '{self.moved_type}'"
            yield Diagnostic(WRONG_TYPE, message)


class _StoreForm:
    """`@global = %value : type`; with an ordering or a result, as older texts write it, it is the store of graphs."""

    def read(self, reader: FormReader) -> FormTask:
        target = reader.attribute()
        reader.expect("=")
        use = reader.use()
        ordering = _older_ordering(reader)
        reader.expect(":")
        type = reader.type()
        value = reader.resolve(use, type)
        if ordering is None:
            ordering = _older_ordering(reader)
            if ordering is not None:
                reader.expect(":")
                reader.type()
        result = reader.make({"global_": target, "value": value}, (), reader.dictionary())
        if (ordering is None and not reader.result_count) or not isinstance(result, GlobalStore):
            return result
        tokens, produced = ordering or ((), token)
        fields = {"global_": result.global_, "value": value, "consume_tokens": tokens}
        result.operands = ()
        built = GlobalStoreGraph.build(fields, [produced])
        built.update_extra(result.extra)
        return built
        yield  # makes it a generator, as forms with regions are

    def write(self, writer: FormWriter) -> None:
        op = writer.op
        if not isinstance(op, GlobalStore):
            writer.refuse()
        target = writer.attribute(op.properties["global"])
        rest = writer.dictionary(("global",))
        writer.write(f" {target} = {writer.value(op.value)} : {writer.type(op.value.type)}{rest}")


def _older_ordering(reader: FormReader) -> tuple[tuple[Value, ...], Type] | None:
    """Reads `ordering(%a -> type)`: the tokens, and the type of the one it produces; None when it is not there."""
    if not reader.take("ordering"):
        return None
    reader.expect("(")
    if reader.take("("):
        reader.expect(")")
        uses: list[Use] = []
    else:
        uses = reader.uses()
    reader.expect("->")
    type = reader.type()
    reader.expect(")")
    return reader.resolve_all(uses, [type] * len(uses)), type


class GlobalStore(_GlobalStore, name="ml_program.global_store"):
    """Stores a value to a mutable global, in program order."""

    custom_form: ClassVar[CustomForm | None] = _StoreForm()

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
    """Stores a value to a mutable global in a subgraph, ordered by tokens."""

    outward = False

    consume_tokens: tuple[Value, ...] = operand(_Token, variadic=True, doc="it runs after what made these")
    produce_token: Value = result(_Token, doc="exists once this has run")

    @classmethod
    def to(cls, target: Global, value: Value, consume_tokens: Iterable[Value] = ()) -> Self:
        """Stores to a global."""
        arguments = {"global_": (target.sym_name,), "value": value, "consume_tokens": tuple(consume_tokens)}
        return cls.build(arguments, [token])


class Token(MlirOp, name="ml_program.token", traits=(Pure,), assembly="attr-dict"):
    """Creates a token without dependencies."""

    token: Value = result(_Token, doc="the token")


OWN = own_forms(token, attributes="extern")
DIALECT = Dialect(
    "ml_program",
    definitions_in(globals(), "ml_program"),
    summary="functions, subgraphs, globals and tokens: the structure of a program",
    own="commonir.dialects.mlir.ml_program:OWN",
)
