// ark.rank
ark.rank @rank0 0 of 1 "v3" {
  %x = Tensor gives 0 node 0 "x" buffer 0 : tensor<2xf32>
  %t1 = tensor 1 buffer 1 : tensor<2xf32>
  %t2 = Exp %x into %t1 gives 2 node 1 "exp" : tensor<2xf32>
  %y = Tensor %t2 gives 3 node 2 "y" buffer 1 : tensor<2xf32> : tensor<2xf32>
} after [[], [0], [1]]
