import { describe, expect, it } from "vitest";
import type { Candidate } from "../../src/pipeline/candidate.js";
import { keepWorstFloat } from "../../src/pipeline/keep-float.js";
import { Stage, staticVariantOf } from "../support/candidates.js";

const eight = ["a", "b", "c", "d", "e", "f", "g", "h"];
/** h is worst, a is best. */
const damage = Object.fromEntries(eight.map((node, i) => [node, 40 - 4 * i]));

function search(stage: Stage, needed: number, all = eight, alone = all, deadline = 1e9) {
  const variant = staticVariantOf({ neighbours: all !== alone, depthwise: true });
  const candidate = stage.candidate("integers", variant, { accuracy: 0.5, ms: 3 }, all);
  const asked: number[] = [];
  const meetsLimit = async (next: Candidate): Promise<boolean> => {
    asked.push(next.keptFloat.size);
    return next.keptFloat.size >= needed;
  };
  const workshop = stage.workshopFor(all, alone);
  return keepWorstFloat({ candidate, workshop, context: stage.context, deadline, meetsLimit }).then((outcome) => ({
    ...outcome,
    asked,
  }));
}

describe("keepWorstFloat", () => {
  it.each([
    [1, [1]],
    [2, [1, 2]],
    [3, [1, 2, 4, 3]],
    [5, [1, 2, 4, 6, 5]],
    [6, [1, 2, 4, 6, 5]],
  ])("finds that %i nodes are needed by doubling and bisection", async (needed, asked) => {
    const outcome = await search(new Stage(undefined, damage), needed);
    expect(outcome.asked).toEqual(asked);
    expect([...outcome.found!.keptFloat.keys()]).toEqual([...eight].reverse().slice(0, needed));
  });

  it("gives up beyond three quarters of the nodes", async () => {
    const { found, asked } = await search(new Stage(undefined, damage), 7);
    expect(found).toBeNull();
    expect(asked).toEqual([1, 2, 4, 6]);
  });

  it("ranks only nodes that can be integers alone, so that something is left of them", async () => {
    const products = ["a", "b", "c", "d"];
    const stage = new Stage(undefined, damage);
    const { found, asked } = await search(stage, 99, eight, products);
    expect(found).toBeNull();
    expect(asked).toEqual([1, 2, 3]);
    const singles = stage.made.filter((made) => made.keptFloat.size === 7);
    expect(singles.map(({ built }) => [...built.forms.keys()])).toEqual(products.map((node) => [node]));
  });

  it("gives up first what costs most error for each millisecond that it saves", async () => {
    // g costs less than h, and saves far less.
    const stage = new Stage(undefined, damage, { ...Object.fromEntries(eight.map((node) => [node, 1])), g: 0.1 });
    const { found } = await search(stage, 1);
    expect([...found!.keptFloat.keys()]).toEqual(["g"]);
  });

  it("gives up what saves nothing before all else", async () => {
    const stage = new Stage(undefined, damage, { ...Object.fromEntries(eight.map((node) => [node, 1])), a: -1 });
    const { found } = await search(stage, 1);
    expect([...found!.keptFloat.keys()]).toEqual(["a"]);
  });

  it("wins back what went along for nothing, the most time first", async () => {
    const stage = new Stage(undefined, damage, { ...Object.fromEntries(eight.map((node) => [node, 0.5])), h: 0.6 });
    const candidate = stage.candidate(
      "integers",
      staticVariantOf({ neighbours: true, depthwise: true }),
      { accuracy: 0.5, ms: 3 },
      eight,
    );
    const meetsLimit = async (next: Candidate): Promise<boolean> => next.keptFloat.has("f");
    const outcome = await keepWorstFloat({
      candidate,
      workshop: stage.workshopFor(eight),
      context: stage.context,
      deadline: 1e9,
      meetsLimit,
    });
    expect([...outcome.found!.keptFloat.keys()]).toEqual(["f"]);
  });

  it("keeps the files of what it found and of nothing else", async () => {
    const stage = new Stage(undefined, damage);
    const { found, tried } = await search(stage, 3);
    const kept = tried.filter(({ name }) => !stage.discarded.includes(name));
    expect(kept).toEqual([found]);
    expect(stage.made.filter(({ name }) => !stage.discarded.includes(name))).toEqual([found]);
  });

  it("tries what it has when there is no time to rank", async () => {
    const stage = new Stage(undefined, damage);
    const { found, tried } = await search(stage, 1, eight, eight, -1);
    expect([found, tried]).toEqual([null, []]);
  });

  it("has nothing to try with a single node", async () => {
    expect(await search(new Stage(undefined, damage), 1, ["a"])).toMatchObject({ found: null, tried: [] });
  });
});
