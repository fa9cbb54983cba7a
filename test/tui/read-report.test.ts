/** `report` on a pseudo-terminal: what a person sees, and what is left of it on the terminal afterwards. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { sampleResult } from "../report/sample-result.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { hostileResult } from "./hostile-result.js";
import { ptyLibrary, type Size, TerminalSession, written } from "./pseudo-terminal.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const binary = join(root, "bin", "infer-opt.js");
const down = "\u001b[B";
const ctrlC = "\u0003";
const enterAlternate = "\u001b[?1049h";
const leaveAlternate = "\u001b[?1049l";

const stored = (result = sampleResult({ command: "quantize" })): string =>
  temporaryFolder({ "result.json": JSON.stringify(result) });

function open(size: Size, { folder = stored(), argv = [] as string[], env = {} as Record<string, string> } = {}) {
  const session = new TerminalSession([binary, "report", "result.json", ...argv], size, { cwd: folder, env });
  return { session, folder };
}

/** The screen as it was, its cursor there, nothing in raw mode. */
async function expectRestored(session: TerminalSession): Promise<void> {
  await written(session.terminal, "");
  const { raw, terminal } = session;
  expect(raw.lastIndexOf(leaveAlternate)).toBeGreaterThan(raw.lastIndexOf(enterAlternate));
  expect(raw.lastIndexOf("\u001b[?25h")).toBeGreaterThan(raw.lastIndexOf("\u001b[?25l"));
  expect(raw.lastIndexOf("\u001b[?7h")).toBeGreaterThan(raw.lastIndexOf("\u001b[?7l"));
  expect(terminal.buffer.active.type).toBe("normal");
}

describe.skipIf(!ptyLibrary)("report on a terminal", () => {
  it.each<Size>([
    [80, 24],
    [40, 12],
    [200, 60],
  ])("shows seven screens at %i x %i and gives the terminal back", async (columns, rows) => {
    const { session } = open([columns, rows]);
    await session.sees("[1 Summary]");
    await session.sees("PASS");
    for (const [key, title, words] of [
      ["2", "[2 Layers]", "/conv2"],
      ["3", "[3 Latency]", "24.3"],
      ["4", "[4 Pareto]", "2.14x"],
      ["5", "[5 Ranges]", "No ranges"],
      ["6", "[6 Decisions]", "applied 53x"],
      ["7", "[7 Environment]", "Some CPU"],
      ["\t", "[1 Summary]", "PASS"],
      ["?", "Keys", "1-7, tab"],
    ] as const) {
      session.press(key);
      await session.sees(title);
      if (key !== "?" || rows > 12) await session.sees(words);
    }
    session.press("x", "q");
    expect(await session.ended).toMatchObject({ code: 0 });
    await expectRestored(session);
    expect(session.screen.trim()).toBe("");
    // A line is erased before it is written: some terminals would erase the last column with it.
    const erased = session.raw.split("\u001b[K").slice(0, -1);
    expect(erased.length).toBeGreaterThan(0);
    expect(erased.filter((before) => !before.endsWith("H\u001b[0m"))).toEqual([]);
  });

  it("follows the size of the terminal, and tears nothing", async () => {
    const { session } = open([200, 60]);
    await session.sees("7 Environment");
    session.press("2", down, down);
    await session.sees("> /conv4");
    for (const size of [
      [40, 12],
      [120, 30],
      [80, 24],
    ] as const) {
      session.resize(size);
      await session.sees(size[0] === 40 ? " 1 [2 Layers] 3 " : "7 Environment");
      await session.sees("> /conv4");
      expect(session.screen.match(/\[2 Layers\]/g)).toHaveLength(1);
      expect(session.screen.match(/q quit/g)).toHaveLength(1);
    }
    session.press("q");
    await session.ended;
  });

  it("marks, filters and writes the list of what is to stay in float", async () => {
    const { session, folder } = open([80, 24]);
    await session.sees("[1 Summary]");
    session.press("2", "/", "c", "o", "n", "v", "7");
    await session.sees("filter: conv7_");
    session.press("\r", "x", "w");
    await session.sees(/--config\s+result\.exclude\.json/);
    expect(JSON.parse(readFileSync(join(folder, "result.exclude.json"), "utf8"))).toEqual({ exclude: ["/conv7"] });
    session.press("q", "q");
    expect(await session.ended).toMatchObject({ code: 0 });
  });

  it("is no victim of names", async () => {
    const { session } = open([80, 24], { folder: stored(hostileResult()) });
    await session.sees("\\x1b[2J");
    for (const key of ["2", "3", "4", "5", "6", "7"]) session.press(key);
    await session.sees("[7 Environment]");
    expect(session.raw).not.toContain("\u001b]0;");
    expect(session.raw).not.toContain("\u202e");
    expect(session.raw).not.toContain("\u0007");
    session.press("q");
    await session.ended;
  });

  it("keeps the columns of names in Chinese in line", async () => {
    const layer = (node: string) => ({ node, op: "Conv", reason: "depthwise" });
    const quantization = { ...sampleResult().quantization!, forms: [], float: ["/卷积/一", "/conv/a"].map(layer) };
    const { session } = open([80, 24], { folder: stored(sampleResult({ quantization })) });
    await session.sees("[1 Summary]");
    session.press("2");
    await session.sees("/卷积/一");
    const at = (text: string): number => {
      const row = session.screen.split("\n").findIndex((each) => each.includes(text));
      const line = session.terminal.buffer.active.getLine(row)!;
      for (let x = 0; x < 76; x++) {
        if ([..."float"].every((letter, i) => line.getCell(x + i)!.getChars() === letter)) return x;
      }
      return -1;
    };
    expect(at("/卷积/一")).toBe(at("/conv/a"));
    expect(at("/conv/a")).toBeGreaterThan(0);
    session.press("q");
    await session.ended;
  });

  it.each([
    ["Ctrl-C", (session: TerminalSession) => session.press(ctrlC), 130],
    ["SIGTERM", (session: TerminalSession) => session.kill("SIGTERM"), 130],
    ["SIGHUP", (session: TerminalSession) => session.kill("SIGHUP"), 130],
  ])("gives the terminal back at %s", async (_, interrupt, code) => {
    const { session } = open([80, 24]);
    await session.sees("[1 Summary]");
    interrupt(session);
    expect(await session.ended).toMatchObject({ code });
    await expectRestored(session);
  });

  it("gives the terminal back when a screen throws, and when anything else does", async () => {
    const folder = stored();
    const program = (what: string): string => `
      const { readReport } = await import(${JSON.stringify(join(root, "dist/tui/read-report.js"))});
      const { look } = await import(${JSON.stringify(join(root, "dist/tui/look.js"))});
      const { readFileSync } = await import("node:fs");
      const result = JSON.parse(readFileSync("result.json", "utf8"));
      const { stdin, stdout } = process;
      ${what}
      await readReport({ result, path: "result.json", terminal: { stdin, stdout }, look: look(true, true),
        onInterrupt: () => () => {}, writeFile: () => {} }).catch(({ message }) => { console.log(message); process.exitCode = 1; });`;
    const bad = 'Object.defineProperty(result.environment, "cpu", { get() { throw new Error("broken screen"); } });';
    for (const [what, said] of [
      [bad, "broken screen"],
      ['setTimeout(() => { throw new Error("broken elsewhere"); }, 1500);', "broken elsewhere"],
    ] as const) {
      const argv = ["--input-type=module", "-e", program(what)];
      const session = new TerminalSession(argv, [80, 24], { cwd: folder });
      await session.sees("[1 Summary]");
      session.press("7");
      expect((await session.ended).code).not.toBe(0);
      await expectRestored(session);
      await session.sees(said);
    }
  });

  it.each([
    ["--text", ["--text"], {}],
    ["--quiet", ["--quiet"], {}],
    ["--json", ["--json"], {}],
    ["a file to write", ["--markdown", "r.md"], {}],
    ["a dumb terminal", [], { TERM: "dumb" }],
    ["CI", [], { CI: "true" }],
  ])("is text with %s", async (_, argv, env) => {
    const { session, folder } = open([80, 24], { argv, env });
    expect(await session.ended).toMatchObject({ code: 0 });
    expect(session.raw).not.toContain(enterAlternate);
    expect(existsSync(join(folder, "r.md"))).toBe(argv.some((word) => word === "--markdown"));
  });

  it("has no colours with NO_COLOR", async () => {
    const { session } = open([80, 24], { env: { NO_COLOR: "1" } });
    await session.sees("[1 Summary]");
    session.press("3");
    await session.sees("[3 Latency]");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours
    expect(session.raw).not.toMatch(/\u001b\[[1-9][\d;]*m/);
    session.press("q");
    await session.ended;
  });
});

it("is text where stdout is no terminal", () => {
  const folder = stored();
  const { status, stdout } = spawnSync(process.execPath, [binary, "report", "result.json"], {
    cwd: folder,
    encoding: "utf8",
  });
  expect(status).toBe(0);
  expect(stdout).toMatch(/^ PASS {2}net\.onnx/);
  expect(stdout).not.toContain("\u001b");
});
