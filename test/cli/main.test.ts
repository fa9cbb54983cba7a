import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { InferOptError } from "../../src/base/errors.js";
import { commands } from "../../src/cli/commands/index.js";
import type { RunContext } from "../../src/pipeline/context.js";
import type { Outcome } from "../../src/pipeline/result.js";
import { sampleResult } from "../report/sample-result.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { command, fakeIo } from "./fake-io.js";

const outIn = (folder: string): string => join(folder, "out.onnx");
const fuse = (): string[] => ["fuse", "m.onnx", "-o", outIn(temporaryFolder())];

describe("in GitHub Actions", () => {
  const verdict = { ...sampleResult().verdict, outcome: "accuracy", status: "fail" } as const;
  const run = (env: Record<string, string>) =>
    command([...fuse(), "--json"], { io: fakeIo({ env }), actions: { fuse: async () => sampleResult({ verdict }) } });

  it("annotates the run and adds to the job's summary, and leaves stdout to the JSON", async () => {
    const summary = join(temporaryFolder({ "s.md": "before\n" }), "s.md");
    const { stdout, stderr } = await run({ GITHUB_ACTIONS: "true", GITHUB_STEP_SUMMARY: summary });
    expect(JSON.parse(stdout)).toMatchObject({ command: "optimize" });
    expect(stderr).toMatch(/^::(error|notice) title=infer-opt/m);
    expect(readFileSync(summary, "utf8")).toMatch(/^before\n### infer-opt: \*\*FAIL\*\* /);
  });

  it("says when the summary cannot be written, and ends as ever", async () => {
    const ended = await run({ GITHUB_ACTIONS: "true", GITHUB_STEP_SUMMARY: join(temporaryFolder(), "no", "s.md") });
    expect(ended.stderr).toContain("cannot be written");
    expect(ended.code).toBe(10);
  });

  it("does none of it elsewhere", async () => {
    const summary = join(temporaryFolder(), "s.md");
    const { stderr } = await run({ GITHUB_STEP_SUMMARY: summary });
    expect(stderr).not.toContain("::");
    expect(() => readFileSync(summary)).toThrow();
  });
});

describe("exit codes", () => {
  it.each<[Outcome, number]>([
    ["met", 0],
    ["accuracy", 10],
    ["latency", 11],
    ["no-gain", 12],
    ["inconclusive", 13],
  ])("says %s with %i", async (outcome, code) => {
    const verdict = { ...sampleResult().verdict, outcome };
    const ended = await command(fuse(), { actions: { fuse: async () => sampleResult({ verdict }) } });
    expect(ended.code).toBe(code);
  });

  it.each([
    ["usage", 2],
    ["input", 3],
    ["runtime", 4],
    ["interrupted", 130],
  ] as const)("says a fault of kind %s with %i", async (kind, code) => {
    const fault = new InferOptError("SOME_CODE", kind, "the thing is broken", { hint: "Mend it." });
    const ended = await command(fuse(), { actions: { fuse: () => Promise.reject(fault) } });
    expect(ended.code).toBe(code);
    expect(ended.stderr).toBe("error SOME_CODE\n  the thing is broken\n  fix: Mend it.\n");
    expect(ended.stdout).toBe("");
  });

  it("says a fault of its own with 1, and how to reproduce it", async () => {
    const argv = fuse();
    const ended = await command(argv, { actions: { fuse: () => Promise.reject(new Error("internal: oops")) } });
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain("error INTERNAL\n  internal: oops\n");
    expect(ended.stderr).toContain(`infer-opt ${argv.join(" ")} --verbose`);
    expect(ended.stderr).not.toContain("    at ");
  });

  it("explains a result without a runtime", async () => {
    const contexts: unknown[] = [];
    const explain = async (_: unknown, context: unknown): Promise<never> => {
      contexts.push(context);
      throw new InferOptError("SOME_CODE", "input", "far enough");
    };
    for (const isResult of [true, false]) {
      await command(["explain", "r"], { actions: { explain, explainsResult: async () => isResult } });
    }
    expect(contexts).toEqual([null, expect.objectContaining({ scratch: expect.any(String) })]);
  });

  it("refuses flags of models with a result, unless a config file has them for other commands", async () => {
    const folder = temporaryFolder({ "c.json": '{"target": "openvino"}' });
    const explain = async (): Promise<never> => {
      throw new InferOptError("SOME_CODE", "input", "far enough");
    };
    const run = (isResult: boolean, ...more: readonly string[]) =>
      command(["explain", "r", ...more], { actions: { explain, explainsResult: async () => isResult } });
    const asked = ["--target", "openvino", "--node", "*", "--threads", "1"];
    const refused = await run(true, ...asked);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("error FLAG_INVALID\n  --target, --threads: without effect, since r is a result");
    expect((await run(false, ...asked)).stderr).toContain("SOME_CODE");
    expect((await run(true, "--node", "*", "--config", join(folder, "c.json"))).stderr).toContain("SOME_CODE");
    expect((await command(["explain", "-", "--skip", "fuse-gelu"])).stderr).toContain("standard input is a result");
  });

  it("shows stack and causes with --verbose", async () => {
    const fault = new InferOptError("C", "input", "outer", { cause: new Error("inner") });
    const ended = await command([...fuse(), "--verbose"], { actions: { fuse: () => Promise.reject(fault) } });
    expect(ended.stderr).toMatch(/ {4}at .*main\.test/);
    expect(ended.stderr).toContain("caused by Error: inner");
  });

  it("asks for no more than was printed, where stack and causes were", async () => {
    const argv = [...fuse(), "--verbose"];
    const ended = await command(argv, { actions: { fuse: () => Promise.reject(new Error("internal: oops")) } });
    expect(ended.stderr).toContain(`with all of this output of: infer-opt ${argv.join(" ")}\n`);
    expect(ended.stderr).not.toContain("--verbose --verbose");
  });

  it("exits 4 when doctor finds a fault", async () => {
    const finding = { check: "node", status: "fail", detail: "too old", cure: "Update it." } as const;
    const ended = await command(["doctor"], { actions: { doctor: async () => [finding] } });
    expect(ended).toMatchObject({ code: 4, stdout: " fail  node  too old\n             fix: Update it.\n" });
  });
});

describe("usage", () => {
  it("answers nothing with a short help on stderr", async () => {
    const ended = await command([]);
    expect(ended).toMatchObject({ code: 2, stdout: "" });
    expect(ended.stderr).toContain("Usage: infer-opt <command>");
  });

  it.each([
    [["optimise"], "COMMAND_UNKNOWN", "Did you mean optimize?"],
    [["frobnicate"], "COMMAND_UNKNOWN", "--help"],
    [["help", "quantise"], "COMMAND_UNKNOWN", "Did you mean quantize?"],
    [["quantise", "--help"], "COMMAND_UNKNOWN", "Did you mean quantize?"],
    [["net.onnx", "-h"], "COMMAND_UNKNOWN", "--help"],
    [["fuse", "m.onnx", "--therads", "2"], "FLAG_UNKNOWN", "Did you mean --threads?"],
    [["fuse"], "ARGUMENT_MISSING", "For example: infer-opt fuse model.onnx"],
    [["bench"], "ARGUMENT_MISSING", "For example: infer-opt bench model.onnx"],
    [["my net.onnx"], "COMMAND_UNKNOWN", "`infer-opt inspect 'my net.onnx'`"],
    [["--verbose", "inspect", "m.onnx"], "FLAG_UNKNOWN", "Flags come after the command: infer-opt inspect --verbose"],
    [["fuse", "m.onnx", "small.onnx"], "ARGUMENT_UNEXPECTED", "Did you mean -o small.onnx?"],
    [["passes", "fuse"], "ARGUMENT_UNEXPECTED", "help passes"],
    [["fuse", "a", "b"], "ARGUMENT_UNEXPECTED", "help fuse"],
    [["fuse", "m.onnx", "-o"], "FLAG_WITHOUT_VALUE", "help fuse"],
    [["fuse", "m.onnx"], "OUTPUT_MISSING", "-o FILE"],
    [["fuse", "m.onnx", "-o", "o.onnx", "--threads", "0"], "FLAG_INVALID", "--threads 1"],
    [["fuse", "m.onnx", "-o", "o.onnx", "--report", "r.pdf"], "FLAG_INVALID", ".html"],
    [["fuse", "m.onnx", "-o", "o.onnx", "--report", "r"], "FLAG_INVALID", ".md"],
    [["quantize", "m.onnx", "-o", "o.onnx", "--metric", "topp1"], "METRIC_UNKNOWN", "top1"],
    [["quantize", "m.onnx", "-o", "o.onnx", "--corrections", "none,join"], "FLAG_INVALID", "Give none by itself"],
    [["quantize", "m.onnx", "-o", "o.onnx", "--shape", "x=1", "--shape", "x=2"], "FLAG_INVALID", "one shape"],
    [["fuse", "m.onnx", "-o", "o.onnx", "--bisect", "--verify", "none"], "FLAG_INVALID", "--bisect"],
    [["calibrate", "-o", "r.json"], "ARGUMENT_MISSING", "--merge"],
    [["calibrate", "m.onnx", "-o", "r.json", "--merge", "a.json"], "ARGUMENT_UNEXPECTED", "leave it out"],
  ])("refuses %j", async (argv, code, hint) => {
    const ended = await command(argv);
    expect(ended).toMatchObject({ code: 2, stdout: "", calls: [] });
    expect(ended.stderr).toContain(`error ${code}\n`);
    expect(ended.stderr).toContain(hint);
  });

  it("refuses reports whose folder is missing before any work", async () => {
    const ended = await command([...fuse(), "--report", "no-such-folder/r.md"]);
    expect(ended).toMatchObject({ code: 3, calls: [] });
    expect(ended.stderr).toContain("error OUTPUT_FAILED");
  });

  it.each(["verify", "gate"])("says what %s is without data", async (name) => {
    expect((await command(["help", name])).stdout.replaceAll("\n", " ")).toContain("only a smoke test");
  });

  it("tells its version", async () => {
    expect(await command(["--version"])).toMatchObject({ code: 0, stdout: "0.1.0\n" });
  });
});

describe("help", () => {
  it.each(commands.map(({ name }) => name))(
    "of %s has two examples before the flags, and exit codes last",
    async (name) => {
      const { code, stdout } = await command([name, "--help"]);
      expect(code).toBe(0);
      expect(stdout).toBe((await command(["help", name])).stdout);
      const examples = stdout
        .split("\n")
        .filter(
          (line) =>
            line.startsWith(`  infer-opt ${name} `) ||
            line.includes(`(infer-opt ${name} `) ||
            line === `  infer-opt ${name}`,
        );
      expect(examples).toHaveLength(2);
      expect(stdout.indexOf("Examples:")).toBeLessThan(stdout.indexOf("--json"));
      expect(stdout.indexOf("--json")).toBeLessThan(stdout.indexOf("Exit codes:"));
    },
  );

  it("says that --eval is to judge by where there is a metric to do so, and only there", async () => {
    const judging = commands.filter(({ flags }) => flags.includes("metric") && flags.includes("eval"));
    const promising: string[] = [];
    for (const { name } of commands) {
      if ((await command(["help", name])).stdout.includes("samples to judge by")) promising.push(name);
    }
    expect(promising).toEqual(judging.map(({ name }) => name));
    expect(promising).toContain("quantize");
  });

  it("lists every command", async () => {
    const { stdout } = await command(["--help"]);
    for (const { name } of commands) expect(stdout).toMatch(new RegExp(`^ {2}${name}\\b`, "m"));
  });

  it("fits 80 columns but for examples", async () => {
    for (const { name, examples } of commands) {
      const { stdout } = await command(["help", name]);
      const wide = stdout.split("\n").filter((line) => line.length > 80 && !examples.includes(line.trim()));
      expect(wide).toEqual([]);
    }
    expect((await command(["--help"])).stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
  });
});

describe("output", () => {
  it("prints one JSON object and nothing else with --json", async () => {
    const argv = [...fuse(), "--json"];
    const ended = await command(argv);
    expect(JSON.parse(ended.stdout)).toEqual(
      sampleResult({ command: "fuse", commandLine: `infer-opt ${argv.join(" ")}` }),
    );
  });

  it("prints an error as JSON too", async () => {
    const fault = new InferOptError("C", "input", "broken", { hint: "Mend it.", fields: { size: 2n ** 60n } });
    const ended = await command([...fuse(), "--json"], { actions: { fuse: () => Promise.reject(fault) } });
    expect(JSON.parse(ended.stdout)).toEqual({
      schemaVersion: 1,
      command: "fuse",
      error: { code: "C", message: "broken", hint: "Mend it.", fields: { size: "1152921504606846976" } },
    });
  });

  it("prints a usage error as JSON, with null for a command that is none", async () => {
    const ended = await command(["nonsense", "--json"]);
    expect(JSON.parse(ended.stdout)).toMatchObject({ command: null, error: { code: "COMMAND_UNKNOWN" } });
  });

  it("prints nothing with --quiet", async () => {
    expect(await command([...fuse(), "--quiet"])).toMatchObject({ code: 0, stdout: "", stderr: "" });
  });

  it.each([[{ NO_COLOR: "1" }], [{ TERM: "dumb" }], [{ FORCE_COLOR: "0" }]])("has no colour with %j", async (env) => {
    const io = fakeIo({ env: { CI: "1", ...env }, isTTY: { stdout: true, stderr: true } });
    expect((await command(fuse(), { io })).stdout).not.toContain("\u001b");
  });

  it("has colour on a terminal", async () => {
    const io = fakeIo({ env: { CI: "1" }, isTTY: { stdout: true, stderr: true } });
    expect((await command(fuse(), { io })).stdout).toContain("\u001b[32m");
  });

  it("writes every report that was asked for, also when a limit was missed", async () => {
    const folder = temporaryFolder();
    const reports = ["r.md", "r.json", "r.xml"].flatMap((name) => ["--report", join(folder, name)]);
    const verdict = { ...sampleResult().verdict, outcome: "accuracy" } as const;
    const argv = [...fuse(), ...reports];
    const ended = await command(argv, { actions: { fuse: async () => sampleResult({ verdict }) } });
    expect(ended.code).toBe(10);
    expect(readdirSync(folder).sort()).toEqual(["r.json", "r.md", "r.xml"]);
    const stored = JSON.parse(readFileSync(join(folder, "r.json"), "utf8"));
    expect(stored).toMatchObject({ schemaVersion: 1 });
    expect(stored.commandLine).toBe(`infer-opt ${argv.join(" ")}`);
    expect(readFileSync(join(folder, "r.md"), "utf8")).toContain("### infer-opt:");
    expect(readFileSync(join(folder, "r.xml"), "utf8")).toContain("<testsuites");
  });

  it("renders a stored result", async () => {
    const folder = temporaryFolder({ "r.json": JSON.stringify(sampleResult()) });
    const ended = await command(["report", join(folder, "r.json"), "--junit", join(folder, "r.xml")]);
    expect(ended.code).toBe(0);
    expect(ended.stdout).toContain(" PASS  net.onnx -> net.int8.onnx");
    expect(readdirSync(folder)).toContain("r.xml");
  });

  it("does not write a report over the result it reads", async () => {
    const path = join(temporaryFolder({ "r.json": JSON.stringify(sampleResult()) }), "r.json");
    const { stderr } = await command(["report", path, "--markdown", path]);
    expect(stderr).toContain(`error OUTPUT_IS_INPUT\n  --markdown ${path} is the input`);
    expect(stderr).not.toMatch(/-o |--in-place/);
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual(sampleResult());
  });

  it.each([
    [["--html", "-"], "error FLAG_INVALID\n  --html - is no file"],
    [["--csv", "x", "--trace", "x"], "error OUTPUT_CONFLICT\n  --trace x is where --csv goes"],
  ])("names the flags of a stored result's files: %j", async (files, message) => {
    const { stderr, code } = await command(["report", "no-such.json", ...files]);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });

  it("prints the passes as the table of the README", async () => {
    expect((await command(["passes", "--markdown"])).stdout).toBe(
      [
        "| pass | does | numbers | run by |",
        "| --- | --- | --- | --- |",
        "| `fold-constants` | Fold | exact | `fold`, `fuse` |",
        "| `fuse-clip` | Fuse | rounding | `fuse` |",
        "",
      ].join("\n"),
    );
  });
});

describe("what flags become", () => {
  it("an opset and a target, unless they contradict each other", async () => {
    const { calls } = await command([...fuse(), "--opset", "20", "--target", "ort-cpu@1.17"]);
    expect(calls).toMatchObject([{ config: { graph: { opset: 20, target: "ort-cpu@1.17" } } }]);
    for (const flags of [
      ["--opset", "21", "--target", "ort-cpu@1.17"],
      ["--opset", "21", "--keep-opset"],
      ["--opset", "26"],
      ["--target", "ort-gpu"],
    ]) {
      const ended = await command([...fuse(), ...flags]);
      expect([ended.code, ended.calls]).toEqual([2, []]);
      expect(ended.stderr).toContain("FLAG_INVALID");
    }
  });

  it("zeros for size, and given widths, where nothing else says how a net becomes smaller", async () => {
    const prune = (...flags: string[]) =>
      command(["prune", "m.onnx", "-o", outIn(temporaryFolder()), "--calibration", "c.npz", ...flags]);
    const { calls } = await prune("--sparsity", "2:4", "--target", "tensorrt");
    expect(calls).toMatchObject([
      { action: "prune", config: { prune: { sparsity: { kind: "pattern", kept: 2, of: 4 }, goal: "size" } } },
    ]);
    expect((await prune("--widths", "48,0,32")).calls).toMatchObject([
      { config: { prune: { widths: [48, 0, 32], sparsity: null, goal: "speed" } } },
    ]);
    for (const flags of [
      ["--sparsity", "50%", "--keep-ratio", "0.5"],
      ["--sparsity", "50%", "--widths", "4"],
      ["--sparsity", "50%", "--target-speedup", "2"],
      ["--sparsity", "50%", "--recover"],
      ["--widths", "4", "--keep-ratio", "0.5"],
      ["--widths", "4", "--target-speedup", "2"],
    ]) {
      const ended = await prune(...flags);
      expect([ended.code, ended.calls]).toEqual([2, []]);
      expect(ended.stderr).toContain("FLAG_INVALID");
    }
  });

  it("an optimization with narrower nets, and a baseline", async () => {
    const output = outIn(temporaryFolder());
    const { calls } = await command(["optimize", "m.onnx", "-o", output, "--prune", "--baseline", "/o.onnx"]);
    expect(calls).toMatchObject([{ action: "optimizePruned", config: { baseline: "/o.onnx" } }]);
  });

  it("an OptimizeConfig, every flag in its place", async () => {
    const output = outIn(temporaryFolder());
    const { calls } = await command([
      ...["optimize", "m.onnx", "-o", output, "--calibration", "c.npz", "--eval", "e.npz", "--metric", "top1"],
      ...["--max-drop", "0.5%", "--min-speedup", "1.2", "--slo", "p95=20ms", "--slo", "p99=1s", "--max-size", "10MB"],
      ...["--confidence", "95%", "--include", "/a/*", "--exclude", "op:Gemm", "--exclude", "from:a..to:b"],
      ...["--provider", "cuda", "--allow-fallback", "--threads", "3", "--batch", "2", "--shape", "x=N,3,8,8"],
      ...["--seed", "5", "--external-data", "--keep-rejected", "--mode", "static", "--bits", "8", "--method", "mse"],
      ...["--ranges", "r.json", "--goal", "size", "--skip", "fuse-pad,fuse-clip", "--skip", "fold-shapes"],
      ...["--keep-opset", "--budget", "100s", "--fold-budget", "2MB", "--max-memory", "64MiB"],
    ]);
    expect(calls).toEqual([
      {
        action: "optimize",
        config: {
          model: "m.onnx",
          runtime: {
            ...{ provider: "cuda", threads: 3, allowFallback: true, seed: 5, batch: 2, benchMs: 40_000 },
            maxMemoryBytes: 2 ** 26,
            shapes: new Map([["x", [null, 3, 8, 8]]]),
          },
          data: { calibration: "c.npz", eval: "e.npz", metric: { kind: "builtin", name: "top1" } },
          out: { output, externalData: true, keepRejected: true },
          graph: {
            ...{ skip: ["fuse-pad", "fuse-clip", "fold-shapes"], only: [], keepOpset: true },
            ...{ foldBudgetBytes: 2_000_000, check: true, runtimeSpecific: false, verify: "fast", bisect: false },
            shapes: new Map([["x", ["N", 3, 8, 8]]]),
          },
          limits: {
            maxDrop: { percent: 0.5 },
            minSpeedup: 1.2,
            slo: [
              { percentile: "p95", ms: 20 },
              { percentile: "p99", ms: 1000 },
            ],
            maxSizeBytes: 10_000_000,
            confidence: 0.95,
          },
          quantize: {
            ...{
              mode: "static",
              bits: 8,
              budgetMs: 100_000,
              corrections: ["join", "equalize", "means", "outputs", "rounding"],
              method: "mse",
              ranges: "r.json",
              goal: "size",
              searchMs: 60_000,
            },
            selection: { include: ["/a/*"], exclude: ["op:Gemm", "from:a..to:b"] },
          },
        },
      },
    ]);
  });

  it("a recipe for fold and fuse", async () => {
    const output = outIn(temporaryFolder());
    const folded = await command(["fold", "m.onnx", "-o", output]);
    const fused = await command(["fuse", "m.onnx", "-o", output]);
    expect([folded, fused].map(({ calls }) => calls[0]!.config)).toMatchObject([
      { recipe: "fold" },
      { recipe: "fuse" },
    ]);
  });

  it("a target for fp16", async () => {
    const { calls } = await command(["fp16", "m.onnx", "-o", outIn(temporaryFolder()), "--bf16", "--convert-io"]);
    expect(calls).toMatchObject([{ action: "fp16", config: { target: "bf16", convertIo: true } }]);
  });

  it("a part of a calibration, or the joining of parts", async () => {
    const output = join(temporaryFolder(), "r.json");
    const part = await command(["calibrate", "m.onnx", "--calibration", "c.npz", "--shard", "2/8", "-o", output]);
    expect(part.calls).toMatchObject([{ action: "calibrate", config: { shard: { index: 2, of: 8 } } }]);
    const joined = await command(["calibrate", "--merge", "a.json", "b.json", "-o", output]);
    expect(joined.calls).toEqual([{ action: "mergeRanges", config: { parts: ["a.json", "b.json"], output } }]);
    expect(joined.stdout).toBe(
      `2 parts joined: 12 tensors over 64 samples -> ${output}\nnext  infer-opt quantize MODEL -o int8.onnx --ranges ${output}\n`,
    );
  });

  it("a pipeline for a profile", async () => {
    const { calls } = await command(["profile", "a.onnx", "--pipeline", "p.mjs", "--budget", "5s"]);
    const config = { pipeline: expect.stringMatching(/p\.mjs$/), runtime: { benchMs: 5000 } };
    expect(calls).toMatchObject([{ action: "profile", config }]);
  });

  it("one model or two for a profile, with the shares of providers that it has to reach", async () => {
    const { calls } = await command(["profile", "a.onnx", "b.onnx", "--require-ep", "cuda>=95%", "--threads", "2"]);
    const required = [{ provider: "cuda", share: 0.95 }];
    expect(calls).toMatchObject([
      { action: "profile", config: { models: ["a.onnx", "b.onnx"], data: null, runtime: { threads: 2 }, required } },
    ]);
    const folder = temporaryFolder();
    const missing = await command(["profile", "a.onnx", "--chrome-trace", join(folder, "no", "t.json")]);
    expect(missing.code).toBe(3);
    expect(missing.calls).toEqual([]);
  });

  it("a history for gate, with the time of the run", async () => {
    const path = join(temporaryFolder(), "h.jsonl");
    const { calls } = await command(["gate", "a.onnx", "b.onnx", "--history", path]);
    expect(calls).toMatchObject([{ config: { history: { path, at: expect.stringMatching(/^20\d\d-.*Z$/) } } }]);
  });

  it("limits for gate from .infer-opt.json of its folder, unless a file or a flag says otherwise", async () => {
    const cwd = temporaryFolder({
      ".infer-opt.json": `{"minSpeedup": 0.95, "eval": "e.npz", "seed": 3}`,
      "other.json": `{"minSpeedup": 1.1}`,
    });
    const run = (...flags: string[]) => command(["gate", "a.onnx", "b.onnx", ...flags], { io: fakeIo({ cwd }) });
    const [found] = (await run("--seed", "4")).calls;
    expect(found).toMatchObject({
      config: {
        ...{ configPath: join(cwd, ".infer-opt.json"), limits: { minSpeedup: 0.95 } },
        ...{ data: { eval: join(cwd, "e.npz") }, runtime: { seed: 4 } },
      },
    });
    const [given] = (await run("--config", "other.json")).calls;
    expect(given).toMatchObject({ config: { limits: { minSpeedup: 1.1 }, data: { eval: null } } });
    const verified = await command(["verify", "a.onnx", "b.onnx"], { io: fakeIo({ cwd }) });
    expect(verified.calls).toMatchObject([{ config: { data: { eval: null } } }]);
    const shared = await command(["verify", "a.onnx", "b.onnx", "--config", ".infer-opt.json"], {
      io: fakeIo({ cwd }),
    });
    expect(shared.calls).toMatchObject([
      { config: { data: { eval: join(cwd, "e.npz") }, limits: { minSpeedup: null, slo: [] } } },
    ]);
  });

  it("refuses a config of the folder that has an unknown key", async () => {
    const cwd = temporaryFolder({ ".infer-opt.json": `{"minSpeedupp": 0.95}` });
    const { code, stderr, calls } = await command(["gate", "a.onnx", "b.onnx"], { io: fakeIo({ cwd }) });
    expect([code, calls]).toEqual([3, []]);
    expect(stderr).toContain(`Did you mean "minSpeedup"?`);
  });

  it("a load for bench, with its limits", async () => {
    const flags = ["--rate", "40", "--slo", "p95=20ms", "--concurrency", "2", "--find-max-rate", "--budget", "30s"];
    const { calls } = await command(["bench", "a.onnx", ...flags]);
    expect(calls).toMatchObject([
      {
        action: "load",
        config: {
          ...{ offered: { rate: 40, kind: "poisson" }, processes: 2, findMaxRate: true, inconclusive: "fail" },
          ...{ slo: [{ percentile: "p95", ms: 20 }], runtime: { benchMs: 30_000 } },
        },
      },
    ]);
    const trace = await command(["bench", "a.onnx", "--trace", "t.txt"]);
    expect(trace.calls).toMatchObject([
      { action: "load", config: { offered: { trace: expect.stringContaining("t.txt") } } },
    ]);
  });

  it("several batch sizes and thread counts for bench, and for no other command", async () => {
    const flags = ["--batch", "1,2, 8", "--threads", "1,2", "--slo", "p95=20ms", "--cost-per-hour", "0.4"];
    const { calls } = await command(["bench", "a.onnx", ...flags]);
    const config = { batches: [1, 2, 8], threads: [1, 2], costPerHour: 0.4, slo: [{ percentile: "p95", ms: 20 }] };
    expect(calls).toMatchObject([{ action: "sweep", config }]);
    for (const rest of [
      ["bench", "a.onnx", "--rate", "4", "--batch", "1,2"],
      [...fuse(), "--threads", "1,2"],
    ]) {
      const refused = await command(rest);
      expect([refused.code, refused.calls]).toEqual([2, []]);
    }
  });

  it.each([
    ["--cost-per-hour", ["--rate", "4", "--cost-per-hour", "1"]],
    ["--slo", ["--slo", "p95=20ms"]],
    ["--find-max-rate", ["--find-max-rate"]],
    ["--concurrency", ["--concurrency", "2"]],
    ["--trace", ["--rate", "4", "--trace", "t.txt"]],
  ])("no %s of bench without a load that it is about", async (flag, flags) => {
    const { code, calls, stderr } = await command(["bench", "a.onnx", ...flags]);
    expect(code).toBe(2);
    expect(calls).toEqual([]);
    expect(stderr).toContain(flag);
  });

  it("processors for bench", async () => {
    const { calls } = await command(["bench", "a.onnx", "--affinity", "1,0,4-5"]);
    expect(calls).toMatchObject([{ config: { runtime: { affinity: [0, 1, 4, 5] } } }]);
    const without = await command(["bench", "a.onnx"]);
    expect(without.calls).not.toMatchObject([{ config: { runtime: { affinity: expect.anything() } } }]);
    const refused = await command(["bench", "a.onnx", "--affinity", "one"]);
    expect([refused.code, refused.calls]).toEqual([2, []]);
    expect(refused.stderr).toContain("0-3");
  });

  it("a pipeline for bench, with a time and a budget in one flag or in several", async () => {
    const budget = ["--budget", "preprocess=10ms, network=0.03s", "--budget", "1m", "--budget", "total=50ms"];
    const { calls } = await command(["bench", "a.onnx", "--pipeline", "p.mjs", ...budget, "--slo", "p95=20ms"]);
    const stages = [
      { stage: "preprocess", ms: 10 },
      { stage: "network", ms: 30 },
      { stage: "total", ms: 50 },
    ];
    const runtime = { benchMs: 60_000 };
    const config = { budget: stages, percentile: "p95", runtime, pipeline: expect.stringMatching(/p\.mjs$/) };
    expect(calls).toMatchObject([{ action: "stages", config }]);
    const p99 = await command(["bench", "a.onnx", "--pipeline", "p.mjs", "--budget-percentile", "p99.9"]);
    expect(p99.calls).toMatchObject([{ config: { percentile: "p999", budget: [], runtime: { benchMs: 10_000 } } }]);
  });

  it.each([
    ["--budget", ["--budget", "preprocess=10ms"], "--pipeline"],
    ["--budget", ["--pipeline", "p.mjs", "--budget", "1m", "--budget", "2m"], "one time"],
    ["--budget", ["--pipeline", "p.mjs", "--budget", "preprocess"], "preprocess=10ms"],
    ["--budget", ["--pipeline", "p.mjs", "--budget", "preprocess=10"], "preprocess=10ms"],
    ["--budget", ["--pipeline", "p.mjs", "--budget", "=10ms"], "preprocess=10ms"],
    ["--budget-percentile", ["--pipeline", "p.mjs", "--budget-percentile", "95"], "p95"],
    ["--pipeline", ["--pipeline", "p.mjs", "--rate", "4"], "--rate"],
    ["--pipeline", ["--pipeline", "p.mjs", "--threads", "1,2"], "one number of threads"],
    ["--noise-check", ["--pipeline", "p.mjs", "--noise-check"], "--pipeline"],
    ["--noise-check", ["--batch", "1,2", "--noise-check"], "one batch"],
    ["--noise-check", ["--rate", "5", "--noise-check"], "--rate"],
  ])("no %s of bench as in %j", async (flag, flags, hint) => {
    const { code, calls, stderr } = await command(["bench", "a.onnx", ...flags]);
    expect([code, calls]).toEqual([2, []]);
    expect(stderr).toContain(flag);
    expect(stderr).toContain(hint);
  });

  it("two models for verify and gate, any number for bench", async () => {
    const verify = await command(["verify", "a.onnx", "b.onnx", "--layers"]);
    expect(verify.calls).toMatchObject([{ config: { baseline: "a.onnx", candidate: "b.onnx", layers: true } }]);
    const gate = await command(["gate", "a.onnx", "b.onnx", "--inconclusive", "warn"]);
    expect(gate.calls).toMatchObject([{ config: { baseline: "a.onnx", candidate: "b.onnx", inconclusive: "warn" } }]);
    const bench = await command(["bench", "a.onnx", "b.onnx", "c.onnx", "--eval", "e.npz", "--budget", "30s"]);
    expect(bench.calls).toMatchObject([
      { config: { models: ["a.onnx", "b.onnx", "c.onnx"], data: "e.npz", runtime: { benchMs: 30_000 } } },
    ]);
  });

  it("the values of a config file, which flags overrule", async () => {
    const folder = temporaryFolder({ "c.json": `{"seed": 1, "batch": 8, "mode": "dynamic"}` });
    const { calls } = await command([...fuse(), "--config", join(folder, "c.json"), "--seed", "2"]);
    expect(calls[0]!.config).toMatchObject({ runtime: { seed: 2, batch: 8 } });
  });

  it("paths from the current folder", async () => {
    const folder = temporaryFolder();
    const { calls } = await command(["fuse", "m.onnx", "-o", "o.onnx"], { io: fakeIo({ cwd: folder }) });
    expect(calls[0]!.config).toMatchObject({ model: join(folder, "m.onnx"), out: { output: join(folder, "o.onnx") } });
  });
});

describe("a run", () => {
  it("has a scratch folder of its own, which is gone afterwards, also after a failure", async () => {
    const tmp = temporaryFolder();
    const io = (): ReturnType<typeof fakeIo> => fakeIo({ env: { INFER_OPT_TMP: tmp } });
    const seen: string[][] = [];
    const look = async (_: unknown, context: RunContext) => {
      seen.push(readdirSync(tmp));
      expect(context.scratch.startsWith(tmp)).toBe(true);
      return sampleResult();
    };
    await command(fuse(), { io: io(), actions: { fuse: look } });
    await command(fuse(), { io: io(), actions: { fuse: () => Promise.reject(new Error("internal: no")) } });
    expect(seen).toEqual([[expect.stringMatching(/^infer-opt-/)]]);
    expect(readdirSync(tmp)).toEqual([]);
  });

  it("says when there is no place for the scratch folder", async () => {
    const ended = await command(fuse(), { io: fakeIo({ env: { INFER_OPT_TMP: "/no/such/folder" } }) });
    expect(ended.code).toBe(4);
    expect(ended.stderr).toContain("error SCRATCH_FAILED");
  });

  it.each([
    ["vanishes", (scratch: string) => rmSync(scratch, { recursive: true }), "vanished during the run"],
    ["is full", () => {}, "no scratch file can be made"],
  ])("says when the scratch folder %s under it", async (_, happen, message) => {
    const fuseThere = async (__: unknown, { scratch }: RunContext) => {
      happen(scratch);
      writeFileSync(join(scratch, "no", "such"), "");
      return sampleResult();
    };
    const ended = await command(fuse(), { actions: { fuse: fuseThere } });
    expect(ended.code).toBe(4);
    expect(ended.stderr).toContain("error SCRATCH_FAILED");
    expect(ended.stderr).toContain(message);
    expect(ended.stderr).toContain("INFER_OPT_TMP");
  });

  it("is stopped by Ctrl-C, whatever it then fails with", async () => {
    const io = fakeIo();
    const crash = async (_: unknown, { signal }: RunContext) => {
      io.interrupt();
      expect(signal.aborted).toBe(true);
      throw new InferOptError("RUNTIME_CRASHED", "runtime", "the child died");
    };
    const ended = await command(fuse(), { io, actions: { fuse: crash } });
    expect(ended.code).toBe(130);
    expect(ended.stderr).toContain("error INTERRUPTED");
    expect(io.exits).toEqual([]);
  });

  it("tells the best so far of a run that was interrupted, with the code of an interrupt", async () => {
    const io = fakeIo();
    const best = async () => {
      io.interrupt();
      return sampleResult();
    };
    const ended = await command(fuse(), { io, actions: { fuse: best } });
    expect(ended.code).toBe(130);
    expect(ended.stdout).toContain("PASS");
  });

  it("ends at once at the second Ctrl-C", async () => {
    const io = fakeIo();
    const deaf = async () => {
      io.interrupt();
      io.interrupt();
      return sampleResult();
    };
    await command(fuse(), { io, actions: { fuse: deaf } });
    expect(io.exits).toEqual([130]);
  });
});
