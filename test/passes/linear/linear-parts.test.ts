import { fuseLinearParts } from "../../../src/passes/linear/linear-parts.js";
import { testRewrite } from "../../support/test-rewrite.js";

const graph = (lines: string, d = "N,4,5", outputs = "y"): string => `(d: f32[${d}], z: f32[N,2,5]) -> (${outputs}) {
  ${lines}
}`;
const HALVES = "l, r = Split<axis=1>(d, $s: i64[2] = {2, 2})";
const CORNERS = "a = Sub($c: f32[1,2,5], l) b = Add($c, r)";
const BOX = "m = Add(a, b) h = Div(m, $two: f32[] = {2}) w = Sub(b, a)";
const JOINED = "y = Concat<axis=1>(h, w)";

testRewrite(fuseLinearParts, {
  rewrites: {
    "distances that become centres and sizes": graph(`${HALVES} ${CORNERS} ${BOX} ${JOINED}`),
    "centres and sizes that become corners, along the last axis": graph(
      `c, e = Split<axis=-1>(d, $s: i64[2] = {2, 2}) h = Mul(e, $half: f32[] = {0.5})
       a = Sub(c, h) b = Add(c, h) y = Concat<axis=-1>(a, b)`,
      "N,6,4",
    ),
    "double precision": `(x: f32[N,4,5]) -> (o) {
      d = Cast<to=11>(x) ${HALVES} ${`${CORNERS} ${BOX}`.replaceAll("f32[", "f64[")} ${JOINED} o = Cast<to=1>(y)
    }`,
    "constants of all shapes": graph(
      `${HALVES} a = Add(l, $p: f32[2,1]) b = Sub($q: f32[5], r) e = Neg(b) f = Mul(a, $k: f32[1] = {-3}) g = Add(e, f)
       y = Concat<axis=1>(g, l)`,
    ),
  },
  leaves: {
    "whole numbers": [
      `(d: i32[N,4,5]) -> (y) {
        ${HALVES} a = Sub($c: i32[1,2,5], l) b = Add($c, r) m = Add(a, b) h = Add(m, $c) w = Sub(b, a) ${JOINED}
      }`,
      null,
    ],
    "few nodes": [graph(`${HALVES} n = Neg(l) y = Concat<axis=1>(r, n)`), null],
    "a part that others read": [graph(`${HALVES} ${CORNERS} ${BOX} ${JOINED}`, "N,4,5", "y, l"), null],
    "a sum that others read": [graph(`${HALVES} ${CORNERS} ${BOX} ${JOINED} x = Exp(b)`, "N,4,5", "y, x"), null],
    "another axis": [
      graph(
        `l, r = Split<axis=1>(d, $s: i64[2] = {2, 2}) a = Sub($c: f32[1,2,5], l) b = Add($c, r) ${BOX} y = Concat<axis=2>(h, w)`,
      ),
      null,
    ],
    "an axis further in front": [
      graph(
        `l, r = Split<axis=1>(d, $s: i64[2] = {2, 2}) a = Sub($c: f32[1,2,1,5], l) b = Add($c, r) ${BOX} ${JOINED}`,
        "N,4,3,5",
      ),
      null,
    ],
    "parts of several sizes": [
      graph(
        `l, r, o = Split<axis=1>(d, $s: i64[3] = {2, 2, 1}) ${CORNERS} ${BOX} y = Concat<axis=1>(h, w, o)`,
        "N,5,5",
      ),
      null,
    ],
    "factors that differ from place to place": [
      graph(`${HALVES} ${CORNERS} m = Add(a, b) h = Mul(m, $f: f32[5]) w = Sub(b, a) ${JOINED}`),
      null,
    ],
    "another tensor among them": [graph(`${HALVES} a = Sub(z, l) b = Add(z, r) ${BOX} ${JOINED}`), null],
    "a long axis": [
      graph(
        `l, r = Split<axis=1>(d, $s: i64[2] = {8, 8}) a = Sub($c: f32[1,8,5], l) b = Add($c, r) ${BOX} ${JOINED}`,
        "N,16,5",
      ),
      null,
    ],
    products: [graph(`${HALVES} ${CORNERS} m = Mul(a, b) h = Div(m, $two: f32[] = {2}) w = Sub(b, a) ${JOINED}`), null],
  },
});
