/**
 * LSTM with integer weights, as an operator that only ONNX Runtime has:
 *
 *   LSTM(x, W, R, ...)  =>  com.microsoft::DynamicQuantizeLSTM(x, W_i8, R_i8, ..., W_scale, W_zp, R_scale, R_zp)
 *
 * with W [directions, 4 * hidden, inputs] stored as [directions, inputs, 4 * hidden], R likewise, and one
 * scale per direction and column. The kernel finds one scale for all of x, and one for the state in
 * every step. ai.onnx has no operator for that, and spelled out it is a Loop of small products, which
 * is slower than float. There is no such kernel for GRU and RNN.
 */
import { importDomain, type Model, type Node, nodesWithin, Tensor, type Value } from "../ir/index.js";
import type { IntegerTarget } from "../target/integer-kernel.js";
import type { WeightStore, WeightTensors } from "./weight-store.js";
import { matrixOf, quantizeWeight, weightScales } from "./weights.js";

const RUNTIME_DOMAIN = "com.microsoft";

/** Attributes that mean the same of both operators. */
const SHARED = [
  "activation_alpha",
  "activation_beta",
  "activations",
  "clip",
  "direction",
  "hidden_size",
  "input_forget",
];

/** Inputs of LSTM, the last of them the peepholes. */
const INPUTS = 8;

/** Null where an LSTM can become integers. */
export function whyNotRecurrent(node: Node, { runtimeSpecific = false }: IntegerTarget): string | null {
  if (!runtimeSpecific) return "only ONNX Runtime has dynamic integers for LSTM: --runtime-specific uses them";
  const [input, weight, recurrence] = node.inputs;
  if (!input || !weight || !recurrence) return "an input is absent";
  if (!weight.constant || !recurrence.constant) return "weights that are computed";
  for (const { constant } of [weight, recurrence]) {
    if (constant!.dtype !== "f32") return `weights of type ${constant!.dtype}`;
    if (constant!.dims.length !== 3 || constant!.elementCount === 0) return "weights of an odd shape";
  }
  if (input.dtype !== null && input.dtype !== "f32") return `activations of type ${input.dtype}`;
  const [directions, rows] = weight.constant.dims;
  const [, ownRows, hidden] = recurrence.constant.dims;
  const isWhole = recurrence.constant.dims[0] === directions && rows === 4 * hidden! && ownRows === rows;
  if (!isWhole || node.int("hidden_size", null) !== hidden) return "weights of an odd shape";
  if (node.int("layout", 0) !== 0) return "LSTM with the batch first";
  const strange = [...node.attributes.keys()].find((name) => name !== "layout" && !SHARED.includes(name));
  return strange === undefined ? null : `LSTM with the attribute ${strange}`;
}

/**
 * LSTM that would be dynamic integers on the target, were its own operators asked for; none where they are.
 *
 * @param excluded names of nodes that stay float in any case
 */
export const runtimeSpecificNodes = (
  { graph }: Model,
  target: IntegerTarget,
  excluded: ReadonlyMap<string, string> = new Map(),
): readonly Node[] =>
  target.dynamic && target.isMeasurable && !target.runtimeSpecific
    ? [...nodesWithin(graph)].filter(
        (node) =>
          node.is("LSTM") &&
          !excluded.has(node.name) &&
          whyNotRecurrent(node, { ...target, runtimeSpecific: true }) === null,
      )
    : [];

/** Replaces a node for which there is no reason against it. */
export function replaceRecurrent(node: Node, model: Model, target: IntegerTarget, store: WeightStore): void {
  const { graph } = node;
  const [weight, recurrence] = [node.inputs[1]!, node.inputs[2]!];
  const [w, r] = [weight, recurrence].map((value) =>
    store.of(value, "gates in columns", () => gatesInColumns(value.constant!, target)),
  ) as [ReturnType<WeightStore["of"]>, ReturnType<WeightStore["of"]>];
  const rest = Array.from({ length: INPUTS - 3 }, (_, i): Value | null => node.inputs[i + 3] ?? null);
  const made = graph.addNode(
    {
      op: "DynamicQuantizeLSTM",
      domain: RUNTIME_DOMAIN,
      name: node.name,
      inputs: [
        ...[node.inputs[0]!, w.integers, r.integers, ...rest],
        ...[w.scale, w.zeroPoint(), r.scale, r.zeroPoint()],
      ],
      attributes: [...node.attributes].filter(([name]) => name !== "layout"),
      outputs: node.outputs.map((value) => value && { label: `${value.label}/integers`, type: value.type }),
      provenance: node.provenance,
    },
    node,
  );
  importDomain(model, RUNTIME_DOMAIN);
  const labels = node.outputs.map((value) => value?.label);
  node.outputs.forEach((value, i) => {
    if (value) graph.replaceUses(value, made.outputs[i]!);
  });
  graph.removeNode(node);
  made.outputs.forEach((value, i) => {
    if (value) value.label = labels[i]!;
  });
}

/** Each direction's matrix turned, one scale per column of it. */
function gatesInColumns(tensor: Tensor, { weightLimit, saturatesPairs }: IntegerTarget): WeightTensors {
  const [directions, columns, rows] = tensor.dims as [number, number, number];
  const values = tensor.f32();
  const integers = new Int8Array(values.length);
  const scales = new Float32Array(directions * columns);
  const size = rows * columns;
  for (let d = 0; d < directions; d++) {
    const one = Tensor.f32([columns, rows], values.slice(d * size, (d + 1) * size));
    const { values: matrix, dims } = matrixOf(one, true);
    const own = weightScales(matrix, dims, 1, weightLimit, saturatesPairs);
    const { integers: made } = quantizeWeight(matrix, dims, 1, own, weightLimit, saturatesPairs);
    const { buffer, byteOffset, byteLength } = made.bytes();
    integers.set(new Int8Array(buffer, byteOffset, byteLength), d * size);
    scales.set(own, d * columns);
  }
  return {
    integers: Tensor.ofArray("i8", [directions, rows, columns], integers),
    scales: Tensor.f32([directions, columns], scales),
  };
}
