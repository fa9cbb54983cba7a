/**
 * The command as users start it, on files of a test: what it says, how it ends, and
 * what it leaves behind. Runs from dist/.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { temporaryFolder } from "./temporary-folder.js";

export const root = fileURLToPath(new URL("../..", import.meta.url));
const binary = join(root, "bin", "infer-opt.js");

/** What lies where a run is to write: it must still be there, as it was, after every failure. */
const OLD = "an older result";

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Called with all of stderr so far, each time more comes. */
  readonly onStderr?: (stderr: string, child: ChildProcess) => void;
  /** Files that the run may leave for the next one to go on from. */
  readonly mayLeave?: readonly string[];
}

/** Exit code, error code, and what the message must hold. */
export type Fault = readonly [exit: number, code: string, ...says: string[]];

export interface Scene {
  readonly folder: string;
  /** INFER_OPT_TMP of the run. */
  readonly scratch: string;
  run(argv: readonly string[], options?: RunOptions): Promise<Ended>;
  /** Runs with --json and expects the fault, told once in both ways, and nothing left behind. */
  refuses(argv: readonly string[], fault: Fault, options?: RunOptions): Promise<Ended>;
  /** Every file is as it was, and the scratch folder is empty. */
  expectUntouched(mayLeave?: readonly string[]): void;
}

/** A folder with the given files and an older `out.onnx`. Call it inside a test. */
export function scene(files: Readonly<Record<string, string | Uint8Array>> = {}): Scene {
  const folder = temporaryFolder({ "out.onnx": OLD, ...files });
  const scratch = temporaryFolder();
  let before: Readonly<Record<string, string>> | null = null;

  const self: Scene = {
    folder,
    scratch,
    run(argv, options = {}) {
      before = contents(folder);
      return runCommand(argv, folder, { ...options, env: { INFER_OPT_TMP: scratch, ...options.env } });
    },
    async refuses(argv, fault, options) {
      const ended = await self.run([...argv, "--json"], options);
      expectFault(ended, fault);
      expectJsonFault(ended, fault);
      self.expectUntouched(options?.mayLeave);
      return ended;
    },
    expectUntouched(mayLeave = []) {
      const after = Object.entries(contents(folder)).filter(([name]) => !mayLeave.includes(name));
      expect(Object.fromEntries(after)).toEqual(before);
      expect(readdirSync(scratch)).toEqual([]);
    },
  };
  return self;
}

const runCommand = (argv: readonly string[], cwd: string, options: RunOptions): Promise<Ended> =>
  spawnCommand(argv, cwd, options).ended;

/** The process too, for tests that do something to it. */
export function spawnCommand(argv: readonly string[], cwd: string, { env, onStderr }: RunOptions) {
  const child = spawn(process.execPath, [binary, ...argv], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
    onStderr?.(stderr, child);
  });
  const ended = new Promise<Ended>((resolve) => {
    child.once("close", (code) => resolve({ code, stdout, stderr }));
  });
  return { child, ended };
}

/** One error, by its code; the offending thing; the next step; and nothing from inside. */
export function expectFault({ code, stdout, stderr }: Ended, [exit, error, ...says]: Fault): void {
  const told = [...stderr.matchAll(/^error ([A-Z_0-9]+)$/gm)].map(([, name]) => name);
  expect({ exit: code, told }, stderr).toEqual({ exit, told: [error] });
  const message = stderr.slice(stderr.indexOf(`error ${error}`));
  for (const text of says) expect(message).toContain(text);
  expect(message).toMatch(/^ {2}fix: \S.*[.!?)]$/m);
  expect(`${stdout}\n${stderr}`).not.toMatch(/^\s*at .*(\.[cm]?[jt]s|<anonymous>|native|node:)/m);
  expect(`${stdout}\n${stderr}`).not.toMatch(/internal:|\bundefined\b|\[object /);
}

/** stdout is one object that says the same. */
function expectJsonFault({ stdout }: Ended, [, code]: Fault): void {
  const answer = JSON.parse(stdout);
  expect(answer).toMatchObject({ schemaVersion: 1, error: { code } });
  expect(answer.error.message.length).toBeGreaterThan(10);
  expect(typeof answer.error.hint).toBe("string");
}

/** Paths to contents, of files; folders and other things by what they are. */
function contents(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  return Object.fromEntries(
    names.map((name) => {
      const path = join(folder, name);
      const stats = lstatSync(path);
      if (stats.isSymbolicLink()) return [name, `a link to ${readlinkSync(path)}`];
      return [name, stats.isFile() ? readFileSync(path, "latin1") : stats.isDirectory() ? "a folder" : "special"];
    }),
  );
}
