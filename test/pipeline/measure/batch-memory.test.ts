import { expect, it } from "vitest";
import type { InputSpec } from "../../../src/dataset/index.js";
import { refuseBatchBeyondMemory } from "../../../src/pipeline/measure/batch-memory.js";
import type { MachineState } from "../../../src/runtime/machine-state.js";
import { faultOf } from "../../support/dataset.js";
import { FakeRuntime, fakeContext } from "../../support/fake-runtime.js";
import { modelFile } from "../../support/model-file.js";
import { runtimeConfig } from "../../support/run-config.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const inputs = [{ name: "x", dtype: "f32", shape: ["N", 250] } as const];

/** A sample is 1,000 bytes in; the stand-in for the runtime tells no shape of what comes out. */
async function refusalOf(batch: number, memoryBytes: number | null, given: readonly InputSpec[] = inputs) {
  const path = modelFile(temporaryFolder(), "(x: f32[N,250]) -> (y) { y = Relu(x) }");
  const machineState = () => ({ memoryBytes }) as MachineState;
  const context = fakeContext(new FakeRuntime({ [path]: {} }), memoryBytes === null ? {} : { machineState });
  const refuse = () => refuseBatchBeyondMemory(path, given, runtimeConfig({ batch }), context);
  return faultOf(refuse).catch(() => null);
}

it("a batch that cannot fit is refused, with the largest that can", async () => {
  const fault = await refusalOf(1_048_576, 1e9);
  expect(fault).toMatchObject({ code: "BATCH_TOO_LARGE", kind: "input" });
  expect(fault!.message).toContain("a batch of 1048576 takes 1.05 GB or more");
  expect(fault!.hint).toContain("more than 1000000 cannot fit");
});

it("says so where not even one sample fits, whatever the batch", async () => {
  expect(await refusalOf(4, 100)).toMatchObject({ code: "BATCH_TOO_LARGE" });
  expect((await refusalOf(4, 100))!.hint).toContain("Not even a batch of one fits");
  // The first dimension is fixed: no sample takes more than the one before.
  const fixed = await refusalOf(4, 100, [{ name: "x", dtype: "f32", shape: [1, 250] }]);
  expect(fixed!.hint).not.toContain("Infinity");
});

it("one that may fit is not, nor any where nobody knows the memory", async () => {
  expect(await refusalOf(1_000_000, 1e9)).toBeNull();
  expect(await refusalOf(2, 1)).toBeNull();
  expect(await refusalOf(1_048_576, null)).toBeNull();
});
