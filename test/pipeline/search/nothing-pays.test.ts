import { describe, expect, it } from "vitest";
import { parseModel } from "../../../src/ir/index.js";
import { finishing } from "../../../src/passes/catalog.js";
import {
  isFloatRaced,
  shrinkableBytes,
  whyNoneFits,
  whyNothingPays,
} from "../../../src/pipeline/search/nothing-pays.js";
import { Stage, staticVariant } from "../../support/candidates.js";
import { modelFile } from "../../support/model-file.js";
import { prepared } from "../../support/quantize-text.js";
import { graphConfig } from "../../support/real-run.js";
import { limitsOf } from "../../support/run-config.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const pass = (applied: number, rejected?: string) => ({
  ...{ name: "fuse-gelu", applied, skipped: [], durationMs: 1 },
  ...(rejected !== undefined && { rejected }),
});

describe("isFloatRaced", () => {
  const graph = graphConfig();
  const limits = limitsOf({});
  const path = "";

  it("is what passes changed for good", () => {
    expect(isFloatRaced({ passes: [pass(0), pass(0, "outputs differ")], path }, { graph, limits }, [])).toBe(false);
    expect(isFloatRaced({ passes: [pass(0), pass(2)], path }, { graph, limits }, [])).toBe(true);
  });

  it("is what is rewritten when a candidate is made of it", () => {
    const path = modelFile(temporaryFolder(), "(x: f32[N,4,8,8]) -> (y) { y = LRN<size=3>(x) }");
    expect(isFloatRaced({ passes: [pass(0)], path }, { graph, limits }, finishing)).toBe(true);
    expect(isFloatRaced({ passes: [pass(0)], path }, { graph, limits }, [])).toBe(false);
  });

  it("is what was asked for in so many words, and a model beside another one", () => {
    const passes = [pass(0)];
    expect(isFloatRaced({ passes, path }, { graph: { ...graph, shapes: new Map([["x", [1]]]) }, limits }, [])).toBe(
      true,
    );
    expect(isFloatRaced({ passes, path }, { graph: { ...graph, opset: 21 }, limits }, [])).toBe(true);
    expect(isFloatRaced({ passes, path }, { graph, limits, baseline: "wide.onnx" }, [])).toBe(true);
  });

  it("is what limits in milliseconds are to be judged of", () => {
    const timed = limitsOf({ slo: [{ percentile: "p95", ms: 5 }] });
    expect(isFloatRaced({ passes: [pass(0)], path }, { graph, limits: timed }, [])).toBe(true);
  });
});

describe("whyNothingPays", () => {
  const stage = new Stage();
  const integers = (ms: number) => stage.candidate(`in ${ms} ms`, staticVariant, { accuracy: 1, ms });
  const none = { passes: [pass(0)] };

  it("says what was in the way of everything", () => {
    expect(whyNothingPays([], none, "speed", "no node can be")).toBe("no rewrite applies; no node can be");
    expect(whyNothingPays([], { passes: [pass(0, "differs")] }, "size", "no node can be")).toBe(
      "every rewrite that applies was undone; no node can be",
    );
    expect(whyNothingPays([integers(12.5), integers(12)], none, "speed", "")).toBe(
      "no rewrite applies; the fastest candidate, in 12 ms, is estimated at 0.83x of its speed, and a gain takes 1.02x",
    );
  });

  it("leaves to a race what may gain, what is not estimated, and what is smaller where size counts", () => {
    expect(whyNothingPays([integers(12), integers(9)], none, "speed", "")).toBeNull();
    expect(whyNothingPays([{ ...integers(12), speedup: null }], none, "speed", "")).toBeNull();
    const careful = { ...integers(10), faster: { keptFloat: new Map<string, string>(), gain: 1.03 } };
    expect(whyNothingPays([careful], none, "speed", "")).toBeNull();
    expect(whyNothingPays([integers(10)], none, "speed", "")).not.toBeNull();
    expect(whyNothingPays([integers(12)], none, "size", "")).toBeNull();
  });

  it("leaves to a race what a profile on a busy machine may have told too little of", () => {
    const profiled = (ms: number) => ({ ...integers(ms), times: { float: [], own: [] } });
    expect(whyNothingPays([profiled(12)], none, "speed", "")).toBeNull();
    expect(whyNothingPays([integers(11), profiled(13)], none, "speed", "")).not.toBeNull();
  });
});

it("counts weights once that would take fewer bits", async () => {
  const model = await prepared(`(x: f32[2,64]) -> (y) {
    a = MatMul(x, $w: f32[64,64])
    b = MatMul(a, $w)
    y = Add(b, $c: f32[64])
  }`);
  expect(shrinkableBytes(model)).toBe(4 * 64 * 64);
});

it("says why no node fits where a file was laid out for one processor", () => {
  const config = { quantize: {}, data: {} } as unknown as Parameters<typeof whyNoneFits>[2];
  const why = (op: string): string =>
    whyNoneFits(parseModel(`(x: f32[1,16,4,4]) -> (y) { y = ${op}(x, $w: f32[16,16,1,1]) }`), new Map(), config);
  expect(why("com.microsoft.nchwc::Conv")).toMatch(
    /^no node of the model can be quantized: 1 are of com.microsoft.nchwc, .*: quantize the model that the file was saved from$/,
  );
  expect(why("Relu")).not.toContain("nchwc");
});
