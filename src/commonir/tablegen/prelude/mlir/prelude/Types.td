// Constraints of types.

#ifndef PRELUDE_TYPES
#define PRELUDE_TYPES

include "mlir/prelude/Base.td"

class Type<Pred condition, string descr = "", string cppType = "::mlir::Type">
    : TypeConstraint<condition, descr, cppType> { string builderCall = ""; string description = ""; }
class BuildableType<code builder> { code builderCall = builder; }
class SameBuildabilityAs<Type type, code builder> { code builderCall = !if(!empty(type.builderCall), "", builder); }
class TypeAlias<Type t, string summary = t.summary>
    : Type<t.predicate, summary, t.cppType>, BuildableType<t.builderCall>;
class DialectType<Dialect d, Pred condition, string descr = "", string cppType = "::mlir::Type">
    : Type<condition, descr, cppType> { Dialect dialect = d; }

class Variadic<Type type> : TypeConstraint<type.predicate, "variadic of " # type.summary, type.cppType> {
  Type baseType = type; int minSize = 0;
}
class VariadicOfVariadic<Type type, string variadicSegmentAttrName> : Variadic<type> {
  string segmentAttrName = variadicSegmentAttrName;
}
class Optional<Type type> : TypeConstraint<type.predicate, type.summary, type.cppType> { Type baseType = type; }

// A summary, by default those of several types.
class Prelude_Words<list<Type> types, string summary, string word> {
  string all = !if(!empty(summary), !interleave(!foreach(t, types, t.summary), " " # word # " "), summary);
}
class AnyTypeOf<list<Type> allowedTypeList, string summary = "", string cppType = "::mlir::Type">
    : Type<Or<!foreach(t, allowedTypeList, t.predicate)>, Prelude_Words<allowedTypeList, summary, "or">.all, cppType> {
  list<Type> allowedTypes = allowedTypeList;
}
class AllOfType<list<Type> allowedTypeList, string summary = "", string cppType = "::mlir::Type">
    : Type<And<!foreach(t, allowedTypeList, t.predicate)>,
           Prelude_Words<allowedTypeList, summary, "and">.all, cppType> {
  list<Type> allowedTypes = allowedTypeList;
}
class ConfinedType<Type type, list<Pred> predicates, string summary = "", string cppType = type.cppType>
    : Type<And<[type.predicate] # predicates>, summary, cppType> {
  list<Pred> predicateList = predicates; Type baseType = type;
}

def AnyType : Type<CPred<"true">, "any type">;
def NoneType : Type<Prelude_Isa<"NoneType">, "none type">, BuildableType<"$_builder.getNoneType()">;
def FunctionType : Type<Prelude_Isa<"FunctionType">, "function type", "::mlir::FunctionType">;
def GraphType : Type<Prelude_Isa<"GraphType">, "graph type">;
class OpaqueType<string dialect, string name, string summary>
    : Type<CPred<"isOpaqueTypeWithName($_self, \"" # dialect # "\", \"" # name # "\")">, summary>,
      BuildableType<"OpaqueType::get(..)">;

// -- numbers

class Prelude_Kind<string test, string words> : Type<CPred<"$_self." # test # "()">, words>;
def AnyInteger : Type<Prelude_Isa<"IntegerType">, "integer">;
def AnySignlessInteger : Prelude_Kind<"isSignlessInteger", "signless integer">;
def AnySignedInteger : Prelude_Kind<"isSignedInteger", "signed integer">;
def AnyUnsignedInteger : Prelude_Kind<"isUnsignedInteger", "unsigned integer">;
def AnySignlessIntegerOrIndex : Prelude_Kind<"isSignlessIntOrIndex", "signless integer or index">;
def Index : Type<Prelude_Isa<"IndexType">, "index">, BuildableType<"$_builder.getIndexType()">;

class Prelude_Integer<string sign, string words, int width>
    : Type<CPred<"$_self.is" # sign # "Integer(" # width # ")">, width # "-bit " # words # "integer"> {
  int bitwidth = width;
}
class Prelude_BuiltInteger<string sign, string words, int width, string argument>
    : Prelude_Integer<sign, words, width>, BuildableType<"$_builder.getIntegerType(" # width # argument # ")">;
class AnyI<int width> : Prelude_Integer<"", "", width>;
class I<int width> : Prelude_BuiltInteger<"Signless", "signless ", width, "">;
class SI<int width> : Prelude_BuiltInteger<"Signed", "signed ", width, ", true">;
class UI<int width> : Prelude_BuiltInteger<"Unsigned", "unsigned ", width, ", false">;
foreach width = [1, 8, 16, 32, 64] in {
  def I # width : I<width>;
  def SI # width : SI<width>;
  def UI # width : UI<width>;
  def AnyI # width : AnyI<width>;
}
def I128 : I<128>;
class Prelude_OneOf<list<Type> types, list<int> widths, string words>
    : AnyTypeOf<types, !interleave(widths, "/") # "-bit " # words>;
class AnyIntOfWidths<list<int> widths> : Prelude_OneOf<!foreach(w, widths, AnyI<w>), widths, "integer">;
class SignlessIntOfWidths<list<int> widths> : Prelude_OneOf<!foreach(w, widths, I<w>), widths, "signless integer">;
class SignedIntOfWidths<list<int> widths> : Prelude_OneOf<!foreach(w, widths, SI<w>), widths, "signed integer">;
class UnsignedIntOfWidths<list<int> widths> : Prelude_OneOf<!foreach(w, widths, UI<w>), widths, "unsigned integer">;

def AnyFloat : Type<Prelude_Isa<"FloatType">, "floating-point">;
class F<int width>
    : Prelude_Kind<"isF" # width, width # "-bit float">, BuildableType<"$_builder.getF" # width # "Type()"> {
  int bitwidth = width;
}
foreach width = [16, 32, 64, 80, 128] in def F # width : F<width>;
class FloatOfWidths<list<int> widths> : Prelude_OneOf<!foreach(w, widths, F<w>), widths, "float">;
class Prelude_Float<string cpp, string name>
    : Type<Prelude_Isa<cpp>, name # " type">, BuildableType<"$_builder.getType<" # cpp # ">()">;
def BF16 : Prelude_Float<"BFloat16Type", "bfloat16">;
def TF32 : Prelude_Float<"FloatTF32Type", "tf32">;
foreach form = ["4E2M1FN", "6E2M3FN", "6E3M2FN", "8E3M4", "8E4M3", "8E4M3B11FNUZ", "8E4M3FN", "8E4M3FNUZ", "8E5M2",
                "8E5M2FNUZ", "8E8M0FNU"] in
  def F # form : Prelude_Float<"Float" # form # "Type", "f" # form>;
def AnyComplex : Type<Prelude_Isa<"ComplexType">, "complex-type">;
class Complex<Type elType>
    : ConfinedType<AnyComplex, [Prelude_Part<"cast<ComplexType>($_self).getElementType()", elType.predicate>],
                   "complex type with " # elType.summary # " elements">,
      SameBuildabilityAs<elType, "ComplexType::get($_builder.get" # elType # "Type())"> { Type elementType = elType; }

// -- shapes

foreach name = ["BaseMemRef", "MemRef", "RankedTensor", "Shaped", "Tensor", "Tuple", "UnrankedMemRef",
                "UnrankedTensor"] in
  def Is # name # TypePred : Prelude_Isa<name # "Type">;
def IsTensorOrMemRefTypePred : Or<[IsTensorTypePred, IsMemRefTypePred]>;
def HasRankPred : CPred<"cast<ShapedType>($_self).hasRank()">;
def HasStaticShapePred : CPred<"cast<ShapedType>($_self).hasStaticShape()">;
def HasStridesPred : CPred<"cast<MemRefType>($_self).isStrided()">;
def HasValueSemanticsPred : CPred<"$_self.hasTrait<ValueSemantics>()">;
class Prelude_Rank<string comparison> : CPred<"cast<ShapedType>($_self).getRank() " # comparison>;
class Prelude_Count<string comparison> : CPred<"cast<VectorType>($_self).getNumElements() " # comparison>;
class HasAnyRankOfPred<list<int> ranks> : And<[HasRankPred, Or<!foreach(n, ranks, Prelude_Rank<"== " # n>)>]>;
class HasRankGreaterOrEqualPred<int rank> : And<[HasRankPred, Prelude_Rank<">= " # rank>]>;
def IsVectorOfAnyRankTypePred : Prelude_Isa<"VectorType">;
def IsFixedVectorOfAnyRankTypePred : Prelude_Isa<"FixedVectorType">;
def IsVectorTypeWithAnyDimScalablePred : Prelude_Isa<"ScalableVectorType">;
def IsVectorOfNonZeroRankTypePred : And<[IsVectorOfAnyRankTypePred, Prelude_Rank<"> 0">]>;
def IsFixedVectorOfNonZeroRankTypePred : And<[IsFixedVectorOfAnyRankTypePred, Prelude_Rank<"> 0">]>;
def IsVectorTypeWithAllDimsScalablePred
    : And<[IsVectorOfNonZeroRankTypePred, CPred<"cast<VectorType>($_self).allDimsScalable()">]>;
def IsVectorTypeWithOnlyTrailingDimScalablePred
    : And<[IsVectorOfNonZeroRankTypePred, CPred<"cast<VectorType>($_self).onlyTrailingDimScalable()">]>;

// One of several ranks, or one of several numbers of elements.
class Prelude_Ranks<Pred vector, list<int> ns> : And<[vector, Or<!foreach(n, ns, Prelude_Rank<"== " # n>)>]>;
class Prelude_Lengths<Pred vector, list<int> ns> : And<[vector, Or<!foreach(n, ns, Prelude_Count<"== " # n>)>]>;
class IsVectorOfRankPred<list<int> allowedRanks> : Prelude_Ranks<IsVectorOfNonZeroRankTypePred, allowedRanks>;
class IsFixedVectorOfRankPred<list<int> allowedRanks> : Prelude_Ranks<IsFixedVectorOfAnyRankTypePred, allowedRanks>;
class IsScalableVectorOfRankPred<list<int> allowedRanks>
    : Prelude_Ranks<IsVectorTypeWithAnyDimScalablePred, allowedRanks>;
class IsVectorOfLengthPred<list<int> allowedLengths> : Prelude_Lengths<IsVectorOfNonZeroRankTypePred, allowedLengths>;
class IsFixedVectorOfLengthPred<list<int> allowedLengths>
    : Prelude_Lengths<IsFixedVectorOfAnyRankTypePred, allowedLengths>;
class IsScalableVectorOfLengthPred<list<int> allowedLengths>
    : Prelude_Lengths<IsVectorTypeWithAnyDimScalablePred, allowedLengths>;
class IsVectorOfMinLengthPred<int minLength> : And<[IsVectorOfNonZeroRankTypePred, Prelude_Count<">= " # minLength>]>;
class IsVectorOfMaxLengthPred<int maxLength> : And<[IsVectorOfNonZeroRankTypePred, Prelude_Count<"<= " # maxLength>]>;
class IsVectorOfShape<list<int> shape>
    : CPred<"cast<VectorType>($_self).getShape() == ArrayRef<int64_t>({" # !interleave(shape, ", ") # "})">;
class IsNthDimSizeIsOneOfPred<int n, list<int> allowedSizes>
    : And<[Prelude_Rank<">= " # !if(!lt(n, 0), !sub(0, n), !add(n, 1))>,
           CPred<"is_contained({" # !interleave(allowedSizes, ", ") # "}, "
                 # "cast<ShapedType>($_self).getDimSize(" # n # "))">]>;

// -- containers

class ContainerType<Type etype, Pred containerPred, code elementTypeCall, string descr,
                    string cppType = "::mlir::Type">
    : Type<And<[containerPred, Prelude_Part<elementTypeCall, etype.predicate>]>,
           descr # " of " # etype.summary # " values", cppType>;
class ShapedContainerType<list<Type> allowedTypes, Pred containerPred, string descr, string cppType = "::mlir::Type">
    : ContainerType<AnyTypeOf<allowedTypes>, containerPred, "cast<ShapedType>($_self).getElementType()",
                    descr, cppType>;
class ValueSemanticsContainerOf<list<Type> allowedTypes>
    : ShapedContainerType<allowedTypes, HasValueSemanticsPred, "container with value semantics">;
def AnyShaped : ShapedContainerType<[AnyType], IsShapedTypePred, "shaped">;
class TensorOrMemRef<list<Type> allowedTypes>
    : ShapedContainerType<allowedTypes, IsTensorOrMemRefTypePred, "Tensor or MemRef">;
class ShapedTypeWithNthDimOfSize<int n, list<int> allowedSizes>
    : Type<IsNthDimSizeIsOneOfPred<n, allowedSizes>,
           " with dim " # n # " having a size of {" # !interleave(allowedSizes, ", ") # "}">;

class TensorOf<list<Type> allowedTypes, list<Pred> preds = [], string summary = "tensor">
    : ShapedContainerType<allowedTypes, And<[IsTensorTypePred] # preds>, summary>;
class RankedTensorOf<list<Type> allowedTypes, list<Pred> preds = [], string summary = "ranked tensor">
    : ShapedContainerType<allowedTypes, And<[IsRankedTensorTypePred] # preds>, summary>;
class UnrankedTensorOf<list<Type> allowedTypes, list<Pred> preds = [], string summary = "unranked tensor">
    : ShapedContainerType<allowedTypes, And<[IsUnrankedTensorTypePred] # preds>, summary>;
class Non0RankedTensorOf<list<Type> allowedTypes>
    : TensorOf<allowedTypes, [HasRankGreaterOrEqualPred<1>], "non-0-ranked.tensor">;
class StaticShapeTensorOf<list<Type> allowedTypes>
    : RankedTensorOf<allowedTypes, [HasStaticShapePred], "statically shaped tensor">;
// `0D/2D` for ranks 0 and 2.
class Prelude_RankWords<list<int> ranks> { string all = !interleave(!foreach(n, ranks, n # "D"), "/"); }
class TensorRankOf<list<Type> allowedTypes, list<int> ranks>
    : RankedTensorOf<allowedTypes, [HasAnyRankOfPred<ranks>], Prelude_RankWords<ranks>.all # " tensor">;
class 0DTensorOf<list<Type> allowedTypes> : TensorRankOf<allowedTypes, [0]>;
class 1DTensorOf<list<Type> allowedTypes> : TensorRankOf<allowedTypes, [1]>;
class 2DTensorOf<list<Type> allowedTypes> : TensorRankOf<allowedTypes, [2]>;
class 3DTensorOf<list<Type> allowedTypes> : TensorRankOf<allowedTypes, [3]>;
class 4DTensorOf<list<Type> allowedTypes> : TensorRankOf<allowedTypes, [4]>;

class MemRefOf<list<Type> allowedTypes> : ShapedContainerType<allowedTypes, IsMemRefTypePred, "memref">;
class UnrankedMemRefOf<list<Type> allowedTypes>
    : ShapedContainerType<allowedTypes, IsUnrankedMemRefTypePred, "unranked.memref">;
class RankedOrUnrankedMemRefOf<list<Type> allowedTypes, list<Pred> preds = [],
                               string summary = "ranked or unranked memref">
    : ShapedContainerType<allowedTypes, And<[IsBaseMemRefTypePred] # preds>, summary>;
// A memref with another condition, whose words precede `memref of ..`.
class Prelude_MemRef<list<Type> of, list<Pred> preds, string words>
    : ConfinedType<MemRefOf<of>, preds, words # MemRefOf<of>.summary>;
class MemRefRankOf<list<Type> allowedTypes, list<int> ranks>
    : Prelude_MemRef<allowedTypes, [HasAnyRankOfPred<ranks>], Prelude_RankWords<ranks>.all # " ">;
class Non0RankedMemRefOf<list<Type> allowedTypes>
    : Prelude_MemRef<allowedTypes, [HasRankGreaterOrEqualPred<1>], "non-0-ranked.">;
class StaticShapeMemRefOf<list<Type> allowedTypes>
    : Prelude_MemRef<allowedTypes, [HasStaticShapePred], "statically shaped ">;
class StridedMemRefOf<list<Type> allowedTypes> : Prelude_MemRef<allowedTypes, [HasStridesPred], "strided ">;
class StridedMemRefRankOf<list<Type> allowedTypes, list<int> ranks>
    : ConfinedType<MemRefRankOf<allowedTypes, ranks>, [HasStridesPred], MemRefRankOf<allowedTypes, ranks>.summary>;

class VectorOfAnyRankOf<list<Type> allowedTypes>
    : ShapedContainerType<allowedTypes, IsVectorOfAnyRankTypePred, "vector">;
class VectorOfNonZeroRankOf<list<Type> allowedTypes>
    : ShapedContainerType<allowedTypes, IsVectorOfNonZeroRankTypePred, "vector">;
class FixedVectorOfAnyRank<list<Type> allowedTypes>
    : ShapedContainerType<allowedTypes, IsFixedVectorOfAnyRankTypePred, "fixed-length vector">;
class FixedVectorOfNonZeroRankOf<list<Type> allowedTypes>
    : ShapedContainerType<allowedTypes, IsFixedVectorOfNonZeroRankTypePred, "fixed-length vector">;
class ScalableVectorOfAnyRank<list<Type> allowedTypes>
    : ShapedContainerType<allowedTypes, IsVectorTypeWithAnyDimScalablePred, "scalable vector">;
class VectorWithTrailingDimScalableOf<list<Type> allowedTypes>
    : ShapedContainerType<allowedTypes, IsVectorTypeWithOnlyTrailingDimScalablePred, "trailing scalable vector">;
class Prelude_VectorWithRank<Pred pred, list<int> ranks> : Type<pred, " of ranks " # !interleave(ranks, "/")>;
class VectorOfRank<list<int> allowedRanks> : Prelude_VectorWithRank<IsVectorOfRankPred<allowedRanks>, allowedRanks>;
class FixedVectorOfRank<list<int> allowedRanks>
    : Prelude_VectorWithRank<IsFixedVectorOfRankPred<allowedRanks>, allowedRanks>;
class ScalableVectorOfRank<list<int> allowedRanks>
    : Prelude_VectorWithRank<IsScalableVectorOfRankPred<allowedRanks>, allowedRanks>;
class Prelude_VectorWithLength<Pred pred, string lengths> : Type<pred, " of " # lengths>;
class VectorOfMinLength<int minLength>
    : Prelude_VectorWithLength<IsVectorOfMinLengthPred<minLength>, "at least length " # minLength>;
class VectorOfMaxLength<int maxLength>
    : Prelude_VectorWithLength<IsVectorOfMaxLengthPred<maxLength>, "at most length " # maxLength>;
class VectorOfLength<list<int> allowedLengths>
    : Prelude_VectorWithLength<IsVectorOfLengthPred<allowedLengths>, "length " # !interleave(allowedLengths, "/")>;
class FixedVectorOfLength<list<int> allowedLengths>
    : Prelude_VectorWithLength<IsFixedVectorOfLengthPred<allowedLengths>, "length " # !interleave(allowedLengths, "/")>;
class ScalableVectorOfLength<list<int> allowedLengths>
    : Prelude_VectorWithLength<IsScalableVectorOfLengthPred<allowedLengths>,
                               "length " # !interleave(allowedLengths, "/")>;
// Several conditions at once; the summaries follow each other.
class Prelude_Both<list<Type> types> : AllOfType<types, !interleave(!foreach(t, types, t.summary), "")>;
class VectorOfRankAndType<list<int> allowedRanks, list<Type> allowedTypes>
    : Prelude_Both<[VectorOfNonZeroRankOf<allowedTypes>, VectorOfRank<allowedRanks>]>;
class FixedVectorOfRankAndType<list<int> allowedRanks, list<Type> allowedTypes>
    : Prelude_Both<[FixedVectorOfAnyRank<allowedTypes>, FixedVectorOfRank<allowedRanks>]>;
class VectorOfLengthAndType<list<int> allowedLengths, list<Type> allowedTypes>
    : Prelude_Both<[VectorOfNonZeroRankOf<allowedTypes>, VectorOfLength<allowedLengths>]>;
class FixedVectorOfLengthAndType<list<int> allowedLengths, list<Type> allowedTypes>
    : Prelude_Both<[FixedVectorOfAnyRank<allowedTypes>, FixedVectorOfLength<allowedLengths>]>;
class ScalableVectorOfLengthAndType<list<int> allowedLengths, list<Type> allowedTypes>
    : Prelude_Both<[ScalableVectorOfAnyRank<allowedTypes>, ScalableVectorOfLength<allowedLengths>]>;
class VectorOfMinMaxLengthAndType<int minLength, int maxLength, list<Type> allowedTypes>
    : Prelude_Both<[VectorOfNonZeroRankOf<allowedTypes>, VectorOfMinLength<minLength>, VectorOfMaxLength<maxLength>]>;
class ScalableVectorOfRankAndLengthAndType<list<int> allowedRanks, list<int> allowedLengths, list<Type> allowedTypes>
    : Prelude_Both<[ScalableVectorOfRank<allowedRanks>, ScalableVectorOfAnyRank<allowedTypes>,
                    ScalableVectorOfLength<allowedLengths>]>;
class VectorWithTrailingDimScalableOfSizeAndType<list<int> allowedTrailingSizes, list<Type> allowedTypes>
    : Prelude_Both<[VectorWithTrailingDimScalableOf<allowedTypes>,
                    ShapedTypeWithNthDimOfSize<-1, allowedTrailingSizes>]>;
class FixedVectorOfShapeAndType<list<int> shape, Type elType>
    : ShapedContainerType<[elType], And<[IsVectorOfShape<shape>, IsFixedVectorOfAnyRankTypePred]>,
                          "vector<" # !interleave(shape, "x") # "x" # elType # ">">,
      BuildableType<"VectorType::get(..)">;

class MixedContainerType<Type etype, Pred containerPred, code elementTypesCall, string descr>
    : Type<And<[containerPred, Concat<"all_of(" # elementTypesCall # ", [](Type t) { return t && (",
                                      SubstLeaves<"$_self", "t", etype.predicate>, "); })">]>,
           descr # " with any combination of " # etype.summary # " values"> {
  Type elementType = etype; code getElementTypesCall = elementTypesCall;
}
def AnyTuple : Type<IsTupleTypePred, "tuple">;
class TupleOf<list<Type> allowedTypes>
    : MixedContainerType<AnyTypeOf<allowedTypes>, IsTupleTypePred, "cast<TupleType>($_self).getTypes()", "tuple">;
class NestedTupleOf<list<Type> allowedTypes>
    : MixedContainerType<AnyTypeOf<allowedTypes>, IsTupleTypePred, "getFlattenedTypes(cast<TupleType>($_self))",
                         "nested tuple">;

// -- containers of anything, and of single element types

def AnyTensor : TensorOf<[AnyType]>;
def AnyRankedTensor : RankedTensorOf<[AnyType]>;
def AnyUnrankedTensor : UnrankedTensorOf<[AnyType]>;
def AnyNon0RankedTensor : Non0RankedTensorOf<[AnyType]>;
def AnyStaticShapeTensor : StaticShapeTensorOf<[AnyType]>;
def AnyNon0RankedOrUnrankedTensor
    : AnyTypeOf<[AnyUnrankedTensor, AnyNon0RankedTensor], "non-0-ranked or unranked tensor">;
def AnyMemRef : MemRefOf<[AnyType]>;
def AnyUnrankedMemRef : UnrankedMemRefOf<[AnyType]>;
def AnyNon0RankedMemRef : Non0RankedMemRefOf<[AnyType]>;
def AnyStaticShapeMemRef : StaticShapeMemRefOf<[AnyType]>;
def AnyStridedMemRef : StridedMemRefOf<[AnyType]>;
def AnyRankedOrUnrankedMemRef : RankedOrUnrankedMemRefOf<[AnyType]>;
def AnyNon0RankedOrUnrankedMemRef : AnyTypeOf<[AnyUnrankedMemRef, AnyNon0RankedMemRef]>;
class AnyStridedMemRefOfRank<int rank>
    : AllOfType<[AnyStridedMemRef, MemRefRankOf<[AnyType], [rank]>], AnyStridedMemRef.summary # " of rank " # rank>;
def AnyVectorOfAnyRank : VectorOfAnyRankOf<[AnyType]>;
def AnyVectorOfNonZeroRank : VectorOfNonZeroRankOf<[AnyType]>;
def AnyFixedVectorOfAnyRank : FixedVectorOfAnyRank<[AnyType]>;
def AnyFixedVectorOfNonZeroRank : FixedVectorOfNonZeroRankOf<[AnyType]>;
def AnyScalableVectorOfAnyRank : ScalableVectorOfAnyRank<[AnyType]>;
foreach of = [I1, I8, I16, I32, I64, BF16, F16, F32, F64] in {
  def of # Tensor : TensorOf<[of]>;
  def of # MemRef : MemRefOf<[of]>;
}
def IndexTensor : TensorOf<[Index]>;

// -- scalars, and containers of them

class TypeOrValueSemanticsContainer<Type allowedType, string name>
    : Type<Or<[allowedType.predicate, ValueSemanticsContainerOf<[allowedType]>.predicate]>, name>;
def BoolLike : TypeOrValueSemanticsContainer<I1, "bool-like">;
def FloatLike : TypeOrValueSemanticsContainer<AnyFloat, "floating-point-like">;
def SignlessIntegerLike : TypeOrValueSemanticsContainer<AnySignlessInteger, "signless-integer">;
def SignlessIntegerOrIndexLike : TypeOrValueSemanticsContainer<AnySignlessIntegerOrIndex, "signless-integer-like">;
class Prelude_OrFloat<Type other, string words> : TypeConstraint<Or<[other.predicate, FloatLike.predicate]>, words>;
def SignlessIntegerOrFloatLike
    : Prelude_OrFloat<SignlessIntegerLike, "signless-integer-like or floating-point-like">;
def SignlessIntegerOrIndexOrFloatLike
    : Prelude_OrFloat<SignlessIntegerOrIndexLike, "signless-integer-or-index-like or floating-point-like">;

#endif
