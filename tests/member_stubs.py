"""Writes the stubs of packages that state their members in a table: `python -m tests.member_stubs`.

A stub `__init__.pyi` says the same names to type checkers and editors, one import each.
"""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parent.parent / "src" / "commonir"
PACKAGES = (
    *(f"dialects/{name}" for name in ("ark", "common_ir", "core", "onnx", "onnx/microsoft")),
    *(f"dialects/mlir/{name}" for name in ("arith", "scf", "shape", "stablehlo", "tensor", "tosa")),
    "ir",
    "notation",
    "ods",
    "symbolic",
)


def members_of(tree: ast.Module) -> dict[str, str]:
    """Returns the names that the table of a package states, separated by spaces, by module."""
    tables = [
        node.args[1]
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in {"import_members", "LazyDefinitions"}
    ]
    (table,) = tables
    return dict(ast.literal_eval(table))


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


def stub_of(name: str) -> str:
    """Returns the text of the stub of a package."""
    package = f"commonir.{name.replace('/', '.')}"
    tree = ast.parse((ROOT / name / "__init__.py").read_text())
    own = [line for statement in tree.body for line in _own(statement, package)]
    imports = [line for line in own if line.startswith("from ")]
    for module, names in members_of(tree).items():
        imports += [f"from {package}.{module} import {member} as {member}" for member in names.split()]
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
