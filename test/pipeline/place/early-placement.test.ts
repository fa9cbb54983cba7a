import { describe, expect, it } from "vitest";
import type { OptimizeConfig } from "../../../src/pipeline/config.js";
import { isPlacedEarly } from "../../../src/pipeline/place/early-placement.js";
import { integerTargetNamed } from "../../../src/target/integer-kernels.js";
import { safeTarget } from "../../support/quantize-text.js";
import { runtimeConfig } from "../../support/run-config.js";

const isEarly = (target: string, quantize: Partial<OptimizeConfig["quantize"]> = {}, provider = "cpu"): boolean =>
  isPlacedEarly(
    { runtime: runtimeConfig({ provider }), quantize: { goal: "speed", mode: "auto", ...quantize } } as OptimizeConfig,
    integerTargetNamed(target, safeTarget),
  );

describe("isPlacedEarly", () => {
  it("is so on every CPU, whether there is a table of its kernels or a profile tells", () => {
    const targets = ["ort-cpu-vnni", "ort-cpu-avx2", "ort-cpu-arm64-dot"];
    expect(targets.map((target) => isEarly(target))).toEqual([true, true, true]);
    expect(isEarly("ort-cpu-avx2", { mode: "static" })).toBe(true);
  });

  it("is not where times decide nothing, or none can be taken", () => {
    expect(isEarly("ort-cpu-avx2", { goal: "size" })).toBe(false);
    expect(isEarly("ort-cpu-avx2", { mode: "dynamic" })).toBe(false);
    expect(isEarly("tensorrt")).toBe(false);
    expect(isEarly("ort-cpu-avx2", {}, "cuda")).toBe(false);
  });
});
