/** Formulas that are one operator by now: attention, normalizations, Softmax, activations. */
import type { Node } from "../../ir/index.js";
import { clipRangeOf } from "../../passes/fuse/clip-range.js";
import { meanOf, reducedAxes } from "../../passes/fuse/reduced-axes.js";
import { isNear } from "../../passes/fuse/scalar-algebra.js";
import { constantScalar, scalarBeside, soleProducer, splitConstant } from "../../rewrite/match.js";
import {
  alsoReadBy,
  type Expectation,
  type Finding,
  feederOf,
  following,
  preceding,
  readerOps,
  readersOf,
} from "./expectation.js";

const scoreOps = new Set(["MatMul", "Mul", "Div", "Add", "Where", "Tanh"]);
const keyOps = new Set(["Transpose", "Mul", "Div"]);
const headOps = new Set(["Transpose", "Reshape"]);

/** MatMul(Softmax(... MatMul(q, k) ...), v), listed at the last MatMul. */
const attention: Expectation = {
  ops: ["MatMul"],
  passes: ["fuse-attention"],
  look(product) {
    const weights = feederOf(product, 0);
    // Older exports take the Softmax over the rows of a matrix.
    const view = weights && isView(weights) ? weights : null;
    const softmax = view ? feederOf(view, 0) : weights;
    if (!softmax?.is("Softmax") || product.inputs[1]?.constant) return null;
    const rows = view ? feederOf(softmax, 0) : null;
    const before = preceding(rows ?? softmax, scoreOps, 5);
    const scores = before.find((node) => node.op === "MatMul" && !node.inputs.some((input) => input?.constant));
    if (!scores) return null;
    const factors = [feederOf(scores, 0), feederOf(scores, 1)].filter(
      (node) => node?.domain === "" && keyOps.has(node.op),
    );
    const parts = [softmax, view, rows, ...before, ...factors, ...following(product, headOps, 2)].filter(
      (node) => node !== null,
    );
    if (view) return { reason: "the Softmax is over the rows of another view of the scores", parts };
    const ranks = [scores.inputs[0], scores.inputs[1], product.inputs[1]].map((value) => value?.shape?.length);
    const shared = alsoReadBy(softmax.output, product);
    if (shared) return { reason: "the weights of the attention are read elsewhere", detail: shared, parts };
    if (ranks.includes(undefined)) return { reason: "the ranks of query, key and value are not known", parts };
    if (ranks.some((rank) => rank !== 4)) {
      return {
        reason: `query, key and value have ${[...new Set(ranks)].join(" and ")} axes, and Attention tells heads by four`,
        parts,
      };
    }
    return { reason: "query, key and value are not split into heads in a way that is known", parts };
  },
};

const isView = (node: Node): boolean => node.is("Reshape") || node.is("Flatten");

const rootReaders = new Set(["Div", "Mul", "Reciprocal", "Add", "Sub"]);

/** x / sqrt(mean(x^2) + epsilon), listed at the root. */
const normalization: Expectation = {
  ops: ["Sqrt", "Pow"],
  passes: ["fuse-layer-norm", "fuse-channel-norm", "fuse-instance-norm", "fuse-rms-norm"],
  look(root) {
    const exponent = root.op === "Pow" ? scalarBeside(root.inputs[1], root.inputs[0]) : 0.5;
    if (exponent !== 0.5 && exponent !== -0.5) return null;
    const sum = feederOf(root, 0);
    const operands = sum?.is("Add") ? splitConstant(sum) : null;
    const average = operands?.other ?? root.inputs[0];
    const reduction = average?.producer;
    if (!average || reduction?.graph !== root.graph || !reduction.is("ReduceMean")) return null;
    const parts = following(root, rootReaders, 4);
    const at = (reason: string, detail?: string | null): Finding => ({ reason, parts, detail: detail ?? undefined });
    if (!sum?.is("Add")) return at("no epsilon is added before the root");
    if (!operands || constantScalar(operands.constant) === null)
      return at("what is added before the root is not one number");
    if (!reducedAxes(reduction)) return at("the axes of the mean are computed, or the rank is not known");
    if (reduction.int("keepdims", 1) !== 1) return at("the mean drops its axes");
    const square = reduction.inputs[0]?.producer;
    const isSquare =
      (square?.is("Mul") && square.inputs[0] === square.inputs[1]) ||
      (square?.is("Pow") && scalarBeside(square.inputs[1], square.inputs[0]) === 2);
    if (!square || !isSquare) return at("the mean under the root is not one of squares");
    for (const [value, reader, what] of [
      [root.output, readersOf(root.output)[0], "root"],
      [average, sum, "variance"],
      [square.output, reduction, "square"],
    ] as const) {
      const shared = reader && alsoReadBy(value, reader);
      if (shared) return at(`other nodes read the ${what} too`, shared);
    }
    const difference = feederOf(square, 0);
    if (!difference?.is("Sub")) return at("what is divided is not what the mean is of");
    const mean = difference.inputs[1] && meanOf(difference.inputs[1]);
    if (!mean || mean.of !== difference.inputs[0]) return at("what is squared is not the distance from the mean");
    return at(
      "the distance from the mean is read elsewhere, or is not what is divided",
      readersDetail(difference, square),
    );
  },
};

const readersDetail = (node: Node, known: Node): string | null => alsoReadBy(node.output, known);

/** exp(x) / sum(exp(x)) */
const softmax: Expectation = {
  ops: ["Exp"],
  passes: ["fuse-softmax", "fuse-log-softmax"],
  look(exp) {
    const readers = readersOf(exp.output);
    const sum = readers.find((node) => node.is("ReduceSum"));
    const quotient = sum && readers.find((node) => readersOf(sum.output).includes(node));
    if (!sum || !quotient) return null;
    const parts = [sum, quotient];
    const others = exp.output.uses.length > 2 || readers.length > 2;
    if (others) return { reason: "the exponentials are read elsewhere", detail: readerOps(exp.output), parts };
    const axes = reducedAxes(sum);
    if (!axes) return { reason: "the axes of the sum are computed, or the rank is not known", parts };
    if (axes.length !== 1) return { reason: "the sum is over several axes, a Softmax over one", parts };
    if (sum.int("keepdims", 1) !== 1) return { reason: "the sum drops its axis", parts };
    return { reason: "it is not a quotient of exponentials and their sum", parts };
  },
};

const gateOps = new Set(["Add", "Mul", "Div"]);

/** x / 2 * (1 + Erf(x / sqrt(2))) */
const gelu: Expectation = {
  ops: ["Erf"],
  passes: ["fuse-gelu"],
  look(erf) {
    const parts = following(erf, gateOps, 4);
    const sum = readersOf(erf.output)[0];
    if (!sum) return { reason: "the Erf is a result by itself" };
    const shared = alsoReadBy(erf.output, sum);
    if (shared) return { reason: "other nodes read the Erf too", detail: shared, parts };
    if (!sum.is("Add")) return { reason: `after the Erf comes ${sum.op}, where a Gelu adds 1`, parts };
    const plus = splitConstant(sum);
    if (!plus || constantScalar(plus.constant) !== 1) return { reason: "what is added to the Erf is not 1", parts };
    const scaled = soleProducer(erf.inputs[0], "Div") ?? soleProducer(erf.inputs[0], "Mul");
    const operands = scaled && splitConstant(scaled);
    const number = operands && constantScalar(operands.constant);
    if (!scaled || number === null)
      return { reason: "the Erf is not of x divided by a number that only it reads", parts };
    const factor = scaled.op === "Div" ? 1 / number : number;
    if (!isNear(factor, Math.SQRT1_2, scaled.output.dtype)) {
      return { reason: `the factor before the Erf is not 1 / sqrt(2): ${Number(factor.toPrecision(4))}`, parts };
    }
    const gate = readersOf(sum.output)[0];
    const sharedGate = gate && alsoReadBy(sum.output, gate);
    if (sharedGate) return { reason: "other nodes read 1 + Erf too", detail: sharedGate, parts };
    return { reason: "1 + Erf(x / sqrt(2)) is not multiplied by x / 2", parts };
  },
};

/** x * Sigmoid(x) */
const swish: Expectation = {
  ops: ["Sigmoid"],
  passes: [],
  look(sigmoid) {
    const product = readersOf(sigmoid.output).find((node) => node.is("Mul"));
    const x = sigmoid.inputs[0];
    if (!product || !x || !product.inputs.includes(x)) return null;
    return {
      reason: "x * Sigmoid(x) is an operator, Swish, from opset 24 on, and models are raised to 23 at most",
      help: "--runtime-specific: com.microsoft::QuickGelu does it",
      parts: [product],
    };
  },
};

/** Clip(x + 3, 0, 6) / 6, with or without a product by x */
const hardActivation: Expectation = {
  ops: ["Clip"],
  passes: ["fuse-hard-swish", "fuse-hard-sigmoid"],
  look(clip) {
    const sum = feederOf(clip, 0);
    const operands = sum?.is("Add") ? splitConstant(sum) : null;
    const shift = operands && constantScalar(operands.constant);
    if (!sum || shift === null) return null;
    const parts = following(clip, gateOps, 2);
    const range = clipRangeOf(clip);
    if (!range) return { reason: "the bounds of the Clip are computed", parts };
    if (range.min !== 0 || !Number.isFinite(range.max)) return null;
    const shared = alsoReadBy(sum.output, clip);
    if (shared) return { reason: "other nodes read the sum before the Clip too", detail: shared, parts };
    const quotient = readersOf(clip.output)[0];
    const sharedClip = quotient && alsoReadBy(clip.output, quotient);
    if (sharedClip) return { reason: "other nodes read the Clip too", detail: sharedClip, parts };
    const product = quotient?.is("Mul") && !splitConstant(quotient) ? quotient : null;
    if (product && !product.inputs.includes(operands!.other)) {
      return { reason: "the Clip multiplies something else than what it is of", parts };
    }
    return { reason: `what is clipped to 0..${range.max} is not divided by ${range.max}`, parts };
  },
};

/** x * HardSigmoid<1/6, 1/2>(x) */
const hardSwish: Expectation = {
  ops: ["HardSigmoid"],
  passes: ["fuse-hard-swish"],
  look(gate) {
    const [x] = gate.inputs;
    const product = readersOf(gate.output).find((node) => node.is("Mul") && x && node.inputs.includes(x));
    if (!product) return null;
    const parts = [product];
    const shared = alsoReadBy(gate.output, product);
    if (shared) return { reason: "other nodes read the HardSigmoid too", detail: shared, parts };
    const [alpha, beta] = [gate.float("alpha", 0.2), gate.float("beta", 0.5)];
    const isOurs = Math.abs(alpha - 1 / 6) < 1e-5 && Math.abs(beta - 0.5) < 1e-5;
    return isOurs
      ? { reason: "HardSwish is an operator from opset 14 on", parts }
      : { reason: "HardSwish has alpha 1/6 and beta 1/2, and this gate others", parts };
  },
};

export const formulaExpectations: readonly Expectation[] = [
  attention, // before the parts that scale its scores are looked at by themselves
  normalization,
  softmax,
  gelu,
  swish,
  hardActivation,
  hardSwish,
];
