import { describe, expect, it } from "vitest";
import { check, type Model, parseModel, Tensor } from "../../../src/ir/index.js";
import { halfWeightsOf, storeAsHalf, weightsToStore } from "../../../src/passes/precision/store-half.js";
import { runModel, seededFeeds } from "../../support/run-model.js";

/** A model that came in half precision, as it is in float32. */
function stored(text: string, came = "(x: f16[4]) -> (y) { y = Mul(x, $half: f16[4]) }"): Model {
  const model = parseModel(text);
  const half = halfWeightsOf(parseModel(came))!;
  storeAsHalf(weightsToStore(model, half), half);
  check(model.graph);
  return model;
}

const dtypes = ({ graph }: Model): Record<string, string> =>
  Object.fromEntries([...graph.constants].map(({ label, dtype }) => [label, dtype!]));
const product = (values = ""): string => `(x: f32[3,32]) -> (y) { y = MatMul(x, $w: f32[32,32]${values}) }`;
const filled = (value: (i: number) => number): string =>
  product(` = {${Array.from({ length: 1024 }, (_, i) => value(i)).join(",")}}`);

describe("storeAsHalf", () => {
  it("stores weights in half precision, and computes what half precision gives", async () => {
    const model = stored(product());
    expect(dtypes(model)).toEqual({ w: "f16" });
    const feeds = seededFeeds(parseModel(product()));
    const [before, after] = [await runModel(parseModel(product()), feeds), await runModel(model, feeds)];
    const errors = before["y"]!.f32().map((value, i) => Math.abs(value - after["y"]!.f32()[i]!));
    expect(Math.max(...errors)).toBeGreaterThan(0);
    expect(Math.max(...errors)).toBeLessThan(5e-3);
  });

  it("has one copy for all readers, those in bodies too", () => {
    const model = stored(`(x: f32[3,32], go: bool) -> (y, z) {
      y = MatMul(x, $w: f32[32,32])
      z = If<then_branch = () -> (t) { t = MatMul(x, $w) }, else_branch = () -> (e) { e = Neg(x) }>(go)
    }`);
    expect([...model.graph.nodes()].filter(({ op }) => op === "Cast")).toHaveLength(1);
    expect(dtypes(model)).toEqual({ w: "f16" });
  });

  it.each([
    [
      "what was in float32 where it came from",
      product(),
      "(x: f32[32]) -> (y, z) { y = Mul(x, $w: f32[32]) a = Cast<to=10>(x) z = Mul(a, $v: f16[32]) }",
    ],
    ["few elements", "(x: f32[3,32]) -> (y) { y = MatMul(x, $w: f32[32,31]) }", undefined],
    ["what is beyond its range", filled((i) => (i === 700 ? 70000 : 1)), undefined],
    ["what it has no digits for", filled((i) => (i % 2 ? 3e-5 + i * 1e-10 : 3e-5)), undefined],
    [
      "what is no weight of a product, and not exact",
      "(x: f32[32,32]) -> (y) { y = Mul(x, $w: f32[32,32]) }",
      undefined,
    ],
    [
      "what other nodes read, too",
      "(x: f32[32,32]) -> (y, z) { y = MatMul(x, $w: f32[32,32]) z = Add(x, $w) }",
      undefined,
    ],
    ["what is a product's first factor", "(x: f32[32,3]) -> (y) { y = MatMul($w: f32[32,32], x) }", undefined],
    [
      "what operators of other domains read",
      `(x: f32[3,32]) -> (y) { y = com.microsoft::FusedMatMul(x, $w: f32[32,32] = {${"0.5,".repeat(1023)}0.5}) }`,
      undefined,
    ],
    ["scales of pairs", "(x: i8[1024]) -> (y) { y = DequantizeLinear<axis=0>(x, $w: f32[1024]) }", undefined],
  ])("leaves %s", (_, text, came) => {
    expect(dtypes(stored(text, came))["w"]).toBe("f32");
  });

  it("takes what is nothing beside the rest, infinities, and what is exact", () => {
    for (const value of [
      (i: number) => (i % 2 ? 1 : 1e-9),
      (i: number) => (i % 2 ? Number.NEGATIVE_INFINITY : 0),
      (i: number) => (i + 1) * 2 ** -24,
    ]) {
      const model = parseModel(product());
      const [weight] = [...model.graph.constants];
      model.graph.replaceUses(
        weight!,
        model.graph.addConstant(
          "v",
          Tensor.f32(
            [32, 32],
            Float32Array.from({ length: 1024 }, (_, i) => value(i)),
          ),
        ),
      );
      const half = halfWeightsOf(parseModel("(x: f16[1]) -> (y) { y = Mul(x, $h: f16[1]) }"))!;
      storeAsHalf(weightsToStore(model, half), half);
      expect(dtypes(model)["v"]).toBe("f16");
    }
  });

  it("stores what is exact, whoever reads it, and where a body gives it", () => {
    const exact = ` = {${Array.from({ length: 1024 }, (_, i) => i / 8).join(",")}}`;
    expect(dtypes(stored(`(x: f32[32,32]) -> (y) { y = Mul(x, $w: f32[32,32]${exact}) }`))["w"]).toBe("f16");
    const model = stored(`(x: f32[32,32], go: bool) -> (y) {
      y = If<then_branch = () -> (t = $w: f32[32,32]${exact}) { }, else_branch = () -> (e) { e = Neg(x) }>(go)
    }`);
    const [body] = [...model.graph.nodes()][0]!.bodies;
    expect([...body!.constants].map(({ dtype }) => dtype)).toEqual(["f16"]);
  });

  it("goes by what most numbers are in", () => {
    const came = "(x: bf16[4], z: f16[8]) -> (y, v) { y = Mul(x, $one: bf16[4]) v = Mul(z, $other: f16[8]) }";
    expect(dtypes(stored(product(), came))).toEqual({ w: "f16" });
  });

  it("keeps to bfloat16 where weights came in that", () => {
    const came = "(x: bf16[4]) -> (y) { y = Mul(x, $half: bf16[4]) }";
    expect(dtypes(stored(product(), came))).toEqual({ w: "bf16" });
  });

  it("has nothing to say of a model in float32", () => {
    expect(halfWeightsOf(parseModel(product()))).toBeNull();
  });
});
