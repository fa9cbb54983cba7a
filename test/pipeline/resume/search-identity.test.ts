import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { OptimizeConfig, PruneConfig } from "../../../src/pipeline/config.js";
import type { Intake } from "../../../src/pipeline/intake.js";
import { pruneIdentity, searchIdentity } from "../../../src/pipeline/resume/search-identity.js";
import { FakeRuntime, fakeContext } from "../../support/fake-runtime.js";
import { optimizeConfig } from "../../support/real-run.js";
import { limitsOf, runtimeConfig } from "../../support/run-config.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const intake = {
  facts: { path: "m.onnx", sha256: "model", bytes: 1, nodes: 1 },
  fit: { ref: { path: "c.npz", indices: [0, 2] }, count: 2, digest: "calibration" },
  evaluation: { ref: { path: "e.npz" }, count: 3, source: "eval", hasLabels: true },
  evaluationDigest: "evaluation",
  metric: { kind: "builtin", name: "top1" },
} as unknown as Intake;
const config = optimizeConfig("m.onnx", "out.onnx");
const context = fakeContext(new FakeRuntime({}));

const identity = (
  given: { config?: Partial<OptimizeConfig>; intake?: Partial<Intake>; command?: string; version?: string } = {},
): string =>
  searchIdentity(
    given.command ?? "quantize",
    { ...config, ...given.config },
    { ...intake, ...given.intake },
    { ...context, toolVersion: given.version ?? context.toolVersion },
  );
const quantize = (change: Partial<OptimizeConfig["quantize"]>) => ({
  config: { quantize: { ...config.quantize, ...change } },
});

describe("searchIdentity", () => {
  it("is the same wherever files lie, the output goes, and however long it may take", () => {
    const moved = {
      facts: { ...intake.facts, path: "elsewhere.onnx" },
      fit: { ...intake.fit!, ref: { ...intake.fit!.ref, path: "elsewhere.npz" } },
      evaluation: { ...intake.evaluation, ref: { path: "elsewhere.npz" } },
    };
    const data = { calibration: "elsewhere.npz", eval: "elsewhere.npz", metric: null };
    const out = { output: "other.onnx", externalData: true, keepRejected: true };
    const runtime = runtimeConfig({ benchMs: 7 });
    const slow = { ...config.quantize, searchMs: 1, budgetMs: 2 };
    expect(
      identity({
        intake: moved,
        config: { model: "elsewhere.onnx", data, out, quantize: slow, runtime: { ...runtime } },
      }),
    ).toBe(identity({ config: { runtime } }));
    expect(identity({ config: { runtime: runtimeConfig({ benchMs: 300 }) } })).toBe(identity());
  });

  it.each<[string, Parameters<typeof identity>[0]]>([
    ["model", { intake: { facts: { ...intake.facts, sha256: "another" } } }],
    ["calibration data", { intake: { fit: { ...intake.fit!, digest: "another" } } }],
    ["calibration samples", { intake: { fit: { ...intake.fit!, ref: { path: "c.npz", indices: [0, 1] } } } }],
    ["evaluation data", { intake: { evaluationDigest: "another" } }],
    ["evaluation samples", { intake: { evaluation: { ...intake.evaluation, ref: { path: "e.npz", indices: [1] } } } }],
    ["metric", { intake: { metric: { kind: "builtin", name: "top5" } } }],
    ["limit", { config: { limits: limitsOf({ maxDrop: { absolute: 0.1 } }) } }],
    ["threads", { config: { runtime: runtimeConfig({ benchMs: 300, threads: 2 }) } }],
    ["mode", quantize({ mode: "dynamic" })],
    ["corrections", quantize({ corrections: ["outputs"] })],
    ["selection", quantize({ selection: { include: [], exclude: ["a"] } })],
    ["format", quantize({ format: "qoperator" })],
    ["command", { command: "optimize" }],
    ["version", { version: "99" }],
  ])("is another for another %s", (_, change) => {
    expect(identity(change)).not.toBe(identity());
  });

  it("is another for another content of a ranges file and of a metric, at the same path", () => {
    const folder = temporaryFolder({ "r.json": "1", "metric.mjs": "2" });
    const [ranges, path] = [`${folder}/r.json`, `${folder}/metric.mjs`];
    const now = () => identity({ ...quantize({ ranges }), intake: { metric: { kind: "module", path } } });
    const first = now();
    expect(now()).toBe(first);
    for (const file of [ranges, path]) {
      const before = readFileSync(file);
      writeFileSync(file, "3");
      expect(now()).not.toBe(first);
      writeFileSync(file, before);
    }
    expect(now()).toBe(first);
  });

  it("is another against another baseline", () => {
    const folder = temporaryFolder({ "a.onnx": "1", "b.onnx": "2" });
    const [a, b] = ["a", "b"].map((name) => identity({ config: { baseline: `${folder}/${name}.onnx` } }));
    expect(new Set([a, b, identity()]).size).toBe(3);
  });

  it("of a pruning is another for other widths, and the same for another budget", () => {
    const { quantize: _quantize, ...rest } = config;
    const of = (prune: Partial<PruneConfig["prune"]>): string =>
      pruneIdentity(
        {
          ...rest,
          prune: {
            ...{ targetSpeedup: null, keepRatio: null, widths: null, sparsity: null, recover: false },
            ...{ goal: "speed", selection: { include: [], exclude: [] }, budgetMs: null },
            ...prune,
          },
        },
        intake,
        context,
      );
    expect(of({ budgetMs: 5 })).toBe(of({}));
    expect(new Set([of({}), of({ widths: [4] }), of({ widths: [5] }), of({ recover: true })]).size).toBe(4);
  });

  it("leaves it to others to object to a ranges file that is not there", () => {
    expect(() => identity(quantize({ ranges: `${temporaryFolder()}/none.json` }))).not.toThrow();
  });
});
