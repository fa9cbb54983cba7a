/** Cells that loop.test.ts has not: by what they compute, not by how often their loop turns. */
import { fuseRecurrence } from "../../../../src/passes/control/recurrent/loop.js";
import { testRewrite } from "../../../support/test-rewrite.js";

/** Each gate of its own product of the input, w, and of the state, u, where nothing else is said. */
const sum = (gate: string, state = "h"): string => `
  x${gate} = Gemm<transB=1>(row, $w${gate}: f32[4,3], $b${gate}: f32[4])
  h${gate} = MatMul(${state}, $u${gate}: f32[4,4])
  s${gate} = Add(x${gate}, h${gate})`;

const turn = (body: string, becomes: string, states = "h: f32[N,4]", collected = "n"): string => `
  Loop<body=(i: i64[], k: bool[], ${states}) -> (go, ${becomes}, e) {
    go = Identity(k)
    row = Gather<axis=0>(x, i)${body}
    e = Identity(${collected})
  }>`;

/** h alone. */
const loop = (body: string, becomes = "n", inputs = "x: f32[5,N,3], h0: f32[N,4]"): string =>
  `(${inputs}) -> (y, z) { y, z = ${turn(body, becomes)}($m: i64[] = {5}, _, h0) }`;

/** h, and what is remembered besides. */
const pair = (body: string, collected = "n", outputs = "y, z"): string =>
  `(x: f32[5,N,3], h0: f32[N,4], c0: f32[N,4]) -> (${outputs}) {
    y, c, z = ${turn(body, "n, m", "h: f32[N,4], c: f32[N,4]", collected)}($t: i64[] = {5}, _, h0, c0) }`;

const joined = `
  both = Concat<axis=-1>(row, h)
  p = Gemm(both, $w: f32[7,16], $b: f32[16])
  si, sg, sf, so = Split<axis=-1>(p)`;

const remembers = `
  i1 = Sigmoid(si)
  f1 = Sigmoid(sf)
  o1 = Sigmoid(so)
  g1 = Tanh(sg)
  kept = Mul(f1, c)
  added = Mul(i1, g1)
  m = Add(kept, added)
  seen = Tanh(m)
  n = Mul(o1, seen)`;

const four = sum("i") + sum("f") + sum("o") + sum("g");

const update = `
  rest = Sub($one: f32[] = {1}, z)
  new = Mul(rest, c)
  old = Mul(z, h)
  n = Add(old, new)`;

/** r scales the state before it is multiplied. */
const before = `${sum("z")}${sum("r")}
  z = Sigmoid(sz)
  r = Sigmoid(sr)
  rh = Mul(r, h)${sum("c", "rh")}
  c = Tanh(sc)${update}`;

/** The two gates by Relu6(s + 3) / 6. */
const hard = before
  .replace(
    "z = Sigmoid(sz)",
    "z6 = Clip(sz, $low: f32[] = {0}, $top: f32[] = {6})\n  z = Mul(z6, $part: f32[] = {0.16666667})",
  )
  .replace(
    "r = Sigmoid(sr)",
    "r6 = Clip(sr, $low2: f32[] = {0}, $top2: f32[] = {6})\n  r = Mul($part2: f32[] = {0.16666667}, r6)",
  );

const tanh = `${sum("n")}\n  n = Tanh(sn)`;

/** The cell of h reads a row, that of g what h becomes. */
const stacked = (input = "n"): string => `(x: f32[5,N,3], h0: f32[N,4], g0: f32[N,2]) -> (y, q, z) {
  y, q, z = ${turn(
    `${tanh}
    xg = MatMul(${input}, $v: f32[4,2])
    hg = MatMul(g, $r: f32[2,2])
    sg = Add(xg, hg)
    g1 = Relu(sg)`,
    "n, g1",
    "h: f32[N,4], g: f32[N,2]",
    "g1",
  )}($t: i64[] = {5}, _, h0, g0)
}`;

testRewrite(fuseRecurrence, {
  rewrites: {
    "an RNN": loop(tanh),
    "an RNN by Relu, whose addends are numbers": loop(
      `${tanh.replace("Tanh(sn)", "Relu(s2)").replace("\n  n =", "\n  s2 = Add(sn, $half: f32[] = {0.5})\n  n =")}`,
    ),
    "an LSTM of a product for each gate": pair(four + remembers),
    "an LSTM of one product": pair(joined + remembers),
    "an LSTM from zeros, whose last memory is read": `(x: f32[5,2,3]) -> (y, c, z) {
      y, c, z = ${turn(joined + remembers, "n, m", "h: f32[2,4], c: f32[2,4]")}($t: i64[] = {5}, _, $h0: f32[2,4] = {0, 0, 0, 0, 0, 0, 0, 0}, $c0: f32[2,4] = {0, 0, 0, 0, 0, 0, 0, 0})
    }`,
    "an LSTM whose memory comes first, by Relu": `(x: f32[5,N,3], h0: f32[N,4], c0: f32[N,4]) -> (y, z) {
      c1, y, z = ${turn(
        four + remembers.replace("Tanh(m)", "Relu(m)").replace("Tanh(sg)", "Relu(sg)"),
        "m, n",
        "c: f32[N,4], h: f32[N,4]",
      )}($t: i64[] = {5}, _, c0, h0)
    }`,
    "a GRU that resets before the product": loop(before),
    "a GRU by hard gates": loop(hard),
    "a GRU by HardSigmoid": loop(
      before
        .replace("z = Sigmoid(sz)", "z = HardSigmoid<alpha=0.25>(sz)")
        .replace("r = Sigmoid(sr)", "r = HardSigmoid<alpha=0.25, beta=0.5>(sr)"),
    ),
    "a GRU whose gate tells what is new": loop(
      before
        .replace("z = Sigmoid(sz)", "u = Sigmoid(sz)\n  z = Sub($uno: f32[] = {1}, u)")
        .replace(/rest = .*/, "rest = Identity(u)")
        .replace("Mul(rest, c)", "Mul(u, c)"),
    ),
    "one cell that reads another": stacked(),
    "a product without its addend": loop(
      tanh.replace("MatMul(h, $un: f32[4,4])", "Gemm<beta=0.0>(h, $un: f32[4,4], $no: f32[] = {7})"),
    ),
  },
  leaves: {
    "a gate of two products of the state": [
      loop(`${sum("n")}\n  h2 = MatMul(h, $u2: f32[4,4])\n  s2 = Add(sn, h2)\n  n = Tanh(s2)`),
      null,
    ],
    "a gate of the input alone": [loop("\n  s = MatMul(row, $w: f32[3,4])\n  n = Tanh(s)"), null],
    "a row for each sample": [
      loop(tanh.replace("$bn: f32[4]", "$bn: f32[2,4]"), "n", "x: f32[5,2,3], h0: f32[2,4]"),
      null,
    ],
    "an addend of three axes": [
      `(x: f32[5,N,3], h0: f32[N,4]) -> (y) { y, z = ${turn(
        tanh
          .replace("sn = Add(xn, hn)", "s1 = Add(xn, hn)\n  sn = Add(s1, $cube: f32[1,1,4])")
          .replace("Tanh(sn)", "Tanh(s2)")
          .replace("\n  n =", "\n  s2 = Squeeze(sn, $first: i64[1] = {0})\n  n ="),
        "n",
      )}($m: i64[] = {5}, _, h0) }`,
      null,
    ],
    "memory shown through another function than the operator has": [
      pair(four + remembers.replace("seen = Tanh", "seen = Sin")),
      null,
    ],
    "memory that another gate lets out": [pair(four + remembers.replace("Mul(o1, seen)", "Mul(seen, seen)")), null],
    "memory that is kept by half": [pair(four + remembers.replace("Mul(f1, c)", "Mul(f1, h)")), null],
    "what memory becomes in each turn": [pair(four + remembers, "m"), null],
    "gates by different activations": [pair(four + remembers.replace("f1 = Sigmoid", "f1 = HardSigmoid")), null],
    "hard gates of different slopes": [
      loop(
        before
          .replace("z = Sigmoid(sz)", "z = HardSigmoid<alpha=0.25>(sz)")
          .replace("r = Sigmoid(sr)", "r = HardSigmoid<alpha=0.3>(sr)"),
      ),
      null,
    ],
    "a hard gate that ends above one": [loop(hard.replaceAll("{6}", "{7}")), null],
    "a gate that resets another tensor than the state": [
      loop(before.replace("rh = Mul(r, h)", "rh = Mul(r, z)")),
      null,
    ],
    "cells that do not follow each other": [stacked("h"), null],
    "a cell that reads half of what it stands beside": [
      loop(
        tanh.replace(
          "xn = Gemm<transB=1>(row, $wn: f32[4,3], $bn: f32[4])",
          "row2 = Neg(row)\n  xn = MatMul(row2, $wn: f32[3,4])",
        ),
      ),
      null,
    ],
    "a first state of another width": [loop(tanh, "n", "x: f32[5,N,3], h0: f32[N,W]"), null],
  },
});
