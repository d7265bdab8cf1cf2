// Operations whose shapes and meaning follow from references in index notation.
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def R : Dialect { let name = "r"; let cppNamespace = "::r"; }
class R_Op<string mnemonic, list<Trait> traits = []> : Op<R, mnemonic, !listconcat([Pure], traits)> {
  code reference = "";
}
class R_Unary<string mnemonic, code text, dag more = (ins)> : R_Op<mnemonic> {
  let arguments = !con((ins AnyTensor:$x), more);
  let results = (outs AnyTensor:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let reference = text;
}
class R_Binary<string mnemonic, code text, list<Trait> traits = [], dag more = (ins)> : R_Op<mnemonic, traits> {
  let arguments = !con((ins AnyTensor:$lhs, AnyTensor:$rhs), more);
  let results = (outs AnyTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
  let reference = text;
}

def R_GeluOp : R_Unary<"gelu", [{
  y[i...] = 0.5 * x[i...] * (1.0 + erf(x[i...] / sqrt(cast(2.0, x))))
}]>;
def R_ScaleOp : R_Unary<"scale", "y[i...] = x[i...] * factor + offset",
    (ins F32Attr:$factor, DefaultValuedAttr<F32Attr, "0.0">:$offset)>;
def R_AddOp : R_Binary<"add", "result[i...] = lhs[i...] + rhs[i...]", [ResultsBroadcastableShape]>;
def R_SubOp : R_Binary<"sub", "result[i...] = lhs[i...] - rhs[i...]">;
def R_MatMulOp : R_Binary<"matmul", [{
  broadcast b
  result[b..., i, j] = sum(k, lhs[b..., i, k] * rhs[b..., k, j])
}]>;
def R_ConvOp : R_Binary<"conv", [{
  # N, C, H, W with zeros around the image.
  padded[n, c, h, w] = pad(lhs, [0, 0, pads[0], pads[1]], [0, 0, pads[0], pads[1]])[n, c, h, w]
  result[n, f, h, w] = sum(c, p, q,
    pad(lhs, [0, 0, pads[0], pads[1]], [0, 0, pads[0], pads[1]])[n, c, strides[0] * h + p, strides[1] * w + q] *
    rhs[f, c, p, q])
}], [], (ins DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads)>;
def R_MaxPoolOp : R_Unary<"max_pool", [{
  y[n, c, h, w] for h < dim(x, 2) // size, w < dim(x, 3) // size, p < size, q < size =
    max(p, max(q, x[n, c, size * h + p, size * w + q]))
}], (ins I64Attr:$size)>;
def R_TransposeOp : R_Unary<"transpose", "y[b..., j, i] = x[b..., i, j]">;
def R_MeanOp : R_Unary<"mean", "y[b..., 1] = sum(k, x[b..., k]) / cast(dim(x, -1), x)">;
def R_SoftmaxOp : R_Unary<"softmax", [{
  top[b...] = max(j, x[b..., j])
  e[b..., i] = exp(x[b..., i] - top[b...])
  y[b..., i] = e[b..., i] / sum(j, e[b..., j])
}]>;
def R_GatherOp : R_Binary<"gather", "result[i, j...] = lhs[rhs[i], j...]">;
def R_ConcatOp : R_Binary<"concat", "result[i, j] = concat(i, lhs[i, j], rhs[i, j])">;
def R_MaskOp : R_Unary<"mask", "y[i, j] = select(j <= i, x[i, j], fill)", (ins F32Attr:$fill)>;
def R_FlattenOp : R_Unary<"flatten", "y[i] = flat(x)[i]">;
def R_TileOp : R_Unary<"tile", "y[i, r, j] for r < count = x[i, j]", (ins I64Attr:$count)>;
def R_CastOp : R_Unary<"to_int", "y[i...] = cast(floor(x[i...]), i64)">;
def R_SumOp : R_Unary<"total", "y[] = sum(i..., x[i...])">;
def R_StatsOp : R_Op<"stats"> {
  let arguments = (ins AnyTensor:$x);
  let results = (outs AnyTensor:$least, AnyTensor:$most);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let reference = [{
    require dim(x, 1) >= 2
    least[i] = min(j, x[i, j])
    most[i] = max(j, x[i, j])
  }];
}
def R_InferredOp : R_Op<"inferred", [DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let arguments = (ins AnyTensor:$x);
  let results = (outs AnyTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let reference = "y[j, i] = x[i, j]";
}
