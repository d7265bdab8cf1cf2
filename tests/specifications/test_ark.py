"""The statements of the document on ARK model files, in `ark.toml`.

A case is a model file in JSON, or several, one for each rank, with a line `---` between them. A short notation writes
out whole files. It has a line for each tensor, then one for each node with its operations:

    rank 0 of 2                                              only where there are several ranks
    t0 FP32 [2, 3]                                           all of buffer 0, on this rank
    t1 FP32 [2, 3] {"Buffer": {"Id": 7}, "Strides": [4, 3]}  with other fields
    Add t0 t1 -> t1 = t2                                     t2 is t1, as the operation leaves it
    ReduceSum t2 -> t3 = t4 {"Axis": {"INT": 1}, "KeepDim": {"BOOL": false}}
    Exp t4 -> t4 = t5; Sqrt t5 -> t5 = t6                    two operations of one node

`ProducerNodeIds` and `ConsumerNodeIds` follow from the tensors that the operations name. `inputs` of a case are
expressions of numpy, `outputs` those that a run must equal.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import commonir as cir
from commonir.dialects import ark

from tests.specifications import statements

DOCUMENT = statements.read("ark")

TOLERANCES = {np.dtype(np.float16): 2e-3, np.dtype(ml_dtypes.bfloat16): 1e-2}


class _Tensors(dict[str, dict[str, Any]]):
    """The tensors of a short text by their names."""

    def read(self, line: str) -> None:
        name, data_type, rest = line.split(maxsplit=2)
        shape, end = json.JSONDecoder().raw_decode(rest)
        fields: dict[str, Any] = json.loads(rest[end:] or "{}")
        number = int(name[1:])
        buffer = {"Id": number, "Rank": -1, "SendTags": [], "RecvTags": []} | fields.pop("Buffer", {})
        self[name] = {
            "Id": number,
            "DataType": data_type,
            "Buffer": buffer,
            "Shape": shape,
            "Strides": shape,
            "Offsets": [0] * len(shape),
            "Pads": [1] * len(shape),
        } | fields

    def named(self, names: str) -> list[dict[str, Any]]:
        return [self[name] for name in names.split()]


def _op(text: str, tensors: _Tensors) -> dict[str, Any]:
    head, brace, args = text.partition("{")
    called, _, result = head.partition("=")
    reads, _, writes = called.partition("->")
    name, *read = reads.split()
    read_tensors, written = tensors.named(" ".join(read)), tensors.named(writes)
    for new in result.split():
        if new not in tensors:
            tensors[new] = (written or read_tensors)[0] | {"Id": int(new[1:])}
    return {
        "Type": name,
        "Name": name.lower(),
        "IsVirtual": name == "Tensor",
        "ReadTensors": read_tensors,
        "WriteTensors": written,
        "ResultTensors": tensors.named(result),
        "Args": json.loads(brace + args or "{}"),
    }


def _file(lines: list[str]) -> str:
    """Returns the JSON text of a rank that is written in the short notation."""
    rank, world = 0, 1
    tensors = _Tensors()
    nodes: list[list[dict[str, Any]]] = []
    for line in lines:
        if line.startswith("rank "):
            _, rank, _, world = line.split()
        elif line.startswith("t"):
            tensors.read(line)
        else:
            nodes.append([_op(text, tensors) for text in line.split(";")])
    producer = {t["Id"]: n for n, ops in enumerate(nodes) for op in ops for t in op["ResultTensors"]}
    before = [
        sorted(
            {producer[t["Id"]] for op in ops for t in (*op["ReadTensors"], *op["WriteTensors"]) if t["Id"] in producer}
            - {n}
        )
        for n, ops in enumerate(nodes)
    ]
    content = [
        {
            "Id": n,
            "ProducerNodeIds": before[n],
            "ConsumerNodeIds": [m for m, ids in enumerate(before) if n in ids],
            "Ops": ops,
        }
        for n, ops in enumerate(nodes)
    ]
    return json.dumps({"Rank": int(rank), "WorldSize": int(world), "Nodes": content})


def _paths(case: statements.Case, folder: Path) -> Path | list[Path]:
    """Writes the files of a case."""
    out: list[Path] = []
    for n, part in enumerate(case.text.strip().split("\n---\n")):
        written = part if part[:1] in "{[" else _file([line for line in part.splitlines() if line])
        out.append(folder / f"net.rank{n}.json")
        out[-1].write_text(written, "utf-8")
    return out if len(out) > 1 else out[0]


def _shown(finding: cir.Diagnostic) -> str:
    return f"{finding.code.id}: {finding.message}"


def _run_case(case: statements.Case, folder: Path) -> None:
    """Runs a program on the inputs of a case and compares its outputs."""
    module = cir.load(_paths(case, folder))
    space: dict[str, object] = {"np": np, "bf16": ml_dtypes.bfloat16}
    inputs: Mapping[str, str] = case.other.get("inputs", {})  # type: ignore[assignment]
    arrays = {name: np.asarray(eval(text, space)) for name, text in inputs.items()}
    space |= {name.replace(".", "_"): array for name, array in arrays.items()}
    found = cir.run(module, arrays)
    outputs: Mapping[str, str] = case.other["outputs"]  # type: ignore[assignment]
    assert sorted(found) == sorted(outputs)
    for name, text in outputs.items():
        expected = np.asarray(eval(text, space))
        actual = np.asarray(found[name])
        assert actual.shape == expected.shape, name
        if expected.dtype.kind in "iu" or actual.dtype.kind in "iu":
            np.testing.assert_array_equal(actual, expected, err_msg=name)
        else:
            bound = TOLERANCES.get(actual.dtype, 1e-6)
            wide = actual.astype(np.float32), expected.astype(np.float32)
            np.testing.assert_allclose(*wide, rtol=bound, atol=bound, err_msg=name)


def findings_of(case: statements.Case, folder: Path) -> list[cir.Diagnostic]:
    """Returns the findings of a check of the files of a case."""
    try:
        return cir.check(_paths(case, folder))[1]
    except cir.DiagnosticError as error:
        return list(error.diagnostics)


def _documents(files: list[Path]) -> list[object]:
    return [json.loads(path.read_text("utf-8")) for path in files]


@pytest.mark.parametrize("case", [pytest.param(case, id=id) for id, case in DOCUMENT.cases("obeys")])
def test_what_obeys_is_accepted(case: statements.Case, tmp_path: Path) -> None:
    assert [_shown(d) for d in findings_of(case, tmp_path)] == case.other.get("findings", [])
    paths = _paths(case, tmp_path)
    module = cir.load(paths)
    files = paths if isinstance(paths, list) else [paths]
    for name, program in (("again", module), ("text", cir.loads(str(module), format="mlir"))):
        cir.save(program, tmp_path / f"{name}.ark.json")
        assert _documents(sorted(tmp_path.glob(f"{name}*"))) == _documents(files)
    if "outputs" in case.other:
        _run_case(case, tmp_path)


@pytest.mark.parametrize("case", [pytest.param(case, id=id) for id, case in DOCUMENT.cases("breaks")])
def test_what_breaks_is_reported(case: statements.Case, tmp_path: Path) -> None:
    findings = findings_of(case, tmp_path)
    [finding] = [d for d in findings if case.message in _shown(d)][:1] or [None]
    assert finding is not None, [str(d) for d in findings]
    assert finding.where == case.other.get("where", "")


def test_integers_of_64_bits_have_their_limits() -> None:
    for name, low, high in (("INT64", -(1 << 63), (1 << 63) - 1), ("UINT64", 0, (1 << 64) - 1)):
        argument = ark.ARGUMENTS[name]
        assert [argument.coerce(low), argument.coerce(high)] == [low, high]
        for number in (low - 1, high + 1):
            with pytest.raises(ValueError, match=f"expected a number between {low} and {high}, found {number}"):
                argument.coerce(number)


@pytest.mark.parametrize(
    "value",
    [
        {"TENSOR": {"Id": 0, "DataType": "FP32", "Shape": [2]}},
        {"OFFSET": {"BufferId": 0, "Value": 8}},
        {"INT64": 1},
        {"UINT64": 1},
    ],
)
def test_no_operation_has_tensors_and_offsets_as_arguments(value: dict[str, object], tmp_path: Path) -> None:
    text = _file(
        [
            "t0 FP32 [2]",
            "t1 FP32 [1]",
            f"ReduceSum t0 -> t1 = t2 {json.dumps({'Axis': value, 'KeepDim': {'BOOL': True}})}",
        ]
    )
    [finding] = findings_of(statements.Case(text), tmp_path)
    [name] = value
    assert _shown(finding) == f"E0271: the argument must have the type INT, found '{name}'"
    assert finding.where == f"Nodes[0].Ops[0].Args.Axis.{name}"
