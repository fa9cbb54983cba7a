import { expect, it } from "vitest";
import { parseModel } from "../../../../src/ir/index.js";
import {
  fuseRecurrentChain,
  fuseSmallOrLstmChain,
  fuseSmallRecurrentChain,
} from "../../../../src/passes/control/recurrent/recurrent-chain.js";
import { annotateTypes, runPasses } from "../../../../src/rewrite/index.js";
import { describeModel } from "../../../support/ask-runtime.js";
import { testRewrite } from "../../../support/test-rewrite.js";

/** Names with a # are of one step: `row#` is what it reads, `h~` what it begins with, `h#` what it makes. */
const times = (step: string, count = 3, first = 0): string =>
  Array.from({ length: count }, (_, i) => {
    const at = first + i;
    // Constants of all steps are told in the first.
    const once = at === 0 ? step : step.replace(/\$(\w+): \w+\[[\d,]*\](?: = \{[^}]*\})?/g, "$1");
    return once.replaceAll("~", at === 0 ? "_" : `${at - 1}`).replaceAll("#", `${at}`);
  }).join("");

const row = (x = "x", axis = 1): string => `\n  row# = Gather<axis=${axis}>(${x}, $at#: i64[] = {#})`;

const gru = (read: string = row()): string => `${read}
  x# = Gemm<transB=1>(row#, $w: f32[12,3], $b: f32[12])
  p# = Gemm<transB=1>(h~, $r: f32[12,4], $d: f32[12])
  xr#, xz#, xn# = Split<axis=1>(x#, $thirds: i64[3] = {4, 4, 4})
  hr#, hz#, hn# = Split<axis=1>(p#, thirds)
  sr# = Add(hr#, xr#)
  rs# = Sigmoid(sr#)
  sz# = Add(hz#, xz#)
  z# = Sigmoid(sz#)
  rn# = Mul(rs#, hn#)
  sn# = Add(xn#, rn#)
  n# = Tanh(sn#)
  d# = Sub(h~, n#)
  k# = Mul(d#, z#)
  h# = Add(k#, n#)`;

const lstm = (read: string = row()): string => `${read}
  x# = Gemm<transB=1>(row#, $w: f32[16,3], $b: f32[16])
  s# = Gemm<transB=1>(h~, $r: f32[16,4], x#)
  si#, sf#, sg#, so# = Split<axis=1>(s#, $quarters: i64[4] = {4, 4, 4, 4})
  in# = Sigmoid(si#)
  f# = Sigmoid(sf#)
  g# = Tanh(sg#)
  o# = Sigmoid(so#)
  kept# = Mul(f#, c~)
  new# = Mul(in#, g#)
  c# = Add(kept#, new#)
  shown# = Tanh(c#)
  h# = Mul(o#, shown#)`;

const rnn = (read: string = row()): string => `${read}
  x# = MatMul(row#, $w: f32[3,4])
  p# = MatMul(h~, $r: f32[4,4])
  s# = Add(x#, p#)
  h# = Tanh(s#)`;

const of = (body: string, outputs = "h2", inputs = "x: f32[N,3,3], h_: f32[N,4]"): string =>
  `(${inputs}) -> (${outputs}) {${body}\n}`;

const withCell = "x: f32[N,3,3], h_: f32[N,4], c_: f32[N,4]";

/** Rows at these places, in turn; the steps need not read their own. */
const turned = (places: readonly number[]): string =>
  places.map((place, at) => `\n  row${at} = Gather<axis=1>(x, $at${at}: i64[] = {${place}})`).join("");

const all = "x: f32[N,3,3], h_: f32[N,4]";
/** Rows that are inputs themselves. */
const apart = "row0: f32[N,3], row1: f32[N,3], row2: f32[N,3], h_: f32[N,4]";

const zeros = "f32[1,4] = {0, 0, 0, 0}";
const tenths = (from: number, count: number): string =>
  Array.from({ length: count }, (_, at) => (from + at) / 10).join(", ");

/** The first step of a GRU of zeros, without their products: `added` is what is left of that of the candidate. */
const begunGru = (added = tenths(9, 4)): string => `${row().replaceAll("#", "0")}
  x0 = Gemm<transB=1>(row0, $w: f32[12,3], $b: f32[12])
  xr0, xz0, xn0 = Split<axis=1>(x0, $thirds: i64[3] = {4, 4, 4})
  sr0 = Add(xr0, $dr: f32[1,4] = {${tenths(1, 4)}})
  rs0 = Sigmoid(sr0)
  sz0 = Add(xz0, $dz: f32[1,4] = {${tenths(5, 4)}})
  z0 = Sigmoid(sz0)
  rn0 = Mul(rs0, $dn: f32[1,4] = {${added}})
  sn0 = Add(xn0, rn0)
  n0 = Tanh(sn0)
  d0 = Sub($zero: ${zeros}, n0)
  k0 = Mul(d0, z0)
  h0 = Add(k0, n0)`;

/** What the first step tells of constants, the second tells here. */
const goesOn = (step: string, told: readonly (readonly [name: string, text: string])[]): string =>
  told.reduce(
    (text, [name, constant]) => text.replace(new RegExp(`\\b${name}(?=[,)])`), `$${name}: ${constant}`),
    times(step, 2, 1),
  );

const begunLstm = `${row().replaceAll("#", "0")}
  x0 = Gemm<transB=1>(row0, $w: f32[16,3], $b: f32[16])
  si0, sf0, sg0, so0 = Split<axis=1>(x0, $quarters: i64[4] = {4, 4, 4, 4})
  in0 = Sigmoid(si0)
  f0 = Sigmoid(sf0)
  g0 = Tanh(sg0)
  o0 = Sigmoid(so0)
  kept0 = Mul(f0, $zero: ${zeros})
  new0 = Mul(in0, g0)
  c0 = Add(kept0, new0)
  shown0 = Tanh(c0)
  h0 = Mul(o0, shown0)`;

const twelfths: readonly [string, string] = ["d", `f32[12] = {${tenths(1, 12)}}`];

/** Three steps, the second of which is another. */
const but = (step: string, change: (second: string) => string): string =>
  times(step, 1) + change(times(step, 1, 1)) + times(step, 1, 2);

const instead =
  (from: string, to: string) =>
  (text: string): string => {
    expect(text).toContain(from);
    return text.replace(from, to);
  };

/** r scales the state, not its product. */
const early = gru()
  .replace("hr#, hz#, hn# = Split<axis=1>(p#, thirds)", "hr#, hz#, un# = Split<axis=1>(p#, thirds)")
  .replace("rn# = Mul(rs#, hn#)", "rh# = Mul(rs#, h~)\n  rn# = MatMul(rh#, $rn: f32[4,4])");

/** By products of their own, one gate at a time. */
const apartGru = `${row()}
  xz# = MatMul(row#, $wz: f32[3,4])
  hz# = MatMul(h~, $uz: f32[4,4])
  sz# = Add(xz#, hz#)
  z# = Sigmoid(sz#)
  xr# = MatMul(row#, $wr: f32[3,4])
  hr# = MatMul(h~, $ur: f32[4,4])
  sr# = Add(xr#, hr#)
  rs# = Sigmoid(sr#)
  xn# = MatMul(row#, $wn: f32[3,4])
  hn# = MatMul(h~, $un: f32[4,4])
  rn# = Mul(rs#, hn#)
  sn# = Add(xn#, rn#)
  n# = Tanh(sn#)
  d# = Sub(h~, n#)
  k# = Mul(d#, z#)
  h# = Add(k#, n#)`;

const unlike: Record<string, string> = {
  "another addend of the input": but(gru(), instead("w, b)", "w, $b1: f32[12])")),
  "another addend of the state": but(gru(), instead("r, d)", "r, $other: f32[12])")),
  "other weights of the input": but(gru(), instead("row1, w,", "row1, $w1: f32[12,3],")),
  "gates in another order": but(gru(), instead("xr1, xz1, xn1", "xz1, xr1, xn1")),
  "another activation": but(gru(), instead("n1 = Tanh", "n1 = Relu")),
  "gates by another activation": but(gru(), (text) =>
    instead("rs1 = Sigmoid", "rs1 = HardSigmoid")(instead("z1 = Sigmoid", "z1 = HardSigmoid")(text)),
  ),
  "the other half kept": but(gru(), (text) =>
    instead("Sub(h0, n1)", "Sub(n1, h0)")(instead("Add(k1, n1)", "Add(h0, k1)")(text)),
  ),
  "weights the other way around": but(
    apartGru,
    instead("xz1 = MatMul(row1, wz)", "xz1 = Gemm<transB=1>(row1, $wt: f32[4,3])"),
  ),
  "a gate without the product of the state": but(apartGru, instead("sr1 = Add(xr1, hr1)", "sr1 = Identity(xr1)")),
  "a candidate without the product of the state": but(
    apartGru,
    instead("rn1 = Mul(rs1, hn1)", "rn1 = Mul(rs1, $c1: f32[4])"),
  ),
  "a gate of another state": but(apartGru, instead("hr1 = MatMul(h0,", "hr1 = MatMul(h_,")),
};

testRewrite(fuseRecurrentChain, {
  rewrites: {
    "a GRU": of(times(gru()), "h2", all),
    "a GRU, of which all steps are read": of(times(gru()), "h0, h1, h2", all),
    "an LSTM": of(times(lstm()), "h2", withCell),
    "an LSTM whose last states are both read": of(`${times(lstm())}\n  e = Identity(c2)`, "h1, h2, e", withCell),
    "an RNN of one sample": of(times(rnn()), "h1, h2", "x: f32[1,3,3], h_: f32[1,4]"),
    "steps in front of the batch": of(times(gru(row("x", 0))), "h2", "x: f32[3,N,3], h_: f32[N,4]"),
    "some of the rows": of(times(gru()), "h1, h2", "x: f32[N,5,3], h_: f32[N,4]"),
    "rows from the last to the first": of(turned([2, 1, 0]) + times(gru("")), "h0, h1, h2", all),
    "rows in no order": of(turned([2, 0, 1]) + times(gru("")), "h2", all),
    "rows counted from the end": of(turned([-3, -2, -1]) + times(gru("")), "h2", all),
    "rows that a Split makes": of(
      `\n  t0, t1, t2 = Split<axis=1>(x, $ones: i64[3] = {1, 1, 1})${times(gru("\n  row# = Squeeze(t#, $axis: i64[1] = {1})"))}`,
      "h2",
      all,
    ),
    "rows that Slices make": of(
      times(
        gru(
          "\n  t# = Slice(x, $s#: i64[1] = {#}, $e#: i64[1] = {#E}, $axis: i64[1] = {1})\n  row# = Squeeze(t#, axis)",
        ),
      ).replaceAll(/\{(\d)E\}/g, (_, at) => `{${Number(at) + 1}}`),
      "h2",
      all,
    ),
    "what is of no sequence": of(times(gru("")), "h2", apart),
    "rows of what is multiplied at once": of(
      `\n  xw = MatMul(x, $v: f32[3,4])\n  rows = Add(xw, $vb: f32[4])${times(`${row("rows")}
  p# = MatMul(h~, $r: f32[4,4])
  s# = Add(row#, p#)
  h# = Tanh(s#)`)}`,
      "h2",
      "x: f32[1,3,3], h_: f32[1,4]",
    ),
    "layers, each of which reads the steps of the one before": of(
      times(`${gru()}
  q# = MatMul(h#, $w2: f32[4,16])
  s# = Gemm(g~, $r2: f32[4,16], q#)
  si#, sf#, sg#, so# = Split<axis=1>(s#, $quarters: i64[4] = {4, 4, 4, 4})
  in# = Sigmoid(si#)
  f# = Sigmoid(sf#)
  gg# = Tanh(sg#)
  o# = Sigmoid(so#)
  kept# = Mul(f#, c~)
  new# = Mul(in#, gg#)
  c# = Add(kept#, new#)
  shown# = Tanh(c#)
  g# = Mul(o#, shown#)`),
      "g2",
      `${withCell}, g_: f32[N,4]`,
    ),
    "steps between which others read": of(
      times(`${gru()}\n  y# = MatMul(h#, $out: f32[4,2])\n  a# = Relu(y#)`),
      "a0, a1, a2",
      all,
    ),
    "a gate that is read": of(times(gru()), "h2, z1", all),
    "a first state that one sample has": of(times(gru()), "h2", "x: f32[1,3,3], h_: f32[1,4]"),
    "zeros for all samples": of(
      `\n  h_ = Identity($none: f32[1,4] = {0, 0, 0, 0})${times(gru())}`,
      "h2",
      "x: f32[N,3,3]",
    ),
    "a GRU that begins with zeros, whose products are gone": of(
      begunGru() + goesOn(gru(), [["r", "f32[12,4]"], twelfths]),
      "h2",
      "x: f32[1,3,3]",
    ),
    "a GRU behind a step that adds something else": of(
      begunGru(tenths(1, 4)) + goesOn(gru(), [["r", "f32[12,4]"], twelfths]),
      "h2",
      "x: f32[1,3,3]",
    ),
    "an LSTM that begins with zeros, whose products are gone": of(
      begunLstm + goesOn(lstm(), [["r", "f32[16,4]"]]),
      "h0, h2",
      "x: f32[1,3,3]",
    ),
    "an RNN that begins with zeros, whose products are gone": of(
      `${row().replaceAll("#", "0")}
  x0 = MatMul(row0, $w: f32[3,4])
  h0 = Tanh(x0)${goesOn(rnn(), [["r", "f32[4,4]"]])}`,
      "h2",
      "x: f32[1,3,3]",
    ),
    "a GRU that forgets by z": of(
      times(gru().replace("Sub(h~, n#)", "Sub(n#, h~)").replace("Add(k#, n#)", "Add(h~, k#)")),
      "h2",
      all,
    ),
    "zeros of two forms": of(
      `\n  h_ = Identity($none: f32[1,4] = {0, 0, 0, 0})${times(gru()).replace("Sub(h_,", "Sub($nil: f32[] = {0},")}`,
      "h2",
      "x: f32[N,3,3]",
    ),
    "a cell state of zeros that are one number": of(
      `\n  h_ = Identity($none: f32[1,4] = {0, 0, 0, 0})${times(lstm()).replace("c_)", "$nil: f32[] = {0})")}`,
      "h2",
      "x: f32[1,3,3]",
    ),
    "the steps in front of a cell state that is read": of(times(lstm()), "c1, h2", withCell),
    "the steps behind a cell state that is read": of(times(lstm()), "c0, h2", withCell),
    "the steps in front of what a cell state shows, read too": of(times(lstm()), "shown1, h2", withCell),
    "the steps in front of one that reads what they make": of(
      `${times(lstm(), 2)}\n  m = MatMul(h1, $a: f32[4,3])${times(lstm("\n  row# = Relu(m)"), 1, 2)}`,
      "h1, h2",
      withCell,
    ),
    "the steps behind one that reads what is made before them": of(
      `${times(gru(), 1)}\n  m = MatMul(h0, $a: f32[4,3])${times(gru("\n  row# = Relu(m)"), 1, 1)}${times(gru("\n  row# = Relu(row1)"), 1, 2)}`,
      "h2",
      all,
    ),
    "the steps behind a first one whose state all samples share": of(times(gru()), "h2", "x: f32[N,3,3], h_: f32[1,4]"),
    "the steps behind a first one, of rows of what it makes": of(
      `${times(gru(row("y")), 1)}\n  m = ReduceMean<keepdims=1>(h0)\n  xm = Add(x, m)${times(
        gru(row("xm")),
        2,
        1,
      )}`.replace("(y,", "(x,"),
      "h2",
      all,
    ),
    "rows that Gathers of one index make": of(
      times(gru("\n  t# = Gather<axis=1>(x, $at#: i64[1] = {#})\n  row# = Squeeze(t#, $axis: i64[1] = {1})")),
      "h2",
      all,
    ),
    "a GRU by products of its own for each gate": of(times(apartGru), "h2", all),
    "a GRU whose state is scaled before it is multiplied": of(times(early), "h2", all),
    "the steps behind one whose cell state nobody keeps": of(
      but(lstm(), instead("Mul(f1, c0)", "Mul(f1, c_)")),
      "h2",
      withCell,
    ),
    "steps in a body, behind a first one in front of it": `(k: bool[], x: f32[1,3,3]) -> (y) {${begunGru()}
  y = If<then_branch=() -> (t) {${goesOn(gru(), [["r", "f32[12,4]"], twelfths])}
    t = Identity(h2) }, else_branch=() -> (e) { e = Relu(h0) }>(k) }`,
    "steps in a body": `(k: bool[], ${all}) -> (y) {
  y = If<then_branch=() -> (t) {${times(gru())}\n  t = Identity(h2) }, else_branch=() -> (e) { e = Relu(h_) }>(k) }`,
    "what the last cell state shows, read too": of(times(lstm()), "shown2, h2", withCell),
    "steps of which the last is not read": of(times(gru()), "h1", all),
    "zeros for each of some samples": of(
      `\n  h_ = Identity($none: f32[2,4] = {0, 0, 0, 0, 0, 0, 0, 0})${times(gru())}`,
      "h2",
      "x: f32[2,3,3]",
    ),
    "rows of what is multiplied and turned": of(
      `\n  xw = MatMul(x, $v: f32[3,4])\n  rows = Transpose<perm=[1,0,2]>(xw)${times(`${row("rows", 0)}
  p# = MatMul(h~, $r: f32[4,4])
  s# = Add(row#, p#)
  h# = Tanh(s#)`)}`,
      "h2",
      "x: f32[1,3,3], h_: f32[1,4]",
    ),
    "as many samples as a GRU is fast with": of(times(gru()), "h2", "x: f32[16,3,3], h_: f32[16,4]"),
  },
  leaves: {
    "one step": [of(times(gru(), 1), "h0", all), null],
    "steps that read what is made of the step before": [
      of(times(gru("\n  a# = MatMul(h~, $a: f32[4,3])\n  row# = Relu(a#)")), "h2", "h_: f32[N,4]"),
      null,
    ],
    "cell states that are read after each step": [of(times(lstm()), "c0, c1, h2", withCell), null],
    "what cell states show, read after each step": [of(times(lstm()), "shown0, shown1, h2", withCell), null],
    "states of other samples than the rows": [of(times(gru()), "h2", "x: f32[1,3,3], h_: f32[N,4]"), null],
    "steps of other weights than those before": [
      of(
        times(gru(), 1) +
          times(gru(), 2, 1)
            .replaceAll("(h0, r,", "(h0, $r1: f32[12,4],")
            .replaceAll("(h1, r,", "(h1, $r2: f32[12,4],"),
        "h2",
        all,
      ),
      null,
    ],
    "a difference the other way around": [of(times(gru().replace("Add(k#, n#)", "Add(k#, h~)")), "h2", all), null],
    "zeros of more samples than the rows have": [
      of(
        `\n  h_ = Identity($none: f32[2,4] = {0, 0, 0, 0, 0, 0, 0, 0})${times(gru()).replace("Sub(h_,", "Sub($nil: f32[] = {0},")}`,
        "h2",
        "x: f32[1,3,3]",
      ),
      null,
    ],
    "two steps, the first with a cell state that is one number": [
      of(times(lstm(), 2).replace("c_)", "$half: f32[] = {0.5})"), "h1", all),
      null,
    ],
    ...Object.fromEntries(
      Object.entries(unlike).map(([name, body]) => [
        `a step unlike the others: ${name}`,
        [of(body, "h2", all), null] as const,
      ]),
    ),
    "two steps, the first with a cell state of one column": [
      of(times(lstm(), 2), "h1", "x: f32[N,3,3], h_: f32[N,4], c_: f32[N,1]"),
      null,
    ],
    "two steps, the first with zeros of three axes": [
      of(
        `\n  h_ = Identity($none: f32[1,1,4] = {0, 0, 0, 0})${times(gru(), 2).replaceAll("p0 = Gemm<transB=1>(h_, $r: f32[12,4], $d: f32[12])", "q0 = Squeeze(h_, $first: i64[1] = {0})\n  p0 = Gemm<transB=1>(q0, $r: f32[12,4], $d: f32[12])")}`,
        "h1",
        "x: f32[1,3,3]",
      ),
      null,
    ],
    "rows of which one is of one sample": [
      of(times(gru(""), 2), "h1", "row0: f32[N,3], row1: f32[1,3], h_: f32[N,4]"),
      null,
    ],
    "an RNN of two samples": [of(times(rnn()), "h2", "x: f32[2,3,3], h_: f32[2,4]"), null],
    "a cell state that something else reads too": [of(`${times(lstm(), 2)}\n  e = Relu(c0)`, "e, h1", withCell), null],
    "an RNN of nobody knows how many samples": [of(times(rnn()), "h2", all), null],
    "more samples than a GRU is fast with": [of(times(gru()), "h2", "x: f32[17,3,3], h_: f32[17,4]"), null],
    "no samples": [of(times(gru()), "h2", "x: f32[0,3,3], h_: f32[0,4]"), null],
    "an opset without the axes of Squeeze": [
      of(times(gru()).replaceAll(", $thirds: i64[3] = {4, 4, 4}", "").replaceAll(", thirds", ""), "h2", all),
      null,
      { opset: 12 },
    ],
  },
});

/** With a hidden size of so many instead of 4. */
const wide = (text: string, hidden: number): string =>
  text
    .replace(/\b(?:12|16|4)\b/g, (number) => `${(Number(number) / 4) * hidden}`)
    // As many parts as before.
    .replace(`i64[${hidden}]`, "i64[4]");

const large = {
  gru: of(wide(times(gru()), 296), "h2", wide(all, 296)),
  lstm: of(wide(times(lstm(), 2), 264), "h1", wide(withCell, 264)),
};

testRewrite(fuseSmallRecurrentChain, {
  rewrites: { "a small GRU": of(times(gru()), "h2", all), "a small LSTM": of(times(lstm()), "h2", withCell) },
  leaves: { "a large GRU": [large.gru, null], "a large LSTM": [large.lstm, null] },
});

testRewrite(fuseSmallOrLstmChain, {
  rewrites: { "a small GRU": of(times(gru()), "h2", all) },
  leaves: { "a large GRU": [large.gru, null] },
});

it("makes an operator of a large LSTM where ONNX Runtime's own may come of it", async () => {
  const model = parseModel(large.lstm);
  await annotateTypes(model, describeModel);
  const [report] = await runPasses(model, [fuseSmallOrLstmChain]);
  expect(report!.applied).toBe(1);
  expect([...model.graph.nodes()].map(({ op }) => op)).toContain("LSTM");
});
