"""Recipes of the networks over sequences, in plain torch."""

from __future__ import annotations

import numpy as np
from torch import nn

from tests.zoo.network import Recipe, Size, TensorInput
from tests.zoo.recipe_parts import finished, half_exact, random_generator
from tests.zoo.sequential import GreedyDecoder, Tagger, TemporalConvolution


def tagger_recipe(name: str, size: Size, kind: type[nn.LSTM | nn.GRU | nn.RNN], **options: int | bool | str) -> Recipe:
    """Return a recurrent layer on sequences, with a score for each step."""
    length, width, hidden = (100, 128, 256) if size is Size.REAL else (6, 8, 12)
    module = Tagger(kind(width, hidden, batch_first=True, **options), classes=5)
    sequence = random_generator(name).standard_normal((2, length, width), dtype=np.float32)
    inputs = (TensorInput("sequence", (2, length, width)),)
    return Recipe(finished(module, name), inputs, ("scores", "hidden"), ({"sequence": half_exact(sequence)},))


def lstm(size: Size) -> Recipe:
    """Return a tagger of two bidirectional LSTM layers."""
    return tagger_recipe("lstm", size, nn.LSTM, num_layers=2, bidirectional=True)


def gru(size: Size) -> Recipe:
    """Return a tagger of one GRU layer."""
    return tagger_recipe("gru", size, nn.GRU)


def rnn(size: Size) -> Recipe:
    """Return a tagger of two simple recurrent layers."""
    return tagger_recipe("rnn", size, nn.RNN, num_layers=2)


def tcn(size: Size) -> Recipe:
    """Return a temporal convolution network."""
    length, channels, hidden, blocks = (256, 32, 64, 6) if size is Size.REAL else (20, 6, 16, 3)
    module = finished(TemporalConvolution(channels, hidden, blocks, classes=5), "tcn")
    sequence = random_generator("tcn").standard_normal((1, channels, length), dtype=np.float32)
    return Recipe(
        module, (TensorInput("sequence", (1, channels, length)),), ("scores",), ({"sequence": half_exact(sequence)},)
    )


def greedy_decode(size: Size) -> Recipe:
    """Return a greedy decoder that loops until its end token or the largest number of steps."""
    vocabulary, width, steps = (1000, 128, 64) if size is Size.REAL else (16, 8, 10)
    module = finished(GreedyDecoder(vocabulary, width, steps, end=0), "greedy_decode")
    generator = random_generator("greedy_decode")
    cases = tuple(
        {
            "token": np.array([first], np.int32),
            "hidden": half_exact(generator.standard_normal((1, width), dtype=np.float32)),
        }
        for first in (1, 2, 3)
    )
    inputs = (TensorInput("token", (1,), is_integer=True), TensorInput("hidden", (1, width)))
    return Recipe(module, inputs, ("tokens", "count"), cases, is_scripted=True)
