import { inlineStft } from "../../../../src/passes/linear/fourier/inline-stft.js";
import { testRewrite } from "../../../support/test-rewrite.js";

const LONG = "the runtime's own transform is faster for this length";
const window = "$w: f32[8]";

const stft = (signal: string, inputs: string, attributes = ""): string =>
  `(x: f32[${signal}]) -> (y) { y = STFT${attributes}(x, $step: i64 = {3}, ${inputs}) }`;

testRewrite(inlineStft, {
  rewrites: {
    "windows of a signal": stft("N,200,1", `${window}, $n: i64 = {8}`),
    "all bins": stft("N,200,1", `${window}, $n: i64 = {8}`, "<onesided=0>"),
    "a length that the window tells": stft("N,200,1", window),
    "no window": stft("N,200,1", "_, $n: i64 = {8}"),
    "a signal without an axis for parts": stft("N,200", window),
    "two signals": stft("2,200,1", window),
  },
  leaves: {
    "a complex signal": [stft("N,200,2", window, "<onesided=0>"), null],
    "a window that is computed": ["(x: f32[N,200,1], w: f32[8]) -> (y) { y = STFT(x, $step: i64 = {3}, w) }", null],
    "a step that is computed": [`(x: f32[N,200,1], s: i64) -> (y) { y = STFT(x, s, ${window}) }`, null],
    "long windows": [stft("N,20000,1", "_, $n: i64 = {1024}"), LONG],
    "few frames": [stft("1,513,1", "_, $n: i64 = {512}"), LONG],
  },
});
