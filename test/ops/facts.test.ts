import { describe, expect, it } from "vitest";
import { type Node, parseGraph } from "../../src/ir/index.js";
import { isCommutative, isFoldable, isPure, isRemovable } from "../../src/ops/facts.js";

const nodeOf = (line: string): Node => parseGraph(`(x: f32[2], b: bool[]) -> () { y = ${line} }`).firstNode!;

describe("operator facts", () => {
  it("give an unknown operator the cautious answer", () => {
    for (const line of ["com.example::Relu(x)", "NoSuchOperator(x)"]) {
      const node = nodeOf(line);
      expect([isPure(node), isFoldable(node), isRemovable(node), isCommutative(node)]).toEqual(
        new Array(4).fill(false),
      );
    }
  });

  it("allow random nodes to be removed, but neither merged nor folded", () => {
    for (const op of ["RandomNormalLike", "RandomUniformLike", "Bernoulli", "Multinomial"]) {
      const node = nodeOf(`${op}(x)`);
      expect([isPure(node), isFoldable(node), isRemovable(node)]).toEqual([false, false, true]);
    }
  });

  it("call Dropout pure when it does not train", () => {
    expect(isPure(nodeOf("Dropout(x)"))).toBe(true);
    expect(isPure(nodeOf("Dropout(x, $r: f32[] = {0.5}, $t: bool[] = {0})"))).toBe(true);
    expect(isPure(nodeOf("Dropout(x, $r: f32[] = {0.5}, $t: bool[] = {1})"))).toBe(false);
    expect(isPure(nodeOf("Dropout(x, $r: f32[] = {0.5}, b)"))).toBe(false);
  });

  it("call a node with bodies as pure as what is in them", () => {
    const branch = (op: string): Node =>
      nodeOf(`If<then_branch=() -> (t) { t = ${op}(x) }, else_branch=() -> (e) { e = Neg(x) }>(b)`);
    expect(isPure(branch("Exp"))).toBe(true);
    expect(isPure(branch("RandomNormalLike"))).toBe(false);
    expect(isRemovable(branch("com.example::Log"))).toBe(false);
    expect(isFoldable(branch("Exp"))).toBe(false);
  });

  it("let the runtime's own operators go when nobody reads them, and no others of its domain", () => {
    const [fused, random] = [nodeOf("com.microsoft::FusedConv(x)"), nodeOf("com.microsoft::BiasDropout(x)")];
    expect([isRemovable(fused), isPure(fused), isFoldable(fused), isRemovable(random)]).toEqual([
      ...[true, false, false, false],
    ]);
  });

  it("know which operands may be swapped", () => {
    expect(isCommutative(nodeOf("Add(x, x)"))).toBe(true);
    expect(isCommutative(nodeOf("Sub(x, x)"))).toBe(false);
  });
});
