"""Rules for operations that ONNX has in the domain ai.onnx.ml: tables of keys, ensembles of trees, maps of rows.

What a table or a tree consists of are attributes there, so that it must be known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from commonir.conversions.core_to_onnx.building import cast
from commonir.conversions.operands import element_of
from commonir.dialects import core, onnx
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, f32, f64, i64, string
from commonir.ods import known_data
from commonir.rewrite.legalize import Context, Mismatch, Result, rule

_FIELDS = {i64: "int64s", f32: "floats", string: "strings"}
_DEFAULTS = {i64: "default_int64", f32: "default_float", string: "default_string"}
_AS_STATED = "what it looks up is not known"


def _elements(*values: Value) -> list[tuple[Any, ...]] | None:
    """The elements of constants; None when one is none."""
    result = [known_data(v) for v in values]
    known = [d.values() for d in result if d is not None]
    return known if len(known) == len(result) else None


def _common(element: ElementType) -> ElementType:
    """The type in which tables hold elements of a type."""
    return f32 if element.is_float and element is not f64 else element if element is string else i64


@rule(core.Lookup)
def lookup(op: core.Lookup, context: Context, x: Value, keys: Value, values: Value, otherwise: Value) -> Result:
    attributes: dict[str, Any]
    known_keys, result = _elements(keys), _elements(keys, values, otherwise)
    key, value_type = element_of(x), element_of(values)
    if known_keys is None or key is f64 or not known_keys[0]:
        return Mismatch(f"onnx.ml.LabelEncoder holds a table of few types as attributes: {_AS_STATED}")
    if result is None or value_type is f64:
        positions = {k: n for n, k in enumerate(known_keys[0])}
        attributes = {f"keys_{_FIELDS[_common(key)]}": tuple(positions), "values_int64s": tuple(positions.values())}
        at = onnx.LabelEncoder(cast(x, _common(key)), **attributes, default_int64=len(known_keys[0])).Y
        return core.gather(core.concat((values, core.reshape(otherwise, (1,))), axis=0), at)
    # Of equal keys the last one counts.
    table = dict(zip(result[0], result[1], strict=True))
    attributes = {
        f"keys_{_FIELDS[_common(key)]}": tuple(table),
        f"values_{_FIELDS[_common(value_type)]}": tuple(table.values()),
        _DEFAULTS[_common(value_type)]: result[2][0],
    }
    return cast(onnx.LabelEncoder(cast(x, _common(key)), **attributes).Y, value_type)


@rule(core.MapsOfRows)
def maps_of_rows(op: core.MapsOfRows, context: Context, keys: Value, x: Value) -> Result:
    result = _elements(keys)
    if result is None or element_of(x) is not f32 or element_of(keys) not in (i64, string):
        return Mismatch("onnx.ml.ZipMap holds its keys as attributes, for numbers of single precision")
    if element_of(keys) is string:
        return onnx.ZipMap(x, classlabels_strings=result[0]).Z
    return onnx.ZipMap(x, classlabels_int64s=result[0]).Z


@rule(core.MapGet)
def map_get(op: core.MapGet, context: Context, x: Value, key: Value, otherwise: Value | None) -> Result:
    keys, default = _elements(key), None if otherwise is None else _elements(otherwise)
    if keys is None or element_of(key) not in (i64, string):
        return Mismatch("onnx.ml.DictVectorizer holds the keys that it reads as attributes")
    if default not in ([(0,)], [("",)]):
        return Mismatch("onnx.ml.DictVectorizer gives zero, or the empty string, for a missing key")
    words = {"string_vocabulary" if element_of(key) is string else "int64_vocabulary": keys[0]}
    return core.reshape(onnx.DictVectorizer(x, **words).Y, core.tensor_type(key).static_shape)


@rule(core.MapValues)
def map_values(op: core.MapValues, context: Context, x: Value) -> Result:
    keys, values = core.map_elements(x)
    if keys is not i64 or values not in _CAST_TO:
        return Mismatch("onnx.ml.CastMap takes maps from i64 to f32 or strings")
    return core.reshape(onnx.CastMap(x, cast_to=_CAST_TO[values]).Y, (-1,))


_CAST_TO = {f32: "TO_FLOAT", string: "TO_STRING"}
_MODES = {test.value: f"BRANCH_{test.name}" for test in core.NodeTest}


@rule(core.TreeEnsemble)
def tree_ensemble(op: core.TreeEnsemble, context: Context, x: Value, *operands: Value | None) -> Result:
    arrays = _elements(*[v for v in operands[:10] if v is not None])
    if arrays is None or op.set_starts is not None or element_of(op.leaf_weights) is not f32:
        return Mismatch("onnx.ml.TreeEnsembleRegressor holds trees in single precision, without sets, as attributes")
    roots, features, tests, values, if_true, if_false, missing, starts, targets, weights = arrays
    if (fault := core.table_fault(roots, tests, (*if_true, *if_false), starts, targets, op.targets)) is not None:
        return Mismatch(fault)
    placed = _tree_by_tree(roots, if_true, if_false)
    entries = [(tree, at, e) for tree, at in placed if at < 0 for e in range(starts[-1 - at], starts[-at])]
    inner = [max(at, 0) for _, at in placed]
    is_leaf = [at < 0 for _, at in placed]
    count = len(features)
    new_op = onnx.TreeEnsembleRegressor(
        x if element_of(x) in (f32, f64) else cast(x, f32),
        n_targets=op.targets,
        aggregate_function=op.aggregate.value.upper(),
        nodes_treeids=tuple([tree for tree, _ in placed]),
        nodes_nodeids=tuple([_number(at, count) for _, at in placed]),
        nodes_featureids=tuple([0 if leaf else features[n] for leaf, n in zip(is_leaf, inner, strict=True)]),
        nodes_modes=tuple(["LEAF" if leaf else _MODES[tests[n]] for leaf, n in zip(is_leaf, inner, strict=True)]),
        nodes_values=tuple([0.0 if leaf else values[n] for leaf, n in zip(is_leaf, inner, strict=True)]),
        nodes_truenodeids=_children(is_leaf, inner, if_true, count),
        nodes_falsenodeids=_children(is_leaf, inner, if_false, count),
        nodes_missing_value_tracks_true=tuple(
            [0 if leaf else int(missing[n]) for leaf, n in zip(is_leaf, inner, strict=True)]
        ),
        target_treeids=tuple([tree for tree, _, _ in entries]),
        target_nodeids=tuple([_number(at, count) for _, at, _ in entries]),
        target_ids=tuple([targets[e] for _, _, e in entries]),
        target_weights=tuple([weights[e] for _, _, e in entries]),
    )
    return new_op.Y


def _number(at: int, count: int) -> int:
    """The number of a node, or of a leaf, which come after them."""
    return at if at >= 0 else count - 1 - at


def _children(is_leaf: Sequence[bool], inner: Sequence[int], children: Sequence[int], count: int) -> tuple[int, ...]:
    return tuple([0 if leaf else _number(children[n], count) for leaf, n in zip(is_leaf, inner, strict=True)])


def _tree_by_tree(roots: Sequence[int], if_true: Sequence[int], if_false: Sequence[int]) -> list[tuple[int, int]]:
    """The number of the tree and each of its nodes and leaves, the root first."""
    out: list[tuple[int, int]] = []
    for tree, root in enumerate(roots):
        pending = [root]
        seen: set[int] = set()
        while pending:
            at = pending.pop()
            if at in seen:
                continue
            seen.add(at)
            out.append((tree, at))
            if at >= 0:
                pending += (if_false[at], if_true[at])
    return out
