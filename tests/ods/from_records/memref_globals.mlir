module {
  memref.global @a : memref<2xf32>
}

// -----
module {
  memref.global "private" @a : memref<2xf32> = uninitialized
}

// -----
module {
  memref.global "private" constant @a : memref<2xf32> = dense<1.000000e+00>
}

// -----
module {
  memref.global "public" @a : memref<2xf32> = dense<[1.000000e+00, 2.000000e+00]> {alignment = 64 : i64}
}

// -----
module {
  memref.global "nested" @a : memref<f32> = dense<1.000000e+00>
}

// -----
module {
  memref.global constant @a : memref<2x2xi32, 3> = dense<[[1, 2], [3, 4]]>
}

// -----
module {
  memref.global "private" constant @x : memref<2xf32> = dense<1.000000e+00> {alignment = 8 : i64}
}

// -----
module {
  memref.global "private" @a : memref<2xi8> = dense_resource<a>
}

{-#
  dialect_resources: {
    builtin: {
      a: "0x040000000102"
    }
  }
#-}

// -----
module {
  memref.global "private" @a : memref<2xindex> = dense<[1, 2]> {foo.bar = 1 : i32}
}

// -----
module {
  memref.global "private" @a : memref<2xf32> = sparse<0, 1.000000e+00>
}
