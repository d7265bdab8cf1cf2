// Constraints of types, attributes and properties, each with parameters as definitions have them.
include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/PatternBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/BuiltinTypeInterfaces.td"

def D : Dialect { let name = "d"; let cppNamespace = "::d"; }
def E32x : I32EnumAttrCase<"x", 3>;
def E32 : I32EnumAttr<"E32", "", [E32x, I32EnumAttrCase<"y", 5, "why">]> { let cppNamespace = "::d"; }
def NoGen : I64EnumAttr<"NoGen", "sum", [I64EnumAttrCase<"z", 3>]> { let cppNamespace = "::d"; let genSpecializedAttr = 0; }
def E2 : I32Enum<"E2", "", [I32EnumCase<"a", 0>, I32EnumCase<"b", 7>]> { let cppNamespace = "::d"; }
def EA : EnumAttr<D, E2, "e"> { let assemblyFormat = "`<` $value `>`"; }
def EBx : I32BitEnumAttrCaseBit<"p", 1>;
def EB : I32BitEnumAttr<"EB", "bits", [I32BitEnumAttrCaseNone<"none">, EBx, I32BitEnumAttrCaseBit<"q", 2>, I32BitEnumAttrCaseGroup<"pq", [EBx]>]> { let cppNamespace = "::d"; let separator = ", "; }
def EB16 : I16BitEnumAttr<"EB16", "bits", [I16BitEnumAttrCaseBit<"q", 2>]> { let cppNamespace = "::d"; let genSpecializedAttr = 0; }
def EB8 : I8BitEnum<"EB8", "", [I8BitEnumCaseBit<"m", 1>, I8BitEnumCaseBit<"n", 2>, BitEnumCaseGroup<"mn", [I8BitEnumCaseBit<"m", 1>, I8BitEnumCaseBit<"n", 2>]>]> { let cppNamespace = "::d"; }
def EBA : EnumAttr<D, EB8, "eb">;
def Pt : AttrDef<D, "Pt"> { let mnemonic = "pt"; let parameters = (ins "int":$a); let assemblyFormat = "`<` $a `>`"; }

// `one` has the constraint.
class Case<Constraint of> { Constraint one = of; }

def : Case<AnyTypeOf<[F32, I8]>>;
def : Case<AllOfType<[AnyTensor, AnyRankedTensor]>>;
def : Case<ConfinedType<AnyTensor, [HasRankPred], "x">>;
def : Case<AnyI<4>>;
def : Case<I<3>>;
def : Case<SI<8>>;
def : Case<UI<16>>;
def : Case<F<32>>;
def : Case<AnyIntOfWidths<[8, 16]>>;
def : Case<SignlessIntOfWidths<[8, 16]>>;
def : Case<SignedIntOfWidths<[8]>>;
def : Case<UnsignedIntOfWidths<[8]>>;
def : Case<FloatOfWidths<[16, 32]>>;
def : Case<Complex<F32>>;
def : Case<OpaqueType<"a", "b", "c">>;
def : Case<TypeAlias<F32, "q">>;
def : Case<TypeAlias<F32>>;
def : Case<VectorOfAnyRankOf<[F32]>>;
def : Case<VectorOfNonZeroRankOf<[F32]>>;
def : Case<ValueSemanticsContainerOf<[F32]>>;
def : Case<TensorOf<[F32, I8], [HasRankPred], "w">>;
def : Case<TensorOf<[F32]>>;
def : Case<RankedTensorOf<[F32]>>;
def : Case<RankedTensorOf<[F32], [HasStaticShapePred], "w">>;
def : Case<MemRefOf<[F32]>>;
def : Case<UnrankedTensorOf<[F32]>>;
def : Case<TensorRankOf<[F32], [1, 2]>>;
def : Case<0DTensorOf<[F32]>>;
def : Case<1DTensorOf<[F32]>>;
def : Case<2DTensorOf<[F32]>>;
def : Case<3DTensorOf<[F32]>>;
def : Case<4DTensorOf<[F32]>>;
def : Case<StaticShapeTensorOf<[F32]>>;
def : Case<MemRefRankOf<[F32], [0, 2]>>;
def : Case<StaticShapeMemRefOf<[F32]>>;
def : Case<UnrankedMemRefOf<[F32]>>;
def : Case<RankedOrUnrankedMemRefOf<[F32]>>;
def : Case<TensorOrMemRef<[F32]>>;
def : Case<TupleOf<[F32, I32]>>;
def : Case<NestedTupleOf<[F32]>>;
def : Case<TypeOrValueSemanticsContainer<I8, "z">>;
def : Case<VectorOfRank<[1, 2]>>;
def : Case<FixedVectorOfRank<[1]>>;
def : Case<ScalableVectorOfRank<[1]>>;
def : Case<VectorOfRankAndType<[1], [F32]>>;
def : Case<FixedVectorOfRankAndType<[1], [F32]>>;
def : Case<VectorOfLength<[4]>>;
def : Case<VectorOfMinLength<3>>;
def : Case<VectorOfMaxLength<5>>;
def : Case<FixedVectorOfLength<[4]>>;
def : Case<ScalableVectorOfLength<[4]>>;
def : Case<VectorOfLengthAndType<[4], [F32]>>;
def : Case<FixedVectorOfLengthAndType<[4], [F32]>>;
def : Case<ScalableVectorOfLengthAndType<[4], [F32]>>;
def : Case<VectorOfMinMaxLengthAndType<2, 4, [F32]>>;
def : Case<ScalableVectorOfRankAndLengthAndType<[1], [4], [F32]>>;
def : Case<VectorWithTrailingDimScalableOf<[F32]>>;
def : Case<VectorWithTrailingDimScalableOfSizeAndType<[4], [F32]>>;
def : Case<FixedVectorOfShapeAndType<[2, 3], F32>>;
def : Case<FixedVectorOfAnyRank<[F32]>>;
def : Case<FixedVectorOfNonZeroRankOf<[F32]>>;
def : Case<ScalableVectorOfAnyRank<[F32]>>;
def : Case<ShapedTypeWithNthDimOfSize<-1, [4]>>;
def : Case<ShapedTypeWithNthDimOfSize<1, [4]>>;
def : Case<Non0RankedTensorOf<[F32]>>;
def : Case<Non0RankedMemRefOf<[F32]>>;
def : Case<StridedMemRefOf<[F32]>>;
def : Case<StridedMemRefRankOf<[F32], [1, 2]>>;
def : Case<AnyStridedMemRefOfRank<2>>;
def : Case<ContainerType<F32, IsTensorTypePred, "::llvm::cast<::mlir::TensorType>($_self).getElementType()", "tensor">>;
def : Case<ShapedContainerType<[F32], IsTensorTypePred, "tt">>;
def : Case<Variadic<F32>>;
def : Case<Optional<F32>>;
def : Case<VariadicOfVariadic<F32, "s">>;
def : Case<TypeConstraint<CPred<"$_self.isF32()">, "u">>;
def : Case<Type<And<[I32.predicate]>, "u">>;
def : Case<OptionalAttr<I32Attr>>;
def : Case<DefaultValuedAttr<I32Attr, "3">>;
def : Case<DefaultValuedOptionalAttr<I32Attr, "3">>;
def : Case<DefaultValuedStrAttr<StrAttr, "x">>;
def : Case<DefaultValuedOptionalStrAttr<StrAttr, "x">>;
def : Case<DefaultValuedAttr<I64ArrayAttr, "{1, 2}">>;
def : Case<DefaultValuedAttr<F32Attr, "1.5f">>;
def : Case<DefaultValuedAttr<BoolAttr, "true">>;
def : Case<DefaultValuedAttr<ArrayAttr, "{}">>;
def : Case<DefaultValuedAttr<I64ElementsAttr, "{1}">>;
def : Case<DefaultValuedAttr<RankedI64ElementsAttr<[2]>, "{1, 1}">>;
def : Case<ConfinedAttr<I32Attr, [IntMinValue<2>, IntMaxValue<5>]>>;
def : Case<ConfinedAttr<I32Attr, [IntNEQValue<2>]>>;
def : Case<ConfinedAttr<I32Attr, [IntPositive]>>;
def : Case<ConfinedAttr<I32Attr, [IntNonNegative]>>;
def : Case<ConfinedAttr<I32Attr, [IntPowerOf2]>>;
def : Case<IntValidAlignment<I64Attr>>;
def : Case<ConfinedAttr<I32Attr, [IntIsOneOf<[1, 3]>]>>;
def : Case<ConfinedAttr<ArrayAttr, [ArrayMinCount<2>, ArrayMaxCount<3>]>>;
def : Case<ConfinedAttr<ArrayAttr, [ArrayCount<2>]>>;
def : Case<ConfinedAttr<DenseI64ArrayAttr, [DenseArrayCount<2>]>>;
def : Case<ConfinedAttr<DenseI64ArrayAttr, [DenseArrayMinCt<2>, DenseArrayMaxCt<3>]>>;
def : Case<ConfinedAttr<DenseI64ArrayAttr, [DenseArrayStrictlyPositive<DenseI64ArrayAttr>]>>;
def : Case<ConfinedAttr<DenseI64ArrayAttr, [DenseArrayNonNegative<DenseI64ArrayAttr>]>>;
def : Case<ConfinedAttr<DenseI64ArrayAttr, [DenseArraySorted<DenseI64ArrayAttr>]>>;
def : Case<ConfinedAttr<DenseI64ArrayAttr, [DenseArrayStrictlySorted<DenseI64ArrayAttr>]>>;
def : Case<ConfinedAttr<I64ArrayAttr, [IntArrayNthElemEq<0, 2>]>>;
def : Case<ConfinedAttr<I64ArrayAttr, [IntArrayNthElemMinValue<0, 2>]>>;
def : Case<ConfinedAttr<I64ArrayAttr, [IntArrayNthElemMaxValue<0, 2>]>>;
def : Case<ConfinedAttr<I64ArrayAttr, [IntArrayNthElemInRange<0, 1, 2>]>>;
def : Case<ConfinedAttr<I32Attr, [AllAttrOf<[IntPositive, IntPowerOf2]>]>>;
def : Case<AnyAttrOf<[I32Attr, StrAttr]>>;
def : Case<TypedArrayAttrBase<I8Attr, "bytes">>;
def : Case<TypeAttrOf<AnyTensor>>;
def : Case<TypeAttrOf<FunctionType>>;
def : Case<TypeAttrBase<"::mlir::FunctionType", "fn">>;
def : Case<TypedStrAttr<F32>>;
def : Case<RankedI32ElementsAttr<[2]>>;
def : Case<RankedI64ElementsAttr<[2]>>;
def : Case<RankedF32ElementsAttr<[2]>>;
def : Case<RankedF64ElementsAttr<[2]>>;
def : Case<IntElementsAttrOf<32>>;
def : Case<SignlessIntElementsAttr<64>>;
def : Case<FloatElementsAttr<32>>;
def : Case<DictionaryAttrBase<CPred<"true">, "d">>;
def : Case<ElementsAttrBase<CPred<"true">, "e">>;
def : Case<StringBasedAttr<StrAttrPred, "s">>;
def : Case<SignedIntegerAttrBase<SI8, "q">>;
def : Case<UnsignedIntegerAttrBase<UI8, "q">>;
def : Case<SignlessIntegerAttrBase<I<4>, "q">>;
def : Case<AnyIntegerAttrBase<AnyI8, "q">>;
def : Case<FloatAttrBase<F16, "h">>;
def : Case<DerivedAttr<"int", "x">>;
def : Case<DerivedTypeAttr<"x">>;
def : Case<ConstantAttr<I32Attr, "3">>;
def : Case<ConstantStrAttr<StrAttr, "x">>;
def : Case<ConstF32Attr<"2.0">>;
def : Case<DenseArrayAttrBase<"DenseI64ArrayAttr", "int64_t", "i64">>;
def : Case<OptionalProp<I64Prop>>;
def : Case<OptionalProp<I64Prop, 0>>;
def : Case<OptionalProp<UnitProp>>;
def : Case<OptionalProp<ArrayProp<I64Prop>>>;
def : Case<OptionalProp<StringProp>>;
def : Case<OptionalProp<DefaultValuedProp<I64Prop, "3">>>;
def : Case<OptionalProp<OptionalProp<I64Prop>>>;
def : Case<ArrayProp<StringProp>>;
def : Case<ArrayProp<I64Prop>>;
def : Case<IntArrayProp<I64Prop>>;
def : Case<IntArrayProp<I32Prop, "n">>;
def : Case<DefaultValuedProp<I64Prop, "3">>;
def : Case<DefaultValuedProp<StringProp, "\"\"">>;
def : Case<ConfinedProp<I64Prop, CPred<"$_self > 3">, "more">>;
def : Case<ConfinedProp<I64Prop, CPred<"$_self > 3">>>;
def : Case<IntProp<"int64_t">>;
def : Case<IntProp<"int8_t", "byte">>;
def : Case<ConstantProp<I64Prop, "3">>;
def : Case<Property<"int64_t", "p">>;
def : Case<DefaultValuedProp<ArrayProp<I64Prop>, "{1}">>;
def : Case<ConfinedAttr<OptionalAttr<I32Attr>, [IntPositive]>>;
def : Case<OptionalAttr<AnyAttr>>;
def : Case<OptionalAttr<TypeAttr>>;
def : Case<OptionalAttr<E32>>;
def : Case<E32>;
def : Case<EA>;
def : Case<OptionalAttr<EA>>;
def : Case<DefaultValuedAttr<EA, "::d::E2::b">>;
def : Case<EnumProp<E2>>;
def : Case<NamedEnumProp<E2, "w">>;
def : Case<OptionalProp<EnumProp<E2>>>;
def : Case<DefaultValuedProp<EnumProp<E2>, "::d::E2::a">>;
def : Case<EB>;
def : Case<EBA>;
def : Case<EnumProp<EB8>>;
def : Case<EnumPropWithAttrForm<E2, EA>>;
def : Case<NamedEnumPropWithAttrForm<E2, "w", EA>>;
def : Case<ConstantEnumCase<E32, "x">>;
def : Case<ConstantEnumCase<EA, "a">>;
def : Case<DefaultValuedEnumAttr<E32, E32x>>;
def : Case<NoGen>;
def : Case<Pt>;
def : Case<OptionalAttr<Pt>>;
def : Case<EB16>;
