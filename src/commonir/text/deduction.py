"""The types of operands and results that an assembly format leaves out.

They follow from the types that the text states by the traits of the definition. Where these traits only copy types from
one field to another, what follows depends on which fields have a type and on how many values they have: it is found
once for each definition and filled in; otherwise once for the same types in a text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from commonir.ir.types import DialectType, Type
from commonir.ods import Op
from commonir.ods.mlir_op import single_types
from commonir.ods.type_rules import Typing, deduce

DeducedTypes: TypeAlias = "tuple[Sequence[Type | None], Sequence[Type] | None]"
"""Types of operands, one by one, None where unknown; and those of results, None when they are not known."""
_Origin: TypeAlias = "int | Type | None"
"""The position of a type among those that the text states, or the only type that a field admits."""
_Filling: TypeAlias = "tuple[list[_Origin], list[int | Type] | None]"

StatedTypes: TypeAlias = "dict[str, tuple[Type, ...]]"
"""The types that a text states, by the names of fields."""


class Deduction:
    """Finds the types that texts of one definition leave out. `states_results`: its format states those of results."""

    __slots__ = ("_copies", "_definition", "_evident", "_fillings", "_inputs", "_results", "_states_results")

    def __init__(self, definition: type[Op], *, states_results: bool) -> None:
        layout = definition.layout
        self._definition = definition
        self._states_results = states_results
        self._evident = single_types([*layout.inputs, *layout.results])
        self._inputs = [f.name for f in layout.inputs]
        self._results = [f.name for f in layout.results]
        self._copies = all(rule.deduce is None or rule.copies for rule in definition.type_rules)
        self._fillings: dict[object, _Filling] = {}

    def types(self, counts: tuple[int, ...], stated: StatedTypes, known: dict[object, DeducedTypes]) -> DeducedTypes:
        """Returns the types of operands and results.

        `counts` says how many operands each field has; results are not known where other numbers of types are stated.
        `known` has what was found for the same types before.
        """
        if self._copies:
            return self._filled(counts, stated)
        key = (self._definition, counts, tuple(stated.items()))
        result = known.get(key)
        if result is None:
            result = known[key] = self._deduced(counts, stated)
        return result

    def _filled(self, counts: tuple[int, ...], stated: StatedTypes) -> DeducedTypes:
        groups = [*stated.values()]
        key = (counts, tuple(stated), tuple([len(g) for g in groups]))
        filling = self._fillings.get(key)
        if filling is None:
            filling = self._fillings[key] = self._filling(counts, stated)
        flat = [t for g in groups for t in g]
        inputs, results = filling
        return (
            [flat[t] if isinstance(t, int) else t for t in inputs],
            None if results is None else [flat[t] if isinstance(t, int) else t for t in results],
        )

    def _filling(self, counts: tuple[int, ...], stated: StatedTypes) -> _Filling:
        """Returns where each type comes from, found with types that stand for those of the text."""
        places: dict[Type, int] = {}
        samples: StatedTypes = {}
        for name, types in stated.items():
            samples[name] = tuple([DialectType("sample", str(len(places) + n)) for n in range(len(types))])
            places.update({t: len(places) + n for n, t in enumerate(samples[name])})
        inputs, results = self._deduced(counts, samples)
        return (
            [None if t is None else places.get(t, t) for t in inputs],
            None if results is None else [places.get(t, t) for t in results],
        )

    def _deduced(self, counted: Sequence[int], stated: Mapping[str, tuple[Type, ...]]) -> DeducedTypes:
        layout = self._definition.layout
        counts = dict(zip(self._inputs, counted, strict=True))
        counts |= {f.name: 1 for f in layout.results if not f.variadic and not f.optional}
        typing = Typing(self._inputs, self._results, counts, stated)
        deduce(self._definition.type_rules, self._evident, typing)
        if any(len(types) != counts[name] for name, types in stated.items() if name in self._inputs):
            return (None,) * sum(counted), None
        inputs: list[Type | None] = []
        for name in self._inputs:
            inputs += typing.types.get(name, (None,) * counts[name])
        missing = [f for f in layout.results if f.name not in typing.types]
        if any(not f.optional and (not f.variadic or not self._states_results) for f in missing):
            return inputs, None
        return inputs, typing.all(typing.results)
