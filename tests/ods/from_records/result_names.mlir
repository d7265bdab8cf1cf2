module {
  func.func @f(%arg0: index, %arg1: index) {
    %0:3 = affine.delinearize_index %arg0 into (2, %arg1, 3) : index, index, index
    %1:2 = affine.delinearize_index %arg0 into (3) : index, index
    %2 = affine.linearize_index [%arg0, %arg1] by (%arg0, 3) : index
    %3 = affine.linearize_index disjoint [%arg0, %arg1] by (2) : index
    return
  }
}

// -----
module {
  func.func @f(%arg0: index) -> index {
    %vscale = vector.vscale
    %c4 = arith.constant 4 : index
    %c4_vscale = arith.muli %vscale, %c4 : index
    %c4_vscale_0 = arith.muli %c4, %vscale : index
    %0 = arith.muli %arg0, %vscale : index
    %c-4 = arith.constant -4 : index
    %c-4_vscale = arith.muli %c-4, %vscale : index
    %1 = arith.muli %c-4_vscale, %c4 : index
    return %c4_vscale : index
  }
}

// -----
module {
  func.func @f(%arg0: index) {
    %block_dim_x = gpu.block_dim  x
    %block_id_y = gpu.block_id  y
    %cluster_block_id_z = gpu.cluster_block_id  z
    %cluster_dim_blocks_x = gpu.cluster_dim_blocks  x
    %cluster_dim_x = gpu.cluster_dim  x
    %cluster_id_x = gpu.cluster_id  x
    %global_id_x = gpu.global_id  x
    %grid_dim_x = gpu.grid_dim  x
    %thread_id_x = gpu.thread_id  x
    %0 = gpu.lane_id
    return
  }
}

// -----
module {
  func.func @f() {
    smt.solver() : () -> () {
      %0 = smt.declare_fun : !smt.int
      %abc = smt.declare_fun "abc" : !smt.bool
      %true = smt.constant true
      %false = smt.constant false
      %c5_bv8 = smt.bv.constant #smt.bv<5> : !smt.bv<8>
    }
    return
  }
}
