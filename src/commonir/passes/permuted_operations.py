"""Operations on operands with permuted axes: the operation that computes the same, and how its results are permuted.

Nothing about layouts is declared. Attributes that may name axes are tried with these renamed, and the references decide
whether what results is the same: kernels in index notation are compared with their axes permuted, composites operation
by operation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product

from commonir.base.diagnostics import DiagnosticError
from commonir.base.tuples import NamedTuple
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.types import TensorType
from commonir.notation import NotationError, Permutation, is_identity, permuted_result
from commonir.ods import Derived, Op, infer, known_data, operations_behind, traits
from commonir.ods.fields import FieldKind
from commonir.passes.core_forms import CoreForm, core_form

_MOST_CANDIDATES = 16
_COMPARED_BYTES = 1024


class Permuted(NamedTuple):
    """An operation that computes another one on permuted operands.

    `op` is detached and applies to `arguments`, placeholders for permuted operands, or to operands of the operation; it
    is one of the core if `is_core`. `operands` are the values whose axes are permuted, as `perms` says, and `results`
    the permutations of the results. In `perms`, -1 is a new axis of size 1, which only constants get. `is_exact`: it
    has no sums of floats, which some runtimes would round differently.
    """

    op: Op
    is_core: bool
    operands: tuple[Value, ...]
    arguments: tuple[Value, ...]
    perms: tuple[Permutation, ...]
    results: tuple[Permutation, ...]
    is_exact: bool


def permuted_type(type: TensorType, perm: Permutation) -> TensorType:
    """Returns the type of a tensor with permuted axes."""
    shape = type.shape
    assert shape is not None
    return type.with_shape(tuple([1 if p < 0 else shape[p] for p in perm]))


def permuted(op: Op, perm: Permutation) -> Permuted | None:
    """Returns an operation that computes another one on operands with axes permuted by `perm`, those of its rank.

    Operands of lower rank stay as they are. None if nothing is known to.
    """
    if op.regions or not op.has_trait(traits.Pure) or op.has_trait(traits.ConstantLike) or not op.results:
        return None
    if op.has_trait(traits.Random) or not all(_is_ranked(r) for r in op.results):
        return None
    result = _permuted_form(op, op.operands, op.results, perm, is_core=False)
    if result is not None:
        return result
    form = core_form(op)
    if form is None or type(form.op) is type(op):
        return None
    return _permuted_form(form.op, _flat(form), op.results, perm, is_core=True)


def _flat(form: CoreForm) -> tuple[Value, ...]:
    out: list[Value] = []
    for v in form.operands:
        out += v if isinstance(v, tuple) else () if v is None else (v,)
    return tuple(out)


def _is_ranked(value: Value) -> bool:
    return isinstance(value.type, TensorType) and value.type.shape is not None and None not in value.type.shape


def _permuted_form(
    op: Op, operands: Sequence[Value], results: Sequence[Value], perm: Permutation, *, is_core: bool
) -> Permuted | None:
    """Returns an operation in the form of `op` that computes it on permuted operands."""
    if len(op.operands) != len(operands):
        return None
    rank = len(perm)
    moved = {v: perm for v in operands if _is_ranked(v) and _rank(v) == rank}
    vectors = [v for v in operands if _is_ranked(v) and 0 < _rank(v) < rank and known_data(v) is not None]
    if not moved:
        return None
    # What is broadcast has its axes at the end.
    widened = {v: tuple([p - rank + _rank(v) if p >= rank - _rank(v) else -1 for p in perm]) for v in vectors}
    for perms in (moved, moved | widened) if widened else (moved,):
        result = _with_permuted(op, operands, results, perms, perm, is_core)
        if result is not None:
            return result
    return None


def _with_permuted(
    op: Op,
    operands: Sequence[Value],
    results: Sequence[Value],
    perms: Mapping[Value, Permutation],
    perm: Permutation,
    is_core: bool,
) -> Permuted | None:
    types = [permuted_type(v.type, p) for v, p in perms.items() if isinstance(v.type, TensorType)]
    arguments = Block(types).arguments
    replaced = dict(zip(perms, arguments, strict=True))
    by_place = dict(zip(op.operands, operands, strict=True))
    by_operand = {v: perms[actual] for v, actual in by_place.items() if actual in perms}
    for changes in _candidates(op, perm):
        new = _with_operands(op, [replaced.get(v, v) for v in operands], changes)
        if new is None:
            continue
        found = _permutations(op, new, by_operand, {v: replaced.get(a, a) for v, a in by_place.items()}, perm)
        if found is None:
            new.erase()
            continue
        by_result, is_exact = found
        for r, old, p in zip(new.results, results, by_result, strict=False):
            assert isinstance(old.type, TensorType)
            r.retype(permuted_type(old.type, p))
        return Permuted(new, is_core, tuple(perms), tuple(arguments), tuple(perms.values()), tuple(by_result), is_exact)
    return None


def _rank(value: Value) -> int:
    return len(value.type.shape or ()) if isinstance(value.type, TensorType) else -1


def _with_operands(op: Op, operands: Sequence[Value], changes: Mapping[str, object]) -> Op | None:
    copy = op.clone_shallow(tuple(operands), ())
    if not changes:
        return copy
    try:
        return copy.with_attributes(**changes)
    except (DiagnosticError, TypeError):
        return None
    finally:
        copy.erase()


def _candidates(op: Op, perm: Permutation) -> Iterator[dict[str, object]]:
    """Yields attributes to try: with axes renamed, with one entry for each axis permuted, as they are. Defaults, which
    often say nothing, stay if they can.
    """
    options: dict[str, list[object]] = {}
    own: dict[str, object] = {}
    for field, value, unset in zip(op.layout.attributes, op.attribute_values, op.layout.unset, strict=True):
        several = _renamed(value, perm)
        if several:
            own[field.name] = value
            options[field.name] = [value, *several] if value == unset else [*several, value]
    for values in islice(product(*options.values()), _MOST_CANDIDATES):
        changes = dict(zip(options, values, strict=True))
        yield {name: v for name, v in changes.items() if v is not own[name]}


def _renamed(value: object, perm: Permutation) -> list[object]:
    """Returns an attribute as axes of the permuted tensor, and as a list by axes; what differs from it."""
    rank = len(perm)
    out: list[object] = []
    if isinstance(value, int) and not isinstance(value, bool):
        if -rank <= value < rank:
            out.append(perm.index(value % rank))
    elif isinstance(value, tuple):
        entries: tuple[object, ...] = value  # pyright: ignore[reportUnknownVariableType]  of anything
        axes = [e for e in entries if isinstance(e, int) and not isinstance(e, bool) and -rank <= e < rank]
        if axes and len(axes) == len(entries):
            out.append(tuple([perm.index(a % rank) for a in axes]))
        if len(entries) == rank:
            out.append(tuple([entries[p] for p in perm]))
        if len(entries) == 2 * rank:
            out.append(tuple([entries[h + p] for h in (0, rank) for p in perm]))
    return list(dict.fromkeys([o for o in out if o != value]))


# -- what the references say

_Found = tuple[list[Permutation], bool]


def _permutations(
    op: Op, new: Op, perms: Mapping[Value, Permutation], counterparts: Mapping[Value, Value], preferred: Permutation
) -> _Found | None:
    """Returns the permutations of the results of an operation that lead to those of another one; None if none do.

    `counterparts` are the operands of the other operation, by those of the first, and `perms` permutes these to them.
    """
    if type(op) is not type(new) or any(counterparts.get(v) is not w for v, w in zip(op.operands, new.operands)):  # noqa: B905  compared next
        return None
    if len(op.operands) != len(new.operands) or op.operand_offsets != new.operand_offsets:
        return None
    try:
        derived, other = infer(op), infer(new)
    except (DiagnosticError, NotationError):
        return None
    if derived.is_data_dependent or other.is_data_dependent or len(derived.types) != len(other.types):
        return None
    if derived.kernels:
        return _of_kernels(op, derived, other, perms, preferred)
    if derived.outputs:
        traces = [_Trace(_each(d.inputs), d.outputs, d.body or operations_behind(d.outputs)) for d in (derived, other)]
        known = dict(zip(traces[0].inputs, [perms.get(v) for v in _each(op.grouped_operands())], strict=True))
        return _of_composite(traces[0], traces[1], {v: p for v, p in known.items() if p is not None}, preferred)
    return _of_elements(op, new, perms)


def _of_elements(op: Op, new: Op, perms: Mapping[Value, Permutation]) -> _Found | None:
    """An algorithm that computes each element from those at the same position."""
    several = {perms.get(v, ()) for v in op.operands if _rank(v) > 0}
    is_same = op.decoded_attributes() == new.decoded_attributes()
    if not op.has_trait(traits.Elementwise) or not is_same or len(several) != 1:
        return None
    (perm,) = several
    return ([perm] * len(op.results), True) if all(_rank(r) == len(perm) for r in op.results) else None


def _of_kernels(
    op: Op, derived: Derived, other: Derived, perms: Mapping[Value, Permutation], preferred: Permutation
) -> _Found | None:
    named: dict[str, Permutation] = {}
    for field in op.layout.inputs:
        if field.kind is not FieldKind.OPERAND:
            continue
        value = op.field_value(field)
        values: dict[str, Value] = {}
        if isinstance(value, tuple):
            values = {f"{field.name}{n}": v for n, v in enumerate(value)}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]  of a variadic field
        elif isinstance(value, Value):
            values = {field.name: value}
        named.update({name: perms[v] for name, v in values.items() if v in perms})
    out: list[Permutation] = []
    is_exact = True
    rows = zip(derived.kernels, derived.extents, other.kernels, other.extents, strict=True)
    for kernel, extents, counterpart, its_extents in rows:
        found = permuted_result(kernel, extents, counterpart, its_extents, named, preferred)
        if found is None:
            return None
        out.append(found.perm)
        is_exact = is_exact and found.is_exact
    return out, is_exact


class _Trace(NamedTuple):
    """A composite reference: what it returns for placeholders, and its operations in order."""

    inputs: Sequence[Value]
    outputs: Sequence[Value]
    body: Sequence[Operation]


def _of_composite(
    trace: _Trace, other: _Trace, perms: Mapping[Value, Permutation], preferred: Permutation
) -> _Found | None:
    """Compares the operations of two composites, one by one."""
    known = dict(perms)
    counterparts = dict(zip(trace.inputs, other.inputs, strict=True))
    if len(trace.body) != len(other.body):
        return None
    is_exact = True
    for mine, theirs in zip(trace.body, other.body, strict=True):
        found = _of_step(mine, theirs, known, counterparts, preferred)
        if found is None:
            return None
        is_exact = is_exact and found[1]
        for r, s, p in zip(mine.results, theirs.results, found[0], strict=True):
            counterparts[r] = s
            if not is_identity(p):
                known[r] = p
    out: list[Permutation] = []
    for v, w in zip(trace.outputs, other.outputs, strict=True):
        if counterparts.get(v) is not w:
            return None
        out.append(known.get(v, tuple(range(_rank(v)))))
    return out, is_exact


def _of_step(
    op: Operation,
    new: Operation,
    known: Mapping[Value, Permutation],
    counterparts: Mapping[Value, Value],
    preferred: Permutation,
) -> _Found | None:
    if not isinstance(op, Op) or not isinstance(new, Op) or op.regions or type(op) is not type(new):
        return None
    if op.has_trait(traits.ConstantLike):
        is_same = op.results[0].type is new.results[0].type and _is_same_constant(op, new)
        return ([tuple(range(_rank(op.results[0])))], True) if is_same else None
    return _permutations(op, new, known, counterparts, preferred)


def _is_same_constant(op: Op, new: Op) -> bool:
    data, other = known_data(op.results[0]), known_data(new.results[0])
    if data is None or other is None:
        return op.attribute_values == new.attribute_values
    return data is other or (data.size_bytes <= _COMPARED_BYTES and data.contents() == other.contents())


def _each(grouped: Sequence[object]) -> list[Value]:
    out: list[Value] = []
    for v in grouped:
        if isinstance(v, Value):
            out.append(v)
        elif isinstance(v, tuple):
            out += [each for each in v if isinstance(each, Value)]  # pyright: ignore[reportUnknownVariableType]  of a group
    return out
