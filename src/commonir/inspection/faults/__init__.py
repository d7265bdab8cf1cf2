"""Isolates, explains, reproduces and reduces what goes wrong in programs."""
