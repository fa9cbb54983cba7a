/** Which values of the student a distance between answers is told by. */
import { describe, expect, it } from "vitest";
import { parseModel } from "../../../src/ir/index.js";
import { distance } from "../../../src/pruning/recover/distance.js";
import { Formula } from "../../../src/pruning/recover/formula.js";
import { annotateTypes } from "../../../src/rewrite/index.js";
import { describeModel } from "../../support/ask-runtime.js";

async function seedsOf(answer: (logits: string, name: string) => string): Promise<string[]> {
  const model = parseModel(`(a: f32[2,3], b: f32[2,3]) -> (s, t) { ${answer("a", "s")}\n ${answer("b", "t")} }`);
  await annotateTypes(model, describeModel);
  const [student, teacher] = model.graph.outputs.map(({ value }) => value);
  const { seeds } = distance(new Formula(model.graph, "recover/"), [[student!, teacher!]]);
  return [...seeds.keys()].map(({ label }) => label);
}

describe("distance", () => {
  it("is told by what a last Softmax reads, also through another view of it", async () => {
    expect(await seedsOf((logits, name) => `${name} = Softmax(${logits})`)).toEqual(["a"]);
    const viewed = (logits: string, name: string): string =>
      `${name}1 = Softmax(${logits})\n ${name} = Reshape(${name}1, $${name}2: i64[1] = {6})`;
    expect(await seedsOf(viewed)).toEqual(["a"]);
  });

  it("is told by answers themselves where nothing presses them together", async () => {
    expect(await seedsOf((logits, name) => `${name} = Neg(${logits})`)).toEqual(["s"]);
  });
});
