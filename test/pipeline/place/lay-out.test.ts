import { describe, expect, it, vi } from "vitest";
import { notPlaced } from "../../../src/pipeline/place/early-placement.js";
import { type LayOutRequest, layOutDraft } from "../../../src/pipeline/place/lay-out.js";
import type { Draft, Prepared } from "../../../src/pipeline/prepare/prepare.js";
import type { PrepareRequest } from "../../../src/pipeline/prepare/prepare-request.js";
import type { RunRecord } from "../../../src/pipeline/run-record.js";

const prepared = (path: string): Prepared => ({ path, warnings: [path] }) as unknown as Prepared;

function draftOf(isRight: boolean) {
  const draft = {
    prepared: prepared("as it left the passes"),
    ifRight: vi.fn(async () => (isRight ? prepared("compared") : null)),
    prove: vi.fn(async () => prepared("without the wrong pass")),
  };
  return draft satisfies Draft;
}

function askedFor(place = vi.fn(async (_: Prepared) => notPlaced)) {
  const asked: LayOutRequest = {
    request: {} as PrepareRequest,
    mayJoin: () => false,
    place,
    record: { stage: async <T>(_: string, work: () => T | Promise<T>) => work() } as unknown as RunRecord,
  };
  return { asked, place };
}

describe("layOutDraft", () => {
  it("places what the passes left, and goes on with what the comparison said of it", async () => {
    const draft = draftOf(true);
    const { asked, place } = askedFor();
    const laid = await layOutDraft(draft, asked, false);
    expect(place.mock.calls).toEqual([[draft.prepared]]);
    expect(laid.prepared.path).toBe("compared");
    expect(laid.fused).toBe(laid.prepared);
    expect(draft.prove).not.toHaveBeenCalled();
  });

  it("places anew what is left where a pass was wrong", async () => {
    const draft = draftOf(false);
    const { asked, place } = askedFor();
    const laid = await layOutDraft(draft, asked, false);
    expect(place.mock.calls.map(([each]) => each.path)).toEqual(["as it left the passes", "without the wrong pass"]);
    expect(laid.prepared.path).toBe("without the wrong pass");
  });
});
