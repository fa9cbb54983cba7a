import { eliminateSequence } from "../../../src/passes/control/sequence.js";
import { eliminateSplitToSequence } from "../../../src/passes/control/split-to-sequence.js";
import { testRewrite } from "../../support/test-rewrite.js";

testRewrite(eliminateSequence, {
  rewrites: {
    "an element at a constant place": `(x: f32[2,3], z: f32[2,3]) -> (y) {
      s = SequenceConstruct(x, z)
      a = SequenceAt(s, $i: i64[] = {-1})
      y = Relu(a)
    }`,
    "the concatenation of elements": `(x: f32[N,3], z: f32[N,3]) -> (y) {
      a = Relu(x)
      s = SequenceConstruct(a, z)
      y = ConcatFromSequence<axis=1>(s)
    }`,
    "elements that are put in, before, behind and taken out": `(x: f32[2,3], z: f32[2,3]) -> (y) {
      e = SequenceEmpty<dtype=1>()
      a = SequenceInsert(e, x)
      b = SequenceInsert(a, z, $i: i64[] = {0})
      n = Neg(x)
      c = SequenceInsert(b, n, $j: i64[] = {-1})
      d = SequenceErase(c, $k: i64[] = {0})
      y = ConcatFromSequence<axis=0>(d)
    }`,
    "the length": `(x: f32[2,3], z: f32[2,3]) -> (y) {
      s = SequenceConstruct(x, z, x)
      n = SequenceLength(s)
      f = Cast<to=1>(n)
      y = Mul(x, f)
    }`,
    "an element of a sequence of the graph around": `(x: f32[2,3], z: f32[2,3], d: bool[]) -> (y) {
      s = SequenceConstruct(x, z)
      y = If<then_branch=() -> (t) { a = SequenceAt(s, $i: i64[] = {1}) t = Neg(a) }, else_branch=() -> (e) { e = Abs(x) }>(d)
    }`,
    "an optional that is there": `(x: f32[2,3]) -> (y) {
      o = Optional(x)
      a = OptionalGetElement(o)
      y = Relu(a)
    }`,
  },
  leaves: {
    "a place that is computed": [
      `(x: f32[2,3], z: f32[2,3], i: i64[]) -> (y) {
        s = SequenceConstruct(x, z)
        y = SequenceAt(s, i)
      }`,
      null,
    ],
    "a place that is not there": [
      `(x: f32[2,3], z: f32[2,3]) -> (y) {
        s = SequenceConstruct(x, z)
        y = SequenceAt(s, $i: i64[] = {2})
      }`,
      null,
    ],
    "a public element that is an input": [
      `(x: f32[2,3], z: f32[2,3]) -> (y) {
        s = SequenceConstruct(x, z)
        y = SequenceAt(s, $i: i64[] = {0})
      }`,
      null,
    ],
    "elements that are stacked": [
      `(x: f32[2,3], z: f32[2,3]) -> (y) {
        s = SequenceConstruct(x, z)
        y = ConcatFromSequence<axis=0, new_axis=1>(s)
      }`,
      null,
    ],
    "a sequence that a branch gives": [
      `(x: f32[2,3], d: bool[]) -> (y) {
        s = If<then_branch=() -> (t) { t = SequenceConstruct(x, x) }, else_branch=() -> (e) { e = SequenceConstruct(x) }>(d)
        y = SequenceAt(s, $i: i64[] = {0})
      }`,
      null,
    ],
  },
});

testRewrite(eliminateSplitToSequence, {
  rewrites: {
    "equal parts, the last one smaller": `(x: f32[N,7]) -> (y, z) {
      s = SplitToSequence<axis=1>(x, $k: i64[] = {3})
      a = SequenceAt(s, $i: i64[] = {0})
      y = Relu(a)
      z = SequenceAt(s, $j: i64[] = {-1})
    }`,
    "listed parts of an unknown size, one of them twice": `(x: f32[N,7]) -> (y, z) {
      s = SplitToSequence<axis=-1>(x, $k: i64[2] = {3, 4})
      y = SequenceAt(s, $i: i64[] = {1})
      z = SequenceAt(s, $j: i64[] = {1})
    }`,
    "parts of one, with their axis": `(x: f32[2,3]) -> (y) {
      s = SplitToSequence(x)
      a = SequenceAt(s, $i: i64[] = {0})
      b = SequenceAt(s, $j: i64[] = {1})
      y = Add(a, b)
    }`,
    "parts of one, without their axis": `(x: f32[2,3]) -> (y) {
      s = SplitToSequence<axis=1, keepdims=0>(x)
      a = SequenceAt(s, $i: i64[] = {0})
      b = SequenceAt(s, $j: i64[] = {-1})
      y = Add(a, b)
    }`,
  },
  leaves: {
    "an axis of unknown size": [
      `(x: f32[N,7]) -> (y) {
        s = SplitToSequence(x, $k: i64[] = {1})
        y = SequenceAt(s, $i: i64[] = {0})
      }`,
      "the sizes of the parts are not known",
    ],
    "given sizes without their axis": [
      `(x: f32[2,2]) -> (y) {
        s = SplitToSequence<axis=1, keepdims=0>(x, $k: i64[] = {1})
        y = SequenceAt(s, $i: i64[] = {0})
      }`,
      "runtimes do not agree on keepdims=0 where sizes are given",
    ],
    "a place that is computed": [
      `(x: f32[2,7], i: i64[]) -> (y) {
        s = SplitToSequence(x, $k: i64[] = {1})
        y = SequenceAt(s, i)
      }`,
      "the sequence is read as a whole, or at a place that is computed",
    ],
    "a sequence that is read as a whole": [
      `(x: f32[2,7]) -> (y) {
        s = SplitToSequence(x, $k: i64[] = {1})
        y = ConcatFromSequence<axis=1>(s)
      }`,
      "the sequence is read as a whole, or at a place that is computed",
    ],
  },
});
