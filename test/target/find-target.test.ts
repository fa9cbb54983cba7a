import { describe, expect, it } from "vitest";
import { findTarget, requireTarget, targetNames } from "../../src/target/find-target.js";
import { faultOf } from "../support/dataset.js";

describe("targets", () => {
  it("are found by name, and the newest release is meant when none is named", () => {
    for (const name of targetNames) expect(findTarget(name)?.name).toBe(name);
    expect(findTarget("ort-cpu")).toMatchObject({ newestOpset: 26, newestIrVersion: 13 });
    expect(findTarget("tensorrt")).toMatchObject({ oldestOpset: 9, newestOpset: 25 });
  });

  it.each([
    ["ort-cpu@1.17", 20, 9],
    ["ort-cpu@1.17.3", 20, 9],
    ["ort-cpu@1.8", 14, 7],
    ["ort-web@1.21", 22, 10],
    ["coreml@1.20", 21, 10],
    ["tensorrt@10", 20, null],
  ])("%s takes opsets up to %i", (name, newestOpset, newestIrVersion) => {
    expect(findTarget(name)).toMatchObject({ name, newestOpset, newestIrVersion });
  });

  it.each(["", "ort", "ort-cpu@", "ort-cpu@1", "ort-cpu@9.9", "ort-cpu@1.17@2", "openvino@1", "toString"])(
    "%s is none",
    async (name) => {
      expect(findTarget(name)).toBeNull();
      expect((await faultOf(() => requireTarget(name))).code).toBe("TARGET_UNKNOWN");
    },
  );

  it("say where their limits come from", () => {
    for (const name of targetNames) expect(findTarget(name)!.sources.join()).toMatch(/^https:\/\//);
  });
});
