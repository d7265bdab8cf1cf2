// Interfaces, types and attributes of dialects, and conditions across operands and results.

#ifndef PRELUDE_DEFINITIONS
#define PRELUDE_DEFINITIONS

include "mlir/prelude/Attributes.td"

// -- interfaces, by name

class InterfaceTrait<string name> : NativeTrait<"", ""> {
  let trait = name # "::Trait"; let cppNamespace = ""; code extraTraitClassDeclaration = "";
}
class OpInterfaceTrait<string name, code verifyBody = [{}], list<Trait> traits = []>
    : InterfaceTrait<name>, Prelude_After<traits> { bit verifyWithRegions = 0; code verify = verifyBody; }
class InterfaceMethod<string desc, string retTy, string methodName, dag args = (ins), code methodBody = [{}],
                      code defaultImplementation = [{}]> {
  string name = methodName; dag arguments = args; string returnType = retTy; string description = desc;
  code body = methodBody; code defaultBody = defaultImplementation;
}
class StaticInterfaceMethod<string desc, string retTy, string methodName, dag args = (ins), code methodBody = [{}],
                            code defaultImplementation = [{}]>
    : InterfaceMethod<desc, retTy, methodName, args, methodBody, defaultImplementation>;
class Interface<string name, list<Interface> baseInterfacesArg = []> {
  string cppInterfaceName = name; string cppNamespace = "";
  string description = "";
  list<Interface> baseInterfaces = baseInterfacesArg;
  list<InterfaceMethod> methods = [];
  code extraClassDeclaration = ""; code extraSharedClassDeclaration = ""; code extraClassOf = "";
}
class DialectInterface<string name, list<Interface> baseInterfaces = []>
    : Interface<name, baseInterfaces>, OpInterfaceTrait<name>;
class OpInterface<string name, list<Interface> baseInterfaces = []>
    : Interface<name, baseInterfaces>, OpInterfaceTrait<name>;
class AttrInterface<string name, list<Interface> baseInterfaces = []>
    : Interface<name, baseInterfaces>, InterfaceTrait<name>,
      Attr<Prelude_Isa<!if(!empty(cppNamespace), name, cppNamespace # "::" # name)>, name # " instance"> {
  let storageType = !if(!empty(cppNamespace), name, cppNamespace # "::" # name);
}
class TypeInterface<string name, list<Interface> baseInterfaces = []>
    : Interface<name, baseInterfaces>, InterfaceTrait<name>,
      Type<Prelude_Isa<!if(!empty(cppNamespace), name, cppNamespace # "::" # name)>, name # " instance",
           !if(!empty(cppNamespace), name, cppNamespace # "::" # name)>;
class PromisedAttrInterface<AttrInterface interface>
    : AttrConstraint<interface.predicate,
                     "promising or implementing the `" # interface.cppInterfaceName # "` attr interface">;
class PromisedTypeInterface<TypeInterface interface>
    : TypeConstraint<interface.predicate,
                     "promising or implementing the `" # interface.cppInterfaceName # "` type interface">;

class Prelude_Same<Interface interface> {
  string description = interface.description; string cppNamespace = interface.cppNamespace;
  list<InterfaceMethod> methods = interface.methods;
}
class DeclareInterfaceMethods<list<string> overridenMethods = []> {
  list<string> alwaysOverriddenMethods = overridenMethods;
}
class DeclareOpInterfaceMethods<OpInterface interface, list<string> overridenMethods = []>
    : DeclareInterfaceMethods<overridenMethods>, OpInterface<interface.cppInterfaceName, interface.baseInterfaces>,
      Prelude_Same<interface>;
class DeclareAttrInterfaceMethods<AttrInterface interface, list<string> overridenMethods = []>
    : DeclareInterfaceMethods<overridenMethods>, AttrInterface<interface.cppInterfaceName, interface.baseInterfaces>,
      Prelude_Same<interface>;
class DeclareTypeInterfaceMethods<TypeInterface interface, list<string> overridenMethods = []>
    : DeclareInterfaceMethods<overridenMethods>, TypeInterface<interface.cppInterfaceName, interface.baseInterfaces>,
      Prelude_Same<interface>;

// -- types and attributes of dialects

class AttrOrTypeBuilder<dag parameters, code bodyCode = "", string returnTypeStr = ""> {
  dag dagParams = parameters; code body = bodyCode; string returnType = returnTypeStr; bit hasInferredContextParam = 0;
}
class AttrBuilder<dag parameters, code bodyCode = "", string returnType = "">
    : AttrOrTypeBuilder<parameters, bodyCode, returnType>;
class TypeBuilder<dag parameters, code bodyCode = "", string returnType = "">
    : AttrOrTypeBuilder<parameters, bodyCode, returnType>;
class AttrOrTypeBuilderWithInferredContext<dag parameters, code bodyCode = "", string returnType = "">
    : TypeBuilder<parameters, bodyCode, returnType> { let hasInferredContextParam = 1; }
class AttrBuilderWithInferredContext<dag parameters, code bodyCode = "", string returnType = "">
    : AttrOrTypeBuilderWithInferredContext<parameters, bodyCode, returnType>;
class TypeBuilderWithInferredContext<dag parameters, code bodyCode = "", string returnType = "">
    : AttrOrTypeBuilderWithInferredContext<parameters, bodyCode, returnType>;
class AttrOrTypeDef<string valueType, string name, list<Trait> defTraits, string baseCppClass> {
  string mnemonic = ?; dag parameters = (ins); list<Trait> traits = defTraits;
  string assemblyFormat = ?; bit hasCustomAssemblyFormat = 0;
  string description = "";
  string cppClassName = name # valueType; string cppBaseClassName = baseCppClass;
  list<AttrOrTypeBuilder> builders = ?; bit skipDefaultBuilders = 0;
  bit genVerifyDecl = 0; bit genAccessors = 1; bit genMnemonicAlias = 0; bit genStorageClass = 1;
  bit hasStorageCustomConstructor = 0; string storageClass = ""; string storageNamespace = "detail";
  code extraClassDeclaration = ""; code extraClassDefinition = "";
}
class AttrDef<Dialect dialect, string name, list<Trait> traits = [], string baseCppClass = "::mlir::Attribute">
    : DialectAttr<dialect, CPred<"">>, AttrOrTypeDef<"Attr", name, traits, baseCppClass> {
  string cppType = dialect.cppNamespace # "::" # cppClassName;
  string attrName = dialect.name # "." # mnemonic;
  let storageType = cppType; let returnType = cppType; let predicate = Prelude_Isa<cppType>;
}
class TypeDef<Dialect dialect, string name, list<Trait> traits = [], string baseCppClass = "::mlir::Type">
    : DialectType<dialect, CPred<"">>, AttrOrTypeDef<"Type", name, traits, baseCppClass> {
  let cppType = dialect.cppNamespace # "::" # cppClassName;
  string typeName = dialect.name # "." # mnemonic;
  let predicate = Prelude_Isa<cppType>;
  let builderCall = !if(!empty(parameters), "$_builder.getType<" # cppType # ">()", "");
}
class AttrOrTypeParameter<string type, string desc, string accessorType = ""> {
  string cppType = type; string summary = desc; string syntax = ?;
  string defaultValue = ""; string parser = ?; string printer = ?;
  string cppAccessorType = !if(!empty(accessorType), type, accessorType); string cppStorageType = cppType;
  code allocator = ?; code comparator = ?; string convertFromStorage = "";
}
class AttrParameter<string type, string desc, string accessorType = "">
    : AttrOrTypeParameter<type, desc, accessorType>;
class TypeParameter<string type, string desc, string accessorType = "">
    : AttrOrTypeParameter<type, desc, accessorType>;
class DefaultValuedParameter<string type, string value, string desc = ""> : AttrOrTypeParameter<type, desc> {
  let defaultValue = value;
}
class OptionalParameter<string type, string desc = ""> : DefaultValuedParameter<type, type # "()", desc>;
class StringRefParameter<string desc = "", string value = "">
    : DefaultValuedParameter<"::llvm::StringRef", value, desc>;
class APIntParameter<string desc> : AttrOrTypeParameter<"::llvm::APInt", desc>;
class APFloatParameter<string desc> : AttrOrTypeParameter<"::llvm::APFloat", desc>;
class ArrayRefParameter<string arrayOf, string desc = ""> : AttrOrTypeParameter<"ArrayRef<" # arrayOf # ">", desc>;
class OptionalArrayRefParameter<string arrayOf, string desc = "">
    : OptionalParameter<"ArrayRef<" # arrayOf # ">", desc>;
class SelfAllocationParameter<string type, string desc> : AttrOrTypeParameter<type, desc>;
class ArrayRefOfSelfAllocationParameter<string arrayOf, string desc> : ArrayRefParameter<arrayOf, desc>;
class ResourceHandleParameter<string handleType, string desc = ""> : AttrOrTypeParameter<handleType, desc>;
class AttributeSelfTypeParameter<string desc, string derivedType = "::mlir::Type", string typeBuilder = "">
    : DefaultValuedParameter<derivedType, typeBuilder, desc>;
class ArrayOfAttr<Dialect dialect, string name, string attrMnemonic, string eltName, list<Trait> traits = []>
    : AttrDef<dialect, name, traits> {
  let mnemonic = attrMnemonic; let parameters = (ins OptionalArrayRefParameter<eltName>:$value);
  let assemblyFormat = "`[` (`]`) : ($value^ `]`)?";
}

// -- conditions across operands and results

class Prelude_Shaped<string name, string query> : StrFunc<"cast<ShapedType>($" # name # ".getType())." # query>;
class Rank<string name> : Prelude_Shaped<name, "getRank()">;
class Shape<string name> : Prelude_Shaped<name, "getShape()">;
class ElementCount<string name> : Prelude_Shaped<name, "getNumElements()">;
class Prelude_Element<string value> : StrFunc<"getElementTypeOrSelf(" # value # ")">;
class ElementType<string name> : Prelude_Element<"$" # name>;

// Equality is that of all others with the first.
class AllMatchPred<list<string> values>
    : And<!if(!empty(values), []<Pred>, !foreach(each, !tail(values), CPred<!head(values) # " == " # each>))>;
class AllMatch<list<string> values, string summary> : PredOpTrait<summary, AllMatchPred<values>>;
class AllMatchSameOperatorPred<list<string> names, string operator>
    : AllMatchPred<!foreach(name, names, !subst("$_self", "$" # name, operator))>;
class AllMatchSameOperatorTrait<list<string> names, string operator, string summary>
    : PredOpTrait<"all of {" # !interleave(names, ", ") # "} have same " # summary,
                  AllMatchSameOperatorPred<names, operator>> { list<string> values = names; }
class AnyPred<list<string> values> : Or<!foreach(each, values, CPred<each>)>;
class AnyMatchOperatorPred<list<string> names, string operator>
    : AnyPred<!foreach(name, names, !subst("$_self", "$" # name, operator))>;
class AnyMatchOperatorTrait<list<string> names, string operator, string summary>
    : PredOpTrait<"any of {" # !interleave(names, ", ") # "} has " # summary, AnyMatchOperatorPred<names, operator>> {
  list<string> values = names;
}
class AllTypesMatch<list<string> names> : AllMatchSameOperatorTrait<names, "$_self.getType()", "type">;
class AllTypeIDsMatch<list<string> names>
    : AllMatchSameOperatorTrait<names, "$_self.getType().getTypeID()", "type IDs">;
class AllElementTypesMatch<list<string> names>
    : AllMatchSameOperatorTrait<names, ElementType<"_self">.result, "element type">;
class AllElementCountsMatch<list<string> names>
    : AllMatchSameOperatorTrait<names, ElementCount<"_self">.result, "element count">;
class AllRanksMatch<list<string> names> : AllMatchSameOperatorTrait<names, Rank<"_self">.result, "rank">;
class AllShapesMatch<list<string> names> : AllMatchSameOperatorTrait<names, Shape<"_self">.result, "shape">;

class TypesMatchWith<string summary, string lhsArg, string rhsArg, string transform,
                     string comparator = "std::equal_to<>()">
    : PredOpTrait<summary, CPred<!subst("$_self", "$" # lhsArg # ".getType()", transform)
                                 # " == $" # rhsArg # ".getType()">> {
  string transformer = transform; string lhs = lhsArg; string rhs = rhsArg;
}
class RangedTypesMatchWith<string summary, string lhsArg, string rhsArg, string transform>
    : TypesMatchWith<summary, lhsArg, rhsArg, transform>;
class OptionalTypesMatchWith<string summary, string lhsArg, string rhsArg, string transform,
                             string comparator = "std::equal_to<>()">
    : TypesMatchWith<summary, lhsArg, rhsArg, transform, comparator>;
class ShapedTypeMatchesElementCountAndTypes<string shapedArg, string elementsArg>
    : PredOpTrait<"shaped type '" # shapedArg # "' matches '" # elementsArg # "' element count and types", TruePred> {
  string elements = elementsArg; string shaped = shapedArg;
}
class TypeIsPred<string name, Type type> : Prelude_Part<"$" # name # ".getType()", type.predicate>;
class TypeIs<string name, Type type> : PredOpTrait<"'" # name # "' is " # type.summary, TypeIsPred<name, type>>;
class ElementTypeIsPred<string name, Type type>
    : And<[Prelude_Part<"$" # name # ".getType()", IsShapedTypePred>,
           Prelude_Part<ElementType<name>.result, type.predicate>]>;
class ElementTypeIs<string name, Type type>
    : PredOpTrait<"'" # name # "' is " # type.summary, ElementTypeIsPred<name, type>>;
class InputMatchesTypes<list<string> inputArgs, list<Type> allowedTypes>
    : PredOpTrait<"operands {" # !interleave(inputArgs, ", ") # "} match expected types",
                  And<!foreach(n, !range(inputArgs), TypeIsPred<inputArgs[n], allowedTypes[n]>)>> {
  list<Type> allowedTypeList = allowedTypes; list<string> inputArgList = inputArgs;
}

// Conditions on operands and results by number.
class Prelude_Operand<int n> { string all = "$_op.getOperand(" # n # ")"; }
class Prelude_Result<int n> { string all = "$_op.getResult(" # n # ")"; }
class Prelude_IsShaped<string value> : Prelude_Part<value # ".getType()", IsShapedTypePred>;
class Prelude_Elements<string one, string other>
    : CPred<Prelude_Element<one>.result # " == " # Prelude_Element<other>.result>;
class TCresIsSameAsOpBase<int i, int j>
    : CPred<Prelude_Result<i>.all # ".getType() == " # Prelude_Operand<j>.all # ".getType()">;
class TCOpResIsShapedTypePred<int i, int j>
    : And<[Prelude_IsShaped<Prelude_Result<i>.all>, Prelude_IsShaped<Prelude_Operand<j>.all>]>;
class TCresVTEtIsSameAsOpBase<int i, int j> : Prelude_Elements<Prelude_Result<i>.all, Prelude_Operand<j>.all>;
class TCresVTEtIsSameAsOp<int i, int j> : And<[TCOpResIsShapedTypePred<i, j>, TCresVTEtIsSameAsOpBase<i, j>]>;
class TCopVTEtIs<int idx, Type type>
    : And<[CPred<"$_op.getNumOperands() > " # idx>, Prelude_IsShaped<Prelude_Operand<idx>.all>,
           Prelude_Part<Prelude_Element<Prelude_Operand<idx>.all>.result, type.predicate>]>;
class TCopVTEtIsSameAs<int i, int j>
    : And<[CPred<"$_op.getNumOperands() > " # !if(!gt(i, j), i, j)>, Prelude_IsShaped<Prelude_Operand<i>.all>,
           Prelude_IsShaped<Prelude_Operand<j>.all>, Prelude_Elements<Prelude_Operand<i>.all, Prelude_Operand<j>.all>]>;
class TCopVTEtAreSameAt<list<int> indices>
    : And<!foreach(n, !tail(indices), Prelude_Elements<Prelude_Operand<!head(indices)>.all, Prelude_Operand<n>.all>)>;
class TCOpIsBroadcastableToRes<int opId, int resId>
    : And<[TCOpResIsShapedTypePred<opId, resId>,
           CPred<"broadcastable(" # Prelude_Operand<opId>.all # ", " # Prelude_Result<resId>.all # ")">]>;

#endif
