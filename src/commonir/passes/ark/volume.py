"""Communication volume of an ARK program: messages and bytes by pair and tag.

A message has the bytes of the sent tensor, without flags of packets. Source: ARK model files, execution rules.
"""

from __future__ import annotations

from collections import Counter

from commonir.dialects import ark
from commonir.passes.ark.messages import Communication, Key, Meet, Put, Take
from commonir.reports import TrafficEntry


def traffic_of(communication: Communication) -> tuple[TrafficEntry, ...]:
    """Returns all messages by pair and tag. Messages from missing ranks are those that others receive from them."""
    events = [event for each in communication.events.values() for event in each]
    counts: Counter[Key] = Counter()
    total_bytes: Counter[Key] = Counter()
    for event in events:
        match event:
            case Put(payload=payload):
                size_bytes = ark.size_bytes(payload)
            case Take(source=source, output=output) if source not in communication.events:
                size_bytes = 0 if output is None else ark.size_bytes(output)
            case _:
                continue
        counts[event.key] += 1
        total_bytes[event.key] += size_bytes
    unreceived = Counter([put.key for put in communication.unreceived])
    return tuple([TrafficEntry(*key, counts[key], total_bytes[key], unreceived[key]) for key in sorted(counts)])


def barriers_of(communication: Communication) -> int:
    """Returns the number of barriers."""
    meetings = [sum(isinstance(e, Meet) for e in events) for events in communication.events.values()]
    return max(meetings, default=0)
