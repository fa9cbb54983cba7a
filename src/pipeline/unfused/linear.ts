/** What is expected to go into the weights of a Conv, ConvTranspose, Gemm or MatMul. */
import { isFloat, type Node } from "../../ir/index.js";
import { splitConstant } from "../../rewrite/match.js";
import { alsoReadBy, type Expectation, type Finding, feederOf, makerOf, readerOps, readersOf } from "./expectation.js";

const LINEAR = ["Conv", "ConvTranspose", "Gemm", "MatMul"];
const isLinear = (node: Node): boolean => node.domain === "" && LINEAR.includes(node.op);

const normPasses: Readonly<Record<string, string>> = {
  Conv: "fuse-conv-batch-norm",
  ConvTranspose: "fuse-conv-transpose-batch-norm",
  Gemm: "fuse-gemm-batch-norm",
  MatMul: "fuse-matmul-batch-norm",
};
const arithmeticPasses: Readonly<Record<string, string>> = {
  Conv: "fuse-conv-mul-add",
  ConvTranspose: "fuse-conv-transpose-mul-add",
  Gemm: "fuse-gemm-mul-add",
  MatMul: "fuse-matmul-mul",
};
const passInto = (reader: Node): string => (reader.op === "Conv" ? "fuse-mul-add-conv" : "fuse-arithmetic-down");

/** Linear nodes with constant weights whose data a node gives. */
const linearReaders = (node: Node): readonly Node[] =>
  readersOf(node.output).filter((each) => isLinear(each) && each.inputs[0] === node.output && each.inputs[1]?.constant);

const batchNorm: Expectation = {
  ops: ["BatchNormalization"],
  passes: [...Object.values(normPasses), "fuse-arithmetic-up", "fuse-mul-add-conv", "fuse-arithmetic-down"],
  look(norm) {
    const parts = linearReaders(norm);
    const feeder = feederOf(norm, 0);
    if (norm.int("training_mode", 0) !== 0) return { reason: "BatchNormalization is in training mode", parts };
    if (feeder && isLinear(feeder)) {
      const pass = normPasses[feeder.op];
      const shared = alsoReadBy(feeder.output, norm);
      if (shared) return { reason: `other nodes read the ${feeder.op} too`, detail: shared, pass, parts };
      return { reason: `it does not go into the ${feeder.op} before it`, pass, parts };
    }
    if (!norm.inputs.slice(1, 5).every((value) => value?.constant)) {
      return { reason: "the statistics are no constants", parts };
    }
    const behind =
      parts.length === 0 ? `${readerOps(norm.output)} behind it` : `the ${parts[0]!.op} behind it cannot take it`;
    return { reason: `no Conv, ConvTranspose, Gemm or MatMul before it: ${makerOf(norm.inputs[0])}; ${behind}`, parts };
  },
};

const arithmetic: Expectation = {
  ops: ["Mul", "Add", "Sub", "Div"],
  passes: [
    ...Object.values(arithmeticPasses),
    "fuse-matmul-add",
    "fuse-arithmetic-up",
    "fuse-mul-add-conv",
    "fuse-arithmetic-down",
  ],
  look(node) {
    const operands = splitConstant(node);
    if (!operands || !isFloat(operands.constant.dtype ?? "i64")) return null;
    // A constant divided by the result is no linear function of it.
    if (node.op === "Div" && operands.index === 0) return null;
    const index = 1 - operands.index;
    const feeder = feederOf(node, index);
    if (feeder && isLinear(feeder)) {
      const isSum = node.op === "Add" || node.op === "Sub";
      const pass = feeder.op === "MatMul" && isSum ? "fuse-matmul-add" : arithmeticPasses[feeder.op];
      const shared = alsoReadBy(feeder.output, node);
      if (shared) return { reason: `other nodes read the ${feeder.op} too`, detail: shared, pass };
      if (!feeder.inputs[1]?.constant) {
        const help = feeder.op === "MatMul" && isScale(node) ? fusedMatMul : undefined;
        return { reason: `the weight of the ${feeder.op} is computed`, help, pass };
      }
      return { reason: `the ${feeder.op} before it does not take in ${aOrAn(node.op)}`, pass };
    }
    // Only what is one number, or one along one axis, looks as if it could go into weights.
    if (operands.constant.constant!.dims.filter((dim) => dim !== 1).length > 1) return null;
    return intoReader(node);
  },
};

const fusedMatMul = "--runtime-specific: com.microsoft::FusedMatMul takes one number in";
const isScale = (node: Node): boolean =>
  (node.op === "Mul" || node.op === "Div") && splitConstant(node)?.constant.constant?.elementCount === 1;

function intoReader(node: Node): Finding | null {
  const parts = linearReaders(node);
  const [first] = parts;
  if (!first) return null;
  const pass = passInto(first);
  const shared = alsoReadBy(node.output, first);
  if (shared)
    return { reason: `other nodes than the ${first.op} behind it read the result`, detail: shared, pass, parts };
  return { reason: `the ${first.op} behind it does not take in ${aOrAn(node.op)}`, pass, parts };
}

const aOrAn = (op: string): string => (op === "Add" ? "an Add" : `a ${op}`);

const pad: Expectation = {
  ops: ["Pad"],
  passes: ["fuse-pad", "eliminate-no-op-pad"],
  look(node) {
    const parts = readersOf(node.output).filter(
      (each) =>
        each.domain === "" && ["Conv", "AveragePool", "MaxPool"].includes(each.op) && each.inputs[0] === node.output,
    );
    const [reader] = parts;
    if (!reader) return null;
    const shared = alsoReadBy(node.output, reader);
    if (shared) return { reason: "other nodes read the padded tensor too", detail: shared, parts };
    return { reason: `the padding does not go into the ${reader.op} behind it`, parts };
  },
};

/** Factors and addends behind a normalization that has places for them. */
const normalizationAffine: Expectation = {
  ops: ["Mul", "Add", "Sub", "Div"],
  passes: ["fuse-normalization-affine"],
  look(node) {
    const operands = splitConstant(node);
    if (!operands || (node.op === "Div" && operands.index === 0)) return null;
    const norm = feederOf(node, 1 - operands.index);
    const kinds = ["LayerNormalization", "RMSNormalization", "InstanceNormalization"];
    if (norm?.domain !== "" || !kinds.includes(norm.op)) return null;
    const shared = alsoReadBy(norm.output, node);
    if (shared) return { reason: `other nodes read the ${norm.op} too`, detail: shared };
    if (norm.op === "RMSNormalization" && (node.op === "Add" || node.op === "Sub")) return null;
    if (!norm.inputs[1]?.constant) return { reason: `the factor of the ${norm.op} is computed` };
    return { reason: `the constant is not one number per element that the ${norm.op} scales` };
  },
};

export const linearExpectations: readonly Expectation[] = [batchNorm, arithmetic, normalizationAffine, pad];
