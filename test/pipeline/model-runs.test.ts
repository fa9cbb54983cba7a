/** A question to the runtime outlives one death of its process, and no other failure. */
import { expect, it } from "vitest";
import { InferOptError } from "../../src/base/errors.js";
import { despiteCrash } from "../../src/pipeline/model-runs.js";

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
