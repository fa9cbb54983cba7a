/** A question to the runtime outlives one death of its process, and no other failure. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { InferOptError } from "../../src/base/errors.js";
import { loadModel, parseModel, saveModel } from "../../src/ir/index.js";
import {
  answering,
  answeringAsWritten,
  asDelivered,
  asWritten,
  despiteCrash,
  evaluator,
  untimed,
  untimedRoughly,
  withSaved,
} from "../../src/pipeline/model-runs.js";
import type { SessionOptions } from "../../src/runtime/port.js";
import { FakeRuntime, fakeContext } from "../support/fake-runtime.js";
import { runtimeConfig } from "../support/run-config.js";
import { temporaryFolder } from "../support/temporary-folder.js";

it("does not wait long for constants to be computed", async () => {
  const asked: (number | undefined)[] = [];
  const run = async (_: string, __: unknown, { timeoutMs }: SessionOptions): Promise<never> => {
    asked.push(timeoutMs);
    throw new InferOptError("RUNTIME_TIMEOUT", "runtime", "it was silent");
  };
  const runtime = Object.assign(new FakeRuntime({}), { run });
  const context = fakeContext(runtime, { scratch: temporaryFolder() });
  const model = parseModel("() -> (y) { y = Relu($x: f32[2] = {1, 2}) }");
  await expect(evaluator(runtimeConfig(), context)(model)).rejects.toMatchObject({ code: "RUNTIME_TIMEOUT" });
  expect(asked).toEqual([60_000]);
});

const failing = (times: number, code: string) => {
  let asked = 0;
  return async (): Promise<number> => {
    if (++asked <= times) throw new InferOptError(code, "runtime", `failure ${asked}`);
    return asked;
  };
};

it("asks once more after a crash", async () => {
  expect(await despiteCrash(failing(1, "RUNTIME_CRASHED"))).toBe(2);
  await expect(despiteCrash(failing(2, "RUNTIME_CRASHED"))).rejects.toThrow("failure 2");
});

it("takes every other answer as it is", async () => {
  await expect(despiteCrash(failing(1, "RUN_FAILED"))).rejects.toThrow("failure 1");
});

it("shares what is not timed among as many threads on every machine", () => {
  const sessions = [1, 2, 8].map((threads) => untimed(runtimeConfig({ threads })));
  for (const session of sessions) expect(session).toEqual({ ...sessions[0]!, threads: 2, waiting: "asleep" });
});

it("has threads wait asleep where answers count, as many as were asked for, and awake where time does", () => {
  for (const isExact of [false, true]) {
    const config = runtimeConfig({ threads: 3, ...(isExact && { isExact }) });
    for (const session of [answering(config), answeringAsWritten(config)])
      expect(session).toMatchObject({ threads: 3, waiting: "asleep" });
    expect(answeringAsWritten(config).optimization).toBe(isExact ? "extended" : "disabled");
    expect(asDelivered(config).waiting).toBeUndefined();
  }
});

it("has exact sums where answers count, and the kernels of this machine where time does", () => {
  const config = runtimeConfig({ isExact: true });
  for (const session of [answering(config), untimed(config), untimed(config, asWritten), untimedRoughly(config)]) {
    expect(session.isExact).toBe(true);
  }
  expect(asDelivered(config).isExact).toBeUndefined();
  expect(untimed(runtimeConfig()).isExact).toBeUndefined();
});

it("knows which model a saved one was made of, unless that lay in the scratch folder too", async () => {
  const [folder, scratch] = [temporaryFolder(), temporaryFolder()];
  const origins = new Map<string, string>();
  const context = fakeContext(new FakeRuntime({}), { scratch, origins });
  const originOf = async (path: string): Promise<string | undefined> => {
    saveModel(parseModel("(x: f32[2]) -> (y) { y = Relu(x) }"), path).commit();
    return withSaved(loadModel(path), context, async (saved) => origins.get(saved));
  };
  expect(await originOf(join(folder, "net.onnx"))).toBe(`what was made of ${join(folder, "net.onnx")}`);
  expect(await originOf(join(scratch, "candidate-1.onnx"))).toBeUndefined();
  expect(origins.size).toBe(0);
});
