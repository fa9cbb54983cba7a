import { eliminateTransposeDetour } from "../../../src/passes/layout/transpose-detour.js";
import { testRewrite } from "../../support/test-rewrite.js";

/** A channels-last stretch between two nodes that want channels first. */
const channelsLast = (lines: string, input = "x: f32[N,3,4,5]"): string => `(${input}) -> (y) {
  c = Relu(x)
  t = Transpose<perm=[0,2,3,1]>(c)
  ${lines}
  b = Transpose<perm=[0,3,1,2]>(u)
  y = Neg(b)
}`;

testRewrite(eliminateTransposeDetour, {
  rewrites: {
    "activations between two Transposes": channelsLast(`a = Sigmoid(t)
      u = Clip(a, $low: f32[] = {0.25}, $high: f32[] = {0.75})`),
    "a constant line along the last axis": channelsLast("u = Add(t, $bias: f32[3] = {1, 2, 3})"),
    "a constant of full rank": channelsLast("u = Mul(t, $k: f32[1,4,5,3])"),
    "a broadcast of two branches": channelsLast(`m = ReduceMean<axes=[1,2]>(t)
      s = Sigmoid(m)
      u = Mul(t, s)`),
    "a Concat along channels": channelsLast(`a = Neg(t)
      u = Concat<axis=-1>(t, a)`),
    "a Concat with a constant": channelsLast("u = Concat<axis=1>($k: f32[2,1,5,3], t)", "x: f32[2,3,4,5]"),
    "a Split": channelsLast(`p, q = Split<axis=3>(t, $sizes: i64[2] = {1, 2})
      u = Concat<axis=3>(q, p)`),
    "padding of all axes": channelsLast("u = Pad(t, $pads: i64[8] = {0, 1, 2, 0, 0, 0, 1, 0})"),
    "padding of named axes": [
      channelsLast('u = Pad<mode="reflect">(t, $pads: i64[4] = {1, 2, 0, 1}, _, $axes: i64[2] = {1, -2})'),
      { opset: 18 },
    ],
    "a strided Slice": channelsLast(
      "u = Slice(t, $s: i64[2] = {0, 1}, $e: i64[2] = {9, 9}, $a: i64[2] = {1, -2}, $st: i64[2] = {2, 2})",
    ),
    "a Slice without axes": channelsLast("u = Slice(t, $s: i64[3] = {0, 1, 0}, $e: i64[3] = {9, 3, 4})"),
    "a Softmax that gets to the last axis": channelsLast("u = Softmax<axis=2>(t)"),
    "Tile, CumSum and Gather": channelsLast(`a = Tile(t, $r: i64[4] = {1, 2, 1, 3})
      c2 = CumSum<reverse=1>(a, $axis: i64[] = {-2})
      u = Gather<axis=3>(c2, $i: i64[2] = {2, 0})`),
    "a Resize": channelsLast(
      `u = Resize<mode="nearest", coordinate_transformation_mode="asymmetric">(t, _, $sc: f32[4] = {1, 2, 3, 1})`,
    ),
    "a Resize to a size": channelsLast(
      `u = Resize<mode="linear">(t, _, _, $size: i64[4] = {2, 6, 7, 3})`,
      "x: f32[2,3,4,5]",
    ),
    "quantizing per channel":
      channelsLast(`q = QuantizeLinear<axis=3>(t, $sc: f32[3] = {0.1, 0.2, 0.3}, $z: u8[3] = {1, 2, 3})
      u = DequantizeLinear<axis=3>(q, $sc2: f32[3] = {0.1, 0.2, 0.3}, $z2: u8[3] = {1, 2, 3})`),
    "a mean over the plane, after which no order is left": `(x: f32[N,3,4,5]) -> (y) {
      c = Relu(x)
      t = Transpose<perm=[0,2,3,1]>(c)
      a = Sigmoid(t)
      y = ReduceMean<axes=[1,2], keepdims=0>(a)
    }`,
    "a sum over all axes, which an empty list of them means": `(x: f32[N,3,4,5]) -> (y) {
      t = Transpose<perm=[0,2,3,1]>(x)
      a = Sigmoid(t)
      y = ReduceSum<keepdims=0>(a, $none: i64[0] = {})
    }`,
    "a sum over no axes, which an empty list of them can mean": channelsLast(
      "u = ReduceSum<keepdims=0, noop_with_empty_axes=1>(t, $none: i64[0] = {})",
      "x: f32[2,3,4,5]",
    ),
    "an ArgMax over channels": `(x: f32[N,3,4,5]) -> (y) {
      t = Transpose<perm=[0,2,3,1]>(x)
      a = Sigmoid(t)
      y = ArgMax<axis=-1, keepdims=0>(a)
    }`,
    "axes of 1 put in and taken out": channelsLast(`a = Unsqueeze(t, $i: i64[1] = {1})
      n = Abs(a)
      u = Squeeze(n, $j: i64[1] = {1})`),
    "a Reshape that merges a plane": `(x: f32[N,3,4,5]) -> (y) {
      t = Transpose<perm=[0,2,3,1]>(x)
      r = Reshape(t, $s: i64[3] = {0, 20, 3})
      b = Transpose<perm=[0,2,1]>(r)
      y = Neg(b)
    }`,
    "a Reshape that takes channels apart": `(x: f32[2,6,4,5]) -> (y) {
      t = Transpose<perm=[0,2,3,1]>(x)
      r = Reshape<allowzero=1>(t, $s: i64[5] = {2, 4, 5, 3, -1})
      a = Sigmoid(r)
      b = Transpose<perm=[0,3,4,1,2]>(a)
      y = Neg(b)
    }`,
    "a Reshape before a Transpose, after another order": `(x: f32[T,2,N,16]) -> (y) {
      t = Transpose<perm=[0,2,1,3]>(x)
      r = Reshape(t, $s: i64[3] = {0, 0, -1})
      y = Transpose<perm=[1,0,2]>(r)
    }`,
    "a Reshape that mixes what is stored apart, after one Transpose": `(x: f32[2,3,4,5]) -> (y) {
      t = Transpose<perm=[0,2,3,1]>(x)
      r = Reshape(t, $s: i64[3] = {2, 4, 15})
      y = Transpose<perm=[0,2,1]>(r)
    }`,
    "a Reshape that adds axes of 1": `(x: f32[2,3,4,5]) -> (y) {
      t = Transpose<perm=[0,2,3,1]>(x)
      r = Reshape(t, $s: i64[5] = {2, 4, 5, 1, 3})
      a = Sigmoid(r)
      y = Transpose<perm=[0,4,3,1,2]>(a)
    }`,
    "two inputs in the same order": `(x: f32[N,3,4,5], z: f32[N,3,4,5]) -> (y) {
      t = Transpose<perm=[0,2,3,1]>(x)
      s = Transpose<perm=[0,2,3,1]>(z)
      y = Add(t, s)
    }`,
    "a comparison and a choice": channelsLast(`m = Greater(t, $zero: f32[] = {0.1})
      n = Neg(t)
      u = Where(m, t, n)`),
    "a third order that reads either": channelsLast(`a = Sigmoid(t)
      w = Transpose<perm=[1,0,2,3]>(a)
      k = Transpose<perm=[0,3,1,2]>(a)
      r = ReduceMax<axes=[0,1,2,3], keepdims=1>(w)
      u = Mul(a, r)`),
    "half of a region, where the other half is read as it is": `(x: f32[N,3,4,5]) -> (y, z) {
      t = Transpose<perm=[0,2,3,1]>(x)
      a = Sigmoid(t)
      b = Transpose<perm=[0,3,1,2]>(a)
      y = Neg(b)
      e = Tanh(t)
      z = MatMul(e, $w: f32[3,2])
    }`,
    "the values of a body": `(x: f32[2,3,4,5], c: bool[]) -> (y) {
      y = If<then_branch=() -> (t) {
        p = Transpose<perm=[0,2,3,1]>(x)
        q = Relu(p)
        t = Transpose<perm=[0,3,1,2]>(q)
      }, else_branch=() -> (e) { e = Abs(x) }>(c)
    }`,
    "values in between that are outputs, with one Transpose left": `(x: f32[N,3,4,5]) -> (a, y) {
      t = Transpose<perm=[0,2,3,1]>(x)
      a = Sigmoid(t)
      b = Transpose<perm=[0,3,1,2]>(a)
      y = MatMul(b, $w: f32[5,2])
    }`,
    "values that a body reads, with one Transpose left": `(x: f32[2,3,4,5], c: bool[]) -> (y) {
      t = Transpose<perm=[0,2,3,1]>(x)
      a = Sigmoid(t)
      b = Transpose<perm=[0,3,1,2]>(a)
      r = ReduceMax<keepdims=0>(b)
      y = If<then_branch=() -> (t1) { t1 = Add(a, r) }, else_branch=() -> (e) { e = Abs(a) }>(c)
    }`,
  },
  leaves: {
    "a Transpose that is its own reverse between two parts of one tensor": [
      `(x: bool[4,4,4,N]) -> (y, z) {
        a, b = Split(x, $sizes: i64[2] = {1, 3})
        t = Transpose(a)
        y = And(b, t)
        z = Transpose(x)
      }`,
      null,
    ],
    "an operator with an output that is left out": [
      channelsLast("_, i = TopK(t, $k: i64[1] = {2})\n  u = Cast<to=1>(i)"),
      null,
    ],
    "a region where nothing would be saved": [
      `(x: f32[N,3,4,5]) -> (y) {
        t = Transpose<perm=[0,2,3,1]>(x)
        a = Sigmoid(t)
        y = MatMul(a, $w: f32[3,2])
      }`,
      null,
    ],
    "an operator that means a place": [channelsLast("u = LayerNormalization<axis=-1>(t, $s: f32[3])"), null],
    "a Softmax that would leave the last axis": [channelsLast("u = Softmax(t)"), null],
    "a Reshape to a shape that is computed": [
      `(x: f32[2,3,4,5], s: i64[3]) -> (y) {
        t = Transpose<perm=[0,2,3,1]>(x)
        r = Reshape(t, s)
        y = Transpose<perm=[0,2,1]>(r)
      }`,
      null,
    ],
    "an operand of lower rank that is computed": [
      `(x: f32[N,3,4,5], k: f32[3]) -> (y) {
        t = Transpose<perm=[0,2,3,1]>(x)
        a = Add(t, k)
        y = Transpose<perm=[0,3,1,2]>(a)
      }`,
      null,
    ],
    "axes that are computed": [
      `(x: f32[N,3,4,5], axes: i64[1]) -> (y) {
        t = Transpose<perm=[0,2,3,1]>(x)
        a = ReduceSum(t, axes)
        y = Transpose<perm=[0,3,1,2]>(a)
      }`,
      null,
    ],
    "values in between that are outputs, for each reader": [
      `(x: f32[N,3,4,5]) -> (a, b) {
        t = Transpose<perm=[0,2,3,1]>(x)
        a = Sigmoid(t)
        b = Tanh(t)
      }`,
      null,
    ],
    "small Transposes that would become one large one": [
      `(x: f32[1,3,4,5], z: f32[1,3,4,5]) -> (y) {
        t = Transpose<perm=[0,2,3,1]>(x)
        s = Transpose<perm=[0,2,3,1]>(z)
        a = Tile(t, $r: i64[4] = {1, 8, 8, 1})
        b = Tile(s, $q: i64[4] = {1, 8, 8, 1})
        y = Add(a, b)
      }`,
      "with fewer Transposes, more elements would be moved",
    ],
    "the axes of old opsets": [
      `(x: f32[2,3,4]) -> (y) {
        t = Transpose<perm=[0,2,1]>(x)
        a = Softmax<axis=1>(t)
        y = Transpose<perm=[0,2,1]>(a)
      }`,
      null,
      { opset: 11 },
    ],
  },
});
