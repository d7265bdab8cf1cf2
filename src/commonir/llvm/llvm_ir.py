"""LLVM IR as text: types, values with operators, and functions whose loops are nested lists of lines.

A `Region` is the body of a loop or a branch. Its lines join those of the region around it when it ends, so until then
code can still be added before it: what does not depend on a loop is computed outside of it, wherever it is first
needed. Variables are stack slots, which LLVM turns into registers.

Source: LLVM language reference, LLVM 22.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import NamedTuple

FLOATS = ("half", "bfloat", "float", "double")
_BITS = {"half": 16, "bfloat": 16, "float": 32, "double": 64, "ptr": 64}
_MANGLED = {"half": "f16", "bfloat": "bf16", "float": "f32", "double": "f64", "ptr": "p0"}


class LlvmType(NamedTuple):
    """A scalar type by its name, or a vector of it."""

    scalar: str
    lanes: int = 1

    @property
    def is_float(self) -> bool:
        """Whether elements are floating-point numbers."""
        return self.scalar in FLOATS

    @property
    def bits(self) -> int:
        """Bits of an element."""
        return _BITS.get(self.scalar) or int(self.scalar[1:])

    @property
    def mangled(self) -> str:
        """The type in names of intrinsics."""
        scalar = _MANGLED.get(self.scalar, self.scalar)
        return scalar if self.lanes == 1 else f"v{self.lanes}{scalar}"

    def of(self, scalar: str) -> LlvmType:
        """Returns the type with other elements."""
        return LlvmType(scalar, self.lanes)

    def __str__(self) -> str:
        return self.scalar if self.lanes == 1 else f"<{self.lanes} x {self.scalar}>"


BOOL = LlvmType("i1")
I32 = LlvmType("i32")
I64 = LlvmType("i64")
F32 = LlvmType("float")
F64 = LlvmType("double")
POINTER = LlvmType("ptr")

Number = bool | int | float


def literal(type: LlvmType, value: Number) -> str:
    """Returns the text of a number, for a vector of equal ones."""
    if type.scalar == "i1":
        text = "true" if value else "false"
    elif type.is_float:
        text = _float_literal(type.scalar, float(value))
    else:
        text = str(int(value))
    return text if type.lanes == 1 else f"splat ({type.scalar} {text})"


def _float_literal(scalar: str, value: float) -> str:
    """Returns the bits of a double with the value, rounded to single precision where that is the type."""
    if scalar == "float":
        try:
            value = struct.unpack("f", struct.pack("f", value))[0]
        except OverflowError:
            value = float("inf") if value > 0 else float("-inf")
    return f"0x{struct.pack('>d', value).hex().upper()}"


class LlvmValue:
    """A value in a function. Operators add instructions; Python numbers become constants of the same type."""

    __slots__ = ("function", "text", "type")

    def __init__(self, function: Function, type: LlvmType, text: str) -> None:
        self.function = function
        self.type = type
        self.text = text

    @property
    def number(self) -> int | None:
        """The value of an integer constant; None for other values."""
        return int(self.text) if self.text.lstrip("-").isdigit() else None

    def __add__(self, other: LlvmValue | Number) -> LlvmValue:
        if not self.type.is_float and (other == 0 or (isinstance(other, LlvmValue) and other.number == 0)):
            return self
        if not self.type.is_float and self.number == 0 and isinstance(other, LlvmValue):
            return other
        return self.function.binary("add", "fadd contract", self, other)

    __radd__ = __add__

    def __sub__(self, other: LlvmValue | Number) -> LlvmValue:
        return self.function.binary("sub", "fsub contract", self, other)

    def __rsub__(self, other: Number) -> LlvmValue:
        return self.function.binary("sub", "fsub contract", self.function.constant(self.type, other), self)

    def __mul__(self, other: LlvmValue | Number) -> LlvmValue:
        factor = other.number if isinstance(other, LlvmValue) else other
        if not self.type.is_float and factor == 1:
            return self
        if not self.type.is_float and factor == 0:
            return self.function.constant(self.type, 0)
        return self.function.binary("mul", "fmul contract", self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: LlvmValue | Number) -> LlvmValue:
        return self.function.binary("sdiv", "fdiv", self, other)

    def __rtruediv__(self, other: Number) -> LlvmValue:
        return self.function.binary("sdiv", "fdiv", self.function.constant(self.type, other), self)

    def __neg__(self) -> LlvmValue:
        if self.type.is_float:
            return self.function.computed(self.type, f"fneg {self.type} {self.text}")
        return self.function.constant(self.type, 0) - self

    def __and__(self, other: LlvmValue | Number) -> LlvmValue:
        return self.function.binary("and", "and", self, other)

    def __or__(self, other: LlvmValue | Number) -> LlvmValue:
        return self.function.binary("or", "or", self, other)

    def __xor__(self, other: LlvmValue | Number) -> LlvmValue:
        return self.function.binary("xor", "xor", self, other)

    def compare(self, predicate: str, other: LlvmValue | Number) -> LlvmValue:
        """Returns booleans; the predicate is one of `icmp` or `fcmp`."""
        left, right = self.function.paired(self, other)
        op = "fcmp" if left.type.is_float else "icmp"
        return self.function.computed(left.type.of("i1"), f"{op} {predicate} {left.type} {left.text}, {right.text}")

    def shift_left(self, other: LlvmValue | Number) -> LlvmValue:
        """Returns the bits shifted towards the most significant one."""
        return self.function.binary("shl", "shl", self, other)

    def shift_right(self, other: LlvmValue | Number, *, is_signed: bool) -> LlvmValue:
        """Returns the bits shifted towards the least significant one, with copies of the sign if it has one."""
        op = "ashr" if is_signed else "lshr"
        return self.function.binary(op, op, self, other)


class Region:
    """Lines of a loop, a branch or a whole function; `label` is the block that the next line belongs to."""

    __slots__ = ("label", "lines")

    def __init__(self, label: str) -> None:
        self.label = label
        self.lines: list[str] = []


class Variable:
    """A mutable value."""

    __slots__ = ("_function", "_name", "type")

    def __init__(self, function: Function, type: LlvmType, name: str) -> None:
        self._function = function
        self._name = name
        self.type = type

    def get(self) -> LlvmValue:
        """Returns the current value."""
        return self._function.computed(self.type, f"load {self.type}, ptr {self._name}")

    def set(self, value: LlvmValue) -> None:
        """Assigns a value."""
        self._function.add_line(f"store {self.type} {value.text}, ptr {self._name}")


class Module:
    """Functions with the same attributes, and the declarations of those that they call.

    `definitions` are functions as text, which may use the attributes `#0`.
    """

    def __init__(self, attributes: str) -> None:
        self._attributes = attributes
        self.functions: list[Function] = []
        self.declarations: dict[str, str] = {}
        self.definitions: list[str] = []

    def __str__(self) -> str:
        attributes = f"attributes #0 = {{ {self._attributes} }}"
        functions = [*map(str, self.functions), *self.definitions]
        return "\n".join([*self.declarations.values(), *functions, attributes]) + "\n"


class Function:
    """A function under construction. Instructions are added to `region`."""

    def __init__(
        self,
        module: Module,
        name: str,
        parameters: Sequence[LlvmType],
        result: LlvmType | None = None,
        *,
        is_internal: bool = False,
    ) -> None:
        self.module = module
        self.name = name
        self.result = result
        self._linkage = "internal " if is_internal else ""
        self._count = 0
        self._slots: list[str] = []
        self._single_lanes: set[str] = set()
        self.body = self.region = Region("entry")
        self.arguments: list[LlvmValue] = []
        for t in parameters:
            self.parameter(t)
        module.functions.append(self)

    def __str__(self) -> str:
        parameters = ", ".join(f"{v.type}{' noalias' if v.type is POINTER else ''} {v.text}" for v in self.arguments)
        head = f"define {self._linkage}{self.result or 'void'} @{self.name}({parameters}) #0 {{"
        return "\n".join([head, "entry:", *self._slots, *self.body.lines, "}"])

    def parameter(self, type: LlvmType) -> LlvmValue:
        """Adds a parameter, and returns its value."""
        self.arguments.append(LlvmValue(self, type, f"%a{len(self.arguments)}"))
        return self.arguments[-1]

    # -- instructions

    def add_line(self, line: str) -> None:
        """Adds an instruction without a result."""
        self.region.lines.append(line)

    def computed(self, type: LlvmType, instruction: str) -> LlvmValue:
        """Returns the result of an instruction."""
        self._count += 1
        self.region.lines.append(f"%v{self._count} = {instruction}")
        return LlvmValue(self, type, f"%v{self._count}")

    def constant(self, type: LlvmType, value: Number) -> LlvmValue:
        """Returns a constant, for a vector of equal elements."""
        return LlvmValue(self, type, literal(type, value))

    def integer(self, value: int) -> LlvmValue:
        """Returns a constant of 64 bits."""
        return self.constant(I64, value)

    def lane_numbers(self, type: LlvmType) -> LlvmValue:
        """Returns the numbers of the lanes of a vector."""
        return LlvmValue(self, type, f"<{', '.join(f'{type.scalar} {n}' for n in range(type.lanes))}>")

    def first_lanes(self, count: LlvmValue | int, lanes: int) -> LlvmValue:
        """Returns a mask that holds for so many lanes; a count in code has 32 bits."""
        mask = self.lane_numbers(LlvmType("i32", lanes)).compare("slt", count)
        if (count.number if isinstance(count, LlvmValue) else count) == 1:
            self._single_lanes.add(mask.text)
        return mask

    def all_of(self, conditions: Iterable[LlvmValue]) -> LlvmValue | None:
        """Returns whether all of some conditions hold; None if there are none."""
        result: LlvmValue | None = None
        for c in conditions:
            result = c if result is None else result & c
        return result

    def lanes_where(self, holds: Sequence[bool]) -> LlvmValue:
        """Returns a constant mask."""
        return LlvmValue(self, LlvmType("i1", len(holds)), f"<{', '.join(f'i1 {int(h)}' for h in holds)}>")

    def part_start(self, number: LlvmValue, part: int, count: int) -> LlvmValue:
        """Returns where a part of all begins; the last one overlaps that before it if they are not a multiple."""
        start = number * part
        return self.intrinsic("umin", start, self.integer(count - part)) if count % part else start

    def vectors(self, count: int, lanes: int, most: int = 1) -> Generator[tuple[LlvmValue, int, LlvmValue | None]]:
        """Yields in code that handles vectors of so many elements, in a loop, then in code that handles the last ones.

        Yielded are the position of the first element, the number of vectors, and the mask of the last vector if it is
        a part of one.
        """
        step = most * lanes
        whole, rest = count // step * step, count % step
        if whole:
            with self.loop(self.integer(0), self.integer(whole), step) as at:
                yield at, most, None
        if rest:
            mask = self.first_lanes(rest % lanes, lanes) if rest % lanes else None
            yield self.integer(whole), -(-rest // lanes), mask

    def paired(self, left: LlvmValue, right: LlvmValue | Number) -> tuple[LlvmValue, LlvmValue]:
        """Returns two operands with the same number of lanes."""
        if not isinstance(right, LlvmValue):
            return left, self.constant(left.type, right)
        lanes = max(left.type.lanes, right.type.lanes)
        return self.splat(left, lanes), self.splat(right, lanes)

    def binary(self, integer_op: str, float_op: str, left: LlvmValue, right: LlvmValue | Number) -> LlvmValue:
        """Returns the result of an operation on two operands of one element type."""
        a, b = self.paired(left, right)
        op = float_op if a.type.is_float else integer_op
        if a.number is not None and b.number is not None and op in ("add", "sub", "mul"):
            folded = {"add": a.number + b.number, "sub": a.number - b.number, "mul": a.number * b.number}[op]
            return self.constant(a.type, folded)
        return self.computed(a.type, f"{op} {a.type} {a.text}, {b.text}")

    def digits(self, number: LlvmValue, sizes: Sequence[LlvmValue]) -> list[LlvmValue]:
        """Returns the position on each of some axes, the last one fastest, of a number that is not beyond them."""
        out: list[LlvmValue] = []
        for size in reversed(sizes[1:]):
            out.append(self.binary("urem", "urem", number, size))
            number = self.binary("udiv", "udiv", number, size)
        return [number, *reversed(out)] if sizes else []

    def splat(self, value: LlvmValue, lanes: int) -> LlvmValue:
        """Returns a vector of equal elements; a vector as it is."""
        if lanes in (1, value.type.lanes):
            return value
        type = LlvmType(value.type.scalar, lanes)
        if not value.text.startswith("%"):
            return LlvmValue(self, type, f"splat ({value.type} {value.text})")
        first = self.computed(type, f"insertelement {type} poison, {value.type} {value.text}, i64 0")
        order = f"<{lanes} x i32> zeroinitializer"
        return self.computed(type, f"shufflevector {type} {first.text}, {type} poison, {order}")

    def shuffled(self, value: LlvmValue, lanes: Sequence[int]) -> LlvmValue:
        """Returns lanes of a vector in another order."""
        type = LlvmType(value.type.scalar, len(lanes))
        order = f"<{len(lanes)} x i32> <{', '.join(f'i32 {n}' for n in lanes)}>"
        return self.computed(type, f"shufflevector {value.type} {value.text}, {value.type} poison, {order}")

    def moved_up(self, value: LlvmValue, by: int, fill: LlvmValue) -> LlvmValue:
        """Returns lanes of a vector moved towards the last one; the first lanes are those of another vector."""
        lanes = value.type.lanes
        return self.interleaved(value, fill, [n - by if n >= by else lanes + n for n in range(lanes)])

    def interleaved(self, first: LlvmValue, second: LlvmValue, lanes: Sequence[int]) -> LlvmValue:
        """Returns lanes of two vectors, those of the second one numbered after those of the first."""
        order = f"<{len(lanes)} x i32> <{', '.join(f'i32 {n}' for n in lanes)}>"
        instruction = f"shufflevector {first.type} {first.text}, {second.type} {second.text}, {order}"
        return self.computed(LlvmType(first.type.scalar, len(lanes)), instruction)

    def lane(self, value: LlvmValue, n: int) -> LlvmValue:
        """Returns one element of a vector."""
        if value.type.lanes == 1:
            return value
        return self.computed(LlvmType(value.type.scalar), f"extractelement {value.type} {value.text}, i64 {n}")

    def from_lanes(self, values: Sequence[LlvmValue]) -> LlvmValue:
        """Returns a vector of scalars; a single one as it is."""
        if len(values) == 1:
            return values[0]
        type = LlvmType(values[0].type.scalar, len(values))
        out = LlvmValue(self, type, "poison")
        for n, v in enumerate(values):
            out = self.computed(type, f"insertelement {type} {out.text}, {v.type} {v.text}, i64 {n}")
        return out

    def select(self, condition: LlvmValue, if_true: LlvmValue, if_false: LlvmValue | Number) -> LlvmValue:
        """Returns one of two values, for each lane."""
        if not isinstance(if_false, LlvmValue):
            if_false = self.constant(if_true.type, if_false)
        lanes = max(condition.type.lanes, if_true.type.lanes, if_false.type.lanes)
        c, a, b = [self.splat(v, lanes) for v in (condition, if_true, if_false)]
        return self.computed(a.type, f"select {c.type} {c.text}, {a.type} {a.text}, {b.type} {b.text}")

    def cast(self, op: str, value: LlvmValue, scalar: str) -> LlvmValue:
        """Returns a value converted by a cast instruction."""
        type = value.type.of(scalar)
        return self.computed(type, f"{op} {value.type} {value.text} to {type}")

    def reinterpreted(self, value: LlvmValue, type: LlvmType) -> LlvmValue:
        """Returns the bits of a value as another type of as many bits."""
        return self.computed(type, f"bitcast {value.type} {value.text} to {type}")

    def call(
        self, name: str, result: LlvmType | None, *arguments: LlvmValue, flags: str = "", align: int | None = None
    ) -> LlvmValue | None:
        """Returns the result of a function that is declared here; `align` is the alignment of its pointers."""
        self.module.declarations[name] = (
            f"declare {result or 'void'} @{name}({', '.join(str(a.type) for a in arguments)})"
        )
        attribute = {True: f" align {align}", False: ""}
        listed = ", ".join(
            f"{a.type}{attribute[align is not None and a.type.scalar == 'ptr']} {a.text}" for a in arguments
        )
        text = f"call {flags}{' ' if flags else ''}{result or 'void'} @{name}({listed})"
        if result is not None:
            return self.computed(result, text)
        self.add_line(text)
        return None

    def called(
        self, name: str, result: LlvmType, *arguments: LlvmValue, flags: str = "", align: int | None = None
    ) -> LlvmValue:
        """Returns the result of a function; see `call`."""
        value = self.call(name, result, *arguments, flags=flags, align=align)
        assert value is not None
        return value

    def intrinsic(self, name: str, *arguments: LlvmValue) -> LlvmValue:
        """Returns the result of an intrinsic of the type of its operands."""
        type = arguments[0].type
        return self.called(f"llvm.{name}.{type.mangled}", type, *arguments)

    def fused_multiply_add(self, a: LlvmValue, b: LlvmValue, c: LlvmValue) -> LlvmValue:
        """Returns `a * b + c`, rounded once on machines that have such an instruction; a function would be slow."""
        return self.intrinsic("fmuladd", a, b, c)

    def variable(self, type: LlvmType, initial: LlvmValue | Number) -> Variable:
        """Returns a new variable."""
        self._count += 1
        name = f"%s{self._count}"
        self._slots.append(f"{name} = alloca {type}")
        result = Variable(self, type, name)
        result.set(initial if isinstance(initial, LlvmValue) else self.constant(type, initial))
        return result

    def array(self, element: LlvmType, count: int) -> LlvmValue:
        """Returns a pointer to numbers on the stack."""
        self._count += 1
        name = f"%s{self._count}"
        self._slots.append(f"{name} = alloca [{count} x {element}], align 64")
        return LlvmValue(self, POINTER, name)

    # -- memory

    def element(self, pointer: LlvmValue, at: LlvmValue, scalar: str) -> LlvmValue:
        """Returns a pointer to the element at a position."""
        if at.number == 0:
            return pointer
        return self.computed(POINTER, f"getelementptr inbounds {scalar}, ptr {pointer.text}, i64 {at.text}")

    def element_beside(self, pointer: LlvmValue, at: LlvmValue, offset: int, scalar: str) -> LlvmValue:
        """Returns a pointer to the element at a position and an offset.

        There need not be an element at the position itself.
        """
        if offset == 0:
            return self.element(pointer, at, scalar)
        base = pointer
        if at.number != 0:
            base = self.computed(POINTER, f"getelementptr {scalar}, ptr {pointer.text}, i64 {at.text}")
        return self.computed(POINTER, f"getelementptr {scalar}, ptr {base.text}, i64 {offset}")

    def load(self, pointer: LlvmValue, type: LlvmType, mask: LlvmValue | None = None) -> LlvmValue:
        """Returns elements in memory, which are aligned as one of them is; zeros where a mask does not hold."""
        if mask is not None:
            return self.masked_load(pointer, mask, self.constant(type, 0))
        return self.computed(type, f"load {type}, ptr {pointer.text}, align {type.bits // 8}")

    def store(self, value: LlvmValue, pointer: LlvmValue, mask: LlvmValue | None = None) -> None:
        """Writes elements to memory, with a mask those where it holds."""
        if mask is not None:
            self.masked_store(value, pointer, mask)
            return
        self.add_line(f"store {value.type} {value.text}, ptr {pointer.text}, align {value.type.bits // 8}")

    def prefetch(self, pointer: LlvmValue) -> None:
        """Brings a line of memory into the second-level cache; there need not be any memory."""
        read, level, of_data = [LlvmValue(self, I32, str(n)) for n in (0, 2, 1)]
        self.call("llvm.prefetch.p0", None, pointer, read, level, of_data)

    def atomic_load(self, pointer: LlvmValue, type: LlvmType) -> LlvmValue:
        """Returns an integer or a pointer in memory that another thread may write at the same time."""
        return self.computed(type, f"load atomic {type}, ptr {pointer.text} monotonic, align {type.bits // 8}")

    def compare_exchange(self, pointer: LlvmValue, old: LlvmValue, new: LlvmValue) -> LlvmValue:
        """Replaces an integer in memory if it has a value, in one step for all threads; returns whether it had."""
        pair = f"cmpxchg ptr {pointer.text}, {old.type} {old.text}, {new.type} {new.text} acq_rel monotonic"
        both = self.computed(LlvmType(f"{{ {old.type}, i1 }}"), pair)
        return self.computed(BOOL, f"extractvalue {both.type} {both.text}, 1")

    def masked_load(self, pointer: LlvmValue, mask: LlvmValue, other: LlvmValue) -> LlvmValue:
        """Returns the elements in memory where the mask holds, and those of another vector elsewhere."""
        type = other.type
        return self.called(f"llvm.masked.load.{type.mangled}.p0", type, pointer, mask, other, align=type.bits // 8)

    def masked_store(self, value: LlvmValue, pointer: LlvmValue, mask: LlvmValue) -> None:
        """Writes the elements to memory where the mask holds."""
        if mask.text in self._single_lanes:
            # Of integers that it truncates, LLVM 22 would store a lane with all its bits, beyond the tensor.
            self.store(self.lane(value, 0), pointer)
            return
        name = f"llvm.masked.store.{value.type.mangled}.p0"
        self.call(name, None, value, pointer, mask, align=value.type.bits // 8)

    def gather(self, pointer: LlvmValue, at: LlvmValue, mask: LlvmValue, other: LlvmValue) -> LlvmValue:
        """Returns the elements at positions where the mask holds, and those of another vector elsewhere."""
        type = other.type
        pointers = type.of("ptr")
        places = self.computed(pointers, f"getelementptr {type.scalar}, ptr {pointer.text}, {at.type} {at.text}")
        name = f"llvm.masked.gather.{type.mangled}.{pointers.mangled}"
        return self.called(name, type, places, mask, other, align=type.bits // 8)

    # -- control

    def new_label(self) -> str:
        """Returns the name of a block."""
        self._count += 1
        return f"b{self._count}"

    @contextmanager
    def inserting(self, region: Region) -> Generator[None]:
        """Adds instructions to another region, which is still open."""
        before = self.region
        self.region = region
        try:
            yield
        finally:
            self.region = before

    @contextmanager
    def loop(self, start: LlvmValue, stop: LlvmValue, step: int = 1) -> Generator[LlvmValue]:
        """Runs the body for `start`, `start + step` and so on while it is less than `stop`."""
        around = self.region
        body = Region(self.new_label())
        head, entry, end = self.new_label(), body.label, self.new_label()
        self._count += 1
        counter = LlvmValue(self, I64, f"%i{self._count}")
        with self.inserting(body):
            yield counter
            following = counter + step
        entered = f"[ {start.text}, %{around.label} ], [ {following.text}, %{body.label} ]"
        test = f"{counter.text}.in"
        around.lines += [f"br label %{head}", f"{head}:", f"{counter.text} = phi i64 {entered}"]
        around.lines += [f"{test} = icmp slt i64 {counter.text}, {stop.text}"]
        around.lines += [f"br i1 {test}, label %{entry}, label %{end}", f"{entry}:"]
        around.lines += [*body.lines, f"br label %{head}", f"{end}:"]
        around.label = end

    @contextmanager
    def rounds(self, test: Callable[[LlvmValue], LlvmValue]) -> Generator[LlvmValue]:
        """Runs the body as long as a test holds, whose code is run with the number of the round before each."""
        around = self.region
        head, body, end = Region(self.new_label()), Region(self.new_label()), self.new_label()
        first, entry = head.label, body.label
        self._count += 1
        counter = LlvmValue(self, I64, f"%i{self._count}")
        with self.inserting(head):
            holds = test(counter)
        with self.inserting(body):
            yield counter
            following = counter + 1
        entered = f"[ 0, %{around.label} ], [ {following.text}, %{body.label} ]"
        around.lines += [f"br label %{first}", f"{first}:", f"{counter.text} = phi i64 {entered}", *head.lines]
        around.lines += [f"br i1 {holds.text}, label %{entry}, label %{end}", f"{entry}:"]
        around.lines += [*body.lines, f"br label %{first}", f"{end}:"]
        around.label = end

    def return_(self) -> None:
        """Returns from a function without a result; code that is added here afterwards is never reached."""
        self.region.label = self.new_label()
        self.region.lines += ["ret void", f"{self.region.label}:"]

    @contextmanager
    def each_of(self, name: str, *arguments: LlvmValue) -> Generator[LlvmValue]:
        """Runs the body for each integer that a function of the module returns, until one is negative."""
        around = self.region
        head, body, end = self.new_label(), Region(self.new_label()), self.new_label()
        entry = body.label
        self._count += 1
        result = LlvmValue(self, I64, f"%n{self._count}")
        with self.inserting(body):
            yield result
        listed = ", ".join(f"{a.type} {a.text}" for a in arguments)
        around.lines += [f"br label %{head}", f"{head}:", f"{result.text} = call i64 @{name}({listed})"]
        around.lines += [f"{result.text}.out = icmp slt i64 {result.text}, 0"]
        around.lines += [f"br i1 {result.text}.out, label %{end}, label %{entry}", f"{entry}:"]
        around.lines += [*body.lines, f"br label %{head}", f"{end}:"]
        around.label = end

    @contextmanager
    def when(self, condition: LlvmValue) -> Generator[None]:
        """Runs the body if a condition holds."""
        around = self.region
        body, end = Region(self.new_label()), self.new_label()
        entry = body.label
        with self.inserting(body):
            yield
        around.lines += [f"br i1 {condition.text}, label %{entry}, label %{end}", f"{entry}:"]
        around.lines += [*body.lines, f"br label %{end}", f"{end}:"]
        around.label = end
