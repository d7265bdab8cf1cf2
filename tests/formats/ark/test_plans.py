"""Plans of ARK's executor are read as the models that they run."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from commonir.formats.ark.read import loads
from commonir.formats.ark.write import dumps
from commonir.ods import Dialects

from tests.formats.ark.model_files import Document, document, exchange, text


def _plan(generation: str) -> Document:
    """Two ranks' program as a plan: two operations in one task, each other one in its own."""
    nodes = exchange(generation, 0)["Nodes"]
    ops = [
        {**n.get("Op", n.get("Ops", [None])[0]), "Config": {"NumWarps": 1, "SramBytes": 0, "NumTasks": 4}}
        for n in nodes
    ]
    groups = [ops[:2], *([op] for op in ops[2:])]
    return {
        "Rank": 0,
        "WorldSize": 2,
        "NumProcessors": 8,
        "NumWarpsPerProcessor": 4,
        "TaskInfos": [{"Id": n, "NumWarps": 1, "SramBytes": 0, "Ops": stored} for n, stored in enumerate(groups)],
        "ProcessorGroups": [
            {
                "ProcessorRange": [0, 8],
                "ResourceGroups": [
                    {
                        "ProcessorRange": [0, 8, 2],
                        "WarpRange": [0, 4],
                        "SramRange": [0, 1024],
                        "TaskGroups": [{"TaskId": n, "TaskRange": [0, 4], "Granularity": 1}],
                    }
                ],
            }
            for n in range(len(groups))
        ],
    }


@pytest.mark.parametrize("generation", ["v1", "v3"])
@pytest.mark.parametrize("architecture", [{}, {"Architecture": "CUDA_80"}])
def test_operations_of_a_plan_are_a_model(generation: str, architecture: Document) -> None:
    module, diagnostics = loads(json.dumps(_plan(generation) | architecture).encode(), Dialects())
    assert [(d.code.id, d.where) for d in diagnostics] == [("W0275", "TaskInfos")]
    assert module is not None
    ops = [n.get("Op", n.get("Ops", [None])[0]) for n in exchange(generation, 0)["Nodes"]]
    # Each tensor that an operation mentions implies an edge from the one that gives it.
    assert dumps(module) == text(document(generation, ops, [(0, 1), (0, 4), (1, 2), (3, 4)], 0, 2), generation)


def test_plan_of_no_ranks_is_that_of_one() -> None:
    """Plans that ARK ships state 0."""
    module, _ = loads(json.dumps(_plan("v3") | {"WorldSize": 0}).encode(), Dialects())
    assert module is not None
    assert json.loads(dumps(module))["WorldSize"] == 1


RESOURCES = "ProcessorGroups[1].ResourceGroups[0]"
PIECES = f"{RESOURCES}.TaskGroups[0]"


def _resources(plan: Document) -> Document:
    return plan["ProcessorGroups"][1]["ResourceGroups"][0]


def _pieces(plan: Document) -> Document:
    return _resources(plan)["TaskGroups"][0]


DEFECTS: list[tuple[Callable[[Document], Any], str, str]] = [
    (lambda p: p.pop("NumProcessors"), "E0271", ""),
    (lambda p: p.update(NumProcessors=0), "E0272", "NumProcessors"),
    (lambda p: p.update(Architecture=3), "E0271", "Architecture"),
    (lambda p: p["TaskInfos"][1].update(Id=0), "E0272", "TaskInfos[1].Id"),
    (lambda p: p["TaskInfos"][0]["Ops"][1]["Config"].update(NumTasks=5), "E0272", "TaskInfos[0].Ops"),
    (lambda p: p["TaskInfos"][0]["Ops"][1]["Config"].pop("NumTasks"), "E0271", "TaskInfos[0].Ops[1].Config"),
    (lambda p: p["TaskInfos"][0]["Ops"][1].pop("Config"), "E0271", "TaskInfos[0].Ops[1]"),
    (lambda p: p["TaskInfos"][0]["Ops"][1].update(Type="Sned"), "E0271", "TaskInfos[0].Ops[1].Type"),
    (
        lambda p: p["TaskInfos"][0]["Ops"][1]["Config"].update(NumWarps=2),
        "E0272",
        "TaskInfos[0].Ops[1].Config.NumWarps",
    ),
    (
        lambda p: p["TaskInfos"][0]["Ops"][1]["Config"].update(SramBytes=1),
        "E0272",
        "TaskInfos[0].Ops[1].Config.SramBytes",
    ),
    (lambda p: p["ProcessorGroups"].append(1), "E0271", "ProcessorGroups[4]"),
    (lambda p: p["ProcessorGroups"][1].update(ProcessorRange=[0, 9]), "E0272", "ProcessorGroups[1].ProcessorRange"),
    (lambda p: p["ProcessorGroups"][1].update(ProcessorRange=[3, 2]), "E0272", "ProcessorGroups[1].ProcessorRange"),
    (lambda p: p["ProcessorGroups"][1].update(ProcessorRange=[3]), "E0271", "ProcessorGroups[1].ProcessorRange"),
    (lambda p: p["ProcessorGroups"][1].update(ProcessorRange=[0, 4]), "E0272", f"{RESOURCES}.ProcessorRange"),
    (lambda p: _resources(p).update(WarpRange=[0, 5]), "E0272", f"{RESOURCES}.WarpRange"),
    (lambda p: _resources(p).update(SramRange="all"), "E0271", f"{RESOURCES}.SramRange"),
    (lambda p: _resources(p).pop("SramRange"), "E0271", RESOURCES),
    (lambda p: _pieces(p).update(TaskId=9), "E0272", f"{PIECES}.TaskId"),
    (lambda p: _pieces(p).update(TaskRange=[0, 5]), "E0272", f"{PIECES}.TaskRange"),
    (lambda p: _pieces(p).update(TaskRange=[0, 4, 0]), "E0272", f"{PIECES}.TaskRange"),
    (lambda p: _pieces(p).update(Granularity=0), "E0272", f"{PIECES}.Granularity"),
    (lambda p: p["TaskInfos"][1].update(NumWarps=5), "E0272", f"{PIECES}.TaskId"),
    (lambda p: p["TaskInfos"][1].update(SramBytes=2000), "E0272", f"{PIECES}.TaskId"),
]


@pytest.mark.parametrize(("edit", "code", "where"), DEFECTS)
def test_defects_of_plans_are_reported(edit: Callable[[Document], Any], code: str, where: str) -> None:
    plan = copy.deepcopy(_plan("v3"))
    edit(plan)
    module, diagnostics = loads(json.dumps(plan).encode(), Dialects())
    assert module is None
    assert (diagnostics[0].code.id, diagnostics[0].where) == (code, where)
