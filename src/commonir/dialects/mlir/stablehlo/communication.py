"""Operations of the stablehlo dialect by which processes exchange values, tokens that order them, and random numbers.

What processes exchange has a meaning only where several run; such operations are text and types here, but for groups of
one process, which keeps what it has. Tokens order what is in order anyway.
Source: StableHLO specification, collective operations, tokens, infeed, outfeed, send, recv, rng.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import ClassVar

from commonir.base.codes import UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.dialects.lazy_core import core
from commonir.dialects.mlir.stablehlo import forms, random_bits
from commonir.dialects.mlir.stablehlo.base import (
    TOKEN,
    AnyHlo,
    AnyQuantizedToo,
    Future,
    HloOp,
    IntegersOrFloats,
    PredIntOrFloats,
    Quantizable,
    Quantized,
    RngAlgorithm,
    RngDistribution,
    ScalarPredIntOrFloat,
    Sizes,
    StaticIntegersOrFloats,
    StaticOrToken,
    Token,
    UI32Tensor,
    axis,
    element,
    kind_of,
    like,
    non_negative,
    numbers_given,
    positive,
    rank_of,
    rng_algorithm,
    rng_distribution,
    shape_of,
    sizes_in,
    stated_shape,
)
from commonir.dialects.mlir.stablehlo.dimension_numbers import ChannelHandle, channel_handle
from commonir.dialects.mlir.stablehlo.number_types import number_as
from commonir.dialects.mlir.stablehlo.quantization import quantized_faults
from commonir.dialects.mlir.stablehlo.reduction import (
    RETURNS,
    arguments_of,
    check_reducer,
    malformed,
    numbers_returned,
    returned,
)
from commonir.ir.attributes import ArrayAttr, Attribute, DataAttr, DialectAttr, IntegerAttr
from commonir.ir.module import Module
from commonir.ir.operation import Region, Value
from commonir.ir.types import DialectType, ElementType, TensorType, Type, boolean, f32, i32, integer_type
from commonir.ods import attr_types, attribute, operand, region, result, traits
from commonir.ods.operand_shapes import static_dims
from commonir.ods.text_form import CustomForm
from commonir.ods.type_rules import (
    SameOperandsAndResultElementType,
    SameOperandsAndResultShape,
    all_element_types_match,
    are_compatible_types,
)

# -- tokens


class CreateToken(HloOp, name="stablehlo.create_token", traits=(traits.Pure,), assembly="attr-dict `:` type(results)"):
    """Creates a token without dependencies."""

    output: Value = result(Token)

    def reference(self) -> Value:
        # Operations run in their order anyway: what stands for a token says nothing.
        return core.scalar(False, boolean)


class AfterAll(HloOp, name="stablehlo.after_all", traits=(traits.Pure,)):
    """Joins tokens: the result is ordered after all of them."""

    custom_form: ClassVar[CustomForm | None] = forms.SAME_FORM

    inputs: tuple[Value, ...] = operand(Token, variadic=True)
    result_: Value = result(Token)

    def reference(self, inputs: tuple[Value, ...]) -> Value:
        del inputs
        return core.scalar(False, boolean)


def _root_faults(op: HloOp, operands: Sequence[Value], *, has_root: bool) -> Iterator[Diagnostic]:
    """Yields the faults of the operands of an exchange: data, then the roots where these are computed."""
    if not operands:
        yield op.violated("requires at least one data operand")
    elif has_root and len(operands) < 2:
        yield op.violated("with has_dynamic_root requires at least two operands (data and root)")
    elif has_root:
        type, count = operands[-1].type, len(operands) - 1
        shape = type.shape if isinstance(type, TensorType) else None
        if element(operands[-1]) is not i32 or shape is None or len(shape) != 1:
            yield op.violated(f"last operand with has_dynamic_root must be a rank-1 i32 tensor, got {type}")
        elif isinstance(shape[0], int) and shape[0] != count:
            message = f"last operand with has_dynamic_root must have the number of data operands ({count}) of elements"
            yield op.violated(f"{message}, but got {shape[0]}")


class _Effect(HloOp):
    """Exchanges values with the outside, in an order that tokens say."""

    assembly = ""


class Infeed(_Effect, name="stablehlo.infeed"):
    """Reads values from the infeed of the device, and returns a token. C1: the last result is the only token. C2: a
    layout permutes the axes of each tensor.
    """

    token: Value = operand(Token)
    infeed_config: str = attribute(attr_types.string, default="")
    layout_: Attribute | None = attribute(attr_types.any_attribute, default=None)
    results_: tuple[Value, ...] = result(StaticOrToken, variadic=True)

    def verify(self) -> Iterator[Diagnostic]:
        yield from _last_is_token(self)
        held, count = self.layout_, len(self.results) - 1
        if not isinstance(held, ArrayAttr):
            return
        if len(held.values) != count:
            result = len(held.values)
            yield self.violated(f"C2: layout-attribute size must be {count}, one for each tensor, got {result}")
        for order in held.values:
            if not isinstance(order, ArrayAttr):
                yield self.violated(f"C2: layout-attribute expected to have elements of type array, but got {order!r}")
                continue
            for leaf in order.values:
                if not isinstance(leaf, IntegerAttr):
                    message = "C2: layout-attribute's leaf elements are expected to be of type integer, but got"
                    yield self.violated(f"{message} {leaf!r}")


def _last_is_token(op: HloOp) -> Iterator[Diagnostic]:
    types = [r.type for r in op.results]
    if not types or types[-1] is not TOKEN or TOKEN in types[:-1]:
        yield op.violated("C1: last element of result types is expected to be of token type, and no other")


class Outfeed(_Effect, name="stablehlo.outfeed"):
    """Writes values to the outfeed of the device."""

    inputs: tuple[Value, ...] = operand(AnyQuantizedToo, variadic=True)
    token: Value = operand(Token)
    outfeed_config: str = attribute(attr_types.string, default="")
    result_: Value = result(Token)


class Send(_Effect, name="stablehlo.send"):
    """Sends values to another process. C1: the type of the channel fits the transfer."""

    inputs: tuple[Value, ...] = operand(AnyQuantizedToo, variadic=True)
    token: Value = operand(Token)
    channel_handle: ChannelHandle = attribute(channel_handle)
    is_host_transfer: bool | None = attribute(attr_types.flag, default=None)
    source_target_pairs: Attribute | None = attribute(attr_types.any_attribute, default=None)
    result_: Value = result(Token)

    def verify(self) -> Iterator[Diagnostic]:
        yield from _check_channel(self, self.channel_handle, _TO_HOST if self.is_host_transfer else _BETWEEN_DEVICES)


_BETWEEN_DEVICES, _TO_HOST, _FROM_HOST = 1, 2, 3
"""Kinds of channels. Source: StableHLO specification, send and recv."""


def _check_channel(op: HloOp, channel: ChannelHandle, kind: int) -> Iterator[Diagnostic]:
    if channel.type != kind:
        yield op.violated(f"C1: channel_type should be {kind} for this transfer, but got {channel.type}")


class Recv(_Effect, name="stablehlo.recv"):
    """Receives values from another process, and returns a token. C1: the last result is the only token."""

    token: Value = operand(Token)
    channel_handle: ChannelHandle = attribute(channel_handle)
    is_host_transfer: bool | None = attribute(attr_types.flag, default=None)
    source_target_pairs: Attribute | None = attribute(attr_types.any_attribute, default=None)
    results_: tuple[Value, ...] = result(StaticOrToken, variadic=True)

    def verify(self) -> Iterator[Diagnostic]:
        yield from _last_is_token(self)


# -- processes


class _Number(HloOp, traits=(traits.Pure,), assembly="attr-dict `:` type(results)"):
    """The number of this process: 0 where there is one."""

    result_: Value = result(UI32Tensor)

    def infer_results(self) -> tuple[Type, ...] | None:
        return (TensorType(integer_type(32, "unsigned"), ()),)

    def reference(self) -> Value:
        return core.scalar(0, integer_type(32, "unsigned"))


class ReplicaId(_Number, name="stablehlo.replica_id"):
    """The id of the current replica; 0 without replicas."""


class PartitionId(_Number, name="stablehlo.partition_id"):
    """The id of the current partition; 0 without partitions."""


_MESH = re.compile(r"\bmesh\s*=\s*@(\w+)")


def _check_mesh(op: HloOp, groups: DialectAttr) -> Iterator[Diagnostic]:
    """Yields the faults of groups that are axes of a mesh: one that is named is a symbol."""
    name = _MESH.search(groups.body or "")
    modules = [holder for holder in op.ancestors() if isinstance(holder, Module)]
    if name is not None and modules and all(m.symbol(name[1]) is None for m in modules):
        yield op.violated(f"replica_groups: mesh symbol '{name[1]}' not found")


def _check_groups(
    op: HloOp, groups: Attribute, *, need_equal_sizes: bool, names_all_processes: bool
) -> Iterator[Diagnostic]:
    """Yields the faults of process groups; with `need_equal_sizes`, all groups need the same number of processes, and
    with `names_all_processes`, no process may be missing.
    """
    if isinstance(groups, DialectAttr):
        yield from _check_mesh(op, groups)
    if not isinstance(groups, DataAttr):
        return
    if len(groups.data.shape) != 2:
        yield op.violated(
            f"replica groups should be a rank 2 tensor, but instead it is of rank {len(groups.data.shape)}"
        )
        return
    if not groups.data.shape[0] * groups.data.shape[1] and "use_global_device_ids" in op.properties:
        yield op.violated("if `use_global_device_ids` is set, the replica groups cannot be empty")
        return
    numbers = [int(v) for v in groups.data.values() if isinstance(v, int)]
    result = [v for v in numbers if v != -1]
    if not names_all_processes and any(v < 0 for v in numbers):
        yield op.violated(f"replica_groups values must not be negative, but was given {min(numbers)}")
        return
    if need_equal_sizes and len(result) < len(numbers):
        yield op.violated("invalid replica id -1")
        return
    if len(set(result)) != len(result):
        yield op.violated(f"replica id #{next(v for v in result if result.count(v) > 1)} seen more than once")
    missing = next((n for n in range(len(set(result))) if n not in set(result)), None)
    if missing is not None and names_all_processes:
        yield op.violated(f"replica id #{missing} not seen in replica groups")


class _Collective(HloOp):
    """Exchanges values among groups of processes."""

    assembly = ""

    replica_groups: Attribute
    have_equal_groups: ClassVar[bool] = False
    names_all_processes: ClassVar[bool] = True
    first_channel: ClassVar[int] = 1
    """The least number of a channel where groups are of devices."""

    def verify(self) -> Iterator[Diagnostic]:
        yield from _check_groups(
            self,
            self.replica_groups,
            need_equal_sizes=self.have_equal_groups,
            names_all_processes=self.names_all_processes,
        )
        handle: object = getattr(self, "channel_handle", None)
        number = handle.handle if isinstance(handle, ChannelHandle) else 0
        if "use_global_device_ids" in self.properties and number < self.first_channel:
            least = "positive" if self.first_channel else "not negative"
            yield self.violated(f"channel_id must be {least} when useGlobalDeviceIds is set but got: {number}")

    def check_sizes(self, whole: Value, part: Value, axis: int) -> Iterator[Diagnostic]:
        """Yields the faults of a tensor that processes hold in shards of equal size along an axis."""
        if rank_of(whole) != rank_of(part):
            yield self.violated("operand and result must have the same rank")
        elif axis >= rank_of(whole):
            yield self.violated(f"axis {axis} must be a valid index of operand and result of rank {rank_of(whole)}")
        else:
            for n, (size, held) in enumerate(zip(shape_of(whole), shape_of(part), strict=True)):
                if not isinstance(size, int) or not isinstance(held, int):
                    continue
                if n != axis and size != held:
                    yield self.violated(f"operand and result must have one size along axis {n}: {size} and {held}")
                elif n == axis and not (size and held):
                    yield self.violated(f"the dimension size along axis {axis} cannot be zero")
                elif n == axis and size % held:
                    yield self.violated(f"dimension {axis} has size {size}, expected to be a multiple of {held}")


def alone(op: HloOp, values: tuple[Value, ...]) -> tuple[Value, ...]:
    """Returns the values of a process that exchanges only with itself: its own.

    Raises: DiagnosticError (E0601) where a group has other processes, or may have.
    """
    groups, channel = op.properties.get("replica_groups"), op.properties.get("channel_handle")
    is_single = isinstance(groups, DataAttr) and len(groups.data.shape) == 2 and groups.data.shape[1] == 1
    # With a channel, groups of replicas have all their partitions, unless they are groups of devices.
    if not is_single or (channel is not None and "use_global_device_ids" not in op.properties):
        message = f"{op.name} exchanges values with other processes, which only runs of several ranks do"
        help = "groups of one process each have a meaning"
        raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message, help=help))
    return values


class AllGather(_Collective, name="stablehlo.all_gather"):
    """Concatenates the values of all processes of a group along an axis."""

    operands_: tuple[Value, ...] = operand(AnyHlo, variadic=True)
    all_gather_dim: int = attribute(axis, check=non_negative)
    replica_groups: Attribute = attribute(attr_types.any_attribute)
    channel_handle: ChannelHandle | None = attribute(channel_handle, default=None)
    use_global_device_ids: bool = attribute(attr_types.unit, default=False)
    results_: tuple[Value, ...] = result(AnyHlo, variadic=True)

    have_equal_groups = True
    first_channel = 0

    def verify(self) -> Iterator[Diagnostic]:
        yield from super().verify()
        for whole, part in zip(self.results, self.operands_, strict=False):
            yield from self.check_sizes(whole, part, self.all_gather_dim)

    def reference(self, operands_: tuple[Value, ...]) -> tuple[Value, ...]:
        return alone(self, operands_)


class _Reducing(_Collective, traits=(RETURNS,)):
    """Combines what processes have by a nested program."""

    computation: Region

    def verify(self) -> Iterator[Diagnostic]:
        yield from super().verify()
        if not self.operands:
            yield self.violated("requires at least one data operand")
            return
        first = self.operands[0]
        yield from check_reducer(self, self.computation, (Value(like(first.type, ())),), "C1")
        result = numbers_returned(self.computation)
        for v in self.results if len(result) == 1 else ():
            if element(v) is not element(result[0]):
                yield self.violated(f"C1: result element-type is expected to be {element(result[0])}, got {v.type}")


class AllReduce(_Reducing, name="stablehlo.all_reduce"):
    """Combines the values of all processes of a group. C1: the computation combines two values of the element type."""

    operands_: tuple[Value, ...] = operand(AnyHlo, variadic=True)
    replica_groups: Attribute = attribute(attr_types.any_attribute)
    channel_handle: ChannelHandle | None = attribute(channel_handle, default=None)
    use_global_device_ids: bool = attribute(attr_types.unit, default=False)
    computation: Region = region(doc="combines two elements")
    results_: tuple[Value, ...] = result(AnyHlo, variadic=True)

    def reference(self, operands_: tuple[Value, ...], *, computation: Region) -> tuple[Value, ...]:
        del computation
        return alone(self, operands_)

    def infer_results(self) -> tuple[Type, ...] | None:
        result = numbers_returned(self.computation)
        if len(result) != 1:
            return None
        return tuple([like(v.type, stated_shape(v), element(result[0])) for v in self.operands_])


class ReduceScatter(_Reducing, name="stablehlo.reduce_scatter"):
    """Reduces the values of all processes of a group, and scatters the result along an axis. C1: the computation
    combines two values of the element type.
    """

    operand: Value = operand(AnyHlo)
    scatter_dimension: int = attribute(axis, check=non_negative)
    replica_groups: Attribute = attribute(attr_types.any_attribute)
    channel_handle: ChannelHandle | None = attribute(channel_handle, default=None)
    use_global_device_ids: bool = attribute(attr_types.unit, default=False)
    computation: Region = region(doc="combines two elements")
    result_: Value = result(AnyHlo)

    have_equal_groups = True

    def verify(self) -> Iterator[Diagnostic]:
        yield from super().verify()
        yield from self.check_sizes(self.operand, self.result_, self.scatter_dimension)

    def reference(self, operand: Value, *, computation: Region) -> tuple[Value, ...]:
        del computation
        return alone(self, (operand,))


class CollectiveReduce(_Reducing, name="stablehlo.collective_reduce"):
    """Reduces the values of a group of processes, for one of them. C1: the computation combines two values of the
    element type.
    """

    operands_: tuple[Value, ...] = operand(AnyHlo, variadic=True)
    replica_groups: Attribute = attribute(attr_types.any_attribute)
    channel_handle: ChannelHandle | None = attribute(channel_handle, default=None)
    use_global_device_ids: bool = attribute(attr_types.unit, default=False)
    has_dynamic_root: bool = attribute(attr_types.unit, default=False)
    computation: Region = region(doc="combines two elements")
    results_: tuple[Value, ...] = result(AnyHlo, variadic=True)

    def verify(self) -> Iterator[Diagnostic]:
        yield from super().verify()
        if self.operands_:
            yield from _root_faults(self, self.operands_, has_root=self.has_dynamic_root)


class AllToAll(_Collective, name="stablehlo.all_to_all"):
    """Splits the operand along an axis, exchanges the parts in the group, and concatenates those received. C1: the
    number of parts divides the axis that is split. C2: the size of the groups is the number of parts.
    """

    operands_: tuple[Value, ...] = operand(AnyHlo, variadic=True)
    split_dimension: int = attribute(axis, check=non_negative)
    concat_dimension: int = attribute(axis, check=non_negative)
    split_count: int = attribute(axis, check=positive)
    replica_groups: Attribute = attribute(attr_types.any_attribute)
    channel_handle: ChannelHandle | None = attribute(channel_handle, default=None)
    results_: tuple[Value, ...] = result(AnyHlo, variadic=True)

    def reference(self, operands_: tuple[Value, ...]) -> tuple[Value, ...]:
        return alone(self, operands_)

    def infer_results(self) -> tuple[Type, ...] | None:
        out: list[Type] = []
        for v in self.operands_:
            shape = list(shape_of(v))
            if max(self.split_dimension, self.concat_dimension) >= len(shape):
                return None
            split, joined = shape[self.split_dimension], shape[self.concat_dimension]
            if self.split_count < 1:
                return None
            if self.split_dimension != self.concat_dimension:
                shape[self.split_dimension] = split // self.split_count if isinstance(split, int) else None
                shape[self.concat_dimension] = joined * self.split_count if isinstance(joined, int) else None
            out.append(like(v.type, tuple(shape)))
        return tuple(out)

    def verify(self) -> Iterator[Diagnostic]:
        yield from super().verify()
        groups = self.replica_groups.data.shape if isinstance(self.replica_groups, DataAttr) else ()
        if len(groups) == 2 and groups[1] != self.split_count:
            yield self.violated(f"C2: group size of replica_groups must be {self.split_count}, got {groups[1]}")
        for v in self.operands_:
            shape = shape_of(v)
            if max(self.split_dimension, self.concat_dimension) >= len(shape):
                yield self.violated("C1: AllToAll split_dimension and concat_dimension must be less than the rank")
                continue
            size = shape[self.split_dimension]
            if isinstance(size, int) and self.split_count > 0 and size % self.split_count:
                yield self.violated(f"C1: split dimension has size {size}, expected to be a multiple of split_count")


class CollectiveBroadcast(_Collective, name="stablehlo.collective_broadcast"):
    """Sends the value of the first process of a group, or of the computed root, to all. C1: there are operands; with a
    dynamic root, the last one is the root of each group.
    """

    names_all_processes = False

    operands_: tuple[Value, ...] = operand(AnyHlo, variadic=True)
    replica_groups: Attribute = attribute(attr_types.any_attribute)
    channel_handle: ChannelHandle | None = attribute(channel_handle, default=None)
    has_dynamic_root: bool = attribute(attr_types.unit, default=False)
    results_: tuple[Value, ...] = result(AnyHlo, variadic=True)

    def infer_results(self) -> tuple[Type, ...] | None:
        count = len(self.operands_) - self.has_dynamic_root
        return tuple([v.type for v in self.operands_[:count]])

    def verify(self) -> Iterator[Diagnostic]:
        yield from super().verify()
        yield from _root_faults(self, self.operands_, has_root=self.has_dynamic_root)


class CollectivePermute(HloOp, name="stablehlo.collective_permute", traits=(SameOperandsAndResultElementType,)):
    """Sends values from source to target processes; a process that receives nothing gets zeros. C1: each pair has a
    source and a target process.
    """

    assembly = ""

    operand: Value = operand(AnyHlo)
    source_target_pairs: Attribute = attribute(attr_types.any_attribute)
    channel_handle: ChannelHandle | None = attribute(channel_handle, default=None)
    result_: Value = result(AnyHlo)

    def infer_results(self) -> tuple[Type, ...] | None:
        return (self.operand.type,)

    def verify(self) -> Iterator[Diagnostic]:
        pairs = self.source_target_pairs
        if isinstance(pairs, DataAttr) and (len(pairs.data.shape) != 2 or pairs.data.shape[1] != 2):
            yield self.violated(f"C1: expect source_target_pairs attribute of shape (N, 2), but got {pairs.data.shape}")
        elif isinstance(pairs, DataAttr):
            numbers = [int(v) for v in pairs.data.values() if isinstance(v, int)]
            if any(n < 0 for n in numbers):
                yield self.violated(f"C1: replica ids in source_target_pairs must be >= 0, got {min(numbers)}")
            for what, side in (("sources", numbers[::2]), ("targets", numbers[1::2])):
                if len(set(side)) != len(side):
                    yield self.violated(f"C1: duplicate {what} not allowed, got {side}")


class CrossReplicaSum(HloOp, name="stablehlo.cross-replica-sum"):
    """Sums the values of all processes of a group."""

    assembly = ""

    operand: Value = operand(AnyHlo)
    replica_groups: Attribute = attribute(attr_types.any_attribute)
    result_: Value = result(AnyHlo)

    def infer_results(self) -> tuple[Type, ...] | None:
        return (self.operand.type,)


class AsyncStart(HloOp, name="stablehlo.async_start", traits=(RETURNS, traits.IsolatedFromAbove)):
    """Starts an asynchronous computation. C1: the body is one collective or slice operation. C2: its arguments have the
    types of the operands. C3: the future has the types that it returns.
    """

    assembly = ""

    operands_: tuple[Value, ...] = operand(AnyHlo, variadic=True)
    body: Region = region(doc="the computation")
    result_: Value = result(Future)

    def verify(self) -> Iterator[Diagnostic]:
        nested = list(self.body.block.operations) if self.body.blocks else []
        if len(nested) != 2:
            yield malformed(self, "C1: region must contain exactly one operation and a return")
        elif nested[0].name not in _BESIDE:
            yield malformed(self, f"C1: region must contain a collective or slice operation, found {nested[0].name}")
        given = arguments_of(self.body)
        if len(given) != len(self.operands_):
            message = f"C2: number of operands ({len(self.operands_)}) must match number of region arguments"
            yield malformed(self, f"{message} ({len(given)})")
        for n, (own, at) in enumerate(zip(self.operands_, given, strict=False)):
            if own.type is not at.type:
                message = f"C2: operand type {own.type} at index {n} must match region argument type {at.type}"
                yield malformed(self, message)
        yield from _check_future(self, [v.type for v in returned(self.body)], self.result_.type)


_BESIDE = frozenset(
    {
        f"stablehlo.{name}"
        for name in (
            "all_gather",
            "all_reduce",
            "all_to_all",
            "collective_broadcast",
            "collective_permute",
            "collective_reduce",
            "dynamic_slice",
            "dynamic_update_slice",
            "reduce_scatter",
            "slice",
        )
    }
)
"""The operations that may run beside others."""


def _check_future(op: HloOp, values: Sequence[Type], future: Type) -> Iterator[Diagnostic]:
    """Yields diagnostics where a future value does not have the expected types."""
    expected = ", ".join(map(str, values))
    result = future.body if isinstance(future, DialectType) else None
    if result is not None and "".join(result.split()) != "".join(expected.split()):
        yield op.violated(f"C3: {future} is not what will be given, {expected}")


class AsyncDone(HloOp, name="stablehlo.async_done"):
    """Waits for an asynchronous program and returns its results. C3: the results have the types of the future."""

    assembly = ""

    operand: Value = operand(Future)
    result_: Value = result(AnyHlo)

    def verify(self) -> Iterator[Diagnostic]:
        yield from _check_future(self, [self.result_.type], self.operand.type)


# -- random numbers


class Rng(
    HloOp,
    name="stablehlo.rng",
    traits=(traits.Random, all_element_types_match("a", "b", "result_")),
    assembly=(
        "$a `,` $b `,` $shape `,` `distribution` `=` $rng_distribution attr-dict `:` functional-type(operands, results)"
    ),
):
    """Random numbers, uniform in [a, b) or normal of mean a and standard deviation b. C1: the normal distribution is of
    floats. C2: the result has the shape of the operand `shape`.
    """

    a: Value = operand(ScalarPredIntOrFloat)
    b: Value = operand(ScalarPredIntOrFloat)
    shape: Value = operand(Sizes, by_value=True)
    rng_distribution: RngDistribution = attribute(rng_distribution)
    result_: Value = result(PredIntOrFloats)

    def verify(self) -> Iterator[Diagnostic]:
        element_type = element(self.a)
        if self.rng_distribution is RngDistribution.NORMAL and getattr(element_type, "kind", "") != "float":
            yield self.violated(f"C1: expects float element type for NORMAL distribution, got {element_type}")
        (count,) = shape_of(self.shape)
        if numbers_given(self.shape) is not None:
            yield from self.check_sizes_given(self.shape)
        elif isinstance(count, int):
            yield from self.check_result((None,) * count)

    def reference(self, a: Value, b: Value, shape: Value) -> Value:
        sizes, element_type = sizes_in(shape), kind_of(a)
        low, high = number_as(a, f32), number_as(b, f32)
        if self.rng_distribution is RngDistribution.NORMAL:
            drawn = core.random_normal(core.dims(sizes))
            return number_as(core.add(core.mul(drawn, high), low), element_type)
        drawn = core.random_uniform(core.dims(sizes))
        found = core.add(core.mul(drawn, core.sub(high, low)), low)
        return number_as(found if element_type.is_float else core.floor(found), element_type)


class RngBitGenerator(
    HloOp,
    name="stablehlo.rng_bit_generator",
    traits=(traits.Pure,),
    assembly="$initial_state `,` `algorithm` `=` $rng_algorithm attr-dict `:` functional-type(operands, results)",
):
    """Generates random bits from a state, and returns the next state. C1: the states have one type."""

    rng_algorithm: RngAlgorithm = attribute(rng_algorithm)
    initial_state: Value = operand(IntegersOrFloats)
    output_state: Value = result(IntegersOrFloats)
    output: Value = result(StaticIntegersOrFloats)

    def verify(self) -> Iterator[Diagnostic]:
        if not are_compatible_types(self.initial_state.type, self.output_state.type):
            message = "C1: output state shape must match initial state shape. Got:"
            yield self.violated(f"{message} {self.initial_state.type} and {self.output_state.type}")

    def reference(self, initial_state: Value) -> tuple[Value, Value]:
        expected = element(self.output)
        assert isinstance(expected, ElementType)
        return random_bits.generated(initial_state, self.rng_algorithm, static_dims(self.output), expected)


# -- quantized numbers


class UniformQuantize(HloOp, name="stablehlo.uniform_quantize", traits=(traits.Pure, SameOperandsAndResultShape)):
    """Quantizes a tensor to a quantized type."""

    custom_form: ClassVar[CustomForm | None] = forms.SAME_FORM

    operand: Value = operand(Quantizable)
    result_: Value = result(Quantized)

    def verify(self) -> Iterator[Diagnostic]:
        yield from map(self.violated, quantized_faults(self.operand, self.result_))


class UniformDequantize(HloOp, name="stablehlo.uniform_dequantize", traits=(traits.Pure, SameOperandsAndResultShape)):
    """Dequantizes a tensor of a quantized type."""

    custom_form: ClassVar[CustomForm | None] = forms.SAME_FORM

    operand: Value = operand(Quantized)
    result_: Value = result(Quantizable)
