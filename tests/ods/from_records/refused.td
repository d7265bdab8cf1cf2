// Definitions that mlir-tblgen refuses, each with its name and a part of the message here.
include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/Properties.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def D : Dialect { let name = "d"; let cppNamespace = "::d"; let usePropertiesForAttributes = 1; }
class D_Op<string mnemonic, string format, list<Trait> traits = []> : Op<D, mnemonic, traits> {
  let assemblyFormat = format;
}
class D_Plain<string mnemonic, list<Trait> traits = []> : Op<D, mnemonic, traits>;
class D_Type<string name, string word> : TypeDef<D, name> { let mnemonic = word; }
class D_Attr<string name, string word> : AttrDef<D, name> { let mnemonic = word; }
def D_Handle : D_Type<"Handle", "handle">;

// no-attr-dict: 'attr-dict' is missing
def NoAttrDict : D_Op<"no_attr_dict", "$x">, Arguments<(ins I32:$x)>;
// two-attr-dicts: the attribute dictionary occurs twice
def TwoAttrDicts : D_Op<"two_attr_dicts", "$x attr-dict attr-dict-with-keyword">, Arguments<(ins I32:$x)>;
// attr-dict-of-type: type(..) takes operands or results, not attr-dict
def AttrDictOfType : D_Op<"attr_dict_of_type", "type(attr-dict)">;
// prop-dict-without-attr-dict: 'attr-dict' is missing
def PropDictAlone : D_Op<"prop_dict_alone", "$x prop-dict">, Arguments<(ins I32:$x, I32Prop:$p)>;
// two-prop-dicts: 'prop-dict' occurs twice
def TwoPropDicts : D_Op<"two_prop_dicts", "prop-dict prop-dict attr-dict">, Arguments<(ins I32Prop:$p)>;
// missing-operand: operand 'y' is missing: add '$y'
def MissingOperand : D_Op<"missing_operand", "$x attr-dict">, Arguments<(ins I32:$x, I32:$y)>;
// missing-all-operands: operand 'x' is missing: add '$x'
def MissingAllOperands : D_Op<"missing_all_operands", "attr-dict `:` type(operands)">, Arguments<(ins AnyType:$x)>;
// missing-operand-type: the type of operand 'x' is not there and cannot be inferred: add 'type($x)'
def MissingOperandType : D_Op<"missing_operand_type", "$x attr-dict">, Arguments<(ins AnyType:$x)>;
// missing-one-operand-type: the type of operand 'y' is not there and cannot be inferred: add 'type($y)'
def MissingOneType : D_Op<"missing_one_type", "$x `,` $y attr-dict `:` type($x)">, Arguments<(ins AnyType:$x, AnyType:$y)>;
// missing-result-type: the type of result 'y' is not there and cannot be inferred: add 'type($y)'
def MissingResultType : D_Op<"missing_result_type", "$x attr-dict `:` type($x)">, Arguments<(ins AnyType:$x)>, Results<(outs AnyType:$y)>;
// missing-variadic-result-type: the type of result 'y' is not there and cannot be inferred: add 'type($y)'
def MissingVariadicResultType : D_Op<"missing_variadic_result_type", "attr-dict">, Results<(outs Variadic<I32>:$y)>;
// missing-optional-result-type: the type of result 'y' is not there and cannot be inferred: add 'type($y)'
def MissingOptionalResultType : D_Op<"missing_optional_result_type", "attr-dict">, Results<(outs Optional<I32>:$y)>;
// operands-of-variadic-buildable: the type of operand 'x' is not there and cannot be inferred: add 'type($x)'
def OperandsOfVariadic : D_Op<"operands_of_variadic", "operands attr-dict">, Arguments<(ins Variadic<I32>:$x)>;
// missing-region: region 'body' is missing: add '$body'
def MissingRegion : D_Op<"missing_region", "attr-dict"> { let regions = (region AnyRegion:$body); }
// missing-one-region: region 'b' is missing: add '$b'
def MissingOneRegion : D_Op<"missing_one_region", "$a attr-dict"> { let regions = (region AnyRegion:$a, AnyRegion:$b); }
// missing-successor: successor 'next' is missing: add '$next'
def MissingSuccessor : D_Op<"missing_successor", "attr-dict"> { let successors = (successor AnySuccessor:$next); }
// operand-twice: 'x' occurs twice
def OperandTwice : D_Op<"operand_twice", "$x $x attr-dict">, Arguments<(ins I32:$x)>;
// attribute-twice: 'a' occurs twice
def AttributeTwice : D_Op<"attribute_twice", "$a $a attr-dict">, Arguments<(ins I32Attr:$a)>;
// property-twice: 'p' occurs twice
def PropertyTwice : D_Op<"property_twice", "$p `,` $p attr-dict">, Arguments<(ins I32Prop:$p)>;
// region-twice: 'r' occurs twice
def RegionTwice : D_Op<"region_twice", "$r $r attr-dict"> { let regions = (region AnyRegion:$r); }
// regions-after-region: 'regions' repeats what occurs before
def RegionsAfterRegion : D_Op<"regions_after_region", "$r regions attr-dict"> { let regions = (region AnyRegion:$r); }
// successor-twice: 's' occurs twice
def SuccessorTwice : D_Op<"successor_twice", "$s $s attr-dict"> { let successors = (successor AnySuccessor:$s); }
// successors-after-successor: 'successors' repeats what occurs before
def SuccessorsAfterSuccessor : D_Op<"successors_after_successor", "$s successors attr-dict"> { let successors = (successor AnySuccessor:$s); }
// operands-after-operand: 'operands' repeats what occurs before
def OperandsAfterOperand : D_Op<"operands_after_operand", "$x operands attr-dict">, Arguments<(ins I32:$x)>;
// operand-after-operands: 'x' occurs twice
def OperandAfterOperands : D_Op<"operand_after_operands", "operands $x attr-dict">, Arguments<(ins I32:$x)>;
// type-twice: the type of 'x' occurs twice
def TypeTwice : D_Op<"type_twice", "$x attr-dict type($x) type($x)">, Arguments<(ins AnyType:$x)>;
// type-after-types: the type of 'x' occurs twice
def TypeAfterTypes : D_Op<"type_after_types", "$x attr-dict type(operands) type($x)">, Arguments<(ins AnyType:$x)>;
// types-after-type: the types of 'operands' occur twice
def TypesAfterType : D_Op<"types_after_type", "$x attr-dict type($x) type(operands)">, Arguments<(ins AnyType:$x)>;
// result-type-twice: the types of 'results' occur twice
def ResultTypeTwice : D_Op<"result_type_twice", "attr-dict type($y) type(results)">, Results<(outs AnyType:$y)>;
// result-not-in-type: $y is a result, of which only the type is written: type(..)
def ResultAsValue : D_Op<"result_as_value", "$y attr-dict">, Results<(outs I32:$y)>;
// results-alone: results is a result, of which only the type is written: type(..)
def ResultsAlone : D_Op<"results_alone", "results attr-dict">, Results<(outs I32:$y)>;
// type-of-attribute: type(..) takes operands or results, not $a
def TypeOfAttribute : D_Op<"type_of_attribute", "$a attr-dict type($a)">, Arguments<(ins I32Attr:$a)>;
// type-of-region: type(..) takes operands or results, not $r
def TypeOfRegion : D_Op<"type_of_region", "$r attr-dict type($r)"> { let regions = (region AnyRegion:$r); }
// type-of-literal: literal 'x' is inside a directive
def TypeOfLiteral : D_Op<"type_of_literal", "attr-dict type(`x`)">;
// type-of-type: type(..) is inside type(..)
def TypeOfType : D_Op<"type_of_type", "$x attr-dict type(type($x))">, Arguments<(ins AnyType:$x)>;
// type-of-successors: type(..) takes operands or results, not successors
def TypeOfSuccessors : D_Op<"type_of_successors", "type(successors) attr-dict">;
// unknown-name: no field is called 'z'
def UnknownName : D_Op<"unknown_name", "$z attr-dict">, Arguments<(ins I32:$x)>;
// unknown-directive: 'nonsense' has no meaning
def UnknownDirective : D_Op<"unknown_directive", "nonsense attr-dict">;
// params-in-operation: 'params' has no meaning
def ParamsInOperation : D_Op<"params_in_operation", "params attr-dict">;
// struct-in-operation: 'struct' has no meaning
def StructInOperation : D_Op<"struct_in_operation", "struct(params) attr-dict">;
// unexpected-character: unexpected character at 9
def UnexpectedCharacter : D_Op<"unexpected_character", "attr-dict ;">;
// unclosed-literal: unexpected character at 9
def UnclosedLiteral : D_Op<"unclosed_literal", "attr-dict `x">;
// unclosed-type: expected ')', found 'the end'
def UnclosedType : D_Op<"unclosed_type", "$x attr-dict type($x">, Arguments<(ins AnyType:$x)>;
// literal-digit: '1' is neither a word nor punctuation
def LiteralDigit : D_Op<"literal_digit", "`1` attr-dict">;
// literal-two-marks: '=>' is neither a word nor punctuation
def LiteralTwoMarks : D_Op<"literal_two_marks", "`=>` attr-dict">;
// literal-word-with-dash: 'a-b' is neither a word nor punctuation
def LiteralDash : D_Op<"literal_dash", "`a-b` attr-dict">;
// literal-colon-word: ':x' is neither a word nor punctuation
def LiteralColonWord : D_Op<"literal_colon_word", "`:x` attr-dict">;
// literal-double-colon: '::' is neither a word nor punctuation
def LiteralDoubleColon : D_Op<"literal_double_colon", "`::` attr-dict">;
// literal-slash: '/' is neither a word nor punctuation
def LiteralSlash : D_Op<"literal_slash", "`/` attr-dict">;
// literal-at: '@' is neither a word nor punctuation
def LiteralAt : D_Op<"literal_at", "`@` attr-dict">;
// literal-two-blanks: '  ' is neither a word nor punctuation
def LiteralTwoBlanks : D_Op<"literal_two_blanks", "`  ` attr-dict">;
// string-at-top: string 'x' is not an argument of custom<..>
def StringAtTop : D_Op<"string_at_top", "\"x\" attr-dict">;
// group-without-anchor: an optional group needs an anchor '^'
def GroupWithoutAnchor : D_Op<"group_without_anchor", "(`x` $a)? attr-dict">, Arguments<(ins OptionalAttr<I32Attr>:$a)>;
// group-two-anchors: an optional group has two anchors '^'
def GroupTwoAnchors : D_Op<"group_two_anchors", "($a^ $b^)? attr-dict">, Arguments<(ins OptionalAttr<I32Attr>:$a, OptionalAttr<I32Attr>:$b)>;
// group-anchor-required-attribute: anchor '$a' is neither optional nor has a default
def GroupRequiredAttribute : D_Op<"group_required_attribute", "($a^)? attr-dict">, Arguments<(ins I32Attr:$a)>;
// group-anchor-required-property: anchor '$a' is neither optional nor has a default
def GroupRequiredProperty : D_Op<"group_required_property", "($a^)? attr-dict">, Arguments<(ins I32Prop:$a)>;
// group-required-operand: operand 'x' in an optional group is neither variadic nor optional
def GroupRequiredOperand : D_Op<"group_required_operand", "(`x` $x^)? attr-dict">, Arguments<(ins I32:$x)>;
// group-required-operand-not-anchor: operand 'x' in an optional group is neither variadic nor optional
def GroupOtherRequiredOperand : D_Op<"group_other_required_operand", "($o^ `,` $x)? attr-dict">, Arguments<(ins Optional<I32>:$o, I32:$x)>;
// group-required-result: result 'y' in an optional group is neither variadic nor optional
def GroupRequiredResult : D_Op<"group_required_result", "($o^ `:` type($y))? attr-dict">, Arguments<(ins Optional<I32>:$o)>, Results<(outs AnyType:$y)>;
// group-starts-with-type: an optional group begins with a literal, a field or custom<..>
def GroupStartsWithType : D_Op<"group_starts_with_type", "(type($x) $x^)? attr-dict">, Arguments<(ins Optional<AnyType>:$x)>;
// group-anchor-literal: an anchor '^' follows a field or a type
def GroupAnchorLiteral : D_Op<"group_anchor_literal", "(`x`^ $x)? attr-dict">, Arguments<(ins Optional<I32>:$x)>;
// group-of-attr-dict: only literals, fields and their types may be in an optional group
def GroupOfAttrDict : D_Op<"group_of_attr_dict", "($x^ attr-dict)?">, Arguments<(ins Optional<I32>:$x)>;
// group-of-operands: only literals, fields and their types may be in an optional group
def GroupOfOperands : D_Op<"group_of_operands", "($a^ type(operands))? attr-dict">, Arguments<(ins OptionalAttr<I32Attr>:$a)>;
// group-functional-type-of-results: only literals, fields and their types may be in an optional group
def GroupFunctionalType : D_Op<"group_functional_type", "$x (functional-type($x, results)^)? attr-dict">, Arguments<(ins Variadic<I32>:$x)>;
// group-without-question-mark: expected '?', found 'attr-dict'
def GroupNoQuestion : D_Op<"group_no_question", "($x^) attr-dict">, Arguments<(ins Optional<I32>:$x)>;
// group-else-without-parenthesis: expected '(', found 'y'
def GroupElse : D_Op<"group_else", "($x^):`y` attr-dict">, Arguments<(ins Optional<I32>:$x)>;
// group-empty: unexpected ')'
def GroupEmpty : D_Op<"group_empty", "()? attr-dict">;
// group-in-type: an optional group is inside a directive
def GroupInType : D_Op<"group_in_type", "type(($x^)?) attr-dict">, Arguments<(ins Optional<I32>:$x)>;
// anchor-at-top: unexpected '^'
def AnchorAtTop : D_Op<"anchor_at_top", "$x^ attr-dict">, Arguments<(ins Optional<I32>:$x)>;
// functional-type-one-argument: expected ',', found ')'
def FunctionalOne : D_Op<"functional_one", "operands attr-dict functional-type(operands)">, Arguments<(ins AnyType:$x)>;
// functional-type-of-attribute: type(..) takes operands or results, not $a
def FunctionalAttribute : D_Op<"functional_attribute", "$a attr-dict functional-type($a, results)">, Arguments<(ins I32Attr:$a)>;
// functional-type-twice: the types of 'operands' occur twice
def FunctionalTwice : D_Op<"functional_twice", "operands attr-dict functional-type(operands, results) functional-type(operands, results)">, Arguments<(ins AnyType:$x)>;
// functional-type-nested: 'functional-type' is inside a directive
def FunctionalNested : D_Op<"functional_nested", "operands attr-dict type(functional-type(operands, results))">, Arguments<(ins AnyType:$x)>;
// custom-without-name: custom<..> needs the name of a directive
def CustomNoName : D_Op<"custom_no_name", "custom<>($x) attr-dict">, Arguments<(ins I32:$x)>;
// custom-empty: unexpected ')'
def CustomEmpty : D_Op<"custom_empty", "custom<SymbolVisibility>() attr-dict">;
// custom-of-operands: custom<Foo> takes fields, their types and dictionaries, not operands
def CustomOfOperands : D_Op<"custom_of_operands", "custom<Foo>(operands) attr-dict">, Arguments<(ins I32:$x)>;
// custom-type-of-operands: custom<Foo> takes fields, their types and dictionaries, not type(operands)
def CustomTypeOfOperands : D_Op<"custom_type_of_operands", "operands custom<Foo>(type(operands)) attr-dict">, Arguments<(ins AnyType:$x)>;
// custom-literal: literal 'x' is inside a directive
def CustomLiteral : D_Op<"custom_literal", "custom<Foo>(`x`) attr-dict">;
// custom-unclosed: expected ',', found 'attr-dict'
def CustomUnclosed : D_Op<"custom_unclosed", "custom<Foo>($x attr-dict">, Arguments<(ins I32:$x)>;
// custom-operand-twice: 'x' occurs twice
def CustomTwice : D_Op<"custom_twice", "$x custom<Foo>($x) attr-dict">, Arguments<(ins I32:$x)>;
// ref-at-top: ref(..) is not an argument of custom<..>
def RefAtTop : D_Op<"ref_at_top", "$x ref($x) attr-dict">, Arguments<(ins I32:$x)>;
// ref-unbound-operand: ref($x) refers to what the format does not have before
def RefUnbound : D_Op<"ref_unbound", "custom<Foo>(ref($x)) $x attr-dict">, Arguments<(ins I32:$x)>;
// ref-unbound-attribute: ref($a) refers to what the format does not have before
def RefUnboundAttribute : D_Op<"ref_unbound_attribute", "custom<Foo>(ref($a)) attr-dict">, Arguments<(ins I32Attr:$a)>;
// ref-unbound-type: ref(type($x)) refers to what the format does not have before
def RefUnboundType : D_Op<"ref_unbound_type", "$x custom<Foo>(ref(type($x))) attr-dict">, Arguments<(ins I32:$x)>;
// qualified-operand: qualified(..) takes an attribute or type(..), not $x
def QualifiedOperand : D_Op<"qualified_operand", "qualified($x) attr-dict">, Arguments<(ins I32:$x)>;
// qualified-without-parenthesis: expected '(', found 'a'
def QualifiedBare : D_Op<"qualified_bare", "qualified $a attr-dict">, Arguments<(ins I32Attr:$a)>;
// attr-dict-before-region: 'attr-dict' before a region is ambiguous: use 'attr-dict-with-keyword'
def AttrDictRegion : D_Op<"attr_dict_region", "attr-dict $body"> { let regions = (region AnyRegion:$body); }
// attr-dict-before-optional-region: 'attr-dict' before a region is ambiguous: use 'attr-dict-with-keyword'
def AttrDictOptionalRegion : D_Op<"attr_dict_optional_region", "attr-dict ($body^)?"> { let regions = (region AnyRegion:$body); }
// colon-after-any-attribute: the text of an attribute of any type would go on at the ':' after it
def ColonAfterAttribute : D_Op<"colon_after_attribute", "$a `:` type($x) $x attr-dict">, Arguments<(ins AnyAttr:$a, AnyType:$x)>;
// colon-after-optional-attribute: the text of an attribute of any type would go on at the ':' after it
def ColonAfterOptional : D_Op<"colon_after_optional", "(`v` $a^)? `:` type($x) $x attr-dict">, Arguments<(ins OptionalAttr<AnyAttr>:$a, AnyType:$x)>;
// oilist-empty: a clause of oilist(..) starts with a word
def OilistEmpty : D_Op<"oilist_empty", "oilist() attr-dict">;
// oilist-no-keyword: a clause of oilist(..) starts with a word
def OilistNoKeyword : D_Op<"oilist_no_keyword", "oilist($a) attr-dict">, Arguments<(ins OptionalAttr<I32Attr>:$a)>;
// oilist-required-attribute: '$a' in oilist(..) is neither optional nor has a default
def OilistRequired : D_Op<"oilist_required", "oilist(`a` $a) attr-dict">, Arguments<(ins I32Attr:$a)>;
// oilist-required-operand: operand 'x' in oilist(..) is neither variadic nor optional
def OilistOperand : D_Op<"oilist_operand", "oilist(`x` $x) attr-dict">, Arguments<(ins I32:$x)>;
// oilist-then-same-literal: 'a' begins a clause of oilist(..) and what follows it
def OilistLiteral : D_Op<"oilist_literal", "oilist(`a` $a) `a` attr-dict">, Arguments<(ins OptionalAttr<I32Attr>:$a)>;
// oilist-adjacent: 'a' begins a clause of oilist(..) and what follows it
def OilistAdjacent : D_Op<"oilist_adjacent", "oilist(`a` $a) oilist(`a` $b) attr-dict">, Arguments<(ins OptionalAttr<I32Attr>:$a, OptionalAttr<I32Attr>:$b)>;
// oilist-without-parenthesis: expected '(', found 'x'
def OilistBare : D_Op<"oilist_bare", "oilist `x` attr-dict">;
// same-operands-and-result-type-without-type: the type of operand 'x' is not there and cannot be inferred: add 'type($x)'
def SameTypeNowhere : D_Op<"same_type_nowhere", "$x attr-dict", [SameOperandsAndResultType]>, Arguments<(ins AnyType:$x)>, Results<(outs AnyType:$y)>;
// same-operands-and-result-type-no-operands: 'SameOperandsAndResultType' needs an operand
def SameTypeNoOperands : D_Op<"same_type_no_operands", "attr-dict", [SameOperandsAndResultType]>, Results<(outs AnyType:$y)>;
// same-type-operands-results: the type of result 'y' is not there and cannot be inferred: add 'type($y)'
def SameTypeOperandsResult : D_Op<"same_type_operands_result", "$x attr-dict `:` type($x)", [SameTypeOperands]>, Arguments<(ins AnyType:$x)>, Results<(outs AnyType:$y)>;
// all-types-match-other: the type of operand 'z' is not there and cannot be inferred: add 'type($z)'
def AllTypesMatchOther : D_Op<"all_types_match_other", "$x `,` $z attr-dict `:` type($x)", [AllTypesMatch<["z", "y"]>]>, Arguments<(ins AnyType:$x, AnyType:$z)>, Results<(outs AnyType:$y)>;
// types-match-with-wrong-way: the type of operand 'x' is not there and cannot be inferred: add 'type($x)'
def TypesMatchBack : D_Op<"types_match_back", "$x attr-dict `:` type($y)", [TypesMatchWith<"same", "x", "y", "$_self">]>, Arguments<(ins AnyType:$x)>, Results<(outs AnyType:$y)>;
// types-match-with-unknown: the type of result 'y' is not there and cannot be inferred: add 'type($y)'
def TypesMatchUnknown : D_Op<"types_match_unknown", "$x attr-dict `:` type($x)", [TypesMatchWith<"same", "q", "y", "$_self">]>, Arguments<(ins AnyType:$x)>, Results<(outs AnyType:$y)>;
// format-empty: 'attr-dict' is missing
def FormatEmpty : D_Op<"format_empty", "">;
// two-variadic-operands: 2 variadic operands need the trait 'AttrSizedOperandSegments' or 'SameVariadicOperandSize'
def TwoVariadic : D_Plain<"two_variadic">, Arguments<(ins Variadic<I32>:$x, Variadic<I32>:$y)>;
// variadic-and-optional: 2 variadic operands need the trait 'AttrSizedOperandSegments' or 'SameVariadicOperandSize'
def VariadicAndOptional : D_Plain<"variadic_and_optional">, Arguments<(ins Variadic<I32>:$x, Optional<I32>:$y)>;
// two-variadic-results: 2 variadic results need the trait 'AttrSizedResultSegments' or 'SameVariadicResultSize'
def TwoVariadicResults : D_Plain<"two_variadic_results">, Results<(outs Variadic<I32>:$x, Variadic<I32>:$y)>;
// segments-without-variadic: 'AttrSizedOperandSegments' needs two variadic operands, found 0
def SegmentsWithout : D_Plain<"segments_without", [AttrSizedOperandSegments]>, Arguments<(ins I32:$x)>;
// both-segment-traits: 'AttrSizedOperandSegments' and 'SameVariadicOperandSize' contradict each other
def BothSegments : D_Plain<"both_segments", [AttrSizedOperandSegments, SameVariadicOperandSize]>, Arguments<(ins Variadic<I32>:$x, Variadic<I32>:$y)>;
// operands-same-name: operand 'x' and operand 'x': two fields of the name 'x'
def OperandsSameName : D_Plain<"operands_same_name">, Arguments<(ins I32:$x, I32:$x)>;
// operand-attribute-same-name: operand 'x' and attribute 'x': two fields of the name 'x'
def OperandAttributeName : D_Plain<"operand_attribute_name">, Arguments<(ins I32:$x, I32Attr:$x)>;
// attributes-same-name: attribute 'x' and attribute 'x': two fields of the name 'x'
def AttributesSameName : D_Plain<"attributes_same_name">, Arguments<(ins I32Attr:$x, I32Attr:$x)>;
// results-same-name: result 'x' and result 'x': two fields of the name 'x'
def ResultsSameName : D_Plain<"results_same_name">, Results<(outs I32:$x, I32:$x)>;
// operand-result-same-name: operand 'x' and result 'x': two fields of the name 'x'
def OperandResultName : D_Plain<"operand_result_name">, Arguments<(ins I32:$x)>, Results<(outs I32:$x)>;
// operand-region-same-name: operand 'x' and region 'x': two fields of the name 'x'
def OperandRegionName : D_Plain<"operand_region_name">, Arguments<(ins I32:$x)> { let regions = (region AnyRegion:$x); }
// result-region-same-name: result 'x' and region 'x': two fields of the name 'x'
def ResultRegionName : D_Plain<"result_region_name">, Results<(outs I32:$x)> { let regions = (region AnyRegion:$x); }
// region-successor-same-name: region 'x' and successor 'x': two fields of the name 'x'
def RegionSuccessorName : D_Plain<"region_successor_name"> { let regions = (region AnyRegion:$x); let successors = (successor AnySuccessor:$x); }
// name-operands: the accessor 'getOperands' of operand 'operands' is one that every operation has
def NameOperands : D_Plain<"name_operands">, Arguments<(ins I32:$operands)>;
// name-attributes: the accessor 'getAttributes' of operand 'attributes' is one that every operation has
def NameAttributes : D_Plain<"name_attributes">, Arguments<(ins I32:$attributes)>;
// name-operation: the accessor 'getOperation' of operand 'operation' is one that every operation has
def NameOperation : D_Plain<"name_operation">, Arguments<(ins I32:$operation)>;
// name-type-of-no-result: the accessor 'getType' of operand 'type' is one that every operation has
def NameType : D_Plain<"name_type">, Arguments<(ins I32:$type)>;
// name-regions: the accessor 'getRegions' of operand 'regions' is one that every operation has
def NameRegions : D_Plain<"name_regions">, Arguments<(ins I32:$regions)>;
// attribute-without-name: attribute 'I32Attr' needs a name
def AttributeNoName : D_Plain<"attribute_no_name">, Arguments<(ins I32Attr)>;
// property-without-name: attribute 'I32Prop' needs a name
def PropertyNoName : D_Plain<"property_no_name">, Arguments<(ins I32Prop)>;
// derived-attribute-in-arguments: derived attribute 'n' is a field of the operation, not an argument
def DerivedInArguments : D_Plain<"derived_in_arguments">, Arguments<(ins DerivedAttr<"int", "return 1;">:$n)>;
// region-as-argument: argument 'r' of 'RegionAsArgument': 'AnyRegion' is neither an operand nor an attribute
def RegionAsArgument : D_Plain<"region_as_argument">, Arguments<(ins AnyRegion:$r)>;
// successor-as-argument: argument 'r' of 'SuccessorAsArgument': 'AnySuccessor' is neither an operand nor an attribute
def SuccessorAsArgument : D_Plain<"successor_as_argument">, Arguments<(ins AnySuccessor:$r)>;
// trait-as-argument: argument 'r' of 'TraitAsArgument': 'Pure' is neither an operand nor an attribute
def TraitAsArgument : D_Plain<"trait_as_argument">, Arguments<(ins Pure:$r)>;
// string-as-argument: '"int"' in 'arguments' of 'StringAsArgument' is not a record
def StringAsArgument : D_Plain<"string_as_argument">, Arguments<(ins "int":$r)>;
// attribute-as-result: 'I32Attr' of 'AttributeAsResult' is not a type constraint
def AttributeAsResult : D_Plain<"attribute_as_result">, Results<(outs I32Attr:$r)>;
// region-as-result: 'AnyRegion' of 'RegionAsResult' is not a type constraint
def RegionAsResult : D_Plain<"region_as_result">, Results<(outs AnyRegion:$r)>;
// results-ins: 'results' is a dag of 'outs', not 'ins'
def ResultsIns : D_Plain<"results_ins"> { let results = (ins I32:$x); }
// regions-ins: 'regions' is a dag of 'region', not 'ins'
def RegionsIns : D_Plain<"regions_ins"> { let regions = (ins AnyRegion:$x); }
// successors-region: 'successors' is a dag of 'successor', not 'region'
def SuccessorsRegion : D_Plain<"successors_region"> { let successors = (region AnySuccessor:$x); }
// variadic-region-not-last: only the last region can be variadic
def VariadicRegionFirst : D_Plain<"variadic_region_first"> { let regions = (region VariadicRegion<AnyRegion>:$a, AnyRegion:$b); }
// variadic-region-without-name: a variadic region needs a name
def VariadicRegionNoName : D_Plain<"variadic_region_no_name"> { let regions = (region VariadicRegion<AnyRegion>); }
// variadic-successor-not-last: only the last successor can be variadic
def VariadicSuccessorFirst : D_Plain<"variadic_successor_first"> { let successors = (successor VariadicSuccessor<AnySuccessor>:$a, AnySuccessor:$b); }
// variadic-of-variadic-result: result 'x' is variadic of variadic, which only operands can be
def NestedVariadicResult : D_Plain<"nested_variadic_result">, Results<(outs VariadicOfVariadic<I32, "s">:$x)>;
// trait-order: trait 'SecondTrait' needs 'FirstTrait' before it
def FirstTrait : NativeOpTrait<"FirstTrait">;
def SecondTrait : NativeOpTrait<"SecondTrait", [FirstTrait]>;
def TraitOrder : D_Plain<"trait_order", [SecondTrait, FirstTrait]>;
// trait-missing: trait 'FourthTrait' needs 'ThirdTrait' before it
def ThirdTrait : NativeOpTrait<"ThirdTrait">;
def FourthTrait : NativeOpTrait<"FourthTrait", [ThirdTrait]>;
def TraitMissing : D_Plain<"trait_missing", [FourthTrait]>;
// skipped-builders: 'skipDefaultBuilders' needs 'builders'
def SkippedBuilders : D_Plain<"skipped_builders"> { let skipDefaultBuilders = 1; }
// builder-outs: the parameters of a builder are a dag of 'ins'
def BuilderOuts : D_Plain<"builder_outs"> { let builders = [OpBuilder<(outs)>]; }
// builder-of-constraint: parameter 'a' of a builder is neither a C++ type in quotes nor CArg<..>
def BuilderOfConstraint : D_Plain<"builder_of_constraint"> { let builders = [OpBuilder<(ins I32:$a)>]; }
// builder-default-order: parameters with default values are the last of a builder
def BuilderDefaultOrder : D_Plain<"builder_default_order"> { let builders = [OpBuilder<(ins CArg<"int", "42">:$a, "int":$b)>]; }
// first-attr-derived-without-attribute: 'FirstAttrDerivedResultType' needs an attribute
def FirstAttr : D_Plain<"first_attr", [FirstAttrDerivedResultType]>, Results<(outs AnyType:$y)>;
// same-operands-result-type-no-operands-plain: 'SameOperandsAndResultType' needs an operand
def SameNoOperands : D_Plain<"same_no_operands", [SameOperandsAndResultType]>, Results<(outs AnyType:$y)>;
// type-parameter-missing: parameter 'b' is missing
def T1 : D_Type<"T1", "t1"> { let parameters = (ins "int":$a, "int":$b); let assemblyFormat = "`<` $a `>`"; }
// type-parameter-unknown: no parameter is called 'q'
def T2 : D_Type<"T2", "t2"> { let parameters = (ins "int":$a); let assemblyFormat = "`<` $q `>`"; }
// type-parameter-twice: parameter 'a' occurs twice
def T3 : D_Type<"T3", "t3"> { let parameters = (ins "int":$a); let assemblyFormat = "`<` $a `,` $a `>`"; }
// type-params-after-parameter: parameter 'a' occurs twice
def T4 : D_Type<"T4", "t4"> { let parameters = (ins "int":$a); let assemblyFormat = "`<` $a params `>`"; }
// type-group-required: a parameter in an optional group is not optional
def T5 : D_Type<"T5", "t5"> { let parameters = (ins "int":$a); let assemblyFormat = "(`<` $a^ `>`)?"; }
// type-group-without-anchor: an optional group needs one anchor '^'
def T6 : D_Type<"T6", "t6"> { let parameters = (ins OptionalParameter<"int">:$a); let assemblyFormat = "(`<` $a `>`)?"; }
// type-struct-required-in-group: a parameter in an optional group is not optional
def T7 : D_Type<"T7", "t7"> { let parameters = (ins "int":$a, OptionalParameter<"int">:$b); let assemblyFormat = "(`<` struct(params)^ `>`)?"; }
// type-struct-then-comma: 'struct' with optional parameters is before ','
def T8 : D_Type<"T8", "t8"> { let parameters = (ins OptionalParameter<"int">:$a, "int":$b); let assemblyFormat = "`<` struct($a) `,` $b `>`"; }
// type-directive-of-operations: 'attr-dict' has no meaning
def T9 : D_Type<"T9", "t9"> { let parameters = (ins "int":$a); let assemblyFormat = "`<` $a attr-dict `>`"; }
// type-type-directive: 'type' has no meaning
def T10 : D_Type<"T10", "t10"> { let parameters = (ins "int":$a); let assemblyFormat = "`<` type($a) `>`"; }
// type-struct-empty: struct(..) takes parameters, not ')'
def T11 : D_Type<"T11", "t11"> { let parameters = (ins "int":$a); let assemblyFormat = "`<` struct() `>`"; }
// type-qualified-literal: qualified(..) takes a parameter, not 'x'
def T12 : D_Type<"T12", "t12"> { let parameters = (ins "int":$a); let assemblyFormat = "`<` qualified(`x`) $a `>`"; }
// type-format-and-custom: 'T14' has a form in C++ and an assembly format
def T14 : D_Type<"T14", "t14"> { let parameters = (ins "int":$a); let assemblyFormat = "`<` $a `>`"; let hasCustomAssemblyFormat = 1; }
// type-parameters-without-format: 'T16' has a mnemonic and parameters, but no assembly format
def T16 : D_Type<"T16", "t16"> { let parameters = (ins "int":$a); }
// type-parameter-without-name: a parameter of 'T19' has no name
def T19 : D_Type<"T19", "t19"> { let parameters = (ins "int"); let assemblyFormat = "`<` params `>`"; }
// type-parameter-number: parameter 'a' of 'T21' has no C++ type
def T21 : D_Type<"T21", "t21"> { let parameters = (ins 3:$a); let assemblyFormat = "`<` $a `>`"; }
// type-parameters-same-name: two parameters of 'T22' have the same name
def T22 : D_Type<"T22", "t22"> { let parameters = (ins "int":$a, "int":$a); let assemblyFormat = "`<` params `>`"; }
// type-struct-twice: parameter 'a' occurs twice
def T24 : D_Type<"T24", "t24"> { let parameters = (ins "int":$a); let assemblyFormat = "`<` struct($a, $a) `>`"; }
// type-anchor-literal: an anchor '^' follows a parameter
def T25 : D_Type<"T25", "t25"> { let parameters = (ins OptionalParameter<"int">:$a); let assemblyFormat = "(`<`^ $a `>`)?"; }
// type-literal: '1' is neither a word nor punctuation
def T26 : D_Type<"T26", "t26"> { let parameters = (ins "int":$a); let assemblyFormat = "`1` $a"; }
// attr-parameter-missing: parameter 'b' is missing
def A1 : D_Attr<"A1", "a1"> { let parameters = (ins "int":$a, "int":$b); let assemblyFormat = "`<` $a `>`"; }
// attr-parameter-twice: parameter 'a' occurs twice
def A2 : D_Attr<"A2", "a2"> { let parameters = (ins "int":$a); let assemblyFormat = "`<` params `,` $a `>`"; }
// attr-empty-format: parameter 'a' is missing
def A6 : D_Attr<"A6", "a6"> { let parameters = (ins "int":$a); let assemblyFormat = ""; }
// enum-attr-format-unknown: no parameter is called 'q'
def E11 : I32EnumAttr<"E11", "", [I32EnumAttrCase<"A", 0>]> { let genSpecializedAttr = 0; }
def E11Attr : EnumAttr<D, E11, "e11"> { let assemblyFormat = "`<` $q `>`"; }
// custom: ref($a) refers to what the format does not have before
def N54 : D_Op<"n54", "custom<Foo>($x, type($x), \"text\", ref($a)) attr-dict">, Arguments<(ins AnyType:$x, I32Attr:$a)>;
// attribute-named-like-result: attribute 'x' and result 'x': two fields of the name 'x'
def N70 : D_Plain<"n70">, Arguments<(ins I32Attr:$x)>, Results<(outs I32:$x)>;
// attribute-named-like-region: attribute 'x' and region 'x': two fields of the name 'x'
def N71 : D_Plain<"n71">, Arguments<(ins I32Attr:$x)> { let regions = (region AnyRegion:$x); }
// successor-anchor: only literals, fields and their types may be in an optional group
def NX1 : D_Op<"nx1", "(`to` $s^)? attr-dict"> { let successors = (successor VariadicSuccessor<AnySuccessor>:$s); }
// regions-in-group: only literals, fields and their types may be in an optional group
def NX2 : D_Op<"nx2", "(`to` regions^)? attr-dict"> { let regions = (region VariadicRegion<AnyRegion>:$s); }
// operands-in-group: only literals, fields and their types may be in an optional group
def NX3 : D_Op<"nx3", "(`to` operands^)? attr-dict">, Arguments<(ins Optional<I32>:$x)>;
// results-type-anchor: only literals, fields and their types may be in an optional group
def NX4 : D_Op<"nx4", "attr-dict (`->` type(results)^)?">, Results<(outs Variadic<AnyType>:$y)>;
// prop-dict-in-group: only literals, fields and their types may be in an optional group
def NX5 : D_Op<"nx5", "($x^ prop-dict)? attr-dict">, Arguments<(ins Optional<I32>:$x)>;
// oilist-in-group: only literals, fields and their types may be in an optional group
def NX6 : D_Op<"nx6", "($x^ oilist(`a` $a))? attr-dict">, Arguments<(ins Optional<I32>:$x, UnitAttr:$a)>;
// else-required-operand: operand 'x' in an optional group is neither variadic nor optional
def NX7 : D_Op<"nx7", "($a^) : ($x)? attr-dict">, Arguments<(ins OptionalAttr<I32Attr>:$a, I32:$x)>;
// transitive-all-types-match: the type of result 'y' is not there and cannot be inferred: add 'type($y)'
def NX10 : D_Op<"nx10", "$x `,` $z attr-dict `:` type($x)", [AllTypesMatch<["x", "z"]>, AllTypesMatch<["z", "y"]>]>, Arguments<(ins AnyType:$x, AnyType:$z)>, Results<(outs AnyType:$y)>;
// optional-region-after-dict: 'attr-dict' before a region is ambiguous: use 'attr-dict-with-keyword'
def NX11 : D_Op<"nx11", "attr-dict ($r^)?"> { let regions = (region VariadicRegion<AnyRegion>:$r); }
// types-match-buildable-source: the type of result 'y' is not there and cannot be inferred: add 'type($y)'
def NX15 : D_Op<"nx15", "$x attr-dict", [TypesMatchWith<"same", "x", "y", "$_self">]>, Arguments<(ins I32:$x)>, Results<(outs AnyType:$y)>;
// same-type-buildable-operand: the type of result 'y' is not there and cannot be inferred: add 'type($y)'
def NX16 : D_Op<"nx16", "$x attr-dict", [SameOperandsAndResultType]>, Arguments<(ins I32:$x)>, Results<(outs AnyType:$y)>;
// all-types-match-buildable: the type of result 'y' is not there and cannot be inferred: add 'type($y)'
def NX17 : D_Op<"nx17", "$x attr-dict", [AllTypesMatch<["x", "y"]>]>, Arguments<(ins I32:$x)>, Results<(outs AnyType:$y)>;
// colon-after-qualified: the text of an attribute of any type would go on at the ':' after it
def NX19 : D_Op<"nx19", "qualified($a) `:` type($x) $x attr-dict">, Arguments<(ins ElementsAttr:$a, AnyType:$x)>;
// custom-regions: custom<Foo> takes fields, their types and dictionaries, not regions
def NX25 : D_Op<"nx25", "custom<Foo>(regions) attr-dict"> { let regions = (region AnyRegion:$r); }
// custom-successors: custom<Foo> takes fields, their types and dictionaries, not successors
def NX26 : D_Op<"nx26", "custom<Foo>(successors) attr-dict"> { let successors = (successor AnySuccessor:$s); }
// custom-functional-type: 'functional-type' is inside a directive
def NX27 : D_Op<"nx27", "$x custom<Foo>(functional-type($x, results)) attr-dict">, Arguments<(ins AnyType:$x)>;
// segments-result-one: 'AttrSizedResultSegments' needs two variadic results, found 1
def NX33 : D_Plain<"nx33", [AttrSizedResultSegments]>, Results<(outs Variadic<I32>:$x)>;
// both-result-segments: 'AttrSizedResultSegments' and 'SameVariadicResultSize' contradict each other
def NX34 : D_Plain<"nx34", [AttrSizedResultSegments, SameVariadicResultSize]>, Results<(outs Variadic<I32>:$x, Variadic<I32>:$y)>;
// result-named-type: the accessor 'getType' of result 'type' is one that every operation has
def NX35 : D_Plain<"nx35">, Results<(outs I32:$type, I32:$y)>;
// result-named-operation: the accessor 'getOperation' of result 'operation' is one that every operation has
def NX36 : D_Plain<"nx36">, Results<(outs I32:$operation)>;
// successor-named-attributes: the accessor 'getAttributes' of successor 'attributes' is one that every operation has
def NX37 : D_Plain<"nx37"> { let successors = (successor AnySuccessor:$attributes); }
// operand-named-attribute_names: the accessor 'getAttributeNames' of operand 'attribute_names' is one that every operation has
def NX38 : D_Plain<"nx38">, Arguments<(ins I32:$attribute_names)>;
// attribute-named-attributes: the accessor 'getAttributes' of attribute 'attributes' is one that every operation has
def NX40 : D_Plain<"nx40">, Arguments<(ins I32Attr:$attributes)>;
// property-named-like-attribute: attribute 'a' and attribute 'a': two fields of the name 'a'
def NX42 : D_Plain<"nx42">, Arguments<(ins I32Attr:$a, I32Prop:$a)>;
// property-like-operand: operand 'a' and attribute 'a': two fields of the name 'a'
def NX43 : D_Plain<"nx43">, Arguments<(ins I32:$a, I32Prop:$a)>;
// successor-like-operand: operand 'a' and successor 'a': two fields of the name 'a'
def NX44 : D_Plain<"nx44">, Arguments<(ins I32:$a)> { let successors = (successor AnySuccessor:$a); }
// successor-like-attribute: attribute 'a' and successor 'a': two fields of the name 'a'
def NX45 : D_Plain<"nx45">, Arguments<(ins I32Attr:$a)> { let successors = (successor AnySuccessor:$a); }
// snake-names: operand 'a_b' and operand 'aB': one accessor, 'getAB'
def NX46 : D_Plain<"nx46">, Arguments<(ins I32:$a_b, I32:$aB)>;
// array-prop-group: anchor '$a' is neither optional nor has a default
def NX50 : D_Op<"nx50", "($a^)? attr-dict">, Arguments<(ins IntArrayProp<I64Prop>:$a)>;
// oilist-property: '$a' in oilist(..) is neither optional nor has a default
def NX51 : D_Op<"nx51", "oilist(`a` $a) attr-dict">, Arguments<(ins I64Prop:$a)>;
// group-starts-with-successor: only literals, fields and their types may be in an optional group
def NX61 : D_Op<"nx61", "($x^ $s)? attr-dict">, Arguments<(ins Optional<I32>:$x)> { let successors = (successor AnySuccessor:$s); }
// literal-dollar: '$a' is neither a word nor punctuation
def NX64 : D_Op<"nx64", "`$a` attr-dict">;
// qualified-functional-type: qualified(..) takes an attribute or type(..), not FunctionalType
def NX65 : D_Op<"nx65", "$x attr-dict qualified(functional-type($x, results))">, Arguments<(ins AnyType:$x)>;
// functional-then-type: the type of 'y' occurs twice
def NX67 : D_Op<"nx67", "$x attr-dict `:` functional-type(operands, $y) type($y)">, Arguments<(ins AnyType:$x)>, Results<(outs AnyType:$y)>;
// attribute-interface-of-an-operation: trait 'NX70_Interface' is one of types or attributes, not of operations
def NX70_Interface : AttrInterface<"NX70_Interface"> { let methods = []; }
def NX70 : D_Plain<"nx70", [NX70_Interface]>;
// type-trait-of-an-operation: trait 'NX71_Trait' is one of types or attributes, not of operations
def NX71_Trait : NativeTypeTrait<"NX71">;
def NX71 : D_Plain<"nx71", [NX71_Trait]>;
// attribute-as-a-parameter: parameter 'a' of 'NX72' is 'I32Attr', which is not a parameter of types or attributes
def NX72 : D_Type<"NX72", "nx72"> { let parameters = (ins I32Attr:$a); let assemblyFormat = "`<` params `>`"; }
