import { fuseParallelHeads } from "../../../src/passes/linear/parallel-heads.js";
import { testRewrite } from "../../support/test-rewrite.js";

const head = (name: string, conv: string, rows: string, perm = "0,2,3,1"): string => `
  ${name}c = Conv${conv}
  ${name}t = Transpose<perm=[${perm}]>(${name}c)
  ${name} = Reshape(${name}t, $${name}s: i64[3] = {${rows}})`;
const graph = (lines: string, outputs = "a, b"): string => `(x: f32[N,64,3,4]) -> (${outputs}) {${lines}\n}`;
const BOXES = head("a", "<pads=[1,1,1,1]>(x, $v: f32[8,64,3,3], $p: f32[8])", "0,-1,4");
const CLASSES = head("b", "<pads=[1,1,1,1]>(x, $w: f32[6,64,3,3], $q: f32[6])", "0,-1,3");

testRewrite(fuseParallelHeads, {
  rewrites: {
    "boxes and classes": graph(BOXES + CLASSES),
    "one without an addend": graph(
      head("a", "(x, $v: f32[24,64,1,1])", "-1,24,12") + head("b", "(x, $w: f32[12,64,1,1], $q: f32[12])", "0,-1,6"),
    ),
    "three heads, one of them of another window": graph(
      BOXES + CLASSES + head("c", "(x, $u: f32[8,64,1,1])", "0,-1,4"),
      "a, b, c",
    ),
  },
  leaves: {
    "many rows of few products": [
      graph(BOXES + CLASSES).replace("f32[N,64,3,4]", "f32[N,64,H,W]"),
      "cutting the rows apart costs more than one Conv less saves",
    ],
    "other numbers of rows": [graph(BOXES + head("b", "<pads=[1,1,1,1]>(x, $w: f32[9,64,3,3])", "0,-1,3")), null],
    "other windows": [graph(BOXES + head("b", "<pads=[2,1,0,1]>(x, $w: f32[6,64,3,3])", "0,-1,3")), null],
    "rows over the images": [graph(BOXES + head("b", "<pads=[1,1,1,1]>(x, $w: f32[6,64,3,3])", "1,-1,3")), null],
    "another order": [graph(BOXES + head("b", "<pads=[1,1,1,1]>(x, $w: f32[6,64,3,3])", "0,-1,3", "0,3,2,1")), null],
    "channels that make no whole rows": [
      graph(BOXES + head("b", "<pads=[1,1,1,1]>(x, $w: f32[6,64,3,3])", "0,-1,4")),
      null,
    ],
    "channels that others read": [graph(BOXES + CLASSES, "a, b, bc"), null],
    groups: [graph(BOXES + head("b", "<pads=[1,1,1,1], group=2>(x, $w: f32[6,32,3,3])", "0,-1,3")), null],
    "other inputs": [
      graph(`${BOXES} z = Relu(x) ${head("b", "<pads=[1,1,1,1]>(z, $w: f32[6,64,3,3])", "0,-1,3")}`),
      null,
    ],
  },
});
