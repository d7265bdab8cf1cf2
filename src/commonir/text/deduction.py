"""Deduction of the types of operands and results that an assembly format leaves out.

They follow from the types in the text and the traits of the definition. Where these traits only copy types from one
field to another, the result depends only on which fields have a type and on how many values they have: it is computed
once for each definition. Otherwise it is computed once for each combination of types in a text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from operator import attrgetter
from typing import TypeAlias

from commonir.base.diagnostics import DiagnosticError
from commonir.ir.operation import Value
from commonir.ir.types import DialectType, Type
from commonir.ods import MlirOp, Op, infer
from commonir.ods.fields import Field
from commonir.ods.kernel_op import KernelOp
from commonir.ods.mlir_op import single_types
from commonir.ods.type_rules import Typing, deduce, implying_fields, type_of_attribute

DeducedTypes: TypeAlias = "tuple[Sequence[Type | None], Sequence[Type] | None]"
"""The types of operands, None for an unknown one, and the types of results, None if unknown."""
_Origin: TypeAlias = "int | Type | None"
"""The source of a type: its position among the types in the text, or the only type that a field admits."""
_Filling: TypeAlias = "tuple[list[_Origin], list[int | Type] | None]"

StatedTypes: TypeAlias = "dict[str, tuple[Type, ...]]"
"""The types that a text states, by the names of fields."""


_TYPE = attrgetter("type")


class OmittedTypes:
    """Compares the types that the form of a definition of MLIR omits with those that a reader would infer.

    `is_complete`: the form omits none.
    """

    __slots__ = ("_deduction", "_equal", "_infers", "_sources", "_states_results", "_typed", "is_complete")

    def __init__(self, definition: type[MlirOp], typed: AbstractSet[Field], *, states_results: bool) -> None:
        layout = definition.layout
        self._deduction = Deduction(definition, states_results=states_results)
        self._states_results = states_results
        self._typed = typed
        self._infers = definition.infer_results is not MlirOp.infer_results or issubclass(definition, KernelOp)
        names = implying_fields(
            definition.type_rules, [f.name for f in layout.inputs], [f.name for f in layout.results]
        )
        self._sources = [f for f in layout.attributes if names is None or f.name in names]
        self.is_complete = all(f in typed for f in (*layout.inputs, *layout.results))
        self._equal: dict[object, tuple[tuple[int, _Origin], ...] | None] = {}

    def agree(self, op: Op, known: dict[object, bool]) -> bool:
        """Returns whether an operation has the types that a reader would infer. `known` caches answers."""
        counts = (op.operand_offsets, len(op.results))
        if counts not in self._equal:
            self._equal[counts] = self._equal_types(op)
        equal = self._equal[counts]
        if equal is not None:
            types: list[Type | None] = [*map(_TYPE, op.operands), *map(_TYPE, op.results)]
            types += [type_of_attribute(op.field_value(f)) for f in self._sources]
            if None not in types:
                return all(types[at] is (types[of] if isinstance(of, int) else of) for at, of in equal)
        if self._infers and not self._states_results:
            return self._has_inferred_types(op)
        key: object = (self, op.operand_offsets, *map(_TYPE, op.operands), *map(_TYPE, op.results))
        if self._sources:
            key = (key, *[type_of_attribute(op.field_value(f)) for f in self._sources])
        result = known.get(key)
        if result is None:
            result = known[key] = self._has_inferred_types(op)
        return result

    def _equal_types(self, op: Op) -> tuple[tuple[int, _Origin], ...] | None:
        """Returns which types must equal others, by position among all types, if the deduction only copies types."""
        if not self._deduction.copies:
            return None
        layout = op.layout
        places: dict[str, list[int]] = {}
        count = 0
        for f in (*layout.inputs, *layout.results):
            places[f.name] = list(range(count, count + len(_values(op, f))))
            count = places[f.name][-1] + 1 if places[f.name] else count
        stated = {f.name: places[f.name] for f in self._typed if f.name in places}
        stated |= {f.name: [count + n] for n, f in enumerate(self._sources)}
        inputs, results = self._deduction.filling(
            tuple([len(places[f.name]) for f in layout.inputs]), {name: len(at) for name, at in stated.items()}
        )
        if results is None and not self._states_results and op.results:
            return None
        origins = [place for at in stated.values() for place in at]
        found = [*inputs, *(() if self._states_results or results is None else results)]
        return tuple(
            [(at, origins[of] if isinstance(of, int) else of) for at, of in enumerate(found) if of is not None]
        )

    def _has_inferred_types(self, op: Op) -> bool:
        layout = op.layout
        types = {f.name: tuple([v.type for v in _values(op, f)]) for f in (*layout.inputs, *layout.results)}
        stated: StatedTypes = {f.name: types[f.name] for f in self._typed if f.name in types}
        for f in self._sources:
            of_attribute = type_of_attribute(op.field_value(f))
            if of_attribute is not None:
                stated[f.name] = (of_attribute,)
        counts = tuple([len(types[f.name]) for f in layout.inputs])
        inputs, results = self._deduction.types(counts, stated, {})
        actual = [t for f in layout.inputs for t in types[f.name]]
        if any(t is not None and t != a for t, a in zip(inputs, actual, strict=True)):
            return False
        if self._states_results or not op.results:
            return True
        if results is None and isinstance(op, MlirOp):
            try:
                results = infer(op).types if isinstance(op, KernelOp) else op.infer_results()
            except (DiagnosticError, TypeError, ValueError):
                return False
        return results is not None and list(results) == [r.type for r in op.results]


def _values(op: Op, field: Field) -> tuple[Value, ...]:
    value: object = op.field_value(field)
    if isinstance(value, tuple):
        return tuple([v for v in value if isinstance(v, Value)])  # pyright: ignore[reportUnknownVariableType]
    return (value,) if isinstance(value, Value) else ()


class Deduction:
    """Deduces types for one definition. `states_results`: its format has the types of results."""

    __slots__ = ("_definition", "_evident", "_fillings", "_inputs", "_results", "_states_results", "copies")

    def __init__(self, definition: type[Op], *, states_results: bool) -> None:
        layout = definition.layout
        self._definition = definition
        self._states_results = states_results
        self._evident = single_types([*layout.inputs, *layout.results])
        self._inputs = [f.name for f in layout.inputs]
        self._results = [f.name for f in layout.results]
        self.copies = all(rule.deduce is None or rule.copies for rule in definition.type_rules)
        self._fillings: dict[object, _Filling] = {}

    def types(self, counts: tuple[int, ...], stated: StatedTypes, known: dict[object, DeducedTypes]) -> DeducedTypes:
        """Returns the types of operands and results.

        `counts` has the number of operands of each field. The types of results are None where the text has a
        different number of types. `known` caches what was deduced from the same types.
        """
        if self.copies:
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
            filling = self._fillings[key] = self.filling(counts, {name: len(g) for name, g in stated.items()})
        flat = [t for g in groups for t in g]
        inputs, results = filling
        return (
            [flat[t] if isinstance(t, int) else t for t in inputs],
            None if results is None else [flat[t] if isinstance(t, int) else t for t in results],
        )

    def filling(self, counts: tuple[int, ...], stated: Mapping[str, int]) -> _Filling:
        """Returns the source of each type, deduced with placeholders for the types of the text.

        `stated` has the number of types that the text states of each field.
        """
        places: dict[Type, int] = {}
        samples: StatedTypes = {}
        for name, count in stated.items():
            samples[name] = tuple([DialectType("sample", str(len(places) + n)) for n in range(count)])
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
