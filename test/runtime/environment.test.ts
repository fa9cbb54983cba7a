import { describe, expect, it } from "vitest";
import { flagsOfCpuinfo, flagsOfSysctl, hasVnni, readEnvironment } from "../../src/runtime/environment.js";

describe("environment", () => {
  it("takes the flags that matter from x86's cpuinfo", () => {
    const text = "processor\t: 0\nflags\t\t: fpu avx2 sse4_1 avx512_vnni rdtscp\nbugs\t\t: avx\n\nprocessor\t: 1\n";
    expect(flagsOfCpuinfo(text)).toEqual(["avx2", "avx512_vnni", "sse4_1"]);
  });

  it("takes them from ARM's", () => {
    expect(flagsOfCpuinfo("processor\t: 0\nFeatures\t: fp asimd asimddp i8mm aes\n")).toEqual([
      "asimd",
      "asimddp",
      "i8mm",
    ]);
  });

  it("takes those that are set from a Mac's sysctl", () => {
    const text = "hw.optional.AdvSIMD: 1\nhw.optional.arm.FEAT_DotProd: 1\nhw.optional.arm.FEAT_I8MM: 0\n";
    expect(flagsOfSysctl(text)).toEqual(["asimd", "asimddp"]);
  });

  it.each([
    [["avx2", "avx_vnni"], true],
    [["asimd", "asimddp"], true],
    [["avx2", "avx512f"], false],
    [null, null],
  ])("of flags %j says whether they speed up int8: %s", (flags, expected) => {
    expect(hasVnni({ flags })).toBe(expected);
  });

  it("tells the versions that a result depends on", () => {
    const { node, onnxruntime, cores } = readEnvironment();
    expect(node).toBe(process.versions.node);
    expect(onnxruntime).toMatch(/^\d+\.\d+\.\d+/);
    expect(cores).toBeGreaterThan(0);
  });
});
