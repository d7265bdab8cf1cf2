// Operations of mlir-opt's own dialect `test`, as far as their forms are concerned: mlir-opt knows them in C++.

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/Properties.td"

def Tested : Dialect {
  let name = "test";
  let cppNamespace = "test";
}

class Form<string name, string form, dag given = (ins), dag made = (outs), list<Trait> traits = []>
    : Op<Tested, name, traits> {
  let arguments = given;
  let results = made;
  let assemblyFormat = form;
}

class Flags<string kind>
    : Form<"oilist_with_keywords_only" # !if(!eq(kind, "Attr"), "", "_properties"),
           "oilist(`keyword` $keyword | `otherKeyword` $otherKeyword | `thirdKeyword` $diffNameUnit" # kind #
           "Keyword) attr-dict">;
def : Flags<"Attr"> {
  let arguments = (ins UnitAttr:$keyword, UnitAttr:$otherKeyword, UnitAttr:$diffNameUnitAttrKeyword);
}
def : Flags<"Prop"> {
  let arguments = (ins UnitProp:$keyword, UnitProp:$otherKeyword, UnitProp:$diffNameUnitPropKeyword);
}
def : Form<"format_optional_unit_attribute", "(`is_optional` $is_optional^)? attr-dict", (ins UnitAttr:$is_optional)>;
def : Form<"format_optional_unit_attribute_no_elide", "($is_optional^)? attr-dict", (ins UnitAttr:$is_optional)>;
def : Form<"format_optional_unit_property", "(`is_optional` $is_optional^)? attr-dict", (ins UnitProp:$is_optional)>;
def : Form<"format_opt_symbol_ref_attr_op", "($opt_attr^)? attr-dict", (ins OptionalAttr<SymbolRefAttr>:$opt_attr)>;
def : Form<"format_optional_operand_result_a_op",
           "`(` $optional `:` type($optional) `)` `:` type($optional_res) (`[` $variadic^ `]`)? attr-dict",
           (ins Optional<I64>:$optional, Variadic<I64>:$variadic), (outs Optional<I64>:$optional_res),
           [AttrSizedOperandSegments]>;
def : Form<"format_optional_result_c_op", "(`:` functional-type($optional, $variadic)^)? attr-dict", (ins),
           (outs Optional<I64>:$optional, Variadic<I64>:$variadic), [AttrSizedResultSegments]>;

def Compound : AttrDef<Tested, "CompoundA"> {
  let mnemonic = "cmpnd_a";
  let parameters = (ins "int":$width, "::mlir::Type":$one, ArrayRefParameter<"int">:$several);
  let assemblyFormat = "`<` $width `,` $one `,` `[` $several `]` `>`";
}
def : Form<"format_compound_attr", "$compound attr-dict-with-keyword", (ins Compound:$compound)>;

def CompoundType : TypeDef<Tested, "CompoundA"> {
  let mnemonic = "cmpnd_a";
  let parameters = Compound.parameters;
  let assemblyFormat = Compound.assemblyFormat;
}
def Inner : TypeDef<Tested, "CompoundNestedInner"> {
  let mnemonic = "cmpnd_inner";
  let parameters = (ins "int":$some, CompoundType:$inside);
  let assemblyFormat = "`<` $some $inside `>`";
}
def Outer : TypeDef<Tested, "CompoundNestedOuter"> {
  let mnemonic = "cmpnd_nested_outer";
  let parameters = (ins Inner:$inner);
  let assemblyFormat = "`<` `i` $inner `>`";
}
def : Form<"format_cpmd_nested_type", "$nested `nested` type($nested) attr-dict-with-keyword", (ins Outer:$nested)>;
def : Form<"format_qual_cpmd_nested_type", "$nested `nested` qualified(type($nested)) attr-dict-with-keyword",
           (ins Outer:$nested)>;
def : Form<"format_variadic_of_variadic_operand", "$operand `:` type($operand) attr-dict",
           (ins VariadicOfVariadic<I64, "operand_segments">:$operand, DenseI32ArrayAttr:$operand_segments)>;
