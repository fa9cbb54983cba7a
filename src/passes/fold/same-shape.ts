/**
 * Nodes that only say what shape a tensor shall have, where it has that shape in every
 * run: by sizes that are reckoned with, so also where no name or number shows it.
 *
 *   Expand(x, Shape(x))                    =>  x
 *   Reshape(x: [N,h,w,C], [N, h, w, -1])   =>  x
 */
import { graphsWithin, type Node, type Value } from "../../ir/index.js";
import { defineGraphPass, removeWithFeeders, roundingReason } from "../../rewrite/index.js";
import { constantIntegers } from "../../rewrite/match.js";
import { areSame } from "./size.js";
import { sizeFacts } from "./size-facts.js";
import type { SizeFacts } from "./size-rules.js";

/** Given the same shape, their results are their inputs. */
const shapers = new Set(["Expand", "Flatten", "Reshape", "Slice", "Squeeze", "Tile", "Unsqueeze"]);

export const eliminateSameShape = defineGraphPass({
  name: "eliminate-same-shape",
  summary: "Remove Reshape, Expand, Slice and Tile nodes whose result surely has the shape of their input",
  numerics: "exact",
  run({ model, claim, skipped }) {
    const facts = sizeFacts();
    for (const graph of graphsWithin(model.graph)) {
      for (const node of graph.nodes()) {
        const input = node.inputs[0];
        if (!input || !isShaper(node) || !keepsShape(input, node.output, facts)) continue;
        const reason = roundingReason(node.output) ?? (input.producer && roundingReason(input, { except: node }));
        if (reason !== null) {
          skipped(node.displayName, reason);
          continue;
        }
        if (!claim(node.displayName)) continue;
        const { output } = node;
        const isPort = output.isGraphOutput;
        // What the model declares about its outputs is public.
        if (isPort && !input.isGraphInput && !input.constant) input.type = output.type ?? input.type;
        graph.replaceUses(output, input);
        removeWithFeeders(node);
      }
    }
  },
});

function isShaper(node: Node): boolean {
  if (node.domain !== "" || !shapers.has(node.op)) return false;
  // A Slice backwards keeps the shape as well. Up to opset 5 Tile took other inputs.
  if (node.op === "Slice")
    return !node.inputs[4] || (constantIntegers(node.inputs[4])?.every((step) => step === 1) ?? false);
  return node.op !== "Tile" || node.inputs.length === 2;
}

function keepsShape(input: Value, output: Value, { shapeOf }: SizeFacts): boolean {
  const [before, after] = [shapeOf(input), shapeOf(output)];
  return !!before && before.length === after?.length && before.every((size, axis) => areSame(size, after[axis]));
}
