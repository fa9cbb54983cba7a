export { annotateTypes, type Describe } from "./annotate-types.js";
export { applyRewrite, type Outcome, tryRewrite } from "./apply-rewrite.js";
export { bodyEntries } from "./body-types.js";
export { Captures, copyConstant, copyGraph, copyNode, spliceBody } from "./copy-nodes.js";
export { PassFailure, unknownPass } from "./errors.js";
export { isHalf, isHalfType, magnifierOf, roundingReason } from "./half-precision.js";
export {
  type Answer,
  type AnyPass,
  defineGraphPass,
  defineRewrite,
  type Evaluate,
  type GraphPass,
  type GraphPassContext,
  isForOtherTargets,
  type PassOptions,
  type Rewrite,
  type RewriteContext,
  Skip,
  type Store,
  skip,
} from "./pass.js";
export { type PassEvent, type PassReport, runPasses, runRewrites, type SkippedNode } from "./run-passes.js";
export { removeUnreadConstant, removeWithFeeders, valuesRead } from "./sweep.js";
