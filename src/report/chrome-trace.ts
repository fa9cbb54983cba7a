/**
 * The quickest run of each model in the trace event format, which chrome://tracing and ui.perfetto.dev read: complete
 * events ("X") with times in microseconds, a process for each model, its name in an "M" event.
 */
import { basename } from "node:path";
import type { ProfileFacts } from "../pipeline/profile/profile-facts.js";

export function renderChromeTrace({ models, threads, provider }: ProfileFacts): string {
  const events = models.flatMap(({ model, timeline, nodes }, i) => {
    const facts = new Map(nodes.map((node) => [`${node.op}\n${node.name}`, node]));
    const pid = i + 1;
    return [
      { ph: "M", pid, tid: 1, name: "process_name", args: { name: basename(model.path) } },
      { ph: "M", pid, tid: 1, name: "thread_name", args: { name: `nodes, ${threads} threads` } },
      ...timeline.map(({ node, op, startMs, ms }) => {
        const { flops = null, bytes = null, bound = null } = facts.get(`${op}\n${node}`) ?? {};
        const args = { node, provider, flops, bytes, bound };
        return { ph: "X", pid, tid: 1, name: op, cat: "node", ts: 1000 * startMs, dur: 1000 * ms, args };
      }),
    ];
  });
  return `${JSON.stringify({ traceEvents: events, displayTimeUnit: "ms" })}\n`;
}
