"""The cases: where they come from, how they are kept, and how their data are read, all by the onnx package itself."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import warnings
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import onnx
from onnx import numpy_helper

Array: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.generic]]
Value: TypeAlias = "Array | Sequence[Value] | None"
"""A tensor, a sequence, or an optional that is absent."""

ON_DISK = ("simple", "pytorch-converted", "pytorch-operator")
KINDS = ("node", *ON_DISK)
FOLDER_VARIABLE = "COMMONIR_ONNX_SUITE"

_EXPANDED = "_expanded"


@dataclass(frozen=True)
class Case:
    """One case. Both tolerances are as numpy's `allclose` has them."""

    name: str
    kind: str
    operator: str
    """The operator that a case of kind `node` tests, with its domain unless that is the default; otherwise the kind."""
    folder: str
    rtol: float
    atol: float

    @property
    def model(self) -> Path:
        return Path(self.folder) / "model.onnx"

    @property
    def is_expanded(self) -> bool:
        """Whether the operator is replaced by the nodes of its function body."""
        return _EXPANDED in self.name


@dataclass(frozen=True)
class DataSet:
    """Inputs by name, and expected outputs in order of the model's outputs."""

    inputs: Mapping[str, Value]
    outputs: Sequence[Value]


def suite_folder() -> Path:
    """The folder of the generated cases, for this version of onnx."""
    named = os.environ.get(FOLDER_VARIABLE)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(named) if named else cache / "commonir" / f"onnx-suite-{onnx.__version__}"


def load_cases(kinds: Iterable[str] = KINDS) -> list[Case]:
    """The cases of some kinds, in order of their names; those in memory are generated when they are not kept yet."""
    result = [case for kind in kinds for case in (_node_cases() if kind == "node" else _disk_cases(kind))]
    return sorted(result, key=lambda case: (KINDS.index(case.kind), case.name))


def selected(cases: Sequence[Case], names: Sequence[str]) -> list[Case]:
    """The cases that have one of the names, with or without `test_`, or are about one of the operators named.

    Raises: KeyError with a name that nothing has.
    """
    if not names:
        return list(cases)
    out: dict[str, Case] = {}
    for name in names:
        bare = name.removeprefix("test_")
        result = [c for c in cases if name in (c.operator, c.operator.rpartition(".")[2])] or [
            c for c in cases if c.name.removeprefix("test_") == bare
        ]
        if not result:
            raise KeyError(name)
        out |= {c.name: c for c in result}
    return list(out.values())


def _disk_cases(kind: str) -> Iterator[Case]:
    from onnx.backend.test.loader import load_model_tests  # noqa: PLC0415  slow: imports every case

    for case in load_model_tests(kind=kind):
        assert case.model_dir is not None
        yield Case(case.name, kind, kind, case.model_dir, case.rtol, case.atol)


def _node_cases() -> list[Case]:
    folder = suite_folder()
    index = folder / "index.json"
    if not index.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            result = Path(scratch) / "made"
            _generate(result)
            # Another process may have been faster.
            if not index.exists():
                shutil.rmtree(folder, ignore_errors=True)
                result.rename(folder)
    entries: list[dict[str, str | float]] = json.loads(index.read_text())
    return [_case_of(entry, folder) for entry in entries]


def _case_of(entry: Mapping[str, str | float], folder: Path) -> Case:
    name, operator = str(entry["name"]), str(entry["operator"])
    return Case(name, "node", operator, str(folder / name), float(entry["rtol"]), float(entry["atol"]))


def _generate(folder: Path) -> None:
    """Writes the cases that onnx makes in memory, and an index of them."""
    # Importing the cases computes their data, with warnings of all kinds.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.loader import load_node_model_tests  # noqa: PLC0415

        result = load_node_model_tests()
    operators: dict[str, str] = {}
    for case in result:
        assert case.model is not None
        if _EXPANDED not in case.name:
            (node,) = case.model.graph.node
            operators[case.name] = f"{node.domain}.{node.op_type}" if node.domain else node.op_type
    entries: list[dict[str, str | float]] = []
    for case in result:
        assert case.model is not None
        assert case.data_sets is not None
        operator = operators[case.name.partition(_EXPANDED)[0]]
        own = Case(case.name, "node", operator, str(folder / case.name), case.rtol, case.atol)
        _write_case(own, case.model, case.data_sets)
        entry = asdict(own)
        del entry["folder"], entry["kind"]
        entries.append(entry)
    (folder / "index.json").write_text(json.dumps(entries, indent=0))


def _write_case(
    case: Case, model: onnx.ModelProto, data_sets: Sequence[tuple[Sequence[object], Sequence[object]]]
) -> None:
    folder = Path(case.folder)
    folder.mkdir(parents=True)
    case.model.write_bytes(model.SerializeToString())
    for number, (inputs, outputs) in enumerate(data_sets):
        data = folder / f"test_data_set_{number}"
        data.mkdir()
        for kind, values, infos in (("input", inputs, model.graph.input), ("output", outputs, model.graph.output)):
            for n, (value, info) in enumerate(zip(values, infos, strict=True)):
                (data / f"{kind}_{n}.pb").write_bytes(_value_bytes(value, info))


def _value_bytes(value: object, info: onnx.ValueInfoProto) -> bytes:
    if isinstance(value, onnx.TensorProto):
        return value.SerializeToString()
    kind = info.type.WhichOneof("value")
    if kind == "sequence_type":
        assert isinstance(value, list)
        return numpy_helper.from_list(value, info.name).SerializeToString()
    if kind == "optional_type":
        return numpy_helper.from_optional(value, info.name).SerializeToString()
    return numpy_helper.from_array(np.asarray(value), info.name).SerializeToString()


def data_sets_of(case: Case) -> Iterator[DataSet]:
    """The sets of data of a case."""
    model = onnx.load(case.model, load_external_data=False)
    for folder in sorted(Path(case.folder).glob("test_data_set_*")):
        inputs = _read_values(folder, "input", model.graph.input)
        outputs = _read_values(folder, "output", model.graph.output)
        yield DataSet(
            {info.name: value for info, value in zip(model.graph.input, inputs, strict=False)},
            outputs,
        )


def _read_values(folder: Path, kind: str, infos: Sequence[onnx.ValueInfoProto]) -> list[Value]:
    count = len(list(folder.glob(f"{kind}_*.pb")))
    return [
        _read_value((folder / f"{kind}_{n}.pb").read_bytes(), info)
        for n, info in zip(range(count), infos, strict=False)
    ]


def _read_value(content: bytes, info: onnx.ValueInfoProto) -> Value:
    match info.type.WhichOneof("value"):
        case "sequence_type":
            sequence = onnx.SequenceProto()
            sequence.ParseFromString(content)
            return numpy_helper.to_list(sequence)
        case "optional_type":
            optional = onnx.OptionalProto()
            optional.ParseFromString(content)
            return numpy_helper.to_optional(optional)
        case _:
            tensor = onnx.TensorProto()
            tensor.ParseFromString(content)
            return numpy_helper.to_array(tensor)


@contextmanager
def quiet() -> Generator[None]:
    """Numbers beyond a range are part of many cases; evaluators of others warn of them."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield
