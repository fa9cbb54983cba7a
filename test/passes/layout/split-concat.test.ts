import { fuseSplitConcat } from "../../../src/passes/layout/split-concat.js";
import { testRewrite } from "../../support/test-rewrite.js";

const graph = (lines: string, outputs = "y, z"): string =>
  `(a: f32[N,3,5], b: f32[N,M,5]) -> (${outputs}) { ${lines} }`;
const SIZES = "$s: i64[2] = {2, 3}";
const SPLITS = `a1, a2 = Split<axis=2>(a, ${SIZES}) b1, b2 = Split<axis=-1>(b, $s)`;
const BOTH = "y = Concat<axis=1>(a1, b1) z = Concat<axis=-2>(a2, b2)";

testRewrite(fuseSplitConcat, {
  rewrites: {
    "two parts of two tensors": graph(`${SPLITS} ${BOTH}`),
    "with work between the two Concats": graph(
      `${SPLITS} y = Concat<axis=1>(a1, b1) r = Relu(y) z = Concat<axis=1>(a2, b2)`,
      "r, z",
    ),
  },
  leaves: {
    "parts in another order": [graph(`${SPLITS} y = Concat<axis=1>(a1, b1) z = Concat<axis=1>(b2, a2)`), null],
    "the axis of the Splits": [graph(`${SPLITS} y = Concat<axis=2>(a1, a2) z = Concat<axis=2>(b1, b2)`), null],
    "parts joined along the axis of the Splits": [
      `(a: f32[N,5], b: f32[N,5]) -> (y, z) {
        a1, a2 = Split<axis=1>(a, ${SIZES}) b1, b2 = Split<axis=1>(b, $s)
        y = Concat<axis=1>(a1, b1) z = Concat<axis=1>(a2, b2)
      }`,
      null,
    ],
    "other sizes": [
      `(a: f32[N,3,5], b: f32[N,M,5]) -> (y, z) {
        a1, a2 = Split<axis=2>(a, ${SIZES}) b1, b2 = Split<axis=2>(b, $t: i64[2] = {3, 2})
        y = Concat<axis=1>(a1, b2) z = Concat<axis=1>(a2, b1)
      }`,
      null,
    ],
    "a part that others read": [graph(`${SPLITS} ${BOTH}`, "y, z, a2"), null],
    "a part that is not joined": [
      graph(`${SPLITS} y = Concat<axis=1>(a1, b1) z = Relu(a2) w = Relu(b2)`, "y, z, w"),
      null,
    ],
    "more than the parts": [
      graph(`${SPLITS} c = Relu(b1) y = Concat<axis=1>(a1, b1, c) z = Concat<axis=1>(a2, b2)`),
      null,
    ],
  },
});
