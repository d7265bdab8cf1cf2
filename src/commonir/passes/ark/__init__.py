"""Passes on ARK programs: generations, messages between ranks, and memory as values."""
