import { fuseShuffleOrder } from "../../../src/passes/layout/shuffle-order.js";
import { testRewrite } from "../../support/test-rewrite.js";

const shuffle = (lines: string, of = "c", mode = "CRD", block = 2): string => `(x: f32[N,3,5,6]) -> (y) {
  ${lines}
  y = DepthToSpace<blocksize=${block}, mode="${mode}">(${of})
}`;
const CONV = "c = Conv<pads=[1,1,1,1]>(x, $w: f32[12,3,3,3], $b: f32[12])";

testRewrite(fuseShuffleOrder, {
  rewrites: {
    "a Conv": shuffle(CONV),
    "a Conv without a bias": shuffle("c = Conv(x, $w: f32[12,3,1,1])"),
    "larger blocks": shuffle("c = Conv(x, $w: f32[18,3,1,1])", "c", "CRD", 3),
    "activations between": shuffle(
      `${CONV} r = LeakyRelu(c) k = Clip(r, $least: f32[] = {-0.5}, $most: f32[] = {0.75}) p = PRelu(k, $slope: f32[1])`,
      "p",
    ),
  },
  leaves: {
    "the order that it has": [shuffle(CONV, "c", "DCR"), null],
    "blocks of one": [shuffle(CONV, "c", "CRD", 1), null],
    "a slope for each channel": [shuffle(`${CONV} p = PRelu(c, $slope: f32[12,1,1])`, "p"), null],
    "a sum": [shuffle(`${CONV} p = Add(c, c)`, "p"), null],
    groups: [shuffle("c = Conv<group=3>(x, $w: f32[12,1,1,1])"), null],
    "weights that others read": [
      shuffle(`${CONV} o = Conv<pads=[1,1,1,1]>(x, $w) z = Relu(o)`).replace("-> (y)", "-> (y, z)"),
      null,
    ],
    "channels that others read": [shuffle(`${CONV} z = Relu(c)`).replace("-> (y)", "-> (y, z)"), null],
    "channels that are a result": [shuffle(CONV).replace("-> (y)", "-> (y, c)"), null],
    "weights that are computed": [
      shuffle("c = Conv(x, w)").replace("x: f32[N,3,5,6]", "x: f32[N,3,5,6], w: f32[12,3,1,1]"),
      null,
    ],
    "what no Conv makes": [shuffle("c = Relu(x)").replace("N,3,5,6", "N,12,5,6"), null],
  },
});
