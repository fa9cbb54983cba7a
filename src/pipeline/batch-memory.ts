/**
 * Batches whose tensors cannot lie in the memory of this machine are refused: the system would end the process that
 * tries, or one that has nothing to do with it.
 *
 * What a batch takes grows by the same amount with every sample, so two small ones tell that of any: need(n) = need(1) + (n - 1) * (need(2) - need(1)).
 */
import { basename } from "node:path";
import { InferOptError } from "../base/errors.js";
import type { InputSpec } from "../dataset/index.js";
import { elementCount, isStatic, loadModel, packedBytes, type Value } from "../ir/index.js";
import type { RuntimeConfig } from "./config.js";
import type { RunContext } from "./context.js";
import { randomInputs } from "./evaluation-data.js";
import { activationMemory } from "./profile/activation-memory.js";
import { sizeBySample } from "./tap-groups.js";

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
  const [one, two] = [await needOf(path, inputs, 1, runtime, context), await needOf(path, inputs, 2, runtime, context)];
  const perSample = Math.max(0, two - one);
  const need = one + (batch - 1) * perSample;
  if (need <= memoryBytes) return;
  const most = Math.max(1, Math.floor((memoryBytes - one) / perSample) + 1);
  const size = (bytes: number): string => `${Number((bytes / 1e9).toPrecision(3))} GB`;
  throw new InferOptError(
    "BATCH_TOO_LARGE",
    "input",
    `a batch of ${batch} takes ${size(need)} or more of memory for the tensors of ${basename(path)}, and this machine has ${size(memoryBytes)}`,
    { hint: `Say a smaller --batch: more than ${most} cannot fit.`, fields: { path, batch, need, memoryBytes } },
  );
}

async function needOf(
  path: string,
  inputs: readonly InputSpec[],
  batch: number,
  runtime: RuntimeConfig,
  context: RunContext,
): Promise<number> {
  const sized = { ...runtime, batch };
  const model = loadModel(path);
  await sizeBySample(model, randomInputs(inputs, sized, 1), sized, context);
  const given = model.graph.inputs.reduce((sum, input) => sum + bytesOf(input), 0);
  return given + LEAST_SHARE * (activationMemory(model.graph)?.peakBytes ?? 0);
}

const bytesOf = ({ dtype, shape }: Value): number =>
  dtype && isStatic(shape) ? packedBytes(dtype, elementCount(shape)) : 0;
