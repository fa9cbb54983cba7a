import { describe, expect, it } from "vitest";
import { loadModel, saveModel } from "../../../src/ir/index.js";
import type { MetricRef } from "../../../src/metric/index.js";
import type { DropLimit } from "../../../src/pipeline/config.js";
import { runVerify } from "../../../src/pipeline/verify/verify.js";
import type { OutputDifference } from "../../../src/runtime/port.js";
import { differenceOf, FakeRuntime, type FakeRuntimeOptions, fakeContext } from "../../support/fake-runtime.js";
import { modelFile } from "../../support/model-file.js";
import { f32Npy, npz } from "../../support/npz.js";
import { limitsOf, runtimeConfig } from "../../support/run-config.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const text = `(x: f32[1,4]) -> (y) { h = Relu(x)
 y = MatMul(h, $w: f32[4,10]) }`;

interface Options extends FakeRuntimeOptions {
  readonly model?: string;
  /** Outputs of the model that are. */
  readonly integers?: readonly string[];
  /** Of the candidate, one a sample: the original has 1 in all of them. */
  readonly scores?: readonly number[];
  readonly layers?: boolean;
  readonly drift?: boolean;
  readonly asked?: MetricRef | null;
  readonly maxDrop?: DropLimit | null;
}

function declareIntegers(path: string, outputs: readonly string[]): void {
  const model = loadModel(path);
  for (const { name, value } of model.graph.outputs)
    if (outputs.includes(name)) value.type = { dtype: "i64", shape: null };
  saveModel(model, path).commit();
}

async function verify({
  model = text,
  integers = [],
  scores = [1, 1, 1, 1],
  layers = false,
  drift = false,
  asked = null,
  maxDrop = null,
  ...options
}: Options = {}) {
  const folder = temporaryFolder({
    "d.npz": npz({ x: f32Npy([scores.length, 1, 8, 8], new Array(64 * scores.length).fill(1)) }),
  });
  const baseline = modelFile(folder, model, { name: "old.onnx" });
  const candidate = modelFile(folder, model, { name: "new.onnx" });
  for (const path of [baseline, candidate]) declareIntegers(path, integers);
  const runtime = new FakeRuntime({ [baseline]: { scores: scores.map(() => 1) }, [candidate]: { scores } }, options);
  const context = fakeContext(runtime, { scratch: folder });
  const data = { calibration: null, eval: `${folder}/d.npz`, metric: asked };
  const result = await runVerify(
    { baseline, candidate, data, runtime: runtimeConfig(), limits: limitsOf({ maxDrop }), layers, drift },
    context,
  );
  return { result, runtime, context, candidate };
}

describe("runVerify", () => {
  it("tells accuracy and the difference of each output", async () => {
    const compare = () => [differenceOf("y", { maxAbs: 0.5, sqnrDb: 30, relativeL2: 0.03, cosine: 0.99 })];
    const { result, candidate } = await verify({ compare });
    expect(result).toMatchObject({
      command: "verify",
      output: null,
      accuracy: { metric: "agreement", kind: "agreement", delta: 0 },
      difference: [{ output: "y", maxAbs: 0.5, sqnrDb: 30, relativeL2: 0.03, cosine: 0.99 }],
      verdict: { outcome: "met" },
    });
    expect(result.candidateModel!.path).toBe(candidate);
  });

  it("misses the default limit when answers change", async () => {
    expect((await verify({ scores: [1, 0, 1, 1] })).result.verdict.outcome).toBe("accuracy");
  });

  it("tells of a metric of which 1 % is no limit as it is, and holds it against one that is given", async () => {
    const asked: MetricRef = { kind: "builtin", name: "mse" };
    const options = { asked, scores: [2, 2, 2, 2] };
    expect((await verify(options)).result).toMatchObject({
      verdict: { outcome: "met", reasons: [] },
      accuracy: { delta: 1 },
    });
    const limited = await verify({ ...options, maxDrop: { absolute: 0.5 } });
    expect(limited.result.verdict.reasons).toHaveLength(1);
  });

  it("tells the runtime's share: both as written, and each with the optimizer off and on", async () => {
    const compare: FakeRuntimeOptions["compare"] = ({ baseline, candidate, session, candidateSession }) => {
      const self = baseline === candidate;
      const modes = `${session.optimization}, ${candidateSession?.optimization ?? session.optimization}`;
      const expected = self ? "disabled, all" : modes;
      expect(modes).toBe(expected);
      return [
        differenceOf("y", {
          maxAbs: self ? (baseline.endsWith("old.onnx") ? 1 : 2) : session.optimization === "all" ? 4 : 3,
        }),
      ];
    };
    const { result } = await verify({ compare, drift: true });
    expect(result.difference).toMatchObject([{ maxAbs: 4 }]);
    expect(result.drift).toMatchObject({
      asWritten: [{ maxAbs: 3 }],
      baseline: [{ maxAbs: 1 }],
      candidate: [{ maxAbs: 2 }],
    });
    expect((await verify({ compare })).result.drift).toBeUndefined();
  });

  it("compares the models as delivered", async () => {
    const { runtime } = await verify();
    expect([runtime.scored[0]!.session.optimization, runtime.compared[0]!.session.optimization]).toEqual([
      "all",
      "all",
    ]);
  });

  it("has no SQNR for equal outputs, and stays JSON for infinite distances", async () => {
    const compare = () => [
      differenceOf("y"),
      differenceOf("z", {
        maxAbs: Number.POSITIVE_INFINITY,
        relativeL2: Number.POSITIVE_INFINITY,
        sqnrDb: Number.NEGATIVE_INFINITY,
      }),
    ];
    const { result } = await verify({ compare });
    expect(JSON.parse(JSON.stringify(result.difference))).toEqual(result.difference);
    expect(result.difference.map(({ sqnrDb }) => sqnrDb)).toEqual([null, -1000]);
  });

  it("warns of outputs that could not be compared, and of NaN on one side", async () => {
    const compare = () => [
      differenceOf("y", { mismatch: "[1,2] here, [1,3] there" }),
      differenceOf("z", { nanMismatch: 3 }),
    ];
    const { result } = await verify({ compare });
    expect(result.difference.map(({ output }) => output)).toEqual(["z"]);
    expect(result.warnings).toContain('output "y" could not be compared: [1,2] here, [1,3] there');
    expect(result.warnings).toContain('output "z": 3 of 10 elements are NaN in one model only');
  });

  describe("where outputs part and no layer does", () => {
    interface Parting extends Options {
      readonly delivered?: Partial<OutputDifference>;
      readonly output?: string;
      readonly asWritten?: (value: string) => Partial<OutputDifference>;
    }
    async function told({ delivered = { sqnrDb: 13 }, output = "y", asWritten, ...options }: Parting) {
      const compare: FakeRuntimeOptions["compare"] = ({ pairs }) =>
        pairs
          ? pairs.map(([name]) => differenceOf(name, { sqnrDb: 40, ...asWritten?.(name) }))
          : [differenceOf("other", { sqnrDb: 60 }), differenceOf(output, delivered)];
      const { warnings } = (await verify({ layers: true, compare, ...options })).result;
      return warnings.filter((warning) => warning.startsWith("no layer parts"));
    }

    it("says so, with what it may be", async () => {
      expect(await told({})).toEqual([
        'no layer parts as the models are written, and output "y" does as they are delivered (13.0 dB): it may be what the runtime makes of the models when it loads them, which --drift tells',
      ]);
      expect(await told({ delivered: { sqnrDb: 25 } })).toEqual([]);
      expect(await told({ delivered: {} })).toEqual([]);
      expect(await told({ asWritten: (value) => (value === "h" ? { sqnrDb: 5 } : {}) })).toEqual([]);
    });

    it("names the samples where layers were looked at on some of them", async () => {
      const [warning] = await told({ scores: new Array(12).fill(1) });
      expect(warning).toMatch(/^no layer parts as the models are written, on the first 8 of 12 samples, and /);
      expect(warning).toMatch(/does as they are delivered, on all of them \(13\.0 dB\): .*, or samples further on$/);
    });

    it("says nothing of outputs that were not looked at as written", async () => {
      expect(await told({ asWritten: (value) => (value === "y" ? { mismatch: "[1,2] here" } : {}) })).toEqual([]);
      const model = "(x: f32[1,4]) -> (y, i) { y = MatMul(x, $w: f32[4,10])\n i = ArgMax<axis=1>(y) }";
      expect(await told({ model, integers: ["i"], output: "i" })).toEqual([]);
      expect(await told({ model, integers: ["i"], output: "y" })).toHaveLength(1);
    });

    it("counts NaN in one model only as parted, in a number that JSON has", async () => {
      expect((await told({ delivered: { sqnrDb: 60, nanMismatch: 2 } }))[0]).toContain("(-1000.0 dB)");
    });
  });

  it("looks into layers only when asked", async () => {
    expect((await verify()).result.layers).toBeUndefined();
    expect(
      (
        await verify({
          layers: true,
          compare: (job) => (job.pairs ?? [["y", "y"]]).map(([name]) => differenceOf(name)),
        })
      ).result.layers,
    ).toMatchObject({
      compared: 2,
      first: null,
      worst: [],
    });
  });

  it("times its stages and reports them as they begin", async () => {
    const { result, context } = await verify();
    expect(result.stages.map(({ stage }) => stage)).toEqual(["load", "verify"]);
    expect(context.events.filter(({ type }) => type === "stage")).toEqual([
      { type: "stage", stage: "load" },
      { type: "stage", stage: "verify" },
    ]);
  });
});
