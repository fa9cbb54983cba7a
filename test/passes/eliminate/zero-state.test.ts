import { eliminateZeroState } from "../../../src/passes/eliminate/zero-state.js";
import { testRewrite } from "../../support/test-rewrite.js";

const lstm = (state: string): string => `(x: f32[3,2,4]) -> (y) {
  ${state}
  y, h, c = LSTM<hidden_size=5>(x, $w: f32[1,20,4], $r: f32[1,20,5], $b: f32[1,40], _, h0, c0)
}`;

testRewrite(eliminateZeroState, {
  rewrites: {
    "states filled with zeros": lstm(`h0 = ConstantOfShape($s: i64[3] = {1, 2, 5})
      c0 = ConstantOfShape<value=f32[1] = {0.0}>($s)`),
    "one of two states": lstm(`h0 = ReduceMax<axes=[0]>($t: f32[1,2,5])
      c0 = ConstantOfShape($s: i64[3] = {1, 2, 5})`),
    "where only the last state is read": `(x: f32[3,2,4]) -> (h) {
      _, h = LSTM<hidden_size=1>(x, $w: f32[1,4,4], $r: f32[1,4,1], _, _, $z: f32[1,2,1] = {0, 0}, $z)
    }`,
    "parts of zeros": lstm(`z = ConstantOfShape($s: i64[3] = {2, 2, 5})
      h0, o = Split<axis=0>(z, $n: i64[2] = {1, 1})
      c0 = Slice(z, $from: i64[1] = {1}, $to: i64[1] = {2}, $axis: i64[1] = {0})`),
    "a constant state": `(x: f32[3,2,4]) -> (y) {
      y, h = GRU<hidden_size=1>(x, $w: f32[1,3,4], $r: f32[1,3,1], _, _, $z: f32[1,2,1] = {0, 0})
    }`,
  },
  leaves: {
    "zeros with something around them": [
      lstm(`z = ConstantOfShape($s: i64[3] = {1, 2, 4})
        h0 = Pad($o: f32[1,2,4] = {0, 0, 0, 0, 0, 0, 0, 0}, $p: i64[6] = {0, 0, 0, 0, 0, 1}, $one: f32[] = {1})
        c0 = Pad(z, $p, $one)`),
      null,
    ],
    "states of ones": [
      lstm(`h0 = ConstantOfShape<value=f32[1] = {1.0}>($s: i64[3] = {1, 2, 5})
        c0 = Neg(h0)`),
      null,
    ],
  },
});
