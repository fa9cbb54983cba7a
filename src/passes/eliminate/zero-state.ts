import type { Node, Value } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { equalsElementwise } from "../../rewrite/match.js";

/** LSTM(x, w, r, b, _, zeros, zeros)  =>  LSTM(x, w, r, b): recurrent networks start from zero by themselves; parts of zeros are zeros. */
export const eliminateZeroState = defineRewrite({
  name: "eliminate-zero-state",
  summary: "Let recurrent networks start from zero by themselves",
  numerics: "exact",
  roots: ["LSTM", "GRU", "RNN"],
  rewrite(root, { create }) {
    const inputs = root.inputs.map((value, i) => (i >= 5 && i <= 6 && isZeroState(value) ? null : value));
    if (inputs.every((value, i) => value === root.inputs[i])) return null;
    while (inputs.at(-1) === null) inputs.pop();
    const labels = root.outputs.map((output) => output?.label ?? null);
    const types = root.outputs.map((output) => output?.type ?? null);
    return create(root.op, inputs, root.attributes, { labels, types });
  },
});

/** Whether it is surely nothing but zeros. */
export function isZeroState(value: Value | null): boolean {
  if (!value) return false;
  if (value.constant) return value.constant.elementCount <= 65_536 && equalsElementwise(value, 0);
  const node = value.producer;
  if (node?.domain !== "") return false;
  if (node.op === "ConstantOfShape") return fillsWithZero(node);
  return rearranging.has(node.op) && isZeroState(node.inputs[0] ?? null);
}

/** What they give is nothing but elements of their first input. */
const rearranging: ReadonlySet<string> = new Set(
  "Expand Flatten Gather Identity Reshape Slice Split Squeeze Tile Transpose Unsqueeze".split(" "),
);

/** Without a value it is 0.0. */
function fillsWithZero(node: Node): boolean {
  const attribute = node.attributes.get("value");
  if (!attribute) return true;
  const tensor = attribute.type === "tensor" ? attribute.value : null;
  return tensor?.toF32()?.every((element) => Object.is(element, 0)) ?? false;
}
