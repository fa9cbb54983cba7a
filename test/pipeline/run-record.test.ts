import { describe, expect, it } from "vitest";
import { RunRecord } from "../../src/pipeline/run-record.js";
import { faultOf } from "../support/dataset.js";
import { FakeRuntime, fakeContext } from "../support/fake-runtime.js";

const model = { path: "m.onnx", sha256: "", bytes: 1, nodes: 1 };
const verdict = { status: "pass", outcome: "met", reasons: [], summary: "" } as const;

describe("RunRecord", () => {
  it("times stages by the context's clock", async () => {
    const runtime = new FakeRuntime({});
    const record = new RunRecord("fold", fakeContext(runtime));
    await record.stage("load", () => void (runtime.nowMs += 30));
    await record.stage("fuse", async () => void (runtime.nowMs += 5));
    const result = record.result({ model, verdict });
    expect(result.stages).toEqual([
      { stage: "load", wallMs: 30 },
      { stage: "fuse", wallMs: 5 },
    ]);
    expect(result.resources).toEqual({ wallMs: 35, peakRssBytes: 2e6 });
  });

  it("counts a stage within another once, and one beside it not as within", async () => {
    const runtime = new FakeRuntime({});
    const record = new RunRecord("fold", fakeContext(runtime));
    const taking = (ms: number) => async () => void (runtime.nowMs += ms);
    await record.stage("quantize", async () => {
      runtime.nowMs += 10;
      await record.stage("verify", taking(30));
      await record.stage("verify", taking(5));
    });
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const first = record.stage("load", () => held);
    await record.stage("calibrate", taking(7));
    release();
    await first;
    expect(record.result({ model, verdict }).stages).toEqual([
      { stage: "verify", wallMs: 30 },
      { stage: "verify", wallMs: 5 },
      { stage: "quantize", wallMs: 10 },
      { stage: "calibrate", wallMs: 7 },
      { stage: "load", wallMs: 7 },
    ]);
  });

  it("tells a warning once, at once and in the result", () => {
    const context = fakeContext(new FakeRuntime({}));
    const record = new RunRecord("fold", context);
    record.warn("a", "b");
    record.warn("a");
    expect(context.events).toEqual([
      { type: "warning", warning: "a" },
      { type: "warning", warning: "b" },
    ]);
    expect(record.result({ model, verdict }).warnings).toEqual(["a", "b"]);
  });

  it("warns of providers that were replaced", () => {
    const runtime = new FakeRuntime({}, { fallbacks: [{ wanted: "cuda", used: "cpu", reason: "no library" }] });
    const { warnings } = new RunRecord("fold", fakeContext(runtime)).result({ model, verdict });
    expect(warnings).toEqual(["ran on cpu instead of cuda: no library"]);
  });

  it("starts no stage once the user has interrupted", async () => {
    const record = new RunRecord("fold", fakeContext(new FakeRuntime({}), { signal: AbortSignal.abort() }));
    const fault = await faultOf(() => record.stage("load", () => expect.fail("it ran")));
    expect(fault).toMatchObject({ code: "INTERRUPTED", kind: "interrupted" });
  });
});
