"""Every operation class that a module of a dialect defines is listed by the dialect."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType

import pytest

from commonir.ods import Dialects, definitions_in
from commonir.ods.dialect import OURS


def _modules(name: str) -> Iterator[ModuleType]:
    package = import_module(OURS[name].partition(":")[0])
    yield package
    for module in pkgutil.walk_packages(getattr(package, "__path__", ()), f"{package.__name__}."):
        yield import_module(module.name)


_MODULES = {name: tuple(_modules(name)) for name in OURS}


@pytest.mark.parametrize("name", OURS)
def test_every_definition_is_listed(name: str) -> None:
    dialect = Dialects().get(name)
    assert dialect is not None
    listed = {d for versions in dialect.operations.values() for d in versions}
    defined = {d for m in _MODULES[name] for d in definitions_in(vars(m), name) if d.__module__ == m.__name__}
    forgotten = sorted(f"{d.__module__.rpartition('.')[0]} lacks {d.__qualname__}" for d in defined - listed)
    assert not forgotten, "list these in the table in the __init__.py of their package (docs/contributing.md)"
