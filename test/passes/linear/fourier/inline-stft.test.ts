import { describe, expect, it } from "vitest";
import { parseModel, Tensor } from "../../../../src/ir/index.js";
import { inlineStft } from "../../../../src/passes/linear/fourier/inline-stft.js";
import { annotateTypes, runPasses } from "../../../../src/rewrite/index.js";
import { describeModel } from "../../../support/ask-runtime.js";
import { runModel } from "../../../support/run-model.js";
import { expectSame, testRewrite } from "../../../support/test-rewrite.js";

const LONG = "the runtime's own transform is faster for this length";
const window = "$w: f32[8]";

const stft = (signal: string, inputs: string, attributes = ""): string =>
  `(x: f32[${signal}]) -> (y) { y = STFT${attributes}(x, $step: i64 = {3}, ${inputs}) }`;

testRewrite(inlineStft, {
  rewrites: {
    "windows of a signal": stft("N,200,1", `${window}, $n: i64 = {8}`),
    "all bins": stft("N,200,1", `${window}, $n: i64 = {8}`, "<onesided=0>"),
    "a length that the window tells": stft("N,200,1", window),
    "frames of many signals": stft("64,513,1", "_, $n: i64 = {512}"),
    "two steps, samples that no block takes, without an axis for parts": stft("1,1033", "$w: f32[128]").replace(
      "{3}",
      "{8}",
    ),
    "no window": stft("N,200,1", "_, $n: i64 = {8}"),
    "a signal without an axis for parts": stft("N,200", window),
    "two signals": stft("2,200,1", window),
    "long windows in two steps": stft("1,600,1", "$w: f32[128]").replace("{3}", "{32}"),
    "two steps for two signals, all bins": stft("2,1024", "$w: f32[128]", "<onesided=0>").replace("{3}", "{16}"),
    "two steps, samples that no block takes": stft("1,1033,1", "$w: f32[128]").replace("{3}", "{8}"),
    "long windows, a batch that is not known": stft("N,5000,1", "$w: f32[256]").replace("{3}", "{64}"),
    "long windows whose frames no factor divides": stft("1,3000,1", "$w: f32[128]").replace("{3}", "{31}"),
  },
  leaves: {
    "a complex signal": [stft("N,200,2", window, "<onesided=0>"), null],
    "a window that is computed": ["(x: f32[N,200,1], w: f32[8]) -> (y) { y = STFT(x, $step: i64 = {3}, w) }", null],
    "a step that is computed": [`(x: f32[N,200,1], s: i64) -> (y) { y = STFT(x, s, ${window}) }`, null],
    "very long windows whose frames no factor divides": [stft("N,20000,1", "_, $n: i64 = {1024}"), LONG],
    "a signal that is shorter than a window": [
      "(x: f32[1,100,1]) -> (y) { y = STFT(x, $step: i64 = {3}, $w: f32[128]) }",
      null,
    ],
    "windows that nobody could make": [stft("1,N", "_, $n: i64 = {1000000000000}"), null],
    "double precision": ["(x: f64[1,200,1]) -> (y) { y = STFT(x, $step: i64 = {3}, $w: f64[8]) }", null],
    "few frames": [stft("1,513,1", "_, $n: i64 = {512}"), LONG],
  },
});

/** The kernel's own answers are as exact as float32 for powers of two alone. */
describe("inline-stft of lengths that are no power of two", () => {
  it.each([
    { length: 96, step: 24, onesided: 1, samples: 3000 },
    { length: 90, step: 15, onesided: 1, samples: 3004 },
    { length: 90, step: 15, onesided: 0, samples: 3010 },
    { length: 105, step: 35, onesided: 1, samples: 2002 },
    { length: 50, step: 7, onesided: 1, samples: 1000 },
  ])("gives what the definition gives: $length samples every $step, onesided $onesided", async (given) => {
    const { length, step, onesided, samples } = given;
    const window = Array.from({ length }, (_, n) => 0.5 - 0.4 * Math.cos((2 * Math.PI * n) / length));
    const model = parseModel(
      `(x: f32[1,${samples}]) -> (y) {
        y = STFT<onesided=${onesided}>(x, $s: i64 = {${step}}, $w: f32[${length}] = {${window.join()}})
      }`,
    );
    await annotateTypes(model, describeModel);
    const [report] = await runPasses(model, [inlineStft], { check: true });
    expect(report!.applied).toBe(1);
    const signal = Array.from({ length: samples }, (_, i) => Math.fround(Math.sin(i * i * 0.01) + 0.3 * Math.cos(i)));
    const { y } = await runModel(model, { x: Tensor.f32([1, samples], signal) });
    const frames = Math.floor((samples - length) / step) + 1;
    const bins = onesided ? Math.floor(length / 2) + 1 : length;
    expect(y!.dims).toEqual([1, frames, bins, 2]);
    const values = y!.toF32()!;
    const largest = Math.max(...values.map(Math.abs));
    for (let frame = 0; frame < frames; frame += 7) {
      for (let bin = 0; bin < bins; bin++) {
        let [re, im] = [0, 0];
        for (let n = 0; n < length; n++) {
          const sample = signal[frame * step + n]! * Math.fround(window[n]!);
          const angle = (-2 * Math.PI * n * bin) / length;
          re += sample * Math.cos(angle);
          im += sample * Math.sin(angle);
        }
        const at = (frame * bins + bin) * 2;
        expect(Math.abs(values[at]! - re)).toBeLessThan(1e-6 * largest);
        expect(Math.abs(values[at + 1]! - im)).toBeLessThan(1e-6 * largest);
      }
    }
  });
});

describe("inline-stft of signals whose length a run tells", () => {
  it.each([
    { shape: "1,L,1", batch: 1, length: 128 },
    { shape: "2,L", batch: 2, length: 128 },
    { shape: "B,L", batch: 2, length: 128 },
    { shape: "B,L,1", batch: 1, length: 128 },
    { shape: "B,L,1", batch: 2, length: 64 },
  ])("gives the same: $shape, a batch of $batch, windows of $length", async ({ shape, batch, length }) => {
    const text = `(x: f32[${shape}]) -> (y, z) {
      y = STFT(x, $s: i64 = {${length === 64 ? 31 : 32}}, $w: f32[${length}])
      z = Abs(y)
    }`;
    const [original, model] = [parseModel(text), parseModel(text)];
    const annotate = (each: typeof model): Promise<unknown> => annotateTypes(each, describeModel, { isRepeated: true });
    await annotateTypes(model, describeModel);
    expect((await runPasses(model, [inlineStft], { check: true, annotate }))[0]!.applied).toBe(1);
    expect(model.graph.outputs[1]!.value!.shape?.slice(-2)).toEqual([length / 2 + 1, 2]);
    for (const samples of [length, length + 31, length + 32, 601, 1033]) {
      const dims = shape.endsWith(",1") ? [batch, samples, 1] : [batch, samples];
      const x = Tensor.f32(
        dims,
        Array.from({ length: batch * samples }, (_, i) => Math.sin(i * i * 0.013)),
      );
      expectSame(await runModel(original, { x }), await runModel(model, { x }), "rounding");
    }
  });
});
