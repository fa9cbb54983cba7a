import { describe, expect, it } from "vitest";
import { planRuns } from "../../src/bench/plan.js";

const lookRuns = (plan: ReturnType<typeof planRuns>) =>
  plan.stages.filter(({ look }) => look).map(({ until }) => until);

describe("planRuns", () => {
  it("looks four times, each twice as far as the one before", () => {
    expect(lookRuns(planRuns(10_000, 100, [6, 4]))).toEqual([88, 175, 350, 700]);
  });

  it("starts three processes before each look where starting is cheap", () => {
    const { stages } = planRuns(10_000, 50, [6, 4]);
    expect(stages.filter(({ until }) => until <= 88).map(({ fresh }) => fresh)).toEqual([false, true, true]);
    expect(stages.filter(({ fresh }) => fresh).length + 1).toBe(12);
  });

  it("stays with one process where starting takes most of the budget", () => {
    expect(planRuns(5_000, 4_000, [6, 4]).stages.some(({ fresh }) => fresh)).toBe(false);
  });

  it("never plans too few runs to speak of an interval, nor more than p99.9 needs", () => {
    expect(lookRuns(planRuns(100, 50, [900, 800]))).toEqual([12]);
    expect(lookRuns(planRuns(1e6, 50, [0.1, 0.1])).at(-1)).toBe(3200);
    expect(lookRuns(planRuns(1e6, 50, [0.1, 0.1], { tail: 0.99 })).at(-1)).toBe(3200);
    expect(lookRuns(planRuns(1e6, 50, [0.1, 0.1], { tail: 0.999 })).at(-1)).toBe(29_950);
    expect(lookRuns(planRuns(10_000, 100, [6, 4], { tail: 0.999 })).at(-1)).toBe(700);
  });

  it("keeps to its time with a model alone, of which a few runs tell the middle", () => {
    expect(lookRuns(planRuns(100, 50, [900]))).toEqual([3]);
    expect(lookRuns(planRuns(14_000, 50, [2000])).at(-1)).toBe(4);
  });

  it("looks early where a verdict is wanted soon, and trusts one or two processes only with what is clear", () => {
    const { stages } = planRuns(10_000, 50, [60, 40], { isQuick: true });
    expect(stages.slice(0, 3)).toEqual([
      { fresh: false, isSpare: false, until: 8, look: true, margin: 1.75, isCalm: true },
      { fresh: true, isSpare: false, until: 12, look: true, margin: 1.5, isCalm: false },
      { fresh: true, isSpare: false, until: 18, look: true, margin: 1, isCalm: false },
    ]);
    expect(planRuns(10_000, 50, [60, 40]).stages.every(({ look, margin }) => !look || margin === 1)).toBe(true);
  });

  it("has two processes where starting is slow, and looks once they ran", () => {
    const { stages } = planRuns(10_000, 2000, [60, 40], { isQuick: true });
    expect(stages.slice(0, 2)).toEqual([
      { fresh: false, isSpare: false, until: 6, look: false, margin: 1, isCalm: false },
      { fresh: true, isSpare: false, until: 12, look: true, margin: 1, isCalm: false },
    ]);
  });

  it("spends what is left of the time of tiny models on processes, most of them only where those differ", () => {
    const freshIn = (budgetMs: number, perRunMs: readonly number[], isQuick: boolean, isSpare: boolean): number =>
      planRuns(budgetMs, 500, perRunMs, { isQuick }).stages.filter((stage) => stage.fresh && stage.isSpare === isSpare)
        .length;
    const tiny = [0.15, 0.12];
    expect([freshIn(10_000, tiny, false, false), freshIn(10_000, tiny, false, true)]).toEqual([2 + 3 * 3, 7]);
    expect([freshIn(10_000, tiny, true, false), freshIn(10_000, tiny, true, true)]).toEqual([2 + 2 * 3, 10]);
    // Less time pays for fewer, and a lot of it for no more than a race can use.
    expect(freshIn(4000, tiny, false, false) + freshIn(4000, tiny, false, true)).toBe(6);
    expect(freshIn(1e6, tiny, false, false) + freshIn(1e6, tiny, false, true)).toBe(4 + 3 * 16);
    // Runs that take all of the time leave a share of it alone.
    expect([freshIn(10_000, [6, 4], true, false), freshIn(10_000, [6, 4], true, true)]).toEqual([5, 0]);
  });

  it("lets quick models run several times a turn and slow ones once", () => {
    expect(planRuns(10_000, 50, [0.1, 0.1]).sliceRuns).toBe(20);
    expect(planRuns(10_000, 50, [9, 7]).sliceRuns).toBe(1);
  });
});
