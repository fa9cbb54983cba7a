/** `inspect`: what is in a model file, as plain data, and what is worth doing about it. Needs no runtime; with one it knows more shapes. */
import { shellWord } from "../../base/shell-word.js";
import { inputsOf } from "../../dataset/index.js";
import {
  type DType,
  graphsWithin,
  loadModel,
  type Model,
  nodesWithin,
  opsetOf,
  type Shape,
  type Value,
} from "../../ir/index.js";
import type { ModelProto } from "../../onnx/index.js";
import { countMacs } from "../../ops/macs.js";
import { type QuantizedForm, quantizedFormOf } from "../../ops/quantizing.js";
import { recipes } from "../../passes/catalog.js";
import { annotateTypes, type Describe, runPasses } from "../../rewrite/index.js";
import type { RuntimeConfig } from "../config.js";
import type { RunContext } from "../context.js";
import { withBatch } from "../evaluation-data.js";
import { externalFiles, modelFacts, tensorsOf } from "../model-facts.js";
import { describer, evaluator } from "../model-runs.js";
import type { ModelFacts } from "../result.js";
import { type Finding, findingsOf } from "./inspect-findings.js";
import { type InspectedTarget, inspectTarget, targetFinding } from "./inspect-target.js";

export interface Inspection {
  readonly schemaVersion: 1;
  readonly command: "inspect";
  readonly tool: { readonly version: string } | null;
  readonly model: ModelFacts;
  readonly irVersion: number;
  /** By domain; ai.onnx under its name. */
  readonly opsets: Readonly<Record<string, number>>;
  readonly producer: { readonly name: string; readonly version: string };
  readonly inputs: readonly InspectedPort[];
  readonly outputs: readonly InspectedPort[];
  /** Nodes by operator, bodies included; most frequent first. */
  readonly operators: readonly { readonly op: string; readonly nodes: number }[];
  /** `domain::name` of functions that the model brings along. */
  readonly functions: readonly string[];
  readonly parameters: {
    readonly count: number;
    readonly bytes: number;
    /** Most bytes first. */
    readonly byDtype: readonly { readonly dtype: DType; readonly count: number; readonly bytes: number }[];
    readonly largest: readonly InspectedTensor[];
  };
  /** Files beside the model that hold weights. */
  readonly externalFiles: readonly string[];
  readonly flops: InspectedFlops;
  readonly quantized: {
    readonly form: "none" | QuantizedForm | "mixed";
    /** Nodes by operator that quantize, widen or compute on integers. */
    readonly operators: Readonly<Record<string, number>>;
  };
  readonly findings: readonly Finding[];
  /** Only when a target was named. */
  readonly target?: InspectedTarget;
}

export interface InspectedPort {
  readonly name: string;
  readonly dtype: DType | null;
  readonly shape: Shape | null;
}

export interface InspectedTensor {
  readonly name: string;
  readonly dtype: DType;
  readonly dims: readonly number[];
  readonly bytes: number;
}

export interface InspectedFlops {
  /** Two for each multiply-accumulate of the nodes that are counted; null when some shape is unknown. */
  readonly total: number | null;
  /** Of those nodes whose shapes are known. */
  readonly known: number;
  /** Nodes that are counted, by operator: convolutions, matrix products, attention and recurrent networks. */
  readonly operators: Readonly<Record<string, number>>;
  readonly nodes: number;
  readonly nodesWithoutShape: number;
  /** Inside Loop or Scan: counted as if they ran once. */
  readonly nodesInLoops: number;
  /** Sizes that open dimensions of the inputs were given for this count, by input name. */
  readonly assumed: Readonly<Record<string, Shape>>;
  /** Why the runtime could not help with shapes; null when it did, or was not there. */
  readonly problem: string | null;
}

const LARGEST = 10;

/**
 * @param context null: without the runtime; shapes are then those that the file states
 * @param targetName where the model is to run; what is not taken there is listed
 * Throws TARGET_UNKNOWN, and what loading throws.
 */
export async function runInspect(
  path: string,
  config: RuntimeConfig,
  context: RunContext | null,
  targetName: string | null = null,
): Promise<Inspection> {
  const model = loadModel(path);
  const target = targetName === null ? null : await inspectTarget(path, targetName, config, context);
  const violated = target && targetFinding(target, shellWord(path), opsetOf(model));
  const { graph } = model;
  const { producer_name: name = "", producer_version: version = "" } = model.extras as ModelProto;
  const port = (label: string, { dtype, shape }: Value): InspectedPort => ({ name: label, dtype, shape });
  return {
    schemaVersion: 1,
    command: "inspect",
    tool: context && { version: context.toolVersion },
    model: await modelFacts(path, model),
    irVersion: model.irVersion,
    opsets: Object.fromEntries([...model.opsets].map(([domain, opset]) => [domain || "ai.onnx", opset])),
    producer: { name, version },
    inputs: graph.inputs.map((value) => port(value.label, value)),
    outputs: graph.outputs.map((output) => port(output.name, output.value)),
    operators: histogram(model),
    functions: [...model.functions],
    parameters: parametersOf(model),
    externalFiles: externalFiles(model),
    flops: await flopsOf(path, config, context),
    quantized: quantizedForm(model),
    findings: [...(violated ? [violated] : []), ...findingsOf(model, path)],
    ...(target && { target }),
  };
}

function histogram({ graph }: Model): { op: string; nodes: number }[] {
  const counts = new Map<string, number>();
  for (const { opName } of nodesWithin(graph)) counts.set(opName, (counts.get(opName) ?? 0) + 1);
  return [...counts].map(([op, nodes]) => ({ op, nodes })).sort((a, b) => b.nodes - a.nodes || (a.op < b.op ? -1 : 1));
}

function parametersOf(model: Model): Inspection["parameters"] {
  const sums = new Map<DType, { count: number; bytes: number }>();
  let count = 0;
  let bytes = 0;
  for (const tensor of tensorsOf(model)) {
    const sum = sums.get(tensor.dtype) ?? { count: 0, bytes: 0 };
    sum.count += tensor.elementCount;
    sum.bytes += tensor.byteLength;
    sums.set(tensor.dtype, sum);
    count += tensor.elementCount;
    bytes += tensor.byteLength;
  }
  const byDtype = [...sums].map(([dtype, sum]) => ({ dtype, ...sum })).sort((a, b) => b.bytes - a.bytes);
  const constants = [...graphsWithin(model.graph)].flatMap((each) => each.constants);
  const largest = constants
    .flatMap(({ label, constant }) =>
      constant ? [{ name: label, dtype: constant.dtype, dims: constant.dims, bytes: constant.byteLength }] : [],
    )
    .sort((a, b) => b.bytes - a.bytes)
    .slice(0, LARGEST);
  return { count, bytes, byDtype, largest };
}

/**
 * Counts on a copy whose inputs have the sizes of one batch, so that shapes which depend on
 * it become known. Where some do not, shape arithmetic hides them: it is folded away first.
 */
async function flopsOf(path: string, config: RuntimeConfig, context: RunContext | null): Promise<InspectedFlops> {
  const sized = loadModel(path);
  const assumed = context ? sizeInputs(sized, config) : {};
  let problem: string | null = null;
  let count = countMacs(sized);
  if (context) {
    const describe = describer(config, context);
    problem = await findShapes(sized, describe);
    count = countMacs(sized);
    // One layer's shapes fold away the arithmetic that hid the next one's.
    for (let before = Number.POSITIVE_INFINITY; problem === null && count.unknown > 0 && count.unknown < before; ) {
      before = count.unknown;
      await runPasses(sized, recipes.fold, { evaluate: evaluator(config, context), signal: context.signal });
      problem = await findShapes(sized, describe);
      count = countMacs(sized);
    }
  }
  const { known, operators, nodes, unknown, inLoops } = count;
  return {
    total: unknown === 0 ? 2 * known : null,
    known: 2 * known,
    operators: Object.fromEntries(operators),
    nodes,
    nodesWithoutShape: unknown,
    nodesInLoops: inLoops,
    assumed,
    problem,
  };
}

/** Gives open dimensions of the inputs a size; returns the shapes that changed, by input name. */
function sizeInputs({ graph }: Model, config: RuntimeConfig): Record<string, Shape> {
  const assumed: [string, Shape][] = [];
  const specs = inputsOf(graph);
  for (const [i, { name, shape }] of withBatch(specs, config).entries()) {
    const input = graph.inputs[i]!;
    const given = config.shapes.get(name)?.map((dim, axis) => dim ?? shape?.[axis] ?? null) ?? shape;
    if (!given || !input.type || JSON.stringify(given) === JSON.stringify(input.shape)) continue;
    assumed.push([name, given]);
    input.type = { ...input.type, shape: given };
  }
  return Object.fromEntries(assumed);
}

/** Rejects with nothing but interruptions; answers why no shapes could be found out, or null. */
async function findShapes(model: Model, describe: Describe): Promise<string | null> {
  // What is declared of results has open dimensions, and would be believed.
  for (const { value } of model.graph.outputs) {
    if (value.producer && value.type) value.type = { ...value.type, shape: null };
  }
  return (await annotateTypes(model, describe)).problem;
}

function quantizedForm({ graph }: Model): Inspection["quantized"] {
  const operators: Record<string, number> = {};
  const forms = new Set<QuantizedForm>();
  let widened = false;
  for (const { op, opName } of nodesWithin(graph)) {
    const form = quantizedFormOf(opName);
    if (!form) continue;
    operators[opName] = (operators[opName] ?? 0) + 1;
    forms.add(form);
    widened ||= form === "weights-only" && op !== "DequantizeLinear";
  }
  // Then a DequantizeLinear is half of a pair.
  if (forms.has("qdq") && !widened) forms.delete("weights-only");
  const [only = "none"] = forms;
  return { form: forms.size > 1 ? "mixed" : only, operators };
}
