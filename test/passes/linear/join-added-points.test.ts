import { joinAddedPoints } from "../../../src/passes/linear/join-added-points.js";
import { testRewrite } from "../../support/test-rewrite.js";

const graph = (lines: string, input = "x: f32[N,4,6,6], z: f32[N,3,6,6]"): string => `(${input}) -> (y) {
  ${lines}
}`;
const POINT = "b = Conv(z, $v: f32[5,3,1,1], $vb: f32[5])";

testRewrite(joinAddedPoints, {
  rewrites: {
    "the last Conv of a block and that of its shortcut": graph(
      `a = Conv(x, $w: f32[5,4,1,1], $wb: f32[5])\n  ${POINT}\n  y = Add(a, b)`,
    ),
    "a shortcut with strides": graph(
      `a = Conv(x, $w: f32[5,4,1,1])\n  b = Conv<strides=[2,2]>(z, $v: f32[5,3,1,1], $vb: f32[5])\n  y = Add(b, a)`,
      "x: f32[N,4,3,3], z: f32[N,3,6,6]",
    ),
    "a Conv that says it does not pad": graph(
      `a = Conv<auto_pad="VALID">(x, $w: f32[5,4,1,1])\n  ${POINT}\n  y = Add(a, b)`,
    ),
    "the same input twice": graph(
      "a = Conv(x, $w: f32[5,4,1,1])\n  b = Conv<strides=[1,1], pads=[0,0,0,0]>(x, $v: f32[5,4,1,1])\n  y = Add(a, b)",
    ),
  },
  leaves: {
    "a window": [graph(`a = Conv<pads=[1,1,1,1]>(x, $w: f32[5,4,3,3])\n  ${POINT}\n  y = Add(a, b)`), null],
    "a Conv that pads": [
      graph(
        `a = Conv<pads=[1,1,1,1]>(x, $w: f32[5,4,1,1])\n  ${POINT}\n  y = Add(a, b)`,
        "x: f32[N,4,4,4], z: f32[N,3,6,6]",
      ),
      null,
    ],
    "a Conv in groups": [
      graph(`a = Conv<group=2>(x, $w: f32[6,2,1,1])\n  b = Conv(z, $v: f32[6,3,1,1])\n  y = Add(a, b)`),
      null,
    ],
    "an activation before the sum": [
      graph(`c = Conv(x, $w: f32[5,4,1,1])\n  a = Relu(c)\n  ${POINT}\n  y = Add(a, b)`),
      null,
    ],
    "a sum that repeats one of the two": [
      graph(`a = Conv(x, $w: f32[5,4,1,1])\n  ${POINT}\n  y = Add(a, b)`, "x: f32[N,4,1,1], z: f32[N,3,6,6]"),
      "the two results may have different shapes",
    ],
    "sizes that may differ": [
      graph(`a = Conv(x, $w: f32[5,4,1,1])\n  ${POINT}\n  y = Add(a, b)`, "x: f32[N,4,H,6], z: f32[N,3,K,6]"),
      "the two results may have different shapes",
    ],
    "another reader of a result": [
      `(x: f32[N,4,6,6], z: f32[N,3,6,6]) -> (y, r) {
        a = Conv(x, $w: f32[5,4,1,1])
        b = Conv(z, $v: f32[5,3,1,1])
        y = Add(a, b)
        r = Relu(a)
      }`,
      null,
    ],
    "weights that another node reads": [
      `(x: f32[N,4,6,6], z: f32[N,3,6,6]) -> (y, o) {
        a = Conv(x, $w: f32[5,4,1,1])
        b = Conv(z, $v: f32[5,3,1,1])
        y = Add(a, b)
        r = Relu(z)
        o = Conv(r, $v)
      }`,
      "other nodes read the weights",
    ],
    doubles: [
      graph(
        "a = Conv(x, $w: f64[5,4,1,1])\n  b = Conv(z, $v: f64[5,3,1,1])\n  y = Add(a, b)",
        "x: f64[N,4,6,6], z: f64[N,3,6,6]",
      ),
      null,
    ],
    "one result twice": [graph(`a = Conv(x, $w: f32[5,4,1,1])\n  y = Add(a, a)`, "x: f32[N,4,6,6]"), null],
  },
});
