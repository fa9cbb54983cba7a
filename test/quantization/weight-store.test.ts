import { describe, expect, it } from "vitest";
import { parseModel, Tensor } from "../../src/ir/index.js";
import { WeightStore } from "../../src/quantization/weight-store.js";

const i8 = (...values: number[]) => Tensor.ofArray("i8", [values.length], Int8Array.from(values));

describe("WeightStore", () => {
  const scene = () => {
    const { graph } = parseModel("(x: f32[1,2]) -> (y) { y = MatMul(x, $w: f32[2,2]) }");
    const weight = graph.constants.find(({ label }) => label === "w")!;
    return { graph, weight, store: new WeightStore() };
  };

  it("makes a form once, however often it is asked for", () => {
    const { weight, store } = scene();
    const make = () => ({ integers: i8(1, 2), scales: Tensor.f32([1], [1]) });
    const first = store.of(weight, "one", make);
    const never = (): never => {
      throw new Error("made again");
    };
    expect(store.of(weight, "one", never)).toBe(first);
  });

  it("stores integers and scales once that are the same in another form, and others by themselves", () => {
    const { graph, weight, store } = scene();
    const of = (form: string, integers: Tensor, scales: Tensor) => store.of(weight, form, () => ({ integers, scales }));
    const before = graph.constants.length;
    const one = of("one", i8(1, 2), Tensor.f32([2], [1, 2]));
    const turned = of("scales in a row", i8(1, 2), Tensor.f32([1, 2], [1, 2]));
    expect(turned.integers).toBe(one.integers);
    expect(turned.scale).not.toBe(one.scale);
    const rounded = of("rounded otherwise", i8(1, 3), Tensor.f32([2], [1, 2]));
    expect(rounded.integers).not.toBe(one.integers);
    expect(rounded.scale).toBe(one.scale);
    expect(graph.constants.length).toBe(before + 4);
  });
});
