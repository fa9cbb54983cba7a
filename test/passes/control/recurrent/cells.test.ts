/** Cells that recurrence.test.ts has not: by what they compute, not by how often their loop turns. */
import { fuseRecurrence } from "../../../../src/passes/control/recurrent/recurrence.js";
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

/** Of sizes that are all told: the batch, and how wide h is. */
const fixed = (body: string, x: string, h: string, inner = h): string =>
  `(x: ${x}, h0: ${h}) -> (y, z) { y, z = ${turn(body, "n", `h: ${inner}`)}($m: i64[] = {5}, _, h0) }`;

/** r scales the product of the state. */
const after = (
  ofInput = "Gemm<transB=1>(row, $wc: f32[4,3], $bc: f32[4])",
  ofState = "MatMul(h, $uc: f32[4,4])",
): string =>
  `${sum("z")}${sum("r")}
  z = Sigmoid(sz)
  r = Sigmoid(sr)
  xc = ${ofInput}
  hc = ${ofState}
  rc = Mul(r, hc)
  sc = Add(xc, rc)
  c = Tanh(sc)${update}`;

const told = (activation: string): string =>
  before
    .replace("z = Sigmoid(sz)", `u = ${activation}(sz)\n  z = Sub($uno: f32[] = {1}, u)`)
    .replace("r = Sigmoid(sr)", `r = ${activation}(sr)`)
    .replace(/rest = .*/, "rest = Identity(u)")
    .replace("Mul(rest, c)", "Mul(u, c)");

const XN = "Gemm<transB=1>(row, $wn: f32[4,3], $bn: f32[4])";
const HN = "MatMul(h, $un: f32[4,4])";
const plain = (sum: string): string =>
  `\n  xn = MatMul(row, $w: f32[3,4])\n  hn = MatMul(h, $u: f32[4,4])${sum}\n  n = Tanh(sn)`;

/** A cell that takes rows of what is made of x in front of the loop. */
const projected = (x: string, made: string, ofRow = "row"): string => `(x: ${x}, h0: f32[N,4]) -> (y, z) {${made}
  y, z = Loop<body=(i: i64[], k: bool[], h: f32[N,4]) -> (k, n, e) {
    row = Gather<axis=0>(rows, i)
    hn = MatMul(h, $u: f32[4,4])
    sn = Add(${ofRow}, hn)
    n = Tanh(sn)
    e = Identity(n)
  }>($m: i64[] = {5}, _, h0)
}`;

testRewrite(fuseRecurrence, {
  rewrites: {
    "an RNN": loop(tanh),
    "an RNN whose input is multiplied in front of the loop": projected(
      "f32[N,5,3]",
      `
      p = MatMul(x, $w: f32[3,4])
      q = Add($b: f32[4], p)
      rows = Transpose<perm=[1,0,2]>(q)`,
    ),
    "the same along the steps": projected("f32[5,N,3]", "\n  rows = MatMul(x, $w: f32[3,4])"),
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
    "last states from zeros after nobody knows how many steps": `(x: f32[T,2,3]) -> (y) { s = Shape(x)
      t = Gather<axis=0>(s, $first: i64[] = {0})
      y, z = ${turn(tanh, "n", "h: f32[2,4]")}(t, _, $h0: f32[2,4] = {0, 0, 0, 0, 0, 0, 0, 0}) }`,
    "one cell that reads another": stacked(),
    "a product without its addend": loop(
      tanh.replace("MatMul(h, $un: f32[4,4])", "Gemm<beta=0.0>(h, $un: f32[4,4], $no: f32[] = {7})"),
    ),
    "a GRU by HardSigmoid as it is by itself": loop(
      before.replace("z = Sigmoid(sz)", "z = HardSigmoid(sz)").replace("r = Sigmoid(sr)", "r = HardSigmoid(sr)"),
    ),
    "an LSTM by HardSigmoid": pair(four + remembers.replaceAll("Sigmoid", "HardSigmoid")),
    "an LSTM whose candidate alone is by Relu": pair(four + remembers.replace("Tanh(sg)", "Relu(sg)")),
    "parts of parts": pair(
      joined.replace(
        "si, sg, sf, so = Split<axis=-1>(p)",
        "p1, p2 = Split<axis=-1>(p)\n  si, sg = Split<axis=-1>(p1)\n  sf, so = Split<axis=-1>(p2)",
      ) + remembers,
    ),
    "a joined product of columns": pair(
      joined.replace("Gemm(both, $w: f32[7,16]", "Gemm<transB=1>(both, $w: f32[16,7]") + remembers,
    ),
    "an addend of the state's product alone": loop(
      after("MatMul(row, $wc: f32[3,4])", "Gemm(h, $uc: f32[4,4], $dc: f32[4])").replace(
        /Gemm<transB=1>\(row, \$w(.): f32\[4,3\], \$b.: f32\[4\]\)/g,
        "MatMul(row, $w$1: f32[3,4])",
      ),
    ),
    "a number cut with the rest": pair(
      joined.replace(
        "p = Gemm(both, $w: f32[7,16], $b: f32[16])",
        "q = Gemm(both, $w: f32[7,16], $b: f32[16])\n  p = Add(q, $half: f32[1] = {0.5})",
      ) + remembers,
    ),
    "one cell that reads another, whose state comes first": `(x: f32[5,N,3], h0: f32[N,4], g0: f32[N,2]) -> (y, q, z) {
      q, y, z = ${turn(
        `${tanh}
        xg = MatMul(n, $v: f32[4,2])
        hg = MatMul(g, $r: f32[2,2])
        sg = Add(xg, hg)
        g1 = Relu(sg)`,
        "g1, n",
        "g: f32[N,2], h: f32[N,4]",
        "g1",
      )}($t: i64[] = {5}, _, g0, h0)
    }`,
    "an LSTM of which one state starts from zeros": `(x: f32[5,2,3], h0: f32[2,4]) -> (y, c, z) {
      y, c, z = ${turn(joined + remembers, "n, m", "h: f32[2,4], c: f32[2,4]")}($t: i64[] = {5}, _, h0, $c0: f32[2,4] = {0, 0, 0, 0, 0, 0, 0, 0})
    }`,
    "three cells": `(x: f32[5,N,3], h0: f32[N,4], g0: f32[N,2], k0: f32[N,2]) -> (y, q, z) {
      y, q, w, z = ${turn(
        `${tanh}
        xg = MatMul(n, $v: f32[4,2])
        hg = MatMul(g, $r: f32[2,2])
        sg = Add(xg, hg)
        g1 = Relu(sg)
        xk = MatMul(g1, $v2: f32[2,2])
        hk = MatMul(l, $r2: f32[2,2])
        sk = Add(xk, hk)
        k1 = Tanh(sk)`,
        "n, g1, k1",
        "h: f32[N,4], g: f32[N,2], l: f32[N,2]",
        "k1",
      )}($t: i64[] = {5}, _, h0, g0, k0)
    }`,
    "a product of which any number but zero says that it is transposed": loop(
      tanh.replace(HN, "Gemm<transB=2>(h, $un: f32[4,4])"),
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
    "memory shown through another function than the operator has": [
      pair(four + remembers.replace("seen = Tanh", "seen = Sin")),
      null,
    ],
    "memory that another gate lets out": [pair(four + remembers.replace("n = Mul(o1, seen)", "n = Mul(i1, g1)")), null],
    "another tensor that is kept": [pair(four + remembers.replace("Mul(f1, c)", "Mul(f1, h)")), null],
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
    "a cell of something else than a row": [
      loop(
        tanh.replace(
          "xn = Gemm<transB=1>(row, $wn: f32[4,3], $bn: f32[4])",
          "row2 = Neg(row)\n  xn = MatMul(row2, $wn: f32[3,4])",
        ),
      ),
      null,
    ],
    "a first state of another width": [loop(tanh, "n", "x: f32[5,N,3], h0: f32[N,W]"), null],
    "gates of different inputs": [
      loop(before.replace("xr = Gemm<transB=1>(row", "neg = Neg(row)\n  xr = Gemm<transB=1>(neg")),
      null,
    ],
    "a gate of one column": [
      loop(
        before
          .replace("$wz: f32[4,3], $bz: f32[4]", "$wz: f32[1,3], $bz: f32[1]")
          .replace("$uz: f32[4,4]", "$uz: f32[4,1]"),
      ),
      null,
    ],
    "a hard gate that begins below zero": [loop(hard.replaceAll("{0}", "{-1}")), null],
    "hard gates of different offsets": [
      loop(
        before
          .replace("z = Sigmoid(sz)", "z = HardSigmoid<beta=0.4>(sz)")
          .replace("r = Sigmoid(sr)", "r = HardSigmoid<beta=0.6>(sr)"),
      ),
      null,
    ],
    "what shows another tensor than memory": [pair(four + remembers.replace("Tanh(m)", "Tanh(kept)")), null],
    "a GRU that keeps another tensor than its state": [
      loop(before.replace("old = Mul(z, h)", "old = Mul(z, r)")),
      null,
    ],
    "a hard gate that tells what is new": [loop(told("HardSigmoid")), null],
    "a product of one column that is reset": [loop(after(undefined, "MatMul(h, $uc: f32[4,1])")), null],
    "a product of the state besides the one that is reset": [
      loop(
        after(
          "Gemm<transB=1>(row, $wc: f32[4,3], $bc: f32[4])\n  hv = MatMul(h, $vc: f32[4,4])\n  xv = Add(xc, hv)",
        ).replace("Add(xc, rc)", "Add(xv, rc)"),
      ),
      null,
    ],
    "a product of the input that is reset too": [
      loop(
        after(undefined, "MatMul(h, $uc: f32[4,4])\n  xv = MatMul(row, $vc: f32[3,4])\n  hv = Add(hc, xv)").replace(
          "Mul(r, hc)",
          "Mul(r, hv)",
        ),
      ),
      null,
    ],
    "a state that is transposed": [
      fixed(tanh.replace(HN, "Gemm<transA=1>(h, $un: f32[4,4])"), "f32[5,4,3]", "f32[4,4]"),
      null,
    ],
    "an addend that is scaled": [loop(tanh.replace("Gemm<transB=1>", "Gemm<beta=0.5, transB=1>")), null],
    "an addend of three axes": [
      fixed(
        tanh.replace("sn = Add(xn, hn)", "s1 = Add(xn, hn)\n  sn = Add(s1, $cube: f32[1,1,4])"),
        "f32[5,N,3]",
        "f32[N,4]",
        "f32",
      ).replace("-> (y, z)", "-> (y)"),
      null,
    ],
    "a number for each sample": [fixed(tanh.replace("$bn: f32[4]", "$bn: f32[4,1]"), "f32[5,4,3]", "f32[4,4]"), null],
    "a product of one column": [loop(tanh.replace(HN, "MatMul(h, $un: f32[4,1])")), null],
    "rows of no elements": [fixed(tanh.replace(XN, "MatMul(row, $wn: f32[0,4] = {})"), "f32[5,N,0]", "f32[N,4]"), null],
    "a part of the samples": [
      fixed(
        "\n  xn = MatMul(row, $w: f32[3,1])\n  hp = MatMul(h, $u: f32[1,1])\n  hn, ho = Split<axis=0>(hp, $s: i64[2] = {1, 1})\n  sn = Add(xn, hn)\n  n = Tanh(sn)",
        "f32[5,2,3]",
        "f32[2,1]",
      ),
      null,
    ],
    "all samples but the first": [
      fixed(
        plain(
          "\n  hs = Slice(hn, $s: i64[2] = {1, 0}, $to: i64[2] = {2147483647, 4}, $a: i64[2] = {0, 1})\n  sn = Add(xn, hs)",
        ),
        "f32[5,2,3]",
        "f32[2,4]",
      ),
      null,
    ],
    "the first sample": [
      fixed(
        plain("\n  hs = Slice(hn, $s: i64[2] = {0, 0}, $to: i64[2] = {1, 4}, $a: i64[2] = {0, 1})\n  sn = Add(xn, hs)"),
        "f32[5,2,3]",
        "f32[2,4]",
      ),
      null,
    ],
    "every other sample": [
      fixed(
        plain(
          "\n  hs = Slice(hn, $s: i64[2] = {0, 0}, $to: i64[2] = {2147483647, 4}, $a: i64[2] = {0, 1}, $p: i64[2] = {2, 1})\n  sn = Add(xn, hs)",
        ),
        "f32[5,2,3]",
        "f32[2,4]",
      ),
      null,
    ],
    "one column of two": [
      fixed(
        "\n  xn = MatMul(row, $w: f32[3,2])\n  hn = MatMul(h, $u: f32[2,2])\n  hs = Slice(hn, $s: i64[1] = {0}, $to: i64[1] = {2}, $a: i64[1] = {1}, $p: i64[1] = {2})\n  sn = Add(xn, hs)\n  n = Tanh(sn)",
        "f32[5,N,3]",
        "f32[N,2]",
      ),
      null,
    ],
    "rows that keep their axis": [
      fixed(tanh.replace(XN, "MatMul(row, $wn: f32[3,4])"), "f32[5,N,3]", "f32[N,4]", "f32")
        .replace("i: i64[]", "i: i64[1]")
        .replace("-> (y, z)", "-> (y)"),
      null,
    ],
    "a row that all samples share": [
      fixed(tanh.replace(XN, "MatMul(row, $wn: f32[3,4])"), "f32[5,3]", "f32[3,4]"),
      null,
    ],
    "a first state of three axes": [
      fixed(tanh.replace(XN, "MatMul(row, $wn: f32[3,4])"), "f32[5,4,3]", "f32[4,4,4]"),
      null,
    ],
    "cells beside each other": [stacked("row").replace("$v: f32[4,2]", "$v: f32[3,2]"), null],
    "rows of a product turned another way": [
      projected(
        "f32[N,3,5]",
        "\n  t = Transpose<perm=[0,2,1]>(x)\n  p = MatMul(t, $w: f32[3,4])\n  rows = Transpose<perm=[1,0,2]>(p)",
      )
        .replace("f32[N,3,5]", "f32[4,3,5]")
        .replaceAll("f32[N,4]", "f32[4,4]")
        .replace("perm=[1,0,2]", "perm=[1,2,0]"),
      null,
    ],
    "rows of a product by what is computed": [
      projected("f32[5,N,3]", "\n  rows = MatMul(x, w)").replace("h0: f32[N,4])", "h0: f32[N,4], w: f32[3,4])"),
      null,
    ],
    "rows of what one and all of a matrix multiply": [
      projected("f32[5,N,4]", "\n  rows = MatMul(x, $w: f32[4,4])")
        .replace("hn = MatMul", "r2 = MatMul(row, $v: f32[4,4])\n    r = Add(row, r2)\n    hn = MatMul")
        .replace("Add(row, hn)", "Add(r, hn)"),
      null,
    ],
    "a gate of the product beside one of what it is made into": [
      projected("f32[5,N,4]", "\n  rows = MatMul(x, $w: f32[4,4])").replace(
        / {4}sn = .*\n.*\n/,
        `    sz = Add(row, hn)
    z = Sigmoid(sz)
    hr = MatMul(h, $ur: f32[4,4])
    sr = Add(row, hr)
    r = Sigmoid(sr)
    xc = MatMul(row, $wc: f32[4,4])
    hc = MatMul(h, $uc: f32[4,4])
    rc = Mul(r, hc)
    sc = Add(xc, rc)
    c = Tanh(sc)${update}\n`,
      ),
      null,
    ],
    "addends without end": [
      loop(
        `${sum("n")}\n  a0 = Add(sn, $c: f32[4])${Array.from({ length: 40 }, (_, at) => `\n  a${at + 1} = Add(a${at}, c)`).join("")}\n  n = Tanh(a40)`,
      ),
      null,
    ],
    "no samples": [fixed(tanh, "f32[5,0,3]", "f32[0,4]"), null],
    "last states after nobody knows how many steps, perhaps none": [
      `(x: f32[T,N,3], h0: f32[N,4]) -> (y) { s = Shape(x) t = Gather<axis=0>(s, $first: i64[] = {0}) y, z = ${turn(tanh, "n")}(t, _, h0) }`,
      null,
    ],
    "a sum of the same that grows with each step of it": [
      loop(
        `${sum("n")}${Array.from({ length: 40 }, (_, at) => `\n  ${at === 39 ? "last" : `a${at + 1}`} = Add(${at === 0 ? "sn, sn" : `a${at}, a${at}`})`).join("")}\n  n = Tanh(last)`,
      ),
      null,
    ],
  },
});
