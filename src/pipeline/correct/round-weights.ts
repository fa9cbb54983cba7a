/**
 * Rounds the 4-bit weights of candidates with their inputs in view, where that brings the
 * answers closer to the float model's on the samples to judge by (corrections.ts).
 */
import { setImmediate } from "node:timers/promises";
import type { DatasetRef } from "../../dataset/index.js";
import { loadModel, type Node, opsetOf, type Tensor } from "../../ir/index.js";
import { gramReductions, tapGrams } from "../../quantization/blocks/gram-taps.js";
import type { Gram } from "../../quantization/blocks/round-together.js";
import { weightBlocks } from "../../quantization/blocks/weight-blocks.js";
import { BLOCKS_OPSET, blockMatrix, blocksKey, takesBlocks } from "../../quantization/weight-only.js";
import type { WeightTensors } from "../../quantization/weight-store.js";
import { removeWithFeeders } from "../../rewrite/index.js";
import { type Candidate, isInteger } from "../candidates/candidate.js";
import type { Workshop } from "../candidates/workshop.js";
import { untimed, withSaved } from "../model-runs.js";
import { type Corrected, keepBetter } from "./corrections.js";

/** Products k * k * n of all matrices that are rounded together: about a minute. Those of few rows come first. */
const MOST_PRODUCTS = 6e10;
/** Of the inputs' products that are held at a time. */
const LARGEST_GRAMS = 64 << 20;

export async function roundCandidates(
  candidates: readonly Candidate[],
  workshop: Workshop,
  data: DatasetRef,
): Promise<Corrected> {
  const wanted = candidates.filter((candidate) => isInteger(candidate) && hasBlocks(candidate));
  const matrices = wanted.length > 0 ? matricesOf(workshop) : [];
  if (matrices.length === 0) return { candidates, facts: null };
  const rounded = await roundAll(matrices, workshop, data);
  const pairs = new Map<Candidate, Candidate>();
  for (const candidate of wanted) {
    const { variant, keptFloat } = candidate;
    if (variant.kind !== "integers") continue;
    pairs.set(candidate, workshop.make({ ...variant, recipe: { ...variant.recipe, rounded } }, keptFloat));
  }
  await workshop.measureError([...pairs].flat().filter(({ sqnrDb }) => sqnrDb === null));
  const detail = `${rounded.size} matrices of 4 bits`;
  return keepBetter("rounding", detail, candidates, pairs, workshop);
}

const hasBlocks = ({ built, variant }: Candidate): boolean =>
  [...built.forms.values()].includes("weights4") && variant.kind === "integers" && variant.recipe.statics === null;

interface Matrix {
  readonly key: string;
  /** [k, n]. */
  readonly tensor: Tensor;
  /** Labels of all that it is multiplied with. */
  readonly inputs: readonly string[];
  readonly k: number;
}

/** Those of the main graph that 4-bit kernels read, as many as can be rounded in the time there is. */
function matricesOf({ model, options }: Workshop): Matrix[] {
  if (opsetOf(model) < BLOCKS_OPSET) return [];
  const readers = new Map<string, Node[]>();
  for (const node of model.graph.nodes()) {
    const [input] = node.inputs;
    if (!takesBlocks(node) || options.excluded.has(node.name) || !input || input.constant) continue;
    const key = blocksKey(node);
    if (input.dtype === "f32") readers.set(key, [...(readers.get(key) ?? []), node]);
  }
  const matrices = [...readers].map(([key, nodes]): Matrix => {
    const inputs = [...new Set(nodes.map((node) => node.inputs[0]!.label))];
    const tensor = blockMatrix(nodes[0]!);
    return { key, tensor, inputs, k: tensor.dims[0]! };
  });
  let left = MOST_PRODUCTS;
  return matrices.sort((a, b) => a.k - b.k).filter(({ tensor, k }) => (left -= k * tensor.elementCount) >= 0);
}

async function roundAll(
  matrices: readonly Matrix[],
  workshop: Workshop,
  data: DatasetRef,
): Promise<ReadonlyMap<string, WeightTensors>> {
  const rounded = new Map<string, WeightTensors>();
  let group: Matrix[] = [];
  let done = 0;
  const finish = async (): Promise<void> => {
    const grams = await gramsOf(group, workshop, data);
    for (const { key, tensor, inputs, k } of group) {
      await setImmediate(); // word of other things gets through
      rounded.set(
        key,
        weightBlocks(
          tensor,
          4,
          sumOf(
            inputs.map((label) => grams.get(label)!),
            k,
          ),
        ),
      );
      workshop.context.observer({ type: "progress", done: ++done, total: matrices.length });
    }
    group = [];
  };
  for (const matrix of matrices) {
    const channels = new Map([...group, matrix].flatMap(({ inputs, k }) => inputs.map((label) => [label, k] as const)));
    const bytes = [...channels.values()].reduce((sum, k) => sum + 8 * k * k, 0);
    if (group.length > 0 && bytes > LARGEST_GRAMS) await finish();
    group.push(matrix);
  }
  await finish();
  return rounded;
}

async function gramsOf(
  group: readonly Matrix[],
  { options: { prepared, runtime }, context }: Workshop,
  data: DatasetRef,
): Promise<ReadonlyMap<string, Float64Array>> {
  const model = loadModel(prepared);
  const sizes = new Map(group.flatMap(({ inputs, k }) => inputs.map((label) => [label, k] as const)));
  const made = [...model.graph.nodes()].flatMap((node) => node.outputs.filter((value) => value !== null));
  const values = [...model.graph.inputs, ...made].filter(({ label }) => sizes.has(label));
  const names = tapGrams(model, new Map(values.map((value) => [value, sizes.get(value.label)!])));
  for (const node of [...model.graph.nodes()].reverse()) removeWithFeeders(node);
  const reduced = await withSaved(model, context, (path) =>
    context.runtime.reduce({
      model: path,
      data,
      outputs: gramReductions(names),
      session: untimed(runtime),
    }),
  );
  return new Map([...names].map(([label, name]) => [label, reduced.get(name)!]));
}

function sumOf(grams: readonly Float64Array[], channels: number): Gram {
  const products = new Float32Array(channels * channels);
  for (const gram of grams) for (let i = 0; i < products.length; i++) products[i]! += gram[i]!;
  return { channels, products };
}
