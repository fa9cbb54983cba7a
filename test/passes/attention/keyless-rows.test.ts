/** Rows that hide every key, where written out attention gives the mean of some values, or NaN: so must the operator. */
import { describe, expect, it } from "vitest";
import { parseModel, Tensor } from "../../../src/ir/index.js";
import { fuseAttention } from "../../../src/passes/attention/attention.js";
import { type AnyPass, annotateTypes, runPasses } from "../../../src/rewrite/index.js";
import { describeModel } from "../../support/ask-runtime.js";
import { runModel, seededFeeds } from "../../support/run-model.js";

const INPUTS = "q: f32[1,2,3,4], k: f32[1,2,3,4], v: f32[1,2,3,4]";
const LOWEST = -3.4028234663852886e38;
const attention = (inputs: string, body: string, weights = ""): string =>
  `(${INPUTS}, ${inputs}) -> (y) {
    kt = Transpose<perm=[0,1,3,2]>(k)
    a = MatMul(q, kt)
    ${body}
    ${weights ? `w = Softmax<axis=-1>(m)\n${weights}` : "p = Softmax<axis=-1>(m)"}
    y = MatMul(p, v)
  }`;

const guard = "hidden = IsNaN(w)\np = Where(hidden, $nothing: f32[] = {0.0}, w)";
const keep = (rows: readonly number[]): Tensor => Tensor.ofArray("bool", [3, 3], Uint8Array.from(rows));
const numbers = (rows: readonly number[]): Tensor => Tensor.f32([3, 3], Float32Array.from(rows));

/** The results of the original and of what the pass makes of it, which must have changed it. */
async function bothWays(text: string, masks: Readonly<Record<string, Tensor>>, pass: AnyPass = fuseAttention) {
  const original = parseModel(text, { opset: 23 });
  const model = parseModel(text, { opset: 23 });
  await annotateTypes(model, describeModel);
  const [report] = await runPasses(model, [pass], { check: true });
  expect(report!.applied).toBe(1);
  const feeds = { ...seededFeeds(original, 3), ...masks };
  const [before, after] = [await runModel(original, feeds), await runModel(model, feeds)];
  return { before: [...before["y"]!.f32()], after: [...after["y"]!.f32()] };
}

function expectSame({ before, after }: Awaited<ReturnType<typeof bothWays>>): void {
  expect(after.map(Number.isNaN)).toEqual(before.map(Number.isNaN));
  before.forEach((x, i) => {
    if (!Number.isNaN(x)) expect(after[i]).toBeCloseTo(x, 4);
  });
}

const rows = {
  "no key": [0, 0, 0, 0, 0, 0, 0, 0, 0],
  "some keys": [1, 0, 0, 0, 0, 0, 1, 1, 0],
  "all keys": [1, 1, 1, 1, 1, 1, 1, 1, 1],
};

const fills = { "-1e4": -1e4, "-1e9": -1e9, lowest: LOWEST, "-inf": -Infinity };
const written = (fill: number): string => (fill === -Infinity ? "-inf" : `${fill}`);

describe("fuse-attention on rows that hide every key", () => {
  for (const [shown, flags] of Object.entries(rows)) {
    for (const [name, fill] of Object.entries(fills)) {
      it(`keeps ${shown}, chosen by ${name}`, async () => {
        const text = attention("c: bool[3,3]", `m = Where(c, a, $low: f32[] = {${written(fill)}})`);
        expectSame(await bothWays(text, { c: keep(flags) }));
      });

      it(`keeps ${shown}, added as ${name}`, async () => {
        const mask = numbers(flags.map((flag) => (flag ? 0 : fill)));
        expectSame(await bothWays(attention("c: f32[3,3]", "m = Add(a, c)"), { c: mask }));
      });

      it(`keeps ${shown}, added as ${name}, with a guard against NaN`, async () => {
        const mask = numbers(flags.map((flag) => (flag ? 0 : fill)));
        expectSame(await bothWays(attention("c: f32[3,3]", "m = Add(a, c)", guard), { c: mask }));
      });
    }

    it(`keeps ${shown} of a triangle of -inf under padding by -1e9`, async () => {
      const body = `b = Add(a, $triangle: f32[3,3] = {0.0, -inf, -inf, 0.0, 0.0, -inf, 0.0, 0.0, 0.0})
        m = Where(c, b, $low: f32[] = {-1e9})`;
      expectSame(await bothWays(attention("c: bool[3,3]", body), { c: keep(flags) }));
    });

    it(`keeps ${shown} of two masks by the lowest number, whose sum is -inf`, async () => {
      const body = `b = Where(d, a, $low: f32[] = {-3.4028235e38})
        mask = Where(c, $zero: f32[] = {0.0}, $low)
        m = Add(b, mask)`;
      const text = attention("c: bool[3,3], d: bool[3,3]", body);
      expectSame(await bothWays(text, { c: keep(flags), d: keep([1, 0, 0, 1, 0, 0, 0, 0, 0]) }));
    });
  }

  it("tells -inf from the lowest number in one row", async () => {
    const mask = numbers([-Infinity, LOWEST, LOWEST, -Infinity, -Infinity, LOWEST, 0, -Infinity, LOWEST]);
    expectSame(await bothWays(attention("c: f32[3,3]", "m = Add(a, c)"), { c: mask }));
    expectSame(await bothWays(attention("c: f32[3,3]", "m = Add(a, c)", guard), { c: mask }));
  });

  it("gives NaN where the original does", async () => {
    const text = attention("c: f32[3,3]", "m = Add(a, c)");
    const { after } = await bothWays(text, { c: numbers(new Array(9).fill(-Infinity)) });
    expect(after.every(Number.isNaN)).toBe(true);
  });
});
