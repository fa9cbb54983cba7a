import { describe, expect, it } from "vitest";
import { approximations, finishing } from "../../../src/passes/catalog.js";
import {
  approximatingFor,
  finishingFor,
  isFinishedOtherwise,
  withFinished,
} from "../../../src/pipeline/candidates/finishing.js";
import { modelFile } from "../../support/model-file.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const report = (name: string, applied: number) => ({ name, applied, skipped: [], durationMs: 1 });
const namesOf = (skip: string[], only: string[]) => finishingFor({ skip, only }).map(({ name }) => name);

describe("finishing", () => {
  it("is what the user has not left out", () => {
    const all = finishing.map(({ name }) => name);
    expect(namesOf([], [])).toEqual(all);
    expect(namesOf(["lift-line"], [])).toEqual(all.filter((name) => name !== "lift-line"));
    expect(namesOf([], ["lift-line", "fold-constants"])).toEqual(["lift-line"]);
    expect(approximatingFor({ skip: [], only: [] })).toEqual(approximations);
    expect(approximatingFor({ skip: ["approximate-gelu"], only: [] })).toEqual([]);
  });

  it("has something to do where one of its rewrites applies", () => {
    const pathOf = (lines: string) => modelFile(temporaryFolder(), `(x: f32[N,4,8,8]) -> (y) { ${lines} }`);
    expect(isFinishedOtherwise(pathOf("y = LRN<size=3>(x)"), finishing)).toBe(true);
    expect(isFinishedOtherwise(pathOf("y = LRN<size=3>(x)"), [])).toBe(false);
    expect(isFinishedOtherwise(pathOf("y = Relu(x)"), finishing)).toBe(false);
  });

  it("is told of beside what passes did before", () => {
    const passes = [report("fuse-gelu", 2), report("sink-squeeze", 1)];
    const told = withFinished(passes, [report("sink-squeeze", 3), report("lift-line", 4)]);
    expect(told.map(({ name, applied }) => [name, applied])).toEqual([
      ["fuse-gelu", 2],
      ["sink-squeeze", 4],
      ["lift-line", 4],
    ]);
  });
});
