"""Text and package of one program are equal modules, and printing what was read gives the same text."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonir.base.diagnostics import Diagnostics
from commonir.base.limits import DEFAULT_LIMITS
from commonir.dialects.mil.description import FILES_ATTRIBUTE, MANIFEST_ATTRIBUTE, MODEL_ATTRIBUTE
from commonir.dialects.mil.program import Func
from commonir.formats.coreml.blobs import BlobData
from commonir.formats.coreml.package import open_model
from commonir.formats.coreml.read import read, read_with_findings
from commonir.formats.mil_text.printer import print_program
from commonir.formats.mil_text.read import parse
from commonir.formats.mil_text.read import read_with_findings as read_text
from commonir.ir import Module
from commonir.ir.equality import first_difference
from commonir.ir.interface import METADATA
from commonir.ods import Dialects

from tests.formats.coreml import building as b

MODELS = Path(__file__).parents[2] / "models"
PACKAGES = sorted(MODELS.rglob("*.mlpackage"))

DIALECTS = Dialects()

# What a package says of a model beside its program, which a text need not say.
BESIDE = (MODEL_ATTRIBUTE, MANIFEST_ATTRIBUTE, FILES_ATTRIBUTE, METADATA)


def programs_of(package: Path) -> list[Module]:
    """The programs of a package: one, or those of the stages of a pipeline."""
    pending, out = [read(package, DIALECTS)], []
    while pending:
        at = pending.pop()
        pending += at.modules
        if any(isinstance(op, Func) for op in at.body.operations):
            out.append(at)
    return out


@pytest.mark.fast_every(4)
@pytest.mark.slow_cases("*_fp32*")
@pytest.mark.parametrize(
    "package", PACKAGES, ids=lambda p: p.parent.name if p.stem == "model" else f"{p.parent.name}-{p.stem}"
)
@pytest.mark.parametrize("keeps_model", [False, True])
def test_packages_of_the_zoo(package: Path, *, keeps_model: bool) -> None:
    folder = open_model(package, Diagnostics(), DEFAULT_LIMITS).folder
    for module in programs_of(package):
        diagnostics = Diagnostics()
        text = print_program(module, diagnostics=diagnostics, keeps_model=keeps_model)
        assert list(diagnostics) == []
        again = parse(text, DIALECTS, folder=folder)
        assert print_program(again, keeps_model=keeps_model) == text
        for key in (MANIFEST_ATTRIBUTE, FILES_ATTRIBUTE) if keeps_model else BESIDE:
            module.set_extra(key, None)
        if not keeps_model:
            # Which function runs when none is named is stated by the description.
            again.entry = module.entry
        assert first_difference(module, again, names=True) is None
        assert _weights(module) == _weights(again)


def _weights(module: Module) -> list[tuple[str, int]]:
    """Where constants of weight files lie."""
    result = [op.constant_data() for op in module.walk()]
    return [(data.name, data.metadata_offset) for data in result if isinstance(data, BlobData)]


# -- random programs: every way of binding, every kind of constant

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_@]{0,4}", fullmatch=True)
TEXTS = st.text(max_size=6)
T = TypeVar("T")
INT64 = 24


@st.composite
def values(draw: st.DrawFn) -> b.Message:
    """A constant."""
    count = draw(st.integers(0, 3))
    shape = draw(st.sampled_from([(), (count,), (count, 1), (1, count), (2, 0, count)]))
    number = 1
    for size in shape:
        number *= size

    def several(one: st.SearchStrategy[T]) -> list[T]:
        return draw(st.lists(one, min_size=number, max_size=number))

    match draw(st.sampled_from(["fp32", "fp16", "int32", "bool", "string", "uint4", "int64", "list"])):
        case "fp32":
            floats = [struct.unpack("<f", struct.pack("<I", n))[0] for n in several(st.integers(0, 2**32 - 1))]
            return b.immediate(b.tensor(b.FLOAT32, *shape), "floats", floats)
        case "fp16":
            halves = several(st.integers(0, 2**16 - 1))
            return b.immediate(b.tensor(b.FLOAT16, *shape), "bytes", struct.pack(f"<{number}H", *halves))
        case "int32":
            return b.immediate(b.tensor(b.INT32, *shape), "ints", several(st.integers(-(2**31), 2**31 - 1)))
        case "int64":
            return b.immediate(b.tensor(INT64, *shape), "longInts", several(st.integers(-(2**63), 2**63 - 1)))
        case "bool":
            return b.immediate(b.tensor(b.BOOL, *shape), "bools", several(st.booleans()))
        case "string":
            return b.immediate(b.tensor(b.STRING, *shape), "strings", several(TEXTS))
        case "uint4":
            packed = bytearray(several(st.integers(0, 255)))[: (number + 1) // 2]
            if number % 2:
                packed[-1] &= 0xF
            return b.immediate(b.tensor(b.UINT4, *shape), "bytes", bytes(packed))
        case _:
            return b.strings_list(*draw(st.lists(TEXTS, min_size=1, max_size=3)))


@st.composite
def blocks(draw: st.DrawFn, visible: tuple[str, ...], depth: int) -> b.Message:
    """A block whose operations use the names in sight, literals, and nested blocks."""
    kind = b.tensor(b.FLOAT32, None, 3)
    operations: list[b.Message] = []
    names = list(visible)
    for _ in range(draw(st.integers(0, 3))):
        name = draw(NAMES)
        if name in names:
            continue
        bound = [draw(st.sampled_from(names)) if draw(st.booleans()) else draw(values()) for _ in range(2)]
        attributes = {key: draw(values()) for key in draw(st.lists(NAMES, max_size=2, unique=True)) if key != "name"}
        declared = draw(st.sampled_from(["", None, "another name"]))
        match draw(st.integers(0, 3 if depth else 2)):
            case 0:
                value = draw(values())
                operations.append(b.op("const", {}, [(name, value.type)], attributes={"val": value}, name=declared))
            case 1:
                operations.append(
                    b.op("unknown", {"x": bound, "y": []}, [(name, kind)], attributes=attributes, name=declared)
                )
            case 2:
                inputs = {"y": bound[0], "x": bound[1]}
                operations.append(b.op("add", inputs, [(name, kind)], attributes=attributes, name=declared))
            case _:
                nested = [draw(blocks(tuple(names), depth - 1)) for _ in range(2)]
                operations.append(b.op("cond", {"pred": bound[0]}, [(name, kind)], blocks=nested, name=declared))
        names.append(name)
    return b.block(operations, draw(st.lists(st.sampled_from(names), max_size=2)))


@pytest.mark.slow
@settings(max_examples=2 * settings().max_examples, deadline=None)
@given(data=st.data())
def test_random_programs(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A program of a package, printed and read, is the same; so is its text."""
    body = data.draw(blocks(("x",), 2))
    opset = data.draw(st.sampled_from(["CoreML5", "CoreML8"]))
    content = b.program({"main": b.function([("x", b.tensor(b.FLOAT32, 2, 3))], body, opset)})
    package = b.save(tmp_path_factory.mktemp("random"), b.model(content))
    module, _ = read_with_findings(package, b.DIALECTS)
    assert module is not None
    text = print_program(module)
    folder = package / "Data" / "com.apple.CoreML"
    place = folder / "program.mil"
    place.write_text(text, encoding="utf-8")
    again, result = read_text(place, b.DIALECTS)
    assert again is not None, result
    assert print_program(again) == text
    for key in BESIDE:
        module.set_extra(key, None)
    assert first_difference(module, again, names=True) is None
