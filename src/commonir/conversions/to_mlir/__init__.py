"""What conversions to dialects of MLIR share: functions, globals, sizes as values, and the types at the end.

While a program is legalized its values keep symbolic sizes and integers that state their sign, which rules and
references read; `finish` takes them to what MLIR has.
"""
