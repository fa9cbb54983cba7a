import { describe, expect, it } from "vitest";
import type { MetricRef } from "../../../src/metric/index.js";
import type { DropLimit } from "../../../src/pipeline/config.js";
import { runVerify } from "../../../src/pipeline/verify/verify.js";
import { differenceOf, FakeRuntime, type FakeRuntimeOptions, fakeContext } from "../../support/fake-runtime.js";
import { modelFile } from "../../support/model-file.js";
import { f32Npy, npz } from "../../support/npz.js";
import { limitsOf, runtimeConfig } from "../../support/run-config.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const text = `(x: f32[1,4]) -> (y) { h = Relu(x)
 y = MatMul(h, $w: f32[4,10]) }`;

interface Options extends FakeRuntimeOptions {
  readonly scores?: readonly number[];
  readonly layers?: boolean;
  readonly drift?: boolean;
  readonly asked?: MetricRef | null;
  readonly maxDrop?: DropLimit | null;
}

async function verify({
  scores = [1, 1, 1, 1],
  layers = false,
  drift = false,
  asked = null,
  maxDrop = null,
  ...options
}: Options = {}) {
  const folder = temporaryFolder({ "d.npz": npz({ x: f32Npy([4, 1, 8, 8], new Array(256).fill(1)) }) });
  const baseline = modelFile(folder, text, { name: "old.onnx" });
  const candidate = modelFile(folder, text, { name: "new.onnx" });
  const runtime = new FakeRuntime({ [baseline]: { scores: [1, 1, 1, 1] }, [candidate]: { scores } }, options);
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

  it("says so where outputs part and no layer does, which is what loading the models makes of them", async () => {
    const compare =
      (delivered: number): FakeRuntimeOptions["compare"] =>
      ({ pairs }) =>
        pairs ? pairs.map(([name]) => differenceOf(name, { sqnrDb: 40 })) : [differenceOf("y", { sqnrDb: delivered })];
    const warningsAt = async (delivered: number): Promise<readonly string[]> =>
      (await verify({ layers: true, compare: compare(delivered)! })).result.warnings;
    expect(await warningsAt(13)).toContainEqual(expect.stringMatching(/^no layer parts.*"y".*13\.0 dB.*--drift/));
    expect(await warningsAt(25)).not.toContainEqual(expect.stringMatching(/^no layer parts/));
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
