"""The command line: one verb per file in `commands/`, each a thin layer over `commonir.api`.

Commands import the surface only, and only when they run: the help of every verb shows without loading numpy, protobuf,
rich or a single operation definition (`benchmarks/startup.py` holds it to that).
"""
