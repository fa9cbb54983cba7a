/**
 * Putting an Attention in: on [B, S, H * D] where query, key and value are splits of that and
 * the result is merged to it again, which saves all the splitting; on [B, H, S, D] otherwise.
 */
import { type Attribute, attr, type Node, soleReader, Tensor, type TensorType, type Value } from "../../ir/index.js";
import type { Answer, RewriteContext } from "../../rewrite/index.js";
import { constantIntegers, producerOf } from "../../rewrite/match.js";
import { areSame } from "../fold/size.js";
import { type Heads, headsFirstOf, mergedHeads, partsOfOne, type SizesOf, swapsHeads } from "./heads.js";

export interface AttentionToEmit {
  /** The node whose output [B, H, S, D] this replaces, and the last of those that merge its heads. */
  readonly core: Node;
  readonly root: Node;
  readonly q: Heads;
  readonly k: Heads;
  readonly v: Heads;
  /** Mask and past, as the operator takes them. */
  readonly others: readonly (Value | null)[];
  readonly attributes: Readonly<Record<string, Attribute>>;
  /** The operator of ONNX Runtime that is meant instead, which knows [B, S, H * D] alone. */
  readonly contrib?: { readonly op: string; readonly domain: string };
  /** Labels and types of the outputs after the first. */
  readonly present: readonly { readonly label: string; readonly type: TensorType | null }[];
}

/** The node of operator `op` of which a node is the end: itself, or one whose heads it puts together again. */
export function coreBefore(root: Node, op: string): Node | null {
  if (root.is(op)) return root;
  const transpose = root.is("Transpose") ? root : producerOf(root.inputs[0], "Transpose", root.graph);
  return transpose ? producerOf(transpose.inputs[0], op, root.graph) : null;
}

/** The last of a node, Transpose and Reshape that stand in a row and are read by nobody else. */
export function lastOf(core: Node): Node {
  const transpose = soleReader(core.output);
  if (!transpose || swapsHeads(transpose.output) !== transpose) return core;
  const reshape = soleReader(transpose.output);
  const merges = reshape?.is("Reshape") && reshape.inputs[0] === transpose.output && !copiesLate(reshape);
  return reshape && merges ? reshape : transpose;
}

/** A 0 in the target copies a size; the first two are the same with the heads merged, later ones are not. */
function copiesLate(reshape: Node): boolean {
  const target = constantIntegers(reshape.inputs[1]);
  return target?.slice(2).includes(0) ?? false;
}

/** The Attention, and what stands in for the root. */
export function emitAttention(
  wanted: AttentionToEmit,
  sizesOf: SizesOf,
  context: RewriteContext,
): { attention: Node; answer: Answer } | null {
  return onTokens(wanted, sizesOf, context) ?? (wanted.contrib ? null : onHeads(wanted, context));
}

function onTokens(
  wanted: AttentionToEmit,
  sizesOf: SizesOf,
  context: RewriteContext,
): { attention: Node; answer: Answer } | null {
  const { root, core, q, k, v } = wanted;
  const { heads } = q;
  const { width } = v;
  const isKnown = typeof heads === "number" && typeof k.heads === "number" && typeof width === "number";
  if (root === core || !isKnown) return null;
  const merged = partsOfOne([q, k, v], context) ?? [q, k, v].map((x) => mergedHeads(x, sizesOf, context));
  if (merged.includes(null)) return null;
  const shape = [...(merged[0]!.shape?.slice(0, 2) ?? [null, null]), heads * width];
  const counts = wanted.contrib
    ? { num_heads: attr.int(heads) }
    : { q_num_heads: attr.int(heads), kv_num_heads: attr.int(k.heads as number) };
  const attributes = { ...wanted.attributes, ...counts };
  const attention = created(wanted, merged, attributes, shape, context);
  const result = attention.outputs[0]!;
  if (root.op === "Reshape") {
    const [after, before] = [sizesOf(root.output), [q.batch, q.length, heads * width]];
    const kept = [0, 1, 2].map((axis) => areSame(after?.[axis], before[axis]));
    // The product of the sizes is the same: two of them are enough.
    if (after?.length === 3 && kept.filter(Boolean).length >= 2) return { attention, answer: [result] };
    return { attention, answer: context.create("Reshape", [result, root.inputs[1]!], root.attributes) };
  }
  const split = context.constant(`${root.output.label}.split`, Tensor.i64([4], [0, 0, heads, width]));
  return { attention, answer: context.create("Reshape", [result, split]) };
}

function onHeads(wanted: AttentionToEmit, context: RewriteContext): { attention: Node; answer: Answer } | null {
  const { root, core, q, k, v } = wanted;
  const inputs = [q, k, v].map((x) => headsFirstOf(x, context));
  if (inputs.includes(null)) return null;
  const attention = created(wanted, inputs, wanted.attributes, core.output.shape, context);
  let last = attention.outputs[0]!;
  for (const node of nodesAfter(core, root)) {
    last = context.create(node.op, [last, ...node.inputs.slice(1)], node.attributes, { like: node }).output;
  }
  return { attention, answer: [last] };
}

function created(
  { core, others, present, contrib }: AttentionToEmit,
  inputs: readonly (Value | null)[],
  attributes: Readonly<Record<string, Attribute>>,
  shape: TensorType["shape"],
  { create }: RewriteContext,
): Node {
  return create(contrib?.op ?? "Attention", [...inputs, ...others], attributes, {
    ...(contrib && { domain: contrib.domain }),
    like: core,
    labels: [core.output.label, ...present.map(({ label }) => label)],
    types: [{ dtype: "f32", shape }, ...present.map(({ type }) => type)],
  });
}

/** The nodes between a node and the last of its row, that included. */
function nodesAfter(core: Node, last: Node): Node[] {
  const nodes: Node[] = [];
  for (let at = last; at !== core; at = at.inputs[0]!.producer!) nodes.unshift(at);
  return nodes;
}
