"""Writes the stubs of packages that state their members in a table: `python -m tests.member_stubs`.

A stub `__init__.pyi` says the same names to type checkers and editors, one import each.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent / "src" / "commonir"
PACKAGES = (
    "",
    "api",
    *(f"dialects/{name}" for name in ("ark", "common_ir", "core", "onnx", "onnx/microsoft")),
    *(f"dialects/mlir/{name}" for name in ("arith", "scf", "shape", "stablehlo", "tensor", "tosa")),
    "ir",
    "notation",
    "ods",
    "symbolic",
)


def package_of(name: str) -> str:
    """Returns the full name of a package; "" is `commonir` itself."""
    return ".".join(["commonir", *filter(None, name.split("/"))])


def members_of(name: str) -> dict[str, str]:
    """Returns the names that the tables of a package state, separated by spaces, by full name of the module."""
    tree = _parsed(name)
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in {"import_members", "lazy_members", "LazyDefinitions"}
    ]
    tables: list[tuple[str, ast.expr]] = [
        (package_of(name), call.args[1]) for call in calls if isinstance(call.args[1], ast.Dict)
    ]
    if name in ("", "api"):
        # What is public is stated in `commonir` itself, functions of the API too.
        tables.append(("commonir", _public()))
    result: dict[str, str] = {}
    for package, table in tables:
        for module, names in dict(ast.literal_eval(table)).items():
            full = f"{package}.{module}"
            if name and not full.startswith(package_of(name)):
                continue  # a class, which is a member of `commonir` only
            result[full] = f"{result.get(full, '')} {names}".strip()
    return result


def _parsed(name: str) -> ast.Module:
    return ast.parse((ROOT / name / "__init__.py").read_text())


def _public() -> ast.expr:
    tables = [node.value for node in _parsed("").body if isinstance(node, ast.AnnAssign) and node.value is not None]
    (table,) = tables
    return table


def _own(statement: ast.stmt, package: str) -> list[str]:
    """Returns what a statement of the package itself adds to the stub."""
    match statement:
        case ast.ImportFrom(module=str(module), names=names) if f"{module}.".startswith(f"{package}."):
            return [f"from {module} import {name.name} as {name.asname or name.name}" for name in names]
        case ast.ImportFrom(module=str(module), names=names):
            # What is imported under its own name is a member of the package too.
            return [f"from {module} import {name.name} as {name.name}" for name in names if name.asname == name.name]
        case ast.AnnAssign(target=ast.Name(id=name)) if not name.startswith("_"):
            return [f"{name}: {ast.unparse(statement.annotation)}"]
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name(id=other)):
            return [f"{name} = {other}"]
        case ast.FunctionDef(name=name, returns=ast.expr() as returned) if not name.startswith("_"):
            return [f"def {name}({ast.unparse(statement.args)}) -> {ast.unparse(returned)}: ..."]
        case _:
            return []


def _statements(name: str) -> Iterator[ast.stmt]:
    """Yields the statements of a package, with those for type checkers alone."""
    for statement in _parsed(name).body:
        yield from statement.body if isinstance(statement, ast.If) else [statement]


def stub_of(name: str) -> str:
    """Returns the text of the stub of a package."""
    package = package_of(name)
    own = [line for statement in _statements(name) for line in _own(statement, package)]
    imports = [line for line in own if line.startswith("from ")]
    for module, names in members_of(name).items():
        imports += [f"from {module} import {member} as {member}" for member in names.split()]
    if any("Dialect" in line for line in own if line not in imports):
        imports.append("from commonir.ods import Dialect")
    lines = [
        "# Written by `python -m tests.member_stubs` from the table in __init__.py.",
        "",
        *sorted(set(imports)),
        "",
    ]
    return "\n".join([*lines, *[line for line in own if line not in imports], ""])


if __name__ == "__main__":
    for package in PACKAGES:
        (ROOT / package / "__init__.pyi").write_text(stub_of(package))
