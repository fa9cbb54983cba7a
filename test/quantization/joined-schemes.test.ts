import { expect, it } from "vitest";
import { parseModel } from "../../src/ir/index.js";
import { withJoinedParts } from "../../src/quantization/joined-schemes.js";
import { planStatic } from "../../src/quantization/plan-static.js";
import type { ActivationScheme } from "../../src/quantization/scheme.js";
import { safeTarget } from "../support/quantize-text.js";

const own: Readonly<Record<string, ActivationScheme>> = {
  a: { scale: 0.01, zeroPoint: 100 },
  b: { scale: 0.02, zeroPoint: 110 },
  r: { scale: 0.03, zeroPoint: 0 },
  c: { scale: 0.04, zeroPoint: 120 },
  d: { scale: 0.05, zeroPoint: 130 },
  x: { scale: 0.06, zeroPoint: 0 },
};

function schemesIn(body: string): (label: string) => ActivationScheme | undefined {
  const model = parseModel(`(x: f32[1,4,4,4]) -> (y) {
    ${body}
  }`);
  const plan = planStatic(model, safeTarget, { neighbours: true, depthwise: true });
  const joined = withJoinedParts(model, plan, new Map(Object.entries(own)));
  return (label) => joined.get(label);
}

const A = "a = Conv(x, $u: f32[4,4,1,1])";
const B = "b = Conv(x, $v: f32[4,4,1,1])";
const END = "y = Conv(c, $w: f32[4,8,1,1])";

it("gives the parts of a Concat its scheme where nobody else reads them", () => {
  const of = schemesIn(`${A}\n${B}\nc = Concat<axis=1>(a, b)\n${END}`);
  expect([of("a"), of("b"), of("c"), of("x")]).toEqual([own["c"], own["c"], own["c"], own["x"]]);
});

it("leaves a part that something else reads, one that is moved, and inputs", () => {
  const of = schemesIn(
    `${A}\n${B}\nm = MaxPool<kernel_shape=[1,1]>(b)\nc = Concat<axis=1>(a, m)\ng = Conv(a, $f: f32[4,4,1,1])\nd = Concat<axis=1>(c, g, x)\ny = Conv(d, $w: f32[4,16,1,1])`,
  );
  expect([of("a"), of("b"), of("x")]).toEqual([own["a"], own["b"], own["x"]]);
});

it("takes the scheme of the last of several in a row", () => {
  const of = schemesIn(
    `${A}\n${B}\nc = Concat<axis=1>(a, b)\nd = Concat<axis=1>(c, x)\ny = Conv(d, $w: f32[4,12,1,1])`,
  );
  expect([of("a"), of("b"), of("c")]).toEqual([own["d"], own["d"], own["d"]]);
});

it("leaves what a Relu cuts off at 0 with 0 as its least integer", () => {
  const of = schemesIn(`${A}\nr = Relu(a)\n${B}\nc = Concat<axis=1>(r, b)\n${END}`);
  expect([of("r"), of("b")]).toEqual([own["r"], own["c"]]);
});
