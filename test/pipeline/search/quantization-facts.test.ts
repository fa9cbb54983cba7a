import { describe, expect, it } from "vitest";
import { newTap, observeTensor } from "../../../src/observe/index.js";
import type { Candidate } from "../../../src/pipeline/candidates/candidate.js";
import type { Workshop } from "../../../src/pipeline/candidates/workshop.js";
import { chosenRanges } from "../../../src/pipeline/search/quantization-facts.js";
import { type Form, staticRecipe } from "../../../src/quantization/recipe.js";
import { prepared, safeTarget } from "../../support/quantize-text.js";

describe("chosenRanges", () => {
  it("tells of the tensors that became integers alone", async () => {
    const model = await prepared(`(x: f32[1,4,6,6]) -> (y) {
      a = Conv(x, $u: f32[4,4,1,1])
      s = Sigmoid(a)
      y = Conv(s, $v: f32[4,4,1,1])
    }`);
    const taps = new Map(
      ["x", "a", "s", "y"].map((name) => {
        const tap = newTap(name);
        observeTensor(tap, Float32Array.of(-1, 2));
        return [name, tap];
      }),
    );
    const [first, , last] = [...model.graph.nodes()];
    const placement = { neighbours: false, depthwise: true };
    const candidate = (forms: ReadonlyMap<string, Form>): Candidate =>
      ({
        variant: { kind: "integers", recipe: staticRecipe({ placement, method: "percentile" }) },
        built: { forms },
        keptFloat: new Map(),
      }) as unknown as Candidate;
    const workshop = { model, options: { target: safeTarget, taps, excluded: new Map() } } as unknown as Workshop;
    const tensors = (forms: ReadonlyMap<string, Form>) => {
      const facts = chosenRanges(candidate(forms), workshop);
      return facts?.tensors.map(({ tensor, chosen }) => [tensor, chosen]);
    };
    expect(tensors(new Map([[first!.name, "static"]]))).toEqual([
      ["x", "percentile"],
      ["a", "percentile"],
    ]);
    expect(tensors(new Map([[last!.name, "weights8"]]))).toBeUndefined();
  });
});
