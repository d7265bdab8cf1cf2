"""Assembly formats compiled into steps that write operations: the inverse of `text/custom_forms.py`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeAlias

from commonir.base.diagnostics import DiagnosticError
from commonir.ir.printing import Inexpressible, Piece
from commonir.ods import Op, infer
from commonir.ods.fields import FieldKind
from commonir.text import assembly
from commonir.text.directives import DIRECTIVES, Arguments
from commonir.text.form_printer import FormPrinter
from commonir.text.form_writer import FormPlan, Writer

Step: TypeAlias = "Callable[[Writer], None]"
"""Writes an element of a form."""


class CompiledFormat:
    """A compiled format: the functions that write its elements."""

    __slots__ = ("_plan", "_steps")

    def __init__(self, definition: type[Op]) -> None:
        self._plan = FormPlan(definition)
        self._steps = _compiled(definition, self._plan.form.elements)

    def write(self, printer: FormPrinter, op: Op) -> list[Piece]:
        """Returns the text of an operation.

        Raises: Inexpressible when its format cannot express it.
        """
        _check_expressible(op, self._plan)
        omitted = self._plan.omitted
        if omitted is not None and not omitted.agree(op, printer.inferred):
            raise Inexpressible
        writer = Writer(printer, op, self._plan)
        for step in self._steps:
            step(writer)
        writer.done.append(writer.text)
        return writer.done


@cache
def compiled_format(definition: type[Op]) -> CompiledFormat:
    """Returns the compiled format of a definition."""
    return CompiledFormat(definition)


def _compiled(definition: type[Op], elements: Sequence[assembly.Element]) -> tuple[Step, ...]:
    return tuple([_step(definition, e) for e in elements])


def _step(definition: type[Op], element: assembly.Element) -> Step:
    """Returns the function that writes an element."""
    match element:
        case assembly.Literal(text=text):
            return _literal(text)
        case assembly.Variable(field=field):
            if field.kind is FieldKind.OPERAND and field.is_required:
                return _operand(definition.places[field].input, element)
            return lambda writer: writer.variable(element)
        case assembly.TypeOf(group=group):
            return _types_of(definition, group, element.short)
        case assembly.AttributeDictionary(keyword=keyword):
            return lambda writer: writer.attributes(keyword)
        case assembly.Custom(name=name, arguments=arguments):
            return _directive(name, arguments)
        case assembly.FunctionalType(inputs=inputs, results=results):
            return lambda writer: writer.function_type(writer.types(inputs), writer.types(results))
        case assembly.Optional():
            return _optional(definition, element)
        case assembly.AnyOrder():
            return _any_order(definition, element)
        case assembly.Operands():
            return lambda writer: writer.put(writer.printer.values(writer.op.operands))
        case assembly.Regions():
            return lambda writer: writer.regions(writer.op.regions)
        case assembly.Successors():
            return lambda writer: writer.put(", ".join(map(writer.printer.label, writer.op.successors)))
        case assembly.PropertyDictionary():
            return Writer.properties
        case assembly.Signature():
            return Writer.signature
        case assembly.Results() | assembly.Reference():
            return Writer.refuse


def _literal(text: str) -> Step:
    """Returns the function that writes a keyword or punctuation, with the blanks around it."""
    if not text.strip():
        return lambda writer: writer.blank(text)
    is_mark = len(text) == 1
    closes, closes_after_mark = is_mark and text in "<>(){}[],", is_mark and text in ">)}],"
    space, mark = text not in ("<", "(", "{", "["), not (text[0].isalpha() or text[0] == "_")
    spaced = f" {text}"

    def write(writer: Writer) -> None:
        close = closes_after_mark if writer.punctuation else closes
        writer.text += text if close or not writer.space else spaced
        writer.space, writer.punctuation = space, mark

    return write


def _operand(position: int, element: assembly.Variable) -> Step:
    """Returns the function that writes a required operand, by its position among the operand fields."""

    def write(writer: Writer) -> None:
        op = writer.op
        if op.operand_offsets is not None:
            writer.variable(element)
            return
        name = writer.printer.naming.value(op.operands[position])
        writer.text += f" {name}" if writer.space or not writer.punctuation else name
        writer.space, writer.punctuation = True, False

    return write


def _types_of(definition: type[Op], group: assembly.Group, short: str) -> Step:
    """Returns the function that writes the types of a group of values."""
    results = definition.layout.results
    if (
        isinstance(group, assembly.Variable)
        and not short
        and [group.field] == [*results]
        and not (group.field.variadic or group.field.optional)
    ):
        return _type_of_result

    def write(writer: Writer) -> None:
        types = writer.types(group)
        if isinstance(group, assembly.Variable) and group.field.group_sizes:
            shown = writer.grouped(group.field, [writer.printer.type(t) for t in types])
        elif not short:
            shown = ", ".join(map(writer.printer.type, types)) if len(types) != 1 else writer.printer.type(types[0])
        else:
            shown = ", ".join([writer.type(t, short) for t in types])
        writer.put(shown)

    return write


def _type_of_result(writer: Writer) -> None:
    """Writes the type of the only result."""
    shown = ", ".join([writer.printer.type(r.type) for r in writer.op.results])
    writer.text += f" {shown}" if writer.space or not writer.punctuation else shown
    writer.space, writer.punctuation = True, False


def _directive(name: str, arguments: Arguments) -> Step:
    written = DIRECTIVES[name].write

    def write(writer: Writer) -> None:
        writer.text += " " if writer.space or not writer.punctuation else ""
        written(writer, arguments)
        writer.space, writer.punctuation = True, False

    return write


def _optional(definition: type[Op], group: assembly.Optional) -> Step:
    """Returns the function that writes the elements of a group, or its alternative elements."""
    there = _compiled(definition, [e for e in group.elements if not group.is_implied(e)])
    otherwise = _compiled(definition, [e for e in group.otherwise if not group.is_implied(e)])
    anchor, inverted = group.anchor, group.inverted
    lost_if_absent, lost_if_there = _guarded(group.elements, anchor), _guarded(group.otherwise, anchor)

    def write(writer: Writer) -> None:
        is_there = writer.is_present(anchor) != inverted
        lost = lost_if_there if is_there else lost_if_absent
        if lost and any(_has_content(writer, e) for e in lost):
            writer.refuse()
        for step in there if is_there else otherwise:
            step(writer)

    return write


def _guarded(elements: Sequence[assembly.Element], anchor: assembly.Element) -> tuple[assembly.Element, ...]:
    """Returns the elements of a branch of a group that may have content although the branch is not written."""
    fields = [e.field for e in (anchor, _group_of(anchor)) if isinstance(e, assembly.Variable)]

    def follows(element: assembly.Element) -> bool:
        inner = _group_of(element)
        return element is anchor or (isinstance(inner, assembly.Variable) and inner.field in fields)

    return tuple([e for e in elements if not isinstance(e, assembly.Literal) and not follows(e)])


def _group_of(element: assembly.Element) -> assembly.Element:
    return element.group if isinstance(element, assembly.TypeOf) else element


def _has_content(writer: Writer, element: assembly.Element) -> bool:
    """Returns whether an element that is not written would have written something of the operation."""
    match element:
        case assembly.Optional(elements=elements, otherwise=otherwise):
            return any(_has_content(writer, e) for e in (*elements, *otherwise))
        case assembly.AnyOrder(clauses=clauses):
            return any(_has_content(writer, e) for clause in clauses for e in clause)
        case assembly.FunctionalType(inputs=inputs, results=results):
            return bool(writer.types(inputs) or writer.types(results))
        case _:
            return writer.is_present(element)


def _any_order(definition: type[Op], group: assembly.AnyOrder) -> Step:
    clauses = [
        (clause, _compiled(definition, [e for e in clause if not group.is_implied(clause, e)]))
        for clause in group.clauses
    ]

    def write(writer: Writer) -> None:
        for clause, steps in clauses:
            if any(map(writer.is_present, clause)):
                for step in steps:
                    step(writer)

    return write


def _check_expressible(op: Op, plan: FormPlan) -> None:
    """Raises Inexpressible if operands or regions are missing, or result types neither in the format nor inferred."""
    offsets = op.operand_offsets
    if offsets is not None and any(offsets[n + 1] - offsets[n] != 1 for n in plan.required):
        raise Inexpressible
    if plan.region_count is not None and len(op.regions) != plan.region_count:
        raise Inexpressible
    if not plan.form.states_results and not plan.is_mlir:
        try:
            inferred = infer(op).types
        except DiagnosticError:
            raise Inexpressible from None
        if inferred != tuple([r.type for r in op.results]):
            raise Inexpressible
