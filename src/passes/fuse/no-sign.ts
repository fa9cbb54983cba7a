/** What can have no sign: no element is below 0, or -0. NaN may be among them. */
import type { Node, Value } from "../../ir/index.js";
import { constantScalar } from "../../rewrite/match.js";

const MOST_STEPS = 12;

/** Whatever they are given. */
const never = new Set("Abs Exp ReduceL1 ReduceL2 ReduceSumSquare Sigmoid Softmax".split(" "));
/** Where the first input has none; the others say where elements come from. A largest one of nothing would be -infinity. */
const ofFirst = new Set(
  (
    "AveragePool Flatten GlobalAveragePool Identity Pad Reciprocal ReduceMean ReduceMin ReduceSum Reshape Slice Split Sqrt " +
    "Squeeze Transpose Unsqueeze"
  ).split(" "),
);
const ofAll = new Set("Add Concat Div Max Mean Min Mul Sum".split(" "));

export function hasNoSign(value: Value, steps = MOST_STEPS): boolean {
  const { constant, producer } = value;
  if (constant) return constant.toF32()?.every((each) => each > 0 || Object.is(each, 0)) ?? false;
  if (steps === 0 || !producer || producer.domain !== "") return false;
  if (never.has(producer.op)) return true;
  if (isSquare(producer)) return true;
  if (producer.op === "Pad" && !padsWithNone(producer)) return false;
  if (producer.op === "Clip") return isClippedAbove(producer);
  const inputs = ofAll.has(producer.op) ? producer.inputs : ofFirst.has(producer.op) ? producer.inputs.slice(0, 1) : [];
  return inputs.length > 0 && inputs.every((input) => input && hasNoSign(input, steps - 1));
}

/** A largest number below the least one would win. */
function isClippedAbove(clip: Node): boolean {
  const bound = (input: number, attribute: string, absent: number): number | null =>
    clip.inputs[input] ? constantScalar(clip.inputs[input]) : clip.float(attribute, absent);
  const [low, high] = [bound(1, "min", 0), bound(2, "max", Number.POSITIVE_INFINITY)];
  return low !== null && high !== null && low > 0 && high > 0;
}

function isSquare(node: Node): boolean {
  if (node.op === "Mul") return node.inputs[0] === node.inputs[1];
  return node.op === "Pow" && [2, 4].includes(constantScalar(node.inputs[1]) ?? 0);
}

function padsWithNone(pad: Node): boolean {
  if (pad.string("mode", "constant") !== "constant") return true;
  const fill = pad.inputs[2] ? (constantScalar(pad.inputs[2]) ?? -1) : pad.float("value", 0);
  return fill > 0 || Object.is(fill, 0);
}
