"""Fields of records as Python values.

Source: MLIR operation definitions; TableGen Programmer's Reference.
"""

from __future__ import annotations

from collections.abc import Container, Iterator

from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.file_codes import WRONG_DEFINITION_RECORD
from commonir.tablegen import Record
from commonir.tablegen.lexer import Location
from commonir.tablegen.values import Bit, Dag, DefRef, Int, List, String, Value


def value_of(record: Record, name: str) -> Value | None:
    """Returns the value of a field; None when there is no such field."""
    field = record.fields.get(name)
    return None if field is None else field.value


def text_of(record: Record, name: str) -> str:
    """Returns a string field; "" when it is not set."""
    result = value_of(record, name)
    return result.value if isinstance(result, String) else ""


def place_in_text(record: Record, name: str, offset: int) -> Location:
    """Returns the position of a character of a string field, or what is known of it: of the literal, of the record."""
    result = value_of(record, name)
    if not isinstance(result, String) or result.place is None:
        return record.locations[0]
    file, start = result.place
    first = start + len("[{" if result.is_code else '"')
    # A literal with escapes, or of several parts, is longer than its value.
    return Location(file, first + offset) if file.text.startswith(result.value, first) else result.place


def states(record: Record, name: str) -> bool:
    """Returns whether a field has a value."""
    return isinstance(value_of(record, name), String | Int | Bit | List | Dag | DefRef)


def flag_of(record: Record, name: str) -> bool:
    """Returns a bit field."""
    value = value_of(record, name)
    return isinstance(value, Bit | Int) and value.value == 1


def number_of(record: Record, name: str, default: int = 0) -> int:
    """Returns an integer field."""
    result = value_of(record, name)
    return result.value if isinstance(result, Bit | Int) else default


def record_of(record: Record, name: str) -> Record | None:
    """Returns a record field."""
    result = value_of(record, name)
    return result.record if isinstance(result, DefRef) else None


def records_of(record: Record, name: str) -> Iterator[Record]:
    """Yields the records in a list field."""
    value = value_of(record, name)
    for item in value.items if isinstance(value, List) else ():
        if isinstance(item, DefRef):
            yield item.record


def texts_of(record: Record, name: str) -> tuple[str, ...]:
    """Returns the strings in a list field."""
    value = value_of(record, name)
    return tuple([item.value for item in value.items if isinstance(item, String)]) if isinstance(value, List) else ()


def arguments_of(record: Record, name: str) -> Iterator[tuple[Record, str]]:
    """Yields the arguments of a dag field: records with their names.

    Raises: WRONG_DEFINITION_RECORD for an argument that is not a record.
    """
    dag = value_of(record, name)
    for value, given in dag.args if isinstance(dag, Dag) else ():
        if not isinstance(value, DefRef):
            raise wrong(record, f"'{value}' in '{name}' of '{record.name_text}' is not a record")
        yield value.record, given or ""


def has_arguments(record: Record, name: str) -> bool:
    """Returns whether a dag field has arguments."""
    value = value_of(record, name)
    return isinstance(value, Dag) and bool(value.args)


def classes_of(record: Record) -> frozenset[str]:
    """Returns the names of the classes that a record derives from."""
    return frozenset([each.name_text for each in record.ancestors()])


def is_a(record: Record, *names: str) -> bool:
    """Returns whether a record derives from a class of one of these names."""
    return not classes_of(record).isdisjoint(names)


def flat_traits(op: Record, whole: Container[str] = ()) -> Iterator[Record]:
    """Yields the traits of an operation, with lists of traits flattened except those whose name is in `whole`."""
    pending = list(records_of(op, "traits"))[::-1]
    seen = 0
    while pending and seen < 10_000:
        record = pending.pop()
        seen += 1
        if is_a(record, "TraitList") and record.name_text not in whole:
            pending += list(records_of(record, "traits"))[::-1]
        else:
            yield record


def dag_operator(record: Record, name: str) -> str:
    """Returns the name of the operator of a dag field; "" when there is no dag."""
    dag = value_of(record, name)
    if not isinstance(dag, Dag):
        return ""
    return dag.op.record.name_text if isinstance(dag.op, DefRef) else str(dag.op)


def title_of(record: Record) -> str:
    """Returns the title of a record: its name, or that of its last class for an anonymous one."""
    if not record.is_anonymous or not record.parents:
        return record.name_text
    return record.parents[-1].name_text


def wrong(record: Record, message: str, help: str | None = None) -> DiagnosticError:
    """Returns the error that a record is invalid, at its position."""
    return DiagnosticError(finding(record, message, help))


def finding(record: Record, message: str, help: str | None = None) -> Diagnostic:
    """Returns a diagnostic at the position of a record."""
    return record.locations[0].diagnostic(WRONG_DEFINITION_RECORD, message, help=help)
