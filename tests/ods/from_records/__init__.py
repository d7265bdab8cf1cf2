"""Definitions that are loaded from TableGen files."""
