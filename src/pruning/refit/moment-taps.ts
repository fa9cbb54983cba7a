/**
 * Sums that a least-squares fit of a layer needs, made by the runtime out of what the layer reads and what it should make:
 *
 *   R = rows under the kernel   [groups, inputs, rows]     Y = wanted outputs   [groups, outputs, rows]
 *   gram = R transpose(R)       cross = Y transpose(R)     and the sums of R, of Y and of Y squared
 *
 * The rows of a convolution come from one with a kernel of a single 1 for each place, channel by channel: padding,
 * strides and dilations are its own, and a transposed one spreads its inputs as it does. Rows that are padding count 0.
 */
import { attr, type Model, type Node, Tensor, type Value } from "../../ir/index.js";
import { reduceOver } from "../../rewrite/tap-model.js";
import type { LinearLayer } from "./linear-layers.js";
import type { Moments } from "./moments.js";

const parts = ["gram", "cross", "inputSums", "outputSums", "outputSquares", "rows"] as const;

/** What to sum, in the model that computes it. */
export interface Tapped {
  readonly layer: LinearLayer;
  /** What it reads now, and what it should make, by all channels of the original. */
  readonly input: Value;
  readonly target: Value;
  /** Channels of the target that are left; null for all. */
  readonly keptOutputs: ArrayLike<number> | null;
  /** What is taken from the target: what else is added to what the layer makes. */
  readonly minus: Value | null;
  /** 1 for rows that count and 0 for padding, [batch, rows]; null where all count. */
  readonly mask: Value | null;
  /** Every how manyeth row is taken. */
  readonly step: number;
}

/** Adds the sums to the model as outputs whose names begin with `label`. Returns their names. */
export function tapMoments(model: Model, label: string, tapped: Tapped): readonly string[] {
  const { layer, keptOutputs, minus, step } = tapped;
  const { graph } = model;
  const tap = new Taps(model, label);
  const { groups, inputs, outputs } = layer;
  const isChannelFirst = layer.node.op === "Conv" || layer.node.op === "ConvTranspose";

  const indices = keptOutputs && Tensor.i64([keptOutputs.length], Array.from(keptOutputs));
  const kept = indices
    ? tap.add("Gather", [tapped.target, tap.constant("kept", indices)], { axis: attr.int(layer.axis) })
    : tapped.target;
  const wanted = minus ? tap.add("Sub", [kept, minus]) : kept;
  const read = layer.places > 1 || isSpread(layer.node) ? tap.underKernel(layer, tapped.input) : tapped.input;
  const weightOf = tapped.mask && tap.rowWeights(tapped.mask);
  const rows = (of: Value, channels: number): Value => {
    const all = isChannelFirst ? tap.channelRows(of, groups, channels) : tap.matrixRows(of, channels);
    const some = step > 1 ? tap.everyNth(all, step) : all;
    return weightOf ? tap.add("Mul", [some, step > 1 ? tap.everyNth(weightOf, step) : weightOf]) : some;
  };
  const r = rows(read, inputs);
  const y = rows(wanted, outputs);
  const turned = tap.add("Transpose", [r], { perm: attr.ints([0, 2, 1]) });
  const squared = tap.add("Mul", [y, y]);
  const count = tap.rowCount(r);
  const sum = (of: Value): Value => tap.add("Mul", [reduceOver(model, "ReduceMean", of, [2], tap.next("mean")), count]);
  const counted = weightOf ? sum(step > 1 ? tap.everyNth(weightOf, step) : weightOf) : count;
  const values: Readonly<Record<(typeof parts)[number], Value>> = {
    gram: tap.add("MatMul", [r, turned]),
    cross: tap.add("MatMul", [y, turned]),
    inputSums: sum(r),
    outputSums: sum(y),
    outputSquares: sum(squared),
    rows: counted,
  };
  return parts.map((part) => {
    const name = `${label}/${part}`;
    graph.addOutput(name, values[part]);
    return name;
  });
}

/** What the outputs of `tapMoments` summed to. */
export function momentsOf(
  { groups, inputs, outputs }: LinearLayer,
  label: string,
  sums: ReadonlyMap<string, Float64Array>,
): Moments {
  const of = (part: (typeof parts)[number]): Float64Array => sums.get(`${label}/${part}`) ?? new Float64Array();
  const [gram, cross] = [of("gram"), of("cross")];
  const [inputSums, outputSums, outputSquares] = [of("inputSums"), of("outputSums"), of("outputSquares")];
  return { groups, inputs, outputs, rows: of("rows")[0] ?? 0, gram, cross, inputSums, outputSums, outputSquares };
}

/** Whether a convolution over single places still does not read every place once, as it is. */
function isSpread(node: Node): boolean {
  if (node.op !== "Conv" && node.op !== "ConvTranspose") return false;
  const isOther = (name: string, usual: number): boolean => node.ints(name)?.some((value) => value !== usual) ?? false;
  return (
    isOther("strides", 1) || isOther("pads", 0) || isOther("output_padding", 0) || node.attributes.has("output_shape")
  );
}

class Taps {
  #count = 0;

  constructor(
    readonly model: Model,
    readonly label: string,
  ) {}

  next(what: string): string {
    return `${this.label}/${what}/${this.#count++}`;
  }

  add(
    op: string,
    inputs: readonly Value[],
    attributes: Parameters<Model["graph"]["addNode"]>[0]["attributes"] = {},
  ): Value {
    const label = this.next(op);
    return this.model.graph.addNode({ op, name: label, inputs, attributes, outputs: [{ label }] }).output;
  }

  constant(what: string, tensor: Tensor): Value {
    return this.model.graph.addConstant(this.next(what), tensor);
  }

  shaped(value: Value, shape: readonly number[]): Value {
    return this.add("Reshape", [value, this.constant("shape", Tensor.i64([shape.length], shape))]);
  }

  /** [batch, channels * places, ...]: for each channel what lies under each place of the kernel. */
  underKernel({ node, weight, groups, inputs, places }: LinearLayer, value: Value): Value {
    const channels = (groups * inputs) / places;
    const kernel = weight.dims.slice(2);
    const deltas = new Float32Array(channels * places * places);
    for (let c = 0; c < channels; c++) {
      for (let p = 0; p < places; p++) deltas[(c * places + p) * places + p] = 1;
    }
    const dims = node.op === "Conv" ? [channels * places, 1, ...kernel] : [channels, places, ...kernel];
    const attributes = new Map([...node.attributes, ["group", attr.int(channels)] as const]);
    return this.add(node.op, [value, this.constant("deltas", Tensor.f32(dims, deltas))], attributes);
  }

  /** [batch, groups * channels, ...] as [groups, channels, rows]. */
  channelRows(value: Value, groups: number, channels: number): Value {
    const flat = this.shaped(value, [0, groups * channels, -1]);
    const turned = this.add("Transpose", [flat], { perm: attr.ints([1, 0, 2]) });
    return this.shaped(turned, [groups, channels, -1]);
  }

  /** [..., channels] as [1, channels, rows]. */
  matrixRows(value: Value, channels: number): Value {
    return this.add("Transpose", [this.shaped(value, [1, -1, channels])], { perm: attr.ints([0, 2, 1]) });
  }

  /** The mask as [1, 1, rows]. */
  rowWeights(mask: Value): Value {
    const numbers = mask.dtype === "f32" ? mask : this.add("Cast", [mask], { to: attr.int(1) });
    return this.shaped(numbers, [1, 1, -1]);
  }

  everyNth(value: Value, step: number): Value {
    const one = (what: string, number: number | bigint): Value => this.constant(what, Tensor.i64([1], [number]));
    return this.add("Slice", [value, one("from", 0), one("to", 2n ** 62n), one("axis", 2), one("step", step)]);
  }

  /** As [1]. */
  rowCount(rows: Value): Value {
    const last = this.constant("axis", Tensor.i64([1], [2]));
    const size = this.add("Gather", [this.add("Shape", [rows]), last], { axis: attr.int(0) });
    return this.add("Cast", [size], { to: attr.int(1) });
  }
}
