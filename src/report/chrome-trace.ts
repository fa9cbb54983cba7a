/**
 * Time lines in the trace event format, which chrome://tracing and ui.perfetto.dev read: complete events ("X") with times in
 * microseconds, a process for each model, its name in an "M" event, memory in "C" events.
 */
import type { ProfileFacts } from "../pipeline/profile/profile-facts.js";
import type { RunResult } from "../pipeline/result.js";
import { printable } from "./escape.js";
import { modelNames } from "./model-names.js";
import { plural } from "./numbers.js";

type TraceEvent = Readonly<Record<string, unknown>>;

/** The quickest run of each model. */
export const renderChromeTrace = (profile: ProfileFacts): string => traceOf(runs(profile));

/** The quickest run of each model where the result has a profile, and the stages of the command itself. */
export const renderResultTrace = (result: RunResult): string =>
  traceOf([...(result.profile ? runs(result.profile) : []), ...stages(result)]);

const traceOf = (traceEvents: readonly TraceEvent[]): string =>
  `${JSON.stringify({ traceEvents, displayTimeUnit: "ms" })}\n`;

function runs({ models, threads, provider }: ProfileFacts): TraceEvent[] {
  const names = modelNames(models.map(({ model }) => model));
  return models.flatMap(({ timeline, nodes }, i) => {
    const facts = new Map(nodes.map((node) => [`${node.op}\n${node.name}`, node]));
    const pid = i + 1;
    return [
      { ph: "M", pid, tid: 1, name: "process_name", args: { name: printable(names[i]!) } },
      { ph: "M", pid, tid: 1, name: "thread_name", args: { name: `nodes, ${plural(threads, "thread")}` } },
      ...timeline.map(({ node, op, startMs, ms }) => {
        const { flops = null, bytes = null, bound = null } = facts.get(`${op}\n${node}`) ?? {};
        const args = { node: printable(node), provider, flops, bytes, bound };
        return { ph: "X", pid, tid: 1, name: printable(op), cat: "node", ts: 1000 * startMs, dur: 1000 * ms, args };
      }),
    ];
  });
}

/** After the models, of which there are two at most. */
const OWN = 3;

/** One after the other: when each began is not kept, so pauses between them do not show. */
function stages({ command, stages: all, resources }: RunResult): TraceEvent[] {
  let ts = 0;
  const events = all.map(({ stage, wallMs }): TraceEvent => {
    const event = { ph: "X", pid: OWN, tid: 1, name: printable(stage), cat: "stage", ts, dur: 1000 * wallMs };
    ts += 1000 * wallMs;
    return event;
  });
  const memory = { pid: OWN, tid: 1, name: "peak memory", args: { bytes: resources.peakRssBytes } };
  return [
    { ph: "M", pid: OWN, tid: 1, name: "process_name", args: { name: `infer-opt ${printable(command)}` } },
    { ph: "M", pid: OWN, tid: 1, name: "thread_name", args: { name: "stages" } },
    ...events,
    { ph: "C", ts: 0, ...memory },
    { ph: "C", ts, ...memory },
  ];
}
