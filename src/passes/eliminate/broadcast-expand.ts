/**
 * x / Expand(v, shape of x)  =>  x / v
 *
 * and the same for every operator that broadcasts by itself: an Expand makes copies that the
 * operator would read from one place. Another operand must surely have the sizes that the Expand makes.
 */
import { graphsWithin, type Node, type Value } from "../../ir/index.js";
import { familyOf } from "../../ops/facts.js";
import { defineGraphPass, removeWithFeeders } from "../../rewrite/index.js";
import { producerOf } from "../../rewrite/match.js";
import { areSame } from "../fold/size.js";
import { sizeFacts } from "../fold/size-facts.js";
import type { SizeFacts } from "../fold/size-rules.js";

/** Slopes broadcast one way only; with a scalar exponent runtimes compute some powers by other means. */
const others: ReadonlySet<string> = new Set(["PRelu", "Pow"]);

export const eliminateBroadcastExpand = defineGraphPass({
  name: "eliminate-broadcast-expand",
  summary: "Remove Expand nodes before operators that broadcast by themselves",
  numerics: "exact",
  run({ model, claim }) {
    const facts = sizeFacts();
    for (const graph of graphsWithin(model.graph)) {
      for (const node of graph.nodes()) {
        if (familyOf(node) !== "broadcasting" || others.has(node.op) || node.attributes.has("axis")) continue;
        for (const [index, operand] of node.inputs.entries()) {
          const expand = producerOf(operand, "Expand", graph);
          const source = expand?.inputs[0];
          if (!operand || !expand || !source || !isSuperfluous(operand, source, node, facts)) continue;
          if (!claim(node.displayName)) continue;
          graph.setInput(node, index, source);
          if (operand.useCount === 0) removeWithFeeders(expand);
        }
      }
    }
  },
});

/** Whether each axis that the Expand stretches is one that another operand has, of the same size. */
function isSuperfluous(operand: Value, source: Value, node: Node, { shapeOf }: SizeFacts): boolean {
  const expanded = shapeOf(operand);
  const own = shapeOf(source);
  if (!expanded || !own) return false;
  const others = node.inputs.filter((input) => input && input !== operand).map((input) => shapeOf(input!));
  return expanded.every((size, axis) => {
    const fromBack = axis - expanded.length;
    const isThere = (shape: ReturnType<SizeFacts["shapeOf"]>): boolean => {
      const at = shape?.at(fromBack);
      return at !== undefined && shape!.length + fromBack >= 0 && areSame(at, size);
    };
    return isThere(own) || others.some(isThere);
  });
}
