"""Numbers of operations and symbols of a block are found once, until the block changes."""

from __future__ import annotations

from commonir.ir.module import Module, Symbol, symbols_named
from commonir.ir.operation import Operation
from commonir.ods import Dialects
from commonir.text.parser import parse_module

_TEXT = "func.func private @f()\nfunc.func private @g()\nfunc.func private @h()"


def test_positions_are_counted_once_and_again_after_a_change() -> None:
    module = parse_module(_TEXT, Dialects())
    seen: list[str] = []

    def is_counted(op: Operation) -> bool:
        seen.append(_name(op))
        return _name(op) != "f"

    f, g, h = module.body.operations
    assert list(module.body.positions(is_counted).values()) == [0, 0, 1]
    assert module.body.positions(is_counted)[h] == 1
    assert seen == ["f", "g", "h"]
    g.erase()
    assert dict(module.body.positions(is_counted)) == {f: 0, h: 0}
    assert seen[3:] == ["f", "h"]


def test_symbols_are_found_after_each_change() -> None:
    module = parse_module(_TEXT, Dialects())
    assert _named(module, "g") == ["g"]
    assert _named(module, "none") == []
    next(op for op in module.body.operations if _name(op) == "g").erase()
    assert _named(module, "g") == []
    module.body.append(
        next(iter(parse_module("func.func private @none()", Dialects()).body.operations)).clone_shallow((), ())
    )
    assert _named(module, "none") == ["none"]


def _name(op: Operation) -> str:
    return op.symbol_name if isinstance(op, Symbol) else ""


def _named(module: Module, name: str) -> list[str]:
    return [_name(op) for op in symbols_named(module.body, name)]
