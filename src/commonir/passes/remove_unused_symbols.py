"""Removes symbols that nothing can refer to: private ones to which no reference leads from what stays.

Works on programs of any dialect, in place. Source: MLIR, pass `symbol-dce`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from commonir.ir.attributes import ArrayAttr, Attribute, DictionaryAttr, EnumAttr, StringAttr, SymbolRefAttr
from commonir.ir.module import Module, Symbol
from commonir.ir.operation import Operation


def remove_unused_symbols(root: Module) -> int:
    """Removes unused symbols of a module and of those in it; how many went.

    A symbol stays when it is public (or nested, in the outermost module, which others may hold), or when something that
    stays refers to it.
    """
    tables = {op: _table(op) for op in (root, *root.nested()) if isinstance(op, Module)}
    symbols = [op for table in tables.values() for op in table.values()]
    # What is outside of any symbol but the modules around it is looked at with them.
    live: set[Operation] = {root, *[s for s in symbols if _is_visible(s, root)]}
    pending = [s for s in (root, *symbols) if s in live]
    while pending:
        for target in _referred(pending.pop(), tables):
            if target not in live:
                live.add(target)
                pending.append(target)
    gone = [s for s in symbols if s not in live]
    for symbol in gone:
        symbol.detach()
    return len(gone)


def _name(op: Operation) -> str:
    return op.symbol_name if isinstance(op, Symbol | Module) else ""


def _table(module: Module) -> dict[str, Operation]:
    """What a module holds under names."""
    return {name: op for op in module.body.operations if (name := _name(op))}


def _is_visible(symbol: Operation, root: Module) -> bool:
    stated = symbol.attribute_dictionary.get("sym_visibility")
    word = stated.value if isinstance(stated, StringAttr) else stated.keyword if isinstance(stated, EnumAttr) else ""
    return word != "private" and (word != "nested" or symbol.parent_op is root)


def _referred(op: Operation, tables: Mapping[Module, Mapping[str, Operation]]) -> Iterator[Operation]:
    """The symbols to which references lead from an operation and from what is in it, symbols in it left out."""
    pending = [op]
    while pending:
        at = pending.pop()
        for path in references_in(at.attribute_dictionary.values()):
            yield from _found(at, path, tables)
        for region in at.regions:
            for block in region.blocks:
                pending += [c for c in block.operations if not _name(c)]


def _found(
    user: Operation, path: tuple[str, ...], tables: Mapping[Module, Mapping[str, Operation]]
) -> Iterator[Operation]:
    """The symbols that a reference leads through, from the nearest module in which its first name is one."""
    for holder in user.ancestors():
        if isinstance(holder, Module) and path[0] in tables.get(holder, {}):
            at: Operation | None = holder
            for name in path:
                at = tables[at].get(name) if isinstance(at, Module) else None
                if at is None:
                    return
                yield at
            return


def references_in(attributes: Iterable[Attribute]) -> Iterator[tuple[str, ...]]:
    """The references to symbols in attributes, however deep."""
    pending = list(attributes)
    while pending:
        match pending.pop():
            case SymbolRefAttr(path=path):
                yield path
            case ArrayAttr(values=values):
                pending += values
            case DictionaryAttr(entries=entries):
                pending += [value for _, value in entries]
            case _:
                pass


__all__ = ["references_in", "remove_unused_symbols"]
