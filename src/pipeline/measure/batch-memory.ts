/**
 * Batches whose tensors cannot lie in the memory of this machine are refused: the system would end the process that
 * tries, or one that has nothing to do with it.
 *
 * What a batch takes grows by the same amount with every sample, so two small ones tell that of any: need(n) = need(1) + (n - 1) * (need(2) - need(1)).
 */
import { basename } from "node:path";
import { InferOptError } from "../../base/errors.js";
import type { InputSpec } from "../../dataset/index.js";
import { elementCount, isStatic, loadModel, type Model, packedBytes, type Value } from "../../ir/index.js";
import { activationMemory } from "../activation-memory.js";
import type { RuntimeConfig } from "../config.js";
import type { RunContext } from "../context.js";
import { randomInputs } from "../evaluation-data.js";
import { sizeBySample } from "../tap-groups.js";

/** The runtime fuses nodes, and writes over what nobody reads any more: of what the graph says it takes this at least. */
const LEAST_SHARE = 1 / 2;

/** Of made-up inputs in batches of `runtime.batch`. Throws BATCH_TOO_LARGE; nothing is told where nobody knows the memory. */
export async function refuseBatchBeyondMemory(
  path: string,
  inputs: readonly InputSpec[],
  runtime: RuntimeConfig,
  context: RunContext,
): Promise<void> {
  const { batch } = runtime;
  const memoryBytes = context.machineState?.().memoryBytes;
  if (batch <= 2 || memoryBytes === undefined) return;
  const needOf = async (samples: number): Promise<number> => {
    // Sizes are written on the graph: each has one of its own.
    const model = loadModel(path);
    await sizeBySample(model, randomInputs(inputs, { ...runtime, batch: samples }, 1), runtime, context);
    return tensorBytes(model);
  };
  const one = await needOf(1);
  const perSample = Math.max(0, (await needOf(2)) - one);
  const need = one + (batch - 1) * perSample;
  if (need <= memoryBytes) return;
  const size = (bytes: number): string => `${Number((bytes / 1e9).toPrecision(3))} GB`;
  throw new InferOptError(
    "BATCH_TOO_LARGE",
    "input",
    `a batch of ${batch} takes ${size(need)} or more of memory for the tensors of ${basename(path)}, and this machine has ${size(memoryBytes)}`,
    { hint: hintFor(memoryBytes - one, perSample), fields: { path, batch, need, memoryBytes } },
  );
}

/** `left`: beyond what the first sample takes. */
function hintFor(left: number, perSample: number): string {
  if (left < 0) return "Not even a batch of one fits: say smaller sizes with --shape.";
  return `Say a smaller --batch: more than ${Math.floor(left / perSample) + 1} cannot fit.`;
}

/** What a model that was sized needs for its inputs and what is computed of them. */
function tensorBytes({ graph }: Model): number {
  const given = graph.inputs.reduce((sum, input) => sum + bytesOf(input), 0);
  return given + LEAST_SHARE * (activationMemory(graph)?.peakBytes ?? 0);
}

const bytesOf = ({ dtype, shape }: Value): number =>
  dtype && isStatic(shape) ? packedBytes(dtype, elementCount(shape)) : 0;
