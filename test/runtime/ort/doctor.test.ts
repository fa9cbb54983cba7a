import { describe, expect, it } from "vitest";
import { examine } from "../../../src/runtime/ort/index.js";

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

  it("has a cure of one line for all that is not well, and for nothing else", async () => {
    for (const { status, detail, cure } of await examine()) {
      expect(cure === null).toBe(status === "ok");
      expect(`${detail}${cure}`).not.toContain("\n");
    }
  });
});
