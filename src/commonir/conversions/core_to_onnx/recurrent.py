"""Rules for core operations that take the steps of a sequence one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from commonir.conversions.core_to_onnx.building import cast, constant
from commonir.conversions.core_to_onnx.structure import compute_outputs
from commonir.conversions.operands import dims_of, element_of
from commonir.dialects import core, onnx
from commonir.dialects.onnx.recurrent import FUNCTIONS
from commonir.ir.operation import Block, Region, Value
from commonir.ir.types import ElementType, TensorType, boolean, f32, f64, i32, i64, tensor
from commonir.ods import Op
from commonir.rewrite.legalize import Context, Mismatch, Result, rule

# Runtimes have these layers for no other element types.
_ELEMENTS = (f32, f64)


def _wide(element: ElementType) -> ElementType:
    return element if element in _ELEMENTS else f32


class _Functions:
    """The attributes that say which functions a layer has; None for all when they are the usual ones."""

    def __init__(self, op: core.Recurrent, usual: Iterable[core.GateFunction]) -> None:
        every = [*op.functions] * op.order.count
        self.names = None if op.functions == tuple(usual) else tuple([FUNCTIONS[f] for f in every])
        arguments = [*(op.given_parameters or [p for f in op.functions for p in f.usual])] * op.order.count
        alpha, beta = list[float](), list[float]()
        for f in every:
            count = len(f.usual)
            alpha, beta, arguments = (
                alpha + arguments[:1][:count],
                beta + arguments[1:2][: count - 1],
                arguments[count:],
            )
        self.alpha, self.beta = tuple(alpha) or None, tuple(beta) or None


def _bias(context: Context, of_input: Value | None, of_state: Value | None, element: ElementType) -> Value | None:
    """The biases of input and state side by side, zeros for one that is absent."""
    known = of_input if of_input is not None else of_state
    if known is None:
        return None
    rows = [d for d in dims_of(known) if isinstance(d, int)]
    parts = [
        constant(context, element_of(known), tuple(rows), (0.0,) * (rows[0] * rows[1])) if v is None else v
        for v in (of_input, of_state)
    ]
    return cast(onnx.Concat(tuple(parts), axis=1).concat_result, element)


def _layer(
    definition: Callable[..., Op],
    usual: Mapping[str, core.GateFunction],
    op: core.Rnn | core.Gru | core.Lstm,
    context: Context,
    operands: tuple[Value, Value, Value, Value],
    biases: tuple[Value | None, Value | None],
    lengths: Value | None,
    **own: object,
) -> Result:
    """Returns the results of a layer of onnx.

    `usual` are the functions of a layer that names none, `operands` are x, the weights and the initial h, `biases` are
    those of input and state. `own` are operands and attributes of this layer alone.
    """
    x, weight, recurrent, initial_h = operands
    dim = dims_of(recurrent)[2]
    if not isinstance(dim, int):
        return Mismatch("the size of the state is not fixed")
    wide = _wide(element_of(x))
    functions = _Functions(op, usual.values())
    new_op = definition(
        cast(x, wide),
        cast(weight, wide),
        cast(recurrent, wide),
        _bias(context, *biases, wide),
        sequence_lens=None if lengths is None else cast(lengths, i32),
        initial_h=cast(initial_h, wide),
        hidden_size=dim,
        direction=op.direction.value,
        clip=op.clip,
        activation_alpha=functions.alpha,
        activation_beta=functions.beta,
        **{"activations": functions.names, **own},
    )
    return tuple([cast(v, element_of(x)) for v in new_op.results])


@rule(core.Rnn)
def rnn(
    op: core.Rnn, context: Context, x: Value, weight: Value, recurrent: Value, initial_h: Value, *rest: Value | None
) -> Result:
    bias, lengths = rest
    names = [FUNCTIONS[op.activation]] * op.direction.count
    operands = (x, weight, recurrent, initial_h)
    return _layer(onnx.RNN, onnx.RNN.usual, op, context, operands, (bias, None), lengths, activations=tuple(names))


@rule(core.Gru)
def gru(
    op: core.Gru, context: Context, x: Value, weight: Value, recurrent: Value, initial_h: Value, *rest: Value | None
) -> Result:
    bias, recurrent_bias, lengths = rest
    operands = (x, weight, recurrent, initial_h)
    biases, after = (bias, recurrent_bias), int(op.reset_after)
    return _layer(onnx.GRU, onnx.GRU.usual, op, context, operands, biases, lengths, linear_before_reset=after)


@rule(core.Lstm)
def lstm(
    op: core.Lstm, context: Context, x: Value, weight: Value, recurrent: Value, initial_h: Value, initial_c: Value,
    *rest: Value | None,
) -> Result:  # fmt: skip
    if op.cell_clip is not None:
        return Mismatch("onnx.LSTM limits what goes into the gates, not the cell")
    bias, peephole, lengths = rest
    wide = _wide(element_of(x))
    own = {
        "initial_c": cast(initial_c, wide),
        "P": None if peephole is None else cast(peephole, wide),
        "input_forget": int(op.coupled),
    }
    operands = (x, weight, recurrent, initial_h)
    return _layer(onnx.LSTM, onnx.LSTM.usual, op, context, operands, (bias, None), lengths, **own)


@rule(core.Scan)
def scan(op: core.Scan, context: Context, initial: tuple[Value, ...], sequences: tuple[Value, ...]) -> Result:
    (body,) = context.regions
    stacked = len(op.ys) - len(initial)
    if not all(isinstance(v.type, TensorType) for v in initial):
        if op.reverse:
            return Mismatch("a scan of onnx carries tensors, and a loop cannot stack from the last to the first")
        return _as_loop(context, body.block, initial, sequences)
    compute_outputs(body.block)
    return onnx.Scan(
        (*initial, *sequences),
        body,
        num_scan_inputs=len(sequences),
        scan_input_directions=(1,) * len(sequences) if op.reverse else None,
        scan_output_directions=(1,) * stacked if op.reverse and stacked else None,
    ).results


def _as_loop(
    context: Context, body: Block, initial: tuple[Value, ...], sequences: tuple[Value, ...]
) -> tuple[Value, ...]:
    """A scan as a loop that takes the slices itself: what it carries may be no tensor."""
    first = constant(context, i64, (), (0,))
    count = onnx.Gather(onnx.Shape(sequences[0]).shape, first).output
    carried = body.arguments[: len(initial)]
    names = ["", "", *(a.name for a in carried)]
    rounds = Block([tensor(i64), tensor(boolean), *[a.type for a in carried]], names)
    number, answer, *states = rounds.arguments
    for old, new in zip(carried, states, strict=True):
        old.replace_all_uses_with(new)
    for old, sequence in zip(body.arguments[len(initial) :], sequences, strict=True):
        old.replace_all_uses_with(rounds.append(onnx.Gather(sequence, number)).output)
    results: tuple[Value, ...] = ()
    for nested in list(body.operations):
        nested.detach()
        if isinstance(nested, onnx.Return):
            results = nested.outputs
            nested.erase()
        else:
            rounds.append(nested)
    rounds.append(onnx.Return((answer, *results)))
    compute_outputs(rounds)
    return onnx.Loop(Region([rounds]), count, constant(context, boolean, (), (True,)), initial).results
