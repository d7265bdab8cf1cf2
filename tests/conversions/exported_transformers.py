"""Small transformers in plain torch, with random weights of a fixed seed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.oracles import oracle

torch: Any = oracle("torch")
nn: Any = torch.nn
functional: Any = torch.nn.functional

WORDS, LENGTH, WIDTH, HEADS = 61, 6, 24, 4


class Attention(nn.Module):
    """Causal attention of heads, of which neighbours may share keys and values; positions are rotated on demand."""

    def __init__(self, groups: int, *, is_causal: bool = True, is_rotary: bool = False, is_fused: bool = False) -> None:
        super().__init__()
        self.size = WIDTH // HEADS
        self.groups = groups
        self.is_causal, self.is_rotary, self.is_fused = is_causal, is_rotary, is_fused
        self.query = nn.Linear(WIDTH, WIDTH, bias=not is_rotary)
        self.key = nn.Linear(WIDTH, groups * self.size, bias=not is_rotary)
        self.value = nn.Linear(WIDTH, groups * self.size, bias=not is_rotary)
        self.out = nn.Linear(WIDTH, WIDTH, bias=not is_rotary)

    def forward(self, x: Any) -> Any:
        b, n, _ = x.shape
        q = self.query(x).view(b, n, HEADS, self.size).transpose(1, 2)
        k, v = [f(x).view(b, n, self.groups, self.size).transpose(1, 2) for f in (self.key, self.value)]
        if self.is_rotary:
            q, k = rotated(q), rotated(k)
        if self.groups != HEADS:
            k, v = [u.repeat_interleave(HEADS // self.groups, 1) for u in (k, v)]
        if self.is_fused:
            y = functional.scaled_dot_product_attention(q, k, v, is_causal=self.is_causal)
        else:
            scores = q @ k.transpose(-1, -2) / math.sqrt(self.size)
            if self.is_causal:
                above = torch.triu(torch.ones(n, n, dtype=torch.bool), 1)
                scores = scores.masked_fill(above, -math.inf)
            y = torch.softmax(scores, -1) @ v
        return self.out(y.transpose(1, 2).reshape(b, n, WIDTH))


def rotated(x: Any) -> Any:
    """Rotary position embedding, of halves."""
    half = x.shape[-1] // 2
    angles = torch.arange(x.shape[-2])[:, None] / 10000.0 ** (torch.arange(half) / half)
    cos, sin = [f(torch.cat([angles, angles], -1)) for f in (torch.cos, torch.sin)]
    return x * cos + torch.cat([-x[..., half:], x[..., :half]], -1) * sin


class RmsNorm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.rand(WIDTH) + 0.5)

    def forward(self, x: Any) -> Any:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


class GptBlock(nn.Module):
    """GPT-2: words and positions, a block with norms in front, and the words again."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.norms = nn.ModuleList([nn.LayerNorm(WIDTH) for _ in range(3)])
        self.attention = Attention(HEADS)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, ids: Any) -> Any:
        x = self.words(ids) + self.places(torch.arange(ids.shape[1]))
        x = x + self.attention(self.norms[0](x))
        x = x + self.down(functional.gelu(self.up(self.norms[1](x)), approximate="tanh"))
        return self.norms[2](x) @ self.words.weight.T


class LlamaBlock(nn.Module):
    """Llama: rotary positions, shared keys and values, a gated network."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.norms = nn.ModuleList([RmsNorm() for _ in range(3)])
        self.attention = Attention(2, is_rotary=True, is_fused=True)
        self.gate, self.up = [nn.Linear(WIDTH, 2 * WIDTH, bias=False) for _ in range(2)]
        self.down, self.head = nn.Linear(2 * WIDTH, WIDTH, bias=False), nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, ids: Any) -> Any:
        x = self.words(ids)
        x = x + self.attention(self.norms[0](x))
        y = self.norms[1](x)
        x = x + self.down(functional.silu(self.gate(y)) * self.up(y))
        return self.head(self.norms[2](x))


class BertLayer(nn.Module):
    """BERT: norms behind, an exact gelu, and a mask of words as an input."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = Attention(HEADS, is_causal=False)
        self.norms = nn.ModuleList([nn.LayerNorm(WIDTH) for _ in range(2)])
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: Any, mask: Any) -> Any:
        x = x * mask.to(x.dtype).unsqueeze(-1)
        x = self.norms[0](x + self.attention(x))
        return self.norms[1](x + self.down(functional.gelu(self.up(x))))


class Perceptron(nn.Module):
    """Layers of neurons with several activations."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(WIDTH, WIDTH) for _ in range(4)])

    def forward(self, x: Any) -> Any:
        for layer, f in zip(self.layers, (torch.relu, torch.tanh, torch.sigmoid, torch.abs), strict=True):
            x = f(layer(x))
        return torch.clamp(x, 0.1, 0.9), torch.softmax(x, -1), x.mean((0, 1)), torch.maximum(x, x.flip(-1))


def network(name: str) -> tuple[Any, Mapping[str, Any]]:
    """A network and inputs for it by name."""
    torch.manual_seed(3)
    result = {"gpt": GptBlock, "llama": LlamaBlock, "bert": BertLayer, "perceptron": Perceptron}[name]().eval()
    ids, x = torch.randint(0, WORDS, (2, LENGTH)), torch.randn(2, LENGTH, WIDTH)
    mask = torch.ones(2, LENGTH, dtype=torch.int64)
    mask[1, 4:] = 0
    inputs = {"gpt": {"ids": ids}, "llama": {"ids": ids}, "bert": {"x": x, "mask": mask}, "perceptron": {"x": x}}
    return result, inputs[name]


def export(name: str, path: Path, *, is_new: bool) -> Mapping[str, Any]:
    """Writes a network as an ONNX model, by torch's newer or older exporter; inputs as numpy arrays."""
    result, inputs = network(name)
    names = list(inputs)
    with torch.no_grad():
        torch.onnx.export(
            result,
            tuple(inputs.values()),
            str(path),
            dynamo=is_new,
            input_names=names,
            opset_version=18 if is_new else 17,
            **({"external_data": False} if is_new else {}),
        )
    return {n: v.numpy() for n, v in inputs.items()}
