/** What in a model is worth acting on, each with the command that acts. Told from the graph alone. */
import { groupBy } from "../../base/group-by.js";
import { shellWord } from "../../base/shell-word.js";
import { graphsWithin, type Model, type Node, nodesWithin, opsetOf, soleReader } from "../../ir/index.js";
import { isFoldable, isInferenceDropout } from "../../ops/facts.js";
import { quantizedFormOf } from "../../ops/quantizing.js";
import { weightInputs } from "../../target/integer-kernels.js";
import { externalFiles, tensorsOf } from "../model-facts.js";

export interface Finding {
  readonly code: string;
  /** `advice`: something to gain. `note`: good to know. */
  readonly severity: "advice" | "note";
  readonly text: string;
  /** A command line that acts on it. */
  readonly command: string;
  /** Some of the nodes that it is about. */
  readonly nodes: readonly string[];
}

type Rule = (model: Model, nodes: readonly Node[], path: string) => Finding | null;

/** Nodes named per finding. */
const NAMED = 5;
/** Below this, weights are not what makes a model large or slow. */
const WORTH_QUANTIZING_BYTES = 64 * 1024;
/** A little below what protobuf allows: a model is more than its weights. */
const MOST_IN_ONE_FILE_BYTES = 2e9;
/** First opset with scales per channel. */
const PER_CHANNEL_OPSET = 13;

export function findingsOf(model: Model, path: string): readonly Finding[] {
  const nodes = [...nodesWithin(model.graph)];
  return rules.map((rule) => rule(model, nodes, shellWord(path))).filter((finding) => finding !== null);
}

const weighty = new Set(Object.keys(weightInputs));
const isQuantizing = ({ opName }: Node): boolean => quantizedFormOf(opName) !== null;

const batchNorms: Rule = (_, nodes, path) => {
  const found = nodes.filter((node) => {
    const producer = node.is("BatchNormalization") ? node.inputs[0]?.producer : null;
    return (
      producer &&
      ["Conv", "ConvTranspose", "Gemm", "MatMul"].includes(producer.op) &&
      soleReader(producer.output) === node
    );
  });
  return finding(
    "BATCH_NORM_UNFUSED",
    "advice",
    found,
    `infer-opt fuse ${path} -o fused.onnx`,
    (n) => `${n} BatchNormalization can be folded into the weights before ${n === 1 ? "it" : "them"}`,
  );
};

/** A Cast of weights that are stored in half precision. */
const isUnpacking = (node: Node): boolean =>
  node.is("Cast") && ["f16", "bf16"].includes(node.inputs[0]?.constant?.dtype ?? "");

const isIdle = (node: Node): boolean => node.is("Identity") || (node.is("Dropout") && isInferenceDropout(node));

const foldable: Rule = (_, nodes, path) => {
  const constant = new Set<Node>();
  for (const node of nodes) {
    const inputs = node.inputs.filter((value) => value !== null);
    const isFed = inputs.every((value) => value.constant !== null || (value.producer && constant.has(value.producer)));
    // Narrow weights stay so: unpacking them is what makes a file large.
    if (isFed && isFoldable(node) && !isQuantizing(node) && !isUnpacking(node)) constant.add(node);
  }
  return finding(
    "CONSTANT_SUBGRAPH",
    "advice",
    // Those that compute nothing are told of as such.
    [...constant].filter((node) => !isIdle(node)),
    `infer-opt fold ${path} -o folded.onnx`,
    (n) => `${n} node${plural(n)} compute${n === 1 ? "s" : ""} from constants what could be stored`,
  );
};

const idle: Rule = (_, nodes, path) => {
  return finding(
    "IDLE_NODES",
    "advice",
    nodes.filter(isIdle),
    `infer-opt fold ${path} -o folded.onnx`,
    (n) => `${n} Identity or Dropout node${plural(n)} do${n === 1 ? "es" : ""} nothing at inference`,
  );
};

const floatWeights: Rule = (model, nodes, path) => {
  if (nodes.some(isQuantizing)) return null;
  const heavy = nodes.filter(
    (node) =>
      // Calibration does not reach those in bodies.
      node.graph === model.graph &&
      node.domain === "" &&
      weighty.has(node.op) &&
      node.inputs.some((v) => v?.constant?.dtype === "f32"),
  );
  let bytes = 0;
  for (const tensor of tensorsOf(model)) if (tensor.dtype === "f32") bytes += tensor.byteLength;
  if (bytes < WORTH_QUANTIZING_BYTES) return null;
  return finding(
    "FLOAT_WEIGHTS",
    "advice",
    heavy,
    `infer-opt quantize ${path} --calibration DATA -o int8.onnx`,
    (n) =>
      `${n} node${plural(n)} (${byOperator(heavy)}) hold${n === 1 ? "s" : ""} most of ${inWords(bytes)} of float32 weights: 8 bits take a quarter`,
  );
};

const quantized: Rule = (_, nodes, path) => {
  const found = nodes.filter(isQuantizing);
  return finding(
    "ALREADY_QUANTIZED",
    "note",
    found,
    `infer-opt bench FLOAT_MODEL ${path}`,
    (n) => `already quantized (${n} nodes): quantize the float model instead, and compare the two`,
  );
};

const oldOpset: Rule = (model, nodes, path) => {
  const opset = opsetOf(model);
  if (opset >= PER_CHANNEL_OPSET || nodes.every(({ domain }) => domain !== "")) return null;
  return {
    code: "OLD_OPSET",
    severity: "note",
    text: `opset ${opset} is older than ${PER_CHANNEL_OPSET}, from which on weights have a scale per channel; it is raised on the way`,
    command: `infer-opt fuse ${path} -o fused.onnx`,
    nodes: [],
  };
};

const inBodies: Rule = (model, nodes, path) => {
  const found = nodes.filter((node) => node.graph !== model.graph && node.domain === "" && weighty.has(node.op));
  return finding(
    "NODES_IN_BODIES",
    "note",
    found,
    `infer-opt explain ${path}`,
    (n) =>
      `${n} node${plural(n)} (${byOperator(found)}) lie${n === 1 ? "s" : ""} in bodies of If, Loop or Scan, which static quantization leaves float`,
  );
};

const external: Rule = (model, _, path) => {
  const files = externalFiles(model);
  if (files.length === 0) return null;
  let bytes = 0;
  for (const tensor of tensorsOf(model)) bytes += tensor.byteLength;
  const text = `weights lie in ${files.length} other file${plural(files.length)}, which must stay beside the model`;
  const fitsOne = bytes < MOST_IN_ONE_FILE_BYTES;
  return {
    code: "EXTERNAL_DATA",
    severity: "note",
    text: fitsOne ? `${text}; they fit into one file with it` : `${text}: 2 GB is the most that one file can hold`,
    command: fitsOne ? `infer-opt fold ${path} -o single.onnx` : `infer-opt fold ${path} -o moved.onnx --external-data`,
    nodes: [],
  };
};

const unreadConstants: Rule = (model, _, path) => {
  const found = [...graphsWithin(model.graph)].flatMap(({ constants }) =>
    constants.filter(({ useCount }) => useCount === 0),
  );
  if (found.length === 0) return null;
  const bytes = found.reduce((sum, { constant }) => sum + (constant?.byteLength ?? 0), 0);
  return {
    code: "UNREAD_CONSTANTS",
    severity: "advice",
    text: `${found.length} constant${plural(found.length)} of ${inWords(bytes)} ${found.length === 1 ? "is" : "are"} read by nobody`,
    command: `infer-opt fold ${path} -o folded.onnx`,
    nodes: [],
  };
};

/** What gains most first. */
const rules: readonly Rule[] = [
  batchNorms,
  foldable,
  idle,
  unreadConstants,
  floatWeights,
  quantized,
  oldOpset,
  inBodies,
  external,
];

function finding(
  code: string,
  severity: Finding["severity"],
  found: readonly Node[],
  command: string,
  text: (count: number) => string,
): Finding | null {
  if (found.length === 0) return null;
  return {
    code,
    severity,
    text: text(found.length),
    command,
    nodes: found.slice(0, NAMED).map(({ displayName }) => displayName),
  };
}

/** 12 Conv, 1 Gemm. */
const byOperator = (found: readonly Node[]): string =>
  [...groupBy(found, ({ op }) => op)].map(([op, of]) => `${of.length} ${op}`).join(", ");

/** 488 kB, 16.8 MB, 3.06 GB. */
function inWords(bytes: number): string {
  const [unit, scale] =
    bytes < 1e6 ? (["kB", 1e3] as const) : bytes < 1e9 ? (["MB", 1e6] as const) : (["GB", 1e9] as const);
  return `${Number((bytes / scale).toPrecision(3))} ${unit}`;
}

const plural = (n: number): string => (n === 1 ? "" : "s");
