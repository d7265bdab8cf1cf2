"""Networks over sequences in plain torch: recurrent ones, a temporal convolution and a greedy decoder. No weights here.

Sources: Bai et al., "An Empirical Evaluation of Generic Convolutional and Recurrent Networks", 2018 (TCN).
"""

# Where torch is not installed, its classes are unknown.
# pyright: reportUntypedBaseClass=none

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional


class Tagger(nn.Module):
    """Sequences [n, s, d] to scores [n, s, classes] and the last hidden state, by any recurrent layer of torch."""

    def __init__(self, layer: nn.LSTM | nn.GRU | nn.RNN, classes: int) -> None:
        super().__init__()
        self.layer = layer
        directions = 2 if layer.bidirectional else 1
        self.head = nn.Linear(directions * layer.hidden_size, classes)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        sequence, state = self.layer(x)
        hidden = state[0] if isinstance(state, tuple) else state
        return self.head(sequence), hidden


class TemporalBlock(nn.Module):
    """Two dilated causal convolutions and a residual path."""

    def __init__(self, in_channels: int, out_channels: int, kernel_size: int, dilation: int) -> None:
        super().__init__()
        self.padding = (kernel_size - 1) * dilation
        self.first = nn.Conv1d(in_channels, out_channels, kernel_size, dilation=dilation)
        self.second = nn.Conv1d(out_channels, out_channels, kernel_size, dilation=dilation)
        self.shortcut = nn.Conv1d(in_channels, out_channels, 1) if in_channels != out_channels else nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = functional.relu(self.first(functional.pad(x, (self.padding, 0))))
        y = functional.relu(self.second(functional.pad(y, (self.padding, 0))))
        return functional.relu(y + self.shortcut(x))


class TemporalConvolution(nn.Module):
    """Sequences [n, d, s] to scores [n, classes, s]; dilation doubles from block to block."""

    def __init__(self, channels: int, hidden: int, blocks: int, classes: int) -> None:
        super().__init__()
        widths = [channels] + [hidden] * blocks
        self.blocks = nn.Sequential(*(TemporalBlock(widths[level], hidden, 3, 2**level) for level in range(blocks)))
        self.head = nn.Conv1d(hidden, classes, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.blocks(x))


class DecoderStep(nn.Module):
    """One token and a hidden state [1, d] to logits [1, vocabulary] and the next hidden state."""

    def __init__(self, vocabulary: int, width: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.mix = nn.Linear(2 * width, width)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, token: torch.Tensor, hidden: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        embedded = self.embedding(token)
        hidden = torch.tanh(self.mix(torch.cat([embedded, hidden], dim=1)))
        return self.head(hidden), hidden


class GreedyDecoder(nn.Module):
    """A first token [1] and a hidden state [1, d] to the tokens [steps] of the largest logits and how many there are.

    Decoding ends after `steps` tokens or with the end token; unused places keep zero.
    """

    def __init__(self, vocabulary: int, width: int, steps: int, end: int) -> None:
        super().__init__()
        self.step = DecoderStep(vocabulary, width)
        self.steps = steps
        self.end = end

    def forward(self, token: torch.Tensor, hidden: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        tokens = torch.zeros([self.steps], dtype=torch.int32)
        count = torch.zeros([1], dtype=torch.int32)
        while bool(count < self.steps) and bool(token != self.end):
            logits, hidden = self.step(token, hidden)
            token = torch.argmax(logits, dim=1).to(torch.int32)
            tokens = torch.where(torch.arange(self.steps) == count, token, tokens)
            count = count + 1
        return tokens, count
