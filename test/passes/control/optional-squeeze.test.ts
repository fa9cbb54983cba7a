import { foldOptionalSqueeze } from "../../../src/passes/control/optional-squeeze.js";
import { testRewrite } from "../../support/test-rewrite.js";

/** An LSTM that takes rank 3, behind what the cases say. */
const recurrent = (middle: string, condition = "e = Equal(g, $one: i64[1] = {1})", index = "{1}"): string =>
  `(x: f32[2,N,4], z: f32[2,1,4]) -> (y) {
    r = Add(x, z)
    s = Shape(r)
    g = Gather(s, $i: i64[1] = ${index})
    ${condition}
    q = If<then_branch=() -> (t) { t = Squeeze(r, $a: i64[1] = {1}) }, else_branch=() -> (o) { o = Identity(r) }>(e)
    ${middle}
  }`;

const lstm = (input: string): string => `y = LSTM<hidden_size=3>(${input}, $w: f32[1,12,4], $v: f32[1,12,3])`;

testRewrite(foldOptionalSqueeze, {
  rewrites: {
    "what an LSTM could not take": recurrentAtOne(`u = Unsqueeze(q, $b: i64[1] = {0}) ${lstm("u")}`),
    "what an LSTM could not take, by a rank that is asked for": recurrentAtOne(`
      p = Shape(q)
      n = Size(p)
      k = Equal(n, $two: i64[] = {2})
      m = Not(k)
      j = If<then_branch=() -> (c) { c = Unsqueeze(q, $b: i64[1] = {0}) }, else_branch=() -> (d) { d = Identity(q) }>(m)
      u = Unsqueeze(j, $f: i64[1] = {0})
      ${lstm("u")}`),
    "what a Gemm could not take": recurrentAtOne("y = Gemm(q, $w: f32[4,5])"),
  },
  leaves: {
    "a tensor that may stay as it is": [recurrent("y = Relu(q)"), "the graph may do with the tensor unsqueezed"],
    "an LSTM that takes the unsqueezed tensor": [recurrent(lstm("q")), "the graph may do with the tensor unsqueezed"],
    "an LSTM that may not run": [
      recurrent(`h = ReduceSum<keepdims=0>(z)
        b = Cast<to=9>(h)
        y = If<then_branch=() -> (c) { u = Unsqueeze(q, $b: i64[1] = {0}) c = LSTM<hidden_size=3>(u, $w: f32[1,12,4], $v: f32[1,12,3]) },
               else_branch=() -> (d) { d = Relu(q) }>(b)`),
      "the graph may do with the tensor unsqueezed",
    ],
    "a size of another axis": [recurrent("y = Gemm(q, $w: f32[4,5])", undefined, "{2}"), null],
    "a comparison with another size": [
      recurrent("y = Gemm(q, $w: f32[4,5])", "e = Equal(g, $one: i64[1] = {2})"),
      null,
    ],
  },
});

/** The same with sizes at which it runs. */
function recurrentAtOne(middle: string): string {
  return recurrent(middle).replace("x: f32[2,N,4]", "x: f32[2,1,4]");
}
