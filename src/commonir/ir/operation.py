"""The program graph: values, operations, blocks and regions.

The graph is the one mutable thing here, and it is changed through `rewrite.Rewriter` once it is built. Every walk is
iterative, so nesting costs no stack; operations of a block form a linked list, so inserting and erasing cost no scan.
"""

# pyright: reportPrivateUsage=false
# Values, operations and blocks form one linked structure and update each other's links.

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar, Self, TypeVar

from commonir.base.text import html_line, plural, shortened, shortened_list
from commonir.ir.constant_text import Attribute
from commonir.ir.data import Data
from commonir.ir.origins import Origin
from commonir.ir.types import Type
from commonir.symbolic import Dim

Op = TypeVar("Op", bound="Operation")
_NO_ATTRIBUTES: Mapping[str, Attribute] = MappingProxyType({})


class Value:
    """One SSA value: a result of an operation or an argument of a block.

    `name` is the name in its file, "" when there is none; it need not be unique. `retype` must be used to change the
    type of a value that operations use. `_users` is the user if there is one use, which is most
    frequent, else maps each user to its number of uses.
    """

    __slots__ = ("_users", "index", "name", "owner", "type")

    def __init__(self, type: Type, owner: Operation | Block | None = None, index: int = 0, name: str = "") -> None:
        self.type = type
        self.owner = owner
        self.index = index
        self.name = name
        self._users: Operation | dict[Operation, int] | None = None

    @property
    def users(self) -> tuple[Operation, ...]:
        """The operations that have it as an operand, each once, in order of first use."""
        users = self._users
        return () if users is None else tuple(users) if isinstance(users, dict) else (users,)

    @property
    def only_user(self) -> Operation | None:
        """The operation that has it as an operand; None if there is none, or several."""
        users = self._users
        if isinstance(users, dict):
            return next(iter(users)) if len(users) == 1 else None
        return users

    @property
    def is_used(self) -> bool:
        """Whether any operation has it as an operand."""
        return self._users is not None

    @property
    def use_count(self) -> int:
        """Number of operands that refer to it."""
        users = self._users
        return 0 if users is None else sum(users.values()) if isinstance(users, dict) else 1

    def users_in(self, block: Block) -> list[Operation]:
        """Returns its users in a block, by the shorter of the lists of users and of operations."""
        users = self._users
        if not isinstance(users, dict) or len(users) <= len(block):
            return [op for op in self.users if op.parent is block]
        return [op for op in block.operations if op in users]

    @property
    def uses(self) -> Iterator[tuple[Operation, int]]:
        """Yields each use: the operation and the position among its operands."""
        for op in self.users:
            for n, operand in enumerate(op.operands):
                if operand is self:
                    yield op, n

    @property
    def defining_op(self) -> Operation | None:
        """The operation it is a result of; None for a block argument."""
        return self.owner if isinstance(self.owner, Operation) else None

    def retype(self, type: Type) -> None:
        """Changes its type, and notifies the operations that define or use it."""
        if self.type is not type:
            self.type = type
            if isinstance(self.owner, Operation):
                self.owner.notify_modified()
            for op in self.users:
                op.notify_modified()

    def replace_all_uses_with(self, other: Value) -> None:
        """Makes all users use another value instead. Raises: TypeError for what is not a value."""
        if not isinstance(other, Value):  # pyright: ignore[reportUnnecessaryIsInstance]  # for callers without types
            raise TypeError(f"replace_all_uses_with takes a value, found {type(other).__name__}")
        users = self._users
        if users is None or other is self:
            return
        self._users = None
        for op, count in users.items() if isinstance(users, dict) else ((users, 1),):
            op._operands = _exchanged(op._operands, self, other)
            if count == 1 and other._users is None:
                other._users = op
            else:
                for _ in range(count):
                    other._add_use(op)
            op.notify_modified()

    def _add_use(self, op: Operation) -> None:
        users = self._users
        if users is None:
            self._users = op
        elif isinstance(users, dict):
            users[op] = users.get(op, 0) + 1
        else:
            self._users = {op: 2} if users is op else {users: 1, op: 1}

    def _drop_use(self, op: Operation) -> None:
        users = self._users
        if not isinstance(users, dict):
            self._users = None
        elif users[op] > 1:
            users[op] -= 1
        else:
            del users[op]
            self._users = users or None

    def __dir__(self) -> list[str]:
        return [
            "defining_op",
            "index",
            "is_used",
            "name",
            "only_user",
            "owner",
            "replace_all_uses_with",
            "type",
            "use_count",
            "users",
            "uses",
        ]

    def __repr__(self) -> str:
        return shortened(f"<value %{self.name or '_'}: {self.type}", ">")

    def _repr_html_(self) -> str:
        """Returns its text, what defines it and what uses it, for a notebook."""
        source = self.defining_op
        defined = "an argument" if source is None else f"a result of {source.name}"
        users = ", ".join(dict.fromkeys([op.name for op in self.users]))
        return html_line(repr(self), f"{defined}, used by {users}" if users else f"{defined}, unused")


def _exchanged(operands: tuple[Value, ...], old: Value, new: Value) -> tuple[Value, ...]:
    """Returns operands with one value replaced by another."""
    if len(operands) == 2:
        # The most frequent case; a loop takes three times as long.
        lhs, rhs = operands
        return new if lhs is old else lhs, new if rhs is old else rhs
    # The return of a function may have thousands of operands, each of which is exchanged once: searching and copying
    # tuples takes a hundredth of the time of a loop.
    at = operands.index(old)
    after = operands[at + 1 :]
    return (*operands[:at], new, *(after if old not in after else [new if v is old else v for v in after]))


class Operation:
    """An operation: operands, results, attributes, regions, and successors.

    Subclasses in `ods` have named and typed operands and attributes; `UnregisteredOperation` is used for operations
    without a definition. `operands` is flat; definitions divide it into groups. `extra` has attributes that no
    definition declares. `successors` are blocks of the enclosing region: only the last operation of a block has any.
    """

    __slots__ = (
        "_extra",
        "_next",
        "_operands",
        "_order",
        "_previous",
        "_successors",
        "location",
        "parent",
        "regions",
        "results",
    )

    name: ClassVar[str] = ""

    @property
    def has_properties(self) -> bool:
        """Whether it has properties, even if none is set."""
        return False

    def __init__(
        self,
        operands: Iterable[Value] = (),
        result_types: Iterable[Type] = (),
        regions: Iterable[Region] = (),
        location: Origin | None = None,
    ) -> None:
        self._start(tuple(operands), tuple(result_types))
        self.location = location
        self.regions = tuple(regions)
        for region in self.regions:
            region.parent = self

    def _start(self, operands: tuple[Value, ...], result_types: Sequence[Type]) -> None:
        """Initializes the graph part of a new operation; separate, because it dominates the cost of construction."""
        self._operands = operands
        for value in operands:
            if value._users is None:
                value._users = self
            else:
                value._add_use(self)
        if len(result_types) == 1:
            self.results: tuple[Value, ...] = (Value(result_types[0], self),)
        else:
            self.results = tuple([Value(t, self, n) for n, t in enumerate(result_types)])
        self.regions: tuple[Region, ...] = ()
        self._successors: tuple[Block, ...] = ()
        self.parent: Block | None = None
        self._previous: Operation | None = None
        self._next: Operation | None = None
        self._order = -1
        self._extra: dict[str, Attribute] | None = None
        self.location: Origin | None = None

    @property
    def successors(self) -> tuple[Block, ...]:
        """The blocks to which control may pass."""
        return self._successors

    @successors.setter
    def successors(self, blocks: tuple[Block, ...]) -> None:
        for block in self._successors:
            # A repeated successor was removed the first time.
            block._branches.pop(self, None)
        self._successors = blocks
        for block in blocks:
            block._branches[self] = block._branches.get(self, 0) + 1

    # -- operands and results

    @property
    def operands(self) -> tuple[Value, ...]:
        """The values it uses, in order."""
        return self._operands

    @operands.setter
    def operands(self, values: tuple[Value, ...]) -> None:
        self._forget_operands()
        self._operands = values
        for value in values:
            value._add_use(self)
        self.notify_modified()

    def notify_modified(self) -> None:
        """Called after its operands, or types of its operands or results, have changed; for subclasses that cache."""

    def _forget_operands(self) -> None:
        for value in self._operands:
            if value._users is self:
                value._users = None
            else:
                value._drop_use(self)

    @property
    def field_names(self) -> tuple[Sequence[str], Sequence[str]]:
        """The names of its operands and of its results in its definition, in order; nothing for one without."""
        return (), ()

    @classmethod
    def runs_nothing(cls) -> bool:
        """Returns whether nothing is computed when execution reaches it: constants, declarations, terminators."""
        return False

    @property
    def first_name(self) -> str:
        """The first name of a result; "" when none has one."""
        return next((r.name for r in self.results if r.name), "")

    @property
    def source_name(self) -> str:
        """The name of the operation in its source, besides the names of its results; "" when it has none."""
        return "" if self.location is None else self.location.name

    @property
    def result(self) -> Value:
        """Its only result. Raises: ValueError when it has none or several."""
        if len(self.results) != 1:
            raise ValueError(f"{self.name} has {plural(len(self.results), 'result')}, not one")
        return self.results[0]

    # -- attributes

    @property
    def extra(self) -> Mapping[str, Attribute]:
        """Attributes that the definition does not declare."""
        return _NO_ATTRIBUTES if self._extra is None else self._extra

    def set_extra(self, name: str, value: Attribute | None) -> None:
        """Sets an undeclared attribute; None removes it."""
        if self._extra is None:
            self._extra = {}
        if value is None:
            self._extra.pop(name, None)
        else:
            self._extra[name] = value

    def update_extra(self, attributes: Mapping[str, Attribute]) -> None:
        """Sets undeclared attributes, by name."""
        if attributes:
            self._extra = {**(self._extra or {}), **attributes}

    @property
    def attribute_dictionary(self) -> Mapping[str, Attribute]:
        """Every attribute by name, declared and undeclared, in storage form."""
        return self.extra

    @property
    def discardable(self) -> Mapping[str, Attribute]:
        """Undeclared attributes, in storage form: the discardable attributes of MLIR."""
        return self.extra

    @property
    def is_annotated(self) -> bool:
        """Whether undeclared attributes say something about it that is lost where another operation replaces it."""
        return False

    @property
    def properties(self) -> Mapping[str, Attribute]:
        """The properties of MLIR: declared attributes without defaults, and segment sizes."""
        return _NO_ATTRIBUTES

    def clone_shallow(self, operands: tuple[Value, ...], regions: tuple[Region, ...]) -> Self:
        """Returns a detached copy on other operands and regions, with equal results."""
        raise NotImplementedError

    # -- what is known before the program runs

    def constant_data(self) -> Data | None:
        """Returns the contents of its only result if it is a constant."""
        return None

    def constant_results(self) -> tuple[Data | None, ...]:
        """Returns the contents of each of several results, None for those that are not constants."""
        return ()

    def constant_dims(self) -> tuple[Dim, ...] | None:
        """Returns the elements of its integer result if all are known, as numbers or symbolic expressions."""
        return None

    # -- position in the program

    @property
    def parent_op(self) -> Operation | None:
        """The operation whose region contains it."""
        block = self.parent
        return None if block is None or block.parent is None else block.parent.parent

    @property
    def next(self) -> Operation | None:
        """The operation after it in its block."""
        return self._next

    @property
    def previous(self) -> Operation | None:
        """The operation before it in its block."""
        return self._previous

    def is_before(self, other: Operation) -> bool:
        """Returns whether it is before another operation of the same block."""
        block = self.parent
        if block is None or block is not other.parent:
            raise ValueError("operations of different blocks have no order")
        block._number()
        return self._order < other._order

    @property
    def index_in_block(self) -> int:
        """Its position among the operations of its block, from 0. Raises: ValueError when it is not in a block."""
        if self.parent is None:
            raise ValueError("the operation is not in a block")
        self.parent._number()
        return self._order

    def ancestors(self) -> Iterator[Operation]:
        """Yields the enclosing operations, innermost first."""
        op = self.parent_op
        while op is not None:
            yield op
            op = op.parent_op

    def detach(self) -> None:
        """Removes it from its block; it keeps its operands and uses."""
        if self.parent is not None:
            self.parent._unlink(self)

    def erase(self) -> list[Operation]:
        """Erases it with everything nested in it; returns the operations whose results became unused.

        Raises: ValueError when a result is still used from outside of it.
        """
        if not self.regions:
            for value in self.results:
                if value._users is not None:
                    raise ValueError(f"cannot erase {self.name}: its result is in use")
            return self._leave(None)
        nested = list(self.walk())
        inside = set(nested)
        for op in nested:
            for value in op.results:
                if any(user not in inside for user in value.users):
                    raise ValueError(f"cannot erase {op.name}: its result is in use")
        self.detach()
        for op in nested:
            op._forget_operands()
            if op._successors:
                op.successors = ()
        used = dict.fromkeys([v for op in nested for v in op._operands])
        for op in nested:
            op._operands = ()
        return [v.owner for v in used if v._users is None and isinstance(v.owner, Operation) and v.owner not in inside]

    def replace_and_erase(self, value: Value) -> tuple[list[Operation], Sequence[Operation]]:
        """Replaces its only result by another value and erases it; it must have no regions.

        Does what `replace_all_uses_with` and `erase` do, in one step, because rewriting does little else. Returns the
        operations whose results became unused, and the users.
        """
        old = self.results[0]
        users = old._users
        old._users = None
        unused = self._leave(value)
        if users is None:
            return unused, ()
        if isinstance(users, dict):
            old._users = users
            old.replace_all_uses_with(value)
            return unused, tuple(users)
        users._operands = _exchanged(users._operands, old, value)
        if value._users is None:
            value._users = users
        else:
            value._add_use(users)
        users.notify_modified()
        return unused, (users,)

    def _leave(self, replacement: Value | None) -> list[Operation]:
        """Removes it from its block and from the users of its operands; returns the operations whose results became
        unused, except the one that defines its replacement.
        """
        block = self.parent
        if block is not None:
            block._unlink(self)
        if self._successors:
            self.successors = ()
        unused: list[Operation] = []
        for v in self._operands:
            if v._users is self:
                v._users = None
            else:
                v._drop_use(self)
                if v._users is not None:
                    continue
            if v is not replacement and isinstance(v.owner, Operation):
                unused.append(v.owner)
        self._operands = ()
        return unused

    def walk_list(self) -> list[Operation]:
        """Returns the operations of `walk` as a list, which is several times faster."""
        result: list[Operation] = [self]
        pending = [b._first for region in self.regions for b in region.blocks]
        pending.reverse()
        while pending:
            op = pending.pop()
            while op is not None:
                result.append(op)
                following = op._next
                if op.regions:
                    pending.append(following)
                    pending += reversed([b._first for region in op.regions for b in region.blocks])
                    break
                op = following
        return result

    def walk(self) -> Iterator[Operation]:
        """Yields the operation itself and everything nested in it, in order. The current operation may be erased."""
        pending: list[Operation] = [self]
        while pending:
            op = pending.pop()
            if not op.regions:
                yield op
                continue
            nested = [child for region in op.regions for block in region.blocks for child in block.operations]
            yield op
            pending.extend(reversed(nested))

    @property
    def values_used(self) -> tuple[Value, ...]:
        """The values from outside that it or anything nested in it uses, in order, once for each use."""
        if not self.regions:
            return self._operands
        nested = list(self.walk())
        inside = {v for op in nested for v in op.results}
        inside.update(v for op in nested for region in op.regions for block in region.blocks for v in block.arguments)
        return tuple([v for op in nested for v in op.operands if v not in inside])

    _completions: ClassVar[str] = (
        "ancestors attribute_dictionary erase first_name location name next operands parent parent_op previous regions"
        " result results source_name successors walk"
    )
    """The members that completion at a prompt offers: those that read and change programs. Subclasses add theirs."""

    def __dir__(self) -> list[str]:
        own = [vars(cls).get("_completions", "").split() for cls in type(self).__mro__]
        return sorted({name for names in own for name in names})

    def __repr__(self) -> str:
        names = ", ".join(f"%{r.name}" if r.name else "%_" for r in self.results)
        operands = [f"%{v.name}" if v.name else "%_" for v in self._operands]
        types = ", ".join([str(r.type) for r in self.results])
        opening, closing = ("(", ")") if operands else ("", "")
        before = f"<{names + ' = ' if names else ''}{self.name}{opening}"
        return shortened_list(before, operands, f"{closing}{': ' + types if types else ''}>")


class Block:
    """A sequence of operations with arguments.

    `label` is the name in its format, "" when there is none. `origins` are the locations of its arguments, if known.
    `_branches` are the operations that have it as a successor, with the number of times. `changes` counts how often
    one was put into it or taken out; `symbol_index` has its symbols by name as of one of these counts.
    """

    __slots__ = (
        "_branches", "_count", "_first", "_last", "_numbered", "_positions", "arguments", "changes", "label", "origins",
        "parent", "symbol_index",
    )  # fmt: skip

    def __init__(self, argument_types: Iterable[Type] = (), names: Sequence[str] = (), label: str = "") -> None:
        types = tuple(argument_types)
        value_names = tuple(names) or ("",) * len(types)
        self.arguments = tuple(
            [Value(t, self, n, name) for n, (t, name) in enumerate(zip(types, value_names, strict=True))]
        )
        self.label = label
        self.origins: tuple[Origin | None, ...] = ()
        self.parent: Region | None = None
        self._branches: dict[Operation, int] = {}
        self._first: Operation | None = None
        self._last: Operation | None = None
        self._count = 0
        self._numbered = True
        self.changes = 0
        self._positions: tuple[int, Callable[[Operation], bool], Mapping[Operation, int]] | None = None
        self.symbol_index: tuple[int, Mapping[str, Sequence[Operation]]] | None = None

    def __len__(self) -> int:
        return self._count

    def __repr__(self) -> str:
        owner = None if self.parent is None else self.parent.parent
        return f"<Block{'' if owner is None else f' of {owner.name}'}: {plural(self._count, 'operation')}>"

    @property
    def operations(self) -> Iterator[Operation]:
        """Yields its operations in order. The current operation may be erased or moved."""
        op = self._first
        while op is not None:
            following = op._next
            yield op
            op = following

    @property
    def first(self) -> Operation | None:
        """Its first operation."""
        return self._first

    @property
    def last(self) -> Operation | None:
        """Its last operation."""
        return self._last

    @property
    def successors(self) -> tuple[Block, ...]:
        """The blocks to which control may pass: the successors of its last operation."""
        return () if self._last is None else self._last._successors

    @property
    def predecessors(self) -> Iterator[Block]:
        """Yields the blocks of its region from which control may come, once for each edge, in no particular order."""
        for op, count in self._branches.items():
            block = op.parent
            if block is not None and block.parent is self.parent is not None and block._last is op:
                for _ in range(count):
                    yield block

    @property
    def only_predecessor(self) -> Block | None:
        """The only block from which control may come, if it has one edge."""
        before = self.predecessors
        result = next(before, None)
        return result if next(before, None) is None else None

    def positions(self, is_counted: Callable[[Operation], bool]) -> Mapping[Operation, int]:
        """Returns how many operations that count stand before each one. Only the first call after a change visits them.

        `is_counted` is a function of a module, which is the same at each call.
        """
        known = self._positions
        if known is not None and known[0] == self.changes and known[1] is is_counted:
            return known[2]
        result: dict[Operation, int] = {}
        count = 0
        for op in self.operations:
            result[op] = count
            count += is_counted(op)
        self._positions = self.changes, is_counted, result
        return result

    def append(self, op: Op) -> Op:
        """Puts an operation at the end and returns it."""
        if op.parent is not None:
            raise ValueError(f"{op.name} is already in a block")
        op.parent = self
        op._next = None
        op._previous = last = self._last
        if last is None:
            self._first = op
        else:
            last._next = op
        self._last = op
        op._order = self._count
        self._count += 1
        self.changes += 1
        return op

    def insert_before(self, anchor: Operation, op: Op) -> Op:
        """Puts an operation directly before one of this block and returns it."""
        if anchor.parent is not self:
            raise ValueError("the anchor is in another block")
        self._link(op, anchor._previous, anchor)
        return op

    def insert_after(self, anchor: Operation, op: Op) -> Op:
        """Puts an operation directly after one of this block and returns it."""
        if anchor.parent is not self:
            raise ValueError("the anchor is in another block")
        self._link(op, anchor, anchor._next)
        return op

    def add_argument(self, type: Type, name: str = "") -> Value:
        """Adds an argument at the end and returns it."""
        result = Value(type, self, len(self.arguments), name)
        self.arguments = (*self.arguments, result)
        return result

    def add_arguments(self, types: Iterable[Type], origins: Iterable[Origin | None] = ()) -> tuple[Value, ...]:
        """Adds several arguments at the end and returns them."""
        first = len(self.arguments)
        result = tuple([Value(t, self, first + n) for n, t in enumerate(types)])
        self.origins = (*self.origins, *[None] * (first - len(self.origins)), *origins)
        self.arguments += result
        return result

    def keep_arguments(self, positions: Sequence[int]) -> None:
        """Removes all its arguments except those at the given positions, in order."""
        origins = (*self.origins, *[None] * (len(self.arguments) - len(self.origins)))
        self.origins = tuple([origins[n] for n in positions]) if self.origins else ()
        self.arguments = tuple([self.arguments[n] for n in positions])
        for n, argument in enumerate(self.arguments):
            argument.index = n

    def origin_of(self, argument: Value) -> Origin | None:
        """Returns the location of an argument, if known."""
        return self.origins[argument.index] if argument.index < len(self.origins) else None

    def _link(self, op: Operation, before: Operation | None, after: Operation | None) -> None:
        if op.parent is not None:
            raise ValueError(f"{op.name} is already in a block")
        op.parent = self
        op._previous = before
        op._next = after
        if before is None:
            self._first = op
        else:
            before._next = op
        if after is None:
            self._last = op
            op._order = self._count
        else:
            after._previous = op
            self._numbered = False
        self._count += 1
        self.changes += 1

    def _unlink(self, op: Operation) -> None:
        before, after = op._previous, op._next
        if before is None:
            self._first = after
        else:
            before._next = after
        if after is None:
            self._last = before
        else:
            after._previous = before
            self._numbered = False
        self._count -= 1
        self.changes += 1
        op.parent = op._previous = op._next = None

    def _number(self) -> None:
        if not self._numbered:
            for n, op in enumerate(self.operations):
                op._order = n
            self._numbered = True


class Region:
    """A list of blocks owned by an operation."""

    __slots__ = ("blocks", "parent")

    def __init__(self, blocks: Iterable[Block] = ()) -> None:
        self.blocks: list[Block] = []
        self.parent: Operation | None = None
        for block in blocks:
            self.add(block)

    def __repr__(self) -> str:
        owner = "" if self.parent is None else f" of {self.parent.name}"
        return f"<Region{owner}: {plural(len(self.blocks), 'block')}>"

    @property
    def block(self) -> Block:
        """Its only block. Raises: ValueError when it has none or several."""
        if len(self.blocks) != 1:
            raise ValueError(f"the region has {plural(len(self.blocks), 'block')}, not one")
        return self.blocks[0]

    def add(self, block: Block) -> Block:
        """Appends a block and returns it."""
        if block.parent is not None:
            raise ValueError("the block is already in a region")
        block.parent = self
        self.blocks.append(block)
        return block

    def predecessors(self) -> dict[Block, list[Block]]:
        """Returns for each of its blocks the predecessors in order, once for each edge."""
        result: dict[Block, list[Block]] = {block: [] for block in self.blocks}
        for block in self.blocks:
            for successor in block.successors:
                result.setdefault(successor, []).append(block)
        return result

    def take(self) -> Region:
        """Moves its blocks to a new region and returns that."""
        taken = Region()
        blocks, self.blocks = self.blocks, []
        for block in blocks:
            block.parent = None
            taken.add(block)
        return taken
