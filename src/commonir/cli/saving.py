"""Saves what a run took and computed: outputs, inputs, inner values, states."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Protocol

from commonir.base import codes
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.suggestions import did_you_mean
from commonir.base.tuples import NamedTuple
from commonir.cli.choices import parse_dims
from commonir.cli.session import Session

if TYPE_CHECKING:
    from commonir import Module, State
    from commonir.api import Array, Port

_IMAGE = ".png"
_JSON = ".json"
ARCHIVES = (".npz", ".safetensors")


class Ran(NamedTuple):
    """A run: the function, its explicit and all its inputs, its outputs, the final states, and the engine."""

    program: Module
    function: str | None
    given: Mapping[str, Array]
    drawn: Mapping[str, Array]
    outputs: Mapping[str, Array]
    state: State
    engine: str


class SaveOptions(Protocol):
    """The options that say what to save, and how values inside are computed again."""

    @property
    def save(self) -> str | None: ...
    @property
    def save_inputs(self) -> str | None: ...
    @property
    def save_all(self) -> str | None: ...
    @property
    def save_state(self) -> str | None: ...
    @property
    def values(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def dims(self) -> tuple[str, ...]: ...
    @property
    def steps(self) -> int | None: ...


def check_suffixes(options: SaveOptions) -> None:
    """Raises: WRONG_USAGE for a file name with an unknown suffix, before anything is computed."""
    _check_suffix(options.save, *ARCHIVES, _IMAGE, _JSON)
    _check_suffix(options.save_inputs, *ARCHIVES, _JSON)
    for archive in (options.save_state, options.save_all):
        _check_suffix(archive, *ARCHIVES)
    if options.save_inputs is not None and options.save_inputs == options.save and options.save_inputs.endswith(_JSON):
        message = "a .json file has inputs or outputs, not both"
        raise DiagnosticError(Diagnostic(codes.WRONG_USAGE, message, help="save both to an .npz archive"))
    if options.steps is not None and (options.save_inputs or options.save_all):
        message = "inputs and inner values of several steps are not saved"
        raise DiagnosticError(Diagnostic(codes.WRONG_USAGE, message, help="leave out `--steps`, or save the outputs"))


def save_runs(
    session: Session, runs: Sequence[Ran], outputs: Sequence[Mapping[str, Array]], options: SaveOptions
) -> dict[str, str]:
    """Saves what the options name of runs on one or several sets of inputs, and returns the files; `outputs` are the
    arrays in the outputs of each.
    """
    saved: dict[str, str] = {}
    api, stored = session.api, session.stored
    inputs = [api.flat_arrays(ran.program, ran.drawn, function=ran.function)[0] for ran in runs]
    if options.save is not None:
        saved["outputs"] = options.save
        if options.save.lower().endswith(_JSON):
            _save_json(session, options.save, outputs, [ran.outputs for ran in runs], runs[0].engine)
        elif options.save == options.save_inputs:
            saved = {"inputs and outputs": options.save}
            both = (stored.in_one_archive(i, o.items()) for i, o in zip(inputs, outputs, strict=True))
            _save_arrays(session, options.save, stored.numbered_items(both, len(runs)))
        else:
            ports = api.output_ports(runs[0].program, function=runs[0].function)
            save_outputs(session, options.save, stored.numbered(outputs), ports)
    if options.save_inputs is not None and options.save_inputs != options.save:
        saved["inputs"] = options.save_inputs
        if options.save_inputs.lower().endswith(_JSON):
            _save_json(session, options.save_inputs, inputs, [ran.drawn for ran in runs], None)
        else:
            _save_arrays(session, options.save_inputs, stored.numbered(inputs).items())
    if options.save_all is not None:
        saved["inputs, inner values and outputs"] = options.save_all
        every = (_all_arrays(session, *part, options) for part in zip(runs, inputs, outputs, strict=True))
        _save_arrays(session, options.save_all, stored.numbered_items(every, len(runs)))
    if options.save_state is not None:
        saved["states"] = options.save_state
        _save_arrays(session, options.save_state, runs[0].state.items())
    return saved


def _all_arrays(
    session: Session, ran: Ran, inputs: Mapping[str, Array], outputs: Mapping[str, Array], options: SaveOptions
) -> Iterator[tuple[str, Array]]:
    """Yields the inputs, outputs and inner values of a run under their names in an archive."""
    inner = session.api.computed_values(
        ran.program,
        ran.drawn,
        options.values,
        engine=ran.engine,
        function=ran.function,
        seed=options.seed,
        dims=parse_dims(options.dims, "--set"),
    )
    rest = ((name, array) for name, array in inner if name not in outputs)
    return session.stored.in_one_archive(inputs, chain(outputs.items(), rest))


def _save_json(
    session: Session,
    path: str,
    arrays: Sequence[Mapping[str, Array]],
    values: Sequence[Mapping[str, object]],
    runner: str | None,
) -> None:
    """Writes sets of arrays as polygraphy does, of a runner its outputs; of values such as maps one set, as JSON values
    by name.
    """
    if all(list(part) == list(whole) for part, whole in zip(arrays, values, strict=True)):
        stored = session.stored
        widened = (
            stored.save_inputs_json(path, arrays)
            if runner is None
            else stored.save_outputs_json(path, arrays, f"commonir-{runner}")
        )
        _note_widened(session, path, widened)
        return
    if len(values) > 1:
        message = "values that are not tensors are saved for one set of inputs"
        raise DiagnosticError(Diagnostic(codes.WRONG_USAGE, message, help="save an .npz archive"))
    session.arrays.save_json(path, session.api.outputs_as_json(values[0]))


def _check_suffix(path: str | None, *known: str) -> None:
    """Raises: WRONG_USAGE for a file name with an unknown suffix, before anything is computed."""
    if path is not None and os.path.splitext(path)[1].lower() not in ("", *known):
        message = f"'{path}' must have the suffix {' or '.join(known)}"
        raise DiagnosticError(Diagnostic(codes.WRONG_USAGE, message, help="use a file name with one of these suffixes"))


def save_outputs(session: Session, save: str, outputs: Mapping[str, Array], ports: Mapping[str, Port]) -> None:
    """Saves outputs by name in an archive, or one of them as the image that its port says it is."""
    if not save.lower().endswith(_IMAGE):
        _save_arrays(session, save, outputs.items())
        return
    name, equals, path = save.rpartition("=")
    images = {n: p for n, p in ports.items() if p.image is not None and n in outputs}
    expected = name if equals else next(iter(images), "") if len(images) == 1 else ""
    if expected not in images:
        listed = f"image outputs: {', '.join(images) or 'none'}"
        message = (
            f"the output '{expected}' is not an image"
            if expected
            else "there are several image outputs"
            if images
            else "the program has no image output"
        )
        help = did_you_mean(expected, images) or "name one, as in `--save image=out.png`, or save an .npz archive"
        raise DiagnosticError(Diagnostic(codes.WRONG_USAGE, message, notes=[listed], help=help))
    session.api.write_image(path if equals else save, outputs[expected], images[expected])


def _save_arrays(session: Session, path: str, arrays: Iterable[tuple[str, Array]]) -> None:
    _note_widened(session, path, session.arrays.save_arrays(path, arrays))


def _note_widened(session: Session, path: str, names: Iterable[str]) -> None:
    for name in names:
        session.findings.add(
            codes.WIDENED_OUTPUT, f"output '{name}' is saved as f32: numpy has no name for its type", file=path
        )
