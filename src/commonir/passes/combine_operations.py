"""Combines operations with those before them: two that move elements, a convolution and its padding.

The rules are about core operations. They apply to operations of any dialect whose core form they match, and what they
return is written in the dialect of the function. Each leaves fewer operations, or operations with constant parameters
in place of computed ones. Results are the same bit for bit, except of those that `rounds` permits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from math import isfinite

from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.ir.module import Module
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.types import ElementType, TensorType, boolean
from commonir.ods import Dialects, Op, known_data, traits
from commonir.passes.affine_channels import AFFINE, affine_product, convolution_of_normalized, convolution_with_bias
from commonir.passes.core_forms import (
    CoreForm,
    CoreWriter,
    FromCore,
    core_form,
    equal_operands,
    form_of_all_results,
    inner_form,
    is_tensor,
    moved_value,
    repeated_value,
    replaced_with,
    shared_form,
)
from commonir.passes.partition_rules import SlicesToSplit, concatenated_parts, slice_of_operand, split_of_operands
from commonir.passes.repeated_operations import (
    INVOLUTIONS,
    LIMITS,
    PROJECTIONS,
    limited_once,
    repeated,
    selected_once,
    undone,
)
from commonir.rewrite.greedy import RewriteStep, Rewritten, function_step, rewrite_steps, rule_steps
from commonir.rewrite.rule_set import RuleSet
from commonir.symbolic import Dim

Combine = Callable[[CoreForm, Value], Value | None]
"""Returns a value for the first result of an operation, of its core form and this result: one of the program, or one
that detached core operations define; None if the rule does not apply.
"""


class CombiningRule(NamedTuple):
    """A rule for core operations of some classes. `rounds`: results may be rounded differently. `adds`: how many
    operations more than go there may be, all of which compute less than these.
    """

    name: str
    classes: tuple[type[core.CoreOp], ...]
    combine: Combine
    rounds: bool = False
    adds: int = -1


def combine_operations(
    module: Module, from_core: FromCore, dialects: Dialects, *, rounds: bool = False
) -> Counter[str]:
    """Combines the operations of the functions of a module, in place, and returns how often, by the name of the rule.

    `rounds` permits rules whose results are rounded differently.
    """
    count = Counter[str]()
    declared = _DeclaredSteps(dialects, rounds)
    for function in module.defined_functions.values():
        # Where something else refers to values by name, they stay: what replaces them would be computed beside them.
        if function.referred_names:
            continue
        steps = _Steps(CoreWriter(function, from_core), declared, rounds, copies=bool(function.copies))
        count += rewrite_steps(function, steps.of)
    return count


class _DeclaredSteps:
    """The steps for the rules that dialects declare, which are the same for all functions."""

    def __init__(self, dialects: Dialects, rounds: bool) -> None:
        self._dialects = dialects
        self._rounds = rounds
        self._rules: dict[str, RuleSet] = {}
        self._steps: dict[type[Op], Sequence[RewriteStep]] = {}

    def of(self, definition: type[Op]) -> Sequence[RewriteStep]:
        """Returns the steps for operations of a definition."""
        if definition not in self._steps:
            self._steps[definition] = self._found(definition)
        return self._steps[definition]

    def _found(self, definition: type[Op]) -> Sequence[RewriteStep]:
        name = definition.name.partition(".")[0]
        dialect = self._dialects.get(name)
        if dialect is None:
            return ()
        if name not in self._rules:
            self._rules[name] = RuleSet(dialect.rules.rewrites)
        rules = dialect.rules
        sources = (rules.functions, rules.rounding) if self._rounds else (rules.functions,)
        functions = [f for source in sources for base in definition.__mro__ for f in source.get(base, ())]
        steps = [function_step(definition.name, f, self._dialects.find) for f in functions]
        return (*rule_steps(self._rules[name], definition), *steps)


class _Steps:
    """The steps for operations of one function."""

    def __init__(self, writer: CoreWriter, declared: _DeclaredSteps, rounds: bool, *, copies: bool) -> None:
        self._writer = writer
        self._declared = declared
        self._rounds = rounds
        self._copies = copies
        self._split_once = SlicesToSplit()

    def of(self, definition: type[Op]) -> Sequence[RewriteStep]:
        """Returns the steps for operations of a definition."""
        if definition.has_trait(traits.ConstantLike) or definition.has_trait(traits.Terminator):
            return ()
        # Those of other definitions are removed by their derived types already.
        unneeded = (_unneeded,) if definition.infers_types else ()
        return (*self._declared.of(definition), *unneeded, self._combined)

    def _combined(self, op: Op) -> Rewritten | None:
        is_one = not any(r.is_used for r in op.results[1:])
        form = core_form(op) if is_one else form_of_all_results(op)
        if form is None or not is_tensor(op.results[0]):
            return None
        if isinstance(form.op, core.Split):
            editor = split_of_operands(op, form)
            return None if editor is None else ("splits of concatenations", editor)
        return self._applied(op, form) if is_one else None

    def _applied(self, op: Op, form: CoreForm) -> Rewritten | None:
        """Applies the first rule that holds for an operation of a core form with one result."""
        result = op.results[0]
        for rule in RULES:
            if not isinstance(form.op, rule.classes) or (rule.rounds and not self._rounds):
                continue
            value = rule.combine(form, result)
            if value is None:
                continue
            if not (isinstance(value.owner, Operation) and value.owner.parent is None):
                if value.type is result.type and len(op.results) == 1 and not self._would_be_copied(op, value):
                    return rule.name, (value,)
                continue
            # What goes makes room for several operations, if they are fewer.
            most = max(1, len(replaced_with(op, value)) + rule.adds)
            written = self._writer.written(value, most, op)
            if written is None or written.value.owner not in written.operations:
                continue
            written.value.retype(result.type)
            for built in written.operations:
                built.location = op.location
            # Its other results are not used.
            return rule.name, (written.value, *op.results[1:])
        editor = self._split_once(op, form, self._writer) if isinstance(form.op, core.Slice) else None
        return None if editor is None else ("split once", editor)

    def _would_be_copied(self, op: Op, value: Value) -> bool:
        """Returns whether an operation that takes a value and nothing else would become a copy of it, because a
        function that returns only results of operations returns it.
        """
        (result,) = op.results
        is_copied = self._copies and isinstance(value.owner, Block) and op.operands == (value,) and not op.properties
        return is_copied and all(isinstance(u, Op) and u.has_trait(traits.Terminator) for u in result.users)


def _unneeded(op: Op) -> Rewritten | None:
    operands = equal_operands(op)
    return None if operands is None else ("operations that change nothing", operands)


# -- about values


def _shape(value: Value) -> tuple[Dim, ...]:
    assert isinstance(value.type, TensorType)
    return tuple([n for n in value.type.shape or () if n is not None])


def _is_empty(value: Value) -> bool:
    return 0 in _shape(value)


# -- movements


def _keeps_order(form: CoreForm) -> bool:
    """Returns whether elements stay in their row-major order."""
    match form.op:
        case core.Reshape() | core.Squeeze() | core.Unsqueeze():
            return True
        case core.Transpose(perm=perm) if is_tensor(form.x):
            shape = _shape(form.x)
            moved = [p % len(shape) for p in perm if shape[p] != 1]
            return moved == sorted(moved)
        case _:
            return False


_VIEWS = (core.Reshape, core.Squeeze, core.Unsqueeze, core.Transpose)


def _reshaped_once(form: CoreForm, result: Value) -> Value | None:
    """Of several operations that only change the shape, the last shape counts."""
    if not _keeps_order(form) or _is_empty(result):
        return None
    base, count = form.x, 1
    while (inner := inner_form(base, *_VIEWS)) is not None and _keeps_order(inner):
        base, count = inner.x, count + 1
    if not is_tensor(base):
        return None
    # An operation with other users stays, but need not be undone.
    shared = shared_form(base, *_VIEWS) if count == 1 else None
    if shared is not None and shared.x.type is result.type and _keeps_order(shared):
        return shared.x
    if base.type is result.type:
        return base
    shape = form.op.shape if isinstance(form.op, core.Reshape) else _shape(result)
    return core.reshape(base, shape) if count > 1 else None


def _transposed_once(form: CoreForm, result: Value) -> Value | None:
    """Of two transpositions, their composition."""
    inner = shared_form(form.x, core.Transpose)
    if inner is None or not isinstance(form.op, core.Transpose) or not isinstance(inner.op, core.Transpose):
        return None
    perm = tuple([inner.op.perm[p] % len(inner.op.perm) for p in form.op.perm])
    if perm == tuple(range(len(perm))):
        return inner.x if inner.x.type is result.type else None
    return core.transpose(inner.x, perm) if inner_form(form.x, core.Transpose) is not None else None


def _transposed_last(form: CoreForm, result: Value) -> Value | None:
    """Of a shape, a transposition and a shape that splits its axes, one shape and one transposition."""
    moved = inner_form(form.x, core.Transpose)
    first = None if moved is None else shared_form(moved.x, core.Reshape, core.Squeeze, core.Unsqueeze)
    if moved is None or first is None or not isinstance(moved.op, core.Transpose) or not is_tensor(first.x):
        return None
    perm = [p % len(moved.op.perm) for p in moved.op.perm]
    groups = _split_axes(_shape(form.x), _shape(result))
    if groups is None or _is_empty(result):
        return None
    ordered = [groups[perm.index(n)] for n in range(len(perm))]
    axes = [a for group in ordered for a in group]
    shape = tuple([_shape(result)[a] for a in axes])
    x = first.x if _shape(first.x) == shape else core.reshape(first.x, shape)
    return core.transpose(x, tuple([axes.index(a) for a in range(len(axes))]))


def _split_axes(before: Sequence[Dim], after: Sequence[Dim]) -> list[list[int]] | None:
    """Returns the axes of a shape that each axis before is split into; None if axes are joined."""
    groups: list[list[int]] = []
    axis = 0
    for size in before:
        product: Dim = 1
        group: list[int] = []
        while product != size or not group:
            if axis == len(after):
                return None
            product = product * after[axis]
            group.append(axis)
            axis += 1
        groups.append(group)
    if any(n != 1 for n in after[axis:]):
        return None
    groups[-1] += range(axis, len(after))
    return groups


def _repeated_once(form: CoreForm, result: Value) -> Value | None:
    """A repetition of what is moved or repeated, or a transposition of what is repeated, where one operation does
    both.
    """
    del result
    inner = (moved_value if isinstance(form.op, core.BroadcastTo) else repeated_value)(form.x)
    return None if inner is None else form.op.clone_shallow((inner,), ()).results[0]


def _sliced_once(form: CoreForm, result: Value) -> Value | None:
    """Of two slices with positive steps and known bounds, one."""
    del result
    inner = inner_form(form.x, core.Slice)
    if inner is None or not isinstance(form.op, core.Slice) or not isinstance(inner.op, core.Slice):
        return None
    if not is_tensor(inner.x):
        return None
    starts: list[int] = []
    stops: list[int] = []
    steps: list[int] = []
    bounds = zip(_shape(inner.x), _cuts(inner), _shape(form.x), _cuts(form), strict=True)
    for size, (a, b, s), middle, (c, d, t) in bounds:
        first, second = (a, b, s) == (0, size, 1), (c, d, t) == (0, middle, 1)
        if first or second:
            low, high, step = (c, d, t) if first else (a, b, s)
        elif isinstance(size, int) and isinstance(middle, int) and s > 0 and t > 0:
            taken = range(size)[slice(a, b, s)][slice(c, d, t)]
            low, high, step = taken.start, taken.stop, taken.step
        else:
            return None
        starts.append(low)
        stops.append(high)
        steps.append(step)
    return core.slice(inner.x, tuple(starts), tuple(stops), tuple(steps))


def _cuts(form: CoreForm) -> list[tuple[int, int, int]]:
    op = form.op
    assert isinstance(op, core.Slice)
    return list(zip(op.starts, op.stops, op.steps, strict=True))  # pyright: ignore[reportReturnType]


def _concatenated_once(form: CoreForm, result: Value) -> Value | None:
    """Of nested concatenations along one axis, one."""
    assert isinstance(form.op, core.Concat)
    (values,) = form.operands
    assert isinstance(values, tuple)
    rank = len(_shape(result))
    axis = form.op.axis % rank
    # The last of a chain takes the operands of all: one after the other would take those of the first again and again.
    if len(result.users) == 1 and inner_form(result, core.Concat) is not None:
        following = core_form(result.users[0])
        if following is not None and _is_concatenation(following, axis, rank):
            return None
    out: list[Value] = []
    pending = [*reversed(values)]
    while pending:
        v = pending.pop()
        inner = inner_form(v, core.Concat)
        # Of operands that are repeated, there would be twice as many at each level.
        is_bounded = v.use_count == 1 or len(out) + len(pending) < _MOST_REPEATED
        if inner is not None and is_bounded and _is_concatenation(inner, axis, rank):
            (parts,) = inner.operands
            assert isinstance(parts, tuple)
            pending.extend(reversed(parts))
        else:
            out.append(v)
    return core.concat(tuple(out), form.op.axis) if len(out) > len(values) else None


_MOST_REPEATED = 64
"""Up to so many operands, a concatenation gets those of a nested one that is an operand of it more than once."""


def _is_concatenation(form: CoreForm, axis: int, rank: int) -> bool:
    return isinstance(form.op, core.Concat) and form.op.axis % rank == axis


_PRECISION = {"f16": (11, 16), "bf16": (8, 128), "f32": (24, 128), "f64": (53, 1024)}
"""Binary digits, and a bound of the exponent."""


def _holds(wide: ElementType, narrow: ElementType) -> bool:
    """Returns whether a type has all values of another one."""
    if wide is narrow or (narrow is boolean and (wide.is_float or wide.is_integer)):
        return True
    if narrow.is_integer and wide.is_integer:
        low, high = wide.integer_limits
        least, most = narrow.integer_limits
        return low <= least and most <= high
    digits, exponent = _PRECISION.get(wide.name, (0, 0))
    if narrow.is_integer:
        least, most = narrow.integer_limits
        return max(-least, most).bit_length() <= digits
    own_digits, own_exponent = _PRECISION.get(narrow.name, (99, 0))
    return own_digits <= digits and own_exponent <= exponent


def _cast_once(form: CoreForm, result: Value) -> Value | None:
    """Of two casts, the first to a type with all values of the one before, the second."""
    inner = inner_form(form.x, core.Cast)
    types = None if inner is None else (inner.x.type, form.x.type, result.type)
    if inner is None or types is None:
        return None
    source, middle, to = [t.element if isinstance(t, TensorType) else boolean for t in types]
    if not _holds(middle, source):
        return None
    return inner.x if inner.x.type is result.type else core.cast(inner.x, to)


# -- elements


_BROADCASTING = (core.Binary, core.Comparison, core.Select)


def _repeated_by_itself(form: CoreForm, result: Value) -> Value | None:
    """An elementwise operation takes an operand before it is repeated, if another one has the dims of the result."""
    values = [v for v in form.operands if isinstance(v, Value)]
    for n, v in enumerate(values):
        inner = inner_form(v, core.BroadcastTo, core.Tile)
        operands = [] if inner is None else [*values[:n], inner.x, *values[n + 1 :]]
        if inner is None or not all(map(is_tensor, (v, *operands))):
            continue
        # A tile may repeat several elements of an axis.
        is_broadcast = all(m in (1, k) for m, k in zip(_aligned(inner.x, len(_shape(v))), _shape(v), strict=True))
        if is_broadcast and _have_dims(operands, _shape(result)):
            return form.op.clone_shallow(tuple(operands), ()).results[0]
    return None


def _have_dims(values: Sequence[Value], dims: Sequence[Dim]) -> bool:
    """Returns whether each dim is that of a value, aligned at the end."""
    aligned = [_aligned(v, len(dims)) for v in values]
    return all(any(shape[a] == n for shape in aligned) for a, n in enumerate(dims))


def _aligned(value: Value, rank: int) -> tuple[Dim, ...]:
    """Returns the dims of a value with leading axes of size 1."""
    return (1,) * (rank - len(_shape(value))) + _shape(value)


# -- numbers


def _number(value: object) -> float | None:
    """Returns the value of all elements of a constant number."""
    data = known_data(value) if isinstance(value, Value) else None
    splat = None if data is None or not data.element.is_numeric else data.splat()
    return splat if isinstance(splat, int | float) and isfinite(splat) else None


def _unchanged(form: CoreForm, result: Value) -> Value | None:
    """The operand of an operation with a neutral constant: a product with 1, a difference to 0.

    A sum of floats with 0 is not among them: that of -0 is 0. That with -0 is.
    """
    assert isinstance(result.type, TensorType)
    a, b = form.operands[:2]
    pairs = [(a, b)] if isinstance(form.op, core.Sub | core.Div | core.Pow) else [(a, b), (b, a)]
    for x, c in pairs:
        number = _number(c)
        if number is None or not isinstance(x, Value) or x.type is not result.type:
            continue
        if isinstance(form.op, core.Add):
            is_neutral = number == 0 and (result.type.element.is_integer or str(number) == "-0.0")
        elif isinstance(form.op, core.Sub):
            is_neutral = number == 0 and str(number) != "-0.0"
        else:
            is_neutral = number == 1
        if is_neutral:
            return x
    return None


def _sum_with_zero(form: CoreForm, result: Value) -> Value | None:
    """The operand of a sum with 0: the same but for -0, which becomes 0."""
    a, b = form.operands[:2]
    for x, c in ((a, b), (b, a)):
        if _number(c) == 0 and isinstance(x, Value) and x.type is result.type:
            return x
    return None


# -- parameters that are known


_WITH_PARAMETERS = (core.Reshape, core.BroadcastTo, core.Slice, core.Tile, core.Pad)


def _with_known_parameters(form: CoreForm, result: Value) -> Value | None:
    """An operation whose shape or bounds are computed, and known, takes them as constants."""
    op = result.owner
    assert isinstance(op, Op)
    values = [op.field_value(f) for f in op.layout.inputs if f.by_value]
    if not any(isinstance(v, Value) and known_data(v) is None for v in values):
        return None
    if isinstance(form.op, core.Reshape) and _is_empty(result):
        return None
    copy = form.op.clone_shallow(tuple([v for v in form.operands if isinstance(v, Value)]), ())
    return copy.results[0]


# -- padding


def _pairs(pad: core.Pad) -> list[tuple[int, int]]:
    return list(zip(pad.before, pad.after, strict=True))


def _padded_by(form: CoreForm | None) -> list[tuple[int, int]] | None:
    """Returns the amounts of zeros around spatial axes; None for other paddings."""
    if form is None or not isinstance(form.op, core.Pad) or form.op.mode is not core.PadMode.CONSTANT:
        return None
    pairs = _pairs(form.op)
    if form.op.value != 0 or any(n < 0 for pair in pairs for n in pair) or any(n for p in pairs[:2] for n in p):
        return None
    return pairs[2:]


def _sums(pads: Sequence[tuple[int, int]], more: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    own = pads or [(0, 0)] * len(more)
    return tuple([(a + c, b + d) for (a, b), (c, d) in zip(own, more, strict=True)])


def _convolved_with_padding(form: CoreForm, result: Value) -> Value | None:
    """A convolution of what is padded with zeros pads itself."""
    del result
    op, inner = form.op, inner_form(form.x, core.Pad)
    amounts = _padded_by(inner)
    if inner is None or amounts is None or not isinstance(op, core.Conv):
        return None
    _, weight, bias = form.operands
    assert isinstance(weight, Value)
    assert bias is None or isinstance(bias, Value)
    return core.conv(inner.x, weight, bias, op.strides, op.dilations, _sums(op.pads, amounts), op.groups)


def _averaged_with_padding(form: CoreForm, result: Value) -> Value | None:
    """An average of what is padded with zeros pads itself, and counts the padding."""
    del result
    op, inner = form.op, inner_form(form.x, core.Pad)
    amounts = _padded_by(inner)
    if inner is None or amounts is None or not isinstance(op, core.AveragePool) or op.ceil_mode:
        return None
    if any(n for pair in op.pads for n in pair) and not op.count_include_pad:
        return None
    return core.average_pool(inner.x, op.kernel, op.strides, op.dilations, _sums(op.pads, amounts), False, True)


RULES: tuple[CombiningRule, ...] = (
    CombiningRule("shape once", _VIEWS, _reshaped_once),
    CombiningRule("transpose once", (core.Transpose,), _transposed_once),
    CombiningRule("transpose last", (core.Reshape,), _transposed_last),
    CombiningRule("repeat once", (core.BroadcastTo, core.Transpose), _repeated_once),
    CombiningRule("repetition by the operation", _BROADCASTING, _repeated_by_itself),
    CombiningRule("slice once", (core.Slice,), _sliced_once),
    CombiningRule("concat once", (core.Concat,), _concatenated_once),
    CombiningRule("slices of concatenations", (core.Slice,), slice_of_operand),
    CombiningRule("parts put together", (core.Concat,), concatenated_parts),
    CombiningRule("operations that undo each other", INVOLUTIONS, undone),
    CombiningRule("repeated operations", PROJECTIONS, repeated),
    CombiningRule("limits once", LIMITS, limited_once),
    CombiningRule("selections", (core.Select,), selected_once),
    CombiningRule("cast once", (core.Cast,), _cast_once),
    CombiningRule("neutral constants", (core.Add, core.Sub, core.Mul, core.Div, core.Pow), _unchanged),
    CombiningRule("known parameters", _WITH_PARAMETERS, _with_known_parameters),
    CombiningRule("padding of convolutions", (core.Conv,), _convolved_with_padding),
    CombiningRule("padding of averages", (core.AveragePool,), _averaged_with_padding),
    CombiningRule("bias of convolutions", (core.Add, core.Sub), convolution_with_bias),
    CombiningRule("sums with zero", (core.Add,), _sum_with_zero, rounds=True),
    CombiningRule("affine products", AFFINE, affine_product, rounds=True),
    CombiningRule("normalized products", (core.BatchNorm,), affine_product, rounds=True, adds=1),
    CombiningRule("convolutions of normalized values", (core.Conv,), convolution_of_normalized, rounds=True),
)
