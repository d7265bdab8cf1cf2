"""The findings of reading one program, and where it is at fault.

Limits: `Limits.max_diagnostics`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from commonir.base.diagnostics import Code, Diagnostic, Fix
from commonir.base.file_codes import LIMIT_EXCEEDED
from commonir.base.limits import Limits
from commonir.base.suggestions import did_you_mean
from commonir.base.text import plural
from commonir.formats.coreml.blobs import UnusableWeightsError

# Looking for what helps goes through everything in sight: enough for a person, and no way to keep a reader busy.
_MAX_SEARCHES = 20


class ProtoPlace:
    """Where the part of a program stands that is being read. As text it is its path, as `ods.path_of` says it.

    `part`, where it is asked for, is what of the operation at that place is wrong, such as `.inputs['x']`.
    """

    __slots__ = ("path",)

    def __init__(self, path: str) -> None:
        self.path = path

    def __str__(self) -> str:
        return self.path

    def notes_on(self, name: str) -> tuple[str, ...]:  # noqa: ARG002  a place that knows what follows it says so
        """Where in the same block a name is defined that is not defined yet."""
        return ()

    def locate(self, diagnostic: Diagnostic, part: str) -> Diagnostic:
        """A finding about this place, with the place filled in."""
        return diagnostic.located(where=f"{self}{part}")


class Findings:
    """Diagnostics in order. `faulty` are the locations of all operations with errors."""

    __slots__ = ("_found", "_limit", "_suggestions", "_unusable", "faulty")

    def __init__(self, limits: Limits) -> None:
        self.faulty: set[str] = set()
        self._found: list[Diagnostic] = []
        self._limit = limits.max_diagnostics
        self._suggestions = 0
        self._unusable: dict[str, _SharedFault] = {}

    def add(
        self,
        code: Code,
        message: str,
        place: ProtoPlace,
        part: str = "",
        *,
        notes: tuple[str, ...] = (),
        help: str | None = None,
        fix: Fix | None = None,
    ) -> None:
        """Records a finding."""
        self.extend([Diagnostic(code, message, notes=notes, help=help, fix=fix)], place, part)

    def extend(self, diagnostics: Collection[Diagnostic], place: ProtoPlace, part: str = "") -> None:
        """Records findings made elsewhere."""
        self.faulty.add(str(place))
        room = self._limit - len(self._found)
        if room <= 0:
            return
        self._found.extend([place.locate(d, part) for d in diagnostics][:room])
        if len(self._found) == self._limit:
            self._found.append(Diagnostic(LIMIT_EXCEEDED, f"there are more than {self._limit} findings"))

    def unusable(self, error: UnusableWeightsError, place: ProtoPlace, part: str) -> None:
        """Records a weight file that cannot be read, once for the file."""
        shared = self._unusable.get(error.name)
        if shared is not None:
            self.faulty.add(str(place))
            shared.others += 1
            return
        self._unusable[error.name] = _SharedFault(len(self._found))
        self.extend(error.diagnostics, place, part)

    def suggestion(self, name: str, candidates: Iterable[str]) -> str | None:
        """The help line that offers similar names, as long as there are not too many findings."""
        self._suggestions += 1
        return did_you_mean(name, candidates) if self._suggestions <= _MAX_SEARCHES else None

    def notes_on(self, name: str, place: ProtoPlace) -> tuple[str, ...]:
        """Where a name is defined that is not defined yet."""
        return place.notes_on(name)

    def complete(self) -> list[Diagnostic]:
        """Returns all findings; one on a weight file has the number of further constants that refer to it."""
        out = list(self._found)
        for shared in self._unusable.values():
            if shared.others and shared.index < len(out):
                d = out[shared.index]
                notes = (*d.notes, f"{plural(shared.others, 'more constant refers', 'more constants refer')} to it")
                out[shared.index] = Diagnostic(d.code, d.message, where=d.where, file=d.file, notes=notes, help=d.help)
        return out


class _SharedFault:
    """A finding that stands for several: its position, and how many others there are."""

    __slots__ = ("index", "others")

    def __init__(self, index: int) -> None:
        self.index = index
        self.others = 0
