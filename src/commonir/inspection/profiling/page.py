"""A page that draws profiles: times by operation and by layer, a roofline, memory over time, and ranks side by side.

The page loads nothing and has no script; its policy forbids both. Everything that comes from a file is escaped. Source:
HTML Living Standard; Content Security Policy Level 3; Williams, Waterman and Patterson, 2009, the roofline model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from math import ceil, floor, log10

from commonir.base.text import escape_html as _text
from commonir.base.text import format_bytes, plural
from commonir.base.text import format_seconds as _time
from commonir.reports import MachinePeak, Profile, ProfileComparison, ProfileEntry, ProfileRow, RankProfile
from commonir.reports.profile_tables import operation_of

_ROWS = 16
_SLOWEST = 25
_POINTS = 2000
_LANE_STEPS = 2000
_WIDTH, _HEIGHT = 860.0, 300.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 64.0, 16.0, 14.0, 40.0


def page(compared: ProfileComparison, peak: MachinePeak, title: str) -> str:
    """Returns the page of some profiles, with the peak of the machine for the roofline."""
    style = files("commonir.inspection.profiling").joinpath("page.css").read_text(encoding="utf-8")
    name = title or compared.profiles[0].function
    body = "".join(
        [
            f"<h1>{_text(name)}</h1>",
            *_engines(compared.profiles),
            *_ranks(compared.profiles),
            *_bars("Time by operation", compared.operations, compared.profiles),
            *(_bars("Time by layer", compared.layers, compared.profiles) if len(compared.layers) > 1 else ()),
            *_roofline(compared.profiles, peak),
            *_memory(compared.profiles),
            *_slowest(compared.profiles),
        ]
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f'<meta name="color-scheme" content="light dark">\n<title>{_text(name)}: profile</title>\n'
        f"<style>{style}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _rate(number: float, unit: str) -> str:
    for prefix, size in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= size:
            return f"{number / size:.3g} {prefix}{unit}"
    return f"{number:.3g} {unit}"


_METHODS = {
    "separate": "each operation alone, with the call overhead of the engine in each time",
    "engine": "operations in ordinary runs, by the engine's own profiler; those that it fuses or adds have its names",
    "total": "only the whole program: the engine compiles operations into each other",
}


def _engines(profiles: Sequence[Profile]) -> Iterator[str]:
    yield "<table><thead><tr><th>engine</th><th>a run</th><th>fastest</th><th>first run</th><th>operations</th>"
    yield '<th>call overhead</th><th>memory at once</th><th class="text">timed</th></tr></thead><tbody>'
    for n, p in enumerate(profiles):
        overhead = _time(p.call_seconds) if p.call_seconds else ""
        yield f'<tr><td><span class="key e{n % 4}"></span>{_text(p.engine)}</td><td>{_time(p.seconds)}</td>'
        yield f"<td>{_time(p.least_seconds)}</td><td>{_time(p.first_seconds)}</td><td>{len(p.entries):,}</td>"
        yield f"<td>{overhead}</td><td>{format_bytes(p.peak_bytes) if p.peak_bytes else ''}</td>"
        yield f'<td class="text">{p.method}</td></tr>'
    yield "</tbody></table><p>"
    used = dict.fromkeys(p.method for p in profiles)
    yield "; ".join(f"<b>{method}</b>: {_METHODS[method]}" for method in used)
    yield ". The first run includes preparation. Times are medians.</p>"


def _bars(title: str, rows: Sequence[ProfileRow], profiles: Sequence[Profile]) -> Iterator[str]:
    if not rows:
        return
    yield f'<h2>{title}</h2><table class="bars"><thead><tr><th>{"operation" if "operation" in title else "layer"}</th>'
    yield '<th>number</th><th class="text"></th>'
    for n, p in enumerate(profiles):
        yield f'<th><span class="key e{n % 4}"></span>{_text(p.engine)}</th>'
    yield "<th>ratio</th></tr></thead><tbody>" if len(profiles) > 1 else "<th>share</th></tr></thead><tbody>"
    longest = max(max(row.seconds) for row in rows) or 1.0
    total = sum(row.seconds[0] for row in rows) or 1.0
    for row in rows[:_ROWS]:
        bars = "".join(
            f'<i class="e{n % 4}" style="width:{100 * s / longest:.2f}%{"" if s else ";min-width:0"}"></i>'
            for n, s in enumerate(row.seconds)
        )
        yield f'<tr><td class="name">{_text(row.name)}</td><td>{" / ".join(map(str, dict.fromkeys(row.counts)))}</td>'
        yield f'<td class="bar">{bars}</td>'
        yield from (f"<td>{_time(s) if s else '-'}</td>" for s in row.seconds)
        ratio = row.ratio
        last = ("" if not ratio else f"{ratio:.2f}") if len(profiles) > 1 else f"{row.seconds[0] / total:.0%}"
        yield f"<td>{last}</td></tr>"
    yield "</tbody></table>"
    if len(rows) > _ROWS:
        yield f"<p>and {plural(len(rows) - _ROWS, 'row')} more</p>"


class _Axis:
    """A logarithmic or linear axis between two numbers, from one position to another."""

    def __init__(self, low: float, high: float, start: float, stop: float, *, is_log: bool) -> None:
        self.is_log = is_log
        self.low, self.high = (floor(log10(low)), ceil(log10(high))) if is_log else (low, high)
        if self.high == self.low:
            self.high = self.low + 1
        self._start, self._stop = start, stop

    def __call__(self, value: float) -> float:
        at = log10(value) if self.is_log else value
        return self._start + (at - self.low) / (self.high - self.low) * (self._stop - self._start)

    def ticks(self) -> list[float]:
        """Returns the powers of ten in it, or four equal parts."""
        if self.is_log:
            return [10.0**n for n in range(int(self.low), int(self.high) + 1)]
        return [self.low + (self.high - self.low) * n / 4 for n in range(5)]


def _roofline(profiles: Sequence[Profile], peak: MachinePeak) -> Iterator[str]:
    points = [
        (n, e, e.flops / e.moved_bytes, e.flops / e.seconds)
        for n, p in enumerate(profiles)
        for e in p.entries
        if e.flops and e.moved_bytes and e.seconds
    ]
    if not points:
        return
    ridge = peak.flops / peak.bytes
    x = _Axis(
        min([p[2] for p in points] + [ridge / 10]),
        max([p[2] for p in points] + [ridge * 10]),
        _LEFT,
        _WIDTH - _RIGHT,
        is_log=True,
    )
    y = _Axis(min([p[3] for p in points] + [peak.flops / 1e3]), peak.flops * 1.2, _HEIGHT - _BOTTOM, _TOP, is_log=True)
    yield "<h2>Roofline</h2><p>Each dot is an operation: what it computes in a second against what it computes for "
    yield "each byte of operands and results. Under the slope, memory limits it; under the flat roof, arithmetic. "
    yield f"The roofs are measured on one thread of this machine: {_rate(peak.flops, 'FLOP/s')} in a product of 768 x "
    yield f"768 matrices in single precision, {_rate(peak.bytes, 'B/s')} in a copy of 64 MiB.</p>"
    yield f'<svg viewBox="0 0 {_WIDTH:.0f} {_HEIGHT:.0f}" role="img" aria-label="roofline">'
    for tick in x.ticks():
        yield f'<line class="grid" x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{_TOP}" y2="{_HEIGHT - _BOTTOM}"/>'
        yield f'<text x="{x(tick):.1f}" y="{_HEIGHT - _BOTTOM + 15}" text-anchor="middle">{tick:g}</text>'
    for tick in y.ticks():
        yield f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y(tick):.1f}" y2="{y(tick):.1f}"/>'
        yield f'<text x="{_LEFT - 6}" y="{y(tick) + 4:.1f}" text-anchor="end">{_rate(tick, "")}</text>'
    low = 10.0**x.low
    start = max(low, 10.0**y.low / peak.bytes)
    yield f'<path class="roof" d="M{x(start):.1f} {y(start * peak.bytes):.1f} L{x(ridge):.1f} {y(peak.flops):.1f} '
    yield f'L{_WIDTH - _RIGHT:.1f} {y(peak.flops):.1f}"/>'
    longest = max(p[1].seconds for p in points)
    for n, entry, intensity, rate in sorted(points, key=lambda p: -p[1].seconds)[:_POINTS]:
        radius = 2.5 + 5.5 * (entry.seconds / longest) ** 0.5
        said = f"{_named(entry)}\n{_time(entry.seconds)} on {profiles[n].engine}, {_rate(rate, 'FLOP/s')}, "
        said += f"{intensity:.3g} FLOP for each byte"
        yield f'<circle class="dot e{n % 4}" cx="{x(intensity):.1f}" cy="{y(rate):.1f}" r="{radius:.1f}">'
        yield f"<title>{_text(said)}</title></circle>"
    yield f'<text x="{_WIDTH / 2:.0f}" y="{_HEIGHT - 6}" text-anchor="middle">FLOP for each byte moved</text>'
    yield f'<text x="{_LEFT + 4}" y="{_TOP + 10}">FLOP/s</text></svg>'


def _named(entry: ProfileEntry) -> str:
    return f"{operation_of(entry)} {_place(entry)}"


def _place(entry: ProfileEntry) -> str:
    """Returns the node of an entry, or its value, which has the rank in its name."""
    return entry.name if entry.rank is not None else entry.node or entry.name


def _memory(profiles: Sequence[Profile]) -> Iterator[str]:
    chosen = next((p for p in profiles if p.peak_values and not p.ranks), None)
    if chosen is None:
        return
    sizes = [e.live_bytes or 0 for e in chosen.entries]
    if not any(sizes):
        return
    y = _Axis(0, max(*sizes, chosen.peak_bytes), _HEIGHT - _BOTTOM, _TOP, is_log=False)
    x = _Axis(0, len(sizes), _LEFT, _WIDTH - _RIGHT, is_log=False)
    yield "<h2>Memory over time</h2><p>Bytes of the values that are needed at once while the operations run in order, "
    yield f"without weights: {format_bytes(chosen.peak_bytes)} at most.</p>"
    yield f'<svg viewBox="0 0 {_WIDTH:.0f} {_HEIGHT:.0f}" role="img" aria-label="memory over time">'
    for tick in y.ticks():
        yield f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y(tick):.1f}" y2="{y(tick):.1f}"/>'
        yield f'<text x="{_LEFT - 6}" y="{y(tick) + 4:.1f}" text-anchor="end">{format_bytes(round(tick))}</text>'
    path = f"M{x(0):.1f} {y(0):.1f}"
    for n, size in enumerate(sizes):
        path += f"L{x(n):.1f} {y(size):.1f}L{x(n + 1):.1f} {y(size):.1f}"
    yield f'<path class="area" d="{path}L{x(len(sizes)):.1f} {y(0):.1f}Z"/>'
    step = max(1, len(sizes) // 400)
    for n in range(0, len(sizes), step):
        said = f"{n + 1}. {_named(chosen.entries[n])}\n{format_bytes(sizes[n])}"
        yield f'<rect x="{x(n):.1f}" y="{_TOP}" width="{x(step) - x(0):.2f}" height="{_HEIGHT - _BOTTOM - _TOP:.0f}" '
        yield f'fill="transparent"><title>{_text(said)}</title></rect>'
    yield f'<text x="{_WIDTH / 2:.0f}" y="{_HEIGHT - 8}" text-anchor="middle">operations in order</text></svg>'
    largest = list(chosen.peak_values.items())[:6]
    more = len(chosen.peak_values) - len(largest)
    yield "<p>At the peak: " + ", ".join(f"{_text(name)} {format_bytes(size)}" for name, size in largest)
    yield (f" and {plural(more, 'value')} more" if more else "") + ".</p>"


def _ranks(profiles: Sequence[Profile]) -> Iterator[str]:
    for p in profiles:
        if not p.ranks:
            continue
        end = max(p.parallel_seconds or 0.0, 1e-12)
        yield f"<h2>Ranks on {_text(p.engine)}</h2><p>What each rank does with a processor for each, from measured "
        yield f"times: {_time(end)} for a run. A message arrives when it is sent. Here all ranks ran in one process. "
        yield '<span class="key compute" style="background:var(--a)"></span>computes '
        yield '<span class="key" style="background:var(--send)"></span>sends '
        yield '<span class="key" style="background:var(--wait)"></span>waits</p>'
        yield from _lanes(p.ranks, end)
        yield "<table><thead><tr><th>rank</th><th>ends after</th><th>computes</th><th>sends</th><th>waits</th>"
        yield "<th>messages</th><th>sent</th><th>memory at once</th></tr></thead><tbody>"
        for r in p.ranks:
            yield f"<tr><td>{_text(r.name)}</td><td>{_time(r.seconds)}</td><td>{_time(r.compute_seconds)}</td>"
            yield f"<td>{_time(r.send_seconds)}</td><td>{_time(r.wait_seconds)}</td><td>{r.messages:,}</td>"
            yield f"<td>{format_bytes(r.sent_bytes)}</td><td>{format_bytes(r.peak_bytes)}</td></tr>"
        yield "</tbody></table>"


def _lanes(ranks: Sequence[RankProfile], end: float) -> Iterator[str]:
    height = 24.0 * len(ranks) + 26
    x = _Axis(0, end, _LEFT, _WIDTH - _RIGHT, is_log=False)
    yield f'<svg viewBox="0 0 {_WIDTH:.0f} {height:.0f}" role="img" aria-label="time of ranks">'
    for n, rank in enumerate(ranks):
        top = 24.0 * n + 4
        yield f'<text class="ink" x="{_LEFT - 6}" y="{top + 13:.0f}" text-anchor="end">{_text(rank.name)}</text>'
        for step in rank.steps[:_LANE_STEPS]:
            if step.seconds <= 0:
                continue
            counterpart = (
                "" if step.counterpart is None else f" {'to' if step.kind == 'send' else 'for'} rank {step.counterpart}"
            )
            said = f"{step.kind}{counterpart}: {_time(step.seconds)}"
            said += f", {format_bytes(step.size_bytes)}" if step.size_bytes else ""
            yield f'<rect class="{step.kind}" x="{x(step.start):.2f}" y="{top:.0f}" height="16" '
            yield f'width="{max(x(step.seconds) - x(0), 0.3):.2f}"><title>{_text(said)}</title></rect>'
    for tick in x.ticks():
        said = _time(tick) if tick else "0"
        yield f'<text x="{x(tick):.1f}" y="{height - 6:.0f}" text-anchor="{_anchor(tick, end)}">{said}</text>'
    yield "</svg>"


def _anchor(tick: float, end: float) -> str:
    return "end" if tick >= end else "middle" if tick else "start"


def _slowest(profiles: Sequence[Profile]) -> Iterator[str]:
    chosen = next((p for p in profiles if p.entries), None)
    if chosen is None:
        return
    others = [{e.name: e for e in p.entries} for p in profiles if p is not chosen]
    names = [p.engine for p in profiles if p is not chosen]
    yield '<h2>Slowest operations</h2><div class="scroll"><table><thead><tr><th>node or value</th>'
    yield f'<th class="text">operation</th><th class="text">type</th><th>{_text(chosen.engine)}</th>'
    yield "".join(f"<th>{_text(name)}</th>" for name in names) + "<th>FLOP/s</th><th>moved</th></tr></thead><tbody>"
    for e in sorted(chosen.entries, key=lambda e: -e.seconds)[:_SLOWEST]:
        rate = _rate(e.flops / e.seconds, "") if e.flops and e.seconds else ""
        yield f'<tr><td class="name">{_text(_place(e))}</td><td class="text">{_text(operation_of(e))}</td>'
        yield f'<td class="text">{_text(e.type)}</td><td>{_time(e.seconds)}</td>'
        yield from _cells(_time(o[e.name].seconds) if e.name in o else "-" for o in others)
        yield f"<td>{rate}</td><td>{format_bytes(e.moved_bytes) if e.moved_bytes else ''}</td></tr>"
    yield "</tbody></table></div>"


def _cells(texts: Iterable[str]) -> Iterator[str]:
    yield from (f"<td>{text}</td>" for text in texts)
