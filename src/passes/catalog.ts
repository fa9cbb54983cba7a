/** Every pass, in the order in which they run, with a reason where the order matters; and the recipes made of them. */
import type { AnyPass, Rewrite } from "../rewrite/index.js";
import { fuseAttention } from "./attention/attention.js";
import { fuseAttentionCache } from "./attention/cache.js";
import { fuseRotaryEmbedding } from "./attention/rotary-embedding.js";
import { approximateGelu } from "./contrib/approximate-gelu.js";
import { fuseBiasGelu } from "./contrib/bias-gelu.js";
import { fuseConvActivation } from "./contrib/conv-activation.js";
import { fuseConvResidual } from "./contrib/conv-residual.js";
import { fuseOldGelu } from "./contrib/gelu.js";
import { fuseGemmActivation } from "./contrib/gemm-activation.js";
import { inlineRuntimeActivation, inlineRuntimeGelu, inlineRuntimeQuickGelu } from "./contrib/inline/activation.js";
import { inlineRuntimeAttention } from "./contrib/inline/attention.js";
import { inlineRuntimeEmbedding } from "./contrib/inline/embedding.js";
import { inlineRuntimeLayerNorm, inlineRuntimeRmsNorm } from "./contrib/inline/normalization.js";
import { inlineRuntimeProduct } from "./contrib/inline/product.js";
import { fuseMatMulScale } from "./contrib/matmul-scale.js";
import { fuseMatMulTranspose } from "./contrib/matmul-transpose.js";
import { fuseMultiHeadAttention } from "./contrib/multi-head-attention.js";
import { fuseQuickGelu } from "./contrib/quick-gelu.js";
import { hoistCommonBranchNode } from "./control/common-branch-node.js";
import { hoistLoopInvariant } from "./control/hoist-loop-invariant.js";
import { inlineFunctions } from "./control/inline-functions.js";
import { inlineIf } from "./control/inline-if.js";
import { foldKnownCondition } from "./control/known-condition.js";
import { foldOptionalSqueeze } from "./control/optional-squeeze.js";
import { fuseRecurrence } from "./control/recurrent/recurrence.js";
import {
  fuseRecurrentChain,
  fuseSmallOrLstmChain,
  fuseSmallRecurrentChain,
} from "./control/recurrent/recurrent-chain.js";
import { eliminateSequence } from "./control/sequence.js";
import { eliminateSplitToSequence } from "./control/split-to-sequence.js";
import { unrollLoop } from "./control/unroll-loop.js";
import { unrollScan } from "./control/unroll-scan.js";
import { eliminateUnusedOutput } from "./control/unused-output.js";
import { eliminateAddedZero } from "./eliminate/added-zero.js";
import { eliminateBinarySum } from "./eliminate/binary-sum.js";
import { eliminateBroadcastExpand } from "./eliminate/broadcast-expand.js";
import { eliminateCastLike } from "./eliminate/cast-like.js";
import { eliminateCommonSubexpression } from "./eliminate/common-subexpression.js";
import { eliminateDeadCode } from "./eliminate/dead-code.js";
import { eliminateDropout } from "./eliminate/dropout.js";
import { eliminateDuplicateConstant } from "./eliminate/duplicate-constant.js";
import { eliminateIdentity } from "./eliminate/identity.js";
import { eliminateLeadingAxes } from "./eliminate/leading-axes.js";
import { eliminateNoOpArithmetic } from "./eliminate/no-op-arithmetic.js";
import { eliminateNoOpCast } from "./eliminate/no-op-cast.js";
import { eliminateNoOpExpand } from "./eliminate/no-op-expand.js";
import { eliminateNoOpPad } from "./eliminate/no-op-pad.js";
import { eliminateNoOpAverage, eliminateNoOpPool } from "./eliminate/no-op-pool.js";
import { eliminateNoOpReshape } from "./eliminate/no-op-reshape.js";
import { eliminateNoOpSlice } from "./eliminate/no-op-slice.js";
import { eliminateNoOpTranspose } from "./eliminate/no-op-transpose.js";
import { eliminateNoOpTrilu } from "./eliminate/no-op-trilu.js";
import { eliminateReinsertedAxis } from "./eliminate/reinserted-axis.js";
import { eliminateRepeated } from "./eliminate/repeated.js";
import { eliminateSameOperands } from "./eliminate/same-operands.js";
import { eliminateSingleOperand } from "./eliminate/single-operand.js";
import { eliminateSquaredRoot } from "./eliminate/squared-root.js";
import { eliminateUnpaddedCount } from "./eliminate/unpadded-average.js";
import { eliminateUnreadTaps } from "./eliminate/unread-taps.js";
import { eliminateZeroState } from "./eliminate/zero-state.js";
import { foldConstants } from "./fold/constants.js";
import { foldRangeBound } from "./fold/range-bound.js";
import { eliminateSameShape } from "./fold/same-shape.js";
import { eliminateShapeDetour } from "./fold/shape-sources.js";
import { foldShapes } from "./fold/shapes.js";
import { foldSliceEnd } from "./fold/slice-end.js";
import { fuseArgMonotone } from "./fuse/arg-monotone.js";
import {
  fuseConvBatchNorm,
  fuseConvTransposeBatchNorm,
  fuseGemmBatchNorm,
  fuseMatMulBatchNorm,
} from "./fuse/batch-norm.js";
import { fuseChannelConv } from "./fuse/channel-conv.js";
import { fuseClip } from "./fuse/clip.js";
import { fuseCondition } from "./fuse/condition.js";
import { fuseCrop } from "./fuse/crop.js";
import { fuseGelu } from "./fuse/gelu.js";
import { fuseGemmTranspose } from "./fuse/gemm-transpose.js";
import { fuseGroupNorm } from "./fuse/group-norm.js";
import { fuseHardSigmoid, fuseHardSwish } from "./fuse/hard-activation.js";
import { inlineChannelMultiplier } from "./fuse/inline-channel-multiplier.js";
import { inlineElu } from "./fuse/inline-elu.js";
import { inlineLogSumExp } from "./fuse/inline-log-sum-exp.js";
import { inlineLrn } from "./fuse/inline-lrn.js";
import { inlineMish } from "./fuse/inline-mish.js";
import { inlinePower } from "./fuse/inline-power.js";
import { inlinePRelu } from "./fuse/inline-prelu.js";
import { inlineShortSum } from "./fuse/inline-short-sum.js";
import { fuseConvMulAdd, fuseConvTransposeMulAdd, fuseGemmMulAdd, fuseMatMulMul } from "./fuse/linear-arithmetic.js";
import { fuseMatMulAdd } from "./fuse/matmul-add.js";
import { fuseMulAddConv } from "./fuse/mul-add-conv.js";
import { fuseChannelNorm, fuseInstanceNorm, fuseLayerNorm, fuseRmsNorm } from "./fuse/normalization.js";
import { fuseNormalizationAffine } from "./fuse/normalization-affine.js";
import { fuseLayerNormStatistics } from "./fuse/normalization-statistics.js";
import { fuseNormalizationCast, fuseNormalizationReshape } from "./fuse/normalization-view.js";
import { fusePad } from "./fuse/pad.js";
import { fuseLeakyRelu, fusePRelu, fuseThresholdedRelu, fuseWhereClip } from "./fuse/rectifier.js";
import { fuseReduceNorm } from "./fuse/reduce-norm.js";
import { fuseResidualSum } from "./fuse/residual-sum.js";
import { fuseSingleElement } from "./fuse/single-element.js";
import {
  fuseCelu,
  fuseMish,
  fuseSelu,
  fuseShiftedTanh,
  fuseSigmoid,
  fuseSoftplusThreshold,
  fuseSoftsign,
  fuseTanh,
} from "./fuse/smooth-activation.js";
import { fuseLogSoftmax, fuseSoftmax } from "./fuse/softmax.js";

import { inlineAssignment } from "./layout/assigned/inline-assignment.js";
import { fuseAxisChain } from "./layout/axis-chain.js";
import { eliminateConcatParts, eliminateUnusedPart, fuseConcat } from "./layout/concat-parts.js";
import { fuseConcatRows } from "./layout/concat-rows.js";
import { fuseGatherPart } from "./layout/gather-part.js";
import { fuseChannelShuffle, fuseRoll, fuseSliceSqueeze } from "./layout/gather-rows.js";
import { fuseGatherUnsqueeze } from "./layout/gather-unsqueeze.js";
import { hoistPool } from "./layout/hoist-pool.js";
import { inlineResize } from "./layout/inline-resize.js";
import { joinSoftmaxAxes } from "./layout/join-softmax-axes.js";
import { liftLine } from "./layout/lift-line.js";
import { eliminateMergedBatch } from "./layout/merged-batch.js";
import { fuseMovedAxis } from "./layout/moved-axis.js";
import { fuseReduceReduce, fuseReduceSqueeze, sinkReducedTranspose } from "./layout/reduce-axes.js";
import { fuseRepeat } from "./layout/repeat.js";
import { fuseReshapeAround } from "./layout/reshape-around.js";
import { eliminateNoOpResize, fuseResizeAxes, fuseResizeScales } from "./layout/resize.js";
import { fuseShuffleOrder } from "./layout/shuffle-order.js";
import { sinkSoftmax } from "./layout/sink-softmax.js";
import { sinkSqueeze } from "./layout/sink-squeeze.js";
import { fuseSlice } from "./layout/slice-chain.js";
import { fuseSlicesToSplit } from "./layout/slices-to-split.js";
import { fuseSoftmaxView } from "./layout/softmax-view.js";
import { fuseSplitConcat } from "./layout/split-concat.js";
import { hoistSplitStep } from "./layout/split-step.js";
import { splitTranspose } from "./layout/split-transpose.js";
import { fuseStackedParts } from "./layout/stacked-parts.js";
import { fuseStackedRows } from "./layout/stacked-rows.js";
import { eliminateTransposeDetour } from "./layout/transpose-detour.js";
import { fuseTransposedParts } from "./layout/transposed-parts.js";
import { widenDepthwise } from "./layout/widen-depthwise.js";
import { fuseArithmeticDown } from "./linear/arithmetic-down.js";
import { fuseArithmeticPair } from "./linear/arithmetic-pair.js";
import { fuseArithmeticUp } from "./linear/arithmetic-up.js";
import { inlineEinsum } from "./linear/einsum/inline-einsum.js";
import { inlineDft } from "./linear/fourier/inline-dft.js";
import { inlineStft } from "./linear/fourier/inline-stft.js";
import { splitFourierConv } from "./linear/fourier/split-fourier-conv.js";
import { splitFourierMatMul } from "./linear/fourier/split-fourier-matmul.js";
import { fuseGemmSum } from "./linear/gemm-sum.js";
import { joinAddedPoints } from "./linear/join-added-points.js";
import { fuseLinearChain, joinLinearChain } from "./linear/linear-chain.js";
import { fuseLinearParts } from "./linear/linear-parts.js";
import { fuseMatMulFactors } from "./linear/matmul-factors.js";
import { fuseOuterProduct } from "./linear/outer-product.js";
import { fuseParallelConcat } from "./linear/parallel-concat.js";
import { fuseParallelHeads } from "./linear/parallel-heads.js";
import { fuseParallelSum } from "./linear/parallel-sum.js";
import { fuseResidualGate } from "./linear/residual-gate.js";
import { widenHalf } from "./precision/widen-half.js";

/** Clean-up: the same bits come out. */
const cleanUp: readonly AnyPass[] = [
  inlineFunctions, // passes look into graphs and bodies, not into functions
  foldSliceEnd, // before anybody believes in a size of zero
  eliminateDeadCode, // nothing below looks at what no output needs
  eliminateIdentity, // fewer shapes of pattern for everything below
  eliminateDropout,
  eliminateCastLike, // casts of constants fold
  eliminateDuplicateConstant, // equal inputs are the same value: common subexpressions show
  foldShapes, // computed shapes and bounds become constants that the next ones read
  eliminateSameShape,
  eliminateShapeDetour, // after what needs no computed shape at all
  foldConstants, // computed weights become constants the fusions can read
  inlineIf, // conditions are constants now; what comes out of the branch meets the passes below
  foldRangeBound, // a runtime must be able to read what folding has left
  foldOptionalSqueeze,
  foldKnownCondition, // for the branches that stay
  eliminateUnusedOutput, // before a loop is written out: fewer states
  unrollLoop,
  unrollScan,
  hoistLoopInvariant, // out of the loops that stay
  hoistCommonBranchNode, // when what the branches know has made them as different as they are
  eliminateSequence, // what loops collected
  eliminateSplitToSequence,
  eliminateNoOpCast,
  eliminateNoOpReshape,
  eliminateNoOpTranspose,
  eliminateNoOpPad,
  eliminateNoOpPool,
  eliminateNoOpSlice,
  eliminateNoOpTrilu,
  eliminateNoOpResize,
  eliminateNoOpExpand,
  eliminateBroadcastExpand,
  eliminateReinsertedAxis,
  fuseAxisChain,
  eliminateSingleOperand,
  eliminateSameOperands,
  eliminateBinarySum, // patterns are written with Add
  eliminateNoOpArithmetic,
  eliminateRepeated,
  fuseCondition,
  eliminateZeroState,
  inlineAssignment, // before what merges the Slices and Concats that it makes
  eliminateUnusedPart, // Slices in a row merge
  fuseSlice,
  fuseConcat,
  eliminateConcatParts,
  fuseReduceSqueeze,
  eliminateCommonSubexpression,
];

/** Same algebra, other rounding. Patterns that are told by their constants come before what folds constants away. */
const fusions: readonly AnyPass[] = [
  fuseRecurrence, // before its products are written otherwise
  fuseRecurrentChain,
  fuseStackedParts,
  fuseStackedRows, // what that leaves; before single rows get another form
  eliminateNoOpAverage,
  eliminateUnpaddedCount,
  fuseSingleElement, // what led to a constant needs no fusion
  inlineEinsum, // before whatever is told by its MatMul
  inlineDft,
  inlineStft,
  splitFourierConv,
  splitFourierMatMul,
  eliminateAddedZero,
  fuseArgMonotone,
  fusePad, // before the Conv gets another form
  fuseCrop,
  eliminateUnreadTaps, // when the padding is what it will be
  fuseLeakyRelu,
  fuseThresholdedRelu,
  fuseWhereClip, // before the Clips merge
  fuseClip, // hard activations are told by their Clip
  fuseHardSwish, // before its inner part becomes a HardSigmoid
  fuseHardSigmoid,
  fuseSoftmax,
  fuseLogSoftmax, // after the Softmax that it takes along
  fuseSigmoid,
  fuseTanh, // after the Sigmoid that it is made of
  fuseSoftsign,
  fuseSoftplusThreshold,
  fuseMish,
  fuseCelu, // before Selu, which takes any multiple of Elu
  fuseSelu,
  fuseGelu,
  fuseShiftedTanh, // after the Gelu that is made of one
  hoistPool, // activations are told by now
  fuseInstanceNorm,
  fuseLayerNorm,
  fuseChannelNorm,
  fuseLayerNormStatistics,
  fuseRmsNorm,
  fuseGroupNorm, // after the InstanceNormalization that it is made of
  fuseNormalizationCast, // before the factor, which comes after the Cast
  fuseNormalizationAffine,
  fuseNormalizationReshape,
  fuseRotaryEmbedding, // before the attention that reads what it rotates
  fuseGatherPart, // before attention, whose heads are in what is cut out
  eliminateMergedBatch, // attention is told by its four axes
  fuseAttention,
  fuseRepeat, // before the Transposes around it meet
  eliminateTransposeDetour, // after the attention, which is told by its Transposes; then Conv meets its neighbours
  fuseAttentionCache,
  fuseTransposedParts,
  fuseReshapeAround, // after the attention that is told by what it takes away
  eliminateLeadingAxes, // after what tells masks and angles by their axes
  fuseConvBatchNorm,
  fuseConvTransposeBatchNorm,
  fuseMatMulBatchNorm, // before MatMul and Add become Gemm
  fuseConvMulAdd,
  fuseConvTransposeMulAdd,
  fuseMulAddConv, // after what goes into the Conv above, which loses nothing by padding
  fuseMatMulMul,
  fuseMatMulAdd,
  fuseGemmTranspose, // after the Add that makes a Gemm of a MatMul
  fuseGemmBatchNorm,
  fuseGemmMulAdd,
  fuseArithmeticUp, // after the neighbours: it walks further
  fuseOuterProduct, // after the rotary embedding that reads the angles
  fuseMatMulFactors, // what found no weights further up
  fuseArithmeticDown, // after the way up, on which less stands in the way
  fuseParallelSum, // branches without their BatchNormalization
  fuseParallelConcat,
  fuseConcatRows, // rows tell heads
  fuseParallelHeads,
  fuseGemmSum, // of two inputs: those of one are one by now
  fuseLinearChain, // two in a row without anything between
  fuseResidualGate, // after what knows such sums by other names
  fuseArithmeticPair, // what is left
  fuseResizeScales,
  fuseSoftmaxView, // after the attention, which is told by its Reshapes
  sinkSoftmax,
  joinSoftmaxAxes, // what is left of those views
  eliminateSquaredRoot,
  fuseReduceReduce,
  sinkReducedTranspose, // after the attention, which is told by its Transposes
  fuseReduceNorm, // of all axes at once
  inlineShortSum, // when reductions in a row are one
  inlineLogSumExp,
  fuseSliceSqueeze, // before the Slices become one Split
  fuseRoll,
  fuseChannelShuffle,
  fuseMovedAxis,
  fuseGatherUnsqueeze, // one more Slice of the next one's
  fuseSlicesToSplit,
  fuseSplitConcat,
  fuseLinearParts, // of a Split, as the Slices are by now
  hoistSplitStep, // after the attention, whose heads may be views of the parts
  fuseChannelConv, // what no neighbour has taken in
  inlineChannelMultiplier, // when normalization is in its Conv
  widenDepthwise, // when channels are as many as they will be
  inlineMish, // when nothing is told by its Mish any more
  sinkSqueeze, // when the nodes around a line are what they will be
  fuseResidualSum, // patterns are written with Add
];

/**
 * Fusions into operators of ONNX Runtime's own domain, com.microsoft: run on request, when
 * the portable passes have nothing left to do. What they make, no portable pass looks at.
 */
export const runtimeFusions: readonly AnyPass[] = [
  fuseConvResidual, // before an activation closes the Conv
  fuseConvActivation,
  fuseGemmActivation,
  fuseQuickGelu,
  fuseOldGelu,
  fuseBiasGelu,
  fuseMultiHeadAttention, // before its MatMuls take in scale and Transpose
  fuseMatMulScale, // what it takes away may have stood between a MatMul and a Transpose
  fuseMatMulTranspose,
];

/** What pays where products become integers, and costs time in float: `quantize` and `optimize` run it on what such candidates are made of. */
export const integerJoins: readonly AnyPass[] = [joinLinearChain, joinAddedPoints];

/** What rewrites for integers begin with, once functions are inlined, in which half precision may be. */
export const beforeIntegers: readonly AnyPass[] = [
  widenHalf, // the next ones are of float32
  inlineRuntimeLayerNorm, // files that ONNX Runtime optimized: what it made of them, it makes again of what comes out here
  inlineRuntimeRmsNorm,
  inlineRuntimeEmbedding,
  inlineRuntimeAttention,
  inlineRuntimeGelu,
  inlineRuntimeQuickGelu,
  inlineRuntimeProduct,
  inlineRuntimeActivation,
  fuseShuffleOrder, // of no use to floats
];

/** What trades precision for speed: run on request, when all that keeps the results is done; and on what holds integers, once they are placed. */
export const approximations: readonly Rewrite[] = [approximateGelu];

/**
 * What is for float alone, or hides what it was from who looks for it later: `fuse` runs it at the end, other commands when
 * they have placed integers.
 */
const last: readonly Rewrite[] = [
  inlineLrn,
  inlinePower, // after the powers that the one before has not made
  fusePRelu, // for targets that have a kernel
  inlinePRelu, // for those that have a slow one
  inlineElu,
  inlineResize,
  liftLine,
];

/** The same where nothing else runs: what is lifted last goes through what stood around it. */
export const finishing: readonly Rewrite[] = [...last, sinkSqueeze, splitTranspose];

/** Every pass that keeps to ai.onnx, in order. */
export const catalog: readonly AnyPass[] = [
  ...cleanUp,
  ...fusions,
  fuseResizeAxes, // among integers the runtime does not load it
  ...last,
  splitTranspose,
];

/** Whatever a pass is called by. */
export const allPasses: readonly AnyPass[] = [
  ...catalog,
  ...runtimeFusions,
  ...beforeIntegers,
  ...integerJoins,
  ...approximations,
];

/** `chains`: which chains of recurrent cells become operators, whose products are no integers any more. */
const forIntegers = (...chains: readonly AnyPass[]): readonly AnyPass[] =>
  [...cleanUp, ...fusions].flatMap((pass) => {
    if (pass === inlineFunctions) return [pass, ...beforeIntegers];
    return pass === fuseRecurrentChain ? chains : [pass];
  });

/** Whether a pass adds no weights: those of a transform cost bytes, and nothing may prune them as if they were learned. */
const addsNoWeights = (pass: AnyPass): boolean => pass !== widenDepthwise && pass !== inlineDft && pass !== inlineStft;

/**
 * `fold`: constant folding and clean-up only, exact. `prepare`: the same, then fusions, round after
 * round until nothing changes, for what becomes integers; `runtimePrepare`: where ONNX Runtime's own operators may be made of it;
 * `small`: without what adds weights, or keeps them in float, where bytes count; `compact`: for commands that prune weights; `fuse`: with what
 * is for float alone. `runtime`: what `fuse --runtime-specific` runs after `fuse`; the clean-up sees to what the fusions leave
 * behind. `lossy`: what `fuse --lossy` runs after both; `integers`: before static integers are placed.
 */
export const recipes = {
  fold: cleanUp,
  prepare: forIntegers(fuseSmallRecurrentChain),
  runtimePrepare: forIntegers(fuseSmallOrLstmChain),
  small: forIntegers().filter(addsNoWeights),
  compact: [...cleanUp, ...fusions].filter(addsNoWeights),
  fuse: catalog,
  runtime: [...cleanUp, ...runtimeFusions, splitTranspose],
  lossy: approximations,
  integers: integerJoins,
} as const;
