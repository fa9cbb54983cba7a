/** Runs on a pseudo-terminal: what goes on is seen, and what is left when they end. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
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

  it("hears Ctrl-C, says so, and leaves nothing behind", async () => {
    const { session, cwd } = run(["bench", digits, digits, "--budget", "60s"], [80, 24]);
    await session.sees(/bench .*%/);
    session.press("\u0003");
    expect(await session.ended).toMatchObject({ code: 130 });
    const text = await leftBy(session);
    expect(text).toContain("interrupted: ending");
    expect(text).toContain("INTERRUPTED");
    expect(existsSync(join(cwd, "out.onnx"))).toBe(false);
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
