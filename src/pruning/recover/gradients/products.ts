/** MatMul and Gemm. */
import type { Value } from "../../../ir/index.js";
import { dimsOf, type Formula, NoGradient } from "../formula.js";
import { type GradientRule, summedTo } from "../gradient-rule.js";

/** The last two axes exchanged. */
function turned(f: Formula, value: Value, rank: number): Value {
  const perm = Array.from({ length: rank }, (_, i) => i);
  return f.transpose(value, [...perm.slice(0, -2), rank - 1, rank - 2]);
}

/** Y = A B: dA = dY B', dB = A' dY, summed over the axes on which one was repeated. */
const matMul: GradientRule = (site) => {
  const { f, dy } = site;
  const [a, b] = [site.dims(0), site.dims(1)];
  if (a.length < 2 || b.length < 2) throw new NoGradient("one of its factors is a vector");
  const batch = dimsOf(site.y).slice(0, -2);
  return [
    site.ifWanted(0, () => {
      const product = f.op("MatMul", [dy, turned(f, site.input(1), b.length)]);
      return summedTo(f, product, [...batch, ...a.slice(-2)], a);
    }),
    site.ifWanted(1, () => {
      if (b.length > 2) {
        const product = f.op("MatMul", [turned(f, site.input(0), a.length), dy]);
        return summedTo(f, product, [...batch, ...b.slice(-2)], b);
      }
      // Every row of the batch met the same matrix: one product over all rows.
      const rows = f.reshape(site.input(0), [-1, a.at(-1)!]);
      return f.op("MatMul", [turned(f, rows, 2), f.reshape(dy, [-1, b[1]!])]);
    }),
  ];
};

/** Y = alpha A B + beta C, where A and B may be transposed. */
const gemm: GradientRule = (site) => {
  const { f, dy, node } = site;
  const [isTurnedA, isTurnedB] = [node.int("transA", 0) !== 0, node.int("transB", 0) !== 0];
  const alpha = node.float("alpha", 1);
  const [a, b] = [site.input(0), site.input(1)];
  const product = (left: Value, right: Value, turnLeft: boolean, turnRight: boolean): Value =>
    f.times(f.op("MatMul", [turnLeft ? turned(f, left, 2) : left, turnRight ? turned(f, right, 2) : right]), alpha);
  return [
    site.ifWanted(0, () => (isTurnedA ? product(b, dy, isTurnedB, true) : product(dy, b, false, !isTurnedB))),
    site.ifWanted(1, () => (isTurnedB ? product(dy, a, true, isTurnedA) : product(a, dy, !isTurnedA, false))),
    site.optional(2) ? site.ifWanted(2, () => site.unbroadcast(f.times(dy, node.float("beta", 1)), 2)) : null,
  ];
};

export const products: Readonly<Record<string, GradientRule>> = { MatMul: matMul, Gemm: gemm };
