"""Limits on the length of source files and functions, and on files of slow tests (docs/testing.md)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src"
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


def files_of_tests(folder: Path) -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(folder.rglob("test_*.py")):
        yield path, ast.parse(path.read_text(encoding="utf-8"))


def all_slow(tree: ast.Module) -> bool:
    """Returns whether each test of a file is marked slow."""
    tests = [f for f in tree.body if isinstance(f, ast.FunctionDef) and f.name.startswith("test_")]
    return all(any(ast.unparse(d) == "pytest.mark.slow" for d in f.decorator_list) for f in tests)


@pytest.mark.slow
def test_a_file_of_slow_tests_names_a_file_of_fast_tests_beside_it() -> None:
    trees = dict(files_of_tests(TESTS))
    for path, tree in trees.items():
        if all_slow(tree):
            fast = [path.with_name(name) for name in re.findall(r"test_\w+\.py", ast.get_docstring(tree) or "")]
            assert any(other in trees and not all_slow(trees[other]) for other in fast), path


def test_a_file_with_one_fast_test_is_not_all_slow() -> None:
    slow = "@pytest.mark.slow\ndef test_a(): pass\n"
    assert all_slow(ast.parse(slow))
    assert not all_slow(ast.parse(slow + "def test_b(): pass\n"))
