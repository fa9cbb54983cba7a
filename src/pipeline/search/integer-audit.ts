/**
 * Which nodes that were to run on integers do, by the graph that the runtime makes of the
 * file and saves. Values keep their names through its fusions, nodes do not: what makes the
 * integers of a node tells whether they are computed, or float results converted to them.
 */
import { InferOptError, messageOf } from "../../base/errors.js";
import { loadModel, loadWritten, type Model, type Node, nodesWithin, type Value } from "../../ir/index.js";
import type { Form } from "../../quantization/form.js";
import { movers } from "../../quantization/movers.js";
import type { FloatNode } from "../../quantization/plan-static.js";
import type { BuiltModel } from "../candidates/built-model.js";
import type { RuntimeConfig } from "../config.js";
import { asDelivered, removeLinked, scratchFile } from "../model-runs.js";
import type { IntegerFacts } from "../result.js";
import type { RunRecord } from "../run-record.js";

/** The runtime's graph is written with all weights in one message, which may not reach 2 GiB. */
const LARGEST_WRITTEN = 2 ** 30;

/**
 * null where the runtime cannot write its graph; `executed` is that graph where it was written before. Nodes that
 * stayed float although they were not to are named in a warning.
 */
export async function auditCandidate(
  built: BuiltModel,
  config: RuntimeConfig,
  record: Pick<RunRecord, "context" | "stage" | "warn">,
  executed: string | null,
): Promise<IntegerFacts | null> {
  if (config.provider !== "cpu" || built.bytes > LARGEST_WRITTEN || built.forms.size === 0) return null;
  const { runtime } = record.context;
  const path = executed ?? scratchFile(record.context, "executed");
  try {
    if (!executed)
      await record.stage(
        "verify",
        () => runtime.describe(built.path, asDelivered(config), { saveOptimizedTo: path }),
        "integers",
      );
    const facts = auditIntegers(loadModel(built.path), loadWritten(path, built.path), built.forms);
    if (facts.float.length > 0) record.warn(inWords(facts));
    return facts;
  } catch (error) {
    if (!(error instanceof InferOptError) || error.kind !== "runtime") throw error;
    record.warn(`which nodes run on integers could not be found out: ${messageOf(error)}`);
    return null;
  } finally {
    removeLinked(path);
  }
}

const NAMED = 4;

function inWords({ integer, float }: IntegerFacts): string {
  const named = float.slice(0, NAMED).map(({ node, op }) => `${node} (${op})`);
  if (float.length > NAMED) named.push(`and ${float.length - NAMED} more`);
  return `${float.length} of ${integer + float.length} nodes that were to run on integers run in float: ${named.join(", ")}`;
}

/** @param executed the graph that the runtime saved of `written` */
export function auditIntegers(written: Model, executed: Model, forms: ReadonlyMap<string, Form>): IntegerFacts {
  const nodes = new Map([...nodesWithin(written.graph)].map((node) => [node.name, node]));
  const made = new Map<string, Node>();
  const widened = new Set<string>();
  let conversions = 0;
  for (const node of nodesWithin(executed.graph)) {
    for (const value of node.outputs) if (value) made.set(value.label, node);
    if (isConversion(node)) conversions++;
    if (node.is("DequantizeLinear") && node.inputs[0]?.constant) widened.add(node.inputs[0].label);
  }
  let integer = 0;
  const float: FloatNode[] = [];
  for (const [name, form] of forms) {
    const node = nodes.get(name);
    // Dynamic products are integer operators in the file already, and weights alone are no arithmetic.
    if (form !== "static" && !form.startsWith("dynamic")) continue;
    const reason = form === "static" && node ? whyFloat(node, made, widened) : null;
    if (reason === null) integer++;
    else float.push({ node: name, op: node!.op, reason });
  }
  return { integer, float, conversions };
}

const isConversion = ({ op }: Node): boolean => /^(Dynamic)?(Quantize|Dequantize)Linear$/.test(op);

/** Null for a node that computes on integers, or is one itself. `widened`: labels of the constants that are made floats in every run. */
function whyFloat(node: Node, made: ReadonlyMap<string, Node>, widened: ReadonlySet<string>): string | null {
  if (isIntegerOperator(node) || readsIntegers(node)) return null;
  const { value, isQuantized } = resultOf(node);
  const maker = behindMoves(made.get(value.label), made);
  // A name that is gone went with a fusion: of what only moves elements, or of a product and a sum.
  if (!maker) return hasWeightsAmong(widened, node) ? "the runtime widens its weights and multiplies floats" : null;
  if (isIntegerOperator(maker)) return null;
  if (!isQuantized) return `the runtime computes a float ${maker.op}`;
  if (maker.op !== "QuantizeLinear") return null;
  const source = maker.inputs[0] && made.get(maker.inputs[0].label);
  return `the runtime computes a float ${source?.op ?? node.op} and converts its result`;
}

const products = /^(Conv|ConvTranspose|Gemm|MatMul)$/;

/** By the label of its integers. */
function hasWeightsAmong(labels: ReadonlySet<string>, { op, inputs }: Node): boolean {
  const integers = inputs[1]?.producer?.inputs[0];
  return products.test(op) && !!integers && labels.has(integers.label);
}

/** Whether what it moves are integers in the file already. */
function readsIntegers({ inputs: [first] }: Node): boolean {
  let maker = first?.producer;
  while (maker && (movers.has(maker.op) || maker.op === "MaxPool")) maker = maker.inputs[0]?.producer;
  return maker ? maker.op === "QuantizeLinear" || isIntegerOperator(maker) : false;
}

const isIntegerOperator = ({ op, domain }: Node): boolean =>
  /^QLinear|Integer/.test(op) || (domain === "com.microsoft" && /^Q[A-Z](?!uick)/.test(op));

/** The integers of what a node makes, behind an activation that its kernel absorbs; the value itself where that stays float. */
function resultOf(node: Node): { readonly value: Value; readonly isQuantized: boolean } {
  const first = node.outputs.find((output) => output !== null)!;
  for (let value = first; ; ) {
    const readers = value.uses.flatMap((use) => (use.kind === "input" ? [use.node] : []));
    const quantize = readers.find(({ op }) => op === "QuantizeLinear");
    if (quantize) return { value: quantize.output, isQuantized: true };
    const [only] = readers;
    if (value !== first || readers.length !== 1 || !only || !(only.is("Relu") || only.is("Clip"))) {
      return { value: first, isQuantized: false };
    }
    value = only.output;
  }
}

/** What the runtime turns to another layout comes from elsewhere. */
function behindMoves(node: Node | undefined, made: ReadonlyMap<string, Node>): Node | undefined {
  let at = node;
  while (at && movers.has(at.op) && at.inputs[0]) at = made.get(at.inputs[0].label);
  return at;
}
