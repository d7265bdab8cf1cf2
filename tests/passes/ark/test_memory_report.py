"""How much memory ranks need: expected steps and bytes are written out by hand."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from itertools import count

import pytest

from commonir.api import summarize
from commonir.ir.module import Module
from commonir.ods import Dialects
from commonir.passes.ranks_summary import ranks_summary
from commonir.reports import BufferEntry, RankSummary
from commonir.text.parser import parse_module

from tests.formats.ark import model_files as files
from tests.passes.ark import ark_programs as programs
from tests.passes.ark.ark_programs import Document, add, copy, incoming, outgoing, received, sent, whole


def _ranks(module: Module) -> Sequence[RankSummary]:
    result = ranks_summary(module)
    assert result is not None
    return result.ranks


def _only(ops: Sequence[Document]) -> tuple[RankSummary, dict[int, BufferEntry]]:
    (rank,) = _ranks(programs.program(ops))
    return rank, {entry.buffer: entry for entry in rank.buffers}


def _chain(length: int, size: int = 25) -> list[Document]:
    """Copies of copies: the input is buffer 0, the output the last one."""
    inputs = [whole(0, size), *[files.later(whole(n, size), n + 100) for n in range(1, length)]]
    return [copy(inputs[n], whole(n + 1, size), n + 101, f"step{n}") for n in range(length)]


def test_what_a_chain_computes_needs_two_buffers_beside_its_input() -> None:
    rank, entries = _only(_chain(6))
    # Seven buffers of 25 FP32; the input stays, and at each step one buffer is read and one written.
    assert (rank.size_bytes, rank.peak_bytes, rank.reused_bytes) == (700, 300, 300)
    assert rank.peak_operation == "step1"
    assert [(e.first, e.last, e.lives_from, e.lives_to) for e in entries.values()] == [
        (0, 0, 0, 5), (0, 1, 0, 1), (1, 2, 1, 2), (2, 3, 2, 3), (3, 4, 3, 4), (4, 5, 4, 5), (5, 5, 5, 5),
    ]  # fmt: skip
    assert [e.kinds for e in entries.values()] == [("input",), *[("scratch",)] * 5, ("output",)]
    assert (entries[3].first_operation, entries[3].last_operation) == ("step2", "step3")


def test_buffers_that_are_needed_at_one_step_have_no_byte_in_common() -> None:
    _, entries = _only(_chain(9))
    for a in entries.values():
        for b in entries.values():
            assert a.offset is not None
            assert b.offset is not None
            at_once = a.lives_from <= b.lives_to and b.lives_from <= a.lives_to  # type: ignore[operator]  all are used
            if a is not b and at_once:
                assert a.offset + a.size_bytes <= b.offset or b.offset + b.size_bytes <= a.offset


def test_a_buffer_takes_the_bytes_of_the_largest_array_in_it() -> None:
    part = files.tensor("v3", 1, [4], held=files.buffer("v3", 7), strides=[16], offsets=[8])
    _, entries = _only([copy(whole(0, 4), part, 2)])
    assert entries[7].size_bytes == 64


def test_what_is_written_in_place_is_one_buffer_with_one_lifetime() -> None:
    x, y = whole(0, 4), whole(1, 4)
    ops = [copy(x, y, 2, "first"), add(files.later(y, 2), x, y, 3, "second"), copy(files.later(y, 3), whole(4, 4), 5)]
    rank, entries = _only(ops)
    assert (entries[1].first, entries[1].last, entries[1].kinds) == (0, 2, ("scratch",))
    assert rank.size_bytes == 48


def test_what_is_read_through_another_tensor_of_the_buffer_is_needed_until_then() -> None:
    y = whole(1, 4)
    view = files.tensor("v3", 9, [2, 2], held=files.buffer("v3", 1))
    out = files.tensor("v3", 10, [2, 2])
    _, entries = _only([copy(whole(0, 4), y, 2), copy(whole(0, 4), whole(5, 4), 6), copy(view, out, 11)])
    assert (entries[1].first, entries[1].last) == (0, 2)


def test_zeros_that_are_read_stay_for_the_whole_run() -> None:
    # Half of buffer 9 is written, all of it is read: the other half must hold the zeros that it begins with.
    half = files.tensor("v3", 40, [4], held=files.buffer("v3", 9), strides=[8], offsets=[0])
    ops = [*_chain(3), copy(whole(50, 4), half, 51), copy(whole(60, 8, buffer=9), whole(61, 8), 62)]
    _, entries = _only([*ops, copy(files.later(half, 51), whole(70, 4), 71)])
    assert (entries[9].first, entries[9].lives_from, entries[9].lives_to) == (3, 0, 5)


def test_halves_that_are_written_one_after_the_other_are_the_whole() -> None:
    halves = [
        files.tensor("v3", n, [2, 4], held=files.buffer("v3", 9), strides=[2, 8], offsets=[0, 4 * n]) for n in (0, 1)
    ]
    whole_of_it = files.tensor("v3", 3, [16], held=files.buffer("v3", 9))
    x = files.tensor("v3", 20, [2, 4])
    ops = [
        copy(whole(30, 4), whole(31, 4), 32),
        copy(x, halves[0], 21),
        copy(x, halves[1], 22),
        add(files.later(halves[0], 21), files.later(halves[1], 22), files.tensor("v3", 40, [2, 4]), 41),
        copy(whole_of_it, whole(23, 16), 24),
        copy(whole(30, 4), whole(33, 4), 34),
    ]
    _, entries = _only(ops)
    assert (entries[9].lives_from, entries[9].lives_to, entries[9].kinds) == (1, 4, ("scratch",))


def test_stand_ins_for_buffers_of_other_ranks_take_no_memory() -> None:
    ranks = _ranks(programs.program(programs.exchange(0), programs.exchange(1)))
    assert [(rank.size_bytes, len(rank.buffers)) for rank in ranks] == [(128, 4), (128, 4)]
    assert [(e.buffer, e.kinds) for e in ranks[0].buffers] == [
        (0, ("input",)), (1, ("scratch",)), (10, ("received",)), (20, ("output",)),
    ]  # fmt: skip


def test_what_is_sent_is_needed_until_that_is_done() -> None:
    x = outgoing(0, 4, [(1, 0)])
    send, done = sent(files.later(x, 1), 1, 0, 2)
    between = [copy(whole(30, 4), whole(31, 4), 32)]
    first = [copy(whole(30, 4), x, 1), send, *between, done, *_named(between, 40)]
    entries = {e.buffer: e for e in _ranks(programs.program(first, _taking(0)))[0].buffers}
    assert (entries[0].first, entries[0].last, entries[0].lives_to) == (0, 3, 3)


def test_what_is_sent_without_waiting_is_needed_to_the_end() -> None:
    x = outgoing(0, 4, [(1, 0)])
    first = [
        copy(whole(30, 4), x, 1),
        *sent(files.later(x, 1), 1, 0, 2, is_done=False),
        copy(whole(30, 4), whole(31, 4), 32),
    ]
    entries = {e.buffer: e for e in _ranks(programs.program(first, _taking(0)))[0].buffers}
    assert (entries[0].last, entries[0].lives_to) == (1, 2)


def test_other_ranks_may_put_data_into_a_buffer_from_the_first_step_on() -> None:
    entries = {e.buffer: e for e in _ranks(programs.program(programs.exchange(0), programs.exchange(1)))[0].buffers}
    assert (entries[10].first, entries[10].lives_from, entries[10].lives_to) == (3, 0, 4)


def test_a_buffer_that_gets_what_nobody_takes_stays_to_the_end() -> None:
    x = outgoing(0, 4, [(1, 0), (1, 5)])
    inbox = incoming(10, 4, [(0, 0), (0, 5)])
    second = [received(inbox, 0, 0, 12), copy(files.later(inbox, 13), whole(20, 4), 21), *_chain(2)]
    first = [*sent(x, 1, 0, 2), *sent(x, 1, 5, 6)]
    entries = {e.buffer: e for e in _ranks(programs.program(first, second))[1].buffers}
    assert (entries[10].last, entries[10].lives_to) == (1, 3)


def test_tensors_that_only_virtual_operations_mention_are_not_used() -> None:
    x = whole(0, 4)
    named = files.op("Tensor", [], [], [whole(5, 4)], "spare", virtual=True)
    _, entries = _only([named, copy(x, whole(1, 4), 2)])
    assert (entries[5].kinds, entries[5].name, entries[5].offset) == (("unused",), "spare", None)


def test_what_is_given_beside_the_file_is_a_weight() -> None:
    module = parse_module(
        """ark.rank @rank0 0 of 1 "v3" {
          %t0 = tensor 0 buffer 0 : tensor<4xf32>
          %t1 = tensor 1 buffer 1 {content = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>} : tensor<4xf32>
          %t2 = tensor 2 buffer 2 : tensor<4xf32>
          %t3 = Add %t0, %t1 into %t2 gives 3 node 0 "add" : tensor<4xf32>
        } after [[]]""",
        Dialects(),
    )
    (rank,) = _ranks(module)
    assert [entry.kinds for entry in rank.buffers] == [("input",), ("weight",), ("output",)]
    assert summarize(module, with_ranks=True).weight_bytes == {"f32": 16}


def test_a_rank_without_operations_needs_nothing() -> None:
    rank, _ = _only([])
    assert (rank.size_bytes, rank.peak_bytes, rank.reused_bytes, rank.buffers) == (0, 0, 0, ())


def _named(ops: Sequence[Document], number: int) -> list[Document]:
    """Copies like others, on other tensors."""
    return [copy(whole(30, 4), whole(number + n, 4), number + 10 + n) for n in range(len(ops))]


def _taking(tag: int) -> list[Document]:
    return [received(incoming(10, 4, [(0, tag)]), 0, tag, 12)]


# -- plans against memory itself: what every read sees must be the same with buffers that share memory


def _random_program(draw: random.Random) -> list[Document]:
    """Copies between parts of buffers, in place or not, some of which are sent or received."""
    numbers = count(1000)
    sizes = {buffer: draw.choice([4, 8, 12]) for buffer in range(draw.randint(5, 14))}
    tags: dict[int, list[tuple[int, int]]] = {buffer: [] for buffer in sizes}
    incoming_tags: dict[int, list[tuple[int, int]]] = {buffer: [] for buffer in sizes}
    recent = [0]
    plan: list[tuple[int, int, int]] = []
    for _ in range(draw.randint(6, 30)):
        kind, target = draw.randrange(7), draw.choice(list(sizes))
        plan.append((kind, draw.choice(recent[-2:]), target))
        recent += [target] * (kind not in (0, 2))
    for kind, source, target in plan:
        if kind == 0 and not tags[source]:
            tags[source] = [(1, source)]
        if kind == 1 and not incoming_tags[target]:
            incoming_tags[target] = [(1, 100 + target)]

    def part(buffer: int, size: int) -> Document:
        tensor = files.buffer("v3", buffer, send=tags[buffer], recv=incoming_tags[buffer])
        at = draw.choice(range(0, sizes[buffer] - size + 1, 4))
        return files.tensor("v3", next(numbers), [size], held=tensor, strides=[sizes[buffer]], offsets=[at])

    def after(inputs: Document) -> Document:
        return files.later(inputs, next(numbers))

    ops: list[Document] = []
    waiting: list[Document] = []
    for kind, source, target in plan:
        if kind == 0:
            x = part(source, sizes[source])
            proxy = {**x, "Id": next(numbers), "Buffer": files.buffer("v3", next(numbers), 1, recv=[(-1, source)])}
            ops.append(files.op("Send", [x], [proxy], [after(proxy)]))
            waiting.append(files.op("SendDone", [ops[-1]["ResultTensors"][0]], [], [after(proxy)]))
        elif kind == 1:
            y = part(target, sizes[target])
            proxy = {
                **y,
                "Id": next(numbers),
                "Buffer": files.buffer("v3", next(numbers), 1, send=[(-1, 100 + target)]),
            }
            ops.append(files.op("Recv", [proxy], [y], [after(y)]))
        elif kind == 2 and waiting:
            ops.append(waiting.pop(draw.randrange(len(waiting))))
        else:
            fitting = [n for n in (4, 8, 12) if n <= min(sizes[source], sizes[target])]
            size = draw.choice([fitting[-1], draw.choice(fitting)])
            x, y = part(source, size), part(target, size)
            ops.append(copy(x, y, next(numbers)))
    return ops


class _Memory:
    """Bytes, as what was put there last."""

    def __init__(self, offsets: Mapping[int, int], size: int) -> None:
        self._offsets = offsets
        self._bytes: list[object] = ["zero"] * size

    def cells(self, tensor: Document) -> range:
        start = self._offsets[tensor["Buffer"]["Id"]] + 4 * tensor["Offsets"][0]
        return range(start, start + 4 * tensor["Shape"][0])

    def read(self, tensor: Document) -> list[object]:
        return [self._bytes[n] for n in self.cells(tensor)]

    def write(self, tensor: Document, token: object) -> None:
        for n, cell in enumerate(self.cells(tensor)):
            self._bytes[cell] = (token, n)


def _seen(ops: Sequence[Document], memory: _Memory, *, is_early: bool) -> list[object]:
    """Returns what each read of two runs sees. Data of other ranks comes at once, or when it is awaited."""
    seen: list[object] = []
    for run in range(2):
        receives = [(n, op) for n, op in enumerate(ops) if op["Type"] == "Recv"]
        under_way: dict[int, Document] = {}
        if is_early:
            for n, op in receives[::-1]:
                memory.write(op["WriteTensors"][0], (run, n))
        for n, op in enumerate(ops):
            match op["Type"]:
                case "Send":
                    under_way[op["WriteTensors"][0]["Buffer"]["Id"]] = op["ReadTensors"][0]
                case "SendDone":
                    seen.append(memory.read(under_way.pop(op["ReadTensors"][0]["Buffer"]["Id"])))
                case "Recv":
                    if not is_early:
                        memory.write(op["WriteTensors"][0], (run, n))
                case _:
                    seen.append(memory.read(op["ReadTensors"][0]))
                    memory.write(op["WriteTensors"][0], (run, n))
        seen += [memory.read(tensor) for tensor in under_way.values()]
    return seen


@pytest.mark.slow_cases("False")
@pytest.mark.parametrize("is_early", [False, True])
def test_every_read_sees_the_same_when_buffers_share_memory(*, is_early: bool) -> None:
    draw = random.Random(23)
    saved = 0
    for _ in range(300):
        ops = _random_program(draw)
        if is_early and _order_matters(ops):
            continue
        (rank,) = _ranks(programs.together(files.document("v3", ops, (), 0, 2)))
        apart = {entry.buffer: 64 * n for n, entry in enumerate(rank.buffers)}
        shared = {entry.buffer: entry.offset for entry in rank.buffers if entry.offset is not None}
        assert rank.reused_bytes is not None
        assert rank.size_bytes is not None
        saved += rank.size_bytes - rank.reused_bytes
        first = _seen(ops, _Memory(apart, 64 * len(apart)), is_early=is_early)
        assert _seen(ops, _Memory(shared, rank.reused_bytes), is_early=is_early) == first
    assert saved > 500


def _order_matters(ops: Sequence[Document]) -> bool:
    """Returns whether a buffer is received more than once, or written by the rank itself too."""
    landing = [op["WriteTensors"][0]["Buffer"]["Id"] for op in ops if op["Type"] == "Recv"]
    copied = {op["WriteTensors"][0]["Buffer"]["Id"] for op in ops if op["Type"] == "Copy"}
    return len(set(landing)) != len(landing) or not copied.isdisjoint(landing)
