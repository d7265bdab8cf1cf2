"""Keeps what a program declares about the dims of its inputs and outputs, where inference finds more.

Edits and conversions keep the names of dims of outputs where inference finds expressions. A name stands for one dim in
all inputs and outputs: it is not kept where the inferred dims contradict that. Integers that are inferred take the
place of names. What leaves the interface as it is, such as an optimization, keeps its dims as declared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from commonir.base.tuples import NamedTuple
from commonir.ir.module import Function, Module
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.ports import NO_PORT, Port
from commonir.ir.types import TensorType, Type, symbols_of, unknown
from commonir.symbolic import Dim, DimExpr, compare, plain_symbol, symbol, symbols


def declared_outputs(module: Module) -> Mapping[str, Mapping[str, Type]]:
    """Returns the types of outputs with symbolic dims, by the names of functions and outputs."""
    out: dict[str, Mapping[str, Type]] = {}
    for name, function in module.defined_functions.items():
        types = {n: v.type for n, v in zip(function.output_names, function.outputs, strict=False)}
        if symbols_of(types.values()):
            out[name] = types
    return out


def own_dims_of_outputs(function: Function, renames: Mapping[str, str]) -> Mapping[str, Type]:
    """Returns the types of outputs, by their new names, with only those symbolic dims that no input has."""
    inputs = symbols_of([v.type for v in function.inputs])
    out: dict[str, Type] = {}
    for name, v in zip(function.output_names, function.outputs, strict=False):
        if isinstance(v.type, TensorType) and v.type.shape is not None:
            dims = [
                None if isinstance(d, DimExpr) and any(n in inputs for n in symbols(d)) else d for d in v.type.shape
            ]
            out[renames.get(name, name)] = v.type.with_shape(tuple(dims))
    return out


def restore_output_names(module: Module, declared: Mapping[str, Mapping[str, Type]]) -> None:
    """Gives the dims of outputs the names that `declared_outputs` returned before a change, in place."""
    for name, types in declared.items():
        function = module.defined_functions.get(name)
        if function is None:
            continue
        outputs = dict(zip(function.output_names, function.outputs, strict=False))
        pairs = [(v, types[n]) for n, v in outputs.items() if n in types and v not in function.inputs]
        inputs = [v.type for v in function.inputs]
        named = with_declared_names(inputs, [t for _, t in pairs], [v.type for v, _ in pairs])
        for (v, _), type in zip(pairs, named, strict=True):
            v.retype(type)


class Interface(NamedTuple):
    """The types of what a block has as arguments and of what it returns."""

    arguments: tuple[Type, ...]
    returned: tuple[Type, ...]


def interface_of(block: Block) -> Interface:
    """Returns the interface of a block."""
    return Interface(tuple([v.type for v in block.arguments]), tuple([v.type for v in _returned(block)]))


def interfaces_in(module: Module) -> Mapping[Block, Interface]:
    """Returns the interfaces of the bodies of functions and of the blocks inside them."""
    out: dict[Block, Interface] = {}
    for function in module.defined_functions.values():
        out[function.body] = interface_of(function.body)
        for op in function.walk():
            out.update({block: interface_of(block) for region in op.regions for block in region.blocks})
    return out


def restore_interfaces(declared: Mapping[Block, Interface]) -> None:
    """Gives what blocks have as arguments and return the dims from before a change, in place."""
    for block, interface in declared.items():
        restore_interface(block, interface)


def restore_interface(block: Block, declared: Interface) -> None:
    """Gives the arguments of a block, and what it computes and returns, the dims of an interface, in place."""
    own = [v if isinstance(v.owner, Operation) and v.owner.parent is block else None for v in _returned(block)]
    for values, types in ((block.arguments, declared.arguments), (own, declared.returned)):
        for v, type in zip(values, types, strict=True) if len(values) == len(types) else ():
            if v is not None:
                v.retype(_with_dims(type, v.type))


def _returned(block: Block) -> Sequence[Value]:
    return () if block.last is None else block.last.operands


def _with_dims(declared: Type, inferred: Type) -> Type:
    if isinstance(declared, TensorType) and isinstance(inferred, TensorType):
        return inferred.with_shape(declared.shape)
    return inferred if declared is unknown else declared


def without_dim_names(ports: Mapping[str, Port]) -> Mapping[str, Port]:
    """Returns ports of inputs whose types have the names of dims."""
    return {name: port._replace(dims=()) if port.dims else port for name, port in ports.items()}


def ports_with_dim_names(function: Function, inputs: Sequence[Value], outputs: Sequence[Value]) -> Mapping[str, Port]:
    """Returns the ports of the outputs of a function with the names of dims that its lowered outputs have not."""
    ports = function.output_ports
    names = function.output_names
    declared = [named_by_port(v.type, ports.get(n, NO_PORT)) for n, v in zip(names, function.outputs, strict=False)]
    if not symbols_of(declared) or len(declared) != len(outputs):
        return ports
    out = dict(ports)
    inferred = [v.type for v in outputs]
    named = with_declared_names([v.type for v in inputs], declared, inferred)
    for name, before, after in zip(names, named, inferred, strict=False):
        dims = tuple([plain_symbol(d) or "" for d in _dims(before)]) if before is not after else ()
        if any(dims) or name in out:
            out[name] = out.get(name, NO_PORT)._replace(dims=dims if any(dims) else ())
    return out


def named_by_port(type: Type, port: Port) -> Type:
    """Returns a type with the names that a port has for the dims that are not integers."""
    dims = _dims(type)
    if not isinstance(type, TensorType) or not dims or len(dims) != len(port.dims):
        return type
    pairs = zip(dims, port.dims, strict=True)
    return type.with_shape(tuple([symbol(n) if n and not isinstance(d, int) else d for d, n in pairs]))


def name_output_dims(block: Block, source: Function) -> None:
    """Gives the dims of what a block returns the names that the ports of its source have, in place."""
    ports, last = source.output_ports, block.last
    for name, v in zip(source.output_names, () if last is None or not ports else last.operands, strict=False):
        v.retype(named_by_port(v.type, ports.get(name, NO_PORT)))


def with_declared_names(inputs: Iterable[Type], declared: Sequence[Type], inferred: Sequence[Type]) -> list[Type]:
    """Returns the inferred types of outputs with the declared names of dims; `inputs` are the types of the inputs."""
    dims: dict[str, Dim] = {}
    for d in (d for type in inputs for d in _dims(type)):
        if (name := plain_symbol(d)) is not None and d is not None:
            dims.setdefault(name, d)
    contradicted: set[str] = set()
    for before, after in zip(declared, inferred, strict=True):
        for d, i in zip(_dims(before), _dims(after), strict=False):
            if i is not None and isinstance(d, DimExpr):
                name = plain_symbol(d)
                known = d if name is None else dims.setdefault(name, i)
                if compare(known, i) is False:
                    contradicted.update(symbols(d))
    return [_named(before, after, contradicted) for before, after in zip(declared, inferred, strict=True)]


def _named(declared: Type, inferred: Type, contradicted: set[str]) -> Type:
    before, after = _dims(declared), _dims(inferred)
    if not isinstance(inferred, TensorType) or len(before) != len(after) or before == after:
        return inferred
    pairs = zip(before, after, strict=True)
    return inferred.with_shape(
        tuple(
            [
                d if isinstance(d, DimExpr) and not isinstance(i, int) and contradicted.isdisjoint(symbols(d)) else i
                for d, i in pairs
            ]
        )
    )


def _dims(type: Type) -> Sequence[Dim | None]:
    return type.shape or () if isinstance(type, TensorType) else ()
