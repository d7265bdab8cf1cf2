"""Shards a core program among ranks: one function becomes one function for each rank.

In tensor parallelism each rank has a shard of the weights of products; partial results are added over the ranks
(`core.all_reduce`). In data parallelism each rank has all weights and a shard of the batch. What can be sharded follows
from the kernels of operations. Only reshapes, operations with explicit dims, and products with a bias, which is added
once, are known by name.
"""

from commonir.passes.shard.shard import Parallel, shard

__all__ = ["Parallel", "shard"]
