/** Runs on a pseudo-terminal: what goes on is seen, and what is left when they end. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { childrenOf, parentOf } from "../support/processes.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { history, ptyLibrary, type Size, TerminalSession, written } from "./pseudo-terminal.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const binary = join(root, "bin", "infer-opt.js");
const digits = join(root, "fixtures", "models", "digits.onnx");
const hideCursor = "\u001b[?25l";
const showCursor = "\u001b[?25h";

function run(argv: readonly string[], size: Size, env: Record<string, string> = {}) {
  const cwd = temporaryFolder();
  return { cwd, session: new TerminalSession([binary, ...argv, "--threads", "1"], size, { cwd, env }) };
}

/** Everything on the terminal, and what had to be taken away is. */
async function leftBy(session: TerminalSession): Promise<string> {
  await written(session.terminal, "");
  expect(session.raw.lastIndexOf(showCursor)).toBeGreaterThan(session.raw.lastIndexOf(hideCursor));
  return history(session.terminal).join("\n").trimEnd();
}

describe.skipIf(!ptyLibrary)("a run on a terminal", () => {
  it.each<Size>([
    [80, 24],
    [40, 12],
    [200, 60],
  ])("shows its progress at %i x %i and ends in the text report", async (columns, rows) => {
    const { session } = run(["bench", digits, digits, "--budget", "3s"], [columns, rows]);
    await session.sees(/bench .* of \d+/);
    await session.sees(/timing +.*\d\.\d\dx (as fast )?so far/);
    expect((await session.ended).code).toBe(0);
    const text = await leftBy(session);
    expect(text).toMatch(/^ load {7}\d/m);
    expect(text).not.toContain("so far");
    expect(text).toContain("PASS");
  });

  it("keeps one frame while the terminal changes its size", async () => {
    const { session } = run(["bench", digits, digits, "--budget", "5s"], [120, 30]);
    await session.sees("so far");
    for (const size of [
      [40, 12],
      [90, 20],
      [60, 8],
    ] as const) {
      session.resize(size);
      await session.sees(/bench .*%/);
      await new Promise((resolve) => setTimeout(resolve, 600));
      await written(session.terminal, "");
      expect(session.screen.match(/^ bench/gm)).toHaveLength(1);
      expect(session.screen.match(/^ timing/gm)).toHaveLength(1);
    }
    session.press("\u0003");
    await session.ended;
    await leftBy(session);
  });

  // The terminal interrupts the processes of the runtime too: the run may have ended before it could say that it ends.
  it("hears Ctrl-C, and leaves nothing behind", async () => {
    const { session, cwd } = run(["bench", digits, digits, "--budget", "60s"], [80, 24]);
    await session.sees(/bench .*%/);
    session.press("\u0003");
    expect(await session.ended).toMatchObject({ code: 130 });
    expect(await leftBy(session)).toContain("INTERRUPTED");
    expect(existsSync(join(cwd, "out.onnx"))).toBe(false);
  });

  /** A run with something that happens in the thread that works, half a second after it began. */
  function runWith(happening: string) {
    const cwd = temporaryFolder();
    const scratch = join(cwd, "scratch");
    mkdirSync(scratch);
    const preload = join(cwd, "preload.cjs");
    writeFileSync(
      preload,
      `const { existsSync, writeFileSync } = require("node:fs");
       if (!require("node:worker_threads").isMainThread) setTimeout(() => { ${happening} }, 500);`,
    );
    const argv = [binary, "bench", digits, digits, "--budget", "5s", "--threads", "1"];
    const env = { INFER_OPT_TMP: scratch, NODE_OPTIONS: `--require ${preload}` };
    return { cwd, scratch, session: new TerminalSession(argv, [80, 24], { cwd, env }) };
  }

  describe("whose work computes without a pause", () => {
    /** Until the file "go" is there. */
    async function begin() {
      const begun = runWith('writeFileSync("stuck", ""); while (!existsSync("go"));');
      await begun.session.sees(/^ (load|bench) /m);
      await expect.poll(() => existsSync(join(begun.cwd, "stuck")), { timeout: 30_000 }).toBe(true);
      return begun;
    }

    it("goes on being drawn", async () => {
      const { cwd, session } = await begin();
      await session.sees(/^ (load|bench) .*\b[2-9] s\b/m);
      session.resize([60, 12]);
      await session.sees(/^ (load|bench) .*\b[3-9] s\b/m);
      writeFileSync(join(cwd, "go"), "");
      expect((await session.ended).code).toBe(0);
      expect(await leftBy(session)).toContain("PASS");
    });

    it.each([
      ["by one Ctrl-C, which it does not hear", ["\u0003"]],
      ["at once by two", ["\u0003", "\u0003"]],
    ])("is cut off %s, and leaves neither files nor processes", async (_, keys) => {
      const { scratch, session } = await begin();
      const children = process.platform === "linux" ? childrenOf(session.pid) : [];
      expect(readdirSync(scratch)).toHaveLength(1);
      for (const key of keys) {
        session.press(key);
        // A terminal throws away what nobody has read of its output yet at each Ctrl-C.
        await Promise.race([session.sees("interrupted: ending"), session.ended]);
      }
      expect((await session.ended).code).toBe(130);
      const text = await leftBy(session);
      expect(text).toContain("INTERRUPTED");
      expect(text.match(/interrupted: ending/g)).toHaveLength(1);
      expect(readdirSync(scratch)).toEqual([]);
      await expect.poll(() => children.filter((pid) => parentOf(pid) !== null), { timeout: 10_000 }).toEqual([]);
    });
  });

  it("tells a fault that nobody caught, and gives the terminal back", async () => {
    const { scratch, session } = runWith('throw new Error("far away");');
    expect((await session.ended).code).toBe(1);
    expect(await leftBy(session)).toMatch(/error INTERNAL\n +far away/);
    expect(readdirSync(scratch)).toEqual([]);
  });

  it.skipIf(process.platform !== "linux")("tells of a full disk behind stdout when all else is written", async () => {
    const cwd = temporaryFolder();
    const argv = [
      binary,
      "fuse",
      digits,
      "-o",
      "out.onnx",
      "--report",
      "r.json",
      "--report",
      "r.html",
      "--threads",
      "1",
    ];
    const script = `const { openSync } = require("node:fs");
      const stdio = ["inherit", openSync("/dev/full", "w"), "inherit"];
      process.exit(require("node:child_process").spawnSync(process.execPath, ${JSON.stringify(argv)}, { stdio }).status);`;
    const session = new TerminalSession(["-e", script], [80, 24], { cwd });
    expect((await session.ended).code).toBe(3);
    expect(await leftBy(session)).toMatch(/error OUTPUT_FAILED\n +cannot write to standard output: ENOSPC/);
    expect(readdirSync(cwd).sort()).toEqual(["out.onnx", "r.html", "r.json"]);
  });

  it.each([
    ["--quiet", ["--quiet"], {}],
    ["--json", ["--json"], {}],
    ["CI", [], { CI: "1" }],
    ["a dumb terminal", [], { TERM: "dumb" }],
  ])("draws nothing with %s", async (_, argv: readonly string[], env) => {
    const { session } = run(["fuse", digits, "-o", "out.onnx", ...argv], [80, 24], env);
    expect((await session.ended).code).toBe(0);
    expect(session.raw).not.toContain(hideCursor);
  });
});
