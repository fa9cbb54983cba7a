import { Writable } from "node:stream";
import type { Actions } from "../../src/cli/actions.js";
import type { Io } from "../../src/cli/io.js";
import { main } from "../../src/cli/main.js";
import { sampleResult } from "../report/sample-result.js";

class Collector extends Writable {
  text = "";
  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

export interface FakeIo extends Io {
  readonly stdout: Collector;
  readonly stderr: Collector;
  /** What Ctrl-C does. */
  interrupt(): void;
  /** Codes that the program ended with, at once. */
  readonly exits: number[];
}

export function fakeIo(parts: Partial<Io> = {}): FakeIo {
  const handlers = new Set<() => void>();
  const exits: number[] = [];
  return {
    isTTY: { stdout: false, stderr: false },
    columns: null,
    watch: null,
    terminal: null,
    readInput: () => "",
    env: {},
    cwd: ".",
    onInterrupt(handler) {
      handlers.add(handler);
      return () => handlers.delete(handler);
    },
    exitNow: (code) => void exits.push(code),
    ...parts,
    stdout: new Collector(),
    stderr: new Collector(),
    exits,
    interrupt: () => {
      for (const handler of handlers) handler();
    },
  };
}

export interface Called {
  readonly action: keyof Actions;
  readonly config: unknown;
}

/** Actions that note what they were asked for and answer with a result; some may be replaced. */
export function fakeActions(replaced: Partial<Actions> = {}): { actions: Actions; calls: Called[] } {
  const calls: Called[] = [];
  const run =
    (action: keyof Actions) =>
    async (config: unknown): Promise<ReturnType<typeof sampleResult>> => {
      calls.push({ action, config });
      return sampleResult({ command: action });
    };
  const actions: Actions = {
    fuse: run("fuse"),
    fp16: run("fp16"),
    quantize: run("quantize"),
    optimize: run("optimize"),
    optimizePruned: run("optimizePruned"),
    prune: run("prune"),
    calibrate: run("calibrate"),
    verify: run("verify"),
    bench: run("bench"),
    stages: run("stages"),
    load: run("load"),
    sweep: run("sweep"),
    profile: run("profile"),
    gate: run("gate"),
    mergeRanges: async (parts, output) => {
      calls.push({ action: "mergeRanges", config: { parts, output } });
      return { samples: 64, tensors: 12 };
    },
    inspect: () => Promise.reject(new Error("not part of this test")),
    explainsResult: async () => false,
    explain: () => Promise.reject(new Error("not part of this test")),
    show: async (model, options) => {
      calls.push({ action: "show", config: { model, options } });
      return "(x) -> (y) {\n}\n";
    },
    showGroups: () => Promise.reject(new Error("not part of this test")),
    doctor: async () => [{ check: "node", status: "ok", detail: "20.0.0", cure: null }],
    names: async () => [],
    passes: async () => [
      { name: "fold-constants", summary: "Fold", numerics: "exact", recipes: ["fold", "fuse"] },
      { name: "fuse-clip", summary: "Fuse", numerics: "rounding", recipes: ["fuse"] },
    ],
    ...replaced,
  };
  return { actions, calls };
}

/** Runs a whole command line with fake actions. */
export async function command(
  argv: readonly string[],
  { io = fakeIo(), actions = {} }: { readonly io?: FakeIo; readonly actions?: Partial<Actions> } = {},
) {
  const fake = fakeActions(actions);
  const code = await main(argv, io, fake.actions);
  return { code, stdout: io.stdout.text, stderr: io.stderr.text, calls: fake.calls };
}
