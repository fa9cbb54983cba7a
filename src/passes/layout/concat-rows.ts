/**
 * Reshape(Concat<axis=1>(Reshape(x, [N,-1]), Reshape(z, [N,-1])), [N,-1,4])
 *   =>  Concat<axis=1>(Reshape(x, [N,-1,4]), Reshape(z, [N,-1,4]))
 *
 * where each tensor makes whole rows, which shows in its last axis or in its size.
 */
import { attr, type Node, Tensor, type TensorType } from "../../ir/index.js";
import { defineRewrite, type RewriteContext } from "../../rewrite/index.js";
import { soleProducer } from "../../rewrite/match.js";
import { areSame } from "../fold/size.js";
import { sizeFacts } from "../fold/size-facts.js";
import type { SizeFacts } from "../fold/size-rules.js";

export const fuseConcatRows = defineRewrite({
  name: "fuse-concat-rows",
  summary: "Put tensors into rows before they are joined, by the Reshapes that are there",
  numerics: "exact",
  roots: ["Reshape"],
  minOpset: 5,
  rewrite(root, context) {
    const concat = soleProducer(root.inputs[0], "Concat");
    const facts = context.shared(sizeFacts);
    const to = facts.shapeOf(root.output);
    const columns = to?.[2];
    if (!concat || !root.inputs[1]?.constant || to?.length !== 3 || typeof columns !== "number" || columns < 1)
      return null;
    if (facts.shapeOf(concat.output)?.length !== 2 || (concat.int("axis", 1) + 2) % 2 !== 1) return null;
    const parts = concat.inputs.map((input) => {
      const flat = soleProducer(input, "Reshape") ?? soleProducer(input, "Flatten");
      return flat && areSame(facts.shapeOf(flat.inputs[0])?.[0], to[0]) ? partOf(flat, columns, facts) : null;
    });
    if (!parts.every((part) => part !== null)) return null;
    const rows = parts.map((part) => rowsOf(part, columns, root, context));
    return context.create(
      "Concat",
      rows.map((each) => each.output),
      { axis: attr.int(1) },
      { like: concat, types: [root.output.type] },
    );
  },
});

interface Part {
  readonly flat: Node;
  /** How many rows it makes; -1 where Reshape has to find out. */
  readonly rows: number;
}

/** A tensor of images made flat per image, in whole rows; null when it may be anything else. */
function partOf(flat: Node, columns: number, { shapeOf }: SizeFacts): Part | null {
  const [from, to] = [shapeOf(flat.inputs[0]), shapeOf(flat.output)];
  if (!from || from.length < 2 || to?.length !== 2 || !areSame(from[0], to[0])) return null;
  const size = to[1];
  if (typeof size === "number") return size > 0 && size % columns === 0 ? { flat, rows: size / columns } : null;
  const last = from.at(-1);
  return typeof last === "number" && last > 0 && last % columns === 0 ? { flat, rows: -1 } : null;
}

function rowsOf({ flat, rows }: Part, columns: number, root: Node, { create, constant }: RewriteContext): Node {
  const type: TensorType = {
    dtype: root.output.dtype,
    shape: [flat.inputs[0]!.shape?.[0] ?? null, rows < 0 ? null : rows, columns],
  };
  const target = constant("rows", Tensor.i64([3], [0, rows, columns]));
  return create("Reshape", [flat.inputs[0]!, target], {}, { like: flat, types: [type] });
}
