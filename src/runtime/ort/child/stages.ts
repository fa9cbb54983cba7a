/**
 * Times whole requests: the user's stages and the model in one process and one thread, as a small service has them, so
 * that what they do to each other (caches, garbage, clocks) is in the times. Nothing else runs between two readings of the clock.
 */
import { performance } from "node:perf_hooks";
import type { Tensor as OrtTensor } from "onnxruntime-node";
import { invariant } from "../../../base/errors.js";
import {
  feedsFrom,
  loadPipelineModule,
  type PipelineModule,
  portWords,
  requestsOf,
  type StageContext,
  toUserTensors,
  type UserStage,
} from "../../../stages/index.js";
import { allowedOnceKept } from "../../affinity.js";
import type { StageRuns, StagesSpec } from "../../port.js";
import type { JobContext, JobHandler } from "../protocol.js";
import { betweenSamples } from "./collect-garbage.js";
import { emptyDataset, feedsOf, openPart } from "./samples.js";
import { type OpenModel, openModel, refuseUnreadable, runFailed } from "./session.js";
import { CannotWorkAhead, StagesAhead } from "./stages-ahead.js";
import { isElsewhere } from "./time.js";
import { type Traveller, throughStages } from "./user-stages.js";

type Feeds = Readonly<Record<string, OrtTensor>>;

interface Stand {
  readonly model: OpenModel;
  readonly module: PipelineModule;
  readonly requests: readonly unknown[];
  readonly ports: Pick<StageContext, "inputs" | "outputs">;
  /** Tensors that the stages made, for the model alone. */
  readonly made: Feeds[];
  readonly collect: () => void;
  /** Longest that a whole request may take before it is thought to hang. */
  patienceMs: number;
  next: number;
  ahead: StagesAhead | null;
}

let stand: Stand | null = null;

/** Of a single stage, or of what a module does when it is loaded. */
const STAGE_MS = 30_000;
const SIGN_OF_LIFE_MS = 500;
/** Samples of the data, where the module has no requests; and tensors that are kept for the model alone. */
const MOST_SAMPLES = 16;

/** Also takes every request through all stages once, so that faults are told by stage and request before anything is timed. */
export const stagesOpen: JobHandler<"stagesOpen"> = async (args, context) => {
  invariant(stand === null, "a process times one pipeline");
  const { pipeline } = args;
  context.due(STAGE_MS, `loading ${pipeline}`);
  const module = await loadPipelineModule(pipeline);
  context.due(STAGE_MS, `requests of ${pipeline}`);
  const given = await requestsOf(module);
  context.progress(0, 1);
  const model = await openModel(args.model, args.session, context, {
    keepsThreads: isElsewhere(args.session.affinity),
  });
  refuseUnreadable(model);
  const { inputs, outputs } = model.signature;
  stand = {
    ...{ model, module, made: [], collect: betweenSamples(), patienceMs: 0, next: 0, ahead: null },
    requests: given ?? (await samplesAsRequests(args, model)),
    ports: { inputs: inputs.map(portWords), outputs: outputs.map(portWords) },
  };
  for (let i = 0; i < stand.requests.length; i++) await tryOut(stand, i, context);
  context.progress(1, 1);
  const names = (stages: readonly UserStage[]): string[] => stages.map(({ name }) => name);
  return {
    ...{ before: names(module.before), after: names(module.after) },
    ...{ requests: stand.requests.length, hasRequests: given !== null },
    allowed: await allowedOnceKept(args.session),
  };
};

async function samplesAsRequests({ data, model: path }: StagesSpec, model: OpenModel): Promise<unknown[]> {
  const part = await openPart(data, model.signature.inputs);
  const requests: unknown[] = [];
  for await (const sample of part.samples()) {
    requests.push(toUserTensors(feedsOf(sample, model.signature.inputs)));
    if (requests.length === MOST_SAMPLES) break;
  }
  if (requests.length === 0) throw emptyDataset(data.path, path);
  return requests;
}

async function tryOut(stand: Stand, index: number, context: JobContext): Promise<void> {
  const { module, requests, made } = stand;
  const traveller = travellerOf(stand, index);
  const enter = ({ called }: UserStage): void =>
    context.due(STAGE_MS, `stage ${called} of ${module.path} on request ${index}`);
  const from = performance.now();
  const value = await throughStages(module, module.before, requests[index], traveller, { enter });
  context.progress(index, requests.length);
  const feeds = transfer(stand, value, index);
  if (made.length < MOST_SAMPLES) made.push(feeds);
  const outputs = await infer(stand, feeds, index);
  await throughStages(module, module.after, outputs, traveller, { enter });
  context.progress(index + 1, requests.length);
  stand.collect();
  stand.patienceMs = Math.max(stand.patienceMs, STAGE_MS + 10 * (performance.now() - from));
}

const travellerOf = ({ requests, ports }: Stand, index: number, state: Record<string, unknown> = {}): Traveller => ({
  ...{ index, state, inputs: ports.inputs, outputs: ports.outputs },
  request: requests[index],
});

/** What the stages made, as the runtime takes it. */
function transfer({ model, module }: Stand, value: unknown, index: number): Feeds {
  const stage = module.before.at(-1)?.called ?? null;
  const source = { path: module.path, stage, request: index };
  return model.feeds(feedsFrom(value, model.signature.inputs, source));
}

async function infer({ model }: Stand, feeds: Feeds, index: number): Promise<Readonly<Record<string, unknown>>> {
  try {
    return await model.session.run(feeds, model.readable);
  } catch (cause) {
    throw runFailed(model.path, `request ${index}`, cause);
  }
}

export const stagesRun: JobHandler<"stagesRun"> = async ({ requests, how }, context) => {
  invariant(stand, "the pipeline is open");
  const order = { serial, overlapped, alone }[how];
  let told = performance.now();
  const doing = `one of the stages of ${stand.module.path}`;
  context.due(stand.patienceMs, doing);
  return order(stand, requests, (done) => {
    if (performance.now() - told < SIGN_OF_LIFE_MS) return;
    told = performance.now();
    context.progress(done, requests);
    context.due(stand!.patienceMs, doing);
  });
};

type Measure = (stand: Stand, count: number, alive: (done: number) => void) => Promise<StageRuns>;

/** The model finds its tensors ready: as `bench` times it, in this process. */
const alone: Measure = async (stand, count, alive) => {
  const requestMs = new Float64Array(count);
  const from = performance.now();
  for (let i = 0; i < count; i++) {
    const feeds = stand.made[i % stand.made.length]!;
    const started = performance.now();
    await infer(stand, feeds, i % stand.made.length);
    requestMs[i] = performance.now() - started;
    stand.collect();
    alive(i + 1);
  }
  return { stagesMs: [requestMs], requestMs, wallMs: performance.now() - from, impossible: null };
};

const serial: Measure = async (stand, count, alive) => {
  const { module, requests } = stand;
  const stages = module.before.length + 2 + module.after.length;
  const stagesMs = Array.from({ length: stages }, () => new Float64Array(count));
  const requestMs = new Float64Array(count);
  const from = performance.now();
  for (let i = 0; i < count; i++) {
    const index = stand.next++ % requests.length;
    const traveller = travellerOf(stand, index);
    let stage = 0;
    const started = performance.now();
    let last = started;
    const leave = (): void => {
      const now = performance.now();
      stagesMs[stage++]![i] = now - last;
      last = now;
    };
    const value = await throughStages(module, module.before, requests[index], traveller, { leave });
    const feeds = transfer(stand, value, index);
    leave();
    const outputs = await infer(stand, feeds, index);
    leave();
    await throughStages(module, module.after, outputs, traveller, { leave });
    requestMs[i] = last - started;
    stand.collect();
    alive(i + 1);
  }
  return { stagesMs, requestMs, wallMs: performance.now() - from, impossible: null };
};

/** The first request only fills the line, and its end is when the clock starts. */
const overlapped: Measure = async (stand, count, alive) => {
  const { module, requests } = stand;
  const none = (impossible: string): StageRuns => ({
    stagesMs: [],
    requestMs: new Float64Array(),
    wallMs: 0,
    impossible,
  });
  if (module.before.length === 0) return none("no stage stands before the model");
  const requestMs = new Float64Array(count);
  let from = 0;
  try {
    stand.ahead ??= await StagesAhead.start(module.path, module.requests === undefined ? requests : null, stand.ports);
    const { ahead } = stand;
    const first = stand.next;
    stand.next += count + 1;
    ahead.ask(first % requests.length);
    for (let i = 0; i <= count; i++) {
      const index = (first + i) % requests.length;
      const { value, state, startedMs } = await ahead.next();
      if (i < count) ahead.ask((index + 1) % requests.length);
      const outputs = await infer(stand, transfer(stand, value, index), index);
      await throughStages(module, module.after, outputs, travellerOf(stand, index, state));
      const ended = performance.now();
      if (i === 0) from = ended;
      else requestMs[i - 1] = ended - startedMs;
      stand.collect();
      alive(i);
    }
  } catch (failure) {
    if (failure instanceof CannotWorkAhead) return none(failure.message);
    throw failure;
  }
  return { stagesMs: [], requestMs, wallMs: performance.now() - from, impossible: null };
};
