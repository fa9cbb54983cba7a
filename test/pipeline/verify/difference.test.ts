import { expect, it } from "vitest";
import {
  differenceFacts,
  differenceWarnings,
  faintWarnings,
  unseenWarnings,
} from "../../../src/pipeline/verify/difference.js";
import type { DifferenceIntervals } from "../../../src/runtime/port.js";
import { differenceOf } from "../../support/fake-runtime.js";

it("an output that is NaN in one model only is as far away as can be, in numbers that JSON has", () => {
  const found = [differenceOf("y", { nanMismatch: 2, elements: 10 })];
  expect(differenceFacts(found)).toEqual([
    {
      ...{ output: "y", maxAbs: Number.MAX_VALUE, maxRelative: Number.MAX_VALUE, rmse: Number.MAX_VALUE },
      ...{ relativeL2: Number.MAX_VALUE, sqnrDb: -1000, cosine: 0, argmaxAgreement: 1, samples: 4 },
    },
  ]);
  expect(differenceWarnings(found)).toEqual(['output "y": 2 of 10 elements are NaN in one model only']);
});

it("NaN on both sides is equal, and worth a word", () => {
  expect(differenceWarnings([differenceOf("y", { nanOnBoth: 10, elements: 10 })])).toEqual([
    'output "y": all 10 elements are NaN in both models, and count as equal',
  ]);
  expect(differenceWarnings([differenceOf("y", { nanOnBoth: 1, elements: 10 })])[0]).toContain("1 of 10 elements");
});

it("intervals are told where there are some, and an end without noise is null", () => {
  const intervals: DifferenceIntervals = {
    rmse: [0, 0.1],
    sqnrDb: [20, Number.POSITIVE_INFINITY],
    cosine: [0.9, 1],
    argmaxAgreement: null,
  };
  const [facts] = differenceFacts([differenceOf("y", { intervals })]);
  expect(facts!.intervals).toEqual({ ...intervals, sqnrDb: [20, null] });
  expect(differenceFacts([differenceOf("y")])[0]).not.toHaveProperty("intervals");
});

it("what is small beside the rest is told of where the metric says nothing of it", () => {
  const faint = { axis: 1, slices: [4, 5, 6, 9], sqnrDb: 12.2 };
  const found = [differenceOf("boxes", { sqnrDb: 36.3, faint })];
  const [warning] = faintWarnings(found, "cosine");
  expect(warning).toMatch(
    /^output "boxes": 4 positions along axis 1 \(4-6, 9\) are far smaller .* SQNR of 12\.2 dB .* 36\.3 dB.*--metric MODULE/,
  );
  expect(faintWarnings(found, null)).toHaveLength(1);
  expect(faintWarnings(found, "./detections.mjs")).toEqual([]);
  expect(faintWarnings([differenceOf("boxes", { sqnrDb: 36.3, faint: { ...faint, sqnrDb: 25 } })], "cosine")).toEqual(
    [],
  );
  expect(faintWarnings([differenceOf("boxes", { sqnrDb: 15, faint })], "cosine")).toEqual([]);
  expect(faintWarnings([differenceOf("boxes", { sqnrDb: 36.3 })], "cosine")).toEqual([]);
});

it("outputs that a metric does not look at are told of where they are far", () => {
  const found = [
    differenceOf("scores", { sqnrDb: 3 }),
    differenceOf("boxes", { sqnrDb: -18.1 }),
    differenceOf("masks", { sqnrDb: 31 }),
    differenceOf("other", { mismatch: "f32 became f16", sqnrDb: 0 }),
  ];
  expect(unseenWarnings(found, "top1", "scores")).toEqual([
    'output "boxes" has an SQNR of -18.1 dB, and top1 does not look at it: judge it too by a metric of your own (--metric MODULE)',
  ]);
  for (const metric of ["agreement", "sqnr", "mine", null]) expect(unseenWarnings(found, metric, "scores")).toEqual([]);
});

it("a single number that cosine takes lightly is told of", () => {
  const found = [
    differenceOf("score", { sqnrDb: 16, elements: 8, samples: 8 }),
    differenceOf("vector", { sqnrDb: 16, elements: 80, samples: 8 }),
    differenceOf("near", { sqnrDb: 40, elements: 8, samples: 8 }),
  ];
  expect(unseenWarnings(found, "cosine", undefined)).toEqual([
    'output "score" has an SQNR of 16.0 dB, and cosine takes a single number below 1 by its absolute difference: sqnr takes it relatively',
  ]);
});
