import { describe, expect, it } from "vitest";
import type { Candidate, Variant } from "../../../src/pipeline/candidates/candidate.js";
import { measureSideBySide } from "../../../src/pipeline/place/side-by-side.js";
import { integersVariant, Stage, staticVariant } from "../../support/candidates.js";

/** What was profiled, and the speeds after: 1.5 of whatever is. */
async function measured(hasTable: boolean, ...given: readonly (readonly [Variant, number | null])[]) {
  const stage = new Stage();
  const candidates = given.map(([variant, speedup], i) => ({
    ...stage.candidate(`${i}`, variant, { accuracy: 1, ms: 1 }),
    speedup,
  }));
  const profiled: string[] = [];
  const workshop = {
    measureSpeed: async (all: readonly Candidate[]) => {
      for (const each of all) {
        profiled.push(each.name);
        each.speedup = 1.5;
      }
    },
    isByTable: ({ variant }: Pick<Candidate, "variant">) => hasTable && variant === staticVariant,
  };
  await measureSideBySide(candidates, workshop, 100);
  return { profiled, speedups: candidates.map(({ speedup }) => speedup) };
}

describe("measureSideBySide", () => {
  const fused = { kind: "fused" } as const;
  const dynamic = integersVariant("dynamic");

  it("keeps the table's word of integers, as if the float model were what it is beside", async () => {
    expect(await measured(true, [fused, null], [staticVariant, 1.2])).toEqual({
      profiled: ["0"],
      speedups: [1.5, 1.5 * 1.2],
    });
  });

  it("profiles all where one was not placed by a table", async () => {
    expect((await measured(false, [fused, null], [staticVariant, 1.2])).profiled).toEqual(["0", "1"]);
    expect((await measured(true, [dynamic, null], [staticVariant, 1.2])).profiled).toEqual(["0", "1"]);
    expect((await measured(true, [fused, null], [dynamic, null], [staticVariant, 1.2])).profiled).toHaveLength(3);
    expect((await measured(true, [fused, null])).profiled).toEqual(["0"]);
  });

  it("profiles nothing where all is known", async () => {
    expect(await measured(true, [staticVariant, 1.2])).toEqual({ profiled: [], speedups: [1.2] });
  });
});
