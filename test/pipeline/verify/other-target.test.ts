import { describe, expect, it } from "vitest";
import { placesOf, timedOnAnother, withAnswersOf } from "../../../src/pipeline/verify/other-target.js";
import { FakeRuntime, fakeContext } from "../../support/fake-runtime.js";
import { runtimeConfig } from "../../support/run-config.js";

const machines = {
  vnni: ["linux-x64", ["avx2", "avx512_vnni"]],
  avx2: ["linux-x64", ["avx2"]],
  arm: ["linux-arm64", ["asimd", "asimddp"]],
  "unknown x86": ["win32-x64", []],
  "unknown ARM": ["darwin-arm64", []],
} as const;

function places(name: string | null, machine: keyof typeof machines, provider = "cpu") {
  const [platform, flags] = machines[machine];
  const context = fakeContext(new FakeRuntime({}));
  return placesOf(name, provider, { environment: { ...context.environment, platform, flags } });
}

describe("timedOnAnother", () => {
  it.each([
    ["ort-cpu-arm64", "vnni", "x86 with VNNI"],
    ["ort-cpu-arm64", "arm", "ARM with dot product"],
    ["ort-cpu-vnni", "arm", "ARM with dot product"],
    ["ort-cpu-vnni", "avx2", "x86 without VNNI"],
    ["ort-cpu-avx2", "vnni", "x86 with VNNI"],
    ["ort-cpu-vnni", "unknown ARM", "this arm64 processor"],
  ] as const)("%s is timed on another processor on %s, which is told", (name, machine, where) => {
    const both = places(name, machine);
    const [warning] = timedOnAnother(both);
    expect(warning).toContain(`made for ${both.target.title}`);
    expect(warning).toContain(where);
  });

  it.each([
    ["ort-cpu-arm64-dot", "arm"],
    ["ort-cpu-arm64-dot", "unknown ARM"],
    ["ort-cpu-avx2", "avx2"],
    ["ort-cpu-vnni", "unknown x86"],
    ["ort-cpu", "avx2"],
    [null, "avx2"],
  ] as const)("%s on %s needs no such word", (name, machine) =>
    expect(timedOnAnother(places(name, machine))).toEqual([]),
  );
});

describe("withAnswersOf", () => {
  const isExact = (...where: Parameters<typeof places>): boolean =>
    withAnswersOf(runtimeConfig(), places(...where)).isExact === true;

  it.each(["openvino", "tensorrt", "qnn", "nnapi", "coreml", "ort-cpu-vnni", "ort-cpu-arm64"])(
    "sums are those of %s where those of the processor saturate",
    (name) => expect(isExact(name, "avx2")).toBe(true),
  );

  it("sums are left alone where the target saturates too, where none do, and where something else runs them", () => {
    for (const name of ["ort-cpu-avx2", "ort-cpu", null]) expect(isExact(name, "avx2")).toBe(false);
    for (const machine of ["vnni", "arm", "unknown x86"] as const) expect(isExact("openvino", machine)).toBe(false);
    expect(isExact("openvino", "avx2", "cuda")).toBe(false);
  });
});
