import { fuseSoftmaxView } from "../../../src/passes/layout/softmax-view.js";
import { testRewrite } from "../../support/test-rewrite.js";

const SHAPE = (name: string, dims: string) => `$${name}: i64[${dims.split(",").length}] = {${dims}}`;

testRewrite(fuseSoftmaxView, {
  rewrites: {
    "between two Transposes": `(x: f32[N,5,6]) -> (y) {
      t = Transpose<perm=[0,2,1]>(x) s = LogSoftmax<axis=2>(t) y = Transpose<perm=[0,2,1]>(s) }`,
    "between two Transposes in a circle": `(x: f32[2,5,6]) -> (y) {
      t = Transpose<perm=[1,2,0]>(x) s = Softmax<axis=-1>(t) y = Transpose<perm=[2,0,1]>(s) }`,
    "rows that are rows before": `(x: f32[N,4,5]) -> (y) {
      f = Flatten<axis=2>(x) s = Softmax<axis=1>(f) y = Reshape(s, ${SHAPE("b", "-1,4,5")}) }`,
    "an axis with an axis of one element": `(x: f32[3,5]) -> (y) {
      r = Reshape(x, ${SHAPE("a", "3,1,5")}) s = LogSoftmax<axis=2>(r) y = Reshape(s, ${SHAPE("b", "3,5")}) }`,
    "channels whose batches are merged": `(x: f32[3,2,5,4]) -> (y) {
      r = Reshape(x, ${SHAPE("a", "6,5,4")}) s = Softmax<axis=1>(r) y = Reshape(s, ${SHAPE("b", "3,2,5,4")}) }`,
    "with the log-probabilities read twice": `(x: f32[3,5]) -> (y, z) {
      r = Unsqueeze(x, ${SHAPE("a", "1")}) s = LogSoftmax<axis=2>(r) y = Squeeze(s, ${SHAPE("b", "1")}) z = Exp(y) }`,
  },
  leaves: {
    "channels whose places are merged": [
      `(x: f32[3,5,2,4]) -> (y) {
      r = Reshape(x, ${SHAPE("a", "3,5,-1")}) s = Softmax<axis=1>(r) y = Reshape(s, ${SHAPE("b", "3,5,2,4")}) }`,
      "with the axes behind it merged, the softmax is faster",
    ],
    "axes that end up elsewhere": [
      `(x: f32[2,5,6]) -> (y) { t = Transpose<perm=[1,2,0]>(x) s = Softmax(t) y = Transpose<perm=[1,2,0]>(s) }`,
      null,
    ],
    "rows of another length": [
      `(x: f32[3,4,5]) -> (y) { f = Flatten<axis=1>(x) s = Softmax<axis=1>(f) y = Reshape(s, ${SHAPE("b", "3,4,5")}) }`,
      null,
    ],
    "as many elements in other places": [
      `(x: f32[4,4,4]) -> (y) { r = Reshape(x, ${SHAPE("a", "2,8,4")}) s = Softmax<axis=1>(r) y = Reshape(s, ${SHAPE("b", "4,4,4")}) }`,
      null,
    ],
    "a view that is kept": [
      `(x: f32[3,5]) -> (y) { r = Reshape(x, ${SHAPE("a", "3,1,5")}) s = Softmax(r) y = Reshape(s, ${SHAPE("b", "1,3,5")}) }`,
      null,
    ],
    "a softmax that somebody else reads": [
      `(x: f32[3,5]) -> (y, s) { r = Reshape(x, ${SHAPE("a", "3,1,5")}) s = Softmax(r) y = Reshape(s, ${SHAPE("b", "3,5")}) }`,
      null,
    ],
    "an axis between sizes that nobody knows": [
      `(x: f32[N,5,M,5]) -> (y) { r = Reshape(x, ${SHAPE("a", "-1,5,10")}) s = Softmax<axis=1>(r) h = Shape(x) y = Reshape(s, h) }`,
      null,
    ],
  },
});
