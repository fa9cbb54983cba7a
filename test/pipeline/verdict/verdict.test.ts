import { describe, expect, it } from "vitest";
import type { AccuracyFacts, LatencyFacts } from "../../../src/pipeline/result.js";
import { type Evidence, judge, judgeUnchanged, type LatencyMeasure } from "../../../src/pipeline/verdict/verdict.js";
import { limitsOf } from "../../support/run-config.js";

const accuracy = (drop: number, facts: Partial<AccuracyFacts> = {}): Evidence["accuracy"] => ({
  isRate: true,
  facts: {
    metric: "top1",
    kind: "labels",
    higherIsBetter: true,
    samples: 5000,
    baseline: 0.9,
    candidate: 0.9 - drop,
    delta: -drop,
    deltaInterval: [-drop, -drop],
    confidence: 0.95,
    ...facts,
  },
});

const latency = (
  speedup: number,
  speedupInterval: LatencyFacts["speedupInterval"],
  {
    p95Ms = 10,
    bounds = { low: 9, high: 11 },
  }: { p95Ms?: number | null; bounds?: LatencyMeasure["bounds"]["p95"] } = {},
): LatencyMeasure => {
  const percentiles = { p50Ms: 8, p90Ms: 9, p95Ms, p99Ms: null, p999Ms: null };
  return {
    facts: {
      provider: "cpu",
      threads: 1,
      batch: 1,
      runs: 80,
      baseline: percentiles,
      candidate: percentiles,
      speedup,
      speedupInterval,
    },
    bounds: {
      p50: { low: 7, high: 9 },
      p90: bounds,
      p95: bounds,
      p99: { low: 12, high: null },
      p999: { low: null, high: null },
    },
  };
};

const evidence = (parts: Partial<Evidence> = {}): Evidence => ({
  accuracy: null,
  latency: null,
  bytes: { baseline: 1000, candidate: 300 },
  ...parts,
});

const gate = { gainRequired: false, goal: "speed" } as const;
const optimize = { gainRequired: true, goal: "speed" } as const;

describe("accuracy", () => {
  it("has a limit of 1 % when none is declared", () => {
    expect(judge(limitsOf(), evidence({ accuracy: accuracy(0.02) }), gate).verdict).toMatchObject({
      status: "fail",
      outcome: "accuracy",
      reasons: [{ limit: "max-drop", wanted: 1, status: "missed" }],
    });
  });

  it("has none when that was said", () => {
    const { verdict } = judge(limitsOf({ maxDrop: "none" }), evidence({ accuracy: accuracy(0.5) }), gate);
    expect(verdict).toMatchObject({ outcome: "met", reasons: [] });
  });

  it("is inconclusive when it was limited and not measured", () => {
    const { verdict } = judge(limitsOf({ maxDrop: { percent: 1 } }), evidence(), gate);
    expect(verdict).toMatchObject({ outcome: "inconclusive", reasons: [{ limit: "max-drop", got: null }] });
  });

  it("is no limit that made-up inputs could meet", () => {
    const smoke = evidence({ accuracy: accuracy(0, { kind: "smoke" }) });
    expect(judge(limitsOf({ maxDrop: { percent: 1 } }), smoke, gate).verdict.outcome).toBe("inconclusive");
    const undeclared = judge(limitsOf(), smoke, gate);
    expect(undeclared.verdict).toMatchObject({ outcome: "met", reasons: [] });
    expect(undeclared.verdict.summary).toContain("accuracy was not judged: the inputs were made up");
  });
});

describe("--min-speedup", () => {
  it.each([
    ["met", [1.3, 1.5]],
    ["missed", [1.0, 1.1]],
    ["inconclusive", [1.1, 1.5]],
  ] as const)("is %s when the interval is %j", (status, interval) => {
    const { verdict } = judge(limitsOf({ minSpeedup: 1.2 }), evidence({ latency: latency(1.25, interval) }), gate);
    expect(verdict.reasons).toMatchObject([{ limit: "min-speedup", wanted: 1.2, got: 1.25, status }]);
    expect(verdict.outcome).toBe({ met: "met", missed: "latency", inconclusive: "inconclusive" }[status]);
  });

  it("says how much longer it takes to tell", () => {
    const undecided = evidence({ latency: latency(1.3, [1.1, 1.5]) });
    const [reason] = judge(limitsOf({ minSpeedup: 1.2 }), undecided, gate).verdict.reasons;
    expect(reason!.longer).toBeCloseTo((Math.log(1.3 / 1.1) / Math.log(1.3 / 1.2)) ** 2);
    expect(reason!.text).toContain("about 5 times as long would tell");
    const [near] = judge(limitsOf({ minSpeedup: 1.3 }), undecided, gate).verdict.reasons;
    expect(near).toMatchObject({ longer: null });
    const [met] = judge(limitsOf({ minSpeedup: 1.05 }), undecided, gate).verdict.reasons;
    expect(met).not.toHaveProperty("longer");
  });
});

describe("--slo", () => {
  const slo = (ms: number, parts?: Parameters<typeof latency>[2]) =>
    judge(limitsOf({ slo: [{ percentile: "p95", ms }] }), evidence({ latency: latency(1, [1, 1], parts) }), gate)
      .verdict;

  it.each([
    [12, "met"],
    [8, "missed"],
    [10.5, "inconclusive"],
  ] as const)("of %d ms is %s for a p95 between 9 and 11 ms", (ms, status) => {
    expect(slo(ms).reasons).toMatchObject([{ limit: "slo p95", wanted: ms, got: 10, status }]);
  });

  it("names the runs that a percentile takes when there were too few", () => {
    const { reasons, outcome } = slo(12, { p95Ms: null, bounds: { low: 9, high: null } });
    expect(outcome).toBe("inconclusive");
    expect(reasons[0]!.text).toBe("p95 takes at least 59 runs and there were 80: time longer");
    expect(slo(10.5).reasons[0]).toMatchObject({ longer: 4 });
    expect(slo(10.5, { bounds: { low: 9, high: null } }).reasons[0]).not.toHaveProperty("longer");
    expect(slo(10.5, { bounds: { low: 9, high: null } }).reasons[0]!.text).toContain(
      "too few for an upper bound: time longer",
    );
  });

  it("is missed without the percentile when even the lower bound is above", () => {
    expect(slo(8, { p95Ms: null, bounds: { low: 9, high: null } }).outcome).toBe("latency");
  });
});

it.each([
  [300, "met"],
  [299, "latency"],
] as const)("--max-size %d: %s for a model of 300 bytes", (maxSizeBytes, outcome) => {
  expect(judge(limitsOf({ maxSizeBytes }), evidence(), gate).verdict.outcome).toBe(outcome);
});

describe("gain", () => {
  it.each([
    ["met", 1.1, [1.02, 1.2]],
    ["no-gain", 1.015, [1.01, 1.02]],
    ["no-gain", 1.01, [0.95, 1.07]],
    ["no-gain", 0.8, [0.7, 0.9]],
    // Runs that differ so much show neither a gain nor its absence.
    ["inconclusive", 0.7, [0.45, 1.22]],
    ["inconclusive", 1.1, [0.95, 1.3]],
    // Faster, and perhaps by too little.
    ["inconclusive", 1.1, [1.01, 1.2]],
  ] as const)("%s at %d with interval %j", (outcome, speedup, interval) => {
    expect(judge(limitsOf(), evidence({ latency: latency(speedup, interval) }), optimize).verdict.outcome).toBe(
      outcome,
    );
  });

  it("says how much longer it takes to see one, or to see anything", () => {
    const longerOf = (...of: Parameters<typeof latency>) =>
      judge(limitsOf(), evidence({ latency: latency(...of) }), optimize).verdict.reasons[0]!.longer;
    expect(longerOf(1.1, [0.95, 1.3])).toBeCloseTo((Math.log(1.1 / 0.95) / Math.log(1.1 / 1.02)) ** 2);
    expect(longerOf(0.7, [0.45, 1.22])).toBeCloseTo((Math.log(1.22 / 0.45) / Math.log(1.25)) ** 2);
  });

  it("is not asked of a gate", () => {
    expect(judge(limitsOf(), evidence({ latency: latency(0.8, [0.7, 0.9]) }), gate).verdict.outcome).toBe("met");
  });

  it("is size when that is the goal", () => {
    const goal = { gainRequired: true, goal: "size" } as const;
    const slow = latency(0.8, [0.7, 0.9]);
    expect(judge(limitsOf(), evidence({ latency: slow }), goal).verdict.outcome).toBe("met");
    const grown = { baseline: 300, candidate: 300 };
    expect(judge(limitsOf(), evidence({ latency: slow, bytes: grown }), goal).verdict.outcome).toBe("no-gain");
    const alike = { baseline: 867_081, candidate: 863_315 };
    expect(judge(limitsOf(), evidence({ bytes: alike }), goal).verdict).toMatchObject({
      outcome: "no-gain",
      summary: "no gain: 867.1 kB became 863.3 kB: a gain takes a file 1.02x smaller",
    });
    const smaller = { baseline: 102_000, candidate: 100_000 };
    expect(judge(limitsOf(), evidence({ bytes: smaller }), goal).verdict).toMatchObject({
      outcome: "met",
      reasons: [{ limit: "gain", wanted: 100_000, got: 100_000 }],
    });
  });

  it("warns of a smaller model that is slower, and not where that is in doubt", () => {
    const goal = { gainRequired: true, goal: "size" } as const;
    const warningsOf = (of: LatencyMeasure) => judge(limitsOf(), evidence({ latency: of }), goal).warnings;
    expect(warningsOf(latency(0.8, [0.7, 0.9]))).toEqual([
      "smaller, and slower than the original: 0.80x as fast (interval 0.70 to 0.90)",
    ]);
    expect(warningsOf(latency(0.95, [0.85, 1.05]))).toEqual([]);
    expect(judge(limitsOf(), evidence({ latency: latency(0.8, [0.7, 0.9]) }), gate).warnings).toEqual([]);
  });

  it("says that a slower model is slower", () => {
    const { summary } = judge(limitsOf(), evidence({ latency: latency(0.8, [0.7, 0.9]) }), optimize).verdict;
    expect(summary).toBe("no gain: 0.80x as fast (interval 0.70 to 0.90): slower than the original");
  });
});

describe("several outcomes", () => {
  const limits = limitsOf({ maxSizeBytes: 100, slo: [{ percentile: "p999", ms: 1 }] });
  const slow = latency(0.9, [0.8, 1]);
  const outcome = (parts: Partial<Evidence>, of = limits) => judge(of, evidence(parts), optimize).verdict.outcome;

  it("put accuracy first", () => expect(outcome({ accuracy: accuracy(0.1), latency: slow })).toBe("accuracy"));
  it("then latency and size", () => expect(outcome({ accuracy: accuracy(0), latency: slow })).toBe("latency"));
  it("then no gain", () => expect(outcome({ latency: slow }, { ...limits, maxSizeBytes: null })).toBe("no-gain"));
  it("then what nobody can tell", () =>
    expect(outcome({ latency: latency(1.5, [1.4, 1.6]) }, { ...limits, maxSizeBytes: null })).toBe("inconclusive"));

  it("each have a reason in words", () => {
    const { reasons } = judge(limits, evidence({ accuracy: accuracy(0), latency: slow }), optimize).verdict;
    expect(reasons.map(({ limit, status }) => [limit, status])).toEqual([
      ["max-drop", "met"],
      ["slo p999", "inconclusive"],
      ["max-size", "missed"],
      ["gain", "missed"],
    ]);
    expect(reasons.every(({ text }) => text.length > 10)).toBe(true);
  });
});

it("lets pass what nobody can tell when that was asked for, with a warning", () => {
  const unclear = evidence({ latency: latency(1.25, [1.1, 1.5]) });
  const { verdict, warnings } = judge(limitsOf({ minSpeedup: 1.2 }), unclear, { ...gate, inconclusive: "warn" });
  expect(verdict).toMatchObject({ status: "inconclusive", outcome: "met" });
  expect(warnings).toHaveLength(1);
});

it("says of a missed limit whether more time may help", () => {
  const missed = evidence({ accuracy: accuracy(0.1) });
  const limits = limitsOf({ maxDrop: { percent: 1 } });
  const end = { regions: 50, mayBeDynamic: false, tried: 8, most: 37, longer: 3.5 };
  const ruled = (search: NonNullable<Evidence["search"]> | null, parts = missed) =>
    judge(limits, { ...parts, search }, optimize).verdict;
  const short = ruled(end);
  expect(short).toMatchObject({ outcome: "accuracy", reasons: [{ status: "missed", longer: 3.5 }, {}] });
  expect(short.summary).toContain("time to search was over at 8 of 50 regions in float");
  expect(ruled({ ...end, tried: 0 }).summary).toContain("over before any region was tried in float");
  const through = ruled({ ...end, tried: 37, longer: null });
  expect(through.summary).toContain("with up to 37 of 50 regions in float it is missed too");
  for (const [parts, text] of [
    [{}, "at 8 of 50 regions in float or dynamic integers,"],
    [{ tried: 0 }, "before any region was tried in float or dynamic integers,"],
    [{ longer: null }, "with up to 37 of 50 regions in float or dynamic integers it is missed too"],
  ] as const) {
    expect(ruled({ ...end, mayBeDynamic: true, ...parts }).summary).toContain(text);
  }
  expect(through.reasons[0]).not.toHaveProperty("longer");
  expect(ruled({ ...end, tried: 0, most: 0, longer: null }).summary).toBe(ruled(null).summary);
  expect(JSON.stringify(ruled(end, evidence({ accuracy: accuracy(0) })))).not.toContain("regions");
  const slow = evidence({ accuracy: accuracy(0.1), latency: latency(0.6, [0.5, 0.7]) });
  expect(ruled(null, slow).summary).toContain("no regions were put back to float, since there is no speed to give up");
  expect(ruled(end, slow).summary).not.toContain("no speed to give up");
  // Other commands search nothing.
  expect(judge(limits, slow, optimize).verdict.summary).not.toContain("no speed to give up");
});

describe("judgeUnchanged", () => {
  it("is no gain, in words that make nothing of chance", () => {
    expect(judgeUnchanged(limitsOf({}), 100, "no rewrite applies")).toEqual({
      ...{ status: "fail", outcome: "no-gain", reasons: [] },
      summary: "nothing was found that pays: no rewrite applies",
    });
  });

  it("misses what only another model could meet", () => {
    const faster = judgeUnchanged(limitsOf({ minSpeedup: 1.2 }), 100, "why");
    expect(faster).toMatchObject({ outcome: "latency", reasons: [{ limit: "min-speedup", got: 1, status: "missed" }] });
    const smaller = judgeUnchanged(limitsOf({ maxSizeBytes: 80 }), 100, "why");
    expect(smaller).toMatchObject({ outcome: "latency", reasons: [{ limit: "max-size", status: "missed" }] });
    expect(smaller.summary).toMatch(/^max-size missed: .*; nothing was found that pays: why$/);
    expect(judgeUnchanged(limitsOf({ maxSizeBytes: 100 }), 100, "why").outcome).toBe("no-gain");
  });
});
