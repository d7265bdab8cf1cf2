"""Dialects of MLIR: those that upstream defines, stablehlo, and `ml_program`."""
