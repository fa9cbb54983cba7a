/** Makes a copy of a model tell the mean and the energy of each channel that products read, sample by sample. */
import type { Model, Node, Value } from "../../ir/index.js";
import { keepOutputs, reduceOver } from "../../rewrite/tap-model.js";
import type { Reduction } from "../../runtime/port.js";
import type { InputMoments, ProductLayout } from "./round-in-view.js";

export interface MomentTaps {
  readonly outputs: ReadonlyMap<string, Reduction>;
  /** By value label, from what the outputs were reduced to over so many samples. Without those that held NaN or infinities. */
  moments(reduced: ReadonlyMap<string, Float64Array>, samples: number): ReadonlyMap<string, InputMoments>;
}

/** Axis and rank of the channels that a product's weights meet; null where they are not known. */
export function channelAxis(node: Node): { readonly axis: number; readonly rank: number } | null {
  const weight = node.inputs[1]?.constant;
  if (node.op === "Conv" && weight) return { axis: 1, rank: weight.dims.length };
  if (node.op === "Gemm") return { axis: 1, rank: 2 };
  const rank = node.inputs[0]?.shape?.length;
  return node.op === "MatMul" && rank !== undefined && rank > 1 ? { axis: rank - 1, rank } : null;
}

/** How the weights of a Conv, Gemm or MatMul lie; null for other products. */
export function productLayout(node: Node, dims: readonly number[]): ProductLayout | null {
  const [rows = 0, columns = 0, ...kernel] = dims;
  if (node.op === "Conv") {
    const places = kernel.reduce((product, dim) => product * dim, 1);
    const outputStride = columns * places;
    return { outputs: rows, inputs: columns, places, group: node.int("group", 1), outputStride, inputStride: places };
  }
  if ((node.op !== "Gemm" && node.op !== "MatMul") || dims.length !== 2) return null;
  const isTurned = node.op === "Gemm" && node.int("transB", 0) !== 0;
  return isTurned
    ? { outputs: rows, inputs: columns, places: 1, group: 1, outputStride: columns, inputStride: 1 }
    : { outputs: columns, inputs: rows, places: 1, group: 1, outputStride: 1, inputStride: columns };
}

/** @param products nodes of the main graph whose channels have a known axis */
export function tapMoments(model: Model, products: readonly Node[]): MomentTaps {
  const { graph } = model;
  const inputs = new Map<Value, readonly number[]>();
  for (const node of products) {
    const { axis, rank } = channelAxis(node)!;
    const others = Array.from({ length: rank }, (_, i) => i).filter((i) => i !== axis);
    inputs.set(node.inputs[0]!, others);
  }
  const outputs = new Map<string, Reduction>();
  const names = new Map<string, { readonly mean: string; readonly square: string }>();
  for (const [value, axes] of inputs) {
    const mean = (of: Value, name: string): string => {
      graph.addOutput(name, reduceOver(model, "ReduceMean", of, axes, name));
      outputs.set(name, "list");
      return name;
    };
    const label = `${value.label}/squared`;
    const squared = graph.addNode({ op: "Mul", name: label, inputs: [value, value], outputs: [{ label }] }).output;
    names.set(value.label, {
      mean: mean(value, `${value.label}/mean`),
      square: mean(squared, `${value.label}/mean square`),
    });
  }
  keepOutputs(model, new Set(outputs.keys()));
  return {
    outputs,
    moments: (reduced, samples) =>
      new Map(
        [...names].flatMap(([label, { mean, square }]) => {
          const means = Float32Array.from(reduced.get(mean)!);
          const spread = spreadOf(reduced.get(square)!, means, samples);
          const hasNumbers = spread.every(Number.isFinite);
          return hasNumbers ? [[label, { samples, means, spread }] as const] : [];
        }),
      ),
  };
}

function spreadOf(squares: Float64Array, means: Float32Array, samples: number): Float32Array {
  const spread = new Float32Array(squares.length / samples);
  squares.forEach((square, i) => {
    spread[i % spread.length]! += Math.max(0, square - means[i]! ** 2) / samples;
  });
  return spread;
}
