/**
 * x + x * g  =>  x * (g + 1)        g with one number for many of x
 *
 * A gate beside which its input goes on, as squeeze-and-excitation with a residual has it: one pass over x in place of two.
 */
import { Tensor, type Value } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { broadcastsTo, inputOrders, soleProducer } from "../../rewrite/match.js";

export const fuseResidualGate = defineRewrite({
  name: "fuse-residual-gate",
  summary: "Add one to a gate instead of what it multiplies to the product",
  numerics: "rounding",
  roots: ["Add"],
  minOpset: 7,
  rewrite(add, { create, constant }) {
    for (const [x, product] of inputOrders(add)) {
      const mul = soleProducer(product, "Mul");
      const order = inputOrders(mul).find(([factor]) => factor === x);
      if (!mul || !order || x.dtype !== "f32") continue;
      const gate = order[1];
      // A constant has been taken care of by those that fold it.
      if (gate.constant || !broadcastsTo(gate, x) || !isSpread(gate, x)) continue;
      const more = create("Add", [gate, constant("one", Tensor.scalar("f32", 1))], {}, { types: [gate.type] });
      return create("Mul", [x, more.output], {}, { like: mul, types: [add.output.type] });
    }
    return null;
  },
});

/** Whether one number of the gate may meet several of the other. */
function isSpread({ shape }: Value, other: Value): boolean {
  const sizes = other.shape!;
  const lead = sizes.length - shape!.length;
  return sizes.some((size, axis) => size !== 1 && (axis < lead || shape![axis - lead] === 1));
}
