"""Shared parts of the conversions to MLIR dialects: functions, globals, dims as values, and the final types.

While a program is legalized its values keep symbolic sizes and integers that state their sign, which rules and
references read; `finish` takes them to what MLIR has.
"""
