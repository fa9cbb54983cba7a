/**
 * How far a student is from its teacher, and the gradient of that. For each float output
 *
 *   loss = mean((s - t)^2) / mean((t - mean t)^2)
 *
 * and the mean over outputs: 0 is the teacher itself, 1 a student that only knows the mean. Behind a Softmax, LogSoftmax
 * or Sigmoid what goes in is compared, since what comes out hardly moves where the model is sure; Softmax does not see
 * a number added to all, so that is taken off first.
 */
import { elementCount, fromFront, type Value } from "../../ir/index.js";
import { makerBehindView } from "../../rewrite/match.js";
import { dimsOf, type Formula } from "./formula.js";

export interface Distance {
  /** A single number. */
  readonly loss: Value;
  /** Gradients of the loss, of values of the student. */
  readonly seeds: ReadonlyMap<Value, Value>;
}

/** @param pairs outputs of student and teacher, float32, of the same static sizes */
export function distance(f: Formula, pairs: readonly (readonly [Value, Value])[]): Distance {
  const seeds = new Map<Value, Value>();
  const losses = pairs.map(([student, teacher]) => {
    const { s, t, source } = compared(f, student, teacher);
    const count = elementCount(dimsOf(source));
    const mean = (value: Value): Value =>
      f.times(f.op("ReduceSum", [value], { keepdims: { type: "int", value: 0n } }), 1 / count);
    const difference = f.sub(s, t);
    const variance = mean(f.square(f.sub(t, mean(t))));
    // An output that never moves has none: any difference counts then, but finitely.
    const scale = f.add(f.add(variance, f.times(mean(f.square(t)), 1e-6)), f.scalar(1e-12));
    const seed = f.div(f.times(difference, 2 / count / pairs.length), scale);
    seeds.set(source, seeds.has(source) ? f.add(seeds.get(source)!, seed) : seed);
    return f.div(mean(f.square(difference)), scale);
  });
  return { loss: f.times(f.op("Sum", losses), 1 / losses.length), seeds };
}

const squashing: ReadonlySet<string> = new Set(["Softmax", "LogSoftmax", "Sigmoid"]);

function compared(f: Formula, student: Value, teacher: Value): { s: Value; t: Value; source: Value } {
  // Axes may have been joined for it.
  const [a, b] = [makerBehindView(student), makerBehindView(teacher)];
  if (!a || !b || a.op !== b.op || a.domain !== "" || b.domain !== "" || !squashing.has(a.op)) {
    return { s: student, t: teacher, source: student };
  }
  const [s, t] = [a.inputs[0]!, b.inputs[0]!];
  if (a.op === "Sigmoid") return { s, t, source: s };
  const dims = dimsOf(s);
  const axis = fromFront(a.int("axis", -1), dims.length);
  const centred = (value: Value): Value => f.sub(value, f.times(f.sum(value, [axis]), 1 / dims[axis]!));
  return { s: centred(s), t: centred(t), source: s };
}
