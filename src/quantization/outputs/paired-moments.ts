/**
 * A model that runs the float model and its quantized form side by side, and tells of some
 * values in both, channel by channel, the means that a least-squares fit needs.
 */
import { loadModel, type Model, type Value } from "../../ir/index.js";
import { copyConstant, copyNode, removeWithFeeders } from "../../rewrite/index.js";
import { keepOutputs, reduceOver } from "../../rewrite/tap-model.js";
import type { Reduction } from "../../runtime/port.js";
import type { PairedRows } from "./fit-directions.js";
import type { LastProduct } from "./last-products.js";

/** Means by channel over all samples: y is the float value, z the quantized. */
export interface PairedMoments {
  readonly samples: number;
  readonly y: Float64Array;
  readonly z: Float64Array;
  readonly yy: Float64Array;
  readonly zz: Float64Array;
  readonly yz: Float64Array;
  /** y and z of each sample, [samples, channels]; null where there is more than one place, or too much to work into the weights. */
  readonly rows: PairedRows | null;
}

export interface PairedModel {
  readonly model: Model;
  readonly outputs: ReadonlyMap<string, Reduction>;
  /** By node name. */
  moments(reduced: ReadonlyMap<string, Float64Array>, samples: number): ReadonlyMap<string, PairedMoments>;
}

/** Of weights and samples: more take seconds. */
const MOST_PRODUCTS = 2 ** 28;

const moments = ["y", "z", "yy", "zz", "yz"] as const;

/** `products` are nodes of the float model, whose values have the same labels in the quantized one. */
export function pairModels(float: string, quantized: string, products: readonly LastProduct[]): PairedModel {
  const model = loadModel(quantized);
  const { graph } = model;
  const inQuantized = new Map<string, Value>();
  for (const node of graph.nodes()) for (const value of node.outputs) if (value) inQuantized.set(value.label, value);
  const inFloat = copyInto(model, loadModel(float));

  const outputs = new Map<string, Reduction>();
  for (const { node, value, axis } of products) {
    const y = inFloat.get(value.label)!;
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
  }
  keepOutputs(model, new Set(outputs.keys()));
  for (const node of [...graph.nodes()].reverse()) removeWithFeeders(node);
  return {
    model,
    outputs,
    moments: (reduced, samples) =>
      new Map(
        products.map(({ node, value }) => {
          const found = (moment: string) => reduced.get(`${node.name}/${moment}`)!;
          const mean = (moment: string) => found(moment).map((sum) => sum / samples);
          const [y, z] = [found("y"), found("z")];
          const products = node.inputs[1]!.constant!.elementCount * samples;
          const rows = value.shape!.length === 2 && products <= MOST_PRODUCTS ? { samples, y, z } : null;
          const own = { y: meanRow(y, samples), z: meanRow(z, samples) };
          return [node.name, { samples, ...own, yy: mean("yy"), zz: mean("zz"), yz: mean("yz"), rows }] as const;
        }),
      ),
  };
}

function meanRow(rows: Float64Array, samples: number): Float64Array {
  const mean = new Float64Array(rows.length / samples);
  for (let i = 0; i < rows.length; i++) mean[i % mean.length]! += rows[i]! / samples;
  return mean;
}

/** Copies all of a model's nodes behind those of another with the same inputs. Returns the copies by the label of the original. */
function copyInto({ graph }: Model, source: Model): ReadonlyMap<string, Value> {
  const values = new Map<Value, Value>();
  const inputs = new Map(graph.inputs.map((input) => [input.label, input]));
  for (const input of source.graph.inputs) values.set(input, inputs.get(input.label)!);
  for (const constant of source.graph.constants) values.set(constant, copyConstant(constant, graph));
  for (const node of source.graph.nodes()) {
    const copy = copyNode(node, graph, values);
    if (copy.name) copy.name = `float/${copy.name}`;
  }
  return new Map([...values].map(([original, copy]) => [original.label, copy]));
}
