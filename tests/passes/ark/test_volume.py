"""The volume of messages between ranks: expected counts and bytes are written out by hand."""

from __future__ import annotations

from commonir.dialects import core
from commonir.ir.module import Module
from commonir.ods import Dialects
from commonir.passes.ranks_summary import ranks_summary
from commonir.reports import RanksSummary, TrafficEntry
from commonir.text.parser import parse_module

from tests.formats.ark import model_files as files
from tests.formats.ark.rank_programs import sync
from tests.passes.ark import ark_programs as programs
from tests.passes.ark.ark_programs import incoming, outgoing, received, sent, whole


def _reported(module: Module) -> RanksSummary:
    result = ranks_summary(module)
    assert result is not None
    return result


def test_an_exchange_is_a_message_each_way() -> None:
    diagnostics = _reported(programs.program(programs.exchange(0, 8), programs.exchange(1, 8)))
    assert diagnostics.traffic == (TrafficEntry(0, 1, 0, 1, 32), TrafficEntry(1, 0, 1, 1, 32))
    assert (diagnostics.world_size, diagnostics.missing, diagnostics.blocked, diagnostics.barriers) == (2, 0, (), 0)
    assert diagnostics.total == TrafficEntry(-1, -1, None, 2, 64)


def test_messages_are_counted_by_pair_and_tag() -> None:
    x, y = outgoing(0, 4, [(1, 0), (1, 7), (2, 0)]), incoming(10, 4, [(0, 0), (0, 7)])
    first = [*sent(x, 1, 7, 2), *sent(x, 1, 0, 22), *sent(x, 1, 0, 42), *sent(x, 2, 0, 62)]
    second = [received(y, 0, 0, 12), received(y, 0, 0, 22), received(y, 0, 7, 32)]
    diagnostics = _reported(programs.program(first, second, [received(y, 0, 0, 12)]))
    assert diagnostics.traffic == (
        TrafficEntry(0, 1, 0, 2, 32),
        TrafficEntry(0, 1, 7, 1, 16),
        TrafficEntry(0, 2, 0, 1, 16),
    )
    assert diagnostics.by_pair() == (TrafficEntry(0, 1, None, 3, 48), TrafficEntry(0, 2, None, 1, 16))


def test_what_nobody_takes_is_counted_and_reported() -> None:
    x = outgoing(0, 4, [(1, 3)])
    diagnostics = _reported(programs.program(sent(x, 1, 3, 2), []))
    assert diagnostics.traffic == (TrafficEntry(0, 1, 3, 1, 16, unreceived=1),)


def test_ranks_that_wait_forever_are_reported_and_all_that_is_stated_counts() -> None:
    y = [incoming(10, 4, [(1 - rank, 0)]) for rank in (0, 1)]
    x = [outgoing(0, 4, [(1 - rank, 0)]) for rank in (0, 1)]
    diagnostics = _reported(
        programs.program(*[[received(y[n], 1 - n, 0, 12), *sent(x[n], 1 - n, 0, 22)] for n in (0, 1)])
    )
    assert diagnostics.blocked == (0, 1)
    assert diagnostics.traffic == (TrafficEntry(0, 1, 0, 1, 16), TrafficEntry(1, 0, 0, 1, 16))


def test_of_a_rank_that_is_missing_what_is_received_counts() -> None:
    diagnostics = _reported(programs.together(files.document("v3", programs.exchange(0, 8), (), 0, 2)))
    assert diagnostics.traffic == (TrafficEntry(0, 1, 0, 1, 32), TrafficEntry(1, 0, 1, 1, 32))
    assert diagnostics.missing == 1


def test_packets_count_as_the_tensor_that_they_carry() -> None:
    x = whole(0, 4)
    proxy = files.tensor("v3", 1, [32], "UINT8", held=files.buffer("v3", 1, 1, recv=[(-1, 4)]))
    send = files.op("SendPacket", [x], [proxy], [files.later(proxy, 2)], Flag=("UINT32", 1))
    diagnostics = _reported(programs.program([send], []))
    assert diagnostics.traffic == (TrafficEntry(0, 1, 4, 1, 16, unreceived=1),)


def test_barriers_are_counted_once_for_all_ranks() -> None:
    diagnostics = _reported(programs.program(*[[sync(n, 3, 0), sync(n, 3, 10)] for n in range(3)]))
    assert (diagnostics.barriers, diagnostics.traffic) == (2, ())


def test_an_all_reduce_of_the_core_counts_as_a_message_between_each_two_ranks() -> None:
    text = "".join(
        f"""ml_program.func @rank{n}(%x: tensor<2x3xf16>) -> tensor<2x3xf16> {{
          %y = core.all_reduce %x : tensor<2x3xf16>
          ml_program.return %y : tensor<2x3xf16>
        }}
        """
        for n in range(3)
    )
    module = parse_module(text, Dialects())
    for n, function in enumerate(module.functions.values()):
        core.set_rank(function, n, 3)
    diagnostics = _reported(module)
    assert diagnostics.by_pair() == tuple(
        [TrafficEntry(a, b, None, 1, 12) for a in range(3) for b in range(3) if a != b]
    )
    assert [rank.size_bytes for rank in diagnostics.ranks] == [None, None, None]


def test_a_program_without_ranks_has_no_summary_of_them() -> None:
    assert ranks_summary(parse_module("ml_program.func @main() { ml_program.return }", Dialects())) is None
