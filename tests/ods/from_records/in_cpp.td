// What records leave to C++: verifiers, forms, folders, types of results, traits; and predicates that are understood.
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Dialect_C : Dialect { let name = "c"; let cppNamespace = "::c"; }
class C_Op<string mnemonic, list<Trait> traits = []> : Op<Dialect_C, mnemonic, traits>;

def VerifiedOp : C_Op<"verified"> { let hasVerifier = 1; let hasRegionVerifier = 1; }
def GroupsOp : C_Op<"groups">, Arguments<(ins VariadicOfVariadic<I32, "sizes">:$x, DenseI32ArrayAttr:$sizes)> {
  let assemblyFormat = "$x attr-dict";
}
def C_Sized : TypeDef<Dialect_C, "Sized"> {
  let mnemonic = "sized";
  let parameters = (ins OptionalParameter<"int">:$size);
  let assemblyFormat = "(`<` $size^ `>`)?";
}
def SizedOp : C_Op<"sized">, Results<(outs C_Sized:$y)> { let assemblyFormat = "attr-dict `:` type($y)"; }
def FormedOp : C_Op<"formed"> { let hasCustomAssemblyFormat = 1; }
def FoldedOp : C_Op<"folded", [Pure]>, Results<(outs I32:$y)> {
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let hasCanonicalizeMethod = 1;
}
def InferredOp : C_Op<"inferred", [DeclareOpInterfaceMethods<InferTypeOpInterface>]>,
                 Arguments<(ins AnyType:$x)>, Results<(outs AnyType:$y)> {
  let assemblyFormat = "$x attr-dict `:` type($x)";
}
def OwnTrait : NativeOpTrait<"OwnTrait">;
def TraitOp : C_Op<"trait", [OwnTrait]>;
def UnnamedTraitOp : C_Op<"unnamed_trait", [NativeOpTrait<"ReturnLike">, NativeOpTrait<"Odd">]>;
def UnknownOp : C_Op<"unknown", [PredOpTrait<"it is odd", CPred<"isOdd($_op)">>]>;

def PlainOp : C_Op<"plain", [Pure, AttrSizedOperandSegments]>, Arguments<(ins Optional<I32>:$a, Optional<I32>:$b)>;
def SameOp : C_Op<"same", [PredOpTrait<"element types match", TCresVTEtIsSameAsOpBase<0, 0>>]>,
             Arguments<(ins AnyType:$x)>, Results<(outs AnyType:$y)>;
def EqualOp : C_Op<"equal", [PredOpTrait<"types match", Or<[TCresIsSameAsOpBase<0, 0>, TCresIsSameAsOpBase<0, 1>]>>]>,
              Arguments<(ins AnyType:$a, AnyType:$b)>, Results<(outs AnyType:$y)>;
def ShapedOp : C_Op<"shaped", [PredOpTrait<"x holds i32", TCopVTEtIs<0, I32>>]>, Arguments<(ins AnyType:$x)>;
def RankOp : C_Op<"rank", [PredOpTrait<"ranks match",
    CPred<"::llvm::cast<::mlir::ShapedType>($x.getType()).getRank() == ::llvm::cast<::mlir::ShapedType>($y.getType()).getRank()">>]>,
    Arguments<(ins AnyTensor:$x)>, Results<(outs AnyTensor:$y)>;
def ElementsOp : C_Op<"elements", [ShapedTypeMatchesElementCountAndTypes<"y", "x">]>,
                 Arguments<(ins Variadic<AnyType>:$x)>, Results<(outs AnyTensor:$y)> {
  let assemblyFormat = "$x attr-dict `:` type($y)";
}
def MappedOp : C_Op<"mapped", [Elementwise]>, Arguments<(ins AnyType:$x)>, Results<(outs AnyType:$y)>;
def BareOp : C_Op<"bare", [NoRegionArguments, NoTerminator]> { let regions = (region AnyRegion:$r); }
def RealOp : C_Op<"real", [ResultsAreFloatLike]>, Results<(outs AnyType:$y)>;
def OperandsAreSignlessIntegerLike : NativeOpTrait<"OperandsAreSignlessIntegerLike">;
def WholeOp : C_Op<"whole", [OperandsAreSignlessIntegerLike]>, Arguments<(ins AnyType:$x)>;
def BroadcastOp : C_Op<"broadcast", [ResultsBroadcastableShape]>,
                  Arguments<(ins AnyTensor:$a, AnyTensor:$b)>, Results<(outs AnyTensor:$y)>;
