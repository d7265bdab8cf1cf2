"""Passes over programs of ARK: generations, messages between ranks, memory as values."""
