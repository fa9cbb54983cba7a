/**
 * What windows say about sizes: a Conv or pool slides its window over at least one place, so an
 * axis with padding has no fewer elements than the window is longer than the padding. With that,
 * PyTorch's (h - 1) // 2 + 1, which its exporter rounds towards zero, is the size that the Conv makes.
 */
import type { Graph, Node } from "../../ir/index.js";
import { isSameDim } from "../../rewrite/match.js";
import { atomNamed } from "./size.js";

const windowed = ["Conv", "AveragePool", "MaxPool"];

/** By the atom of each size with a name: how large it is at least, where the main graph's windows fit. */
export function windowFloors(graph: Graph): ReadonlyMap<string, number> {
  let main = graph;
  while (main.parent) main = main.parent;
  const floors = new Map<string, number>();
  // Bodies may never run, and then say nothing.
  for (const node of main.nodes()) {
    if (!windowed.some((op) => node.is(op))) continue;
    node.inputs[0]?.shape?.slice(2).forEach((dim, i, dims) => {
      if (typeof dim !== "string" || !isSameDim(dim, dim)) return;
      const floor = floorOf(node, i, dims.length);
      const name = atomNamed(dim);
      if (floor !== null && floor > (floors.get(name) ?? 0)) floors.set(name, floor);
    });
  }
  return floors;
}

function floorOf(node: Node, i: number, rank: number): number | null {
  const isFixed = node.string("auto_pad", "NOTSET") === "NOTSET" && node.int("ceil_mode", 0) === 0;
  const length = node.ints("kernel_shape")?.[i] ?? (node.is("Conv") ? node.inputs[1]?.shape?.[i + 2] : null);
  if (!isFixed || typeof length !== "number") return null;
  const pads = node.ints("pads") ?? Array<number>(2 * rank).fill(0);
  const [before, after] = [pads[i], pads[rank + i]];
  if (before === undefined || after === undefined) return null;
  return (node.ints("dilations")?.[i] ?? 1) * (length - 1) + 1 - before - after;
}
