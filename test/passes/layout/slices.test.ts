import { fuseChannelShuffle, fuseRoll, fuseSliceSqueeze } from "../../../src/passes/layout/gather-rows.js";
import { fuseSlice } from "../../../src/passes/layout/slice-chain.js";
import { fuseSlicesToSplit } from "../../../src/passes/layout/slices-to-split.js";
import { testRewrite } from "../../support/test-rewrite.js";

const FAR = "9223372036854775807";

testRewrite(fuseSlice, {
  rewrites: {
    "two axes": `(x: f32[N,6,7]) -> (y) {
      a = Slice(x, $s: i64[1] = {1}, $e: i64[1] = {${FAR}}, $ax: i64[1] = {1}, $st: i64[1] = {2})
      y = Slice(a, $s2: i64[1] = {-3}, $e2: i64[1] = {-1}, $ax2: i64[1] = {-1})
    }`,
    "one axis of known size": `(x: f32[N,9]) -> (y) {
      a = Slice(x, $s: i64[1] = {1}, $e: i64[1] = {8}, $ax: i64[1] = {1}, $st: i64[1] = {2})
      y = Slice(a, $s2: i64[1] = {-3}, $e2: i64[1] = {9}, $ax2: i64[1] = {-1}, $st2: i64[1] = {2})
    }`,
    "a first one that two others read": `(x: f32[N,4,8]) -> (y, z) {
      a = Slice(x, $s: i64[1] = {0}, $e: i64[1] = {${FAR}}, $ax: i64[1] = {1}, $st: i64[1] = {2})
      y = Slice(a, $s, $e, $ax2: i64[1] = {2}, $st)
      z = Slice(a, $o: i64[1] = {1}, $e, $ax2, $st)
    }`,
    "bounds that leave nothing": `(x: f32[N,9]) -> (y) {
      a = Slice(x, $s: i64[1] = {1}, $e: i64[1] = {3}, $ax: i64[1] = {1})
      y = Slice(a, $s2: i64[1] = {2}, $e2: i64[1] = {9}, $ax2: i64[1] = {1})
    }`,
  },
  leaves: {
    "one axis of unknown size": [
      `(x: f32[N,9]) -> (y) {
        a = Slice(x, $s: i64[1] = {1}, $e: i64[1] = {8}, $ax: i64[1] = {0})
        y = Slice(a, $s, $e, $ax)
      }`,
      null,
    ],
    "a first one that something else reads": [
      `(x: f32[N,6,7]) -> (a, y) {
        a = Slice(x, $s: i64[1] = {1}, $e: i64[1] = {4}, $ax: i64[1] = {1})
        y = Slice(a, $s, $e, $ax2: i64[1] = {2})
      }`,
      null,
    ],
    "a step backwards on the same axis": [
      `(x: f32[N,9]) -> (y) {
        a = Slice(x, $s: i64[1] = {1}, $e: i64[1] = {8}, $ax: i64[1] = {1})
        y = Slice(a, $m: i64[1] = {-1}, $far: i64[1] = {-99}, $ax, $m)
      }`,
      null,
    ],
    "bounds that are computed": [
      `(x: f32[N,9], k: i64[1]) -> (y) {
        a = Slice(x, $s: i64[1] = {1}, k, $ax: i64[1] = {1})
        y = Slice(a, $s, $e: i64[1] = {3}, $ax0: i64[1] = {0})
      }`,
      null,
    ],
  },
});

const parts = (
  bounds: readonly (readonly [number, number | string])[],
  axis = 1,
  type = "f32[N,9,4]",
): string => `(x: ${type}) -> (y) {
  ${bounds.map(([s, e], i) => `p${i} = Slice(x, $s${i}: i64[1] = {${s}}, $e${i}: i64[1] = {${e}}, $a${i}: i64[1] = {${axis}}) q${i} = ${["Neg", "Abs", "Exp"][i]}(p${i})`).join("\n")}
  y = Concat<axis=1>(${bounds.map((_, i) => `q${i}`).join(", ")})
}`;

testRewrite(fuseSlicesToSplit, {
  rewrites: {
    "all parts": parts([
      [0, 2],
      [2, 4],
      [4, FAR],
    ]),
    "parts out of order, counted from the end": parts([
      [-5, 9],
      [0, -5],
    ]),
  },
  leaves: {
    "a gap": [
      parts([
        [0, 2],
        [3, 9],
      ]),
      null,
    ],
    "an overlap": [
      parts([
        [0, 4],
        [3, 9],
      ]),
      null,
    ],
    "a rest that nobody reads": [
      parts([
        [0, 2],
        [2, 4],
      ]),
      null,
    ],
    "an axis of unknown size": [
      parts(
        [
          [0, 2],
          [2, FAR],
        ],
        1,
        "f32[4,N,4]",
      ),
      null,
    ],
    "parts of opset 12": [
      parts([
        [0, 2],
        [2, 9],
      ]),
      null,
      { opset: 12 },
    ],
  },
});

const one = (
  shape: string,
  axis: number,
  start: number,
  end: number,
  squeezed = axis,
): string => `(x: f32[${shape}]) -> (y) {
  a = Slice(x, $s: i64[1] = {${start}}, $e: i64[1] = {${end}}, $ax: i64[1] = {${axis}})
  y = Squeeze(a, $sq: i64[1] = {${squeezed}})
}`;

testRewrite(fuseSliceSqueeze, {
  rewrites: {
    "one row": one("3,N,4", 0, 1, 2),
    "the last row": one("3,5,96", 1, -1, 9),
  },
  leaves: {
    "two rows": [one("3,1,16", 0, 1, 3, 1), null],
    "short rows": [one("3,5,95", 1, 0, 1), "its rows are short"],
    "an axis of unknown size": [one("N,5,16", 0, 0, 1), null],
    "a Squeeze of all axes": [
      `(x: f32[3,5,16]) -> (y) {
        a = Slice(x, $s: i64[1] = {0}, $e: i64[1] = {1}, $ax: i64[1] = {0})
        y = Squeeze(a)
      }`,
      null,
    ],
  },
});

const roll = (first: string, second: string, axis = 1, shape = "N,8,48"): string => `(x: f32[${shape}]) -> (y) {
  a = Slice(x, ${first}, $ax: i64[1] = {${axis}})
  b = Slice(x, ${second}, $ax)
  y = Concat<axis=${axis}>(a, b)
}`;

testRewrite(fuseRoll, {
  rewrites: {
    "a roll": roll(`$s: i64[1] = {5}, $e: i64[1] = {${FAR}}`, "$s2: i64[1] = {0}, $e2: i64[1] = {5}"),
    "parts that overlap": roll("$s: i64[1] = {-3}, $e: i64[1] = {8}", "$s2: i64[1] = {2}, $e2: i64[1] = {7}"),
  },
  leaves: {
    "short rows": [
      roll("$s: i64[1] = {5}, $e: i64[1] = {8}", "$s2: i64[1] = {0}, $e2: i64[1] = {5}", 1, "N,8,47"),
      "its rows are short",
    ],
    "an axis of unknown size": [
      roll(`$s: i64[1] = {1}, $e: i64[1] = {${FAR}}`, "$s2: i64[1] = {0}, $e2: i64[1] = {1}", 0),
      null,
    ],
    "slices of two tensors": [
      `(x: f32[N,8,32], z: f32[N,8,32]) -> (y) {
        a = Slice(x, $s: i64[1] = {5}, $e: i64[1] = {8}, $ax: i64[1] = {1})
        b = Slice(z, $s2: i64[1] = {0}, $s, $ax)
        y = Concat<axis=1>(a, b)
      }`,
      null,
    ],
    "a Concat along another axis": [
      `(x: f32[N,8,32]) -> (y) {
        a = Slice(x, $s: i64[1] = {4}, $e: i64[1] = {8}, $ax: i64[1] = {1})
        b = Slice(x, $s2: i64[1] = {0}, $s, $ax)
        y = Concat<axis=2>(a, b)
      }`,
      null,
    ],
  },
});

const shuffle = (shape: string, apart: string, perm: string, back: string): string => `(x: f32[${shape}]) -> (y) {
  a = Reshape(x, $t: i64[${apart.split(",").length}] = {${apart}})
  b = Transpose<perm=[${perm}]>(a)
  y = Reshape(b, $u: i64[${back.split(",").length}] = {${back}})
}`;

testRewrite(fuseChannelShuffle, {
  rewrites: {
    "two groups of channels": shuffle("2,6,8,7", "2,2,3,8,7", "0,2,1,3,4", "2,6,8,7"),
    "three groups of rows": shuffle("6,48", "3,2,48", "1,0,2", "6,48"),
  },
  leaves: {
    "another result": [shuffle("2,6,4,5", "2,2,3,4,5", "0,2,1,3,4", "2,3,8,5"), null],
    "axes further apart": [shuffle("2,6,4,5", "2,2,3,4,5", "0,3,2,1,4", "2,6,4,5"), null],
    "short rows": [shuffle("2,6,4", "2,2,3,4", "0,2,1,3", "2,6,4"), "its rows are short"],
    "two axes taken apart": [shuffle("4,6,32", "2,2,2,3,32", "0,1,3,2,4", "4,6,32"), null],
  },
});
