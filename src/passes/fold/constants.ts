/**
 * Computes once what depends on constants alone. The runtime does the computing, all
 * foldable nodes in one session, so that folded values are its own; but for what every
 * runtime computes alike (computed-here.ts).
 *
 * A fold that makes the file larger is a bad trade (Tile, Expand, Range and their like
 * are small as nodes): what it adds, less the constants that go with it, must fit a
 * budget. DequantizeLinear stays, and so does a Cast of 8- or 16-bit weights: what is quantized stays
 * quantized.
 */
import { createHash } from "node:crypto";
import { isFault } from "../../base/errors.js";
import { Graph, graphsWithin, type Model, type Node, type Tensor, type Value } from "../../ir/index.js";
import { familyOf, isFoldable } from "../../ops/facts.js";
import { widensWeights } from "../../ops/quantizing.js";
import {
  copyConstant,
  copyNode,
  defineGraphPass,
  type Evaluate,
  type GraphPassContext,
  removeWithFeeders,
  roundingReason,
} from "../../rewrite/index.js";
import { computedHere } from "./computed-here.js";
import { groupByKinship } from "./fold-groups.js";
import { estimatedBytes } from "./fold-size.js";

/** Intermediate results of folding may be this much larger than the constants they come from. */
const SCRATCH_BYTES = 16 << 20;

export const foldConstants = defineGraphPass({
  name: "fold-constants",
  summary: "Compute once what depends on constants alone",
  numerics: "exact",
  revealsTypes: "for the next round", // a Reshape to a shape that is constant now
  async run(context) {
    const groups = groupByKinship(foldableNodes(context));
    const results = new Map<Value, Tensor>();
    const left = groups.filter((group) => {
      const computed = computedHere(context.model, group);
      for (const [value, tensor] of computed ?? []) results.set(value, tensor);
      return !computed;
    });
    if (left.length > 0) await evaluateGroups(context, left, results);
    for (const group of groups) commitGroup(group, results, context);
  },
});

/** Nodes in execution order, outer graphs first, whose inputs are constants or other such nodes. */
function foldableNodes({ model, skipped, mayChange }: GraphPassContext): Node[] {
  const bytes = new Map<Value, number>();
  const foldable: Node[] = [];
  for (const graph of graphsWithin(model.graph)) {
    for (const node of graph.nodes()) {
      if (!isFoldable(node) || node.op === "Constant" || node.op === "DequantizeLinear" || widensWeights(node))
        continue;
      if (!mayChange(node.displayName)) continue;
      if (!node.inputs.every((value) => !value || value.constant || bytes.has(value))) continue;
      if (node.outputs.every((output) => !output || output.useCount === 0)) continue;
      const reason = whyUnfolded(node);
      if (reason !== null) {
        skipped(node.displayName, reason);
        continue;
      }
      const inputBytes = node.inputs.reduce((sum, value) => sum + (value ? sizeOf(value, bytes) : 0), 0);
      const estimate = estimatedBytes(node, (value) => sizeOf(value, bytes));
      if (estimate === null) continue;
      if (estimate > inputBytes + SCRATCH_BYTES) {
        skipped(node.displayName, `computing it would take too much memory: ${estimate} bytes`);
        continue;
      }
      for (const output of node.outputs) if (output) bytes.set(output, estimate);
      foldable.push(node);
    }
  }
  return foldable;
}

/** What would notice that a half-precision result is rounded now, which a runtime may have computed on with in float32. */
function whyUnfolded(node: Node): string | null {
  const family = familyOf(node);
  if (family === "movement" || family === "conversion") return null;
  return roundingReason(node.outputs[0], { beyondProducts: true });
}

const sizeOf = (value: Value, estimates: ReadonlyMap<Value, number>): number =>
  value.constant?.byteLength ?? estimates.get(value) ?? 0;

/** Results that somebody outside the fold reads. */
function frontierOf(nodes: ReadonlySet<Node>): Value[] {
  return [...nodes].flatMap((node) =>
    node.outputs
      .filter((output) => output !== null)
      .filter(({ uses }) => uses.some((use) => use.kind === "output" || !nodes.has(use.node))),
  );
}

/** All groups in one session; one by one when that fails, so that one bad node costs only its kin. */
async function evaluateGroups(
  { model, evaluate, skipped }: GraphPassContext,
  groups: readonly ReadonlySet<Node>[],
  results: Map<Value, Tensor>,
): Promise<void> {
  const all = new Set(groups.flatMap((group) => [...group]));
  if (!evaluate) {
    for (const node of all) skipped(node.displayName, "no runtime is at hand to compute it");
    return;
  }
  if ((await tryEvaluate(model, evaluate, all, results)) === null) return;
  for (const group of groups) {
    const problem = await tryEvaluate(model, evaluate, group, results);
    if (problem === null) continue;
    for (const node of group) skipped(node.displayName, `the runtime cannot compute it: ${problem}`);
  }
}

/** Why it failed, or null. */
async function tryEvaluate(
  model: Model,
  evaluate: Evaluate,
  nodes: ReadonlySet<Node>,
  results: Map<Value, Tensor>,
): Promise<string | null> {
  const { probe, tapped } = foldModel(model, nodes);
  try {
    for (const [name, tensor] of await evaluate(probe)) {
      const value = tapped.get(name);
      if (value) results.set(value, tensor);
    }
    return null;
  } catch (thrown) {
    if (!isFault(thrown)) throw thrown;
    return thrown.message;
  }
}

function foldModel(model: Model, nodes: ReadonlySet<Node>): { probe: Model; tapped: Map<string, Value> } {
  const graph = new Graph();
  const values = new Map<Value, Value>();
  for (const node of nodes) {
    for (const input of node.inputs)
      if (input?.constant && !values.has(input)) values.set(input, copyConstant(input, graph));
    copyNode(node, graph, values);
  }
  const tapped = new Map<string, Value>();
  for (const value of frontierOf(nodes)) {
    const name = `fold_${tapped.size}`;
    graph.addOutput(name, values.get(value)!);
    tapped.set(name, value);
  }
  return { probe: { ...model, graph }, tapped };
}

/** Puts the results of a group in place, all of them or those that fit the budget. */
function commitGroup(
  group: ReadonlySet<Node>,
  results: ReadonlyMap<Value, Tensor>,
  { ledger, options, claim, skipped, store }: GraphPassContext,
): void {
  const folds = foldsOf(group, results);
  const spent = ledger.get("growth") ?? 0;
  const room = options.foldGrowthBytes - spent;
  const distinct = new Map(folds.map(({ key, tensor }) => [key, tensor.byteLength]));
  const growth = [...distinct.values()].reduce((sum, bytes) => sum + bytes, 0) - freedBytes(group);
  const isWhole = growth <= room;
  const placed = new Map<string, Value>();
  let added = 0;
  for (const { value, tensor, home, key } of folds) {
    const node = value.producer!;
    const twin = placed.get(key) ?? null;
    const cost = twin ? 0 : tensor.byteLength;
    if (!isWhole && added + cost > room) {
      skipped(node.displayName, `folding it would add more than the budget allows: ${tensor.byteLength} bytes`);
      continue;
    }
    if (!claim(node.displayName)) continue;
    added += cost;
    const constant = twin ?? home.addConstant(value.label, store(tensor));
    constant.info ??= value.info;
    placed.set(key, constant);
    standIn(value, constant);
  }
  ledger.set("growth", spent + Math.max(0, isWhole ? growth : added));
}

interface Fold {
  readonly value: Value;
  readonly tensor: Tensor;
  /** The graph that the constant goes to. */
  readonly home: Graph;
  /** Equal for folds that can share a constant. */
  readonly key: string;
}

/** What a group leaves behind, smallest first. */
function foldsOf(group: ReadonlySet<Node>, results: ReadonlyMap<Value, Tensor>): Fold[] {
  const homes = homesOf(group);
  const places = [...new Set(homes.values())];
  return frontierOf(group)
    .filter((value) => results.has(value))
    .map((value) => {
      const tensor = results.get(value)!;
      const home = homes.get(value)!;
      return { value, tensor, home, key: `${places.indexOf(home)} ${contentKey(value, tensor)}` };
    })
    .sort((a, b) => a.tensor.byteLength - b.tensor.byteLength);
}

/**
 * Where the constant for a value goes: to the graph of the largest constant that it comes
 * from. Branches that compute the same from one outer weight then share the result.
 */
function homesOf(group: ReadonlySet<Node>): Map<Value, Graph> {
  const origins = new Map<Value, { graph: Graph; bytes: number }>();
  const homes = new Map<Value, Graph>();
  for (const node of group) {
    let largest = { graph: node.graph, bytes: 0 };
    for (const value of node.inputs) {
      if (!value) continue;
      const origin = origins.get(value) ?? { graph: value.graph, bytes: value.constant?.byteLength ?? 0 };
      if (origin.bytes > largest.bytes) largest = origin;
    }
    for (const output of node.outputs) {
      if (!output) continue;
      origins.set(output, largest);
      homes.set(output, output.isGraphOutput ? node.graph : largest.graph);
    }
  }
  return homes;
}

/** Equal for results of equal contents; public outputs and strings keep a constant of their own. */
function contentKey(value: Value, tensor: Tensor): string {
  if (value.isGraphOutput || tensor.dtype === "string") return `only ${value.label}`;
  return `${tensor.dtype}[${tensor.dims.join()}]${createHash("sha256").update(tensor.bytes()).digest("base64")}`;
}

export function replaceByConstant(value: Value, tensor: Tensor): void {
  const constant = value.graph.addConstant(value.label, tensor);
  constant.info = value.info;
  standIn(value, constant);
}

function standIn(value: Value, constant: Value): void {
  value.graph.replaceUses(value, constant);
  const node = value.producer!;
  if (node.outputs.every((output) => !output || output.useCount === 0)) removeWithFeeders(node);
}

/** Bytes of constants that nobody but the group reads. */
function freedBytes(group: ReadonlySet<Node>): number {
  const constants = new Set([...group].flatMap((node) => node.inputs.filter((value) => value?.constant)));
  let bytes = 0;
  for (const value of constants) {
    const isFreed = value!.uses.every((use) => use.kind === "input" && group.has(use.node));
    if (isFreed) bytes += value!.constant!.byteLength;
  }
  return bytes;
}
