"""Programs of MLIR made from a seed, over all dialects; mlir-opt judges what they are and how they look."""
