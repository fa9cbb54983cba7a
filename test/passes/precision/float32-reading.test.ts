import { describe, expect, it } from "vitest";
import { check, type Model, parseModel, Tensor } from "../../../src/ir/index.js";
import { readAsFloat32 } from "../../../src/passes/precision/float32-reading.js";
import { type Feeds, largestDifference, runModel } from "../../support/run-model.js";

const halves = (dims: readonly number[], bits: readonly number[]): Tensor =>
  Tensor.ofArray("f16", dims, Uint16Array.from(bits));
/** 1, -2, 0.5, 3 */
const x = halves([4], [0x3c00, 0xc000, 0x3800, 0x4200]);

async function readAs(text: string, feeds: Feeds, isNoisy = false): Promise<{ model: Model; difference: number }> {
  const expected = await runModel(parseModel(text), feeds);
  const model = parseModel(text);
  readAsFloat32(model, { isNoisy });
  check(model.graph);
  const got = await runModel(model, feeds);
  for (const [name, tensor] of Object.entries(expected)) expect(got[name]!.dtype).toBe(tensor.dtype);
  return { model, difference: largestDifference(expected, got) };
}

describe("readAsFloat32", () => {
  it("computes in float32 behind inputs and weights, and gives what the model gives", async () => {
    const text = "(x: f16[4]) -> (y, z) { y = Mul(x, $w: f16[4]) z = Cast<to=1>(y) }";
    const { model, difference } = await readAs(text, { x });
    expect(difference).toBeLessThan(2e-3);
    expect(model.graph.inputs[0]!.dtype).toBe("f16");
    expect(model.graph.outputs.map(({ name }) => name)).toEqual(["y", "z"]);
    expect([...model.graph.nodes()].map(({ op }) => op)).toEqual(["Cast", "Cast", "Mul", "Cast", "Cast"]);
  });

  it("takes Casts to half precision, fills and what an attribute gives a type for", async () => {
    const text = `(x: f16[4], s: i64[1]) -> (y) {
      a = Cast<to=1>(x)
      b = Cast<to=10>(a)
      c = ConstantOfShape<value=f16[1] = {0.5}>(s)
      y = Add(b, c)
    }`;
    expect((await readAs(text, { x, s: Tensor.i64([1], [4]) })).difference).toBe(0);
  });

  it("goes into bodies, whose inputs change their types", async () => {
    const text = `(x: f16[4]) -> (y) {
      v = Mul(x, $w: f16[4])
      y = Loop<body=(i: i64[], k: bool[], s: f16[4]) -> (j, t) {
        j = Identity(k)
        m = Mul(s, $h: f16[4] = {0.5})
        t = Add(m, v)
      }>($n: i64[] = {3}, $c: bool[] = {1}, x)
    }`;
    const { model, difference } = await readAs(text, { x });
    expect(difference).toBeLessThan(5e-3);
    const body = [...model.graph.nodes()].find(({ op }) => op === "Loop")!.bodies[0]!;
    expect(body.inputs[2]!.dtype).toBe("f32");
  });

  it("gives an input, or a weight, that is a result as it is", async () => {
    expect((await readAs("(x: f16[4]) -> (x, w = $w: f16[4]) { }", { x })).difference).toBe(0);
  });

  it("moves weights by about half a last place where noise is wanted, single numbers not", async () => {
    const { difference } = await readAs(
      "(x: f32[4]) -> (y) { v = Cast<to=1>($w: f16[4]) y = Add(x, v) }",
      { x: Tensor.f32([4], [0, 0, 0, 0]) },
      true,
    );
    expect(difference).toBeGreaterThan(1e-6);
    expect(difference).toBeLessThan(2e-3);
    const text = "(x: f32[4]) -> (y) { v = Cast<to=1>($w: f16[1] = {3.5}) y = Add(x, v) }";
    expect((await readAs(text, { x: Tensor.f32([4], [0, 0, 0, 0]) }, true)).difference).toBe(0);
  });

  it("keeps infinite weights", async () => {
    const text = "(x: f32[2]) -> (y) { v = Cast<to=1>($w: f16[2] = {-inf, 1}) y = Min(x, v) }";
    const { model } = await readAs(text, { x: Tensor.f32([2], [0, 0]) }, true);
    const { y } = await runModel(model, { x: Tensor.f32([2], [0, 0]) });
    expect([...y!.f32()]).toEqual([Number.NEGATIVE_INFINITY, 0]);
  });

  it("has weights in float32 in their places where somebody keeps them, but for those that are results", async () => {
    const given = (): Model => {
      const model = parseModel("(x: f16[4]) -> (y) { a = Mul(x, $w: f16[4]) y = Add(a, $v: f16[4]) }");
      model.graph.addOutput("v", [...model.graph.constants].find(({ label }) => label === "v")!);
      return model;
    };
    const model = given();
    const kept: Tensor[] = [];
    readAsFloat32(model, {
      store: (tensor) => {
        kept.push(tensor);
        return tensor;
      },
    });
    check(model.graph);
    expect([...model.graph.nodes()].map(({ op }) => op)).toEqual(["Cast", "Mul", "Add", "Cast"]);
    expect(kept.map(({ dtype, dims }) => [dtype, dims])).toEqual(Array(2).fill(["f32", [4]]));
    expect([...model.graph.constants].map(({ label, dtype }) => `${label} ${dtype}`).sort()).toEqual([
      "v f16",
      "v f32",
      "w f32",
    ]);
    expect(largestDifference(await runModel(given(), { x }), await runModel(model, { x }))).toBeLessThan(2e-3);
  });
});
