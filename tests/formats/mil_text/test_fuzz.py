"""Damaged texts: whatever the characters are, reading ends with findings and nothing else, in time."""

from __future__ import annotations

import random
import re
import time
from pathlib import Path

import pytest

from commonir.base.diagnostics import Diagnostic
from commonir.formats.mil_text.read import check, read_with_findings
from commonir.ods import Dialects

from tests.formats.coreml import building as b

DIALECTS = Dialects()

SAMPLE = """program(1.3)
[buildInfo = dict<string, string>({{"coremlc-version", "3505.4.1"}}), "mil.doc" = string("\\"a text\\"")]
{
    func main<ios18>(state<tensor<fp16, [2, 3]>> acc, tensor<fp32, [2, 3]> x, bool p) [f = int32(1)] {
            tensor<fp32, [2, 3]> w = const()[name = string("w"), val = tensor<fp32, [2, 3]>(BLOBFILE(path = \
string("@model_path/weights/weight.bin"), offset = uint64(64)))];
            tensor<fp16, [2, 3]> r = read_state(input = acc)[name = string("r")];
            write_state(data = r, input = acc);
            tensor<fp16, [3]> h = const()[val = tensor<fp16, [3]>([0x1p-1, nan, nan(0x7e01)])];
            tensor<int4, [2, 2]> i = const()[val = tensor<int4, [2, 2]>([[1, -8], [7, 0]])]; // narrow
            tensor<fp32, [4, 3]> c = concat(axis = int32(0), interleave = bool(false), values = (x, w));
            tensor<fp32, [2, 3]> y = cond(pred = p)[name = string("y")] {
                    tensor<fp32, [2, 3]> a = relu(x = x);
                } -> (a) {
                } -> (x);
            int32 n = const()[val = int32(0)];
            int32 m, tensor<fp32, [2, 3]> z = while_loop(loop_vars = (n, y)) (int32 k, tensor<fp32, [2, 3]> v) {
                    bool go = less(x = k, y = int32(3));
                } -> (go) (int32 k, tensor<fp32, [2, 3]> v) {
                    int32 next = add(x = k, y = int32(1));
                } -> (next, v);
            list<tensor<fp32, [?]>, ?> l = make_list(dynamic_length = bool(true), dtype = string("fp32"), \
elem_shape = int32(2), init_length = int32(1));
            tuple<int32, list<string, 2>> t = const()[val = tuple<int32, list<string, 2>>((1, ["a", "b"]))];
        } -> (z);
}
"""
_TOKENS = re.compile(r"[A-Za-z_0-9.]+|\s+|.", re.DOTALL)


def damaged(text: str, source: random.Random) -> str:
    pieces = _TOKENS.findall(text)
    for _ in range(source.randrange(1, 4)):
        at = source.randrange(len(pieces))
        match source.randrange(6):
            case 0:
                return text[: source.randrange(len(text))]
            case 1:
                del pieces[at]
            case 2:
                pieces.insert(at, source.choice(pieces))
            case 3:
                pieces[at] = source.choice(pieces)
            case 4:
                pieces[at] = source.choice("<>()[]{},;=?\"'\\$\0\u00e9\U0001f600-+.")
            case _:
                pieces[at] = source.choice(
                    ["999999999999999999999", "0x", "1e999", "-1", "nan(", "...", "BLOBFILE", "list<"]
                )
    return "".join(pieces)


def test_the_sample_is_read(tmp_path: Path) -> None:
    place = tmp_path / "net.mil"
    place.write_text(SAMPLE)
    (tmp_path / "weights").mkdir()
    (tmp_path / "weights" / "weight.bin").write_bytes(b.SIMPLE_WEIGHTS)
    module, diagnostics = read_with_findings(place, DIALECTS)
    assert module is not None
    assert diagnostics == []


@pytest.mark.slow
def test_damaged_texts_give_findings_only(tmp_path: Path) -> None:
    place = tmp_path / "net.mil"
    (tmp_path / "weights").mkdir()
    (tmp_path / "weights" / "weight.bin").write_bytes(b.SIMPLE_WEIGHTS)
    source = random.Random(11)
    outcomes: set[str] = set()
    for _ in range(600):
        place.write_text(damaged(SAMPLE, source), encoding="utf-8")
        _, diagnostics = check(place, DIALECTS)
        assert all(isinstance(d, Diagnostic) for d in diagnostics)
        outcomes |= {d.code.id for d in diagnostics}
    assert len(outcomes) > 8


@pytest.mark.slow
def test_five_megabytes_are_read_in_seconds(tmp_path: Path) -> None:
    row = ", ".join(["0x1.3bcp-1"] * 64)
    lines = [
        f'            fp16 c{n} = const()[name = string("c{n}"), val = fp16(0x1.8p+1)];\n'
        f'            tensor<fp16, [1, 64]> v{n} = mul(x = v{n - 1}, y = c{n})[name = string("v{n}")];\n'
        + (f"        tensor<fp16, [64]> b{n} = const()[val = tensor<fp16, [64]>([{row}])];\n" if n % 10 == 0 else "")
        for n in range(1, 20_000)
    ]
    place = tmp_path / "net.mil"
    head = "program(1.3)\n{\n    func main<ios18>(tensor<fp16, [1, 64]> v0) {\n"
    place.write_text(f"{head}{''.join(lines)}        }} -> (v19999);\n}}\n")
    assert place.stat().st_size > 5_000_000
    begin = time.process_time()
    module, diagnostics = read_with_findings(place, DIALECTS)
    assert time.process_time() - begin < 20
    assert module is not None
    assert diagnostics == []


@pytest.mark.slow
def test_many_undefined_names_take_no_longer_than_as_many_defined_ones(tmp_path: Path) -> None:
    place = tmp_path / "net.mil"
    lines = [f"fp32 v{n} = add(x = u{n}, y = w{n});" for n in range(30_000)]
    place.write_text(f"program(1.3) {{ func main<ios18>(fp32 x) {{\n{chr(10).join(lines)}\n}} -> (x); }}")
    begin = time.process_time()
    _, diagnostics = read_with_findings(place, DIALECTS)
    assert time.process_time() - begin < 20
    assert [d.code.id for d in diagnostics].count("E0401") == 1000
