"""Makes the example of dividing a program among ranks: `python -m examples.make_transformer`, from the root.

The network is a GPT-2 of two narrow layers with four heads, on four texts of eight tokens, with random weights,
exported from torch. Needs what `tests.zoo` needs. Nothing of commonir takes part, so that the expected outputs, torch's
own, are independent of it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.onnx_zoo.export import Exporter
from tests.passes.shard.networks import exported

FOLDER = Path(__file__).parent
NAME = "transformer"


def main() -> None:
    """Write the model, its inputs and torch's outputs next to this file."""
    made = exported("gpt2", Exporter.SCRIPT, FOLDER)
    made.path.rename(FOLDER / f"{NAME}.onnx")
    np.savez_compressed(FOLDER / f"{NAME}_inputs.npz", allow_pickle=False, **made.inputs)
    np.savez_compressed(FOLDER / f"{NAME}_outputs.npz", allow_pickle=False, **made.expected)


if __name__ == "__main__":
    main()
