"""Damaged files: whatever they say, the reader gives a program or findings, and so does everything after it."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonir import api
from commonir.base.diagnostics import DiagnosticError, Diagnostics
from commonir.base.limits import DEFAULT_LIMITS
from commonir.formats.common_ir import json_form
from commonir.formats.common_ir.document import document_of
from commonir.formats.common_ir.write import dumps
from commonir.formats.onnx.messages import ModelProto

from tests.formats.common_ir import test_stages

EXAMPLES = Path(__file__).parents[3] / "examples" / "common_ir"
FILES = [*sorted(EXAMPLES.glob("*.cir.json")), *sorted((EXAMPLES / "libraries").glob("*.cir.json"))]
DOCUMENTS = {path.name: json.loads(path.read_text()) for path in FILES}
BINARY = [api.load(path) for path in FILES if path.name != "weights.cir.json"]
HISTORIC = [m.SerializeToString() for m in (test_stages.graph_a(), test_stages.model_b(), test_stages.library_b())]

WORDS = ["", "x", "y", "m*", "*", "FLOAT", "INT64", "a.b.c", "\u202e", "0", "org.commonir.core.add", "commonir:core"]
NUMBERS = [0, -1, 1, 7, 52, 2**31 - 1, -(2**31), 2**63 - 1, 0.5]


def places(document: Any) -> Iterator[tuple[Any, Any]]:
    """Every value of a document, as its holder and its key."""
    pending = [document]
    while pending:
        at = pending.pop()
        for key in list(at) if isinstance(at, dict) else range(len(at)):
            yield at, key
            if isinstance(at[key], dict | list):
                pending.append(at[key])


def damage(document: Any, draw: random.Random) -> None:
    """Changes, removes, repeats or exchanges values of a document."""
    for _ in range(draw.randint(1, 3)):
        result = [(holder, key) for holder, key in places(document) if holder is not document]
        holder, key = draw.choice(result)
        match draw.randrange(5):
            case 0:
                del holder[key]
            case 1 if isinstance(holder[key], str):
                holder[key] = draw.choice(WORDS)
            case 1 if isinstance(holder[key], int | float):
                holder[key] = draw.choice(NUMBERS)
            case 2 if isinstance(holder[key], list):
                holder[key] = holder[key] * 2
            case 3:
                other, name = draw.choice(result)
                holder[key] = copy.deepcopy(other[name])
            case _ if isinstance(holder[key], list):
                draw.shuffle(holder[key])
            case _:
                holder[key] = None


def survives(path: Path) -> None:
    """Opens, verifies, shows, lowers and writes what is at a path, which may only fail with findings."""
    try:
        module, _ = api.check(path)
    except DiagnosticError:
        return
    if module is None:
        return
    api.show(module)
    for action in (dumps, api.lower, api.summarize, lambda m: api.convert(m, "onnx")):
        try:
            action(module)
        except DiagnosticError:
            continue


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    result = tmp_path_factory.mktemp("fuzz")
    (result / "libraries").mkdir()
    for path in (EXAMPLES / "libraries").iterdir():
        (result / "libraries" / path.name).write_bytes(path.read_bytes())
    (result / "weights.safetensors").write_bytes((EXAMPLES / "weights.safetensors").read_bytes())
    return result


@pytest.mark.slow
@given(st.integers(0, 2**32))
@settings(max_examples=2 * settings().max_examples, deadline=None)
def test_a_damaged_document_gives_findings_or_a_program(folder: Path, seed: int) -> None:
    draw = random.Random(seed)
    document = copy.deepcopy(DOCUMENTS[draw.choice(sorted(DOCUMENTS))])
    damage(document, draw)
    path = folder / f"{seed}.cir.json"
    path.write_text(json.dumps(document))
    try:
        survives(path)
    finally:
        path.unlink()


@pytest.mark.slow
@given(st.integers(0, 2**32))
@settings(max_examples=2 * settings().max_examples, deadline=None)
def test_damaged_bytes_give_findings_or_a_program(folder: Path, seed: int) -> None:
    draw = random.Random(seed)
    content = bytearray(draw.choice([draw.choice(HISTORIC), dumps(draw.choice(BINARY))]))
    for _ in range(draw.randint(1, 4)):
        match draw.randrange(3):
            case 0:
                content[draw.randrange(len(content))] = draw.randrange(256)
            case 1:
                del content[draw.randrange(len(content)) :]
            case _:
                at = draw.randrange(len(content) + 1)
                content[at:at] = draw.randbytes(draw.randint(1, 4))
        if not content:
            return
    path = folder / f"{seed}.cir"
    path.write_bytes(content)
    try:
        survives(path)
    finally:
        path.unlink()


@given(st.binary(max_size=200))
@settings(max_examples=3 * settings().max_examples, deadline=None)
def test_any_bytes_give_findings_or_a_message(content: bytes) -> None:
    try:
        document = document_of(memoryview(content), DEFAULT_LIMITS, "file", Diagnostics())
    except DiagnosticError:
        return
    if document.model is not None:
        try:
            json_form.dumps(document.model, ModelProto)
        except ValueError:
            return  # it has fields that are not known
