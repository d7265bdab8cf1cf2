// Constraints of attributes, and properties.

#ifndef PRELUDE_ATTRIBUTES
#define PRELUDE_ATTRIBUTES

include "mlir/prelude/Types.td"

class Attr<Pred condition, string summary = ""> : AttrConstraint<condition, summary> {
  Attr baseAttr = ?;
  bit isOptional = 0;
  Type valueType = ?;
  string defaultValue = ?;
  string description = ""; string cppNamespace = "";
  code storageType = ?; code returnType = ?; code convertFromStorage = ""; string constBuilderCall = ?;
}
class DialectAttr<Dialect d, Pred condition, string summary = ""> : Attr<condition, summary> {
  Dialect dialect = d; let cppNamespace = d.cppNamespace;
}
// An attribute that is stored in a class, by default every attribute of the class.
class Prelude_Stored<string cpp, string summary, Pred pred = Prelude_Isa<cpp>> : Attr<pred, summary> {
  let storageType = "::mlir::" # cpp;
}

// -- defaults, and attributes that may be absent

class Prelude_Changed<Attr of, string default, bit optional, list<AttrConstraint> also = []>
    : Attr<!if(!empty(also), of.predicate, And<[of.predicate] # !foreach(each, also, each.predicate)>),
           !interleave([of.summary] # !foreach(each, also, each.summary), " ")> {
  let baseAttr = of; let isOptional = optional; let defaultValue = default; let valueType = of.valueType;
  let storageType = of.storageType; let returnType = of.returnType; let constBuilderCall = of.constBuilderCall;
}
class OptionalAttr<Attr attr> : Prelude_Changed<attr, ?, 1>;
class DefaultValuedAttr<Attr attr, string val> : Prelude_Changed<attr, val, 0>;
class DefaultValuedOptionalAttr<Attr attr, string val> : Prelude_Changed<attr, val, 1>;
class DefaultValuedStrAttr<Attr attr, string val> : DefaultValuedAttr<attr, "\"" # val # "\"">;
class DefaultValuedOptionalStrAttr<Attr attr, string val> : DefaultValuedOptionalAttr<attr, "\"" # val # "\"">;
class ConfinedAttr<Attr attr, list<AttrConstraint> constraints>
    : Prelude_Changed<attr, attr.defaultValue, attr.isOptional, constraints> {
  list<AttrConstraint> attrConstraints = constraints;
}
class DerivedAttr<code ret, code b, code convert = ""> : Attr<CPred<"true">, "derived attribute"> {
  code body = b; let returnType = ret; let convertFromStorage = convert;
}
class DerivedTypeAttr<code body> : DerivedAttr<"::mlir::Type", body>;
class ConstantAttr<Attr attribute, string val>
    : AttrConstraint<CPred<"$_self == " # val>, "constant attribute " # val> {
  string value = val; Attr attr = attribute;
}
class ConstantStrAttr<Attr attribute, string val> : ConstantAttr<attribute, "\"" # val # "\"">;

// -- attributes of any kind, numbers

def AnyAttr : Prelude_Stored<"Attribute", "any attribute", CPred<"true">>;
class AnyAttrOf<list<Attr> allowedAttrs, string summary = "", string cppType = "::mlir::Attribute",
                string fromStorage = "$_self">
    : Attr<Or<!foreach(each, allowedAttrs, each.predicate)>,
           !if(!empty(summary), !interleave(!foreach(each, allowedAttrs, each.summary), " or "), summary)> {
  list<Attr> allowedAttributes = allowedAttrs; let returnType = cppType;
}
def BoolAttr : Prelude_Stored<"BoolAttr", "bool attribute"> { let valueType = I1; }
class TypedAttrBase<Type attrValType, string attrKind, Pred condition, string descr>
    : Prelude_Stored<attrKind, descr, condition> { let valueType = attrValType; }
// A number whose type passes a test.
class Prelude_Number<Type of, string cpp, string test, string words>
    : TypedAttrBase<of, cpp, And<[Prelude_Isa<cpp>, CPred<"cast<" # cpp # ">($_self).getType()." # test>]>, words>;
def APIntAttr : Prelude_Stored<"IntegerAttr", "arbitrary integer attribute">;
def IndexAttr : Prelude_Number<Index, "IntegerAttr", "isIndex()", "index attribute">;
class AnyIntegerAttrBase<AnyI attrValType, string descr>
    : Prelude_Number<attrValType, "IntegerAttr", "isInteger(" # attrValType.bitwidth # ")", descr>;
class SignlessIntegerAttrBase<I attrValType, string descr>
    : Prelude_Number<attrValType, "IntegerAttr", "isSignlessInteger(" # attrValType.bitwidth # ")", descr>;
class SignedIntegerAttrBase<SI attrValType, string descr>
    : Prelude_Number<attrValType, "IntegerAttr", "isSignedInteger(" # attrValType.bitwidth # ")", descr>;
class UnsignedIntegerAttrBase<UI attrValType, string descr>
    : Prelude_Number<attrValType, "IntegerAttr", "isUnsignedInteger(" # attrValType.bitwidth # ")", descr>;
class FloatAttrBase<F attrValType, string descr>
    : Prelude_Number<attrValType, "FloatAttr", "isF" # attrValType.bitwidth # "()", descr>;
class Prelude_Returned<string type> { code returnType = type; }
class TypedSignlessIntegerAttrBase<I attrValType, string retType, string descr>
    : SignlessIntegerAttrBase<attrValType, descr>, Prelude_Returned<retType>;
class TypedSignedIntegerAttrBase<SI attrValType, string retType, string descr>
    : SignedIntegerAttrBase<attrValType, descr>, Prelude_Returned<retType>;
class TypedUnsignedIntegerAttrBase<UI attrValType, string retType, string descr>
    : UnsignedIntegerAttrBase<attrValType, descr>, Prelude_Returned<retType>;
foreach w = [1, 8, 16, 32, 64] in {
  defvar number = !if(!eq(w, 1), "bool", "int" # w # "_t");
  defvar natural = !if(!eq(w, 1), "bool", "uint" # w # "_t");
  def AnyI # w # Attr : AnyIntegerAttrBase<!cast<AnyI>("AnyI" # w), w # "-bit integer attribute">;
  def I # w # Attr : TypedSignlessIntegerAttrBase<!cast<I>("I" # w), natural, w # "-bit signless integer attribute">;
  def SI # w # Attr : TypedSignedIntegerAttrBase<!cast<SI>("SI" # w), number, w # "-bit signed integer attribute">;
  def UI # w # Attr : TypedUnsignedIntegerAttrBase<!cast<UI>("UI" # w), natural, w # "-bit unsigned integer attribute">;
}
foreach type = [F32, F64] in def type # Attr : FloatAttrBase<type, type.bitwidth # "-bit float attribute">;
class ConstF32Attr<string val> : ConstantAttr<F32Attr, val>;
foreach word = ["False", "True"] in def ConstBoolAttr # word : ConstantAttr<BoolAttr, !tolower(word)>;

// -- strings, types, units, dictionaries, symbols, locations

class StringBasedAttr<Pred condition, string descr> : Prelude_Stored<"StringAttr", descr, condition> {
  let valueType = NoneType;
}
def StrAttrPred : Prelude_Isa<"StringAttr">;
foreach name = ["StrAttr", "SymbolNameAttr"] in def name : StringBasedAttr<StrAttrPred, "string attribute">;
class TypedStrAttr<Type ty>
    : StringBasedAttr<And<[StrAttrPred, Prelude_Part<"cast<StringAttr>($_self).getType()", ty.predicate>]>,
                      "string attribute of " # ty.summary> { let valueType = ty; }
class TypeAttrBase<string retType, string summary, Pred typePred = CPred<"true">>
    : Prelude_Stored<"TypeAttr", summary,
                     And<[Prelude_Isa<"TypeAttr">,
                          Prelude_Part<"cast<TypeAttr>($_self).getValue()", And<[Prelude_Isa<retType>, typePred]>>]>> {
  let returnType = retType; let valueType = NoneType;
}
def TypeAttr : TypeAttrBase<"::mlir::Type", "any type attribute">;
class TypeAttrOf<Type ty> : TypeAttrBase<ty.cppType, "type attribute of " # ty.summary, ty.predicate>;
def UnitAttr : Prelude_Stored<"UnitAttr", "unit attribute"> {
  let isOptional = 1; let defaultValue = "false"; let returnType = "bool"; let valueType = NoneType;
}
def ConstUnitAttr : ConstantAttr<UnitAttr, "true">;
class DictionaryAttrBase<Pred condition, string summary> : Prelude_Stored<"DictionaryAttr", summary, condition> {
  let valueType = NoneType;
}
def DictionaryAttr : DictionaryAttrBase<Prelude_Isa<"DictionaryAttr">, "dictionary of named attribute values">;
let valueType = NoneType in {
  def SymbolRefAttr : Prelude_Stored<"SymbolRefAttr", "symbol reference attribute">;
  def FlatSymbolRefAttr : Prelude_Stored<"FlatSymbolRefAttr", "flat symbol reference attribute">;
}
def AffineMapAttr : Prelude_Stored<"AffineMapAttr", "AffineMap attribute"> { let valueType = Index; }
def IntegerSetAttr : Prelude_Stored<"IntegerSetAttr", "IntegerSet attribute">;
def LocationAttr : Prelude_Stored<"LocationAttr", "location attribute">;

// -- elements

class ElementsAttrBase<Pred condition, string summary> : Prelude_Stored<"ElementsAttr", summary, condition>;
def ElementsAttr : ElementsAttrBase<Prelude_Isa<"ElementsAttr">, "constant vector/tensor attribute">;
def StringElementsAttr : ElementsAttrBase<Prelude_Isa<"DenseStringElementsAttr">, "string elements attribute">;
class IntElementsAttrBase<Pred condition, string summary>
    : ElementsAttrBase<And<[Prelude_Isa<"DenseIntElementsAttr">, condition]>, summary> {
  let storageType = "::mlir::DenseIntElementsAttr";
}
// The element type passes a test; the shape is given.
class Prelude_ElementTest<string test> : CPred<"cast<DenseElementsAttr>($_self).getType().getElementType()." # test>;
class Prelude_Shape<list<int> dims>
    : CPred<"cast<DenseElementsAttr>($_self).getType().getShape() == ArrayRef<int64_t>({"
            # !interleave(dims, ", ") # "})">;
def AnyIntElementsAttr : IntElementsAttrBase<CPred<"true">, "integer elements attribute">;
def IndexElementsAttr : IntElementsAttrBase<Prelude_ElementTest<"isIndex()">, "index elements attribute">;
class IntElementsAttrOf<int width>
    : IntElementsAttrBase<Prelude_ElementTest<"isInteger(" # width # ")">, width # "-bit integer elements attribute">;
// Defaults are the elements of a tensor of the shape.
class Prelude_Filled<int width, list<int> dims = []> {
  string constBuilderCall = "RankedTensorType::get({" # !interleave(dims, ", ") # "}, $_builder.getIntegerType("
      # width # "))";
}
class SignlessIntElementsAttr<int width>
    : IntElementsAttrBase<Prelude_ElementTest<"isSignlessInteger(" # width # ")">,
                          width # "-bit signless integer elements attribute">, Prelude_Filled<width>;
class RankedSignlessIntElementsAttr<int width, list<int> dims> : SignlessIntElementsAttr<width> {
  let constBuilderCall = Prelude_Filled<width, dims>.constBuilderCall;
  let predicate = And<[SignlessIntElementsAttr<width>.predicate, Prelude_Shape<dims>]>;
  let summary = width # "-bit signless int elements attribute of shape [" # !interleave(dims, ", ") # "]";
}
class FloatElementsAttr<int width>
    : ElementsAttrBase<And<[Prelude_Isa<"DenseFPElementsAttr">, Prelude_ElementTest<"isF" # width # "()">]>,
                       width # "-bit float elements attribute"> { let storageType = "::mlir::DenseElementsAttr"; }
class RankedFloatElementsAttr<int width, list<int> dims>
    : ElementsAttrBase<And<[FloatElementsAttr<width>.predicate, Prelude_Shape<dims>]>,
                       FloatElementsAttr<width>.summary # " of shape [" # !interleave(dims, ", ") # "]"> {
  let storageType = "::mlir::DenseFPElementsAttr";
}
foreach w = [32, 64] in {
  def I # w # ElementsAttr : SignlessIntElementsAttr<w>;
  def AnyI # w # ElementsAttr : IntElementsAttrOf<w>;
}
def F64ElementsAttr : FloatElementsAttr<64>;
class RankedI32ElementsAttr<list<int> dims> : RankedSignlessIntElementsAttr<32, dims>;
class RankedI64ElementsAttr<list<int> dims> : RankedSignlessIntElementsAttr<64, dims>;
class RankedF32ElementsAttr<list<int> dims> : RankedFloatElementsAttr<32, dims>;
class RankedF64ElementsAttr<list<int> dims> : RankedFloatElementsAttr<64, dims>;

// -- arrays

class DenseArrayAttrBase<string denseAttrName, string cppType, string summaryName>
    : ElementsAttrBase<Prelude_Isa<denseAttrName>, summaryName # " dense array attribute"> {
  let storageType = "::mlir::" # denseAttrName; let returnType = "ArrayRef<" # cppType # ">";
}
def DenseBoolArrayAttr : DenseArrayAttrBase<"DenseBoolArrayAttr", "bool", "i1">;
foreach w = [8, 16, 32, 64] in
  def DenseI # w # ArrayAttr : DenseArrayAttrBase<"DenseI" # w # "ArrayAttr", "int" # w # "_t", "i" # w>;
foreach w = [32, 64] in
  def DenseF # w # ArrayAttr
      : DenseArrayAttrBase<"DenseF" # w # "ArrayAttr", !if(!eq(w, 32), "float", "double"), "f" # w>;

class ArrayAttrBase<Pred condition, string summary> : Prelude_Stored<"ArrayAttr", summary, condition> {
  let valueType = NoneType;
}
def ArrayAttr : ArrayAttrBase<Prelude_Isa<"ArrayAttr">, "array attribute">;
class TypedArrayAttrBase<Attr element, string summary>
    : ArrayAttrBase<And<[Prelude_Isa<"ArrayAttr">,
                         Concat<"all_of(cast<ArrayAttr>($_self), [&](Attribute each) { return each && (",
                                SubstLeaves<"$_self", "each", element.predicate>, "); })">]>, summary> {
  Attr elementAttr = element;
}
def BoolArrayAttr : TypedArrayAttrBase<BoolAttr, "1-bit boolean array attribute">;
foreach w = [32, 64] in {
  def I # w # ArrayAttr : TypedArrayAttrBase<!cast<Attr>("I" # w # "Attr"), w # "-bit integer array attribute">;
  def F # w # ArrayAttr : TypedArrayAttrBase<!cast<Attr>("F" # w # "Attr"), w # "-bit float array attribute">;
}
def I64SmallVectorArrayAttr : TypedArrayAttrBase<I64Attr, "64-bit integer array attribute">;
def IndexListArrayAttr : TypedArrayAttrBase<I64ArrayAttr, "Array of 64-bit integer array attributes">;
def StrArrayAttr : TypedArrayAttrBase<StrAttr, "string array attribute">;
def TypeArrayAttr : TypedArrayAttrBase<TypeAttr, "type array attribute">;
def DictArrayAttr : TypedArrayAttrBase<DictionaryAttr, "Array of dictionary attributes">;
def SymbolRefArrayAttr : TypedArrayAttrBase<SymbolRefAttr, "symbol ref array attribute">;
def FlatSymbolRefArrayAttr : TypedArrayAttrBase<FlatSymbolRefAttr, "flat symbol ref array attribute">;
def AffineMapArrayAttr : TypedArrayAttrBase<AffineMapAttr, "AffineMap array attribute">;
def LocationArrayAttr : TypedArrayAttrBase<LocationAttr, "location array attribute">;

// -- further conditions

class AllAttrOf<list<AttrConstraint> constraints>
    : AttrConstraint<And<!foreach(each, constraints, each.predicate)>,
                     !interleave(!foreach(each, constraints, each.summary), " and ")>;
def IsNullAttr : AttrConstraint<CPred<"!$_self">, "empty attribute (for optional attributes)">;
class Prelude_Int<string test, string words>
    : AttrConstraint<CPred<"cast<IntegerAttr>($_self)." # test>, "whose " # words>;
class IntNEQValue<int n> : Prelude_Int<"getInt() != " # n, "value is not " # n>;
class IntMinValue<int n> : Prelude_Int<"getInt() >= " # n, "minimum value is " # n>;
class IntMaxValue<int n> : Prelude_Int<"getInt() <= " # n, "maximum value is " # n>;
def IntPositive : Prelude_Int<"getValue().isStrictlyPositive()", "value is positive">;
def IntNonNegative
    : AttrConstraint<Neg<CPred<"cast<IntegerAttr>($_self).getValue().isNegative()">>, "whose value is non-negative">;
def IntPowerOf2 : Prelude_Int<"getValue().isPowerOf2()", "value is a power of two > 0">;
def IntPositivePowerOf2 : AllAttrOf<[IntPositive, IntPowerOf2]>;
class IntValidAlignment<Attr attr> : ConfinedAttr<attr, [IntPositivePowerOf2]>;
class Prelude_Set<list<int> values> { string all = "{" # !interleave(values, ", ") # "}"; }
class IntIsOneOf<list<int> values>
    : AttrConstraint<CPred<"is_contained(" # Prelude_Set<values>.all # ", cast<IntegerAttr>($_self).getInt())">,
                     "whose value is one of " # Prelude_Set<values>.all>;
class Prelude_Size<string cpp, string test, string words, int n>
    : AttrConstraint<CPred<"cast<" # cpp # ">($_self).size() " # test # n>, "with " # words # n # " elements">;
class ArrayCount<int n> : Prelude_Size<"ArrayAttr", "== ", "exactly ", n>;
class ArrayMinCount<int n> : Prelude_Size<"ArrayAttr", ">= ", "at least ", n>;
class ArrayMaxCount<int n> : Prelude_Size<"ArrayAttr", "<= ", "at most ", n>;
class DenseArrayCount<int n> : Prelude_Size<"DenseArrayAttr", "== ", "exactly ", n>;
class DenseArrayMinCt<int n> : Prelude_Size<"DenseArrayAttr", ">= ", "at least ", n>;
class DenseArrayMaxCt<int n> : Prelude_Size<"DenseArrayAttr", "<= ", "at most ", n>;
class Prelude_Items<string before, string after> : CPred<before # "cast<DenseArrayAttr>($_self).asArrayRef()" # after>;
class Prelude_Each<string test, string words>
    : AttrConstraint<Prelude_Items<"all_of(", ", [&](auto v) { return v " # test # "; })">, words>;
class DenseArrayStrictlyPositive<DenseArrayAttrBase arrayType> : Prelude_Each<"> 0", "whose value is positive">;
class DenseArrayNonNegative<DenseArrayAttrBase arrayType> : Prelude_Each<">= 0", "whose value is non-negative">;
class DenseArraySorted<DenseArrayAttrBase arrayType>
    : AttrConstraint<Prelude_Items<"is_sorted(", ")">, "should be in non-decreasing order">;
class DenseArrayStrictlySorted<DenseArrayAttrBase arrayType>
    : AttrConstraint<And<[Prelude_Items<"is_sorted(", ")">,
                          Prelude_Items<"[](ArrayRef<int> a) { return adjacent_find(begin(a), end(a)) == end(a); }(",
                                        ")">]>,
                     "should be in increasing order">;
class Prelude_Nth<int n, list<string> tests, string words>
    : AttrConstraint<And<[CPred<"cast<ArrayAttr>($_self).size() > " # n>]
                         # !foreach(test, tests, CPred<"cast<IntegerAttr>(cast<ArrayAttr>($_self)[" # n # "])"
                                                       # ".getInt() " # test>)>,
                     "whose " # n # "-th element must be " # words>;
class IntArrayNthElemEq<int index, int value> : Prelude_Nth<index, ["== " # value], "" # value>;
class IntArrayNthElemMinValue<int index, int min> : Prelude_Nth<index, [">= " # min], "at least " # min>;
class IntArrayNthElemMaxValue<int index, int max> : Prelude_Nth<index, ["<= " # max], "at most " # max>;
class IntArrayNthElemInRange<int index, int min, int max>
    : Prelude_Nth<index, [">= " # min, "<= " # max], "at least " # min # " and at most " # max>;

// -- properties

class Property<string storageTypeParam = "", string desc = "", string interfaceTypeParam = storageTypeParam>
    : PropConstraint<TruePred, desc, interfaceTypeParam> {
  Property baseProperty = ?;
  string defaultValue = ""; string storageTypeValueOverride = "";
  string description = "";
  code storageType = storageTypeParam;
  code parser = ""; code optionalParser = ""; code printer = "";
  code convertFromStorage = ""; code assignToStorage = ""; code convertToAttribute = ""; code convertFromAttribute = "";
  code hashProperty = ""; code writeToMlirBytecode = ""; code readFromMlirBytecode = "";
}
// The text of a value shows whether there is one: `some<..>` is not needed around it.
class Prelude_Optional { code optionalParser = "its first token"; }
class IntProp<string storageTypeParam, string desc = "">
    : Property<storageTypeParam, !if(!empty(desc), storageTypeParam, desc)>, Prelude_Optional;
foreach w = [32, 64] in def I # w # Prop : IntProp<"int" # w # "_t">;
class _cls_BoolProp : IntProp<"bool", "boolean">;
class _cls_StringProp : Property<"std::string", "string", "::llvm::StringRef">, Prelude_Optional;
class _cls_UnitProp : Property<"bool", "unit property">, Prelude_Optional { let defaultValue = "false"; }
def BoolProp : _cls_BoolProp;
def StringProp : _cls_StringProp;
def UnitProp : _cls_UnitProp;
class Prelude_ChangedProp<Property of, string default, string words>
    : Property<of.storageType, words, of.interfaceType> {
  let baseProperty = of; let defaultValue = default; let predicate = of.predicate;
  let optionalParser = of.optionalParser; let printer = of.printer;
}
class DefaultValuedProp<Property p, string default = "", string storageDefault = "">
    : Prelude_ChangedProp<p, default, p.summary> { let storageTypeValueOverride = storageDefault; }
class ConfinedProp<Property p, Pred pred, string newSummary = "">
    : Prelude_ChangedProp<p, p.defaultValue, !if(!empty(newSummary), p.summary, newSummary)> {
  let predicate = And<[p.predicate, pred]>;
}
class ConstantProp<Property prop, string val>
    : ConfinedProp<prop, CPred<"$_self == " # val>, "constant '" # prop.summary # "': " # val> { string value = val; }
class OptionalProp<Property p, bit canDelegateParsing = 1>
    : Property<"std::optional<" # p.storageType # ">", "optional " # p.summary,
               "std::optional<" # p.interfaceType # ">"> {
  let defaultValue = "std::nullopt";
  let printer = !if(!and(canDelegateParsing, !empty(p.defaultValue), !not(!empty(p.optionalParser))), "", "some<..>");
  let optionalParser = "none";
}
class ArrayProp<Property elem = Property<>, string newSummary = "">
    : Property<"SmallVector<" # elem.storageType # ">", !if(!empty(newSummary), "array of " # elem.summary, newSummary),
               "ArrayRef<" # elem.storageType # ">">, Prelude_Optional;
class IntArrayProp<Property elem, string newSummary = ""> : ArrayProp<elem, newSummary>;

// Their earlier names.
class IntProperty<string storageTypeParam, string desc = "">
    : IntProp<storageTypeParam, desc>, Deprecated<"use IntProp">;
class ArrayProperty<Property elem = Property<>, string newSummary = "">
    : ArrayProp<elem, newSummary>, Deprecated<"use ArrayProp">;
class IntArrayProperty<Property elem, string newSummary = "">
    : IntArrayProp<elem, newSummary>, Deprecated<"use IntArrayProp">;
class ConfinedProperty<Property p, Pred pred, string newSummary = "">
    : ConfinedProp<p, pred, newSummary>, Deprecated<"use ConfinedProp">;
class DefaultValuedProperty<Property p, string default = "", string storageDefault = "">
    : DefaultValuedProp<p, default, storageDefault>, Deprecated<"use DefaultValuedProp">;
class OptionalProperty<Property p, bit canDelegateParsing = 1>
    : OptionalProp<p, canDelegateParsing>, Deprecated<"use OptionalProp">;
foreach w = [32, 64] in def I # w # Property : IntProp<"int" # w # "_t">, Deprecated<"use I" # w # "Prop">;
def BoolProperty : _cls_BoolProp, Deprecated<"use BoolProp">;
def StringProperty : _cls_StringProp, Deprecated<"use StringProp">;
def UnitProperty : _cls_UnitProp, Deprecated<"use UnitProp">;

#endif
