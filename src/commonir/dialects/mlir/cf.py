"""The cf dialect of MLIR: branches between the blocks of a function, and assertions.

Branches have no meaning in the core; `passes/structure_branches.py` turns them into nested operations before lowering.
Source: MLIR cf dialect.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from commonir.base.codes import MALFORMED_REGION, WRONG_ATTRIBUTE
from commonir.base.diagnostics import Diagnostic
from commonir.dialects.lazy_core import core
from commonir.ir.attributes import Attribute, DataAttr
from commonir.ir.operation import Block, Value
from commonir.ir.types import ElementType, i32
from commonir.ods import Dialect, MlirOp, attr_types, attribute, definitions_in, known_data, operand, successor, traits
from commonir.ods.branching import Branch, KnownData
from commonir.ods.mlir_attr_types import array_of
from commonir.ods.type_constraints import I1, AnyInteger, AnyType

_counts = array_of(i32)


class Assert(MlirOp, name="cf.assert", assembly="$arg `,` $msg attr-dict"):
    """Aborts execution with a message if a condition is false."""

    arg: Value = operand(I1)
    msg: str = attribute(attr_types.string)

    def reference(self, arg: Value) -> core.Require | tuple[()]:
        known = known_data(arg)
        return () if known is not None and all(known.values()) else core.Require(arg, self.msg, ())


class _BranchOp(MlirOp, Branch, traits=(traits.Pure, traits.Terminator)):
    """Base of the terminators that lead to blocks. C1: what is passed to a block are as many values as it has
    arguments, of their types.
    """

    def verify(self) -> Iterator[Diagnostic]:
        for number, block in enumerate(self.successors):
            yield from self._check_passed(number, block)

    def _check_passed(self, number: int, block: Block) -> Iterator[Diagnostic]:
        passed, arguments = self.successor_operands(number), block.arguments
        if len(passed) != len(arguments):
            message = f"{self.name}: C1: branch has {len(passed)} operands for successor #{number}"
            yield Diagnostic(MALFORMED_REGION, f"{message}, but target block has {len(arguments)}")
            return
        for n, (v, a) in enumerate(zip(passed, arguments, strict=True)):
            if v.type is not a.type:
                message = f"{self.name}: C1: type mismatch for bb argument #{n} of successor #{number}"
                yield Diagnostic(MALFORMED_REGION, f"{message}: expected {a.type}, found {v.type}")


class Br(_BranchOp, name="cf.br", assembly="$dest (`(` $destOperands^ `:` type($destOperands) `)`)? attr-dict"):
    """Branches to a block."""

    dest: Block = successor()
    destOperands: tuple[Value, ...] = operand(AnyType, variadic=True)

    def successor_operands(self, number: int) -> tuple[Value, ...]:
        del number
        return self.destOperands

    def with_successor_operands(self, passed: Sequence[Sequence[Value]]) -> Br:
        return Br(self.dest, tuple(passed[0]))

    def taken_successor(self, known: KnownData) -> int | None:
        del known
        return 0


class CondBr(
    _BranchOp,
    name="cf.cond_br",
    assembly="$condition (`weights` `(` $branch_weights^ `)` )? `,`"
    " $trueDest (`(` $trueDestOperands^ `:` type($trueDestOperands) `)`)? `,`"
    " $falseDest (`(` $falseDestOperands^ `:` type($falseDestOperands) `)`)? attr-dict",
):
    """Branches to the first block if a condition is true, else to the second. C2: there is a weight for each block, and
    not all are zero.
    """

    condition: Value = operand(I1)
    trueDest: Block = successor()
    falseDest: Block = successor()
    trueDestOperands: tuple[Value, ...] = operand(AnyType, variadic=True)
    falseDestOperands: tuple[Value, ...] = operand(AnyType, variadic=True)
    branch_weights: tuple[int, ...] | None = attribute(_counts, default=None)

    def successor_operands(self, number: int) -> tuple[Value, ...]:
        return self.falseDestOperands if number else self.trueDestOperands

    def with_successor_operands(self, passed: Sequence[Sequence[Value]]) -> CondBr:
        first, second = map(tuple, passed)
        return CondBr(self.condition, self.trueDest, self.falseDest, first, second, self.branch_weights)

    def selector_operands(self) -> tuple[Value, ...]:
        return (self.condition,)

    def taken_successor(self, known: KnownData) -> int | None:
        data = known(self.condition)
        return None if data is None else 0 if data.values()[0] else 1

    def verify(self) -> Iterator[Diagnostic]:
        weights = self.branch_weights
        if weights is not None and (len(weights) != len(self.successors) or not any(weights)):
            message = f"{self.name}: C2: expects a weight for each of {len(self.successors)} blocks, not all zero"
            yield Diagnostic(WRONG_ATTRIBUTE, f"{message}, found {list(weights)}")
        yield from super().verify()


class Switch(
    _BranchOp,
    name="cf.switch",
    assembly="$flag `:` type($flag) `,` `[` `\\n` custom<SwitchOpCases>(ref(type($flag)), $defaultDestination,"
    " $defaultOperands, type($defaultOperands), $case_values, $caseDestinations, $caseOperands, type($caseOperands))"
    " `]` attr-dict",
):
    """Branches to the block whose case value equals an integer, or else to the default block. C2: there is one block,
    and one operand segment, for each case. C3: the case values have the type of the integer.
    """

    flag: Value = operand(AnyInteger)
    case_operand_segments: tuple[int, ...] = attribute(_counts)
    defaultDestination: Block = successor()
    caseDestinations: tuple[Block, ...] = successor(variadic=True)
    defaultOperands: tuple[Value, ...] = operand(AnyType, variadic=True)
    caseOperands: tuple[Value, ...] = operand(AnyType, variadic=True)
    case_values: Attribute | None = attribute(attr_types.any_attribute, default=None)

    @property
    def cases(self) -> tuple[int, ...]:
        """The numbers of the cases."""
        values = self.case_values
        return tuple([int(v) for v in values.data.values()]) if isinstance(values, DataAttr) else ()

    def successor_operands(self, number: int) -> tuple[Value, ...]:
        if number == 0:
            return self.defaultOperands
        counts = self.case_operand_segments
        start = sum(counts[: number - 1])
        return self.caseOperands[start : start + counts[number - 1]] if number <= len(counts) else ()

    def with_successor_operands(self, passed: Sequence[Sequence[Value]]) -> Switch:
        default, *cases = map(tuple, passed)
        counts = tuple(map(len, cases))
        arguments = tuple([v for case in cases for v in case])
        return Switch(
            self.flag, counts, self.defaultDestination, self.caseDestinations, default, arguments, self.case_values
        )

    def selector_operands(self) -> tuple[Value, ...]:
        return (self.flag,)

    def taken_successor(self, known: KnownData) -> int | None:
        data = known(self.flag)
        if data is None:
            return None
        type = self.flag.type
        bits = type.bits if isinstance(type, ElementType) else 64
        flag = int(data.values()[0]) % (1 << bits)
        return next((n + 1 for n, case in enumerate(self.cases) if case % (1 << bits) == flag), 0)

    def verify(self) -> Iterator[Diagnostic]:
        if not len(self.cases) == len(self.case_operand_segments) == len(self.successors) - 1:
            message = f"{self.name}: C2: number of case values should match number of case destinations, found"
            counts: Sequence[int] = (len(self.cases), len(self.case_operand_segments), len(self.successors) - 1)
            yield Diagnostic(WRONG_ATTRIBUTE, f"{message} {counts[0]} values, {counts[1]} counts, {counts[2]} blocks")
            return
        values = self.case_values
        if isinstance(values, DataAttr) and values.data.element is not self.flag.type:
            message = f"{self.name}: C3: case values of {values.data.element} do not have the type {self.flag.type}"
            yield Diagnostic(WRONG_ATTRIBUTE, message)
        yield from super().verify()


DIALECT = Dialect(
    "cf",
    definitions_in(globals(), "cf"),
    summary="Branches between the blocks of a function, and assertions; as in MLIR.",
    rules="commonir.dialects.mlir.cf_rules:RULES",
    own="commonir.ods.own_forms:NOTHING",
)
