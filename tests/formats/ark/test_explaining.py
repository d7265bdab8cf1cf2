"""Programs of ranks in `cir info`, `cir show` and `cir view`, with the real API."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.command_lines import Cir, command_lines
from tests.formats.ark import model_files as files
from tests.passes.ark import ark_programs as programs
from tests.passes.ark.ark_programs import Document, outgoing, sent


@pytest.fixture
def cir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cir:
    """Runs a command line in this process, in a folder with the files of an exchange of two ranks."""
    monkeypatch.chdir(tmp_path)
    _write("net", [programs.exchange(rank) for rank in (0, 1)])
    return command_lines(capsys)


def _write(name: str, ranks: list[list[Document]]) -> None:
    for n, ops in enumerate(ranks):
        document = files.document("v3", ops, (), n, len(ranks))
        Path(f"{name}.rank{n}.json").write_bytes(files.text(document, "v3"))


def test_info_reports_memory_and_messages(cir: Cir) -> None:
    assert cir("info", "net.rank0.json").out.splitlines() == [
        "net.rank0.json",
        "format      ARK model v3",
        "parameters  0",
        "weights     none",
        "ranks       2",
        "exchange    2 messages, 64 B",
        "",
        "memory",
        "         buffers  bytes  needed at once  with reuse  saved  most at",
        "  rank0        4  128 B           128 B       128 B     0%  total",
        "  rank1        4  128 B           128 B       128 B     0%  total",
        "",
        "messages",
        "  from  to  messages  bytes",
        "     0   1         1   32 B",
        "     1   0         1   32 B",
        "",
        "functions rank0, rank1: 2 of the same interface and operations",
        "  inputs:",
        "    t0  tensor<8xf32>",
        "  outputs:",
        "    t21  tensor<8xf32>",
        "  operations: 5",
        "    ark.Copy      1",
        "    ark.Send      1",
        "    ark.SendDone  1",
        "    ark.Recv      1",
        "    ark.Add       1",
    ]


def test_info_lists_buffers_and_tags_on_request(cir: Cir) -> None:
    lines = cir("info", "net.rank0.json", "--details").out.splitlines()
    start = lines.index("buffers of rank1")
    assert lines[start + 1 : start + 6] == [
        "            bytes  for       first use  last use  needed  offset with reuse",
        "   0  %t0    32 B  input     0 scale    0 scale      0-4                  0",
        "   1  %t1    32 B  scratch   0 scale    4 total      0-4                 32",
        "  10  %t10   32 B  received  3 recv     4 total      0-4                 64",
        "  20  %t20   32 B  output    4 total    4 total      4-4                 96",
    ]
    assert "     1   0    1         1   32 B" in lines


def test_info_of_one_rank_has_no_lines_about_others(cir: Cir) -> None:
    Path("one.json").write_bytes(files.text(files.product("v3"), "v3"))
    out = cir("info", "one.json").out
    assert "ranks" not in out
    assert "messages" not in out
    assert "  rank0        3  104 B           104 B       104 B     0%  mm" in out


def test_json_has_everything(cir: Cir) -> None:
    ranks = json.loads(cir("info", "net.rank0.json", "--json").out)["result"]["ranks"]
    assert ranks["world_size"] == 2
    assert [(rank["size_bytes"], rank["reused_bytes"], len(rank["buffers"])) for rank in ranks["ranks"]] == [
        (128, 128, 4), (128, 128, 4),
    ]  # fmt: skip
    assert ranks["ranks"][0]["buffers"][2]["kinds"] == ["received"]
    assert ranks["traffic"] == [
        {"source": a, "destination": 1 - a, "tag": a, "messages": 1, "size_bytes": 32, "unreceived": 0} for a in (0, 1)
    ]


def test_info_counts_floating_point_operations_of_all_ranks(cir: Cir) -> None:
    assert "FLOPs       16 per run" in cir("info", "net.rank0.json", "--flops").out.splitlines()


def test_info_reports_what_is_missing_lost_or_waits(cir: Cir) -> None:
    _write("lost", [sent(outgoing(0, 4, [(1, 3)]), 1, 3, 2), []])
    out = cir("info", "lost.rank0.json").out
    assert "exchange    1 message, 16 B, 1 never received" in out
    Path("net.rank1.json").unlink()
    done = cir("info", "net.rank0.json")
    assert "ranks       2, 1 file missing" in done.out
    assert "W0274" in done.err


def test_show_finds_operations_by_their_names_each_rank_apart(cir: Cir) -> None:
    assert cir("show", "net.rank0.json", "--node", "recv").out.splitlines() == [
        "// @rank0",
        '%t13 = Recv %t12 into %t10 gives 13 node 3 "recv" : tensor<8xf32>',
        "// @rank1",
        '%t13 = Recv %t12 into %t10 gives 13 node 3 "recv" : tensor<8xf32>',
    ]
    done = cir("show", "net.rank0.json", "--node", "totl")
    assert (done.status, "did you mean 'total'?" in done.err) == (1, True)


def test_view_writes_a_drawing_and_reports_what_it_shows(cir: Cir) -> None:
    done = cir("view", "net.rank0.json", "-o", "lanes.svg")
    size = Path("lanes.svg").stat().st_size
    assert done.status == 0
    assert done.out.splitlines() == [
        "2 ranks · 10 operations · 2 messages, 64 B",
        f"  wrote lanes.svg ({size / 1000:.2f} kB)",
    ]
    assert ET.parse("lanes.svg").getroot().tag == "{http://www.w3.org/2000/svg}svg"
    result = json.loads(cir("view", "net.rank0.json", "-o", "lanes.html", "--json").out)["result"]
    assert result["summary"] == "2 ranks · 10 operations · 2 messages, 64 B"
    assert Path("lanes.html").read_text().startswith("<!DOCTYPE html>")


def test_view_divides_a_program_first_on_request(cir: Cir) -> None:
    Path("plain.mlir").write_text(
        """ml_program.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
          %y = core.exp %x : tensor<4x8xf32>
          ml_program.return %y : tensor<4x8xf32>
        }"""
    )
    done = cir("view", "plain.mlir", "--ranks", "2", "--parallel", "data", "-o", "x.svg")
    assert done.out.splitlines()[0] == "2 ranks · 2 operations · no messages"
    assert cir("view", "plain.mlir", "--parallel", "data", "-o", "x.svg").status == 2


WRONG = """ark.rank @rank0 0 of 2 "v3" {
  %c = core.constant {value = dense<1.0> : tensor<4xf32>} : tensor<4xf32>
  %t3 = tensor 3 buffer 2 rank 1 received [[-1, 0]] : tensor<4xf32>
  %t4 = Send %c into %t3 gives 4 node 1 "send" : tensor<4xf32>
  %t5 = "ark.tensor"() <{buffer = 1 : i64, buffer_rank = -1 : i64, data_type = "FP32", offsets = array<i64: 0, 0>,
    recv_tags = [], send_tags = [], strides = array<i64: 4>, tensor_id = 1 : i64}> : () -> tensor<?xf32>
}"""


def test_of_programs_that_make_no_sense_what_is_wrong_is_reported(cir: Cir) -> None:
    Path("wrong.mlir").write_text(WRONG)
    done = cir("info", "wrong.mlir")
    assert (done.status, "memory" in done.out) == (0, False)
    done = cir("view", "wrong.mlir", "-o", "x.svg")
    assert done.status == 1
    assert "error[E0273]: ark.rank: core.constant is not an operation of ARK" in done.err


def test_view_of_a_program_without_a_function_and_of_another_suffix_is_refused(cir: Cir) -> None:
    Path("plain.mlir").write_text("ml_program.global private @g : i32")
    done = cir("view", "plain.mlir", "-o", "x.svg")
    assert done.status == 4
    assert done.err.startswith("error[E0807]: there is nothing to draw: the program has no function with a body")
    done = cir("view", "net.rank0.json", "-o", "x.gif")
    assert (done.status, done.err.partition("\n")[0]) == (
        2,
        "error[E0804]: a drawing is written as html, svg, png or pdf, not as 'x.gif'",
    )
    assert not list(Path().glob("x.*"))
