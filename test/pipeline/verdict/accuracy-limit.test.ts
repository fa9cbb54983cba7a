import { describe, expect, it } from "vitest";
import { pairedDifferenceInterval } from "../../../src/base/bootstrap.js";
import type { AccuracyFacts } from "../../../src/pipeline/result.js";
import { type AccuracyMeasure, judgeAccuracy } from "../../../src/pipeline/verdict/accuracy-limit.js";

/** A drop of half a point, known to a tenth. */
const measured = (facts: Partial<AccuracyFacts> = {}, isRate = true): AccuracyMeasure => ({
  isRate,
  facts: {
    metric: "top1",
    kind: "labels",
    higherIsBetter: true,
    samples: 1000,
    baseline: 0.9,
    candidate: 0.895,
    delta: -0.005,
    deltaInterval: [-0.006, -0.004],
    confidence: 0.95,
    ...facts,
  },
});

const statusOf = (
  measure: AccuracyMeasure,
  limit: Parameters<typeof judgeAccuracy>[1],
  confidence: number | null = null,
) => judgeAccuracy(measure, limit, confidence).reason.status;

it.each([
  [{ absolute: 1 }, 1],
  [{ percent: 100 }, 1],
  [{ absolute: 0.5 }, 0],
  [{ percent: 1 }, 0],
])("a limit of %o that no rate can miss is worth a warning: %i", (limit, count) => {
  const { warnings } = judgeAccuracy(measured(), limit, null);
  expect(warnings.filter((warning) => warning.includes("one point is written 1%"))).toHaveLength(count);
});

it.each([
  [
    { absolute: 0.5 },
    true,
    ["--max-drop 0.5 is 50 points of top1, which lies between 0 and 1: 0.5% would be 0.5 of a point"],
  ],
  [
    { absolute: 0.3 },
    true,
    ["--max-drop 0.3 is 30 points of top1, which lies between 0 and 1: 0.3% would be 0.3 of a point"],
  ],
  [{ absolute: 0.05 }, true, []],
  [{ percent: 50 }, true, []],
  [{ absolute: 0.5 }, false, []],
])("a limit of %o, of a rate: %s, is asked about where a percent sign may be missing", (limit, isRate, warnings) => {
  expect(judgeAccuracy(measured({}, isRate), limit, null).warnings).toEqual(warnings);
});

it("a rate of 0 cannot fall, which is worth a warning, however it is judged", () => {
  const nothing = measured({ baseline: 0, candidate: 0, delta: 0, deltaInterval: [0, 0] });
  for (const confidence of [null, 0.95]) {
    const { reason, warnings } = judgeAccuracy(nothing, { percent: 1 }, confidence);
    expect(reason.status).toBe("met");
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain("top1 of the baseline is 0 on every sample");
  }
  expect(judgeAccuracy(measured(), { percent: 1 }, null).warnings).toEqual([]);
});

describe("with a confidence, scores between 0 and 1", () => {
  const f1 = { metric: "f1", delta: -0.001, deltaInterval: [-0.002, 0] } as const;

  it("are not passed on so few samples that rare failures may be among none of them", () => {
    // 0.98^183 is 2.5 %: so often none of as many samples fails where 2 % do.
    const { reason } = judgeAccuracy(measured({ ...f1, samples: 182 }), { percent: 1 }, 0.95);
    expect(reason.status).toBe("inconclusive");
    expect(reason.text).toContain("one sample in 50 may be among none of them; about 183 samples would decide it");
    expect(statusOf(measured({ ...f1, samples: 183 }), { percent: 1 }, 0.95)).toBe("met");
    expect(statusOf(measured({ ...f1, samples: 183 }), { absolute: 0.01 }, 0.95)).toBe("met");
    expect(statusOf(measured({ ...f1, samples: 183 }), { percent: 0.5 }, 0.95)).toBe("inconclusive");
    expect(statusOf(measured({ ...f1, samples: 10 }), { percent: 1 })).toBe("met");
  });

  it("are another thing than right answers, whose interval allows for what was not seen", () => {
    const answers = { both: 90, onlyBefore: 0, onlyAfter: 0, neither: 10 };
    expect(statusOf(measured({ ...f1, samples: 100, answers }), { percent: 1 }, 0.95)).toBe("met");
  });
});

describe("a percentage limit", () => {
  it("means points of a rate", () => {
    const { reason } = judgeAccuracy(measured(), { percent: 0.6 }, null);
    expect(reason).toMatchObject({ limit: "max-drop", wanted: 0.6, status: "met" });
    expect(reason.got).toBeCloseTo(0.5, 12);
    expect(statusOf(measured(), { percent: 0.4 })).toBe("missed");
  });

  it("means change relative to the baseline of anything else", () => {
    const measure = measured(
      { metric: "bleu", baseline: 40, candidate: 39, delta: -1, deltaInterval: [-1.1, -0.9] },
      false,
    );
    const { reason } = judgeAccuracy(measure, { percent: 2.6 }, null);
    expect(reason.got).toBeCloseTo(2.5, 12);
    expect(reason.status).toBe("met");
    expect(statusOf(measure, { percent: 2.4 })).toBe("missed");
  });

  it("says nothing of a baseline of 0, unless nothing changed", () => {
    const mse = { metric: "mse", kind: "agreement", higherIsBetter: false, baseline: 0 } as const;
    const worse = measured({ ...mse, candidate: 0.01, delta: 0.01, deltaInterval: [0.009, 0.011] }, false);
    const { reason } = judgeAccuracy(worse, { percent: 1 }, null);
    expect(reason).toMatchObject({ status: "inconclusive", got: null });
    expect(reason.text).toContain("give --max-drop as a plain number");
    expect(statusOf(measured({ ...mse, candidate: 0, delta: 0, deltaInterval: [0, 0] }, false), { percent: 1 })).toBe(
      "met",
    );
  });

  it("is met by a drop of exactly that much, whatever binary fractions make of it", () => {
    const delta = 0.9 - 0.91;
    expect(delta).toBeLessThan(-0.01);
    expect(
      statusOf(measured({ baseline: 0.91, candidate: 0.9, delta, deltaInterval: [delta, delta] }), { percent: 1 }),
    ).toBe("met");
  });
});

describe("an absolute limit", () => {
  it("is in the metric's own unit", () => {
    expect(judgeAccuracy(measured(), { absolute: 0.004 }, null).reason).toMatchObject({
      wanted: 0.004,
      got: 0.005,
      status: "missed",
    });
    expect(statusOf(measured(), { absolute: 0.005 })).toBe("met");
  });

  it("counts the increase of a metric of which less is better", () => {
    const mse = {
      metric: "mse",
      higherIsBetter: false,
      baseline: 0.5,
      candidate: 0.7,
      delta: 0.2,
      deltaInterval: [0.1, 0.3],
    } as const;
    expect(judgeAccuracy(measured(mse, false), { absolute: 0.1 }, null).reason).toMatchObject({
      got: 0.2,
      status: "missed",
    });
    expect(
      statusOf(measured({ ...mse, candidate: 0.3, delta: -0.2, deltaInterval: [-0.3, -0.1] }, false), { absolute: 0 }),
    ).toBe("met");
  });
});

describe("an interval across the limit", () => {
  const wide = measured({ samples: 100, deltaInterval: [-0.015, 0.005] });

  it("leaves the measured value to decide, with a warning that names how many samples would", () => {
    const { reason, warnings } = judgeAccuracy(wide, { percent: 1 }, null);
    expect(reason.status).toBe("met");
    // Half-width 0.01, distance to the limit 0.005: four times the samples.
    expect(warnings).toEqual([
      "100 samples are too few to be sure of the accuracy limit: the drop of top1 lies between -0.5 and 1.5 points; " +
        "about 400 samples would decide it, and with --confidence 95% it would not pass",
    ]);
  });

  it("is inconclusive where a confidence was asked for", () => {
    const { reason, warnings } = judgeAccuracy(wide, { percent: 1 }, 0.95);
    expect(reason.status).toBe("inconclusive");
    expect(reason.text).toContain("; about 400 samples would decide it");
    expect(warnings).toEqual([]);
  });

  it.each([0.95, 0.999])("of answers names the samples whose interval decides, at confidence %s", (confidence) => {
    const of = (samples: number, worse: number) => {
      const [before, after] = [Array(samples).fill(1), Array(samples).fill(1)];
      after.fill(0, 0, worse);
      const { low, high } = pairedDifferenceInterval(before, after, { seed: 0, confidence });
      const answers = { both: samples - worse, onlyBefore: worse, onlyAfter: 0, neither: 0 };
      const delta = -worse / samples;
      return measured({ samples, delta, answers, deltaInterval: [low, high], confidence, baseline: 1 });
    };
    // None changed for the worse, or one of each 250; a point may be lost.
    for (const [worse, each] of [
      [0, 1],
      [1, 250],
    ] as const) {
      const judged = (times: number) =>
        judgeAccuracy(of(times * each, times * worse), { percent: 1 }, confidence).reason;
      const [, told] = /about (\d+) samples/.exec(judged(worse === 0 ? 100 : 1).text)!;
      expect(judged(Math.ceil(Number(told) / each)).status).toBe("met");
      expect(judged(Math.ceil(Number(told) / each) - 1).status).toBe("inconclusive");
    }
  });

  it("says so when no number of samples would decide", () => {
    const at = measured({ deltaInterval: [-0.015, 0.005], delta: -0.005 });
    expect(judgeAccuracy(at, { percent: 0.5 }, 0.95).reason.text).toContain("no number of samples would decide it");
  });
});

describe("with a confidence, scores without bounds", () => {
  const sqnr = (samples: number) =>
    measured({ metric: "sqnr", samples, baseline: 30, candidate: 29.9, delta: -0.1, deltaInterval: [-0.2, 0] }, false);

  it("are not met on samples too few to hold the rare ones that are far worse", () => {
    const { reason } = judgeAccuracy(sqnr(99), { absolute: 0.5 }, 0.95);
    expect(reason.status).toBe("inconclusive");
    expect(reason.text).toContain("so few scores may hold none of the rare ones that are far worse; about 100 samples");
    expect(statusOf(sqnr(100), { absolute: 0.5 }, 0.95)).toBe("met");
  });

  it("are missed, and met without it, on however few", () => {
    expect(statusOf(sqnr(3), { absolute: -0.5 }, 0.95)).toBe("missed");
    expect(statusOf(sqnr(3), { absolute: 0.5 })).toBe("met");
  });
});

describe("with a confidence", () => {
  it("is met when all of the interval is within the limit", () =>
    expect(statusOf(measured(), { percent: 0.7 }, 0.95)).toBe("met"));
  it("is missed when none of it is", () => expect(statusOf(measured(), { percent: 0.3 }, 0.95)).toBe("missed"));
});

it("warns of nothing when the interval lies on one side", () => {
  expect(judgeAccuracy(measured(), { percent: 1 }, null).warnings).toEqual([]);
});

it.each([0, -0.5])("never calls made-up inputs a success or a failure (delta %d)", (delta) => {
  const { reason } = judgeAccuracy(
    measured({ kind: "smoke", delta, deltaInterval: [delta, delta] }),
    { percent: 1 },
    null,
  );
  expect(reason.status).toBe("inconclusive");
  expect(reason.text).toContain("made-up inputs say nothing about accuracy");
});

it("tells in words what happened", () => {
  expect(judgeAccuracy(measured(), { percent: 1 }, null).reason.text).toBe(
    "top1 got worse by 0.5 points (0.9 to 0.895 on 1000 samples; 95 % interval 0.4 to 0.6 points), 1 point allowed",
  );
});
