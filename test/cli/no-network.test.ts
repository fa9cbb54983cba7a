/** No telemetry, no update check: nothing that runs, parent or child, reaches for another computer. */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const hook = pathToFileURL(join(root, "test/support/watch-network.mjs")).href;
const digits = join(root, "fixtures/models/digits.onnx");
const samples = join(root, "calibration/digits/calibration.npz");
const binary = join(root, "bin/infer-opt.js");

/** What was tried, and how many processes were watched. */
function watched(argv: readonly string[], cwd: string): { status: number | null; tried: string[]; processes: number } {
  const log = join(cwd, "network.log");
  writeFileSync(log, "");
  const env = { ...process.env, NODE_OPTIONS: `--import=${hook}`, INFER_OPT_TEST_NETWORK: log };
  const { status } = spawnSync(process.execPath, argv, { cwd, env, encoding: "utf8" });
  const lines = readFileSync(log, "utf8").trim().split("\n");
  return {
    status,
    tried: lines.filter((line) => !line.endsWith(" watched")),
    processes: lines.filter((line) => line.endsWith(" watched")).length,
  };
}

it("a try would be seen, whatever makes it", () => {
  const folder = temporaryFolder({
    "calls.cjs": [
      'require("node:net").connect(9, "127.0.0.1").on("error", () => {});',
      'require("node:dns").lookup("localhost", () => {});',
      'fetch("http://127.0.0.1:9/").catch(() => {});',
      'require("node:https").get("https://127.0.0.1:9/").on("error", () => {});',
    ].join("\n"),
  });
  const { tried } = watched(["calls.cjs"], folder);
  for (const name of ["connect", "lookup", "fetch"]) expect(tried.join("\n")).toContain(` ${name} `);
  expect(tried.filter((line) => line.includes(" connect ")).length).toBeGreaterThan(1);
});

describe("nothing is tried by", () => {
  it.each([
    ["no arguments", [], 1, 2],
    ["help", ["--help"], 1, 0],
    ["doctor", ["doctor"], 2, 0],
    ["inspect", ["inspect", digits], 1, 0],
    ["fuse", ["fuse", digits, "-o", "fused.onnx"], 2, 0],
    ["a model that is missing", ["fuse", "missing.onnx", "-o", "fused.onnx"], 1, 3],
    [
      "optimize",
      ["optimize", digits, "-o", "small.onnx", "--calibration", samples, "--goal", "size", "--budget", "2s"],
      2,
      0,
    ],
  ] as const)("%s", (_, argv, leastProcesses, code) => {
    const { status, tried, processes } = watched([binary, ...argv], temporaryFolder());
    expect(tried).toEqual([]);
    expect(processes).toBeGreaterThanOrEqual(leastProcesses);
    expect(status).toBe(code);
  });
});

/** Native code is seen by none of the above: where the system can take the network away, all still works. */
const alone = ["unshare", "-rn", process.execPath] as const;
const canBeAlone = spawnSync(alone[0], ["-rn", "true"]).status === 0;

it.skipIf(!canBeAlone)("works where there is no network at all", () => {
  const folder = temporaryFolder();
  const [program, ...first] = alone;
  for (const argv of [["doctor"], ["fuse", digits, "-o", "fused.onnx"], ["bench", digits, "--budget", "1s"]]) {
    const ended = spawnSync(program, [...first, binary, ...argv], { cwd: folder, encoding: "utf8" });
    expect(ended.stderr).not.toContain("error ");
    expect(ended.status).toBe(0);
  }
});

it("leaves nothing in folders that are the system's or the user's: neither this program nor the runtime keeps a record of what was run", () => {
  const folders = Object.fromEntries(["HOME", "XDG_CACHE_HOME", "TMPDIR"].map((name) => [name, temporaryFolder()]));
  const { ORT_DISABLE_TELEMETRY: _, ...rest } = process.env;
  const env = { ...rest, ...folders };
  const { status } = spawnSync(process.execPath, [binary, "bench", digits, "--budget", "1s"], {
    env,
    encoding: "utf8",
  });
  expect(status).toBe(0);
  expect(Object.values(folders).flatMap((folder) => readdirSync(folder))).toEqual([]);
});
