/**
 * Constants of the same type, shape and bytes become one, so that tied weights are
 * stored once. A body's constant gives way to one of a graph around it only when it
 * is large: small ones are easier to see where they are used. So do large ones of two
 * branches, to one in the graph around both.
 */
import { createHash } from "node:crypto";
import { type Graph, graphsWithin, type Tensor, type Value } from "../../ir/index.js";
import { defineGraphPass } from "../../rewrite/index.js";

const LARGE_BYTES = 1024;
const PREFIX_BYTES = 4096;
/** Up to this size bytes are told apart as they are: most constants are axes and bounds. */
const SHORT_BYTES = 32;

export const eliminateDuplicateConstant = defineGraphPass({
  name: "eliminate-duplicate-constant",
  summary: "Store constants with equal contents once",
  numerics: "exact",
  run({ model, claim }) {
    const buckets = new Map<string, Entry[]>();
    for (const graph of graphsWithin(model.graph)) {
      for (const value of graph.constants) {
        const tensor = value.constant;
        if (!tensor || tensor.dtype === "string") continue;
        const key = prefixKey(tensor);
        const bucket = buckets.get(key) ?? [];
        buckets.set(key, bucket);
        const entry = findTwin(bucket, value, tensor);
        if (!entry) continue;
        if (!claim(value.label)) continue;
        if (!isVisible(entry.value.graph, graph)) entry.value = moveUp(entry.value, graph);
        graph.replaceUses(value, entry.value);
        graph.removeConstant(value);
      }
    }
  },
});

interface Entry {
  value: Value;
  digest: string | null;
}

/** An earlier constant with the same contents that may be read instead; else the value joins the bucket. */
function findTwin(bucket: Entry[], value: Value, tensor: Tensor): Entry | null {
  const own: Entry = { value, digest: null };
  for (const entry of bucket) {
    if (!mayStandIn(entry.value, value, tensor)) continue;
    const other = entry.value.constant!;
    if (other === tensor || tensor.byteLength <= PREFIX_BYTES) return entry;
    entry.digest ??= digestOf(other);
    own.digest ??= digestOf(tensor);
    if (entry.digest === own.digest) return entry;
  }
  bucket.push(own);
  return null;
}

function mayStandIn(twin: Value, value: Value, tensor: Tensor): boolean {
  // A public output needs a value of its own name.
  if (value.isGraphOutput) return false;
  if (twin.graph === value.graph) return true;
  return tensor.byteLength >= LARGE_BYTES && (isVisible(twin.graph, value.graph) || !twin.isGraphOutput);
}

/** Whether values of `outer` can be read in `inner`. */
function isVisible(outer: Graph, inner: Graph): boolean {
  for (let at: Graph | null = inner; at; at = at.parent) if (at === outer) return true;
  return false;
}

/** Puts a constant of a body in the innermost graph around it and another. */
function moveUp(value: Value, other: Graph): Value {
  let home = value.graph;
  while (!isVisible(home, other)) home = home.parent!;
  const moved = home.addConstant(value.label, value.constant!);
  moved.info = value.info;
  value.graph.replaceUses(value, moved);
  value.graph.removeConstant(value);
  return moved;
}

/** Tensors never change, and their bytes may lie in a file: what is read is read once. */
const prefixKeys = new WeakMap<Tensor, string>();

/** Type, shape and the first bytes: whole files of weights are read only when these agree. */
function prefixKey(tensor: Tensor): string {
  const known = prefixKeys.get(tensor);
  if (known !== undefined) return known;
  const key = `${tensor.dtype}[${tensor.dims.join()}]${textOfHead(tensor)}`;
  prefixKeys.set(tensor, key);
  return key;
}

function textOfHead({ byteLength, byteSource }: Tensor): string {
  if (byteLength === 0) return "";
  for (const chunk of byteSource.chunks(PREFIX_BYTES)) {
    const head = chunk.subarray(0, PREFIX_BYTES);
    return head.length > SHORT_BYTES ? createHash("sha256").update(head).digest("base64") : head.join();
  }
  return "";
}

function digestOf(tensor: Tensor): string {
  const hash = createHash("sha256");
  for (const chunk of tensor.byteSource.chunks()) hash.update(chunk);
  return hash.digest("base64");
}
