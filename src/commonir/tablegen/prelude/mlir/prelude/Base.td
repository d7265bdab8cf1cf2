// Dialects, conditions, traits, interfaces and operations, as definitions name them where no LLVM is installed.
//
// Names, parameters and fields are those of MLIR's TableGen files, so that a dialect for mlir-tblgen is read unchanged.
// Only what this package reads has a meaning here: conditions, summaries, stored and built types, defaults. The other
// fields exist so that definitions may set them; C++ is not generated from them. Classes `Prelude_..` are of this text.

#ifndef PRELUDE_BASE
#define PRELUDE_BASE

foreach name = ["ins", "outs", "region", "successor"] in def name;
class StrFunc<string r> { string result = r; }
class CArg<string ty, string value = ""> { string type = ty; string defaultValue = value; }
class Deprecated<string reason> { string odsDeprecated = reason; }
class CppDeprecated<string reason> { string odsCppDeprecated = reason; }
class firstCharToUpper<string str> { string ret = !toupper(!substr(str, 0, 1)) # !substr(str, 1); }

// -- conditions: trees with expressions on `$_self` at the leaves

class Pred;
class CPred<code pred> : Pred { code predExpr = "(" # pred # ")"; }
class PredCombinerKind;
class CombinedPred<PredCombinerKind k, list<Pred> c> : Pred { list<Pred> children = c; PredCombinerKind kind = k; }
foreach how = ["And", "Or", "Not", "SubstLeaves", "Concat"] in def PredCombiner # how : PredCombinerKind;
class And<list<Pred> children> : CombinedPred<PredCombinerAnd, children>;
class Or<list<Pred> children> : CombinedPred<PredCombinerOr, children>;
class Neg<Pred child> : CombinedPred<PredCombinerNot, [child]>;
class SubstLeaves<string pat, string repl, Pred child> : CombinedPred<PredCombinerSubstLeaves, [child]> {
  string replacement = repl; string pattern = pat;
}
class Concat<string pre, Pred child, string suf> : CombinedPred<PredCombinerConcat, [child]> {
  string suffix = suf; string prefix = pre;
}
defvar TruePred = And<[]>;
defvar False = Or<[]>;

// The value is of a class; a part of it satisfies another condition.
class Prelude_Isa<string cpp> : CPred<"isa<" # cpp # ">($_self)">;
class Prelude_Part<string part, Pred of> : SubstLeaves<"$_self", part, of>;

class Constraint<Pred pred, string desc = ""> { string summary = desc; Pred predicate = pred; }
class AttrTypeConstraint<Pred pred, string summary = "", string cppFunctionNameParam = ""> : Constraint<pred, summary> {
  string cppFunctionName = cppFunctionNameParam;
}
class TypeConstraint<Pred predicate, string summary = "", string cppTypeParam = "::mlir::Type",
                     string cppFunctionNameParam = "">
    : AttrTypeConstraint<predicate, summary, cppFunctionNameParam> { string cppType = cppTypeParam; }
class AttrConstraint<Pred predicate, string summary = "", string cppFunctionNameParam = "">
    : AttrTypeConstraint<predicate, summary, cppFunctionNameParam>;
class PropConstraint<Pred predicate, string summary = "", string interfaceTypeParam = "">
    : Constraint<predicate, summary> { code interfaceType = interfaceTypeParam; }
class RegionConstraint<Pred predicate, string summary = ""> : Constraint<predicate, summary>;
class SuccessorConstraint<Pred predicate, string summary = ""> : Constraint<predicate, summary>;

class Dialect {
  string name = ?;
  string cppNamespace = name;
  string summary = ?; string description = ?;
  list<string> dependentDialects = [];
  dag discardableAttrs = (ins);
  code extraClassDeclaration = "";
  bit usePropertiesForAttributes = 1;
  bit hasConstantMaterializer = 0; bit hasCanonicalizer = 0; bit isExtensible = 0; bit hasNonDefaultDestructor = 0;
  bit hasOperationAttrVerify = 0; bit hasRegionArgAttrVerify = 0; bit hasRegionResultAttrVerify = 0;
  bit useDefaultAttributePrinterParser = 0; bit useDefaultTypePrinterParser = 0; bit hasOperationInterfaceFallback = 0;
}

// -- traits

class Trait;
class TraitList<list<Trait> props> : Trait { list<Trait> traits = props; }
class NativeTrait<string name, string entityType, code extraClassDeclaration = [{}], code extraClassDefinition = [{}]>
    : Trait {
  string trait = name;
  string cppNamespace = "::mlir::" # entityType # "Trait";
  code extraConcreteClassDeclaration = ""; code extraConcreteClassDefinition = "";
}
class ParamNativeTrait<string prop, string params, string entityType>
    : NativeTrait<prop # "<" # params # ">::Impl", entityType>;
class GenInternalTrait<string prop, string entityType>
    : Trait { string trait = "::mlir::" # entityType # "Trait::" # prop; }
class PredTrait<string descr, Pred pred> : Trait { Pred predicate = pred; string summary = descr; }

// Traits of operations say which others come before them.
class StructuralOpTrait;
class Prelude_After<list<Trait> traits> { list<Trait> dependentTraits = traits; }
class NativeOpTrait<string name, list<Trait> traits = [], code extraOpDeclaration = [{}], code extraOpDefinition = [{}]>
    : NativeTrait<name, "Op">, Prelude_After<traits>;
class ParamNativeOpTrait<string prop, string params, list<Trait> traits = []>
    : ParamNativeTrait<prop, params, "Op">, Prelude_After<traits>;
class GenInternalOpTrait<string prop, list<Trait> traits = []> : GenInternalTrait<prop, "Op">, Prelude_After<traits>;
class PredOpTrait<string descr, Pred pred, list<Trait> traits = []> : PredTrait<descr, pred>, Prelude_After<traits>;
class NativeAttrTrait<string name, code extraAttrDeclaration = [{}], code extraAttrDefinition = [{}]>
    : NativeTrait<name, "Attribute">;
class NativeTypeTrait<string name, code extraTypeDeclaration = [{}], code extraTypeDefinition = [{}]>
    : NativeTrait<name, "Type">;
class ParamNativeAttrTrait<string prop, string params> : ParamNativeTrait<prop, params, "Attribute">;
class ParamNativeTypeTrait<string prop, string params> : ParamNativeTrait<prop, params, "Type">;
class GenInternalAttrTrait<string prop> : GenInternalTrait<prop, "Attribute">;
class GenInternalTypeTrait<string prop> : GenInternalTrait<prop, "Type">;
class PredAttrTrait<string descr, Pred pred> : PredTrait<descr, pred>;
class PredTypeTrait<string descr, Pred pred> : PredTrait<descr, pred>;
def MutableType : NativeTypeTrait<"IsMutable">;
def ValueSemantics : NativeTypeTrait<"ValueSemantics">;

foreach name = ["AffineScope", "AutomaticAllocationScope", "ConstantLike", "Elementwise", "MemRefsNormalizable",
                "ResultsAreFloatLike", "ResultsBroadcastableShape", "SameTypeOperands", "SameOperandsElementType",
                "SameOperandsShape", "SameOperandsAndResultElementType", "SameOperandsAndResultShape"] in
  def name : NativeOpTrait<name>;
foreach name = ["Commutative", "Idempotent", "Involution", "IsolatedFromAbove", "Terminator"] in
  def name : NativeOpTrait<"Is" # name>;
foreach name = ["Scalarizable", "Tensorizable", "Vectorizable"] in def name : NativeOpTrait<name, [Elementwise]>;
def ElementwiseMappable : TraitList<[Elementwise, Scalarizable, Vectorizable, Tensorizable]>;
foreach name = ["AttrSizedOperandSegments", "AttrSizedResultSegments", "NoRegionArguments", "NoTerminator",
                "SingleBlock"] in
  def name : NativeOpTrait<name>, StructuralOpTrait;
foreach name = ["FirstAttrDerivedResultType", "SameVariadicOperandSize", "SameVariadicResultSize"] in
  def name : GenInternalOpTrait<name>;
class SingleBlockImplicitTerminatorImpl<string op>
    : ParamNativeOpTrait<"SingleBlockImplicitTerminator", op, [SingleBlock]>, StructuralOpTrait;
class SingleBlockImplicitTerminator<string op> : TraitList<[SingleBlock, SingleBlockImplicitTerminatorImpl<op>]>;
class ParentOneOf<list<string> ops> : ParamNativeOpTrait<"HasParent", !interleave(ops, ", ")>, StructuralOpTrait;
class HasParent<string op> : ParamNativeOpTrait<"HasParent", op>, StructuralOpTrait;

// -- regions and successors

class Successor<Pred condition, string descr = ""> : SuccessorConstraint<condition, descr>;
class VariadicSuccessor<Successor successor> : Successor<successor.predicate, successor.summary>;
def AnySuccessor : Successor<?, "any successor">;
class Region<Pred condition, string descr = ""> : RegionConstraint<condition, descr>;
class VariadicRegion<Region region> : Region<region.predicate, region.summary>;
def AnyRegion : Region<CPred<"true">, "any region">;
class Prelude_Blocks<string bound, string words, int count>
    : Region<CPred<"hasNItems" # bound # "($_self, " # count # ")">, "region with " # words # count # " blocks">;
class SizedRegion<int numBlocks> : Prelude_Blocks<"", "", numBlocks> { int blocks = numBlocks; }
class MinSizedRegion<int numBlocks> : Prelude_Blocks<"OrMore", "at least ", numBlocks>;
class MaxSizedRegion<int numBlocks> : Prelude_Blocks<"OrLess", "at most ", numBlocks>;

// -- operations

class OpBuilder<dag p, code b = ""> { code body = b; dag dagParams = p; }
class DeprecatedOpBuilder<string reason, dag p, code b = ""> : OpBuilder<p, b>, CppDeprecated<reason>;
class OpVariableDecorator;
class OpVariable<Constraint varConstraint, string desc = "", list<OpVariableDecorator> varDecorators = []> {
  string summary = desc;
  Constraint constraint = varConstraint;
  list<OpVariableDecorator> decorators = varDecorators;
}
class Arg<Constraint constraint, string desc = "", list<OpVariableDecorator> decorators = []>
    : OpVariable<constraint, desc, decorators>;
class Res<Constraint constraint, string desc = "", list<OpVariableDecorator> decorators = []>
    : OpVariable<constraint, desc, decorators>;
class OpDocGroup { string description; string summary; }
class Op<Dialect dialect, string mnemonic, list<Trait> props = []> {
  string opName = mnemonic;
  Dialect opDialect = dialect;
  list<Trait> traits = props;
  string cppNamespace = dialect.cppNamespace;
  string summary = ""; string description = ""; OpDocGroup opDocGroup = ?;
  dag arguments = (ins); dag results = (outs); dag regions = (region); dag successors = (successor);
  string assemblyFormat = ?; bit hasCustomAssemblyFormat = 0;
  list<OpBuilder> builders = ?; bit skipDefaultBuilders = 0;
  bit hasVerifier = 0; bit hasRegionVerifier = 0; bit hasFolder = 0;
  bit hasCanonicalizer = 0; bit hasCanonicalizeMethod = 0; bit useCustomPropertiesEncoding = 0;
  code extraClassDeclaration = ?; code extraClassDefinition = ?;
}
class Arguments<dag args> { dag arguments = args; }
class Results<dag rets> { dag results = rets; }

#endif
