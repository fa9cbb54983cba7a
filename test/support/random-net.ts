/** Small nets by chance, as text: what image models and transformers are made of, in any order. */
import { type Random, seededRandom } from "../../src/base/random.js";

interface Feature {
  readonly name: string;
  readonly channels: number;
}

const SIZE = 6;

class NetText {
  readonly lines: string[] = [];
  readonly random: Random;
  #names = 0;

  constructor(seed: number) {
    this.random = seededRandom(seed);
  }

  pick<T>(list: readonly T[]): T {
    return list[this.random.below(list.length)]!;
  }

  name(): string {
    return `v${this.#names++}`;
  }

  /** A line whose result has a new name; `$` in front of a type makes a constant. */
  add(channels: number, make: (constant: (type: string) => string) => string): Feature {
    const name = this.name();
    this.lines.push(`${name} = ${make((type) => `$${this.name()}: ${type}`)}`);
    return { name, channels };
  }

  conv({ name, channels }: Feature, made: number, kernel: 1 | 3 = this.pick([1, 3] as const)): Feature {
    const attributes = `kernel_shape=[${kernel},${kernel}], pads=[${[1, 1, 1, 1].map((p) => (kernel === 3 ? p : 0))}]`;
    return this.add(
      made,
      (c) =>
        `Conv <${attributes}>(${name}, ${c(`f32[${made},${channels},${kernel},${kernel}]`)}, ${c(`f32[${made}]`)})`,
    );
  }

  readonly steps: readonly ((x: Feature) => Feature)[] = [
    (x) => this.conv(x, this.pick([4, 6, 8, 12])),
    (x) => this.add(x.channels, () => `${this.pick(["Relu", "Sigmoid", "Tanh", "HardSwish"])}(${x.name})`),
    // A residual sum, of the same or with a shortcut.
    (x) => {
      const inner = this.conv(this.conv(x, this.pick([4, 8])), x.channels);
      const way = this.random.next() < 0.5 ? x : this.conv(x, x.channels, 1);
      return this.add(x.channels, () => `Add(${inner.name}, ${way.name})`);
    },
    (x) => {
      const other = this.conv(x, this.pick([2, 4, 6]));
      return this.add(x.channels + other.channels, () => `Concat <axis=1>(${x.name}, ${other.name})`);
    },
    (x) => this.add(x.channels, (c) => `Mul(${x.name}, ${c(`f32[${x.channels},1,1]`)})`),
    (x) =>
      this.add(x.channels, (c) => {
        const [k, n] = [x.channels, x.name];
        return `Conv <group=${k}, kernel_shape=[3,3], pads=[1,1,1,1]>(${n}, ${c(`f32[${k},1,3,3]`)}, ${c(`f32[${k}]`)})`;
      }),
    (x) => {
      const [groups, each] = [2, x.channels / 2];
      if (!Number.isInteger(each)) return x;
      return this.add(
        x.channels,
        (c) => `Conv <group=${groups}, kernel_shape=[1,1]>(${x.name}, ${c(`f32[${x.channels},${each},1,1]`)})`,
      );
    },
    // Squeeze and excite.
    (x) => {
      const pooled = this.add(x.channels, () => `GlobalAveragePool(${x.name})`);
      const narrow = this.add(3, (c) => `Conv(${pooled.name}, ${c(`f32[3,${x.channels},1,1]`)})`);
      const relu = this.add(3, () => `Relu(${narrow.name})`);
      const wide = this.add(x.channels, (c) => `Conv(${relu.name}, ${c(`f32[${x.channels},3,1,1]`)})`);
      const gate = this.add(x.channels, () => `Sigmoid(${wide.name})`);
      return this.add(x.channels, () => `Mul(${gate.name}, ${x.name})`);
    },
    // A half goes its own way.
    (x) => {
      if (x.channels === 1) return x;
      const first = 1 + this.random.below(x.channels - 1);
      const [a, b] = [this.name(), this.name()];
      this.lines.push(
        `${a}, ${b} = Split <axis=1>(${x.name}, $${this.name()}: i64[2] = {${first},${x.channels - first}})`,
      );
      const other = this.conv({ name: b, channels: x.channels - first }, this.pick([3, 4]));
      return this.add(first + other.channels, () => `Concat <axis=-3>(${other.name}, ${a})`);
    },
    // A shuffle of channels between two halves.
    (x) => {
      if (x.channels % 2 !== 0) return x;
      const [n, h] = [x.channels, x.channels / 2];
      const five = this.add(n, (c) => `Reshape(${x.name}, ${c(`i64[5] = {0,2,${h},${SIZE},${SIZE}}`)})`);
      const turned = this.add(n, () => `Transpose <perm=[0,2,1,3,4]>(${five.name})`);
      return this.add(n, (c) => `Reshape(${turned.name}, ${c(`i64[4] = {0,-1,${SIZE},${SIZE}}`)})`);
    },
    (x) => {
      if (x.channels === 1) return x;
      const cut = 1 + this.random.below(x.channels - 1);
      const at = (c: (type: string) => string, value: number): string => c(`i64[1] = {${value}}`);
      return this.add(x.channels - cut, (c) => `Slice(${x.name}, ${at(c, cut)}, ${at(c, 99)}, ${at(c, 1)})`);
    },
    (x) => this.add(x.channels + 1, (c) => `Pad(${x.name}, ${c("i64[8] = {0,1,0,0,0,0,0,0}")})`),
    (x) => this.add(x.channels, () => `MaxPool <kernel_shape=[3,3], pads=[1,1,1,1]>(${x.name})`),
    (x) =>
      this.add(
        x.channels,
        (c) => `InstanceNormalization(${x.name}, ${c(`f32[${x.channels}]`)}, ${c(`f32[${x.channels}]`)})`,
      ),
    // One normalization over the channels, which then stay.
    (x) => {
      const last = this.add(x.channels, () => `Transpose <perm=[0,2,3,1]>(${x.name})`);
      const norm = this.add(x.channels, (c) => `LayerNormalization(${last.name}, ${c(`f32[${x.channels}]`)})`);
      return this.add(x.channels, () => `Transpose <perm=[0,3,1,2]>(${norm.name})`);
    },
    (x) => {
      const up = this.add(x.channels, (c) => {
        const k = x.channels;
        return `ConvTranspose <kernel_shape=[1,1]>(${x.name}, ${c(`f32[${k},5,1,1]`)}, ${c("f32[5]")})`;
      });
      return { ...up, channels: 5 };
    },
    // Attention over places, with as many heads as fit.
    (x) => {
      const [heads, size] = [this.pick([2, 3]), 4];
      const width = heads * size;
      const flat = this.add(x.channels, (c) => `Reshape(${x.name}, ${c(`i64[3] = {0,${x.channels},${SIZE * SIZE}}`)})`);
      const rows = this.add(x.channels, () => `Transpose <perm=[0,2,1]>(${flat.name})`);
      const part = (perm: string): Feature => {
        const made = this.add(width, (c) => `MatMul(${rows.name}, ${c(`f32[${x.channels},${width}]`)})`);
        const biased = this.add(width, (c) => `Add(${made.name}, ${c(`f32[${width}]`)})`);
        const split = this.add(width, (c) => `Reshape(${biased.name}, ${c(`i64[4] = {0,0,${heads},${size}}`)})`);
        return this.add(width, () => `Transpose <perm=[${perm}]>(${split.name})`);
      };
      const [q, k, v] = [part("0,2,1,3"), part("0,2,3,1"), part("0,2,1,3")];
      const scores = this.add(width, () => `MatMul(${q.name}, ${k.name})`);
      const shares = this.add(width, () => `Softmax(${scores.name})`);
      const mixed = this.add(width, () => `MatMul(${shares.name}, ${v.name})`);
      const turned = this.add(width, () => `Transpose <perm=[0,2,1,3]>(${mixed.name})`);
      const joined = this.add(width, (c) => `Reshape(${turned.name}, ${c(`i64[3] = {0,0,${width}}`)})`);
      const out = this.add(x.channels, (c) => `MatMul(${joined.name}, ${c(`f32[${width},${x.channels}]`)})`);
      const sum = this.add(x.channels, () => `Add(${out.name}, ${rows.name})`);
      const back = this.add(x.channels, () => `Transpose <perm=[0,2,1]>(${sum.name})`);
      return this.add(x.channels, (c) => `Reshape(${back.name}, ${c(`i64[4] = {0,${x.channels},${SIZE},${SIZE}}`)})`);
    },
  ];

  /** Behind the last step: a classifier on all places, on their mean, or a last Conv. */
  end(x: Feature): void {
    const way = this.random.below(3);
    if (way === 2) {
      this.lines.push(`y = Conv <kernel_shape=[1,1]>(${x.name}, $${this.name()}: f32[3,${x.channels},1,1])`);
      return;
    }
    const pooled = way === 0 ? x : this.add(x.channels, () => `GlobalAveragePool(${x.name})`);
    const width = x.channels * (way === 0 ? SIZE * SIZE : 1);
    const flat = this.add(width, () => `Flatten(${pooled.name})`);
    const hidden = this.add(7, (c) => `Gemm <transB=1>(${flat.name}, ${c(`f32[7,${width}]`)}, ${c("f32[7]")})`);
    const relu = this.add(7, () => `Relu(${hidden.name})`);
    this.lines.push(`y = Gemm(${relu.name}, $${this.name()}: f32[7,3])`);
  }
}

export function randomNet(seed: number): string {
  const net = new NetText(seed);
  let x = net.conv({ name: "x", channels: 3 }, 8);
  const steps = 2 + net.random.below(5);
  for (let i = 0; i < steps; i++) x = net.pick(net.steps)(x);
  net.end(net.conv(x, 4, 1));
  return `(x: f32[N,3,${SIZE},${SIZE}]) -> (y) {\n  ${net.lines.join("\n  ")}\n}`;
}
