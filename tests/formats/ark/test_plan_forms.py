"""Plans of all forms that ARK has written: with any order of keys, every configuration, and of every generation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from commonir.cli.main import main
from commonir.formats.ark.read import loads
from commonir.formats.ark.write import dumps
from commonir.ods import Dialects

from tests.formats.ark.model_files import Document, buffer, document, later, op, tensor, text


def _model(generation: str) -> list[Document]:
    """A product, a sum over rows, a function of each element, and an operation that does nothing."""
    x, w, y = tensor(generation, 0, [4, 8]), tensor(generation, 1, [8, 4]), tensor(generation, 2, [4, 4])
    s, e = tensor(generation, 4, [4, 1]), tensor(generation, 6, [4, 1])
    flags: Document = {"TransposeInput": ("BOOL", False), "TransposeOther": ("BOOL", False)}
    if generation == "v1":
        flags |= {"InputDimNC": ("DIMS", [1, 1]), "OtherDimNC": ("DIMS", [1, 1])}
        flags |= {"ShapeMNK": ("DIMS", [4, 4, 8]), "StridesACDB": ("DIMS", [8, 4, 4, 4])}
    return [
        op("Matmul", [x, w], [y], [later(y, 3)], **flags),
        op("ReduceSum", [later(y, 3)], [s], [later(s, 5)], Axis=("INT", 1), KeepDim=("BOOL", True)),
        op("Exp", [later(s, 5)], [e], [later(e, 7)]),
        op("Noop", [later(e, 7)], [], []),
    ]


def _exchange() -> list[Document]:
    """Returns what rank 0 of two sends and gets, in packets too, of generation v3."""
    g = "v3"
    x = tensor(g, 0, [8], held=buffer(g, 0, send=[(1, 5)]))
    proxy = tensor(g, 1, [8], held=buffer(g, 1, 1, recv=[(-1, 5)]))
    source = tensor(g, 4, [8], held=buffer(g, 4, 1, send=[(-1, 6)]))
    inbox = tensor(g, 5, [8], held=buffer(g, 5, recv=[(1, 6)]))
    packets = tensor(g, 7, [64], "UINT8", held=buffer(g, 7, 1, recv=[(-1, 7)]))
    far, scratch = (
        tensor(g, 9, [8], held=buffer(g, 9, 1)),
        tensor(g, 10, [64], "UINT8", held=buffer(g, 10, recv=[(1, 8)])),
    )
    y = tensor(g, 11, [8])
    flag: Document = {"Flag": ("UINT32", 1)}
    sync: Document = {"PeerNum": ("INT", 1), "Rank": ("INT", 0)}
    return [
        op("Send", [x], [proxy], [later(proxy, 2)], "send"),
        op("SendDone", [later(proxy, 2)], [], [later(proxy, 3)], "send_done"),
        op("Recv", [source], [inbox], [later(inbox, 6)], "recv"),
        op("SendPacket", [x], [packets], [later(packets, 8)], "send_packet", **flag),
        op("RecvPacket", [far, scratch], [y], [later(y, 12)], "recv_packet", **flag),
        op("DeviceSync", [later(y, 12)], [later(y, 12)], [later(y, 13)], "device_sync", **sync),
    ]


TILE = {"Tile": [4, 4]}
CONFIGS: dict[str, dict[str, Document]] = {
    "v1": {
        "Matmul": {"TileShapeMNK": [4, 4, 8], "TilePadMNK": [4, 4, 8]},
        "ReduceSum": {"ImplType": "WarpWise"},
        "Exp": TILE,
        "Noop": {},
    },
    "v3": {
        "Matmul": {"TileShapeMNK": [4, 4, 8]},
        "ReduceSum": {"ImplType": "ElementWise"},
        "Exp": TILE,
        "Noop": {},
        "Send": {"ChannelType": "Proxy", "Signal": True},
        "SendDone": {"ChannelType": "SecondaryProxy"},
        "Recv": {"ChannelType": "Sm", "Wait": True},
        "SendPacket": {**TILE, "PacketType": "mscclpp::LL8Packet"},
        "RecvPacket": {**TILE, "PacketType": "mscclpp::LL16Packet"},
        "DeviceSync": {"ChannelType": "Proxy"},
    },
}


def _plan(ops: list[Document], generation: str, architecture: str = "", world: int = 1) -> Document:
    configs = CONFIGS["v3" if generation == "v3" else "v1"]
    tasks: list[Document] = []
    for n, each in enumerate(ops):
        pieces = 0 if each["Type"] == "Noop" else 2
        config = {"NumWarps": 1, "SramBytes": 0, "NumTasks": pieces, **configs[each["Type"]]}
        tasks.append({"Id": n, "NumWarps": 1, "SramBytes": 0, "Ops": [{**each, "Config": config}]})
    groups = [
        {"TaskId": n, "TaskRange": [0, 0 if each["Type"] == "Noop" else 2], "Granularity": 1}
        for n, each in enumerate(ops)
    ]
    resources = {"ProcessorRange": [0, 4], "WarpRange": [0, 2], "SramRange": [0, 0], "TaskGroups": groups}
    plan: Document = {"Rank": 0, "WorldSize": world}
    plan |= {"Architecture": architecture} if architecture and generation == "v3" else {}
    plan |= {"NumProcessors": 4, "NumWarpsPerProcessor": 2}
    plan |= {"Architecture": architecture} if architecture and generation != "v3" else {}
    return plan | {"TaskInfos": tasks, "ProcessorGroups": [{"ProcessorRange": [0, 4], "ResourceGroups": [resources]}]}


def _reversed(value: Any) -> Any:
    """The same document with the keys of every object in the opposite order."""
    if isinstance(value, dict):
        return {name: _reversed(value[name]) for name in reversed(value)}
    return [*map(_reversed, value)] if isinstance(value, list) else value


@pytest.mark.parametrize("generation", ["v1", "v2", "v3"])
@pytest.mark.parametrize("architecture", ["", "CUDA_80", "ROCM_942", "ANY"])
@pytest.mark.parametrize("is_reversed", [False, True])
def test_plan_of_every_form_is_the_model_that_it_runs(generation: str, architecture: str, is_reversed: bool) -> None:
    plan = _plan(_model(generation), generation, architecture)
    module, diagnostics = loads(json.dumps(_reversed(plan) if is_reversed else plan).encode(), Dialects())
    assert [d.code.id for d in diagnostics] == ["W0275"]
    assert module is not None
    written = "v1" if generation == "v1" else "v3"
    assert dumps(module) == text(document(written, _model(written), [(0, 1), (1, 2), (2, 3)]), written)


def test_configurations_of_communication_are_read() -> None:
    plan = _plan(_exchange(), "v3", "ANY", world=2)
    module, diagnostics = loads(json.dumps(plan).encode(), Dialects())
    assert [d.code.id for d in diagnostics] == ["W0275"]
    assert module is not None
    assert dumps(module) == text(document("v3", _exchange(), rank=0, world=2), "v3")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A plan, the model that it is of, and one with another function."""
    (tmp_path / "plan_gpu0.json").write_text(json.dumps(_plan(_model("v2"), "v2")))
    (tmp_path / "model_gpu0.json").write_bytes(text(document("v2", _model("v2")), "v2"))
    other = json.loads(json.dumps(_model("v2")).replace('"Exp"', '"Sqrt"'))
    (tmp_path / "other_gpu0.json").write_bytes(text(document("v2", other), "v2"))
    return tmp_path


def test_model_of_a_plan_is_written_as_the_model_file(folder: Path) -> None:
    out = folder / "out.ark.json"
    assert main(["convert", str(folder / "plan_gpu0.json"), "-o", str(out), "--opset", "2"]) == 0
    assert out.read_bytes() == (folder / "model_gpu0.json").read_bytes()


def test_plan_is_compared_with_a_model(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = str(folder / "plan_gpu0.json")
    assert main(["compare", plan, str(folder / "model_gpu0.json")]) == 0
    assert main(["compare", plan, str(folder / "other_gpu0.json")]) == 1
    assert "t7" in capsys.readouterr().out
