import { describe, expect, it } from "vitest";
import { check, type Model, nodesWithin } from "../../src/ir/index.js";
import { dynamicCandidates, quantizeDynamic } from "../../src/quantization/dynamic.js";
import { runtimeSpecificNodes } from "../../src/quantization/recurrent.js";
import { errorOf, optimizedByRuntime, prepared, safeTarget } from "../support/quantize-text.js";
import { seededFeeds } from "../support/run-model.js";

const target = { ...safeTarget, runtimeSpecific: true };

async function quantized(text: string) {
  const [float, model] = [await prepared(text), await prepared(text)];
  const report = quantizeDynamic(model, target);
  check(model.graph);
  return { float, model, report, error: await errorOf(float, model, seededFeeds(float)) };
}

const ops = ({ graph }: Model): string[] => [...nodesWithin(graph)].map(({ opName }) => opName);
const INTEGERS = "com.microsoft::DynamicQuantizeLSTM";
const WEIGHTS = "$w: f32[1,64,12], $r: f32[1,64,16]";
const BOTH = "$w: f32[2,64,12], $r: f32[2,64,16]";

describe("LSTM as the runtime's own operator", () => {
  it.each([
    ["plain", `(x: f32[5,2,12]) -> (y) { y = LSTM<hidden_size=16>(x, ${WEIGHTS}) }`],
    ["a bias", `(x: f32[5,2,12]) -> (y) { y = LSTM<hidden_size=16>(x, ${WEIGHTS}, $b: f32[1,128]) }`],
    [
      "backwards, with activations and a clip",
      `(x: f32[5,2,12]) -> (y) { y = LSTM<hidden_size=16,direction="reverse",clip=0.5,activations=["HardSigmoid","Tanh","Relu"],activation_alpha=[0.3],activation_beta=[0.4]>(x, ${WEIGHTS}) }`,
    ],
    ["gates that are coupled", `(x: f32[5,2,12]) -> (y) { y = LSTM<hidden_size=16,input_forget=1>(x, ${WEIGHTS}) }`],
    [
      "both ways, all outputs",
      `(x: f32[5,2,12]) -> (y, h, c) { y, h, c = LSTM<hidden_size=16,direction="bidirectional">(x, ${BOTH}) }`,
    ],
    [
      "every input",
      `(x: f32[5,2,12], h0: f32[1,2,16], c0: f32[1,2,16]) -> (y, h, c) {
        y, h, c = LSTM<hidden_size=16>(x, ${WEIGHTS}, $b: f32[1,128], $n: i32[2] = {5,3}, h0, c0, $p: f32[1,48]) }`,
    ],
    ["the last state alone", `(x: f32[5,2,12]) -> (c) { _, _, c = LSTM<hidden_size=16>(x, ${WEIGHTS}) }`],
    [
      "a body that reads weights from outside",
      `(x: f32[5,2,12], c: bool) -> (y) { $w: f32[1,64,12]  $r: f32[1,64,16]
      y = If<then_branch=() -> (t) { t = LSTM<hidden_size=16>(x, $w, $r) }, else_branch=() -> (e) { n = Neg(x)\n e = LSTM<hidden_size=16>(n, $w, $r) }>(c) }`,
    ],
  ])("%s: loads, and is close to float", async (_, text) => {
    const { float, model, report, error } = await quantized(text);
    expect(report.float).toEqual([]);
    expect(report.quantized).toEqual(dynamicCandidates(float, target).map(({ name }) => name));
    const [first, ...others] = report.quantized;
    const left = dynamicCandidates(float, target, ({ name }) => name !== first);
    expect(left.map(({ name }) => name)).toEqual(others);
    expect(ops(model)).toContain(INTEGERS);
    expect(ops(model)).not.toContain("LSTM");
    expect(model.opsets.get("com.microsoft")).toBe(1);
    expect(error).toBeLessThan(0.04);
    expect(error).toBeGreaterThan(0);
  });

  it("has one scale for each direction and column: small gates keep their accuracy beside large ones", async () => {
    const { error } = await quantized(`(x: f32[5,2,12]) -> (y) {
      y = LSTM<hidden_size=2>(x, $w: f32[1,8,12] = {${gates(12, 0.001)}}, $r: f32[1,8,2] = {${gates(2, 0.001)}}) }`);
    expect(error).toBeLessThan(0.02);
  });

  it("stores weights once that two of them read", async () => {
    const { model } = await quantized(
      "(x: f32[5,2,16]) -> (y) { $w: f32[1,64,16]  $r: f32[1,64,16]\n a, h = LSTM<hidden_size=16>(x, $w, $r)\n y = LSTM<hidden_size=16>(h, $w, $r) }",
    );
    expect(
      model.graph.constants.filter(({ dtype, constant }) => dtype === "i8" && constant!.dims.length === 3),
    ).toHaveLength(2);
  });

  it("runs as that kernel", async () => {
    const { model } = await quantized(`(x: f32[5,2,12]) -> (y) { y = LSTM<hidden_size=16>(x, ${WEIGHTS}) }`);
    expect(ops(await optimizedByRuntime(model))).toEqual([INTEGERS]);
  });

  it.each([
    [
      "weights that are computed",
      "(x: f32[5,2,12], w: f32[1,64,12]) -> (y) { y = LSTM<hidden_size=16>(x, w, $r: f32[1,64,16]) }",
    ],
    ["LSTM with the batch first", `(x: f32[5,2,12]) -> (y) { y = LSTM<hidden_size=16,layout=1>(x, ${WEIGHTS}) }`],
    [
      "weights of type f16",
      "(x: f16[5,2,12]) -> (y) { y = LSTM<hidden_size=16>(x, $w: f16[1,64,12], $r: f16[1,64,16]) }",
    ],
    [
      "there are no dynamic integers for GRU",
      "(x: f32[5,2,12]) -> (y) { y = GRU<hidden_size=16>(x, $w: f32[1,48,12], $r: f32[1,48,16]) }",
    ],
    [
      "there are no dynamic integers for RNN",
      "(x: f32[5,2,12]) -> (y) { y = RNN<hidden_size=16>(x, $w: f32[1,16,12], $r: f32[1,16,16]) }",
    ],
  ])("leaves %s", async (reason, text) => {
    const model = await prepared(text);
    expect(quantizeDynamic(model, target).float.map((each) => each.reason)).toEqual([reason]);
    expect(ops(model)).not.toContain(INTEGERS);
    expect(model.opsets.has("com.microsoft")).toBe(false);
  });

  it("is left where nobody asked for operators of the runtime, with the way to ask", async () => {
    const model = await prepared(`(x: f32[5,2,12]) -> (y) { y = LSTM<hidden_size=16>(x, ${WEIGHTS}) }`);
    const { float } = quantizeDynamic(model, safeTarget);
    expect(float).toEqual([{ node: "LSTM:y", op: "LSTM", reason: expect.stringContaining("--runtime-specific") }]);
    expect(dynamicCandidates(model, safeTarget)).toEqual([]);
    expect(ops(model)).toEqual(["LSTM"]);
  });

  it("is told to be there for the asking, where it is and nobody asked", async () => {
    const count = async (text: string, asked = safeTarget) => runtimeSpecificNodes(await prepared(text), asked).length;
    const plain = `(x: f32[5,2,12]) -> (y) { y = LSTM<hidden_size=16>(x, ${WEIGHTS}) }`;
    expect(await count(plain)).toBe(1);
    expect(await count(plain, target)).toBe(0);
    const named = async (name: string) =>
      runtimeSpecificNodes(await prepared(plain), safeTarget, new Map([[name, "left out"]])).length;
    expect([await named("LSTM:y"), await named("LSTM:z")]).toEqual([0, 1]);
    expect(await count(plain, { ...safeTarget, dynamic: false })).toBe(0);
    expect(await count(plain, { ...safeTarget, isMeasurable: false })).toBe(0);
    expect(
      await count(plain.replace("hidden_size=16", "hidden_size=16,layout=1").replace("[5,2,12]", "[2,5,12]")),
    ).toBe(0);
    expect(
      await count("(x: f32[5,2,12]) -> (y) { y = GRU<hidden_size=16>(x, $w: f32[1,48,12], $r: f32[1,48,16]) }"),
    ).toBe(0);
  });

  it("stays float where it is told to", async () => {
    const model = await prepared(`(x: f32[5,2,12]) -> (y) { y = LSTM<hidden_size=16>(x, ${WEIGHTS}) }`);
    const { float } = quantizeDynamic(model, target, { keepFloat: new Map([["LSTM:y", "said so"]]) });
    expect(float).toEqual([{ node: "LSTM:y", op: "LSTM", reason: "said so" }]);
  });
});

/** Rows of one gate after the other: the first two of size one, the others small. */
function gates(columns: number, small: number): string {
  const rows = Array.from({ length: 8 }, (_, row) => (row < 2 ? 1 : small));
  return rows
    .flatMap((size, row) => Array.from({ length: columns }, (_, i) => size * Math.sin(7 * row + 3 * i + 1)))
    .join(",");
}
