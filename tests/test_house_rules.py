"""Limits on the length of source files and functions (docs/contributing.md)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src"
MAX_FILE_LINES = 800
MAX_FUNCTION_LINES = 60


def too_long(path: Path) -> Iterator[str]:
    text = path.read_text(encoding="utf-8")
    count = len(text.splitlines())
    if count > MAX_FILE_LINES:
        yield f"{path}: {count} lines"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            count = node.end_lineno - node.lineno + 1
            if count > MAX_FUNCTION_LINES:
                yield f"{path}:{node.lineno}: {node.name} has {count} lines"


@pytest.mark.slow
def test_no_source_file_or_function_is_too_long() -> None:
    assert [line for path in sorted(SOURCE.rglob("*.py")) for line in too_long(path)] == []


def test_a_function_and_a_file_that_are_too_long_are_found(tmp_path: Path) -> None:
    path = tmp_path / "long.py"
    path.write_text("def f():\n" + "    pass\n" * MAX_FUNCTION_LINES, encoding="utf-8")
    assert list(too_long(path)) == [f"{path}:1: f has 61 lines"]
    path.write_text("x = 1\n" * (MAX_FILE_LINES + 1), encoding="utf-8")
    assert list(too_long(path)) == [f"{path}: 801 lines"]
