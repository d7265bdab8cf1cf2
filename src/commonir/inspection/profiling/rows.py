"""Adds up the entries of profiles by operation and by layer. Measures nothing.

A layer is a module in the names of nodes or values, such as `/model/layers.0/mlp`, otherwise one of the equal sequences
of operations that follow one another (`base/grouping.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from commonir.base.grouping import Interval, intervals
from commonir.reports import Profile, ProfileComparison, ProfileEntry, ProfileRow
from commonir.reports.profile_tables import layer_of, operation_of

_MOST_LAYERS = 24
"""Layers are divided into those in them as long as there are no more rows than this."""


def compared(profiles: Sequence[Profile]) -> ProfileComparison:
    """Returns profiles side by side."""
    return ProfileComparison(tuple(profiles), rows_by(profiles, operation_of), rows_by(profiles, layer_of))


def rows_by(profiles: Sequence[Profile], key: Callable[[ProfileEntry], str]) -> tuple[ProfileRow, ...]:
    """Returns the times of the entries with one key on each engine, slowest first."""
    counts: dict[str, list[int]] = {}
    seconds: dict[str, list[float]] = {}
    for n, profile in enumerate(profiles):
        for entry in profile.entries:
            name = key(entry)
            counts.setdefault(name, [0] * len(profiles))[n] += 1
            seconds.setdefault(name, [0.0] * len(profiles))[n] += entry.seconds
    rows = [ProfileRow(name, tuple(counts[name]), tuple(times)) for name, times in seconds.items()]
    return tuple(sorted(rows, key=lambda row: -max(row.seconds)))


def layers_of(entries: Sequence[ProfileEntry]) -> dict[str, str]:
    """Returns the layers of the entries that are in one, by name."""
    paths = [_path(e) for e in entries]
    found = [(i, i.label) for i in intervals(paths, [operation_of(e) for e in entries], [0] * len(entries))]
    while True:
        inner = [item for item in found if item[0].inner]
        if not inner:
            break
        largest = max(inner, key=lambda item: item[0].stop - item[0].start)
        parts = _divided(*largest)
        if len(found) - 1 + len(parts) > _MOST_LAYERS:
            break
        at = found.index(largest)
        found[at : at + 1] = parts
    return {e.name: label for interval, label in found for e in entries[interval.start : interval.stop]}


def with_layers(profile: Profile, layers: Mapping[str, str]) -> Profile:
    """Returns a profile whose entries say in which layer they are.

    An operation that an engine adds or fuses is in the layer that its name begins with, otherwise in that of the
    operation before it.
    """
    labels = sorted(set(layers.values()), key=len, reverse=True)
    entries: list[ProfileEntry] = []
    layer = ""
    for e in profile.entries:
        path = "/".join(_path(e))
        own = layers.get(e.name) or next((label for label in labels if f"{path}/".startswith(f"{label}/")), None)
        is_known = own is not None or (bool(e.operation) and profile.method == "separate")
        layer = own or ("" if is_known else layer)
        entries.append(e.replaced(layer=layer))
    return profile.replaced(entries=tuple(entries))


def _path(entry: ProfileEntry) -> list[str]:
    """Returns the modules in the name of the node or value of an entry."""
    return [part for part in (entry.node or entry.name).split("/")[:-1] if part]


def _divided(interval: Interval, label: str) -> list[tuple[Interval, str]]:
    """Returns the groups in a group, and what is between them as parts of the group itself."""
    result: list[tuple[Interval, str]] = []
    at = interval.start
    for inner in interval.inner:
        if at < inner.start:
            result.append((Interval(at, inner.start, label), label))
        result.append((inner, f"{label}/{inner.label}"))
        at = inner.stop
    if at < interval.stop:
        result.append((Interval(at, interval.stop, label), label))
    return result
