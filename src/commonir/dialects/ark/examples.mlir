// ark.rank ark.tensor ark.Tensor
ark.rank @rank0 0 of 1 "v3" {
  %x = Tensor gives 0 node 0 "x" buffer 0 : tensor<2xf32>
  %t1 = tensor 1 buffer 1 : tensor<2xf32>
  %t2 = Exp %x into %t1 gives 2 node 1 "exp" : tensor<2xf32>
  %y = Tensor %t2 gives 3 node 2 "y" buffer 1 : tensor<2xf32> : tensor<2xf32>
} after [[], [0], [1]]
// -----
// ark.Send ark.SendDone ark.Recv ark.DeviceSync
ark.rank @rank0 0 of 2 "v3" {
  %x = Tensor gives 0 node 0 "x" buffer 0 sent [[1, 0]] : tensor<4xf32>
  %t1 = tensor 1 buffer 1 rank 1 received [[-1, 0]] : tensor<4xf32>
  %t2 = Send %x into %t1 gives 2 node 1 "send" : tensor<4xf32>
  %t3 = SendDone %t2 gives 3 node 2 "send_done" : tensor<4xf32>
  %t4 = DeviceSync %x into %x gives 4 node 3 "device_sync" {PeerNum = 1 : i32, Rank = 0 : i32} : tensor<4xf32>
} after [[], [0], [1], [0]]
ark.rank @rank1 1 of 2 "v3" {
  %t0 = tensor 0 buffer 0 rank 0 sent [[-1, 0]] : tensor<4xf32>
  %t1 = tensor 1 buffer 1 received [[0, 0]] : tensor<4xf32>
  %t2 = Recv %t0 into %t1 gives 2 node 0 "recv" : tensor<4xf32>
  %t3 = DeviceSync %t2 into %t2 gives 3 node 1 "device_sync" {PeerNum = 1 : i32, Rank = 1 : i32} : tensor<4xf32>
  %y = Tensor %t3 gives 4 node 2 "y" buffer 1 received [[0, 0]] : tensor<4xf32> : tensor<4xf32>
} after [[], [0], [1]]
// -----
// ark.SendPacket ark.RecvPacket
ark.rank @rank0 0 of 2 "v3" {
  %x = Tensor gives 0 node 0 "x" buffer 0 sent [[1, 0]] : tensor<4xf32>
  %t1 = tensor 1 buffer 1 rank 1 received [[-1, 0]] : tensor<32xui8>
  %t2 = SendPacket %x into %t1 gives 2 node 1 "send_packet" {Flag = 1 : ui32} : tensor<4xf32>, tensor<32xui8>
} after [[], [0]]
ark.rank @rank1 1 of 2 "v3" {
  %t0 = tensor 0 buffer 0 rank 0 sent [[-1, 0]] : tensor<32xui8>
  %t1 = tensor 1 buffer 1 received [[0, 0]] : tensor<32xui8>
  %t2 = tensor 2 buffer 2 : tensor<4xf32>
  %t3 = RecvPacket %t0, %t1 into %t2 gives 3 node 0 "recv_packet" {Flag = 1 : ui32} : tensor<32xui8>, tensor<32xui8>, tensor<4xf32>
  %y = Tensor %t3 gives 4 node 1 "y" buffer 2 : tensor<4xf32> : tensor<4xf32>
} after [[], [0]]
// -----
// ark.Noop
ark.rank @rank0 0 of 1 "v3" {
  %x = Tensor gives 0 node 0 "x" buffer 0 : tensor<4xf32>
  %t1 = tensor 1 buffer 1 : tensor<4xf32>
  %t2 = Exp %x into %t1 gives 2 node 1 "exp" : tensor<4xf32>
  Noop %t2 node 2 "noop" : tensor<4xf32>
  %y = Tensor %t2 gives 3 node 3 "y" buffer 1 : tensor<4xf32> : tensor<4xf32>
} after [[], [0], [1], [1]]
// -----
// ark.RecvReduceSend
ark.rank @rank0 0 of 2 "v3" {
  %t0 = tensor 0 buffer 0 sent [[1, 1]] : tensor<4xf32>
  %t1 = tensor 1 buffer 1 rank 1 received [[-1, 1]] : tensor<4xf32>
  %t2 = Send %t0 into %t1 gives 2 node 0 "send" : tensor<4xf32>
  %t3 = tensor 3 buffer 3 received [[1, 1]] : tensor<4xf32>
  %t4 = tensor 4 buffer 4 : tensor<4xf32>
  %t5 = tensor 5 buffer 5 rank 1 received [[-1, 2]] : tensor<4xf32>
  %t6 = RecvReduceSend %t0, %t3 into %t4, %t5 gives 6 node 1 "reduce" {NPeers = 1 : ui32, Rank = 0 : i32} : tensor<4xf32>
  %t7 = tensor 7 buffer 7 rank 1 sent [[-1, 2]] : tensor<4xf32>
  %t8 = tensor 8 buffer 8 received [[1, 2]] : tensor<4xf32>
  %t9 = Recv %t7 into %t8 gives 9 node 2 "recv" : tensor<4xf32>
} after [[], [], []]
ark.rank @rank1 1 of 2 "v3" {
  %t0 = tensor 0 buffer 0 sent [[0, 1]] : tensor<4xf32>
  %t1 = tensor 1 buffer 1 rank 0 received [[-1, 1]] : tensor<4xf32>
  %t2 = Send %t0 into %t1 gives 2 node 0 "send" : tensor<4xf32>
  %t3 = tensor 3 buffer 3 received [[0, 1]] : tensor<4xf32>
  %t4 = tensor 4 buffer 4 : tensor<4xf32>
  %t5 = tensor 5 buffer 5 rank 0 received [[-1, 2]] : tensor<4xf32>
  %t6 = RecvReduceSend %t0, %t3 into %t4, %t5 gives 6 node 1 "reduce" {NPeers = 1 : ui32, Rank = 1 : i32} : tensor<4xf32>
  %t7 = tensor 7 buffer 7 rank 0 sent [[-1, 2]] : tensor<4xf32>
  %t8 = tensor 8 buffer 8 received [[0, 2]] : tensor<4xf32>
  %t9 = Recv %t7 into %t8 gives 9 node 2 "recv" : tensor<4xf32>
} after [[], [], []]
// -----
// ark.RecvReduceSendPacket
ark.rank @rank0 0 of 2 "v3" {
  %t0 = tensor 0 buffer 0 sent [[1, 1]] : tensor<4xf32>
  %t1 = tensor 1 buffer 1 rank 1 received [[-1, 1]] : tensor<32xui8>
  %t2 = SendPacket %t0 into %t1 gives 2 node 0 "send" {Flag = 1 : ui32} : tensor<4xf32>, tensor<32xui8>
  %t3 = tensor 3 buffer 3 received [[1, 1]] : tensor<32xui8>
  %t4 = tensor 4 buffer 4 : tensor<4xf32>
  %t5 = tensor 5 buffer 5 rank 1 received [[-1, 2]] : tensor<32xui8>
  %t6 = RecvReduceSendPacket %t0, %t3 into %t4, %t5 gives 6 node 1 "reduce" {NPeers = 1 : ui32, Rank = 0 : i32, Flag = 1 : ui32} : tensor<4xf32>, tensor<32xui8>, tensor<4xf32>, tensor<32xui8>
  %t7 = tensor 7 buffer 7 rank 1 : tensor<4xf32>
  %t8 = tensor 8 buffer 8 received [[1, 2]] : tensor<32xui8>
  %t9 = tensor 9 buffer 9 : tensor<4xf32>
  %t10 = RecvPacket %t7, %t8 into %t9 gives 10 node 2 "recv" {Flag = 1 : ui32} : tensor<4xf32>, tensor<32xui8>, tensor<4xf32>
} after [[], [], []]
ark.rank @rank1 1 of 2 "v3" {
  %t0 = tensor 0 buffer 0 sent [[0, 1]] : tensor<4xf32>
  %t1 = tensor 1 buffer 1 rank 0 received [[-1, 1]] : tensor<32xui8>
  %t2 = SendPacket %t0 into %t1 gives 2 node 0 "send" {Flag = 1 : ui32} : tensor<4xf32>, tensor<32xui8>
  %t3 = tensor 3 buffer 3 received [[0, 1]] : tensor<32xui8>
  %t4 = tensor 4 buffer 4 : tensor<4xf32>
  %t5 = tensor 5 buffer 5 rank 0 received [[-1, 2]] : tensor<32xui8>
  %t6 = RecvReduceSendPacket %t0, %t3 into %t4, %t5 gives 6 node 1 "reduce" {NPeers = 1 : ui32, Rank = 1 : i32, Flag = 1 : ui32} : tensor<4xf32>, tensor<32xui8>, tensor<4xf32>, tensor<32xui8>
  %t7 = tensor 7 buffer 7 rank 0 : tensor<4xf32>
  %t8 = tensor 8 buffer 8 received [[0, 2]] : tensor<32xui8>
  %t9 = tensor 9 buffer 9 : tensor<4xf32>
  %t10 = RecvPacket %t7, %t8 into %t9 gives 10 node 2 "recv" {Flag = 1 : ui32} : tensor<4xf32>, tensor<32xui8>, tensor<4xf32>
} after [[], [], []]
// -----
// ark.Placeholder
ark.rank @rank0 0 of 1 "v4" {
  %x = Placeholder gives 0 node 0 "x" buffer 0 {is_external = true} : tensor<2xf32>
  %t1 = tensor 1 buffer 1 {is_external = false} : tensor<2xf32>
  %t2 = Exp %x into %t1 gives 2 node 1 "exp" : tensor<2xf32>
} after [[], [0]]
