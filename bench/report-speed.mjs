// How long a reader waits: for help, for the first screen of `report RESULT`, for a page to be written and to open.
//
//   node bench/report-speed.mjs [RESULT.json] [--runs R] [--layers N]
//
// Without a result it is that of a chain of N layers (1,000) made integers, which takes a minute or two. Each is done R times (7), in
// turns with a bare `node -e 0`, and the least counts: by the clock and by processor time of all threads. A first screen has come when
// its last line has, through a pseudo-terminal; a page has opened when the main thread of a Chromium (CHROMIUM names it) has no task left.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import * as pty from "@lydell/node-pty";
import { chromium } from "playwright-core";
import { parseModel, saveModel } from "../dist/index.js";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { runs: { type: "string", default: "7" }, layers: { type: "string", default: "1000" } },
});
const tool = fileURLToPath(new URL("../bin/infer-opt.js", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "report-speed-"));
const page = join(folder, "report.html");

/** What `quantize` says of Conv and Relu in turns, small enough to be measured soon. */
function madeResult(layers) {
  const node = (i) => {
    const from = i === 0 ? "x" : `x${i - 1}`;
    return i % 2 === 0
      ? `x${i} = Conv<kernel_shape=[3,3], pads=[1,1,1,1]>(${from}, $stage${i}.weight: f32[8,8,3,3])`
      : `x${i} = Relu(${from})`;
  };
  const nodes = Array.from({ length: layers - 1 }, (_, i) => node(i));
  const [model, samples, result] = ["chain.onnx", "samples.jsonl", "result.json"].map((name) => join(folder, name));
  saveModel(parseModel(`(x: f32[1,8,8,8]) -> (y) {\n${nodes.join("\n")}\ny = Relu(x${layers - 2})\n}`), model).commit();
  const cube = (i) =>
    [...Array(8)].map((_, c) =>
      [...Array(8)].map((_, y) => [...Array(8)].map((_, x) => Math.sin(i + 7 * c + 3 * y + x))),
    );
  writeFileSync(samples, [...Array(40)].map((_, i) => JSON.stringify({ x: cube(i) })).join("\n"));
  const { stderr } = spawnSync(process.execPath, [
    ...[tool, "quantize", model, "-o", join(folder, "small.onnx"), "--calibration", samples, "--mode", "static"],
    ...["--max-drop", "none", "--goal", "size", "--threads", "1", "--report", result],
  ]);
  if (!existsSync(result)) throw new Error(`quantize left no result:\n${stderr}`);
  return result;
}

const result = positionals[0] ?? madeResult(Number(values.layers));

/** Until it ends. */
function whole(...argv) {
  const timed = ["-c", 'TIMEFORMAT="%R %U %S"; time "$@" > /dev/null', "bash", process.execPath, ...argv];
  const { status, stderr } = spawnSync("bash", timed, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${argv.join(" ")} ended with ${status}: ${stderr}`);
  const [clock, user, system] = stderr
    .trim()
    .split(" ")
    .map((seconds) => 1000 * Number(seconds));
  return { clock, cpu: user + system };
}

/** Until `last` is on the terminal; the processor time up to then has ticks of 10 ms. */
function firstScreen(last, ...argv) {
  return new Promise((resolve) => {
    const from = performance.now();
    const { CI: _, ...env } = process.env;
    const shown = pty.spawn(process.execPath, argv, {
      cols: 80,
      rows: 24,
      env: { ...env, LANG: "C.UTF-8", TERM: "xterm-256color" },
    });
    let text = "";
    shown.onData((more) => {
      const isFirst = !text.includes(last);
      text += more;
      if (!isFirst || !text.includes(last)) return;
      const clock = performance.now() - from;
      const fields = readFileSync(`/proc/${shown.pid}/stat`, "utf8").split(") ")[1].split(" ");
      shown.onExit(() => resolve({ clock, cpu: 10 * (Number(fields[11]) + Number(fields[12])) }));
      shown.write("q");
    });
  });
}

/** Tasks of the main thread, scripts, style and layout among them, until it is idle. */
async function opened(browser) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const tab = await context.newPage();
  const devtools = await context.newCDPSession(tab);
  await devtools.send("Performance.enable");
  const busy = async () => {
    const { metrics } = await devtools.send("Performance.getMetrics");
    return 1000 * metrics.find(({ name }) => name === "TaskDuration").value;
  };
  const before = await busy();
  await tab.goto(pathToFileURL(page).href);
  await tab.evaluate(() => new Promise((idle) => requestIdleCallback(idle)));
  const spent = (await busy()) - before;
  await context.close();
  return { clock: spent, cpu: spent };
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
try {
  const measures = {
    "bare node": () => whole("-e", "0"),
    "--help": () => whole(tool, "--help"),
    "report --html": () => whole(tool, "report", result, "--html", page),
    "first screen": () => firstScreen("\x1b[?2026l", tool, "report", result),
    "page opens": () => opened(browser),
  };
  const least = {};
  for (let run = 0; run < Number(values.runs); run++) {
    for (const [name, measure] of Object.entries(measures)) {
      const { clock, cpu } = await measure();
      const kept = least[name] ?? { clock: Infinity, cpu: Infinity };
      least[name] = { clock: Math.min(kept.clock, clock), cpu: Math.min(kept.cpu, cpu) };
    }
  }
  console.log(`${result}, ${statSync(result).size} bytes; its page ${statSync(page).size} bytes`);
  for (const [name, { clock, cpu }] of Object.entries(least)) {
    console.log(
      `${name.padEnd(14)} ${clock.toFixed(0).padStart(6)} ms by the clock ${cpu.toFixed(0).padStart(6)} ms of processor time`,
    );
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
