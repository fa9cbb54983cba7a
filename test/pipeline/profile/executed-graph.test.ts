import { describe, expect, it } from "vitest";
import { executedGraph } from "../../../src/pipeline/profile/executed-graph.js";
import type { ProfiledStep } from "../../../src/runtime/node-profile.js";
import { modelFile } from "../../support/model-file.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const f32 = (...dims: number[]) => ({ dtype: "f32", dims }) as const;
const step = (name: string, op: string, parts: Partial<ProfiledStep> = {}): ProfiledStep => ({
  ...{ name, op, provider: "cpu", calls: 1, leastMs: 1, medianMs: 1, inputs: [], outputs: [] },
  ...parts,
});
const file = (text: string): string => modelFile(temporaryFolder(), text);

describe("the executed graph", () => {
  it("gets the shapes that were seen, weights that were packed left to the file", () => {
    const path = file("(x: f32[N,8]) -> (y) { y = MatMul(x, $w: f32[8,3]) }");
    const { nodes } = executedGraph(path, path, [
      step("MatMul_0", "MatMul", { inputs: [f32(5, 8)], outputs: [f32(5, 3)] }),
    ]);
    expect(nodes[0]!.inputs.map((value) => value!.shape)).toEqual([
      [5, 8],
      [8, 3],
    ]);
    expect(nodes[0]!.output.shape).toEqual([5, 3]);
  });

  it("finds nodes without a name by their order among their kind, when as many were executed", () => {
    const path = file("(x: f32[2]) -> (y) { a = Neg(x) b = Exp(a) y = Neg(b) }");
    const steps = [step("Neg_7", "Neg"), step("Exp_3", "Exp"), step("Neg_9", "Neg")];
    expect(executedGraph(path, path, steps).nodes.map((node) => node?.output.label)).toEqual(["a", "b", "y"]);
    expect(executedGraph(path, path, steps.slice(0, 2)).nodes.map((node) => node?.output.label)).toEqual([
      undefined,
      "b",
    ]);
  });
});
