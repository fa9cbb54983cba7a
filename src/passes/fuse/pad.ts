/**
 * Conv(Pad(x, zeros around), W)  =>  Conv<larger pads>(x, W)
 *
 * Also into AveragePool when it counts padding (count_include_pad) or has none of its own, and into MaxPool, whose
 * padding never wins: where the values padded are -infinity, or zero beside values that are
 * never negative. Only on spatial axes: batch and channel axes cannot be padded by a Conv.
 */
import { attr, type Node, type Value } from "../../ir/index.js";
import { type Answer, defineRewrite, type RewriteContext } from "../../rewrite/index.js";
import { constantIntegers, constantScalar, normalizeAxes, readsOnlyFirst, soleProducer } from "../../rewrite/match.js";

export const fusePad = defineRewrite({
  name: "fuse-pad",
  summary: "Move padding into the Conv, AveragePool or MaxPool that reads it",
  numerics: "exact",
  roots: ["Conv", "AveragePool", "MaxPool"],
  rewrite(root, context) {
    const pad = soleProducer(root.inputs[0], "Pad");
    return pad ? rewrite(root, pad, context) : null;
  },
});

function rewrite(root: Node, pad: Node, { create, skip, opset }: RewriteContext): Answer {
  const source = pad.inputs[0];
  if (!source) return null;
  if (pad.string("mode", "constant") !== "constant") return skip("only padding by a constant can move");
  const fill = pad.inputs[2] ? constantScalar(pad.inputs[2]) : pad.float("value", 0);
  if (root.op === "MaxPool") {
    if (fill !== Number.NEGATIVE_INFINITY && !(fill === 0 && isNeverNegative(source))) {
      return skip("the padding may be the largest of a window");
    }
  } else if (fill !== 0) return skip("the padding is not zero");
  const rank = root.op === "Conv" ? root.inputs[1]?.shape?.length : (root.ints("kernel_shape")?.length ?? 0) + 2;
  if (!rank) return skip("the rank is unknown");
  const amounts = padsOf(pad, rank);
  if (!amounts) return skip("the padding is computed at run time");
  const { begin, end } = amounts;
  if ([...begin, ...end].some((amount) => amount < 0)) return skip("the padding crops");
  if (begin[0] || begin[1] || end[0] || end[1]) return skip("the batch or channel axis is padded");
  const autoPad = root.string("auto_pad", "NOTSET");
  if (autoPad !== "NOTSET" && autoPad !== "VALID") return skip(`auto_pad is ${autoPad}`);

  const spatial = rank - 2;
  const own = (autoPad === "NOTSET" && root.ints("pads")) || new Array<number>(2 * spatial).fill(0);
  const added = [...begin.slice(2), ...end.slice(2)];
  const pads = own.map((amount, i) => amount + added[i]!);
  const attributes = new Map(root.attributes);
  if (root.op !== "Conv") {
    const kernel = root.ints("kernel_shape")!;
    const isAverage = root.op === "AveragePool";
    // What pads nothing itself may as well count it.
    if (isAverage && root.int("count_include_pad", 0) !== 1 && (own.some((amount) => amount !== 0) || opset < 7)) {
      return skip("AveragePool does not count padding");
    }
    if (isAverage) attributes.set("count_include_pad", attr.int(1));
    if (root.int("ceil_mode", 0) !== 0) return skip("windows may reach beyond the padding");
    if (!readsOnlyFirst(root)) return skip("the places of the largest are read");
    if (pads.some((amount, i) => amount >= kernel[i % spatial]!)) return skip(`${root.op} pads less than its kernel`);
  }
  attributes.delete("auto_pad");
  attributes.set("pads", attr.ints(pads));
  return create(root.op, [source, ...root.inputs.slice(1)], attributes, { like: root });
}

const neverNegative = ["Abs", "Exp", "HardSigmoid", "Relu", "Sigmoid", "Softmax", "Softplus"];

/** Whether no element is below zero; one that is not a number stays one in either place. */
function isNeverNegative(value: Value): boolean {
  const node = value.producer;
  if (node?.domain !== "") return false;
  if (node.op === "Clip") return (constantScalar(node.inputs[1]) ?? Number.NEGATIVE_INFINITY) >= 0;
  return neverNegative.includes(node.op);
}

/** Amounts before and after each axis; null when they are not constant. */
function padsOf(pad: Node, rank: number): { begin: number[]; end: number[] } | null {
  const pads = pad.inputs[1] ? constantIntegers(pad.inputs[1]) : (pad.ints("pads") ?? pad.ints("paddings"));
  const given = pad.inputs[3] ? constantIntegers(pad.inputs[3]) : Array.from({ length: rank }, (_, i) => i);
  const axes = given && normalizeAxes(given, rank);
  if (!pads || !axes || pads.length !== 2 * axes.length) return null;
  const begin = new Array<number>(rank).fill(0);
  const end = new Array<number>(rank).fill(0);
  axes.forEach((axis, i) => {
    begin[axis] = pads[i]!;
    end[axis] = pads[axes.length + i]!;
  });
  return { begin, end };
}
