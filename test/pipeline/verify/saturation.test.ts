import { describe, expect, it } from "vitest";
import { judgeSaturation } from "../../../src/pipeline/verify/saturation.js";
import { FakeRuntime, fakeContext } from "../../support/fake-runtime.js";
import { modelFile } from "../../support/model-file.js";
import { runtimeConfig } from "../../support/run-config.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const WITH_PAIR = "(x: u8[1,2]) -> (y) { y = MatMulInteger(x, $w: i8[2,1] = {100,100}) }";
const WITHOUT = "(x: u8[1,2]) -> (y) { y = MatMulInteger(x, $w: i8[2,1] = {100,-100}) }";

function judged(text: string, flags: readonly string[], target: string | null) {
  const context = fakeContext(new FakeRuntime({}));
  const environment = { ...context.environment, platform: "linux-x64", flags };
  return judgeSaturation(modelFile(temporaryFolder(), text), target, runtimeConfig(), { ...context, environment });
}

describe("judgeSaturation", () => {
  it("warns on a processor where the answers measured are those that saturate", () => {
    const { warnings, reason } = judged(WITH_PAIR, ["avx2"], null);
    expect(reason).toBeNull();
    expect(warnings).toEqual([expect.stringContaining("a node holds weights whose sums can saturate")]);
  });

  it("is a limit missed where the file is meant for another processor, which cannot be measured", () => {
    const { warnings, reason } = judged(WITH_PAIR, ["avx2", "avx512_vnni"], "ort-cpu-avx2");
    expect(warnings).toEqual([]);
    expect(reason).toMatchObject({ limit: "saturation", status: "missed", got: 1 });
  });

  it.each([
    [WITH_PAIR, ["avx2", "avx512_vnni"], null],
    [WITH_PAIR, ["avx2"], "ort-cpu-vnni"],
    [WITHOUT, ["avx2"], null],
    [WITHOUT, ["avx512_vnni"], "ort-cpu-avx2"],
  ] as const)("is silent otherwise", (text, flags, target) => {
    expect(judged(text, flags, target)).toEqual({ warnings: [], reason: null });
  });
});
