import { describe, expect, it } from "vitest";
import { cutByChance, described, groupsOf } from "../../support/sliced.js";

interface Case {
  readonly text: string;
  readonly groups: readonly string[];
  readonly opset?: number;
}

/** Between a first Conv and a last one: `y: f32[N,8,...]` of what comes from `c: f32[N,8,6,6]`. */
const between = (lines: string, width = 8): string => `(x: f32[N,3,6,6]) -> (z) {
  c = Conv "first" <kernel_shape=[1,1]>(x, $w: f32[8,3,1,1], $b: f32[8])
  ${lines}
  z = Conv "last" <kernel_shape=[1,1]>(y, $v: f32[4,${width},1,1])
}`;

const OUTPUT = "last: 4 channels (it is the model's output z)";
const free = "first: 8 channels";

const cases: Readonly<Record<string, Case>> = {
  "a chain": { text: between("y = Relu(c)"), groups: [free, OUTPUT] },
  "a residual sum of two convolutions": {
    text: between(`d = Conv "other" <kernel_shape=[1,1]>(x, $u: f32[8,3,1,1])
      s = Add(c, d)
      y = Relu(s)`),
    groups: [free, OUTPUT],
  },
  "a sum with an input of the model": {
    text: `(x: f32[N,3,6,6], s: f32[N,8,6,6]) -> (z) {
      c = Conv "first" <kernel_shape=[1,1]>(x, $w: f32[8,3,1,1])
      y = Add "sum" (c, s)
      z = Conv "last" <kernel_shape=[1,1]>(y, $v: f32[4,8,1,1])
    }`,
    groups: ["first: 8 channels (sum combines it with s, which keeps its size)", OUTPUT],
  },
  "constants per channel": {
    text: between(`a = Mul(c, $s: f32[8,1,1])
      n = BatchNormalization(a, $g: f32[8], $h: f32[8], $m: f32[8], $k: f32[8] = {1,1,1,1,1,1,1,1})
      p = PRelu(n, $slope: f32[8,1,1])
      y = Add(p, $t: f32[1,1,1,1])`),
    groups: [free, OUTPUT],
  },
  "a depthwise convolution with two results per channel": {
    text: between(
      `y = Conv "deep" <group=8, kernel_shape=[3,3], pads=[1,1,1,1]>(c, $u: f32[16,1,3,3], $k: f32[16])`,
      16,
    ),
    groups: [free, OUTPUT],
  },
  "a grouped convolution": {
    text: between(`y = Conv "grouped" <group=4, kernel_shape=[1,1]>(c, $u: f32[12,2,1,1])`, 12),
    groups: ["first: 4 channels of 2", OUTPUT],
  },
  "a convolution whose weights are integers": {
    text: between(`q = DequantizeLinear($u: i8[8,8,1,1], $s: f32[])
      y = Conv "integer" <kernel_shape=[1,1]>(c, q)`),
    groups: [
      "first: 8 channels (the weights of integer are integers already: prune first, then quantize)",
      "last: 4 channels (it is the model's output z)",
    ],
  },
  "a Gemm of what has no known rank": {
    text: `(x: f32[N,3,6,6]) -> (z) {
      a = Conv "first" <kernel_shape=[1,1]>(x, $w: f32[8,3,1,1])
      c = Conv "second" <kernel_shape=[1,1]>(a, $v: f32[8,8,1,1])
      m = GlobalAveragePool(c)
      r = Squeeze "flat" (m)
      z = Gemm "last" (r, $k: f32[8,5])
    }`,
    groups: [free, "second: 8 channels (the shapes of flat are not known)"],
  },
  "a grouped convolution of the model's input": {
    text: `(x: f32[N,4,6,6]) -> (z) {
      y = Conv "first" <group=4, kernel_shape=[1,1]>(x, $w: f32[8,1,1,1])
      z = Conv "last" <kernel_shape=[1,1]>(y, $v: f32[4,8,1,1])
    }`,
    groups: [
      "first: 8 channels (first has 4 groups, and the channels of the model's input x cannot be removed)",
      OUTPUT,
    ],
  },
  "transposed convolutions": {
    text: between(
      `d = ConvTranspose "up" <kernel_shape=[2,2], strides=[2,2]>(c, $u: f32[8,6,2,2], $k: f32[6])
      y = ConvTranspose "deep" <group=6, kernel_shape=[1,1]>(d, $q: f32[6,2,1,1])`,
      12,
    ),
    groups: [free, "up: 6 channels", OUTPUT],
  },
  "a Concat, whose parts go their own ways": {
    text: between(
      `d = Conv "other" <kernel_shape=[1,1]>(x, $u: f32[5,3,1,1])
      j = Concat <axis=1>(c, d)
      y = Relu(j)`,
      13,
    ),
    groups: [free, "other: 5 channels", OUTPUT],
  },
  "a Concat with the model's input": {
    text: between("y = Concat <axis=1>(x, c)", 11),
    groups: [free, OUTPUT],
  },
  "a Split, whose parts go their own ways": {
    text: between(
      `p, q = Split <axis=1>(c, $sizes: i64[2] = {3,5})
      r = Relu(q)
      y = Concat <axis=1>(r, p, p)`,
      11,
    ),
    groups: ["first: 3 channels", "first 2: 5 channels", OUTPUT],
  },
  "a gate made of the other half": {
    text: between(
      `p, q = Split <axis=1, num_outputs=2>(c)
      g = Sigmoid(q)
      y = Mul(p, g)`,
      4,
    ),
    groups: ["first: 4 channels of 2", OUTPUT],
  },
  Slices: {
    text: between(
      `p = Slice(c, $s0: i64[2] = {2,1}, $e0: i64[2] = {9223372036854775807,-1}, $a: i64[2] = {1,2})
      q = Slice(p, $s1: i64[1] = {0}, $e1: i64[1] = {-1}, $a1: i64[1] = {-1})
      y = Relu(q)`,
      6,
    ),
    groups: ["first: 2 channels (no weights read it)", "first 2: 6 channels", OUTPUT],
  },
  "a Slice in steps": {
    text: between(`y = Slice "odd" (c, $s0: i64[1] = {1}, $e0: i64[1] = {8}, $a: i64[1] = {1}, $t: i64[1] = {2})`, 4),
    groups: ["first: 8 channels (odd takes steps)", OUTPUT],
  },
  "a Gather of channels": {
    text: between("y = Gather <axis=1>(c, $i: i64[5] = {7,0,-6,0,3})", 5),
    groups: [
      "first: 1 channels (it is one unit, which all that reads it needs)",
      "first 2: 4 channels (no weights read it)",
      "first 3: 3 channels",
      OUTPUT,
    ],
  },
  "zeros around the channels": {
    text: between("y = Pad(c, $p: i64[8] = {0,1,0,0,0,2,0,1})", 11),
    groups: [free, OUTPUT],
  },
  "pools and resizes": {
    text: between(`p = MaxPool <kernel_shape=[2,2], strides=[2,2]>(c)
      q = AveragePool <kernel_shape=[3,3], pads=[1,1,1,1]>(p)
      r = Resize <mode="nearest">(q, _, $s: f32[4] = {1,1,2,2})
      y = Resize <mode="linear", axes=[3,1,2]>(r, _, _, $n: i64[3] = {5,8,5})`),
    groups: [free, OUTPUT],
  },
  "squeeze and excite": {
    text: between(`p = GlobalAveragePool(c)
      q = Conv "narrow" <kernel_shape=[1,1]>(p, $u: f32[4,8,1,1], $k: f32[4])
      r = Relu(q)
      s = Conv "wide" <kernel_shape=[1,1]>(r, $t: f32[8,4,1,1], $o: f32[8])
      g = HardSigmoid(s)
      y = Mul(c, g)`),
    groups: [free, "narrow: 4 channels", OUTPUT],
  },
  "squeeze and excite by matrix products": {
    text: between(`p = ReduceMean <keepdims=0>(c, $axes: i64[2] = {2,3})
      q = Gemm "narrow" <transB=1>(p, $u: f32[4,8], $k: f32[4])
      r = Relu(q)
      s = MatMul "wide" (r, $t: f32[4,8])
      g = Sigmoid(s)
      h = Reshape(g, $shape: i64[4] = {0,8,1,1})
      y = Mul(c, h)`),
    groups: [free, "narrow: 4 units", OUTPUT],
  },
  "a shape that is put together": {
    text: between(`p = ReduceMean <keepdims=0>(c, $axes: i64[2] = {2,3})
      g = MatMul "gate" (p, $t: f32[8,8])
      batch = Shape <start=0, end=1>(c)
      sizes = Concat <axis=0>(batch, $tail: i64[3] = {8,1,1})
      h = Reshape(g, sizes)
      k = Reshape(p, sizes)
      i = Mul(h, k)
      y = Mul(c, i)`),
    groups: [free, OUTPUT],
  },
  "a size that is read": {
    text: between(`shape = Shape "sizes" (c)
      count = Gather <axis=0>(shape, $one: i64[] = {1})
      f = Cast <to=1>(count)
      y = Div(c, f)`),
    groups: ["first: 8 channels (sizes reads its size)", OUTPUT],
  },
  "a size that is copied to another axis": {
    text: `(x: f32[2,3,6]) -> (z) {
      c = Conv "first" <kernel_shape=[1]>(x, $w: f32[6,3,1])
      r = Reshape "moved" (c, $s: i64[2] = {-1,0})
      z = MatMul "last" (r, $v: f32[6,4])
    }`,
    groups: ["first: 6 channels (moved copies its size)", "last: 4 units (it is the model's output z)"],
  },
  "a channel shuffle": {
    text: between(`r = Reshape(c, $s: i64[5] = {0,2,4,6,6})
      t = Transpose <perm=[0,2,1,3,4]>(r)
      u = Reshape(t, $q: i64[4] = {0,-1,6,6})
      y = Relu(u)`),
    groups: ["first: 4 channels of 2", OUTPUT],
  },
  "depth to space and back": {
    text: between(`d = DepthToSpace <blocksize=2>(c)
      e = DepthToSpace <blocksize=1, mode="CRD">(d)
      y = SpaceToDepth <blocksize=2>(e)`),
    groups: ["first: 2 channels of 4", OUTPUT],
  },
  "instance and group normalization": {
    text: between(`i = InstanceNormalization(c, $s: f32[8], $t: f32[8])
      r = Reshape(i, $q: i64[3] = {0,4,-1})
      n = InstanceNormalization(r, $u: f32[4], $o: f32[4])
      y = Reshape(n, $f: i64[4] = {-1,8,6,6})`),
    groups: ["first: 4 channels of 2", OUTPUT],
  },
  GroupNormalization: {
    text: between("y = GroupNormalization <num_groups=2>(c, $s: f32[8], $t: f32[8])"),
    groups: ["first: 2 channels of 4", OUTPUT],
    opset: 21,
  },
  "normalization over the channels": {
    text: between(`t = Transpose <perm=[0,2,3,1]>(c)
      n = LayerNormalization "norm" <axis=-1>(t, $s: f32[8], $o: f32[8])
      y = Transpose <perm=[0,3,1,2]>(n)`),
    groups: ["first: 8 channels (norm normalizes over it)", OUTPUT],
  },
  "a number of all channels": {
    text: between(`m = ReduceMean "mean" <keepdims=1>(c, $axes: i64[1] = {1})
      y = Sub(c, m)`),
    groups: ["first: 8 channels (mean reduces over it)", OUTPUT],
  },
  "channels in front of a classifier": {
    text: `(x: f32[N,3,2,2]) -> (z) {
      c = Conv "first" <kernel_shape=[1,1]>(x, $w: f32[8,3,1,1])
      f = Flatten(c)
      h = Gemm "hidden" <transB=1>(f, $v: f32[6,32], $b: f32[6])
      r = Relu(h)
      z = Gemm "last" (r, $u: f32[6,4], $k: f32[1,4])
    }`,
    groups: [free, "hidden: 6 units", "last: 4 units (it is the model's output z)"],
  },
  "an operator that nobody knows": {
    text: between('y = CumSum "sums" (c, $one: i64[] = {1})'),
    groups: ["first: 8 channels (sums is a CumSum, which mixes or fixes it)", OUTPUT],
  },
  "what a body reads": {
    text: `(x: f32[N,3,6,6], f: bool[]) -> (z) {
      c = Conv "first" <kernel_shape=[1,1]>(x, $w: f32[8,3,1,1])
      y = If <
        then_branch = () -> (a) { a = Relu(c) },
        else_branch = () -> (b) { b = Neg(c) }
      >(f)
      z = Conv "last" <kernel_shape=[1,1]>(y, $v: f32[4,8,1,1])
    }`,
    groups: ["first: 8 channels (a body of a node reads c)", OUTPUT],
  },
  "weights that two layers share": {
    text: `(x: f32[N,4,6,6]) -> (z) {
      a = Conv "first" <kernel_shape=[1,1]>(x, $w: f32[8,4,1,1])
      b = Conv "narrow" <kernel_shape=[1,1]>(a, $n: f32[4,8,1,1])
      c = Conv "again" <kernel_shape=[1,1]>(b, w)
      z = Conv "last" <kernel_shape=[1,1]>(c, $v: f32[4,8,1,1])
    }`,
    groups: ["first: 8 channels", "narrow: 4 channels (w is shared by first and again)", OUTPUT],
  },
  "vectors that two layers share": {
    text: `(x: f32[N,4,6,6]) -> (z) {
      a = Conv "first" <kernel_shape=[1,1]>(x, $w: f32[8,4,1,1], $b: f32[8])
      c = Conv "second" <kernel_shape=[1,1]>(a, $n: f32[8,8,1,1], b)
      z = Conv "last" <kernel_shape=[1,1]>(c, $v: f32[4,8,1,1])
    }`,
    groups: ["first: 8 channels", "second: 8 channels", OUTPUT],
  },
  "a matrix on the left": {
    text: `(x: f32[N,5,4]) -> (z) {
      a = MatMul "mix" ($m: f32[6,5], x)
      r = Relu(a)
      z = MatMul "last" ($n: f32[3,6], r)
    }`,
    groups: ["mix: 6 units", "last: 3 units (it is the model's output z)"],
  },
  "a recurrent network": {
    text: `(x: f32[S,N,3]) -> (z) {
      a = MatMul "in" (x, $m: f32[3,6])
      h = GRU "memory" <hidden_size=4>(a, $w: f32[1,12,6], $r: f32[1,12,4])
      z = Squeeze(h, $one: i64[1] = {1})
    }`,
    groups: [
      "in: 6 units (memory is recurrent, and what it reads stays)",
      "memory: 4 units of 3 (memory reads what it made a step before)",
    ],
  },
};

const attentionText = (shapes: { q: string; o: string }): string => `(x: f32[N,S,12]) -> (z) {
  e = MatMul "embed" (x, $w_e: f32[12,10])
  n = LayerNormalization "norm" (e, $w_g: f32[10])
  q = MatMul "query" (n, $w_q: f32[10,12])
  qb = Add(q, $w_qb: f32[12])
  k = MatMul "key" (n, $w_k: f32[10,12])
  v = MatMul "value" (n, $w_v: f32[10,12])
  ${shapes.q}
  s = MatMul "scores" (q2, k2)
  p = Softmax(s)
  o = MatMul "mixed" (p, v2)
  t = Transpose <perm=[0,2,1,3]>(o)
  ${shapes.o}
  z = MatMul "out" (r, $w_o: f32[12,5])
}`;

const attention = attentionText({
  q: `q1 = Reshape(qb, $split: i64[4] = {0,0,3,4})
      k1 = Reshape(k, split)
      v1 = Reshape(v, split)
      q2 = Transpose <perm=[0,2,1,3]>(q1)
      k2 = Transpose <perm=[0,2,3,1]>(k1)
      v2 = Transpose <perm=[0,2,1,3]>(v1)`,
  o: "r = Reshape(t, $f: i64[3] = {0,0,12})",
});

const LAST = "out: 5 units (it is the model's output z)";
const EMBED = "embed: 10 units (norm normalizes over it)";

const transformers: Readonly<Record<string, Case>> = {
  "heads of attention": { text: attention, groups: [EMBED, "query: 3 heads of 4", LAST] },
  "heads with a mask for all of them": {
    text: attention
      .replace("(x: f32[N,S,12])", "(x: f32[N,S,12], m: f32[N,1,1,S])")
      .replace("p = Softmax(s)", "a = Add(s, m)\np = Softmax(a)"),
    groups: [EMBED, "query: 3 heads of 4", LAST],
  },
  "heads with a constant of their own": {
    text: attention.replace("p = Softmax(s)", "a = Mul(s, $w_own: f32[3,1,1])\np = Softmax(a)"),
    groups: [EMBED, "query: 3 heads of 4", LAST],
  },
  "heads with a mask of unknown sizes": {
    text: attention
      .replace("(x: f32[N,S,12])", "(x: f32[N,S,12], m: f32[N,?,1,S])")
      .replace("p = Softmax(s)", 'a = Add "masked" (s, m)\np = Softmax(a)'),
    groups: [
      EMBED,
      "query: 3 heads of 4 (masked combines it with m, whose size is not known)",
      "value: 4 units of 3",
      LAST,
    ],
  },
  "queries, keys and values of one product": {
    text: `(x: f32[N,S,10]) -> (z) {
      a = MatMul "all" (x, $w_q: f32[10,36])
      b = Add(a, $w_b: f32[36])
      r5 = Reshape(b, $split: i64[5] = {0,0,3,3,4})
      h = Transpose <perm=[2,0,3,1,4]>(r5)
      q2 = Gather <axis=0>(h, $i0: i64[] = {0})
      k1 = Gather <axis=0>(h, $i1: i64[] = {1})
      v2 = Gather <axis=0>(h, $i2: i64[] = {-1})
      k2 = Transpose <perm=[0,1,3,2]>(k1)
      s = MatMul "scores" (q2, k2)
      p = Softmax(s)
      o = MatMul "mixed" (p, v2)
      t = Transpose <perm=[0,2,1,3]>(o)
      r = Reshape(t, $f: i64[3] = {0,0,-1})
      z = MatMul "out" (r, $w_o: f32[12,5])
    }`,
    groups: ["all: 3 heads of 12", LAST],
  },
  "a single head": {
    text: `(x: f32[N,S,10]) -> (z) {
      q = MatMul "query" (x, $w_q: f32[10,6])
      k = MatMul "key" (x, $w_k: f32[10,6])
      v = MatMul "value" (x, $w_v: f32[10,7])
      t = Transpose <perm=[0,2,1]>(k)
      s = MatMul "scores" (q, t)
      p = Softmax(s)
      o = MatMul "mixed" (p, v)
      z = MatMul "out" (o, $w_o: f32[7,5])
    }`,
    groups: [
      "query: 6 heads (scores contracts it with t)",
      "key: 6 heads (scores contracts it with q)",
      "value: 7 units",
      LAST,
    ],
  },
  "Attention in one node": {
    text: `(x: f32[N,S,10]) -> (z) {
      q = MatMul "query" (x, $w_q: f32[10,12])
      k = MatMul "key" (x, $w_k: f32[10,6])
      v = MatMul "value" (x, $w_v: f32[10,6])
      a = Attention <q_num_heads=4, kv_num_heads=2>(q, k, v)
      z = MatMul "out" (a, $w_o: f32[12,5])
    }`,
    groups: ["query: 2 heads of 3", LAST],
    opset: 23,
  },
  "hidden units of a layer, and columns of a table that leads to it": {
    text: `(i: i64[N,S]) -> (z) {
      e = Gather "table" ($w_t: f32[9,6], i)
      w = MatMul "up" (e, $w_w: f32[6,8])
      n = LayerNormalization "norm" (w, $w_g: f32[8])
      h = MatMul "wide" (n, $w_h: f32[8,16])
      b = Add(h, $w_b: f32[16])
      g = Gelu(b)
      d = MatMul "down" (g, $w_d: f32[16,8])
      s = Add(d, n)
      z = MatMul "out" (s, $w_o: f32[8,5])
    }`,
    groups: ["table: 6 embedding", "up: 8 units (norm normalizes over it)", "wide: 16 units", LAST],
    opset: 20,
  },
};

describe("groups of channels", () => {
  for (const [name, { text, groups, opset }] of Object.entries({ ...cases, ...transformers })) {
    it(`are found through ${name}, and cut out exactly`, async () => {
      const map = await groupsOf(text, opset);
      expect(described(map)).toEqual(groups);
      for (const seed of [1, 2, 3]) {
        const { off, left } = await cutByChance(map, seed, 3);
        expect(off).toBeLessThan(1e-4);
        expect(left).toBeLessThanOrEqual(1);
      }
    });
  }
});
