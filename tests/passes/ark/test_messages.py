"""Messages between ranks of ARK programs: the expected ones are those of the format's description."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from commonir.dialects import ark
from commonir.passes.ark.messages import Communication, Put, Take, communicate

from tests.formats.ark.model_files import Document, document, exchange
from tests.formats.ark.rank_programs import recv, send, sync
from tests.passes.ark.ark_programs import program, together


def _ranks(*programs: Sequence[Document]) -> Communication:
    return communicate(program(*programs))


def _keys(events: Sequence[Put | Take]) -> list[tuple[int, int, int]]:
    return [(e.source, e.destination, e.tag) for e in events]


@pytest.mark.parametrize("generation", ["v1", "v2", "v3", "v4"])
def test_the_messages_of_an_exchange_are_found_with_their_tags(generation: str) -> None:
    result = communicate(together(*[exchange(generation, rank) for rank in (0, 1)], generation=generation))
    assert sorted(_keys([m.put for m in result.messages])) == [(0, 1, -2147483648), (1, 0, -2147483647)]
    assert [m.put[1:4] == m.take[1:4] for m in result.messages] == [True, True]
    assert (result.faults, result.unreceived, dict(result.blocked)) == ((), (), {})
    landings = [m.landing for m in result.messages if m.landing is not None]
    assert [(n.view.buffer, n.is_explicit) for n in landings] == [(4, False), (4, False)]


def test_messages_of_one_kind_come_in_the_order_in_which_they_were_sent() -> None:
    result = _ranks([send(1, 0, 0), send(1, 0, 10)], [recv(0, 0, 0), recv(0, 0, 10)])
    first = [ark.view_of(m.put.payload) for m in result.messages]
    assert [view.buffer for view in first if view is not None] == [0, 10]


def test_ranks_that_wait_for_each_other_are_a_circle() -> None:
    result = _ranks(
        [recv(2, 0, 0), send(1, 0, 10)],
        [recv(0, 0, 0), send(2, 0, 10)],
        [recv(1, 0, 0), send(0, 0, 10)],
    )
    assert result.cycle == (0, 2, 1)
    assert sorted(result.blocked) == [0, 1, 2]
    assert result.messages == ()


def test_a_cycle_is_found_behind_a_rank_that_waits_for_one_that_has_ended() -> None:
    result = _ranks([recv(1, 0, 0)], [], [recv(3, 0, 0)], [recv(2, 0, 0)])
    assert result.cycle == (2, 3)
    assert sorted(result.blocked) == [0, 2, 3]


def test_a_rank_that_waits_for_all_others_waits_for_one_that_waits_for_it() -> None:
    result = _ranks([sync(0, 2, 0), send(1, 0, 10)], [recv(0, 0, 0), sync(1, 2, 10)])
    assert result.cycle == (0, 1)


def test_ranks_meet_as_often_as_they_say() -> None:
    ops = [[sync(n, 2, 0), sync(n, 2, 10)] for n in (0, 1)]
    assert dict(_ranks(*ops).blocked) == {}
    assert sorted(_ranks(ops[0], ops[1][:1]).blocked) == [0]


def test_what_nobody_receives_is_reported() -> None:
    result = _ranks([send(1, 0, 0), send(1, 7, 10)], [recv(0, 0, 0)])
    assert _keys(result.unreceived) == [(0, 1, 7)]


def test_a_tag_that_is_on_one_side_only_is_not_a_tag() -> None:
    sent = [send(1, 0, 0)]
    sent[0]["ReadTensors"][0]["Buffer"]["SendTags"] = [[1, 5]]
    result = _ranks(sent, [])
    assert [wrong.finding.code.id for wrong in result.faults] == ["E0275"]
    assert "no tag on both sides" in result.faults[0].finding.message


def test_of_several_tags_of_a_proxy_that_of_the_buffer_is_meant() -> None:
    sent = [send(1, 3, 0)]
    for tensor in (sent[0]["WriteTensors"][0], sent[0]["ResultTensors"][0]):
        tensor["Buffer"]["RecvTags"] = [[-1, 2], [-1, 3]]
    assert _keys(_ranks(sent, []).unreceived) == [(0, 1, 3)]
    sent[0]["ReadTensors"][0]["Buffer"]["SendTags"] = [[1, 2], [1, 3]]
    result = _ranks(sent, []).faults
    assert "has the tags 2, 3" in result[0].finding.message


def test_the_number_of_the_file_may_stand_in_the_pairs_of_a_proxy() -> None:
    sent = [send(1, 3, 0)]
    for tensor in (sent[0]["WriteTensors"][0], sent[0]["ResultTensors"][0]):
        tensor["Buffer"]["RecvTags"] = [[0, 3]]
    assert _keys(_ranks(sent, []).unreceived) == [(0, 1, 3)]


@pytest.mark.parametrize("other_rank", [0, 2, -1])
def test_a_partner_must_be_another_rank_of_the_program(other_rank: int) -> None:
    result = _ranks([send(other_rank, 0, 0)], [])
    assert "E0274" in [wrong.finding.code.id for wrong in result.faults]


def test_a_message_lands_where_its_sender_says_where_that_is_another_view() -> None:
    sent, received = [send(1, 0, 0, shape=[4])], [recv(0, 0, 0, shape=[4])]
    for tensor in (sent[0]["WriteTensors"][0], sent[0]["ResultTensors"][0]):
        tensor.update(Strides=[12], Offsets=[8])
    landing = _ranks(sent, received).messages[0].landing
    assert landing is not None
    assert landing.is_explicit
    assert (landing.view.buffer, landing.view.strides, landing.view.offsets) == (1, (12,), (8,))


def test_ranks_without_files_are_taken_to_answer() -> None:
    result = communicate(together(document("v3", [recv(1, 0, 0), sync(0, 2, 10)], (), 0, 2)))
    assert (dict(result.blocked), result.messages) == ({}, ())
