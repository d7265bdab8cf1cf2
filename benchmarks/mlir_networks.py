"""Texts of exported networks without weights: `python -m benchmarks.mlir_networks FOLDER` writes them.

Models of `tests/models` and `examples` are converted to linalg, stablehlo and tosa by our own conversions; a splat of
the same type takes the place of each large constant, so that what is measured is the program and not its weights.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
NETWORKS = (
    "examples/mobilenet.mlpackage",
    "examples/transformer.onnx",
    "tests/models/bert_fp32",
    "tests/models/clip_text_fp32",
    "tests/models/convnext_fp32",
    "tests/models/gpt2_fp32",
    "tests/models/llama_fp16",
    "tests/models/swin_fp32",
    "tests/models/unet_transposed_fp32",
    "tests/models/whisper_encoder_fp32",
)
TARGETS = ("linalg", "stablehlo", "tosa-linalg")
_LONG = 64
_CONSTANT = re.compile(rf'dense<(?:"0x[0-9A-F]{{{_LONG},}}"|\[[^<>"]{{{_LONG},}}\])>(?= : tensor<[^<>]*?(\w+)>)')


def without_weights(text: str) -> str:
    """Returns a program in which large constants are splats."""
    return _CONSTANT.sub(lambda match: "dense<0.5>" if "f" in match[1] else "dense<1>", text)


def model_path(network: str) -> Path:
    """Returns the path of the file or package of a network."""
    path = _ROOT / network
    if path.suffix:
        return path
    models = sorted([*path.glob("*.mlpackage"), *path.glob("*.mlmodel"), *path.glob("*.onnx")])
    return models[0] if models else path


def write_networks(folder: Path) -> list[Path]:
    """Writes the texts that a folder does not hold yet and returns all of them; what has no conversion is left out."""
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for network in NETWORKS:
        for target in TARGETS:
            path = folder / f"{Path(network).stem}.{target}.mlir"
            if not path.exists():
                command = [sys.executable, "-m", "commonir", "convert", str(model_path(network)), "--to", target]
                command += ["-o", str(path)]
                done = subprocess.run(command, check=False, capture_output=True, text=True)
                if done.returncode or not path.exists():
                    print(f"{path.name} is left out: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
                    path.unlink(missing_ok=True)
                    continue
                path.write_text(without_weights(path.read_text()))
            written.append(path)
    return written


if __name__ == "__main__":
    for path in write_networks(Path(sys.argv[1])):
        print(path, path.stat().st_size)
