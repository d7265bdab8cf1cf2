"""Communication volume of an ARK program: messages and bytes by pair and tag, as the program states them.

A message has the bytes of the tensor that is sent; flags of packets do not count.
Source: ARK model files, execution rules.
"""

from __future__ import annotations

from collections import Counter

from commonir.dialects import ark
from commonir.passes.ark.messages import Communication, Key, Meet, Put, Take
from commonir.reports import TrafficEntry


def traffic_of(communication: Communication) -> tuple[TrafficEntry, ...]:
    """All messages by pair and tag. Of a rank that is not there, what is received from it is taken to be sent."""
    events = [event for each in communication.events.values() for event in each]
    counts: Counter[Key] = Counter()
    sizes: Counter[Key] = Counter()
    for event in events:
        match event:
            case Put(payload=payload):
                size_bytes = ark.size_bytes(payload)
            case Take(source=source, output=output) if source not in communication.events:
                size_bytes = 0 if output is None else ark.size_bytes(output)
            case _:
                continue
        counts[event.key] += 1
        sizes[event.key] += size_bytes
    unreceived = Counter([put.key for put in communication.unreceived])
    return tuple([TrafficEntry(*key, counts[key], sizes[key], unreceived[key]) for key in sorted(counts)])


def barriers_of(communication: Communication) -> int:
    """How often all ranks wait for each other."""
    meetings = [sum(isinstance(e, Meet) for e in events) for events in communication.events.values()]
    return max(meetings, default=0)
