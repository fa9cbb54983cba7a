/**
 * Reads what ONNX Runtime's profiler wrote. The file looks like JSON, but names of nodes
 * stand in it unescaped: one with a quote or a line break makes it something else. So it
 * is read as a stream of events, each of which begins its own line, by fixed marks.
 */
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";

/** One node as it was executed, over all runs that count. */
export interface ProfiledNode {
  readonly name: string;
  readonly op: string;
  /** cpu, cuda, ...: as SessionOptions spell it. */
  readonly provider: string;
  /** Whether the file gave it a name; the profiler makes one up for a node without. */
  readonly isNamed: boolean;
  /** Element type of its first input in the runtime's spelling (float, uint8, ...); null without inputs. */
  readonly inputType: string | null;
  calls: number;
  /** Without the time of nodes in its bodies, in the run in which it took least: what others on the machine did not disturb. */
  leastMs: number;
}

export interface Profile {
  readonly runs: number;
  readonly nodes: readonly ProfiledNode[];
}

/** Whether it computes nothing, and only changes the type, layout or place of a tensor. */
export const isConversion = ({ op }: ProfiledNode): boolean =>
  /^(Cast|QuantizeLinear|DequantizeLinear|Transpose|Reorder(In|Out)put|Memcpy(To|From)Host)$/.test(op);

const BEGIN = '{"cat" : "';
const NODE = /^\{"cat" : "Node",.*?"dur" :(\d+),"ts" :(\d+),.*?"name" :"([\s\S]*)_kernel_time","args" : ([\s\S]*)$/;
const RUN = /^\{"cat" : "Session",.*?"dur" :(\d+),.*"name" :"model_run"/;

/** The first `warmUps` runs are left out. */
export async function readProfile(path: string, warmUps: number): Promise<Profile> {
  const nodes = new Map<string, ProfiledNode>();
  let ended = 0;
  for await (const { executions } of runsOf(path)) if (ended++ >= warmUps) countRun(executions, nodes);
  return { runs: Math.max(0, ended - warmUps), nodes: [...nodes.values()] };
}

export interface ProfiledRun {
  readonly totalMs: number;
  readonly executions: readonly Execution[];
}

/** One run after the other; one that the profiler did not see the end of is left out. */
export async function* runsOf(path: string): AsyncIterable<ProfiledRun> {
  let executions: Execution[] = [];
  for await (const event of eventsOf(path)) {
    const execution = executionOf(event);
    if (execution) {
      leaveOutBodies(execution, executions);
      executions.push(execution);
      continue;
    }
    const run = RUN.exec(event);
    if (!run) continue;
    yield { totalMs: Number(run[1]) / 1000, executions };
    executions = [];
  }
}

/** One node, once. */
export interface Execution {
  readonly node: Omit<ProfiledNode, "calls" | "leastMs">;
  readonly key: string;
  /** Microseconds. */
  readonly start: number;
  readonly total: number;
  own: number;
  /** What the profiler noted besides, as text. */
  readonly args: string;
  /** Whether it lies within a later event already. */
  isInner: boolean;
}

function executionOf(event: string): Execution | null {
  const match = NODE.exec(event);
  if (!match) return null;
  const [, duration, start, name = "", args = ""] = match;
  const op = noted(args, "op_name") ?? "";
  const index = noted(args, "node_index") ?? "";
  const total = Number(duration);
  return {
    node: {
      name,
      op,
      provider: providerOf(noted(args, "provider") ?? ""),
      isNamed: name !== `${op}_${index}`,
      inputType: /"input_type_shape" : \[\{"(\w+)"/.exec(args)?.[1] ?? null,
    },
    // Bodies count their nodes anew, so the index alone is not enough.
    key: `${index}\n${op}\n${name}`,
    start: Number(start),
    total,
    own: total,
    args,
    isInner: false,
  };
}

/** A field of what the profiler noted; null where it is missing. */
export const noted = (args: string, key: string): string | null =>
  new RegExp(`"${key}" : "([^"]*)"`).exec(args)?.[1] ?? null;

/** A node with bodies ends after the nodes in them: those that began after it did are its own. */
function leaveOutBodies(outer: Execution, before: readonly Execution[]): void {
  for (let i = before.length - 1; i >= 0 && before[i]!.start >= outer.start; i--) {
    const inner = before[i]!;
    if (inner.isInner) continue;
    inner.isInner = true;
    outer.own = Math.max(0, outer.own - inner.total);
  }
}

function countRun(run: readonly Execution[], nodes: Map<string, ProfiledNode>): void {
  const took = new Map<ProfiledNode, number>();
  for (const { key, node, own } of run) {
    const known = nodes.get(key) ?? { ...node, calls: 0, leastMs: Number.POSITIVE_INFINITY };
    known.calls++;
    nodes.set(key, known);
    took.set(known, (took.get(known) ?? 0) + own / 1000);
  }
  for (const [node, ms] of took) node.leastMs = Math.min(node.leastMs, ms);
}

/** "CUDAExecutionProvider" is cuda. */
const providerOf = (name: string): string => name.replace(/ExecutionProvider$/, "").toLowerCase();

async function* eventsOf(path: string): AsyncIterable<string> {
  let event = "";
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.startsWith(BEGIN)) {
      if (event !== "") yield event;
      event = line;
    } else if (event !== "") event += `\n${line}`;
  }
  if (event !== "") yield event;
}
