import { describe, expect, it, onTestFinished, vi } from "vitest";
import { examine } from "../../../src/runtime/ort/index.js";
import { temporaryFolder } from "./workbench.js";

describe("examine", () => {
  it("finds that this machine runs models, and nothing fatal", async () => {
    const findings = await examine();
    const statusOf = Object.fromEntries(findings.map(({ check, status }) => [check, status]));
    expect(statusOf).toMatchObject({
      onnxruntime: "ok",
      "float32 model": "ok",
      "int8 model": "ok",
      "provider cpu": "ok",
    });
    expect(findings.filter(({ status }) => status === "fail")).toEqual([]);
  });

  it("tells which providers the package brings, and how to get another", async () => {
    const findings = await examine();
    const of = (check: string) => findings.find((finding) => finding.check === check);
    expect(of("providers")?.detail).toMatch(/^the installed package brings cpu\b/);
    // Only builds for Linux on x64 know it; a machine that has it needs no cure.
    const cuda = of("provider cuda");
    if (cuda?.status === "warn") expect(cuda.cure).toMatch(/script\/install\.js|NVIDIA driver/);
  });

  it("works in the folder that INFER_OPT_TMP names, and says where nothing can be tried for want of one", async () => {
    vi.stubEnv("INFER_OPT_TMP", temporaryFolder());
    vi.stubEnv("TMPDIR", "/nowhere");
    onTestFinished(() => void vi.unstubAllEnvs());
    const fatal = async () => (await examine()).filter(({ status }) => status === "fail");
    expect(await fatal()).toEqual([]);
    vi.stubEnv("INFER_OPT_TMP", "/nowhere");
    const found = await fatal();
    expect(found.map(({ check }) => check)).toEqual([
      "provider cpu",
      "float32 model",
      "int8 model",
      "temporary folder",
    ]);
    for (const { cure } of found) expect(cure).toContain("INFER_OPT_TMP");
  });

  it("has a cure of one line for all that is not well, and for nothing else", async () => {
    for (const { status, detail, cure } of await examine()) {
      expect(cure === null).toBe(status === "ok");
      expect(`${detail}${cure}`).not.toContain("\n");
    }
  });
});
