"""Programs of MLIR made from a seed, over all dialects, with mlir-opt as the judge of what they are and how they look."""
