/** A process of whole requests that makes its times up, on a clock that only it moves. */
import type { StageRuns, StageTimer } from "../../src/runtime/port.js";

export interface FakePipeline {
  /** Milliseconds of request i, in order; the model's is `inference`, moving its tensors costs nothing. */
  readonly before?: Readonly<Record<string, (request: number) => number>>;
  readonly inference: (request: number) => number;
  readonly after?: Readonly<Record<string, (request: number) => number>>;
  /** Why the stages cannot work ahead. */
  readonly impossible?: string;
  readonly hasRequests?: boolean;
}

export interface FakeStageTimer extends StageTimer {
  readonly asked: string[];
}

export function fakeStageTimer(pipeline: FakePipeline, pass: (ms: number) => void): FakeStageTimer {
  const { before = {}, inference, after = {}, impossible = null, hasRequests = true } = pipeline;
  const stages = [...Object.values(before), () => 0, inference, ...Object.values(after)];
  const asked: string[] = [];
  let served = 0;
  const runs = (stagesMs: Float64Array[], requestMs: Float64Array, wallMs: number): StageRuns => {
    pass(wallMs);
    return { stagesMs, requestMs, wallMs, impossible: null };
  };
  const sum = (values: ArrayLike<number>): number => Array.from(values).reduce((total, each) => total + each, 0);
  return {
    asked,
    before: Object.keys(before),
    after: Object.keys(after),
    requests: 3,
    allowed: [],
    hasRequests,
    async measure(requests, how) {
      asked.push(how);
      const from = served;
      served += requests;
      const each = (of: (request: number) => number): Float64Array =>
        Float64Array.from({ length: requests }, (_, i) => of(from + i));
      if (how === "alone") return runs([each(inference)], each(inference), sum(each(inference)));
      if (how === "overlapped" && impossible !== null) {
        return { stagesMs: [], requestMs: new Float64Array(), wallMs: 0, impossible };
      }
      const total = each((i) => sum(stages.map((stage) => stage(i))));
      if (how === "serial") return runs(stages.map(each), total, sum(total));
      // The slower half sets the pace.
      const ahead = (i: number): number => sum(Object.values(before).map((stage) => stage(i)));
      return runs([], total, sum(total.map((ms, i) => Math.max(ahead(from + i), ms - ahead(from + i)))));
    },
    peakRssBytes: async () => 5e7,
    close: async () => {},
  };
}
