"""How users provide a dialect that a program uses and that is not known.

Source: the TableGen files that come with MLIR 22.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from commonir.base.suggestions import did_you_mean
from commonir.ods.dialect import Dialects

UPSTREAM: Mapping[str, str] = MappingProxyType(
    {
        "acc": "OpenACC/OpenACCOps.td",
        "affine": "Affine/IR/AffineOps.td",
        "amdgpu": "AMDGPU/IR/AMDGPU.td",
        "amx": "AMX/AMX.td",
        "arm_neon": "ArmNeon/ArmNeon.td",
        "arm_sme": "ArmSME/IR/ArmSMEOps.td",
        "arm_sve": "ArmSVE/IR/ArmSVE.td",
        "async": "Async/IR/AsyncOps.td",
        "bufferization": "Bufferization/IR/BufferizationOps.td",
        "dlti": "DLTI/DLTI.td",
        "emitc": "EmitC/IR/EmitC.td",
        "gpu": "GPU/IR/GPUOps.td",
        "irdl": "IRDL/IR/IRDLOps.td",
        "llvm": "LLVMIR/LLVMOps.td",
        "memref": "MemRef/IR/MemRefOps.td",
        "mpi": "MPI/IR/MPIOps.td",
        "nvgpu": "NVGPU/IR/NVGPUOps.td",
        "nvvm": "LLVMIR/NVVMOps.td",
        "omp": "OpenMP/OpenMPOps.td",
        "pdl": "PDL/IR/PDLOps.td",
        "pdl_interp": "PDLInterp/IR/PDLInterpOps.td",
        "ptr": "Ptr/IR/PtrOps.td",
        "quant": "Quant/IR/QuantOps.td",
        "rocdl": "LLVMIR/ROCDLOps.td",
        "shard": "Shard/IR/ShardOps.td",
        "smt": "SMT/IR/SMT.td",
        "sparse_tensor": "SparseTensor/IR/SparseTensorOps.td",
        "spirv": "SPIRV/IR/SPIRVOps.td",
        "transform": "Transform/IR/TransformOps.td",
        "vector": "Vector/IR/VectorOps.td",
        "wasmssa": "WasmSSA/IR/WasmSSAOps.td",
        "x86vector": "X86Vector/X86Vector.td",
        "xegpu": "XeGPU/IR/XeGPUOps.td",
        "xevm": "LLVMIR/XeVMOps.td",
    }
)
"""The files, in the folder `mlir/Dialect`, that define dialects of MLIR which are not built in."""


ACCEPTING = "`--allow-unregistered` accepts it as it is"


def how_to_provide(dialect: str) -> str:
    """Returns advice for a program with operations, types or attributes of a dialect that is not known."""
    if dialect in UPSTREAM:
        file = f"DIR/mlir/Dialect/{UPSTREAM[dialect]}"
        return (
            f"'{dialect}' is a dialect of MLIR: `--dialect {file} -I DIR` loads it, where DIR is LLVM's include folder"
        )
    return f"no dialect '{dialect}' is known: `--dialect FILE.td` or an installed plugin defines one"


def unknown_operation(name: str, dialects: Dialects, otherwise: str) -> str:
    """Returns advice for an operation that no dialect in use defines.

    `otherwise` completes it for an operation of an unknown dialect: what can be done without a definition.
    """
    prefix, point, _ = name.partition(".")
    if not point:
        return f"the name of an operation begins with its dialect, such as 'core.{name}'"
    dialect = dialects.get(prefix)
    if dialect is not None:
        return did_you_mean(name, dialect.operations) or f"`cir ops {prefix}` lists the operations of the dialect"
    similar = None if prefix in UPSTREAM else did_you_mean(prefix, dialects.names())
    return similar or f"{how_to_provide(prefix)}; {otherwise}"
