"""Damaged files: whatever the bytes are, reading ends with findings and nothing else."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from commonir.base.diagnostics import Diagnostic
from commonir.formats.coreml.read import check

from tests.formats.coreml import building as b


def rich_model() -> bytes:
    """A model with every construct that the reader knows."""
    kind = b.tensor(b.FLOAT32, 2, 3)
    inner = b.block([b.op("add", {"x": "v", "y": "x"}, [("t", kind)])], ["t"], [("v", kind)])
    condition = b.block([b.const("go", b.immediate(b.tensor(b.BOOL), "bools", [True]))], ["go"], [("v", kind)])
    body = b.block(
        [
            b.const("w", b.blob(kind, 64)),
            b.const("h", b.immediate(b.tensor(b.FLOAT16, 2), "bytes", b"\x00\x3c\x00\xc0")),
            b.op("concat", {"values": ["x", "w"], "axis": b.integer(0)}, [("c", b.tensor(b.FLOAT32, 4, 3))]),
            b.op("while_loop", {"loop_vars": ["x"]}, [("l", kind)], blocks=[condition, inner]),
            b.op(
                "classify",
                {"probabilities": "l", "classes": b.strings_list("a", "b")},
                [("y", b.tensor(b.STRING)), ("z", kind)],
            ),
        ],
        ["y", "z"],
    )
    content = b.model(b.program({"main": b.function([("x", kind)], body)}))
    content.description.metadata.userDefined.add(key="k", value="v")
    content.mlProgram.attributes.add(key="buildInfo", value=b.text("info"))
    return content.SerializeToString()


def damaged(content: bytes, source: random.Random) -> bytes:
    out = bytearray(content)
    match source.randrange(4):
        case 0:
            return content[: source.randrange(len(content))]
        case 1:
            at = source.randrange(len(out))
            out[at : at + source.randrange(1, 9)] = source.randbytes(source.randrange(9))
        case _:
            for _ in range(source.randrange(1, 4)):
                out[source.randrange(len(out))] ^= 1 << source.randrange(8)
    return bytes(out)


@pytest.mark.slow
def test_damaged_models_give_findings_only(tmp_path: Path) -> None:
    content = rich_model()
    package = b.save(tmp_path, content)
    place = package / "Data" / "com.apple.CoreML" / "model.mlmodel"
    source = random.Random(7)
    outcomes: set[str] = set()
    for _ in range(400):
        place.write_bytes(damaged(content, source))
        _, diagnostics = check(package, b.DIALECTS)
        assert all(isinstance(d, Diagnostic) for d in diagnostics)
        outcomes |= {d.code.id for d in diagnostics}
    assert len(outcomes) > 8


@pytest.mark.slow
def test_damaged_weights_give_findings_only(tmp_path: Path) -> None:
    package = b.save(tmp_path, b.simple_model())
    place = package / "Data" / "com.apple.CoreML" / "weights" / "weight.bin"
    source = random.Random(7)
    for _ in range(300):
        place.write_bytes(damaged(b.SIMPLE_WEIGHTS, source))
        module, diagnostics = check(package, b.DIALECTS)
        for op in module.main.body.operations if module is not None and not diagnostics else ():
            data = getattr(op, "constant_data", lambda: None)()
            assert data is None or len(data.values()) == data.count


def test_damaged_manifests_give_findings_only(tmp_path: Path) -> None:
    package = b.save(tmp_path, b.simple_model())
    place = package / "Manifest.json"
    content = place.read_bytes()
    source = random.Random(7)
    for _ in range(300):
        place.write_bytes(damaged(content, source))
        check(package, b.DIALECTS)
