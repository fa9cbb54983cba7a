/** Runs stages of the user's, one after the other. */
import { type PipelineModule, type StageContext, stageFailed, type UserStage } from "../../../stages/index.js";

/** One request on its way. */
export interface Traveller extends StageContext {
  /** Its place among the requests. */
  readonly index: number;
}

/** What one stage returns is what the next one is given; a stage that returns nothing passes on what it got. Rejects with PIPELINE_STAGE_FAILED. */
export async function throughStages(
  { path }: PipelineModule,
  stages: readonly UserStage[],
  value: unknown,
  traveller: Traveller,
  /** Called before and after each stage. */
  watch: { enter?(stage: UserStage): void; leave?(): void } = {},
): Promise<unknown> {
  let current = value;
  for (const stage of stages) {
    watch.enter?.(stage);
    try {
      let result = stage.run(current, traveller);
      if (isPromise(result)) result = await result;
      if (result !== undefined) current = result;
    } catch (cause) {
      throw stageFailed(path, stage, traveller.index, cause);
    }
    watch.leave?.();
  }
  return current;
}

/** Waiting for what is there already would cost a turn of the event loop. */
const isPromise = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
