/**
 * What brings the answers of integers closest to the float model's: a straight line (fit-line.ts), and, for answers of one
 * row per sample, what a matrix gains besides (fit-directions.ts).
 */
import { type Model, Tensor } from "../../ir/index.js";
import { type Directions, fitDirections, turned } from "./fit-directions.js";
import { fitLine, leftOutGainDb } from "./fit-line.js";
import { lastProducts } from "./last-products.js";
import { mapChannels } from "./map-channels.js";
import type { PairedMoments } from "./paired-moments.js";

/** What a product's weights and bias are multiplied by, and what is added to the bias then. */
export interface OutputLine {
  readonly factor: number;
  readonly shift: Float64Array;
  /** A matrix that is added to the factor; null where there is none. */
  readonly directions: Directions | null;
}

export interface OutputFit extends OutputLine {
  /** Expected change of the error on other samples, dB; positive is better. */
  readonly gainDb: number;
}

/** An expected gain of a matrix over the line that is worth having. */
const LEAST_MATRIX_DB = 0.1;

export function fitOutput(moments: PairedMoments): OutputFit {
  const { y, z, rows } = moments;
  const { factor, trust, gainDb } = fitLine(moments);
  const matrix = rows && fitDirections(rows, factor);
  const directions = matrix && matrix.gainDb >= LEAST_MATRIX_DB ? matrix : null;
  const along = directions && turned(directions.directions, z);
  const shift = y.map((mean, c) => (1 - factor) * z[c]! - (along?.[c] ?? 0) + trust * (mean - z[c]!));
  const lineDb = rows ? leftOutGainDb(rows) : gainDb;
  return { factor, shift, directions: directions?.directions ?? null, gainDb: lineDb + (directions?.gainDb ?? 0) };
}

/** Works the lines into the weights and biases of a float graph, before it is quantized. By node name; unknown names are passed over. */
export function applyOutputLines(model: Model, lines: ReadonlyMap<string, OutputLine>): void {
  const { graph } = model;
  for (const { node, channels, weightAxis } of lastProducts(model)) {
    const line = lines.get(node.name);
    if (!line || line.shift.length !== channels) continue;
    const [, weight, bias] = node.inputs;
    const { factor, directions } = line;
    const scaled = mapChannels(weight!.constant!.f32(), channels, weightAxis, factor, directions);
    const old = bias ? mapChannels(bias.constant!.f32(), channels, 0, factor, directions) : null;
    const shifted = Float32Array.from(line.shift, (shift, c) => (old?.[c] ?? 0) + shift);
    graph.setInput(node, 1, graph.addConstant(weight!.label, Tensor.f32(weight!.constant!.dims, scaled)));
    const dims = bias?.constant?.dims ?? [channels];
    graph.setInput(node, 2, graph.addConstant(bias?.label ?? `${node.name}/bias`, Tensor.f32(dims, shifted)));
    for (const value of [weight, bias]) if (value && value.useCount === 0) graph.removeConstant(value);
  }
}
