"""Reads the operators of TableGen, and checks the types of their operands.

Source: TableGen Programmer's Reference, appendix A.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from commonir.base.suggestions import did_you_mean
from commonir.base.tuples import NamedTuple
from commonir.tablegen.folding import FOLDERS
from commonir.tablegen.lexer import Location
from commonir.tablegen.operators import Operation, Repetition
from commonir.tablegen.types import ANY_RECORD, BIT, DAG, INT, STRING, BitsType, ListType, RecordType, Type, common_type
from commonir.tablegen.value_parser import ValueParser
from commonir.tablegen.values import UNSET, Int, String, Value, Variable

MAX_LENGTH = 2**63 - 1
"""The default length of `!substr`."""


class _Form(NamedTuple):
    """The signature of an operator: a letter for each operand, and the type of the result.

    Letters: i a number, s a string, l a list, d a dag, r a record, v any value, z a value with a length, p a position
    in a dag (a number or a name), c a comparable value, t a list of strings or numbers.
    """

    operands: str
    result: Type | None
    optional: int = 0
    """The number of optional operands at the end."""
    is_chain: bool = False
    """Whether it takes more operands, as nested operators."""


_FORMS: Mapping[str, _Form] = {
    **dict.fromkeys(("add", "and", "mul", "or", "xor"), _Form("ii", INT, is_chain=True)),
    **dict.fromkeys(("div", "sub", "shl", "sra", "srl"), _Form("ii", INT)),
    **dict.fromkeys(("eq", "ne", "lt", "le", "gt", "ge"), _Form("cc", BIT)),
    **dict.fromkeys(("not", "logtwo"), _Form("i", INT)),
    **dict.fromkeys(("size", "empty"), _Form("z", INT)),
    **dict.fromkeys(("tolower", "toupper"), _Form("s", STRING)),
    **dict.fromkeys(("head", "tail", "listflatten"), _Form("l", None)),
    "con": _Form("dd", DAG, is_chain=True),
    "find": _Form("ssi", INT, optional=1),
    "getdagname": _Form("dp", STRING),
    "getdagopname": _Form("d", STRING),
    "initialized": _Form("v", INT),
    "interleave": _Form("ts", STRING),
    "listconcat": _Form("ll", None, is_chain=True),
    "listremove": _Form("ll", None),
    "listsplat": _Form("vi", None),
    "match": _Form("ss", BIT),
    "repr": _Form("v", STRING),
    "setdagarg": _Form("dpv", DAG),
    "setdagname": _Form("dps", DAG),
    "setdagop": _Form("dr", DAG),
    "setdagopname": _Form("ds", DAG),
    "strconcat": _Form("ss", STRING, is_chain=True),
    "subst": _Form("vvv", None),
    "substr": _Form("sii", STRING, optional=1),
}
_EXPECTED: Mapping[str, Type] = {"i": INT, "s": STRING, "d": DAG}
_DESCRIPTIONS = {
    "i": "a number",
    "s": "text",
    "l": "a list",
    "d": "a dag",
    "r": "a record",
    "z": "a list, dag or text",
    "p": "a number or a name",
    "c": "a number, text or record",
    "t": "a list of text or numbers",
}


def _fits(letter: str, type: Type | None) -> bool:
    """Returns whether a value of a type may be an operand with a letter of `_Form`."""
    if letter == "v" or (type is None and letter != "l"):
        return True
    is_number = type is not None and type.converts_to(INT)
    match letter:
        case "i":
            return is_number
        case "s":
            return type is STRING
        case "l":
            return isinstance(type, ListType)
        case "d":
            return type is DAG
        case "r":
            return isinstance(type, RecordType)
        case "z":
            return type in (STRING, DAG) or isinstance(type, ListType)
        case "p":
            return is_number or type is STRING
        case "c":
            return is_number or type is STRING or isinstance(type, RecordType)
        case _:
            return isinstance(type, ListType) and (type.element is STRING or type.element.converts_to(INT))


class OperatorParser(ValueParser):
    """Reads values with operators."""

    def parse_operator(self, expected: Type | None) -> Value:
        at = self.tokens.location
        op = self.tokens.advance()[1:]
        match op:
            case "foreach" | "filter":
                return self._parse_repetition(op, expected, at)
            case "foldl":
                return self._parse_foldl(expected, at)
            case "if":
                return self._parse_if(expected, at)
            case "cond":
                return self._parse_cond(expected, at)
            case "cast" | "isa" | "exists" | "instances" | "getdagarg" | "getdagop":
                return self._parse_typed(op, at)
            case "range":
                return self._parse_range(at)
            case "dag":
                return self._parse_new_dag(at)
            case _ if op in _FORMS:
                return self._parse_plain(op, _FORMS[op], expected, at)
            case _:
                return self.refuse(
                    f"there is no operator '!{op}'", at, help=did_you_mean(op, [*FOLDERS, "foreach", "filter"])
                )

    def _folded(self, op: str, args: Sequence[Value], type: Type, at: Location, declared: Type | None = None) -> Value:
        built = Operation(op, tuple(args), type, declared)
        return self.evaluated(at, lambda: built.folded(self.context))

    def _require(self, op: str, letter: str, value: Value, at: Location) -> None:
        if not _fits(letter, value.type):
            self.refuse(f"'!{op}' needs {_DESCRIPTIONS[letter]}, not '{value}' of type '{value.type or '?'}'", at)

    def _parse_operands(self, op: str, expected: Sequence[Type | None]) -> list[tuple[Value, Location]]:
        """Reads operands in parentheses; further ones have the last of the expected types."""
        self.expect("(", f"after '!{op}'")
        result: list[tuple[Value, Location]] = []
        while True:
            at = self.tokens.location
            result.append((self.parse_value(expected[min(len(result), len(expected) - 1)]), at))
            if not self.take(","):
                break
        self.expect(")", f"after the operands of '!{op}'")
        return result

    # -- plain operators

    def _parse_plain(self, op: str, form: _Form, expected: Type | None, at: Location) -> Value:
        letters = form.operands
        lists = expected if letters[0] == "l" and op in ("tail", "listconcat", "listremove") else None
        operands = self._parse_operands(op, [_EXPECTED.get(letter, lists) for letter in letters])
        least = len(letters) - form.optional
        if len(operands) < least or (len(operands) > len(letters) and not form.is_chain):
            count = str(least) if not form.optional else f"{least} to {len(letters)}"
            self.refuse(
                f"'!{op}' takes {count} operands{' or more' if form.is_chain else ''}, found {len(operands)}", at
            )
        for index, (value, value_at) in enumerate(operands):
            self._require(op, letters[min(index, len(letters) - 1)], value, value_at)
        args = [value for value, _ in operands]
        result = form.result or self._result_of(op, args, at)
        if form.is_chain:
            return self.evaluated(at, lambda: self._chain(op, args, result))
        match op:
            case "substr" if len(args) == 2:
                args.append(Int(MAX_LENGTH))
            case "find" if len(args) == 2:
                args.append(Int(0))
            case _:
                self._check_comparable(op, args, at)
        return self._folded(op, args, result, at)

    def _chain(self, op: str, args: Sequence[Value], type: Type) -> Value:
        if len(args) == 1:
            return args[0]
        result = args[-1]
        for arg in reversed(args[:-1]):
            result = Operation(op, (arg, result), type).folded(self.context)
        return result

    def _check_comparable(self, op: str, args: Sequence[Value], at: Location) -> None:
        if op not in ("eq", "ne", "lt", "le", "gt", "ge"):
            return
        types = [arg.type for arg in args if arg.type is not None]
        if op not in ("eq", "ne") and any(isinstance(each, RecordType) for each in types):
            self.refuse(f"'!{op}' does not compare records", at)
        if len(types) == 2 and common_type(types[0], types[1]) is None:
            self.refuse(f"'!{op}' does not compare '{types[0]}' with '{types[1]}'", at)

    def _result_of(self, op: str, args: Sequence[Value], at: Location) -> Type:
        first = args[0].type
        if op == "listsplat":
            if first is None:
                self.refuse("'!listsplat' does not know the type of '?'", at)
            return ListType(first)
        if op == "subst":
            return self._subst_type(args, at)
        assert isinstance(first, ListType)
        if op == "head":
            return first.element
        if op == "listflatten":
            return first.element if isinstance(first.element, ListType) else first
        if op in ("listconcat", "listremove"):
            for arg in args[1:]:
                assert isinstance(arg.type, ListType)
                shared = common_type(first, arg.type)
                if shared is None:
                    self.refuse(f"'!{op}' on lists of types that do not go together: '{first}' and '{arg.type}'", at)
                first = shared if op == "listconcat" else first
        return first

    def _subst_type(self, args: Sequence[Value], at: Location) -> Type:
        result = args[2].type
        if result is None:
            self.refuse("'!subst' in '?'", at)
        return result

    # -- operators with types

    def _parse_typed(self, op: str, at: Location) -> Value:
        declared = self._parse_declared_type(op)
        if op == "instances":
            return self._parse_instances(declared, at)
        result = self._parse_operands(op, [DAG if op.startswith("getdag") else None, None])
        args = [value for value, _ in result]
        if len(args) != (2 if op == "getdagarg" else 1):
            self.refuse(f"'!{op}' has {len(args)} operands", at)
        match op:
            case "cast":
                return self._parsed_cast(args[0], declared, at)
            case "getdagop":
                self._require(op, "d", args[0], at)
                return self._folded(op, args, declared, at, declared)
            case "getdagarg":
                self._require(op, "d", args[0], at)
                self._require(op, "p", args[1], at)
                return self._folded(op, args, declared, at, declared)
            case "exists":
                self._require(op, "s", args[0], at)
                if not isinstance(declared, RecordType):
                    self.refuse(f"'!exists' asks for records, not for '{declared}'", at)
            case _:
                pass
        return self._folded(op, args, INT, at, declared)

    def _parse_declared_type(self, op: str) -> Type:
        if op == "getdagop" and self.tokens.kind != "<":
            return ANY_RECORD
        self.expect("<", f"after '!{op}'")
        declared = self.parse_type()
        self.expect(">", f"after the type of '!{op}'")
        return declared

    def _parsed_cast(self, value: Value, declared: Type, at: Location) -> Value:
        mine = value.type
        if mine is not None and not _may_cast(mine, declared):
            self.refuse(f"'{value}' of type '{mine}' cannot become '{declared}'", at)
        if isinstance(declared, RecordType) and not declared.classes:
            self.refuse("'!cast' needs a class", at)
        return self._folded("cast", [value], declared, at, declared)

    def _parse_instances(self, declared: Type, at: Location) -> Value:
        if not isinstance(declared, RecordType):
            self.refuse(f"'!instances' asks for records, not for '{declared}'", at)
        self.expect("(", "after '!instances'")
        pattern: Value = String(".*")
        if self.tokens.kind != ")":
            pattern = self.parse_value(STRING)
            self._require("instances", "s", pattern, at)
        self.expect(")", "after the operand of '!instances'")
        return self._folded("instances", [pattern], ListType(declared), at, declared)

    def _parse_range(self, at: Location) -> Value:
        result = [value for value, _ in self._parse_operands("range", [None])]
        if len(result) > 3:
            self.refuse(f"'!range' takes 1 to 3 operands, found {len(result)}", at)
        if len(result) == 1 and isinstance(result[0].type, ListType):
            result = [self._folded("size", result, INT, at)]
        for value in result:
            self._require("range", "i", value, at)
        if len(result) == 1:
            result.insert(0, Int(0))
        if len(result) == 2:
            result.append(Int(1))
        return self._folded("range", result, ListType(INT), at)

    def _parse_new_dag(self, at: Location) -> Value:
        result = self._parse_operands("dag", [None, None, ListType(STRING)])
        if len(result) != 3:
            self.refuse(f"'!dag' takes 3 operands, found {len(result)}", at)
        (op, op_at), (values, values_at), (names, names_at) = result
        self._require("dag", "r", op, op_at)
        for value, value_at in ((values, values_at), (names, names_at)):
            if value is not UNSET and not isinstance(value.type, ListType):
                self.refuse(f"'!dag' needs a list, not '{value}'", value_at)
        if isinstance(names.type, ListType) and names.type.element is not STRING:
            self.refuse(f"the names of '!dag' are text, not '{names.type.element}'", names_at)
        if values is UNSET and names is UNSET:
            self.refuse("'!dag' with neither arguments nor names", at)
        return self._folded("dag", [op, values, names], DAG, at)

    # -- choices

    def _parse_if(self, expected: Type | None, at: Location) -> Value:
        result = self._parse_operands("if", [None, expected])
        if len(result) != 3:
            self.refuse(f"'!if' takes 3 operands, found {len(result)}", at)
        args = [value for value, _ in result]
        self._require("if", "i", args[0], at)
        return self._folded("if", args, self._shared_type("if", args[1:], expected, at), at)

    def _shared_type(self, op: str, values: Sequence[Value], expected: Type | None, at: Location) -> Type:
        result: Type | None = None
        for value in values:
            if value.type is not None:
                shared = value.type if result is None else common_type(result, value.type)
                if shared is None:
                    self.refuse(f"'!{op}' between types that do not go together: '{result}' and '{value.type}'", at)
                result = shared
        if result is None and expected is None:
            self.refuse(f"the type of '!{op}' is not known", at)
        return result or expected or INT

    def _parse_cond(self, expected: Type | None, at: Location) -> Value:
        self.expect("(", "after '!cond'")
        args: list[Value] = []
        while self.tokens.kind != ")":
            condition = self.parse_value(BIT)
            self._require("cond", "i", condition, at)
            self.expect(":", "after a condition")
            args += [condition, self.parse_value(expected)]
            if not self.take(","):
                break
        self.expect(")", "after the cases of '!cond'")
        if not args:
            self.refuse("'!cond' without conditions", at)
        return self._folded("cond", args, self._shared_type("cond", args[1::2], expected, at), at)

    # -- repetition

    def _parse_variable(self, type: Type) -> Variable:
        name = self.expect_id("the name of a variable")
        if self.record is not None and name in self.record.fields:
            self.refuse(f"the variable '{name}' has the name of a field")
        return Variable(name, type)

    def _parse_repetition(self, op: str, expected: Type | None, at: Location) -> Value:
        self.expect("(", f"after '!{op}'")
        name = self.expect_id("the name of a variable")
        if self.record is not None and name in self.record.fields:
            self.refuse(f"the variable '{name}' has the name of a field", at)
        self.expect(",", "after the name of the variable")
        over = self.parse_value(expected if op == "filter" else None)
        type = over.type or INT
        if isinstance(type, ListType):
            variable = Variable(name, type.element)
            inner = expected.element if op == "foreach" and isinstance(expected, ListType) else None
        elif type is DAG and op == "foreach":
            variable, inner = Variable(name, DAG), DAG
        else:
            self.refuse(f"'!{op}' goes over a list{' or dag' if op == 'foreach' else ''}, not over '{over}'", at)
        self.expect(",", "after the list")
        body = self._parse_body((variable,), BIT if op == "filter" else inner)
        self.expect(")", f"after the operands of '!{op}'")
        type = self._foreach_type(type, body, inner, at) if op == "foreach" else type
        built = Repetition(op, (variable,), over, body, type)
        return self.evaluated(at, lambda: built.folded(self.context))

    def _foreach_type(self, type: Type, body: Value, expected: Type | None, at: Location) -> Type:
        if type is DAG:
            return DAG
        element = body.type or expected
        if element is None:
            self.refuse("the type of '!foreach' is not known", at)
        return ListType(element)

    def _parse_body(self, variables: Sequence[Variable], expected: Type | None) -> Value:
        with self.scoped() as scope:
            scope.variables.update((each.name, each) for each in variables)
            return self.parse_value(expected)

    def _parse_foldl(self, expected: Type | None, at: Location) -> Value:
        self.expect("(", "after '!foldl'")
        start = self.parse_value(expected)
        type = start.type
        if type is None:
            self.refuse("'!foldl' begins with '?'", at)
        self.expect(",", "after the first value")
        over = self.parse_value()
        if not isinstance(over.type, ListType):
            self.refuse(f"'!foldl' goes over a list, not over '{over}'", at)
        self.expect(",", "after the list")
        result = self._parse_variable(type)
        self.expect(",", "after the name of a variable")
        item = self._parse_variable(over.type.element)
        if item.name == result.name:
            self.refuse(f"both variables of '!foldl' have the name '{item.name}'", at)
        self.expect(",", "after the name of a variable")
        body = self._parse_body((result, item), type)
        self.expect(")", "after the operands of '!foldl'")
        if body.type is not None and not body.type.converts_to(type):
            self.refuse(f"'!foldl' begins with a value of type '{type}' and goes on with '{body.type}'", at)
        built = Repetition("foldl", (result, item), over, body, type, start)
        return self.evaluated(at, lambda: built.folded(self.context))


def _may_cast(old: Type, new: Type) -> bool:
    """Returns whether '!cast' between two types is possible for some values."""
    if old.converts_to(new) or new.converts_to(old):
        return True
    if old is STRING:
        return isinstance(new, RecordType)
    if new is STRING:
        return old.converts_to(INT) or isinstance(old, RecordType)
    if isinstance(old, BitsType) and isinstance(new, BitsType):
        return False
    return isinstance(old, RecordType) and isinstance(new, RecordType)
