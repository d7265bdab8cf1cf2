"""The types and attributes of the builtin dialect and others that have classes here, and their readers.

Source: MLIR language reference; builtin, quant, dlti and tosa dialects.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from commonir.base.lazy import LazyModule
from commonir.ir.attributes import Attribute, BytesAttr, DimsAttr
from commonir.ir.types import (
    DialectType,
    ListType,
    MapType,
    OptionalType,
    SparseTensorType,
    StateType,
    TensorType,
    Type,
    handle,
    string,
    unknown,
)
from commonir.symbolic import Dim
from commonir.text.alias_table import AliasTable
from commonir.text.attributes import AttributeReader, AttributeReaders
from commonir.text.lexer import TokenStream
from commonir.text.types import TypeReader, TypeReaders

if TYPE_CHECKING:
    from commonir.ods import Dialects
    from commonir.text import layouts, own_forms, parameters, quantized_types
else:
    # Few programs are quantized, have a data layout, or use types that a loaded dialect defines.
    layouts = LazyModule("commonir.text.layouts")
    own_forms = LazyModule("commonir.text.own_forms")
    parameters = LazyModule("commonir.text.parameters")
    quantized_types = LazyModule("commonir.text.quantized_types")

Reader = TypeVar("Reader", TypeReader, AttributeReader)
T = TypeVar("T")


def attribute_reader(
    tokens: TokenStream, dialects: Dialects | None = None, unknown: dict[str, int] | None = None
) -> AttributeReader:
    """Returns a reader of attributes, which has a reader of types; both use the definitions of dialects.

    Without `dialects`, types and attributes of dialects that have no class here are stored as written. `unknown`
    receives those of dialects that are not known, with the offset of the first use.
    """
    types, attributes = TYPES, ATTRIBUTES
    if dialects is not None and dialects.forms:
        # Types and attributes with a class here override the forms of dialects.
        forms = dialects.forms.items()
        types = {**{k[1:]: parameters.read_type(f) for k, f in forms if k[0] == "!"}, **types}
        attributes = {**{k[1:]: parameters.read_attribute(f) for k, f in forms if k[0] == "#"}, **attributes}
    own = None if dialects is None else own_forms.OwnFormReader(dialects, {} if unknown is None else unknown)
    return AttributeReader(TypeReader(tokens, AliasTable(), types, own), attributes)


def _list_type(reader: TypeReader) -> Type:
    tokens = reader.tokens
    element = reader.type()
    if not tokens.take(","):
        return ListType(element)
    at = tokens.start
    if tokens.kind == "string":
        return ListType(element, reader.dimension(tokens.string(), at))
    return ListType(element, tokens.integer_value(tokens.expect_kind("int", "a length"), at))


def _map_type(reader: TypeReader) -> Type:
    key = reader.type()
    reader.tokens.expect(",")
    return MapType(key, reader.type())


def _sparse_type(reader: TypeReader) -> Type:
    at = reader.tokens.start
    dense = reader.type()
    if not isinstance(dense, TensorType):
        reader.tokens.fail("expected the type of a tensor", at=at)
    return SparseTensorType(dense.element, dense.shape)


def _shape_type(reader: TypeReader) -> Type:
    tokens = reader.tokens
    at = tokens.start
    rank = tokens.integer()
    if rank < 0:
        tokens.fail(f"invalid rank (must be >= 0): {rank}", at=at)
    return DialectType("tosa", "shape", str(rank))


def _dims(reader: AttributeReader) -> Attribute:
    tokens = reader.tokens

    def one() -> Dim:
        at = tokens.start
        if tokens.kind == "string":
            return reader.types.dimension(tokens.string(), at)
        negative = tokens.take("-")
        size = tokens.integer_value(tokens.expect_kind("int", "a dimension"), at)
        return -size if negative else size

    out = [one()]
    while tokens.take(","):
        out.append(one())
    return DimsAttr(tuple(out))


def _bytes(reader: AttributeReader) -> Attribute:
    tokens = reader.tokens
    at = tokens.start
    digits = tokens.string()
    try:
        return BytesAttr(bytes.fromhex(digits.removeprefix("0x")))
    except ValueError:
        tokens.fail("expected hexadecimal digits '0x...' in pairs", at=at)


def _bracketed(read: Callable[[Reader], T]) -> Callable[[Reader], T]:
    def within(reader: Reader) -> T:
        reader.tokens.expect("<")
        result = read(reader)
        reader.tokens.expect(">")
        return result

    return within


TYPES: TypeReaders = MappingProxyType(
    {
        "builtin.list": _bracketed(_list_type),
        "builtin.map": _bracketed(_map_type),
        "builtin.optional": _bracketed(lambda reader: OptionalType(reader.type())),
        "builtin.sparse": _bracketed(_sparse_type),
        "builtin.state": _bracketed(lambda reader: StateType(reader.type())),
        "builtin.string": lambda _: string,
        "builtin.handle": lambda _: handle,
        "builtin.unknown": lambda _: unknown,
        "quant.any": quantized_types.read_any,
        "quant.calibrated": quantized_types.read_calibrated,
        "quant.uniform": quantized_types.read_uniform,
        "tosa.shape": _bracketed(_shape_type),
    }
)

ATTRIBUTES: AttributeReaders = MappingProxyType(
    {
        "commonir.dims": _bracketed(_dims),
        "commonir.bytes": _bracketed(_bytes),
        "dlti.dl_entry": layouts.read_entry,
        "dlti.function_pointer_alignment": layouts.read_function_pointer_alignment,
        **{
            f"dlti.{kind}": partial(layouts.read_layout, kind=kind)
            for kind in ("dl_spec", "map", "target_device_spec", "target_system_spec")
        },
    }
)
