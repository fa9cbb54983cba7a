/**
 * Dynamic quantization of products with constant weights: activations get their
 * scale at run time, weights are i8 per column.
 *
 *   MatMul(x, W)  =>  Mul(Cast(MatMulInteger(x_u8, W_i8, x_zp)), x_scale * W_scale)
 *   with x_u8, x_scale, x_zp = DynamicQuantizeLinear(x), shared by all readers of x
 *
 * One scale for a whole activation is coarse where rows (tokens) differ in size. `perRow`
 * first divides each row by its largest magnitude, and multiplies the product by it:
 * about the accuracy of a scale per row, for a quarter more time of that node.
 *
 * Weights that a table's look-up reads too, or that a Transpose turns, stay in one copy as they lie,
 * and their integers are turned (product-weight.ts).
 *
 * The runtime recognises this form and runs it as one kernel. Convolutions are left
 * alone: ConvInteger is several times slower than float (measured, and said so by
 * the runtime's own maintainers). No data is needed, and bodies of If and Loop work
 * like the main graph. LSTM takes an operator that only the runtime has (recurrent.ts).
 */
import { ownEntry } from "../base/own-entry.js";
import { attr, type Model, type Node, nodesWithin, opsetOf, Tensor, type Value } from "../ir/index.js";
import type { IntegerTarget } from "../target/integer-kernel.js";
import { weightInputs } from "../target/integer-kernels.js";
import { removeUnreadConstants } from "./dead-constants.js";
import { DynamicActivations } from "./dynamic-activation.js";
import { whyNotPlainGemm } from "./gemm.js";
import { type NodeChoice, takesAll } from "./node-choice.js";
import type { FloatNode } from "./plan-static.js";
import { columnsFrom, productWeight, removeUnreadTranspose } from "./product-weight.js";
import { replaceRecurrent, whyNotRecurrent } from "./recurrent.js";
import { WeightStore, type WeightTensors } from "./weight-store.js";
import { matrixOf, quantizeWeight, scaledRows, weightScales } from "./weights.js";

export interface DynamicOptions extends NodeChoice {
  /** Nodes whose activations are scaled row by row. Absent: none. */
  readonly perRow?: (node: Node) => boolean;
  /** By value label: what its channels (last axis) are divided by before they become integers. The weights take it over. */
  readonly smoothing?: ReadonlyMap<string, Float32Array>;
  /** Weights that have integers already, whoever made them. */
  readonly store?: WeightStore;
}

export interface DynamicReport {
  readonly quantized: readonly string[];
  readonly float: readonly FloatNode[];
}

/** Products that could be quantized dynamically, in execution order. */
export function dynamicProducts(model: Model): readonly Node[] {
  return [...nodesWithin(model.graph)].filter((node) => isProduct(node) && whyNot(node) === null);
}

/** All nodes that could be and are asked for, in execution order. */
export const dynamicCandidates = (
  model: Model,
  target: IntegerTarget,
  takes: (node: Node) => boolean = takesAll,
): readonly Node[] => [...nodesWithin(model.graph)].filter((node) => takes(node) && mayBeDynamic(node, target));

/** Whether there are dynamic integers for a node there. */
export const mayBeDynamic = (node: Node, target: IntegerTarget): boolean =>
  target.dynamic &&
  (isProduct(node) ? whyNot(node) === null : node.is("LSTM") && whyNotRecurrent(node, target) === null);

const isProduct = (node: Node): boolean => node.is("MatMul") || node.is("Gemm");

export function quantizeDynamic(model: Model, target: IntegerTarget, options: DynamicOptions = {}): DynamicReport {
  const { takes = takesAll, perRow = () => false, keepFloat } = options;
  const quantized: string[] = [];
  const float: FloatNode[] = [];
  const activations = new DynamicActivations(opsetOf(model), options.smoothing ?? new Map());
  const { store = new WeightStore() } = options;
  for (const node of [...nodesWithin(model.graph)].filter(takes)) {
    if (node.is("Conv")) {
      float.push({ node: node.name, op: node.op, reason: "dynamic integer convolutions are slower than float" });
      continue;
    }
    if (!isProduct(node) && !node.is("LSTM")) {
      if (node.domain === "" && ownEntry(weightInputs, node.op))
        float.push({ node: node.name, op: node.op, reason: `there are no dynamic integers for ${node.op}` });
      continue;
    }
    const reason = keepFloat?.get(node.name) ?? (isProduct(node) ? whyNot(node) : whyNotRecurrent(node, target));
    if (reason !== null) {
      float.push({ node: node.name, op: node.op, reason });
      continue;
    }
    quantized.push(node.name);
    if (isProduct(node)) replaceProduct(node, target, perRow(node), activations, store);
    else replaceRecurrent(node, model, target, store);
  }
  removeUnreadConstants(model.graph);
  return { quantized, float };
}

function whyNot(node: Node): string | null {
  const [input, factor] = node.inputs;
  if (!input || !factor) return "an input is absent";
  const tensor = productWeight(node)?.value.constant;
  if (!tensor) return input.constant ? "the weights come first" : "both factors are activations";
  if (input.constant) return "both factors are constant";
  if (tensor.dtype !== "f32") return `weights of type ${tensor.dtype}`;
  if (input.dtype !== null && input.dtype !== "f32") return `activations of type ${input.dtype}`;
  if (tensor.dims.length !== 2 || tensor.elementCount === 0) return "weights that are no matrix";
  return node.op === "MatMul" ? null : whyNotPlainGemm(node);
}

function replaceProduct(
  node: Node,
  target: IntegerTarget,
  perRow: boolean,
  activations: DynamicActivations,
  store: WeightStore,
): void {
  const { graph } = node;
  const [input, factor, bias] = node.inputs as [Value, Value, Value | null | undefined];
  const activation = activations.of(input, node, perRow);
  const { factors } = activation;
  const own = factors ? ` for ${input.label}` : "";
  const { value: weight, isTurned, isShared } = productWeight(node)!;
  const form = isShared ? `axis 0 to ${target.weightLimit}` : `${isTurned ? "turned " : ""}columns`;
  const stored = store.of(weight, form + own, () =>
    isShared ? rowsOf(weight.constant!, factors, target) : columnsOf(weight.constant!, isTurned, factors, target),
  );
  const matrix = isShared ? columnsFrom(stored, factor.producer ?? node) : stored;
  const { label } = node.output;
  const { shape } = node.output;
  const add = (op: string, inputs: Value[], suffix: string, dtype: "f32" | "i32", attributes = {}): Value =>
    graph.addNode(
      {
        op,
        name: `${node.name}/${suffix}`,
        inputs,
        attributes,
        outputs: [
          { label: `${label}/${suffix}`, type: { dtype, shape: suffix === "scales" ? matrix.scale.shape : shape } },
        ],
        provenance: node.provenance,
      },
      node,
    ).output;
  const combined = add("Mul", [activation.scale, matrix.scale], "scales", "f32");
  const operands = [activation.integers, matrix.integers, activation.zeroPoint];
  const product = add("MatMulInteger", isShared ? operands : [...operands, stored.zeroPoint()], "MatMulInteger", "i32");
  const real = add("Cast", [product], "Cast", "f32", { to: attr.int(1) });
  let result = add("Mul", [real, combined], "Mul", "f32");
  if (activation.rows) result = add("Mul", [result, activation.rows], "rows", "f32");
  if (bias) result = add("Add", [result, bias], "Add", "f32");
  graph.replaceUses(node.output, result);
  graph.removeNode(node);
  removeUnreadTranspose(factor);
  result.label = label;
}

/** As it is stored, [n, k], columns times the factors that the activation was divided by; one scale per row. */
function rowsOf(
  tensor: Tensor,
  factors: Float32Array | null,
  { weightLimit, saturatesPairs }: IntegerTarget,
): WeightTensors {
  const { dims } = tensor;
  const [rows, columns] = dims as [number, number];
  const stored = tensor.f32();
  const values = factors ? stored.map((value, i) => value * factors[i % columns]!) : stored;
  const scales = weightScales(values, dims, 0, weightLimit, saturatesPairs);
  return {
    integers: quantizeWeight(values, dims, 0, scales, weightLimit, saturatesPairs).integers,
    scales: Tensor.f32([rows, 1], scales),
  };
}

/**
 * The matrix that the product multiplies by, [k, n], whichever way the node stores it, its
 * rows times the factors that the activation was divided by; one scale per column.
 */
function columnsOf(
  tensor: Tensor,
  isTurned: boolean,
  factors: Float32Array | null,
  { weightLimit, saturatesPairs }: IntegerTarget,
): WeightTensors {
  const { values: plain, dims } = matrixOf(tensor, isTurned);
  const values = factors ? scaledRows(plain, dims[1], factors) : plain;
  const scales = weightScales(values, dims, 1, weightLimit, saturatesPairs);
  return {
    integers: quantizeWeight(values, dims, 1, scales, weightLimit, saturatesPairs).integers,
    scales: Tensor.f32([scales.length], scales),
  };
}
