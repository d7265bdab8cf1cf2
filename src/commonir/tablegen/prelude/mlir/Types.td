// Constraints of types.

#ifndef COMMONIR_PRELUDE_TYPES
#define COMMONIR_PRELUDE_TYPES

include "mlir/Core.td"

class IsaPred<string name> : CPred<"::llvm::isa<::mlir::" # name # ">($_self)">;
foreach name = ["Tensor", "MemRef", "UnrankedMemRef", "UnrankedTensor", "RankedTensor", "BaseMemRef", "Tuple"] in
  def Is # name # TypePred : IsaPred<name # "Type">;
def IsShapedTypePred : IsaPred<"ShapedType">;
def IsTensorOrMemRefTypePred : Or<[IsTensorTypePred, IsMemRefTypePred]>;
def IsVectorOfAnyRankTypePred : IsaPred<"VectorType">;
def IsFixedVectorOfAnyRankTypePred : IsaPred<"FixedVectorType">;
def IsVectorTypeWithAnyDimScalablePred : IsaPred<"ScalableVectorType">;
def IsVectorOfNonZeroRankTypePred
    : And<[IsaPred<"VectorType">, CPred<"::llvm::cast<::mlir::VectorType>($_self).getRank() > 0">]>;
def HasStaticShapePred : CPred<"::llvm::cast<::mlir::ShapedType>($_self).hasStaticShape()">;
def HasRankPred : CPred<"::llvm::cast<::mlir::ShapedType>($_self).hasRank()">;
def HasValueSemanticsPred : CPred<"$_self.hasTrait<::mlir::ValueSemantics>()">;

class Type<Pred condition, string descr = "", string cppType = "::mlir::Type">
    : TypeConstraint<condition, descr, cppType> {
  string description = "";
  string builderCall = "";
}
class TypeAlias<Type t, string summary = t.summary> : Type<t.predicate, summary, t.cppType> {
  let description = t.description;
  let builderCall = t.builderCall;
}
class DialectType<Dialect d, Pred condition, string descr = "", string cppType = "::mlir::Type">
    : Type<condition, descr, cppType> { Dialect dialect = d; }
class BuildableType<code builder> { code builderCall = builder; }
class SameBuildabilityAs<Type type, code builder> { code builderCall = !if(!empty(type.builderCall), "", builder); }

class Variadic<Type type> : TypeConstraint<type.predicate, "variadic of " # type.summary, type.cppType> {
  Type baseType = type;
  int minSize = 0;
}
class VariadicOfVariadic<Type type, string variadicSegmentAttrName> : Variadic<type> {
  string segmentAttrName = variadicSegmentAttrName;
}
class Optional<Type type> : TypeConstraint<type.predicate, type.summary, type.cppType> { Type baseType = type; }

class AnyTypeOf<list<Type> allowedTypeList, string summary = "", string cppType = "::mlir::Type">
    : Type<Or<!foreach(t, allowedTypeList, t.predicate)>,
           !if(!empty(summary), !interleave(!foreach(t, allowedTypeList, t.summary), " or "), summary), cppType> {
  list<Type> allowedTypes = allowedTypeList;
}
class AllOfType<list<Type> allowedTypeList, string summary = "", string cppType = "::mlir::Type">
    : Type<And<!foreach(t, allowedTypeList, t.predicate)>,
           !if(!empty(summary), !interleave(!foreach(t, allowedTypeList, t.summary), " and "), summary), cppType> {
  list<Type> allowedTypes = allowedTypeList;
}
class ConfinedType<Type type, list<Pred> predicates, string summary = "", string cppType = type.cppType>
    : Type<And<!listconcat([type.predicate], predicates)>, summary, cppType> {
  Type baseType = type;
  list<Pred> predicateList = predicates;
}

def AnyType : Type<CPred<"true">, "any type">;
def NoneType : Type<IsaPred<"NoneType">, "none type", "::mlir::NoneType">,
               BuildableType<"$_builder.getType<::mlir::NoneType>()">;

// Integers.
def AnyInteger : Type<IsaPred<"IntegerType">, "integer", "::mlir::IntegerType">;
class AnyI<int width> : Type<CPred<"$_self.isInteger(" # width # ")">, width # "-bit integer"> {
  int bitwidth = width;
}
class AnyIntOfWidths<list<int> widths>
    : AnyTypeOf<!foreach(w, widths, AnyI<w>), !interleave(widths, "/") # "-bit integer", "::mlir::IntegerType">;
class I<int width>
    : Type<CPred<"$_self.isSignlessInteger(" # width # ")">, width # "-bit signless integer", "::mlir::IntegerType">,
      BuildableType<"$_builder.getIntegerType(" # width # ")"> { int bitwidth = width; }
class SignlessIntOfWidths<list<int> widths>
    : AnyTypeOf<!foreach(w, widths, I<w>), !interleave(widths, "/") # "-bit signless integer">;
class SI<int width>
    : Type<CPred<"$_self.isSignedInteger(" # width # ")">, width # "-bit signed integer", "::mlir::IntegerType">,
      BuildableType<"$_builder.getIntegerType(" # width # ", /*isSigned=*/true)"> { int bitwidth = width; }
class SignedIntOfWidths<list<int> widths>
    : AnyTypeOf<!foreach(w, widths, SI<w>), !interleave(widths, "/") # "-bit signed integer">;
class UI<int width>
    : Type<CPred<"$_self.isUnsignedInteger(" # width # ")">, width # "-bit unsigned integer", "::mlir::IntegerType">,
      BuildableType<"$_builder.getIntegerType(" # width # ", /*isSigned=*/false)"> { int bitwidth = width; }
class UnsignedIntOfWidths<list<int> widths>
    : AnyTypeOf<!foreach(w, widths, UI<w>), !interleave(widths, "/") # "-bit unsigned integer">;
foreach width = [1, 8, 16, 32, 64] in {
  def AnyI # width : AnyI<width>;
  def I # width : I<width>;
  def SI # width : SI<width>;
  def UI # width : UI<width>;
}
def I128 : I<128>;
def AnySignlessInteger : Type<CPred<"$_self.isSignlessInteger()">, "signless integer", "::mlir::IntegerType">;
def AnySignedInteger : Type<CPred<"$_self.isSignedInteger()">, "signed integer">;
def AnyUnsignedInteger : Type<CPred<"$_self.isUnsignedInteger()">, "unsigned integer">;
def AnySignlessIntegerOrIndex : Type<CPred<"$_self.isSignlessIntOrIndex()">, "signless integer or index">;
def Index : Type<IsaPred<"IndexType">, "index", "::mlir::IndexType">, BuildableType<"$_builder.getIndexType()">;

// Floats and complex numbers.
def AnyFloat : Type<IsaPred<"FloatType">, "floating-point", "::mlir::FloatType">;
class F<int width> : Type<CPred<"$_self.isF" # width # "()">, width # "-bit float", "::mlir::FloatType">,
                     BuildableType<"$_builder.getF" # width # "Type()"> { int bitwidth = width; }
class FloatOfWidths<list<int> widths>
    : AnyTypeOf<!foreach(w, widths, F<w>), !interleave(widths, "/") # "-bit float">;
foreach width = [16, 32, 64, 80, 128] in def F # width : F<width>;
class NamedFloat<string cpp, string name>
    : Type<IsaPred<cpp>, name # " type">, BuildableType<"$_builder.getType<" # cpp # ">()">;
def BF16 : NamedFloat<"BFloat16Type", "bfloat16">;
def TF32 : NamedFloat<"FloatTF32Type", "tf32">;
foreach name = ["8E4M3FN", "8E5M2", "8E4M3", "8E4M3FNUZ", "8E4M3B11FNUZ", "8E5M2FNUZ", "8E3M4", "4E2M1FN", "6E2M3FN",
                "6E3M2FN", "8E8M0FNU"] in
  def F # name : NamedFloat<"Float" # name # "Type", "f" # name>;
def AnyComplex : Type<IsaPred<"ComplexType">, "complex-type", "::mlir::ComplexType">;
class Complex<Type elType>
    : ConfinedType<AnyComplex,
                   [SubstLeaves<"$_self", "::llvm::cast<::mlir::ComplexType>($_self).getElementType()",
                                elType.predicate>],
                   "complex type with " # elType.summary # " elements", "::mlir::ComplexType">,
      SameBuildabilityAs<elType, "::mlir::ComplexType::get($_builder.get" # elType # "Type())"> {
  Type elementType = elType;
}
def FunctionType : Type<IsaPred<"FunctionType">, "function type", "::mlir::FunctionType">;
class OpaqueType<string dialect, string name, string summary>
    : Type<CPred<"isOpaqueTypeWithName($_self, \"" # dialect # "\", \"" # name # "\")">, summary,
           "::mlir::OpaqueType">,
      BuildableType<"::mlir::OpaqueType::get($_builder.getStringAttr(\"" # dialect # "\"), \"" # name # "\")">;

// Containers.
class ContainerType<Type etype, Pred containerPred, code elementTypeCall, string descr,
                    string cppType = "::mlir::Type">
    : Type<And<[containerPred, SubstLeaves<"$_self", !cast<string>(elementTypeCall), etype.predicate>]>,
           descr # " of " # etype.summary # " values", cppType>;
class ShapedContainerType<list<Type> allowedTypes, Pred containerPred, string descr, string cppType = "::mlir::Type">
    : Type<And<[containerPred,
                Concat<"[](::mlir::Type elementType) { return ",
                       SubstLeaves<"$_self", "elementType", AnyTypeOf<allowedTypes>.predicate>,
                       "; }(::llvm::cast<::mlir::ShapedType>($_self).getElementType())">]>,
           descr # " of " # AnyTypeOf<allowedTypes>.summary # " values", cppType>;
class HasAnyRankOfPred<list<int> ranks>
    : And<[HasRankPred,
           Or<!foreach(rank, ranks,
                       CPred<[{::llvm::cast<::mlir::ShapedType>($_self).getRank()
                         == }] # rank>)>]>;
class HasRankGreaterOrEqualPred<int rank>
    : And<[HasRankPred, CPred<[{::llvm::cast<::mlir::ShapedType>($_self).getRank() >= }] # rank>]>;
class VectorOfAnyRankOf<list<Type> allowedTypes>
    : ShapedContainerType<allowedTypes, IsVectorOfAnyRankTypePred, "vector", "::mlir::VectorType">;
class VectorOfNonZeroRankOf<list<Type> allowedTypes>
    : ShapedContainerType<allowedTypes, IsVectorOfNonZeroRankTypePred, "vector", "::mlir::VectorType">;
class ValueSemanticsContainerOf<list<Type> allowedTypes>
    : ShapedContainerType<allowedTypes, HasValueSemanticsPred, "container with value semantics">;
class TensorOf<list<Type> allowedTypes, list<Pred> preds = [], string summary = "tensor">
    : ShapedContainerType<allowedTypes, And<!listconcat([IsTensorTypePred], preds)>, summary, "::mlir::TensorType">;
class RankedTensorOf<list<Type> allowedTypes, list<Pred> preds = [], string summary = "ranked tensor">
    : ShapedContainerType<allowedTypes, And<!listconcat([IsRankedTensorTypePred], preds)>, summary,
                          "::mlir::RankedTensorType">;
class MemRefOf<list<Type> allowedTypes>
    : ShapedContainerType<allowedTypes, IsMemRefTypePred, "memref", "::mlir::MemRefType">;
class UnrankedTensorOf<list<Type> allowedTypes, list<Pred> preds = [], string summary = "unranked.tensor">
    : ShapedContainerType<allowedTypes, And<!listconcat([IsUnrankedTensorTypePred], preds)>, summary,
                          "::mlir::UnrankedTensorType">;
class TensorRankOf<list<Type> allowedTypes, list<int> ranks>
    : RankedTensorOf<allowedTypes, [HasAnyRankOfPred<ranks>],
                     !interleave(!foreach(rank, ranks, rank # "D"), "/") # " tensor">;
class 0DTensorOf<list<Type> allowedTypes> : TensorRankOf<allowedTypes, [0]>;
class 1DTensorOf<list<Type> allowedTypes> : TensorRankOf<allowedTypes, [1]>;
class 2DTensorOf<list<Type> allowedTypes> : TensorRankOf<allowedTypes, [2]>;
class 3DTensorOf<list<Type> allowedTypes> : TensorRankOf<allowedTypes, [3]>;
class 4DTensorOf<list<Type> allowedTypes> : TensorRankOf<allowedTypes, [4]>;
class StaticShapeTensorOf<list<Type> allowedTypes>
    : RankedTensorOf<allowedTypes, [HasStaticShapePred], "statically shaped tensor">;
class MemRefRankOf<list<Type> allowedTypes, list<int> ranks>
    : ConfinedType<MemRefOf<allowedTypes>, [HasAnyRankOfPred<ranks>],
                   !interleave(!foreach(rank, ranks, rank # "D"), "/") # " " # MemRefOf<allowedTypes>.summary,
                   "::mlir::MemRefType">;
class StaticShapeMemRefOf<list<Type> allowedTypes>
    : ConfinedType<MemRefOf<allowedTypes>, [HasStaticShapePred],
                   "statically shaped " # MemRefOf<allowedTypes>.summary, "::mlir::MemRefType">;
class UnrankedMemRefOf<list<Type> allowedTypes>
    : ShapedContainerType<allowedTypes, IsUnrankedMemRefTypePred, "unranked.memref", "::mlir::UnrankedMemRefType">;
class RankedOrUnrankedMemRefOf<list<Type> allowedTypes, list<Pred> preds = [],
                               string summary = "ranked or unranked memref">
    : ShapedContainerType<allowedTypes, And<!listconcat([IsBaseMemRefTypePred], preds)>, summary,
                          "::mlir::BaseMemRefType">;
class TensorOrMemRef<list<Type> allowedTypes>
    : ShapedContainerType<allowedTypes, IsTensorOrMemRefTypePred, "Tensor or MemRef", "::mlir::ShapedType">;

def AnyTensor : TensorOf<[AnyType]>;
def AnyRankedTensor : RankedTensorOf<[AnyType]>;
def AnyUnrankedTensor : UnrankedTensorOf<[AnyType]>;
def AnyStaticShapeTensor : StaticShapeTensorOf<[AnyType]>;
def AnyMemRef : MemRefOf<[AnyType]>;
def AnyUnrankedMemRef : UnrankedMemRefOf<[AnyType]>;
def AnyStaticShapeMemRef : StaticShapeMemRefOf<[AnyType]>;
def AnyRankedOrUnrankedMemRef : RankedOrUnrankedMemRefOf<[AnyType]>;
def AnyVectorOfAnyRank : VectorOfAnyRankOf<[AnyType]>;
def AnyVectorOfNonZeroRank : VectorOfNonZeroRankOf<[AnyType]>;
foreach element = [I1, I8, I16, I32, I64, BF16, F16, F32, F64] in {
  def element # Tensor : TensorOf<[element]>;
  def element # MemRef : MemRefOf<[element]>;
}
def IndexTensor : TensorOf<[Index]>;
def AnyShaped : ShapedContainerType<[AnyType], IsShapedTypePred, "shaped", "::mlir::ShapedType">;

class MixedContainerType<Type etype, Pred containerPred, code elementTypesCall, string descr>
    : Type<And<[containerPred,
                Concat<"::llvm::all_of(" # elementTypesCall # ", [](::mlir::Type t) { return t && (",
                       SubstLeaves<"$_self", "t", etype.predicate>, "); })">]>,
           descr # " with any combination of " # etype.summary # " values"> {
  Type elementType = etype;
  code getElementTypesCall = elementTypesCall;
}
def AnyTuple : Type<IsTupleTypePred, "tuple", "::mlir::TupleType">;
class TupleOf<list<Type> allowedTypes>
    : MixedContainerType<AnyTypeOf<allowedTypes>, IsTupleTypePred,
                         "::llvm::cast<::mlir::TupleType>($_self).getTypes()", "tuple">;

// Scalars, and containers of them.
class TypeOrValueSemanticsContainer<Type allowedType, string name>
    : Type<Or<[allowedType.predicate, ValueSemanticsContainerOf<[allowedType]>.predicate]>, name>;
def BoolLike : TypeOrValueSemanticsContainer<I1, "bool-like">;
def SignlessIntegerLike : TypeOrValueSemanticsContainer<AnySignlessInteger, "signless-integer">;
def SignlessIntegerOrIndexLike
    : TypeOrValueSemanticsContainer<AnySignlessIntegerOrIndex, "signless-integer-like">;
def FloatLike : TypeOrValueSemanticsContainer<AnyFloat, "floating-point-like">;
def SignlessIntegerOrFloatLike
    : TypeConstraint<Or<[SignlessIntegerLike.predicate, FloatLike.predicate]>,
                     "signless-integer-like or floating-point-like">;
def SignlessIntegerOrIndexOrFloatLike
    : TypeConstraint<Or<[SignlessIntegerOrIndexLike.predicate, FloatLike.predicate]>,
                     "signless-integer-or-index-like or floating-point-like">;

#endif
