import { describe, expect, it } from "vitest";
import type { RangeMethod } from "../../../src/observe/index.js";
import type { Candidate } from "../../../src/pipeline/candidates/candidate.js";
import { Workshop } from "../../../src/pipeline/candidates/workshop.js";
import type { RunContext } from "../../../src/pipeline/context.js";
import { type Choice, compareMethods, type MakeMeasured } from "../../../src/pipeline/search/compare-methods.js";
import type { InputMoments } from "../../../src/quantization/inputs/round-in-view.js";
import { staticRecipe } from "../../../src/quantization/recipe.js";

const placement = { neighbours: true, depthwise: true };
const inputs = new Map([["x", {} as InputMoments]]);
const methods = ["minmax", "percentile", "mse"] as const satisfies readonly RangeMethod[];

const nameOf = ({ method, inputs }: Choice): string => (inputs ? `${method} rounded` : method);
const choiceOf = ({ variant }: Pick<Candidate, "variant">): Choice =>
  variant.kind === "integers" ? variant.recipe.statics! : expect.fail("not of integers");

/** Candidates without files, whose errors are known by name once they are measured; it takes its time. */
class Shop extends Workshop {
  readonly made: string[] = [];
  readonly measured: string[] = [];

  constructor(readonly errorsDb: Readonly<Record<string, number | null>>) {
    super({} as never, {} as RunContext);
  }

  override make(variant: Candidate["variant"]): Candidate {
    this.made.push(nameOf(choiceOf({ variant })));
    return { variant, sqnrDb: null } as Candidate;
  }

  override async measureError(candidates: readonly Candidate[], turn = Promise.resolve(true)): Promise<void> {
    if (!(await turn)) return;
    await new Promise((resolve) => setTimeout(resolve, 2));
    for (const each of candidates) {
      const name = nameOf(choiceOf(each));
      this.measured.push(name);
      each.sqnrDb = this.errorsDb[name] ?? null;
    }
  }
}

async function compared(
  errorsDb: Readonly<Record<string, number | null>>,
  view: typeof inputs | null = inputs,
  of: readonly RangeMethod[] = methods,
) {
  const shop = new Shop(errorsDb);
  const make: MakeMeasured = (choices, isWanted) =>
    shop.makeMeasured(
      choices.map((choice) => ({
        variant: { kind: "integers", recipe: staticRecipe({ placement, ...choice }) },
        keptFloat: new Map(),
      })),
      isWanted,
    );
  const { compared, rest, means } = await compareMethods(of, view, make);
  for (const { choice, made } of compared) expect(choiceOf(made)).toMatchObject(choice);
  return {
    ...{ made: shop.made, measured: shop.measured, means },
    compared: compared.map(({ made }) => nameOf(choiceOf(made))),
    rest: rest.map((each) => nameOf(choiceOf(each))),
  };
}

describe("compareMethods", () => {
  it("compares all with weights rounded in view of their inputs where that is closer", async () => {
    const found = await compared({
      minmax: 20,
      ...{ "minmax rounded": 22, "percentile rounded": 25, "mse rounded": 21 },
    });
    expect(found.made).toEqual(["minmax", "minmax rounded", "percentile rounded", "mse rounded"]);
    expect(found.measured).toEqual(found.made);
    expect(found.compared).toEqual(["minmax rounded", "percentile rounded", "mse rounded"]);
    expect(found.rest).toEqual(["minmax"]);
    expect(found.means).toMatchObject({ correction: "means", isKept: true, beforeDb: 20, afterDb: 22 });
    expect(found.means!.detail).toBe("weights rounded by the means of the tensor that products read");
  });

  it("compares all with each weight rounded by itself where that is closer, those made before it was known too", async () => {
    const found = await compared({
      minmax: 22,
      "minmax rounded": 20,
      "percentile rounded": 30,
      percentile: 23,
      mse: 24,
    });
    expect(found.made.slice(0, 4)).toEqual(["minmax", "minmax rounded", "percentile rounded", "mse rounded"]);
    expect(found.made.slice(4)).toEqual(["percentile", "mse"]);
    expect(found.measured).toEqual(["minmax", "minmax rounded", "percentile", "mse"]);
    expect(found.compared).toEqual(["minmax", "percentile", "mse"]);
    expect(found.rest).toEqual(["minmax rounded", "percentile rounded", "mse rounded"]);
    expect(found.means).toMatchObject({ isKept: false, beforeDb: 22, afterDb: 20 });
  });

  it.each([null, Number.NEGATIVE_INFINITY])("compares nothing where no error is known (%s dB)", async (db) => {
    const found = await compared({ minmax: db, "minmax rounded": db, "percentile rounded": db, "mse rounded": db });
    expect([found.compared, found.means]).toEqual([["minmax"], null]);
    expect(found.rest).toEqual(["minmax rounded", "percentile rounded", "mse rounded"]);
  });

  it("compares methods alone where no inputs are in view", async () => {
    const found = await compared({ minmax: 20, percentile: 21, mse: 19 }, null);
    expect(found.made).toEqual(["minmax", "percentile", "mse"]);
    expect([found.compared, found.rest, found.means]).toEqual([found.made, [], null]);
  });

  it("judges the rounding of one method alone", async () => {
    const found = await compared({ mse: 20, "mse rounded": 20.04 }, inputs, ["mse"]);
    expect([found.made, found.compared]).toEqual([["mse", "mse rounded"], ["mse"]]);
    expect(found.means).toMatchObject({ isKept: false });
  });
});
