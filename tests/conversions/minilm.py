"""A sentence encoder of the architecture of MiniLM, with seeded random weights, as an ONNX file of dynamic sizes.

Six layers of width 384 with twelve heads each, the mean of the tokens that are not padding, scaled to length one; as
sentence-transformers' all-MiniLM-L6 but for the weights and fewer words.
"""

# Where torch is not installed, its classes are unknown.
# pyright: reportUntypedBaseClass=none

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from pathlib import Path

import torch
from torch import nn
from transformers import BertConfig, BertModel

WORDS = 2000
INPUTS = ("input_ids", "attention_mask", "token_type_ids")


class SentenceEncoder(nn.Module):
    """Sentences [batch, sequence] to vectors [batch, 384]."""

    def __init__(self) -> None:
        super().__init__()
        config = BertConfig(
            vocab_size=WORDS, hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536
        )
        self.model = BertModel(config, add_pooling_layer=False)

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor
    ) -> torch.Tensor:
        states = self.model(input_ids, attention_mask, token_type_ids).last_hidden_state
        mask = attention_mask.unsqueeze(-1).to(states.dtype)
        mean = (states * mask).sum(1) / mask.sum(1).clamp(min=1e-9)
        return nn.functional.normalize(mean, dim=1)


def export_minilm(path: Path) -> None:
    """Writes the encoder with weights in the same file; batch and sequence have any size."""
    torch.manual_seed(0)
    tokens = torch.randint(0, WORDS, (2, 7))
    arguments = (tokens, torch.ones_like(tokens), torch.zeros_like(tokens))
    sizes = {name: {0: "batch", 1: "sequence"} for name in INPUTS}
    with torch.no_grad(), warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        logging.disable(logging.WARNING)
        try:
            torch.onnx.export(
                SentenceEncoder().eval(),
                arguments,
                path,
                input_names=list(INPUTS),
                output_names=["sentence"],
                dynamic_axes=sizes,
                opset_version=18,
                dynamo=False,
            )
        finally:
            logging.disable(logging.NOTSET)
