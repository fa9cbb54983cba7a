/**
 * A Resize between integers that repeats each place a whole number of times:
 *
 *   Q -> DQ -> Resize -> Q -> DQ  =>  Q -> Transpose -> Concat -> Unsqueeze -> Concat -> Reshape -> Transpose -> DQ
 *
 * Behind an integer Conv, channels last, ONNX Runtime's kernel looks up each element by itself (1.30 on x86: 0.6 ns of it);
 * copies of rows of channels take a tenth of that.
 */
import type { Node, Value } from "../ir/index.js";
import { repeatsOf } from "../target/whole-resize.js";
import { betweenPairs, replaceBetweenPairs } from "./between-pairs.js";
import { keepsChannelsLast } from "./channels-first.js";
import { IntegerMoves } from "./integer-moves.js";
import type { PlannedNode } from "./plan-static.js";

export type Repeats = ReadonlyMap<Node, readonly number[]>;

/** How often each place is repeated by those nodes of a plan that get their channels last. Before pairs are written. */
export function repeatsIn(planned: readonly PlannedNode[]): Repeats {
  const channelsLast = new Set<Value | null>();
  const found = new Map<Node, readonly number[]>();
  for (const { node, outputs } of planned) {
    const { op, inputs } = node;
    if (op !== "Conv" && !(keepsChannelsLast(node) && inputs.some((value) => channelsLast.has(value)))) continue;
    for (const value of outputs) channelsLast.add(value);
    const repeats = repeatsOf(node);
    if (repeats) found.set(node, repeats);
  }
  return found;
}

/** Once pairs are written. */
export function repeatIntegers(found: Repeats): void {
  for (const [resize, repeats] of found) {
    const pairs = betweenPairs(resize, 0);
    if (!pairs) continue;
    const { dequantize, quantize } = pairs;
    const moves = new IntegerMoves(dequantize.inputs[0]!, resize.name, quantize);
    const whole = moves.sizes(repeats, Number(dequantize.output.shape![1]));
    const [down, along] = [repeats.length > 1 ? repeats[0]! : 1, repeats.at(-1)!];
    if (along > 1) moves.repeat("_along", along, repeats.length + 1);
    if (down > 1) {
      moves.unsqueeze("_rows", 2);
      moves.repeat("_down", down, 2);
    }
    moves.reshape("_together", whole);
    replaceBetweenPairs(resize, pairs, moves.end(quantize.output.shape));
  }
}
