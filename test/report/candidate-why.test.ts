import { expect, it } from "vitest";
import { candidateWhy } from "../../src/report/candidate-why.js";
import { decisionRows } from "../../src/report/decision-rows.js";
import { sampleResult } from "./sample-result.js";

const [taken, other] = sampleResult().candidates as [
  ReturnType<typeof sampleResult>["candidates"][number],
  ReturnType<typeof sampleResult>["candidates"][number],
];
const why = (parts: Partial<typeof other>, accuracy = sampleResult().accuracy): string => {
  const candidate = { ...other, reason: "", ...parts };
  return candidateWhy(candidate, sampleResult({ candidates: [taken, candidate], accuracy }));
};

it("is what the search said, where it said something", () => {
  expect(why({ reason: "slower" })).toBe("slower");
  expect(candidateWhy(taken, sampleResult())).toBe("chosen");
});

it("is otherwise how it compares with what was taken, in what both were measured", () => {
  expect(why({ speedup: 1.1 })).toBe("slower: 1.10x against 2.14x");
  expect(why({ speedup: 3, sqnrDb: 19.6 })).toBe("farther from the original: 19.6 dB against 31.2 dB");
  expect(why({ speedup: null, accuracy: 0.7 })).toBe("less accurate: 0.7000 against 0.7588; not timed");
  expect(why({ speedup: 3, accuracy: 0.7, sqnrDb: 3 })).toBe("less accurate: 0.7000 against 0.7588");
  expect(why({ speedup: 3, accuracy: 0.7 }, { ...sampleResult().accuracy!, higherIsBetter: false })).toBe("");
  expect(why({ speedup: 3 })).toBe("");
});

it("compares speeds of one measure alone", () => {
  const timed = { ...taken, speedup: 1.3, estimate: 1.45, timed: 1.3 };
  const beside = (parts: Partial<typeof other>) => {
    const candidate = { ...other, reason: "", sqnrDb: 10, ...parts };
    return candidateWhy(candidate, sampleResult({ candidates: [timed, candidate] }));
  };
  const far = "farther from the original: 10.0 dB against 31.2 dB";
  expect(beside({ speedup: 1.37, estimate: 1.37, timed: null })).toBe(
    `slower by estimate: 1.37x against 1.45x; ${far}`,
  );
  expect(beside({ speedup: 1.2, estimate: 1.6, timed: null })).toBe(far);
  expect(beside({ speedup: 1.2, estimate: 1.6, timed: 1.2 })).toBe(`slower: 1.20x against 1.30x; ${far}`);
});

it("stands among the decisions without a colon that nothing follows", () => {
  const rows = decisionRows(sampleResult({ candidates: [taken, { ...other, reason: "", speedup: 3 }] }));
  expect(rows.filter(({ kind }) => kind === "candidate").map(({ what }) => what)).toEqual(["taken", "not taken"]);
});
