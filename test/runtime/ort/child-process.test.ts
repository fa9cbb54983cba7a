import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { startAhead, startChild, takeAhead } from "../../../src/runtime/ort/child-process.js";
import { startRuntime, writeFile } from "./workbench.js";

const entry = fileURLToPath(new URL("../../../dist/runtime/ort/child/main.js", import.meta.url));

/** Whoever inherits a process that ended may let it lie there as a zombie. */
function isAlive(pid: number): boolean {
  const path = `/proc/${pid}/stat`;
  return existsSync(path) && !/\) Z /.test(readFileSync(path, "latin1"));
}

describe("a child that was started ahead", () => {
  it("runs the first job, and nobody else's", async () => {
    const child = startAhead(entry, "frugal");
    const first = startRuntime();
    await first.facts();
    expect(first.pids()).toEqual([child.pid]);
    const second = startRuntime();
    await second.facts();
    expect(second.pids()).not.toContain(child.pid);
  });

  it("is replaced when it is gone", async () => {
    const child = startAhead(entry, "frugal");
    child.kill("SIGKILL");
    await once(child, "close");
    const runtime = startRuntime();
    await runtime.facts();
    expect(runtime.pids()).not.toContain(child.pid);
  });

  it("is not what allocates in another way", () => {
    const child = startAhead(entry, "frugal");
    expect(takeAhead("roomy")).toBeNull();
    expect(takeAhead("frugal")).toBe(child);
    child.kill("SIGKILL");
  });

  it("ends with the process that never needed it", async () => {
    const code = `import(${JSON.stringify(fileURLToPath(new URL("../../../dist/runtime/ort/child-process.js", import.meta.url)))})
      .then(({ startAhead }) => process.stdout.write(String(startAhead(${JSON.stringify(entry)}, "frugal").pid)));`;
    const { stdout } = spawnSync(process.execPath, [writeFile("parent.cjs", code)], { encoding: "utf8" });
    const pid = Number(stdout);
    expect(pid).toBeGreaterThan(0);
    await vi.waitFor(() => expect(isAlive(pid)).toBe(false));
  });
});

describe.skipIf(process.platform === "win32")("where no more files may be open", () => {
  const built = (path: string): string => JSON.stringify(new URL(`../../../dist/runtime/ort/${path}`, import.meta.url));

  /** Runs the code in a group of processes of its own, with one file left to open, which is too few to start a process. */
  async function starved(imported: string, code: string): Promise<{ how: unknown; stdout: string; stderr: string }> {
    const script = `import * as ort from ${built(imported)};
      import { closeSync, openSync } from "node:fs";
      process.stdout.write("");
      process.stderr.write("");
      let last;
      try { for (;;) last = openSync("/dev/null", "r"); } catch {}
      closeSync(last);
      ${code}`;
    const argv = ["-c", 'ulimit -n 64 && exec "$0" "$1"', process.execPath, writeFile("starved.mjs", script)];
    const child = spawn("sh", argv, { detached: true, stdio: ["ignore", "pipe", "pipe"] });
    const said = { stdout: "", stderr: "" };
    child.stdout.on("data", (text: Buffer) => void (said.stdout += text.toString()));
    child.stderr.on("data", (text: Buffer) => void (said.stderr += text.toString()));
    const [exitCode, signal] = await once(child, "close");
    return { how: signal ?? exitCode, ...said };
  }

  it("a job says that no process could be started", async () => {
    const code = `const { code, kind, message } = await ort.ortRuntime().facts().catch((error) => error);
      process.stdout.write([code, kind, message].join());`;
    const { how, stdout, stderr } = await starved("index.js", code);
    expect([how, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^RUNTIME_START_FAILED,runtime,.*EMFILE/);
  });

  it("a child that could not be started takes no other process along as this one ends", async () => {
    const code = `ort.startAhead(${JSON.stringify(entry)}, "frugal"); process.exit(7);`;
    expect(await starved("child-process.js", code)).toMatchObject({ how: 7, stderr: "" });
  });
});

describe("the environment of a child", () => {
  it("is that of its parent, without what it has no use for", async () => {
    vi.stubEnv("NODE_EXTRA_CA_CERTS", "/nowhere.pem");
    vi.stubEnv("NODE_OPTIONS", "--inspect=0 --no-warnings");
    vi.stubEnv("INFER_OPT_TEST", "1");
    onTestFinished(() => void vi.unstubAllEnvs());
    const child = startChild(writeFile("child.cjs", "process.send({ ...process.env })"), "sparing");
    const [env] = await once(child, "message");
    expect(env).toMatchObject({
      INFER_OPT_TEST: "1",
      NODE_OPTIONS: "--no-warnings",
      MALLOC_MMAP_THRESHOLD_: "524288",
      ORT_DISABLE_TELEMETRY: "1",
    });
    expect(env).not.toHaveProperty("NODE_EXTRA_CA_CERTS");
    child.disconnect();
  });
});
