/** Whose fault it is where a model that was made on the way fails on a sample: the one that was given may fail on it too. */
import { faultOf, InferOptError } from "../base/errors.js";
import { type DatasetRef, openDatasetRef } from "../dataset/index.js";
import type { PortInfo } from "../runtime/port.js";
import type { RuntimeConfig } from "./config.js";
import type { RunContext } from "./context.js";
import type { Intake } from "./intake.js";
import { asWritten, linkedTwin, untimedRoughly } from "./model-runs.js";

/**
 * What the original says of the sample that another model failed on; null where it runs, and where `thrown` is of no sample.
 * @param data where the sample is from; of what is made up all is run
 */
export async function failureOfOriginal(
  thrown: unknown,
  original: string,
  data: readonly DatasetRef[],
  config: RuntimeConfig,
  context: RunContext,
): Promise<InferOptError | null> {
  if (!isRunFailed(thrown)) return null;
  const { runtime } = context;
  const baseline = linkedTwin(original, context);
  const session = untimedRoughly(config, asWritten);
  const own = await faultOf(async () => {
    const { inputs } = await runtime.describe(baseline, session, { isRough: true });
    const on = await withSample(data, thrown.fields["sample"], inputs);
    if (on) await runtime.compare({ baseline, candidate: baseline, data: on, session });
  });
  return isRunFailed(own) ? own : null;
}

/** The same of any sample of a run, or what was thrown; `intake` is null before anything was let in. */
export async function blamed(
  thrown: unknown,
  original: string,
  intake: Pick<Intake, "trial" | "fit" | "evaluation"> | null,
  config: RuntimeConfig,
  context: RunContext,
): Promise<unknown> {
  if (!intake) return thrown;
  const { trial, fit, evaluation } = intake;
  const data = [trial, ...(fit ? [fit.ref] : []), evaluation.ref];
  return (await failureOfOriginal(thrown, original, data, config, context)) ?? thrown;
}

const isRunFailed = (thrown: unknown): thrown is InferOptError =>
  thrown instanceof InferOptError && thrown.code === "RUN_FAILED";

async function withSample(
  data: readonly DatasetRef[],
  wanted: unknown,
  inputs: readonly PortInfo[],
): Promise<DatasetRef | null> {
  for (const ref of data) {
    if (ref.random) return ref;
    let position = 0;
    for await (const { id } of (await openDatasetRef(ref, inputs)).samples()) {
      if (id === wanted) return { ...ref, indices: [ref.indices?.[position] ?? position] };
      position++;
    }
  }
  return null;
}
