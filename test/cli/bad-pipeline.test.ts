/** Pipelines of users that cannot be run, given to the command itself. */
import { describe, it } from "vitest";
import { classifier } from "../support/odd-files.js";
import { type Fault, scene } from "../support/scene.js";

const faults: Record<string, [source: string, fault: Fault]> = {
  "that throws": [
    'export const requests = [1];\nexport function preprocess() {\n  throw new Error("no luck");\n}',
    [3, "PIPELINE_STAGE_FAILED", "p.mjs", "preprocess", "line 3", "no luck"],
  ],
  "of another shape": [
    "export const preprocess = () => ({ x: { dims: [1, 8, 8, 1], data: new Float32Array(64) } });",
    [3, "PIPELINE_TENSORS", "p.mjs", "preprocess", "[1,8,8,1]"],
  ],
  "of another type": [
    "export const preprocess = () => ({ x: { dims: [1, 1, 8, 8], data: new Uint8Array(64) } });",
    [3, "PIPELINE_TENSORS", "Uint8Array", "float32"],
  ],
  "without a stage": ["export const answer = 42;", [3, "PIPELINE_EXPORTS", "p.mjs", "answer"]],
  "that does not parse": ["export const preprocess = (;", [3, "PIPELINE_FAILED", "p.mjs", "line 1"]],
  "that gives what throws when it is read": [
    "export const preprocess = () => ({ get x() { throw new Error('trap'); } });",
    [3, "PIPELINE_TENSORS", "preprocess", "cannot be read: trap"],
  ],
  "with the model twice": ["export const stages = ['inference', 'inference'];", [3, "PIPELINE_EXPORTS", "twice"]],
  "with a name that no budget could have": [
    "export const stages = [{ name: 'a,b=1', run: (x) => x }, 'inference'];",
    [3, "PIPELINE_EXPORTS", '"a,b=1"', "--budget"],
  ],
  "that leaves a rejection to nobody": [
    "export const postprocess = () => void Promise.reject(new Error('later'));",
    [3, "PIPELINE_ENDED", "p.mjs", "Error: later"],
  ],
  "that ends the process": ["export const postprocess = () => process.exit(0);", [3, "PIPELINE_ENDED", "postprocess"]],
};

describe("a pipeline is refused:", () => {
  it.each(Object.entries(faults))("one %s", async (_, [source, fault]) => {
    await scene({ "model.onnx": classifier(), "p.mjs": source }).refuses(
      ["bench", "model.onnx", "--pipeline", "p.mjs", "--threads", "1"],
      fault,
    );
  });

  it("one that is not there, and a budget of a stage that it has not", async () => {
    const files = { "model.onnx": classifier(), "p.mjs": "export const postprocess = (x) => x;" };
    await scene(files).refuses(["bench", "model.onnx", "--pipeline", "no.mjs"], [3, "PIPELINE_MISSING", "no.mjs"]);
    const budget = ["--budget", "preprocess=10ms"];
    await scene(files).refuses(
      ["bench", "model.onnx", "--pipeline", "p.mjs", ...budget],
      [2, "FLAG_INVALID", "preprocess"],
    );
  });
});
