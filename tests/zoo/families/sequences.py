"""Recurrent layers, nested blocks, lists and random numbers."""

from __future__ import annotations

import numpy as np
import torch
from coremltools.converters.mil.mil import Var
from torch import nn

from tests.zoo.families.layers import weights
from tests.zoo.families.sheet import Sheet, mb

HIDDEN = 4


def reordered(matrix: np.ndarray[tuple[int, ...], np.dtype[np.generic]], order: tuple[int, ...]) -> torch.Tensor:
    """Return gate blocks of a weight or bias in torch's order."""
    blocks = np.split(matrix.astype(np.float64), len(order))
    return torch.from_numpy(np.concatenate([blocks[n] for n in order]))


# MIL: input, forget, output, cell and reset, new, update; torch: input, forget, cell, output and reset, update, new.
LSTM_GATES = (0, 1, 3, 2)
GRU_GATES = (0, 2, 1)


def loaded(layer: nn.RNNBase, values: dict[str, torch.Tensor]) -> nn.RNNBase:
    """Return a recurrent layer of torch in double precision with these weights, and zero for the others."""
    layer.double()
    with torch.no_grad():
        for name, parameter in layer.named_parameters():
            parameter.copy_(values.get(name, torch.zeros(())))
    return layer


def recurrent(sheet: Sheet) -> None:
    """LSTM in both directions, simple recurrent layers, and GRU where torch has the same."""
    x, a = sheet.input("x")
    h, b = sheet.input("h")
    c, d = sheet.input("c")
    t, size = torch.from_numpy(a), a.shape[2]
    first, cell = torch.from_numpy(b[None]), torch.from_numpy(d[None])
    w, r, bias = weights(sheet, 4 * HIDDEN, size), weights(sheet, 4 * HIDDEN, HIDDEN), weights(sheet, 4 * HIDDEN)
    lstm = loaded(
        nn.LSTM(size, HIDDEN),
        {
            "weight_ih_l0": reordered(w, LSTM_GATES),
            "weight_hh_l0": reordered(r, LSTM_GATES),
            "bias_ih_l0": reordered(bias, LSTM_GATES),
        },
    )
    parts = {"x": x, "initial_h": h, "initial_c": c, "weight_ih": w, "weight_hh": r, "bias": bias}
    with torch.no_grad():
        sequence, (last, last_cell) = lstm(t, (first, cell))
        backwards = lstm(t.flip(0), (first, cell))[0]
    new_op = mb.lstm(**parts, output_sequence=True)
    for name, var, expected in zip(("sequence", "h", "c"), new_op, (sequence, last[0], last_cell[0]), strict=True):
        sheet.out(f"lstm_{name}", var, expected)
    # The sequence of the reverse direction is in processing order.
    sheet.out("lstm_reverse", mb.lstm(**parts, direction="reverse", output_sequence=True)[0], backwards)
    sheet.out("lstm_last", mb.lstm(**parts, output_sequence=False)[0], sequence[-1:])
    w, r, bias = weights(sheet, HIDDEN, size), weights(sheet, HIDDEN, HIDDEN), weights(sheet, HIDDEN)
    rnn = loaded(
        nn.RNN(size, HIDDEN),
        {"weight_ih_l0": reordered(w, (0,)), "weight_hh_l0": reordered(r, (0,)), "bias_ih_l0": reordered(bias, (0,))},
    )
    with torch.no_grad():
        sequence, last = rnn(t, first)
    new_op = mb.rnn(x=x, initial_h=h, weight_ih=w, weight_hh=r, bias=bias, output_sequence=True)
    sheet.out("rnn_sequence", new_op[0], sequence)
    sheet.out("rnn_h", new_op[1], last[0])
    gru(sheet, x, h, a, b)


def gru(
    sheet: Sheet,
    x: Var,
    h: Var,
    a: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    b: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
) -> None:
    """A GRU whose reset gate acts before the product, which torch does not have, written out."""
    size = a.shape[2]
    w, r, bias = weights(sheet, 3 * HIDDEN, size), weights(sheet, 3 * HIDDEN, HIDDEN), weights(sheet, 3 * HIDDEN)
    (wr, wo, wz), (rr, ro, rz), (br, bo, bz) = (np.split(m.astype(np.float64), 3) for m in (w, r, bias))
    state, steps = b, []
    for step in a:
        reset = 1 / (1 + np.exp(-(step @ wr.T + state @ rr.T + br)))
        update = 1 / (1 + np.exp(-(step @ wz.T + state @ rz.T + bz)))
        new = np.tanh(step @ wo.T + (reset * state) @ ro.T + bo)
        state = (1 - update) * new + update * state
        steps.append(state)
    new_op = mb.gru(x=x, initial_h=h, weight_ih=w, weight_hh=r, bias=bias, output_sequence=True)
    sheet.out("gru_sequence", new_op[0], np.stack(steps))
    sheet.out("gru_h", new_op[1], state)


def control(sheet: Sheet) -> None:
    """Branches and loops, nested, over values of the enclosing scope."""
    x, a = sheet.input("x")
    limit, n = sheet.scalar("limit")
    total = mb.reduce_sum(x=x)
    new_op = mb.cond(
        pred=mb.greater(x=total, y=sheet.number(0.0)),
        _true_fn=lambda: mb.add(x=x, y=sheet.number(1.0)),
        _false_fn=lambda: mb.mul(x=x, y=sheet.number(2.0)),
    )
    sheet.out("cond", new_op, a + 1 if a.sum() > 0 else a * 2)

    def body(value: Var, count: Var) -> tuple[Var, Var]:
        # Every second round adds x, the others double.
        value = mb.cond(
            pred=mb.equal(x=mb.mod(x=count, y=2), y=0),
            _true_fn=lambda: mb.add(x=value, y=x),
            _false_fn=lambda: mb.mul(x=value, y=sheet.number(2.0)),
        )
        return value, mb.add(x=count, y=1)

    value, rounds = mb.while_loop(
        _cond=lambda value, count: mb.less(x=count, y=limit), _body=body, loop_vars=(x, mb.sub(x=limit, y=limit))
    )
    expected = a
    for round in range(n):
        expected = expected * 2 if round % 2 else expected + a
    sheet.out("while_loop", value, expected)
    sheet.out("while_loop_rounds", rounds, n)


def lists(sheet: Sheet) -> None:
    """Lists written and read, by position and as a whole."""
    x, a = sheet.input("x")
    i, n = sheet.scalar("index")
    new_op = mb.make_list(
        init_length=3, dynamic_length=False, elem_shape=[4], dtype="fp32" if sheet.float is np.float32 else "fp16"
    )
    new_op = mb.list_scatter(ls=new_op, indices=[0, 1, 2], value=x)
    new_op = mb.list_write(ls=new_op, index=i, value=mb.mul(x=mb.gather(x=x, indices=0, axis=0), y=sheet.number(10.0)))
    expected = a.copy()
    expected[n] = 10 * a[0]
    sheet.out("list_length", mb.list_length(ls=new_op), 3)
    sheet.out("list_read", mb.list_read(ls=new_op, index=i), expected[n])
    sheet.out("list_gather", mb.list_gather(ls=new_op, indices=[2, 0, 1]), expected[[2, 0, 1]])


def random(sheet: Sheet) -> None:
    """Random numbers, compared by their mean and spread over many."""
    shape = [100, 100]
    half, x = sheet.number(0.25), sheet.vars["x"]
    draws = {
        "bernoulli": (mb.random_bernoulli(shape=shape, prob=half, seed=1), 0.25, (0.25 * 0.75) ** 0.5),
        "normal": (mb.random_normal(shape=shape, mean=sheet.number(2.0), stddev=sheet.number(3.0), seed=2), 2.0, 3.0),
        "uniform": (
            mb.random_uniform(shape=shape, low=sheet.number(1.0), high=sheet.number(5.0), seed=3),
            3.0,
            4 / 12**0.5,
        ),
    }
    for name, (built, mean, spread) in draws.items():
        average = mb.reduce_mean(x=built)
        sheet.out(f"{name}_mean", average, mean)
        centred = mb.sub(x=built, y=average)
        sheet.out(f"{name}_spread", mb.sqrt(x=mb.reduce_mean(x=mb.square(x=centred))), spread)
    probabilities = sheet.arrays["x"].astype(np.float64)
    drawn = mb.random_categorical(x=x, mode="probs", size=10000, seed=4)
    sheet.out("categorical_mean", mb.reduce_mean(x=drawn, axes=[1]), probabilities @ np.arange(probabilities.shape[1]))
