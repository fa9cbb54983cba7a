/** What only moves, views or measures tensors, and is expected to cancel, merge or fold. */
import type { Node, Value } from "../../ir/index.js";
import { familyOf } from "../../ops/facts.js";
import { constantIntegers, isVagueName } from "../../rewrite/match.js";
import { alsoReadBy, type Expectation, type Finding, feederOf, makerOf, readerOps, readersOf } from "./expectation.js";

const transpose: Expectation = {
  ops: ["Transpose"],
  passes: ["fuse-gemm-transpose", "eliminate-transpose-detour", "eliminate-no-op-transpose"],
  look(node) {
    const pass = "eliminate-transpose-detour";
    const input = node.inputs[0];
    const readers = readersOf(node.output);
    const isOutput = node.output.isGraphOutput;
    if (input?.isGraphInput && isOutput) return { reason: "between an input and an output, whose layouts stay", pass };
    if (input?.isGraphInput) return { reason: "it turns an input, whose layout stays", pass };
    if (isOutput) return { reason: "it turns what becomes an output, whose layout stays", pass };
    const product = readers.find((each) => each.domain === "" && (each.op === "MatMul" || each.op === "Gemm"));
    if (product && readers.length === 1) {
      const swaps = swapsLast(node);
      return {
        reason: `the ${product.op} behind it wants its factor in this order`,
        // It may say itself why it does not read the factor transposed.
        parts: [product],
        help:
          swaps && product.op === "MatMul" ? "--runtime-specific: com.microsoft::FusedMatMul takes it in" : undefined,
      };
    }
    return { pass, reason: `nothing cancels it between ${makerOf(input)} and ${readerOps(node.output)}` };
  },
};

/** Whether a Transpose swaps the last two axes and moves no other. */
function swapsLast(node: Node): boolean {
  const perm = node.ints("perm");
  if (!perm) return node.output.shape?.length === 2;
  const last = perm.length - 1;
  return last >= 1 && perm.every((axis, i) => axis === (i === last ? last - 1 : i === last - 1 ? last : i));
}

const VIEWS = ["Reshape", "Flatten", "Squeeze", "Unsqueeze"];

const views: Expectation = {
  ops: VIEWS,
  passes: ["eliminate-no-op-reshape", "fuse-axis-chain", "fuse-reduce-squeeze", "eliminate-reinserted-axis"],
  look(node) {
    const inner = feederOf(node, 0);
    if (inner?.domain !== "" || !VIEWS.includes(inner.op)) return null;
    const shared = alsoReadBy(inner.output, node);
    if (shared) return { reason: `other nodes read the ${inner.op} before it too`, detail: shared };
    const given = node.op === "Reshape" ? constantIntegers(node.inputs[1]) : null;
    if (node.op === "Reshape" && !given)
      return { reason: `the shape is known at run time only, after ${makerOf(inner.output)}` };
    if (given?.includes(0)) return { reason: `a 0 in the shape copies a size that the ${inner.op} before it made` };
    if (node.op === "Reshape") return { reason: `the ${inner.op} before it may change what the shape means` };
    if (node.op === inner.op)
      return { reason: `the axes of ${node.op} and ${node.op} are computed, or cannot be counted` };
    return { reason: `no pass makes one Reshape of ${inner.op} and ${node.op}` };
  },
};

const shape: Expectation = {
  ops: ["Shape", "Size"],
  passes: ["fold-shapes", "eliminate-same-shape", "eliminate-shape-detour"],
  look(node) {
    const value = node.inputs[0];
    if (!value?.shape) return { reason: "the rank of what is measured is not known", detail: value?.label };
    const start = fromFront(node.int("start", 0), value.shape.length);
    const end = fromFront(node.int("end", value.shape.length), value.shape.length);
    const open = value.shape.slice(start, end).filter((dim) => typeof dim !== "number");
    if (open.length === 0) return { reason: "the sizes are known, and what reads them does not fold" };
    const names = [...new Set(open.filter((dim) => typeof dim === "string" && !isVagueName(dim)))].sort();
    return {
      reason: `sizes are known at run time only${names.length > 0 ? ` (${names.slice(0, 4).join(", ")})` : ""}`,
      detail: `of ${value.label}`,
      help: "--shape fixes sizes of inputs",
    };
  },
};

const fromFront = (axis: number, rank: number): number => Math.max(0, Math.min(rank, axis < 0 ? axis + rank : axis));

const expand: Expectation = {
  ops: ["Expand", "Tile"],
  passes: ["eliminate-no-op-expand", "eliminate-broadcast-expand"],
  look(node) {
    const readers = readersOf(node.output);
    const isBroadcast = (each: Node): boolean => familyOf(each) === "broadcasting" && each.op !== "PRelu";
    if (readers.length === 0 || !readers.every(isBroadcast)) return null;
    if (readers.length > 0 && node.output.uses.length > countOfUses(node.output, readers)) return null;
    const reader = readers.map(({ op }) => op).sort()[0]!;
    if (!node.inputs[1]?.constant && node.op === "Expand") {
      return { reason: `whether the other operand of the ${reader} has the size that it is expanded to is not known` };
    }
    if (node.op === "Tile" && !repeatsOnes(node)) return { reason: "it repeats axes of other sizes than 1" };
    return { reason: `the other operand of the ${reader} is not as large` };
  },
};

const countOfUses = (value: Value, readers: readonly Node[]): number =>
  value.uses.filter((use) => use.kind === "input" && readers.includes(use.node)).length;

function repeatsOnes(tile: Node): boolean {
  const repeats = constantIntegers(tile.inputs[1]);
  return repeats?.every((times, i) => times === 1 || tile.inputs[0]?.shape?.[i] === 1) ?? false;
}

interface Pair {
  readonly pass: string;
  /** Why the second does not take in the first; null: nobody would expect it to. */
  readonly why: (node: Node, inner: Node) => string | null;
}

/** Two of a kind in a row that would be one. */
const pairs: Readonly<Record<string, Pair>> = {
  Slice: { pass: "fuse-slice", why: () => "where the two ranges meet is not known before it runs" },
  Clip: { pass: "fuse-clip", why: () => "the bounds are computed" },
  Concat: {
    pass: "fuse-concat",
    // DenseNets are made of Concats that others read too.
    why: (node, inner) =>
      node.int("axis", 0) !== inner.int("axis", 0) || alsoReadBy(inner.output, node) ? null : "the ranks are not known",
  },
  Cast: {
    pass: "eliminate-no-op-cast",
    why: (node, inner) => {
      const types = [inner.inputs[0], inner.output, node.output].map((value) => value?.dtype ?? "?");
      if (types.includes("?")) return "the types of the Casts are not all known";
      return `the first Cast can lose what the second cannot bring back: ${types.join(" to ")}`;
    },
  },
};

const repeated: Expectation = {
  ops: Object.keys(pairs),
  passes: Object.values(pairs).map(({ pass }) => pass),
  look(node): Finding | null {
    const inner = node.inputs.map((_, i) => feederOf(node, i)).find((each) => each?.is(node.op));
    if (!inner) return null;
    const { pass, why } = pairs[node.op]!;
    const reason = why(node, inner);
    if (reason === null) return null;
    const shared = node.op === "Cast" ? null : alsoReadBy(inner.output, node);
    if (shared) return { reason: `other nodes read the ${inner.op} before it too`, detail: shared, pass };
    return { reason, pass };
  },
};

export const shapeExpectations: readonly Expectation[] = [transpose, views, shape, expand, repeated];
