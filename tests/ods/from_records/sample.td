// A dialect with something of everything that records can say of operations, types and attributes.
include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Sample_Dialect : Dialect {
  let name = "sample";
  let cppNamespace = "::sample";
  let summary = "Something of everything.";
}
class Sample_Op<string mnemonic, list<Trait> traits = []> : Op<Sample_Dialect, mnemonic, traits>;
class Sample_Type<string name, string word> : TypeDef<Sample_Dialect, name> { let mnemonic = word; }
class Sample_Attr<string name, string word> : AttrDef<Sample_Dialect, name> { let mnemonic = word; }

// -- enumerations

def Sample_Color : I32EnumAttr<"Color", "a colour", [
    I32EnumAttrCase<"Red", 0, "red">, I32EnumAttrCase<"Green", 5, "green">]> {
  let cppNamespace = "::sample";
  let genSpecializedAttr = 0;
}
def Sample_ColorAttr : EnumAttr<Sample_Dialect, Sample_Color, "color"> { let assemblyFormat = "`<` $value `>`"; }
def Sample_Shade : I32EnumAttr<"Shade", "a shade", [
    I32EnumAttrCase<"Light", 0, "light">, I32EnumAttrCase<"Dark", 1, "dark">]> {
  let cppNamespace = "::sample";
  let genSpecializedAttr = 0;
}
def Sample_ShadeAttr : EnumAttr<Sample_Dialect, Sample_Shade, "shade">;
def Sample_Mode : I32BitEnumAttr<"Mode", "modes", [
    I32BitEnumAttrCaseNone<"None", "none">, I32BitEnumAttrCaseBit<"A", 0, "a">, I32BitEnumAttrCaseBit<"B", 1, "b">,
    I32BitEnumAttrCaseBit<"C", 2, "c">]> {
  let cppNamespace = "::sample";
  let separator = ", ";
  let genSpecializedAttr = 0;
}
def Sample_ModeAttr : EnumAttr<Sample_Dialect, Sample_Mode, "mode"> { let assemblyFormat = "`<` $value `>`"; }

// -- types and attributes with parameters

def Sample_Handle : Sample_Type<"Handle", "handle">;
def Sample_Pair : Sample_Type<"Pair", "pair"> {
  let parameters = (ins "unsigned":$width, "::mlir::Type":$inner);
  let assemblyFormat = "`<` $width `x` $inner `>`";
}
def Sample_Box : Sample_Type<"Box", "box"> {
  let parameters = (ins "::mlir::Type":$inner, OptionalParameter<"unsigned">:$size);
  let assemblyFormat = "`<` $inner (`,` $size^)? `>`";
}
def Sample_Shape : Sample_Attr<"Shape", "shape"> {
  let parameters = (ins StringRefParameter<>:$label, "::mlir::Type":$of, ArrayRefParameter<"int64_t">:$dims);
  let assemblyFormat = "`<` struct(params) `>`";
}
def Sample_Both : Sample_Attr<"Both", "both"> {
  let parameters = (ins "int64_t":$a, "::mlir::Attribute":$b);
  let assemblyFormat = "`<` params `>`";
}

// -- operations

def Sample_AddOp : Sample_Op<"add", [Pure, Commutative, SameOperandsAndResultType]> {
  let summary = "adds two numbers";
  let description = [{
    Twice the same type.

    ```mlir
    %0 = sample.add %a, %b : i32
    ```
  }];
  let arguments = (ins
    AnyTypeOf<[AnyInteger, AnyFloat]>:$lhs, AnyTypeOf<[AnyInteger, AnyFloat]>:$rhs,
    DefaultValuedAttr<Sample_ModeAttr, "Mode::None">:$mode);
  let results = (outs AnyType:$sum);
  let assemblyFormat = "$lhs `,` $rhs (`mode` $mode^)? attr-dict `:` type($sum)";
}

def Sample_PaintOp : Sample_Op<"paint", [AttrSizedOperandSegments]> {
  let arguments = (ins
    Arg<Sample_Handle, "what is painted">:$target, Optional<I32>:$depth, Variadic<Index>:$at,
    Sample_ColorAttr:$color, OptionalAttr<StrAttr>:$name, UnitAttr:$fast,
    ConfinedAttr<I64Attr, [IntMinValue<1>, IntMaxValue<8>]>:$count);
  let results = (outs Sample_Handle:$painted);
  let assemblyFormat = [{
    $target (`depth` $depth^)? (`[` $at^ `]`)? $color (`fast` $fast^)? (`named` $name^)? `count` `=` $count attr-dict
  }];
}

def Sample_TintOp : Sample_Op<"tint"> {
  let arguments = (ins Sample_ShadeAttr:$shade, DefaultValuedOptionalAttr<BoolAttr, "false">:$deep);
  let assemblyFormat = "$shade attr-dict";
}

def Sample_StopOp : Sample_Op<"stop", [Terminator, Pure]> { let assemblyFormat = "attr-dict"; }

def Sample_LoopOp : Sample_Op<"loop", [SingleBlockImplicitTerminator<"StopOp">]> {
  let arguments = (ins I64Prop:$times, DefaultValuedProp<BoolProp, "false">:$loud);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$times $body prop-dict attr-dict";
}

def Sample_JumpOp : Sample_Op<"jump", [Terminator]> {
  let arguments = (ins I1:$condition);
  let successors = (successor AnySuccessor:$first, VariadicSuccessor<AnySuccessor>:$others);
  let assemblyFormat = "$condition `to` $first `or` $others attr-dict";
}

def Sample_HoldOp : Sample_Op<"hold"> {
  let arguments = (ins Sample_Shape:$shape, Sample_Both:$both);
  let results = (outs Sample_Pair:$pair, Sample_Box:$box);
  let assemblyFormat = "$shape `and` qualified($both) `with` attr-dict `->` type($pair) `,` type($box)";
}

def Sample_ElementOp : Sample_Op<"element", [
    TypesMatchWith<"result is of the element type", "of", "item", "::llvm::cast<TensorType>($_self).getElementType()">]> {
  let arguments = (ins AnyTensor:$of, Variadic<Index>:$at, UnitAttr:$slow, OptionalAttr<I32Attr>:$step);
  let results = (outs AnyType:$item);
  let assemblyFormat = "$of `[` $at `]` oilist(`slow` $slow | `step` $step) attr-dict `:` type($of)";
}

def Sample_OddOp : Sample_Op<"odd"> {
  let arguments = (ins TypeConstraint<CPred<"::sample::isOdd($_self)">, "odd type">:$x);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

def Sample_PlainOp : Sample_Op<"plain"> {
  let arguments = (ins I32:$x);
  let assemblyFormat = "custom<Unheard>($x) attr-dict";
}

def Sample_CppOp : Sample_Op<"cpp"> { let hasCustomAssemblyFormat = 1; }

def Sample_SplitOp : Sample_Op<"split", [AttrSizedResultSegments]> {
  let results = (outs Variadic<I32>:$first, Optional<I1>:$second, Variadic<I32>:$third);
}
