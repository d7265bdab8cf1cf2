"""Dialects whose modules are loaded when one of their operations is asked for."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from commonir.ods import Dialects
from commonir.ods.dialect import LazyDefinitions

from tests.member_stubs import PACKAGES, ROOT, members_of, package_of, stub_of

LATE = ("arith", "tensor", "tosa")
LOADED = """
import sys
from commonir.ods import Dialects
found = Dialects().find(sys.argv[1])
assert found is not None and found.name == sys.argv[1], found
prefix = f"commonir.dialects.mlir.{sys.argv[1].partition('.')[0]}."
print(*sorted(name.removeprefix(prefix) for name in sys.modules if name.startswith(prefix)))
"""


def modules_loaded_by(name: str) -> set[str]:
    done = subprocess.run([sys.executable, "-c", LOADED, name], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("name", LATE)
def test_members_are_those_that_type_checkers_see(name: str) -> None:
    package = import_module(f"commonir.dialects.mlir.{name}")
    assert package.__file__ is not None
    reported = {
        (node.module, alias.name)
        for node in ast.walk(ast.parse(Path(package.__file__).with_suffix(".pyi").read_text()))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{package.__name__}.")
        for alias in node.names
    }
    members = [(module, member) for module, member in reported if hasattr(package, member)]
    assert len(members) == len(reported) > 20
    for module, member in reported:
        assert getattr(package, member) is getattr(import_module(module or ""), member)
    dialect = Dialects().get(name)
    assert dialect is not None
    defined = {d.__name__ for versions in dialect.operations.values() for d in versions}
    assert defined <= {member for _, member in reported}


@pytest.mark.parametrize("name", LATE)
def test_each_operation_is_found_by_its_name(name: str) -> None:
    dialect = Dialects().get(name)
    assert dialect is not None
    for operation, (definition,) in dialect.operations.items():
        assert dialect.find(operation) is definition
        assert Dialects().find(operation) is definition
    assert dialect.find(f"{name}.nothing") is None
    assert dialect.find("other.add") is None


@pytest.mark.parametrize(
    ("name", "loaded"),
    [
        ("tosa.clz", {"base", "elementwise", "numbers"}),
        ("tosa.intdiv", {"base", "elementwise", "numbers"}),
        ("tensor.extract", {"base", "elements"}),
    ],
)
def test_an_operation_loads_its_module_and_what_that_needs(name: str, loaded: set[str]) -> None:
    assert modules_loaded_by(name) == loaded


def test_an_operation_does_not_load_the_modules_of_others() -> None:
    assert "conversions" not in modules_loaded_by("arith.addi")


def test_an_operation_that_its_class_is_not_called_after_is_found_among_all() -> None:
    assert modules_loaded_by("tosa.dim") == {
        *("base", "elementwise", "numbers"),
        *("control", "layout", "quantization", "reduction", "sampling", "shapes", "windows"),
    }


def test_a_member_that_is_not_there_is_an_attribute_error() -> None:
    definitions = LazyDefinitions("commonir.dialects.mlir.tensor", {"elements": "Dim_ Empty"})
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        definitions.member("Nothing")
    assert definitions.called("tensor.nothing") is None


@pytest.mark.parametrize("package", PACKAGES)
def test_stubs_are_those_of_the_tables_of_members(package: str) -> None:
    assert (ROOT / package / "__init__.pyi").read_text() == stub_of(package)


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_have_the_members_of_their_tables(package: str) -> None:
    loaded = import_module(package_of(package))
    for module, names in members_of(package).items():
        source = import_module(module)
        for name in names.split():
            member, expected = getattr(loaded, name), getattr(source, name)
            # Public functions check their arguments first.
            assert member is expected or member.__wrapped__ is expected
