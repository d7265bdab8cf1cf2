"""Encodes integers as protobuf does. Source: protobuf encoding, base 128 varints."""

from __future__ import annotations


def varint(value: int) -> bytes:
    """Returns a non-negative integer as a varint: seven bits to a byte, the lowest first."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
