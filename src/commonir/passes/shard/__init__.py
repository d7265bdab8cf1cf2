"""Divides a program of the core among ranks: one function becomes one for each, which together compute the same.

By tensor parallelism each rank has a part of the weights of products and computes with it; sums over the ranks
(`core.all_reduce`) stand where parts meet. By data parallelism each rank has all weights and a part of the batch.
What can be divided is told by the kernels of operations. Known by name are only reshapes, operations that state sizes,
and products with a bias, which is added once.
"""

from commonir.passes.shard.shard import Parallel, shard

__all__ = ["Parallel", "shard"]
