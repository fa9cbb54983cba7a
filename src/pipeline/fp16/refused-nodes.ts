/** The nodes for which the runtime takes no model in half precision, found by narrowing fewer of them. */
import { faultOf, InferOptError } from "../../base/errors.js";
import type { DatasetRef } from "../../dataset/index.js";
import type { RuntimeConfig } from "../config.js";
import type { RunContext } from "../context.js";
import { asDelivered, isKilled, modelFaults } from "../model-runs.js";
import { onFirstThatRuns } from "../prepare/comparison-data.js";

/** Finds before the model is given up on; each takes about as many trials as the number of nodes has binary digits. */
const MOST_FOUND = 8;

export interface NamedNode {
  readonly displayName: string;
  readonly op: string;
}

export interface NarrowModel {
  readonly nodes: readonly NamedNode[];
  /** Writes it in half precision, with these nodes in float32, and says where. */
  readonly narrow: (kept: ReadonlyMap<string, string>) => Promise<string>;
  /** The model as it was. */
  readonly baseline: string;
  readonly data: readonly DatasetRef[];
  readonly runtime: RuntimeConfig;
  readonly context: RunContext;
}

/** Whether a model itself may be to blame for a fault; not where the system ended the process for want of memory. */
export const isRefusal = (thrown: unknown): thrown is InferOptError =>
  thrown instanceof InferOptError && modelFaults.has(thrown.code) && !isKilled(thrown);

/**
 * `refusedNodes`, asked of the runtime: by opening where that is where it went wrong, else by running.
 * Throws the fault of the model as it was, where that has one.
 */
export async function findRefused(
  fault: InferOptError,
  { nodes, narrow, baseline, data, runtime, context }: NarrowModel,
): Promise<ReadonlyMap<string, string> | null> {
  const session = asDelivered(runtime);
  const compare = (candidate: string) => (on: DatasetRef) =>
    context.runtime.compare({ baseline, candidate, data: on, session });
  const own = await onFirstThatRuns(data, compare(baseline));
  if ("problem" in own) throw own.problem;
  const open = (path: string) => context.runtime.describe(path, session, { isRough: true });
  const whole = await narrow(new Map());
  const isClosed = (await faultOf(() => open(whole))) !== null;
  return refusedNodes(nodes, fault, async (kept) => {
    const path = await narrow(kept);
    return faultOf(() => (isClosed ? open(path) : compare(path)(own.on)));
  });
}

/** One for each reason. */
export function refusalWarnings(refused: ReadonlyMap<string, string>): readonly string[] {
  const reasons = new Set(refused.values());
  return [...reasons].map((reason) => {
    const [first, ...others] = [...refused].filter(([, why]) => why === reason).map(([name]) => name);
    return `${first}${others.length > 0 ? ` and ${others.length} more` : ""} kept in float32: ${reason}`;
  });
}

/** What the runtime says of the model with these nodes in float32; null where it runs. */
export type TryOut = (kept: ReadonlyMap<string, string>) => Promise<InferOptError | null>;

/**
 * Nodes to keep in float32 so that the rest runs, by name, each with the reason. Null where that takes too many.
 * @param nodes any order; with all of them in float32 the model runs
 * @param fault what the runtime says of the model with none of them
 */
export async function refusedNodes(
  nodes: readonly NamedNode[],
  fault: InferOptError,
  tryOut: TryOut,
): Promise<ReadonlyMap<string, string> | null> {
  const kept = new Map<string, string>();
  let wrong: InferOptError | null = fault;
  // Invariant: with the first `good` narrow, and no other, it runs; with the first `bad` it does not.
  let good = 0;
  for (let found = 0; wrong !== null; found++) {
    if (found === MOST_FOUND) return null;
    let bad = nodes.length;
    while (bad - good > 1) {
      const middle = (good + bad) >> 1;
      const said = await tryOut(withAll(nodes.slice(middle), kept));
      if (said === null) good = middle;
      else [bad, wrong] = [middle, said];
    }
    const culprit = nodes[bad - 1];
    // What is narrow there already is the same model: it failed by chance.
    if (!culprit || kept.has(culprit.displayName)) return null;
    // No kernel is missing for one node alone.
    const alike = isOperatorMissing(wrong) ? nodes.filter(({ op }) => op === culprit.op) : [culprit];
    for (const { displayName } of alike) kept.set(displayName, reasonOf(wrong));
    good = bad;
    wrong = await tryOut(kept);
  }
  return kept;
}

const withAll = (nodes: readonly NamedNode[], kept: ReadonlyMap<string, string>): ReadonlyMap<string, string> =>
  new Map([...nodes.map(({ displayName }) => [displayName, "it was not tried yet"] as const), ...kept]);

export const isOperatorMissing = ({ fields }: InferOptError): boolean => fields["isOperatorMissing"] === true;

function reasonOf({ code, message, fields }: InferOptError): string {
  if (code === "RUNTIME_CRASHED") return "ONNX Runtime crashes with it in half precision";
  const said = fields["reason"];
  return `ONNX Runtime refuses it in half precision: ${typeof said === "string" ? said : message}`;
}
