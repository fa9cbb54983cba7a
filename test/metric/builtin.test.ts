import { describe, expect, it } from "vitest";
import { builtinMetric } from "../../src/metric/builtin.js";
import { type BuiltinMetric, energyOf, type NamedTensors } from "../../src/metric/index.js";

const floats = (dims: number[], values: number[], type = "float32") => ({
  type,
  dims,
  data: Float32Array.from(values),
});
const integers = (values: number[]) => ({
  type: "int64",
  dims: [values.length],
  data: BigInt64Array.from(values, BigInt),
});

const score = (name: BuiltinMetric, outputs: NamedTensors, labels: unknown, reference: NamedTensors = outputs) =>
  builtinMetric(name).score(outputs, labels, { id: "eval.npz[3]", inputs: {} }, reference);

const logits = { logits: floats([1, 4], [0.1, 0.7, 0.2, 0.7]) };

describe("top1 and top5", () => {
  it("compare the label with the best class, the first of equals", async () => {
    expect(await score("top1", logits, 1)).toBe(1);
    expect(await score("top1", logits, 3)).toBe(0);
    expect(await score("top1", logits, 0)).toBe(0);
  });

  it("take labels as tensor, number or nested arrays", async () => {
    for (const labels of [integers([1]), { type: "float32", dims: [], data: Float32Array.of(1) }, 1, [[1]]]) {
      expect(await score("top1", logits, labels)).toBe(1);
    }
  });

  it("take a label for each of very many positions", async () => {
    const count = 300_000;
    const pixels = { y: { type: "float32", dims: [1, count, 2], data: new Float32Array(2 * count).fill(1) } };
    const labels = { type: "int64", dims: [count], data: new BigInt64Array(count) };
    expect(await score("top1", pixels, labels)).toBe(1);
  });

  it("top5 forgives four better classes and no more", async () => {
    const seven = { y: floats([1, 7], [7, 6, 5, 4, 3, 2, 1]) };
    expect(await score("top5", seven, 4)).toBe(1);
    expect(await score("top5", seven, 5)).toBe(0);
  });

  it("see the classes of a map of one pixel", async () => {
    expect(await score("top1", { y: floats([1, 3, 1, 1], [0, 0, 9]) }, 2)).toBe(1);
  });

  it("average over positions", async () => {
    const tokens = { y: floats([1, 2, 3], [9, 0, 0, 0, 9, 0]) };
    expect(await score("top1", tokens, [0, 2])).toBe(0.5);
  });

  it("skip outputs without classes", async () => {
    const outputs = { length: integers([7]), confidence: floats([1, 1], [0.5]), y: floats([1, 2], [0, 1]) };
    expect(await score("top1", outputs, 1)).toBe(1);
  });

  it("count a NaN score as a miss", async () => {
    expect(await score("top1", { y: floats([1, 2], [Number.NaN, Number.NaN]) }, 0)).toBe(0);
  });

  it.each([
    ["no labels", null, "METRIC_LABELS_MISSING", /top1 needs labels, and sample eval.npz\[3\] has none/],
    ["a label beyond the classes", 4, "METRIC_LABEL_RANGE", /label 4 of sample eval.npz\[3\].*0 to 3/],
    ["a negative label", -1, "METRIC_LABEL_RANGE", /label -1/],
    ["half a label", 0.5, "METRIC_LABEL_RANGE", /label 0.5/],
    ["a text", "cat", "METRIC_LABEL_RANGE", /label cat/],
    ["a one-hot row", [0, 1, 0, 0], "METRIC_LABELS_SHAPE", /needs 1 .* have 4/],
  ])("refuse %s", async (_, labels, code, message) => {
    const failing = score("top1", logits, labels);
    await expect(failing).rejects.toMatchObject({ code, kind: "input" });
    await expect(failing).rejects.toThrow(message);
  });

  it("refuse a model without classes", async () => {
    await expect(score("top1", { y: floats([1], [3]) }, 0)).rejects.toThrow(/no class scores among y: float32\[1\]/);
  });
});

describe("agreement", () => {
  it("is the share of positions with the same best class", async () => {
    const reference = { y: floats([1, 2, 2], [1, 0, 1, 0]) };
    expect(await score("agreement", { y: floats([1, 2, 2], [0.6, 0.5, 0, 3]) }, null, reference)).toBe(0.5);
  });

  it("compares by name, whatever comes first", async () => {
    const outputs = { other: floats([1, 2], [1, 0]), y: floats([1, 2], [0, 1]) };
    expect(await score("agreement", outputs, null, { y: floats([1, 2], [0, 1]) })).toBe(1);
  });

  it("does not take NaN for an answer", async () => {
    const nan = { y: floats([1, 2], [Number.NaN, Number.NaN]) };
    expect(await score("agreement", nan, null, { y: floats([1, 2], [1, 0]) })).toBe(0);
  });

  it("compares integers of models that answer in classes", async () => {
    expect(await score("agreement", { ids: integers([1, 2, 3, 4]) }, null, { ids: integers([1, 2, 3, 5]) })).toBe(0.75);
  });

  it("is no more than the cosine of any other float output", async () => {
    const y = floats([1, 2], [0, 1]);
    const reference = { y, box: floats([1, 2], [3, 4]), count: integers([3]), idle: floats([1, 2], [0, 0]) };
    const box = (x: number, y: number) => ({ ...reference, box: floats([1, 2], [x, y]) });
    expect(await score("agreement", reference, null, reference)).toBe(1);
    expect(await score("agreement", box(4, 3), null, reference)).toBeCloseTo(24 / 25, 6);
    expect(await score("agreement", box(-3, -4), null, reference)).toBe(0);
    expect(await score("agreement", { ...box(4, 3), y: floats([1, 2], [1, 0]) }, null, reference)).toBe(0);
    expect(await score("agreement", { ...reference, count: integers([4]) }, null, reference)).toBe(1);
    await expect(score("agreement", { y }, null, reference)).rejects.toMatchObject({ code: "METRIC_OUTPUT_MISSING" });
  });

  it("refuses an output that is missing or of another size", async () => {
    await expect(score("agreement", {}, null, logits)).rejects.toMatchObject({ code: "METRIC_OUTPUT_MISSING" });
    const longer = { logits: floats([1, 5], [0, 0, 0, 0, 0]) };
    await expect(score("agreement", longer, null, logits)).rejects.toThrow(/float32\[1,5\] here and float32\[1,4\]/);
  });

  it("refuses a single number", async () => {
    const lone = { y: floats([1, 1], [2]) };
    await expect(score("agreement", lone, null, lone)).rejects.toMatchObject({ code: "METRIC_NO_CLASSES" });
  });
});

describe("cosine, sqnr and mse", () => {
  it.each([
    [0.05, 0.684, 0.366],
    [300, 330, 1 - 30 / 330],
    [-0.5, 0.5, 0],
    [-3, 9, 0],
    [0, 0, 1],
  ])("cosine of one number by itself, %d beside %d, counts how far they are apart", async (was, is, wanted) => {
    const one = (value: number) => ({ y: floats([1, 1], [value]) });
    expect(await score("cosine", one(is), null, one(was))).toBeCloseTo(wanted, 6);
  });

  const reference = { a: floats([2], [3, 4]), n: integers([1]), b: floats([2], [1, 0]) };

  it("average over the float outputs", async () => {
    const outputs = { a: floats([2], [3, 4]), b: floats([2], [0, 1]) };
    expect(await score("cosine", outputs, null, reference)).toBe(0.5);
    expect(await score("mse", outputs, null, reference)).toBe(0.5);
  });

  it("count every element of a large output once, wherever it lies", async () => {
    const wanted = Array.from({ length: 10_001 }, (_, i) => Math.fround(Math.sin(i)));
    const got = wanted.map((value, i) => Math.fround(value + Math.cos(i) / 16));
    let [signal, noise] = [0, 0];
    for (const [i, value] of wanted.entries()) {
      signal += value ** 2;
      noise += (got[i]! - value) ** 2;
    }
    const [outputs, reference] = [{ y: floats([10_001], got) }, { y: floats([10_001], wanted) }];
    expect(await score("sqnr", outputs, null, reference)).toBeCloseTo(10 * Math.log10(signal / noise), 9);
    expect(await score("mse", outputs, null, reference)).toBeCloseTo(noise / 10_001, 12);
    const last = { y: floats([10_001], [...got.slice(0, -1), Number.NaN]) };
    expect(await score("sqnr", last, null, reference)).toBe(-100);
  });

  it("sqnr is the ratio of energies in dB", async () => {
    const outputs = { y: floats([2], [10, 1]) };
    expect(await score("sqnr", outputs, null, { y: floats([2], [10, 0]) })).toBeCloseTo(20, 10);
  });

  it("end at fixed values when nothing differs", async () => {
    expect(await score("cosine", reference, null)).toBe(1);
    expect(await score("sqnr", reference, null)).toBe(100);
    expect(await score("mse", reference, null)).toBe(0);
    const zero = { y: floats([2], [0, 0]) };
    expect(await score("cosine", zero, null)).toBe(1);
  });

  it("call a NaN on one side the worst there is, on both sides equal", async () => {
    const whole = { y: floats([2], [1, 2]) };
    const broken = { y: floats([2], [1, Number.NaN]) };
    expect(await score("cosine", broken, null, whole)).toBe(0);
    expect(await score("sqnr", broken, null, whole)).toBe(-100);
    expect(await score("mse", broken, null, whole)).toBe(3.4e38);
    expect(await score("sqnr", broken, null)).toBe(100);
  });

  describe("of float64", () => {
    const doubles = (...values: number[]) => ({
      y: { type: "float64", dims: [values.length], data: Float64Array.from(values) },
    });
    const times = (factor: number, values: readonly number[]) => doubles(...values.map((value) => value * factor));
    const [wanted, got] = [
      [3, -4, 0, 1],
      [3.5, -4, 1, 1],
    ];

    it.each([1e-300, 1e-200, 1e-155, 1, 1e155, 1e200, 4e307])("are the same at %d times the size", async (factor) => {
      const of = (name: BuiltinMetric) => score(name, times(factor, got), null, times(factor, wanted));
      expect(await of("sqnr")).toBeCloseTo(10 * Math.log10(26 / 1.25), 9);
      expect(await of("cosine")).toBeCloseTo(27.5 / Math.sqrt(26 * 30.25), 9);
      const mse = Math.min(3.4e38, (1.25 / 4) * factor * factor);
      expect(Math.abs((await of("mse")) - mse)).toBeLessThanOrEqual(1e-9 * mse);
    });

    it("hold a turned sign for what it is, though the two lie further apart than there are numbers", async () => {
      const [most, least] = [doubles(1.7e308, 1), doubles(-1.7e308, 1)];
      expect(await score("sqnr", least, null, most)).toBeCloseTo(-10 * Math.log10(4), 9);
      expect(await score("cosine", least, null, most)).toBeCloseTo(-1, 9);
      expect(await score("mse", least, null, most)).toBe(3.4e38);
    });

    it("end where they do for others: equal, nothing, and broken", async () => {
      const large = [1e200, Number.NaN, Number.POSITIVE_INFINITY];
      expect(await score("sqnr", doubles(...large), null)).toBe(100);
      expect(await score("cosine", doubles(...large), null)).toBeCloseTo(1, 9);
      expect(await score("mse", doubles(...large), null)).toBe(0);
      for (const broken of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
        const answer = doubles(1e200, broken, 1);
        expect(await score("sqnr", answer, null, doubles(1e200, 1e200, 1))).toBe(-100);
        expect(await score("cosine", answer, null, doubles(1e200, 1e200, 1))).toBe(0);
      }
      expect(await score("sqnr", doubles(0, 1e-200), null, doubles(0, 0))).toBe(-100);
      expect(await score("sqnr", doubles(0, 0), null, doubles(0, 1e-200))).toBeCloseTo(0, 9);
      expect(await score("cosine", doubles(0, 0), null)).toBe(1);
    });

    it("count one number by itself by how far apart the two are", async () => {
      expect(await score("cosine", doubles(3e200), null, doubles(4e200))).toBeCloseTo(0.75, 9);
      expect(await score("cosine", doubles(3e-200), null, doubles(4e-200))).toBe(1);
    });

    it("have an energy as far as there are numbers for it", () => {
      expect(energyOf(doubles(3, 4))).toBe(25);
      expect(energyOf(doubles(3e150, 4e150)) / 25e300).toBeCloseTo(1, 9);
      expect(energyOf(doubles(3e200))).toBe(Number.POSITIVE_INFINITY);
      expect(energyOf(doubles(3e-200))).toBe(0);
      expect(energyOf(doubles(3, Number.NaN, Number.NEGATIVE_INFINITY))).toBe(9);
    });
  });

  it("compare half precision with single", async () => {
    const half = { y: floats([2], [3, 4], "float16") };
    expect(await score("cosine", half, null, { y: floats([2], [3, 4]) })).toBeCloseTo(1, 12);
  });

  it("refuse models without float outputs", async () => {
    const ids = { ids: integers([1]) };
    await expect(score("mse", ids, null, ids)).rejects.toMatchObject({ code: "METRIC_NO_FLOATS" });
  });

  it("say which way is up and what they need", () => {
    expect(builtinMetric("mse")).toMatchObject({ higherIsBetter: false, needsLabels: false, needsReference: true });
    expect(builtinMetric("top1")).toMatchObject({ higherIsBetter: true, needsLabels: true, needsReference: false });
  });
});
