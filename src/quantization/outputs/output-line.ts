/**
 * What a last product's answers z are mapped by, as part of its weights and bias:
 *
 *   z' = m + a (z - m) + B (z - m) + (b - a) (W v) v^T (x - n) + shift
 *
 * x is what the product reads, and W its weights; m and n stay where they are.
 */
import { type Model, Tensor } from "../../ir/index.js";
import type { Directions } from "./fit-directions.js";
import { lastProducts } from "./last-products.js";
import { addAlong, mapChannels } from "./map-channels.js";

/** One direction in what a product reads, with a factor of its own. */
export interface Along {
  /** v, of length 1, [inputs]. */
  readonly direction: Float64Array;
  /** b */
  readonly factor: number;
  /** v^T n */
  readonly mean: number;
}

export interface OutputLine {
  /** a, above 0. */
  readonly factor: number;
  /** m, [channels]. */
  readonly mean: Float64Array;
  /** [channels] */
  readonly shift: Float64Array;
  /** B; null where there is none. */
  readonly directions: Directions | null;
  /** Null where all directions have the same factor. */
  readonly along: Along | null;
}

/**
 * The line for less noise than it was fitted to: a slope is signal over signal and noise, so that its inverse less 1 is what there
 * is of noise.
 * @param share of the noise that is left, 0 to 1
 */
export function relaxed({ factor, mean, shift, directions, along }: OutputLine, share: number): OutputLine {
  const towardsOne = (slope: number): number => 1 / (1 + share * (1 / slope - 1));
  return {
    factor: towardsOne(factor),
    mean,
    shift: shift.map((value) => share * value),
    directions: directions && { ...directions, to: directions.to.map((value) => share * value) },
    along: along && { ...along, factor: towardsOne(along.factor) },
  };
}

/** Works the lines into the weights and biases of a float graph, before it is quantized. By node name; unknown names are passed over. */
export function applyOutputLines(model: Model, lines: ReadonlyMap<string, OutputLine>): void {
  const { graph } = model;
  for (const { node, channels, weightAxis } of lastProducts(model)) {
    const line = lines.get(node.name);
    if (!line || line.shift.length !== channels) continue;
    const [, weight, bias] = node.inputs;
    const { factor, directions, along } = line;
    const own = weight!.constant!.f32();
    if (along && along.direction.length !== own.length / channels) continue;
    const scaled = mapChannels(own, channels, weightAxis, factor, directions);
    const ofMean = mapChannels(Float32Array.from(line.mean), channels, 0, factor, directions);
    const old = bias ? mapChannels(bias.constant!.f32(), channels, 0, factor, directions) : null;
    const shifted = Float32Array.from(line.shift, (shift, c) => (old?.[c] ?? 0) + line.mean[c]! - ofMean[c]! + shift);
    if (along) {
      const answers = addAlong(scaled, own, channels, weightAxis, along.direction, along.factor - factor);
      answers.forEach((answer, c) => {
        shifted[c]! -= answer * along.mean;
      });
    }
    graph.setInput(node, 1, graph.addConstant(weight!.label, Tensor.f32(weight!.constant!.dims, scaled)));
    const dims = bias?.constant?.dims ?? [channels];
    graph.setInput(node, 2, graph.addConstant(bias?.label ?? `${node.name}/bias`, Tensor.f32(dims, shifted)));
    for (const value of [weight, bias]) if (value && value.useCount === 0) graph.removeConstant(value);
  }
}
