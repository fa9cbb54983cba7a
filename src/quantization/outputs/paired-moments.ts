/**
 * The quantized form of a model, which takes what the float model answered as inputs, and tells of some
 * values in both, channel by channel, the means that a least-squares fit needs.
 */
import { loadModel, type Model, type Value } from "../../ir/index.js";
import { removeWithFeeders } from "../../rewrite/index.js";
import { keepOutputs, reduceOver } from "../../rewrite/tap-model.js";
import type { Reduction } from "../../runtime/port.js";
import type { PairedRows } from "./fit-directions.js";
import type { PairedInputs } from "./fit-inputs.js";
import type { LineMoments } from "./fit-line.js";
import type { LastProduct } from "./last-products.js";
import { meanRow } from "./sample-rows.js";

export interface PairedMoments extends LineMoments {
  /** y and z of each sample, [samples, channels]; null where there is more than one place, or too much to work into the weights. */
  readonly rows: PairedRows | null;
  /** What the product reads for each of these rows; null where it was not asked for, or is no row. */
  readonly inputs: PairedInputs | null;
}

export interface PairedModel {
  readonly model: Model;
  /** Inputs that are float values, by name: the label of each. */
  readonly floats: ReadonlyMap<string, string>;
  readonly outputs: ReadonlyMap<string, Reduction>;
  /** By node name; empty where there was no sample. */
  moments(reduced: ReadonlyMap<string, Float64Array>): ReadonlyMap<string, PairedMoments>;
}

/** Of weights and samples: more take seconds. */
const MOST_PRODUCTS = 2 ** 28;

const moments = ["y", "z", "yy", "zz", "yz"] as const;

/**
 * @param all nodes of the float model; those whose values have the same labels in the quantized one, as integer operators need not, are paired
 * @param hasInputs whether what they read is told too, where it is one row for each sample
 */
export function pairModels(quantized: string, all: readonly LastProduct[], hasInputs = false): PairedModel {
  const model = loadModel(quantized);
  const { graph } = model;
  const inQuantized = new Map<string, Value>();
  for (const node of graph.nodes()) for (const value of node.outputs) if (value) inQuantized.set(value.label, value);

  const products = all.filter(({ value }) => inQuantized.has(value.label));
  const floats = new Map<string, string>();
  const outputs = new Map<string, Reduction>();
  /** Names of the rows that are told of what a product reads, by node. */
  const told = new Map<string, Record<keyof PairedInputs, string>>();
  for (const { node, value, axis } of products) {
    const float = `${node.name}/float`;
    const y = graph.addInput(float, { dtype: "f32", shape: value.shape });
    floats.set(float, value.label);
    const z = inQuantized.get(value.label)!;
    const others = value.shape!.map((_, i) => i).filter((i) => i !== axis);
    for (const moment of moments) {
      const name = `${node.name}/${moment}`;
      const factors = [...moment].map((which) => (which === "y" ? y : z));
      const [a, b] = factors;
      const of = b ? graph.addNode({ op: "Mul", inputs: [a!, b], outputs: [{ label: `${name}/product` }] }).output : a!;
      graph.addOutput(name, reduceOver(model, "ReduceMean", of, others, name));
      outputs.set(name, b ? "sum" : "list");
    }
    const [read] = node.inputs;
    // An integer operator of the same answers reads something else.
    const own = z.producer?.is(node.op) && z.producer.inputs[0]?.dtype === "f32" ? z.producer.inputs[0] : null;
    if (!hasInputs || !own || read?.shape?.length !== 2 || value.shape!.length !== 2) continue;
    const of = { floats: `${node.name}/reads/float`, integers: `${node.name}/reads` };
    const given = `${node.name}/read`;
    floats.set(given, read.label);
    for (const [name, rows] of [
      [of.floats, graph.addInput(given, { dtype: "f32", shape: read.shape })],
      [of.integers, own],
    ] as const) {
      graph.addOutput(name, reduceOver(model, "ReduceMean", rows, [0], name));
      outputs.set(name, "list");
    }
    told.set(node.name, of);
  }
  keepOutputs(model, new Set(outputs.keys()));
  for (const node of [...graph.nodes()].reverse()) removeWithFeeders(node);
  return {
    model,
    floats,
    outputs,
    moments: (reduced) =>
      new Map(
        products.flatMap(({ node, value, channels }) => {
          const found = (moment: string) => reduced.get(`${node.name}/${moment}`)!;
          if (!reduced.has(`${node.name}/y`)) return [];
          const [y, z] = [found("y"), found("z")];
          const samples = y.length / channels;
          const mean = (moment: string) => found(moment).map((sum) => sum / samples);
          const products = node.inputs[1]!.constant!.elementCount * samples;
          const rows = value.shape!.length === 2 && products <= MOST_PRODUCTS ? { samples, y, z } : null;
          const names = told.get(node.name);
          const inputs = names ? { floats: reduced.get(names.floats)!, integers: reduced.get(names.integers)! } : null;
          const own = { y: meanRow(y, samples), z: meanRow(z, samples) };
          return [
            [node.name, { samples, ...own, yy: mean("yy"), zz: mean("zz"), yz: mean("yz"), rows, inputs }] as const,
          ];
        }),
      ),
  };
}
