"""Code that converts elements between registers and memory, and rounds them to types that registers do not have."""

from __future__ import annotations

from commonir.ir.types import ElementType
from commonir.llvm.llvm_ir import Function, LlvmType, LlvmValue
from commonir.llvm.scalar_functions import register_type


def converted_integer(f: Function, x: LlvmValue, scalar: str, *, is_signed: bool) -> LlvmValue:
    """Returns an integer with other bits."""
    bits = LlvmType(scalar).bits
    if bits == x.type.bits:
        return x
    return f.cast("trunc" if bits < x.type.bits else "sext" if is_signed else "zext", x, scalar)


_BFLOAT_NAN = 0x7FC0


def _bfloat_bits(f: Function, x: LlvmValue) -> LlvmValue:
    """Returns the bits of single precision rounded to bfloat16, ties to even. Few processors have an instruction."""
    bits = f.cast("bitcast", x, "i32")
    odd = bits.shift_right(16, is_signed=False) & 1
    rounded_bits = (bits + odd + 0x7FFF).shift_right(16, is_signed=False)
    return f.cast("trunc", f.select(x.compare("uno", x), f.constant(bits.type, _BFLOAT_NAN), rounded_bits), "i16")


def _rounded_to_odd(f: Function, x: LlvmValue) -> LlvmValue:
    """Returns double precision as single precision of which the last bit is set if it is not exact.

    Rounded to fewer bits, it is what double precision is rounded to at once.
    """
    near = f.cast("fptrunc", x, "float")
    back = f.cast("fpext", near, "double")
    bits = f.cast("bitcast", near, "i32")
    toward_zero = f.select(f.intrinsic("fabs", back).compare("ogt", f.intrinsic("fabs", x)), bits - 1, bits)
    return f.cast("bitcast", f.select(back.compare("one", x), toward_zero | 1, bits), "float")


def rounded(f: Function, x: LlvmValue, to: ElementType) -> LlvmValue:
    """Returns single or double precision rounded to a floating-point type of 16 bits, as single precision."""
    if x.type.scalar == "double":
        # As in numpy: only half precision is rounded at once.
        x = f.cast("fptrunc", x, "float") if to.name == "bf16" else _rounded_to_odd(f, x)
    if to.name == "bf16":
        wide = f.cast("zext", _bfloat_bits(f, x), "i32").shift_left(16)
        return f.cast("bitcast", wide, "float")
    return f.cast("fpext", f.cast("fptrunc", x, "half"), "float")


def loaded_value(f: Function, x: LlvmValue, element: ElementType) -> LlvmValue:
    """Returns elements from memory as they are in registers."""
    if element.kind == "bool":
        return x.compare("ne", 0)
    scalar = register_type(element)
    if x.type.scalar == "bfloat":
        bits = f.cast("zext", f.cast("bitcast", x, "i16"), "i32").shift_left(16)
        return f.cast("bitcast", bits, "float")
    return f.cast("fpext", x, scalar) if x.type.is_float and x.type.scalar != scalar else x


def stored_value(f: Function, x: LlvmValue, storage: str, element: ElementType) -> LlvmValue:
    """Returns values as they are in memory."""
    if element.kind == "bool":
        return f.cast("zext", x, "i8")
    if x.type.scalar == storage:
        return x
    if storage == "bfloat":
        return f.cast("bitcast", _bfloat_bits(f, x), "bfloat")
    return f.cast("fptrunc", x, storage)
