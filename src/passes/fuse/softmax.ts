/**
 *   e / sum(e),  e = Exp(x - max(x)) or Exp(x)        =>  Softmax(x)
 *   Exp(LogSoftmax(x))                                =>  Softmax(x)
 *   z - Log(sum(Exp(z))),  z = x - max(x) or x        =>  LogSoftmax(x)
 *   x - ReduceLogSumExp(x)                            =>  LogSoftmax(x)
 *   Log(Softmax(x))                                   =>  LogSoftmax(x)
 *
 * Sums over the last axis only: over another one, ONNX Runtime transposes there and back on the CPU,
 * which takes several times as long as the operators written out.
 */
import { attr, type Node, type Value } from "../../ir/index.js";
import { type Answer, defineRewrite, type RewriteContext } from "../../rewrite/index.js";
import { producerOf, soleProducer } from "../../rewrite/match.js";
import { reducedAxes } from "./reduced-axes.js";
import { inverted } from "./scalar-algebra.js";

export const fuseSoftmax = defineRewrite({
  name: "fuse-softmax",
  summary: "Turn a softmax written out into Softmax",
  numerics: "rounding",
  roots: ["Div", "Mul", "Exp"],
  minOpset: 13,
  rewrite(root, context) {
    const [a, b] = root.inputs;
    if (root.op === "Exp") {
      const log = soleProducer(a, "LogSoftmax");
      return log && context.create("Softmax", [log.inputs[0]!], log.attributes);
    }
    if (!a || !b) return null;
    if (root.op === "Div") return fromShare(root, a, b, context);
    return fromShare(root, a, inverted(b), context) ?? fromShare(root, b, inverted(a), context);
  },
});

export const fuseLogSoftmax = defineRewrite({
  name: "fuse-log-softmax",
  summary: "Turn the logarithm of a softmax, however it is written, into LogSoftmax",
  numerics: "rounding",
  roots: ["Log", "Sub"],
  minOpset: 13,
  rewrite(root, context) {
    const [z, second] = root.inputs;
    if (root.op === "Log") {
      const softmax = soleProducer(z, "Softmax");
      return softmax && context.create("LogSoftmax", [softmax.inputs[0]!], softmax.attributes);
    }
    const whole = soleProducer(second, "ReduceLogSumExp");
    if (z && whole?.inputs[0] === z) return overLast(whole, "LogSoftmax", z, context);
    const log = soleProducer(second, "Log");
    const sum = log && soleProducer(log.inputs[0], "ReduceSum");
    const powers = sum && soleProducer(sum.inputs[0], "Exp");
    if (!z || !powers || powers.inputs[0] !== z) return null;
    return overLast(sum, "LogSoftmax", withoutMaximum(z, sum, [root, powers]), context);
  },
});

/** Exp(z) / ReduceSum(Exp(z)) */
function fromShare(root: Node, share: Value, total: Value | null | undefined, context: RewriteContext): Answer {
  const sum = soleProducer(total, "ReduceSum");
  const powers = producerOf(share, "Exp", root.graph);
  const z = powers?.inputs[0];
  if (!sum || !powers || !z || sum.inputs[0] !== share) return null;
  if (!share.uses.every((use) => use.kind === "input" && (use.node === root || use.node === sum))) return null;
  return overLast(sum, "Softmax", withoutMaximum(z, sum, [powers]), context);
}

function overLast(sum: Node, op: string, x: Value, { create, skip }: RewriteContext): Answer {
  const axes = reducedAxes(sum);
  if (axes?.length !== 1 || sum.int("keepdims", 1) !== 1) return null;
  if (axes[0] !== -1) return skip("over an axis before the last one, the operators written out are faster");
  if (x.dtype !== "f32" && x.dtype !== "f16") return skip("only f32 and f16");
  return create(op, [x], { axis: attr.int(-1) });
}

/** x of z = x - max(x) over the axes of `sum`, when nobody but `readers` reads z; z itself otherwise. */
function withoutMaximum(z: Value, sum: Node, readers: readonly Node[]): Value {
  const difference = producerOf(z, "Sub", z.graph);
  const [x, largest] = difference?.inputs ?? [];
  const maximum = producerOf(largest, "ReduceMax", z.graph);
  if (!x || maximum?.inputs[0] !== x || maximum.int("keepdims", 1) !== 1) return z;
  const isOurs = z.uses.every((use) => use.kind === "input" && readers.includes(use.node));
  return isOurs && String(reducedAxes(maximum)) === String(reducedAxes(sum)) ? x : z;
}
