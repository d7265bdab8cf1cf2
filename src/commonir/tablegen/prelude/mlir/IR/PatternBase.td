// Rewrite rules: a source, results, and conditions.

#ifndef PRELUDE_PATTERNS
#define PRELUDE_PATTERNS

include "mlir/prelude/Definitions.td"

foreach name = ["addBenefit", "either", "location", "replaceWithValue", "returnType", "variadic"] in def name;
class Pattern<dag source, list<dag> results, list<dag> preds = [], list<dag> supplemental_results = [],
              dag benefitAdded = (addBenefit 0)> {
  list<dag> resultPatterns = results; dag sourcePattern = source;
  list<dag> supplementalPatterns = supplemental_results; list<dag> constraints = preds;
  dag benefitDelta = benefitAdded;
}
class Pat<dag pattern, dag result, list<dag> preds = [], list<dag> supplemental_results = [],
          dag benefitAdded = (addBenefit 0)> : Pattern<pattern, [result], preds, supplemental_results, benefitAdded>;
class NativeCodeCall<string expr, int returns = 1> { int numReturns = returns; string expression = expr; }
class NativeCodeCallVoid<string expr> : NativeCodeCall<expr, 0>;
def ConstantLikeMatcher : NativeCodeCall<"matchPattern($_self->getResult(0), m_Constant(&$0))">;
def HasNoUseOf : Constraint<CPred<"$_self.use_empty()">, "has no use">;

#endif
