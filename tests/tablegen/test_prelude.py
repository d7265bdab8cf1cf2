"""The prelude, which stands for MLIR's TableGen files where none are installed, means the same as they do.

The oracles are the files of LLVM 22, llvm-tblgen and mlir-tblgen, and what mlir-opt printed of programs.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import commonir as cir
from commonir import tablegen
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.ir.attributes import Attribute
from commonir.ods import Dialects
from commonir.ods.from_records import Loaded
from commonir.ods.from_records.values import is_a
from commonir.ods.terms import StorageCheck
from commonir.rewrite.sample_types import sampled, sampled_attributes
from commonir.tablegen import Record, headers
from commonir.tablegen.values import DefRef
from commonir.text.loaded_definitions import load_dialects
from commonir.text.printer import print_module

from tests.mlir_programs.oracle import SEPARATOR
from tests.ods.from_records import test_plugins, test_probe
from tests.tablegen.oracle import first_difference, llvm_tblgen, mlir_include

FILES = Path(__file__).with_name("prelude")
RECORDS = Path(__file__).parents[1] / "ods" / "from_records"
FAULTS = """
func.func @f(%x: tensor<2xf32>, %y: tensor<2xi32>) {
  %a = my.add %x, %x : tensor<2xf32>
  "my.yield"(%a) : (tensor<2xf32>) -> ()
  return
}
"""


def test_a_dialect_is_checked_without_llvm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(headers, "installed_headers", lambda: None)
    dialects = cir.load_dialects([FILES / "sample.td"])
    module = cir.loads(FAULTS, format="mlir", dialects=dialects)
    messages = [found.message for found in cir.verify(module, dialects=dialects)]
    # Both traits of the record are violated.
    assert [message.split(":")[1].strip() for message in messages] == ["Terminator", "HasParent(my.pick)"]


# -- definitions and programs


class _Said(NamedTuple):
    code: str
    message: str
    line: int | None


def _said(diagnostic: Diagnostic) -> _Said:
    return _Said(str(diagnostic.code), re.sub(r"anonymous_\d+", "anonymous", diagnostic.message), diagnostic.line)


def _definitions(path: Path, include_dir: object) -> list[object]:
    """Returns the operations of a file with the files of a folder: pages and what is not checked; else its faults."""
    try:
        dialects = cir.load_dialects([path], [str(include_dir)])
    except DiagnosticError as error:
        return [_said(each) for each in error.diagnostics]
    return [
        (name, str(version.__doc__), [str(each) for each in getattr(version, "unknown", ())])
        for dialect in dialects
        for name, versions in sorted(dialect.operations.items())
        for version in versions
    ]


@pytest.mark.parametrize("name", ["sample", pytest.param("standalone", marks=pytest.mark.slow)])
def test_definitions_are_those_of_the_files_of_mlir(name: str) -> None:
    path = FILES / f"{name}.td"
    found = _definitions(path, headers.PRELUDE)
    assert len(found) > 1
    assert found == _definitions(path, mlir_include())


@pytest.mark.slow
@pytest.mark.parametrize("path", [FILES / "toy.td", *sorted(RECORDS.glob("*.td"))], ids=lambda path: path.stem)
def test_definitions_of_many_files_are_those_of_the_files_of_mlir(path: Path) -> None:
    found = _definitions(path, headers.PRELUDE)
    assert found
    assert found == _definitions(path, mlir_include())


def _judged(name: str, include_dir: object) -> Iterator[Sequence[object]]:
    """Yields the texts of each program of a dialect in both forms, and its faults."""
    dialects = load_dialects([FILES / f"{name}.td"], [str(include_dir)])
    for program in (FILES / f"{name}.mlir").read_text().split(SEPARATOR):
        try:
            module = cir.loads(program, format="mlir", dialects=dialects)
        except DiagnosticError as error:
            yield [_said(each) for each in error.diagnostics]
            continue
        known = Dialects(dialects=dialects)
        yield [print_module(module, generic=generic, dialects=known) for generic in (False, True)]
        yield [_said(each) for each in cir.verify(module, dialects=dialects)]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "count"), [("standalone", 3), ("toy", 7)])
def test_programs_are_judged_and_printed_as_with_the_files_of_mlir(name: str, count: int) -> None:
    found = list(_judged(name, headers.PRELUDE))
    assert found == list(_judged(name, mlir_include()))
    # `count` findings, of the operations that are wrong in the programs.
    assert (
        sum(len(each) for each in found if isinstance(each, list) and isinstance(each[0] if each else 0, tuple))
        == count
    )


@pytest.mark.slow
def test_programs_are_printed_and_refused_as_by_mlir_opt(monkeypatch: pytest.MonkeyPatch) -> None:
    @cache
    def dialects(name: str = "probe") -> Dialects:
        loaded = load_dialects([RECORDS / f"{name}.td"], [str(headers.PRELUDE)])
        return Dialects(dialects=loaded, allows_unregistered=name != "probe")

    monkeypatch.setattr(test_plugins, "_dialects", dialects)
    monkeypatch.setattr(test_probe, "_dialects", dialects)
    for name, program in test_plugins._programs("accepted"):
        test_plugins.test_what_mlir_opt_accepts_is_printed_as_it_does(name, program)
    for name, program in test_plugins._programs("refused"):
        test_plugins.test_what_mlir_opt_refuses_is_refused(name, program)
    for custom, generic in test_probe._PAIRS:
        test_probe.test_both_forms_are_those_of_mlir_opt(custom, generic)


@pytest.mark.slow
def test_rules_are_those_of_the_files_of_mlir() -> None:
    def same(*values: object) -> bool:
        return all(value is values[0] for value in values)

    loaded = [
        cir.load_rules(FILES / "toy.td", [str(folder)], functions={"TypesAreIdentical": same})
        for folder in (headers.PRELUDE, mlir_include())
    ]
    shown = [[(each.name, str(each), each.benefit) for each in rules.rewrites] for rules in loaded]
    assert shown[0] == shown[1]
    assert [name for name, _, _ in shown[0]] == ["MulFirst", "NoReshape", "ReshapeTwice", "TransposeTwice"]


# -- constraints


def _described(loaded: Loaded, record: Record) -> tuple[object, ...]:
    """Returns the facts of a constraint: words, type, default, C++ that is not understood, and what it admits."""
    if not is_a(record, "AttrConstraint", "Property"):
        constraint = loaded.type_constraint(record)
        unknown = bool(loaded.not_understood(record))
        return constraint.summary, constraint.builds, unknown, sampled(constraint)
    check = loaded.attribute_check(record)

    def admits(attribute: Attribute) -> bool:
        try:
            return check.admits(attribute)
        except (TypeError, AttributeError):  # a condition on the Python value of a property
            return False

    attributes = loaded._attributes
    stored = check.attr_type
    values = [attributes.default(record), attributes.elided(record), attributes.value(record)]
    name, summary = [re.sub(r"anonymous_\d+", "", each) for each in (stored.name, check.summary)]
    admitted = sampled_attributes(StorageCheck(check.summary, admits))
    return type(stored), name, summary, bool(check.unknown), [repr(each) for each in values], admitted


def _constraints(include_dir: object) -> dict[str, tuple[object, ...]]:
    """Returns all named constraints of a folder, and those of `constraints.td` by their line."""
    loaded = Loaded(tablegen.load(FILES / "constraints.td", [str(include_dir)]), Dialects())
    out: dict[str, tuple[object, ...]] = {}
    for record in loaded.records.defs.values():
        one = record.fields.get("one")
        if one is not None and isinstance(one.value, DefRef):
            out[f"line {record.locations[0].line}"] = _described(loaded, one.value.record)
        elif not record.is_anonymous and is_a(record, "TypeConstraint", "AttrConstraint", "Property"):
            out[record.name_text] = _described(loaded, record)
    return out


@pytest.mark.slow
def test_constraints_admit_what_those_of_mlir_admit() -> None:
    ours, theirs = _constraints(headers.PRELUDE), _constraints(mlir_include())
    assert len(theirs) > 350
    assert {name: (ours.get(name), each) for name, each in theirs.items() if ours.get(name) != each} == {}


# -- names and parameters


def _left_out(name: str) -> bool:
    """Returns whether the prelude leaves out a name: definitions of the builtin dialect, and parts of C++ code."""
    return name.startswith(("Builtin_", "_", "snakeCase")) or name.endswith("Loc") or name in _LEFT_OUT


_LEFT_OUT = {
    "FileLineColRange",
    "HasPromiseOrImplementsTypeInterface",
    "InputAddressIsCombinationOf",
    "LocationAttrDef",
    "ModuleOp",
    "NormalizeIndex",
    "StridedLayoutAttr",
    "UnrealizedConversionCastOp",
}
_OTHER_PARENTS = {"AllMatchPred", "AllMatchSameOperatorPred", "AnyMatchOperatorPred", "AnyPred", "TCopVTEtAreSameAt"}
"""Conditions that are trees here, and text in MLIR."""


def _all_files(folder: Path, *, besides: tuple[str, ...] = ()) -> list[str]:
    paths = sorted(path for each in ("IR", "Interfaces") for path in (folder / "mlir" / each).glob("*.td"))
    return [path.relative_to(folder).as_posix() for path in paths if path.stem not in besides]


def _records_of(folder: Path, files: list[str], tmp_path: Path) -> tablegen.Records:
    path = tmp_path / "all.td"
    path.write_text("".join(f'include "{each}"\n' for each in files))
    return tablegen.load(path, [str(folder)])


@pytest.mark.slow
def test_names_parameters_and_fields_are_those_of_mlir(tmp_path: Path) -> None:
    upstream = _all_files(mlir_include(), besides=("BuiltinDialectBytecode", "BytecodeBase"))
    theirs = _records_of(mlir_include(), upstream, tmp_path)
    ours = _records_of(headers.PRELUDE, _all_files(headers.PRELUDE), tmp_path)
    names = {name for name, record in theirs.defs.items() if not record.is_anonymous}
    assert {name for name in names - ours.defs.keys() if not _left_out(name)} == set()
    assert {name for name in theirs.classes.keys() - ours.classes.keys() if not _left_out(name)} == set()
    added = [name for name in ours.classes.keys() - theirs.classes.keys() if not name.startswith("Prelude_")]
    assert added == []
    for name, record in theirs.classes.items():
        own = ours.classes.get(name)
        if own is None:
            continue
        parameters = [(a.rpartition(":")[2], str(record.fields[a].type)) for a in record.args]
        assert [(a.rpartition(":")[2], str(own.fields[a].type)) for a in own.args] == parameters, name
        if name not in _OTHER_PARENTS:
            assert {each.name_text for each in record.ancestors()} <= {each.name_text for each in own.ancestors()}, name
            assert {field for field in record.fields if ":" not in field} <= own.fields.keys(), name


@pytest.mark.slow
def test_llvm_tblgen_and_mlir_tblgen_read_the_prelude(tmp_path: Path) -> None:
    records = _records_of(headers.PRELUDE, _all_files(headers.PRELUDE), tmp_path)
    folders = ["-I", str(headers.PRELUDE)]
    command = [llvm_tblgen(), "--dump-json", *folders, str(tmp_path / "all.td")]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert first_difference(tablegen.records_json(records), json.loads(shown)) is None
    program = str(Path(llvm_tblgen()).resolve().parent / "mlir-tblgen")
    for name in ("sample", "standalone", "toy", "constraints"):
        for folder in (headers.PRELUDE, mlir_include()):
            # C++ is generated with the files of MLIR only.
            how = "--print-records" if folder == headers.PRELUDE else "--gen-op-defs"
            command = [program, how, "-I", str(folder), str(FILES / f"{name}.td")]
            subprocess.run(command, check=True, capture_output=True)


@pytest.mark.slow
def test_what_the_prelude_shares_with_the_files_of_mlir_is_names() -> None:
    def lines(folder: Path) -> set[str]:
        text = "\n".join(path.read_text("utf-8", "replace") for path in folder.rglob("*.td"))
        return {short for line in text.splitlines() if len(short := "".join(line.split())) > 25}

    ours = lines(headers.PRELUDE)
    shared = ours & lines(mlir_include() / "mlir")
    assert len(shared) < len(ours) * 0.15
    # None has C++: a statement, a call, or an access to a value.
    assert [line for line in shared if re.search(r"\$_|::get|\.get|\breturn\b|[a-z]\(\)", line)] == []
