"""Symbol tables of a program, computed once, for passes that follow many references.

Source: MLIR, symbols and symbol tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from commonir.ir.attributes import ArrayAttr, Attribute, DictionaryAttr, EnumAttr, StringAttr, SymbolRefAttr
from commonir.ir.module import Function, Invocation, Module, Symbol
from commonir.ir.operation import Operation


class Symbols:
    """The symbol tables of the modules of a program, or of a part of it, as they are at construction."""

    __slots__ = ("_tables", "root")

    def __init__(self, root: Operation) -> None:
        self.root = root
        self._tables = {op: _table(op) for op in root.walk() if isinstance(op, Module)}

    def __iter__(self) -> Iterator[Operation]:
        for table in self._tables.values():
            yield from table.values()

    def along(self, user: Operation, path: tuple[str, ...]) -> Iterator[Operation]:
        """Yields the symbols of a path, starting in the innermost enclosing module that defines its first name."""
        for holder in user.ancestors():
            if isinstance(holder, Module) and path[0] in self._tables.get(holder, {}):
                yield from self._from(holder, path)
                return

    def _from(self, holder: Module, path: tuple[str, ...]) -> Iterator[Operation]:
        current: Operation | None = holder
        for name in path:
            current = self._tables.get(current, {}).get(name) if isinstance(current, Module) else None
            if current is None:
                return
            yield current

    def references(self) -> Mapping[Operation, Sequence[Operation]]:
        """Returns the symbols to which the program and each symbol refer, without the references of nested symbols.

        One walk finds all of them. Looking up a single reference takes longer the deeper it is nested.
        """
        result: dict[Operation, list[Operation]] = {}
        # The modules around that hold a name, the innermost last.
        visible: dict[str, list[Module]] = {}
        # Each with the symbol that it belongs to; a module once more, with none, when all in it was met.
        pending: list[tuple[Operation, Operation | None]] = [(self.root, self.root)]
        while pending:
            op, symbol = pending.pop()
            if isinstance(op, Module) and symbol is None:
                for name in self._tables[op]:
                    visible[name].pop()
                continue
            assert symbol is not None
            for path in references_in(op.attribute_dictionary.values()):
                if visible.get(path[0]):
                    result.setdefault(symbol, []).extend(self._from(visible[path[0]][-1], path))
            if isinstance(op, Module):
                pending.append((op, None))
                for name in self._tables[op]:
                    visible.setdefault(name, []).append(op)
            inside = [inner for region in op.regions for block in region.blocks for inner in block.operations]
            pending += [(inner, inner if name_of(inner) else symbol) for inner in inside]
        return result

    def referred(self, op: Operation) -> Iterator[Operation]:
        """Yields the symbols to which the attributes of an operation refer, including those on the path."""
        for path in references_in(op.attribute_dictionary.values()):
            yield from self.along(op, path)

    def called(self, op: Invocation) -> Function | None:
        """Returns the function that an operation invokes."""
        return next((f for f in self.referred(op) if isinstance(f, Function)), None)

    @staticmethod
    def is_private(symbol: Operation) -> bool:
        """Returns whether only the program itself can refer to a symbol: its visibility is private or nested."""
        return _visibility(symbol) in ("private", "nested")


def _visibility(symbol: Operation) -> str:
    declared = symbol.attribute_dictionary.get("sym_visibility")
    return (
        declared.value
        if isinstance(declared, StringAttr)
        else declared.keyword
        if isinstance(declared, EnumAttr)
        else ""
    )


def name_of(op: Operation) -> str:
    """Returns the symbol name of an operation; "" if it has none."""
    return op.symbol_name if isinstance(op, Symbol | Module) else ""


def _table(module: Module) -> dict[str, Operation]:
    """Returns the symbol table of a module; of two with one name, the first."""
    out: dict[str, Operation] = {}
    for op in module.body.operations:
        name = name_of(op)
        if name:
            out.setdefault(name, op)
    return out


def references_in(attributes: Iterable[Attribute]) -> Iterator[tuple[str, ...]]:
    """Yields the symbol references in attributes, also nested ones."""
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
