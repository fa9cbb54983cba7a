import { describe, expect, it } from "vitest";
import { InferOptError } from "../../../src/base/errors.js";
import type { RuntimeConfig } from "../../../src/pipeline/config.js";
import { runGate } from "../../../src/pipeline/gate/gate.js";
import { measurePlacement, provePlacement } from "../../../src/pipeline/measure/placement.js";
import { RunRecord } from "../../../src/pipeline/run-record.js";
import { runVerify } from "../../../src/pipeline/verify/verify.js";
import type { Placement } from "../../../src/runtime/port.js";
import { FakeRuntime, fakeContext, placementOf } from "../../support/fake-runtime.js";
import { modelFile } from "../../support/model-file.js";
import { limitsOf, runtimeConfig } from "../../support/run-config.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const cuda = runtimeConfig({ provider: "cuda" });
const onCuda = placementOf([["Conv", "cuda", 10, 9]]);
const partly = placementOf([
  ["Conv", "cuda", 10, 9],
  ["NonZero", "cpu", 1, 0.75],
  ["Gather", "cpu", 2, 0.25],
]);
const onCpu = placementOf([["Conv", "cpu", 10, 9]]);

type How<Told> = (...args: Parameters<typeof provePlacement>) => Promise<Told | null>;

function ask<Told>(how: How<Told>, placement: Placement | Error, config: RuntimeConfig) {
  const runtime = new FakeRuntime({ m: { placement } });
  const context = fakeContext(runtime);
  const facts = how({ model: "m", data: { path: "data" }, config, record: new RunRecord("test", context) });
  const warnings = () => context.events.flatMap((event) => (event.type === "warning" ? [event.warning] : []));
  return { facts, warnings, runtime };
}

describe("provePlacement", () => {
  it("has nothing to say of a model that ran where it was meant to", async () => {
    const { facts, warnings } = ask(provePlacement, onCuda, cuda);
    const { steps: _, ...told } = onCuda;
    expect(await facts).toEqual({ provider: "cuda", ...told });
    expect(warnings()).toEqual([]);
  });

  it("warns of operators that ran elsewhere, how many and how long", async () => {
    const { facts, warnings } = ask(provePlacement, partly, cuda);
    expect((await facts)!.providers).toEqual(partly.providers);
    expect(warnings()).toEqual(["3 of 13 nodes (10 % of the time) ran on cpu instead of cuda: Gather 2, NonZero 1"]);
  });

  it("refuses a model of which nothing ran there", async () => {
    await expect(ask(provePlacement, onCpu, cuda).facts).rejects.toMatchObject({
      code: "PROVIDER_NOT_USED",
      kind: "runtime",
      message: "no node of m ran on cuda: all 10 ran on cpu",
      hint: expect.stringContaining("--allow-fallback"),
    });
  });

  it.each([partly, onCpu])("accepts both on request, and puts it on record", async (placement) => {
    const { facts, warnings } = ask(provePlacement, placement, { ...cuda, allowFallback: true });
    const { steps: _, ...told } = placement;
    expect(await facts).toEqual({ provider: "cuda", ...told });
    expect(warnings()).toEqual([]);
  });

  it("runs nothing on cpu", async () => {
    const { facts, runtime } = ask(provePlacement, onCpu, runtimeConfig());
    expect(await facts).toBeNull();
    expect(runtime.placed).toEqual([]);
  });
});

describe("measurePlacement", () => {
  const failure = new InferOptError("RUN_FAILED", "runtime", "it failed on sample 3");

  it("tells where the time goes on cpu", async () => {
    const { steps, ...facts } = onCpu;
    const expected = { facts: { provider: "cpu", ...facts }, steps };
    expect(await ask(measurePlacement, onCpu, runtimeConfig()).facts).toEqual(expected);
  });

  it("does without on cpu, where it proves nothing", async () => {
    const { facts, warnings } = ask(measurePlacement, failure, runtimeConfig());
    expect(await facts).toBeNull();
    expect(warnings()).toEqual(["where the time goes could not be measured: it failed on sample 3"]);
  });

  it("fails on other providers, where it is the proof", async () => {
    await expect(ask(measurePlacement, failure, cuda).facts).rejects.toBe(failure);
    await expect(ask(measurePlacement, onCpu, cuda).facts).rejects.toMatchObject({ code: "PROVIDER_NOT_USED" });
  });

  it("hides no fault of ours", async () => {
    const fault = new TypeError("oops");
    await expect(ask(measurePlacement, fault, runtimeConfig()).facts).rejects.toBe(fault);
  });
});

describe("runs on an accelerator", () => {
  const data = { calibration: null, eval: null, metric: null };

  function models(placement: Placement) {
    const folder = temporaryFolder();
    const text = "(x: f32[1,4]) -> (y) { y = Relu(x) }";
    const baseline = modelFile(folder, text, { name: "old.onnx" });
    const candidate = modelFile(folder, text, { name: "new.onnx" });
    const runtime = new FakeRuntime({ [baseline]: { placement: onCpu }, [candidate]: { placement } });
    return { config: { baseline, candidate, data, limits: limitsOf({ maxSizeBytes: 1e6 }), runtime: cuda }, runtime };
  }

  it.each([
    ["verify", (c, context) => runVerify(c, context)],
    ["gate", (c, context) => runGate({ ...c, inconclusive: "fail" }, context)],
  ] satisfies [
    string,
    (c: ReturnType<typeof models>["config"], context: Parameters<typeof runVerify>[1]) => unknown,
  ][])("%s proves where the candidate runs", async (_, run) => {
    const { config, runtime } = models(partly);
    const result = await run(config, fakeContext(runtime));
    expect(runtime.placed).toEqual([config.candidate]);
    expect(result).toMatchObject({ placement: { provider: "cuda", nodes: 13 } });
    expect(result.warnings.some((warning) => warning.includes("instead of cuda"))).toBe(true);

    const none = models(onCpu);
    await expect(run(none.config, fakeContext(none.runtime))).rejects.toMatchObject({ code: "PROVIDER_NOT_USED" });
    expect(none.runtime.scored).toEqual([]);
  });
});
