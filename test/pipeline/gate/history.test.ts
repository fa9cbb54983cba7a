import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  appendHistory,
  changesIn,
  entryOf,
  type HistoryEntry,
  readHistory,
} from "../../../src/pipeline/gate/history.js";
import { faultOf } from "../../support/dataset.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const entry = (parts: Partial<HistoryEntry> = {}): HistoryEntry => ({
  ...{ schemaVersion: 1, at: "2030-01-01T00:00:00.000Z", series: "top1; cpu", baseline: "aa", candidate: "bb" },
  ...{ outcome: "met", speedup: 1.5, accuracy: 0.98, bytes: 1_000_000 },
  ...parts,
});
const speeds = (...values: number[]): HistoryEntry[] => values.map((speedup) => entry({ speedup }));
const usual = speeds(1.5, 1.52, 1.48, 1.51, 1.49, 1.5);

describe("the file of runs", () => {
  it("gets a line for each, and is read back", () => {
    const path = join(temporaryFolder(), "h.jsonl");
    expect(readHistory(path)).toEqual([]);
    appendHistory(path, entry());
    appendHistory(path, entry({ speedup: null }));
    expect(readHistory(path)).toEqual([entry(), entry({ speedup: null })]);
  });

  it("survives a line that was cut short, and keeps fields that it does not know", () => {
    const path = join(temporaryFolder(), "h.jsonl");
    appendHistory(path, { ...entry(), note: "mine" });
    appendFileSync(path, `{"schemaVersion": 1, "at"`);
    expect(readHistory(path)).toEqual([{ ...entry(), note: "mine" }]);
    appendHistory(path, entry());
    expect(readHistory(path)).toEqual([{ ...entry(), note: "mine" }, entry()]);
  });

  it("takes a last entry that an editor left without its line break", () => {
    const path = join(temporaryFolder({ "h.jsonl": JSON.stringify(entry()) }), "h.jsonl");
    expect(readHistory(path)).toEqual([entry()]);
    appendHistory(path, entry({ bytes: 7 }));
    expect(readHistory(path)).toEqual([entry(), entry({ bytes: 7 })]);
  });

  it("is read behind the mark that some editors put first", () => {
    const path = join(temporaryFolder({ "h.jsonl": `\ufeff${JSON.stringify(entry())}\r\n` }), "h.jsonl");
    expect(readHistory(path)).toEqual([entry()]);
  });

  it.each(["notes of mine", '{"name": "x"}'])("is refused where it is somebody's own: %s", async (text) => {
    const path = join(temporaryFolder({ "h.jsonl": text }), "h.jsonl");
    expect((await faultOf(() => readHistory(path))).code).toBe("HISTORY_INVALID");
  });

  it.skipIf(process.platform === "win32")("is no device, which may be read without end", async () => {
    expect((await faultOf(() => readHistory("/dev/zero"))).code).toBe("HISTORY_INVALID");
  });

  it.each([
    ["is no JSON", "{\n", "line 1"],
    ["misses a field", `${JSON.stringify({ ...entry(), bytes: undefined })}\n`, "line 1"],
    [
      "is of another version",
      `${JSON.stringify(entry())}\n${JSON.stringify({ ...entry(), schemaVersion: 2 })}\n`,
      "line 2",
    ],
  ])("is refused when a line %s", async (_, text, where) => {
    const path = join(temporaryFolder({ "h.jsonl": text }), "h.jsonl");
    const fault = await faultOf(() => readHistory(path));
    expect(fault).toMatchObject({ code: "HISTORY_INVALID", kind: "input" });
    expect(fault.message).toContain(where);
  });

  it("says when it cannot be written", async () => {
    const path = join(temporaryFolder(), "no", "h.jsonl");
    expect((await faultOf(() => appendHistory(path, entry()))).code).toBe("OUTPUT_FAILED");
  });
});

describe("a change", () => {
  it("is what is far from the runs before, by how much they differ themselves", () => {
    const [change] = changesIn(usual, entry({ speedup: 1.2 }));
    expect(change).toMatchObject({ what: "speedup", median: 1.5, now: 1.2 });
    expect(change!.text).toBe("speedup is 1.20x, and was 1.50x in the 6 runs before");
    const noisy = speeds(1.1, 1.9, 1.5, 1.3, 1.7, 1.5);
    expect(changesIn(noisy, entry({ speedup: 1.2 }))).toEqual([]);
  });

  it("is told of better values too, of accuracy and of size", () => {
    const changes = changesIn(usual, entry({ accuracy: 0.99, bytes: 1_200_000, speedup: 1.5 }));
    expect(changes.map(({ what }) => what)).toEqual(["accuracy", "bytes"]);
    expect(changes[1]!.text).toBe("size is 1.200 MB, and was 1.000 MB in the 6 runs before");
  });

  it("is none below what is worth a word, however steady the runs before", () => {
    expect(
      changesIn(
        usual.map(() => entry()),
        entry({ speedup: 1.53, accuracy: 0.981, bytes: 1_009_000 }),
      ),
    ).toEqual([]);
  });

  it("takes runs of the same series, and enough of them", () => {
    expect(changesIn(usual.slice(0, 4), entry({ speedup: 1 }))).toEqual([]);
    expect(changesIn(usual, entry({ speedup: 1, series: "top1; cuda" }))).toEqual([]);
    expect(changesIn(usual, entry({ speedup: null }))).toEqual([]);
  });
});

it("an entry holds what stays true on another machine", () => {
  const model = (sha256: string, bytes: number) => ({ path: "m.onnx", sha256, bytes, nodes: 1 });
  const run = {
    baseline: model("aa", 9),
    candidate: model("bb", 5),
    outcome: "met",
    latency: null,
    accuracy: null,
  } as const;
  expect(entryOf(run, "2030-01-01T00:00:00.000Z")).toEqual(
    entry({ series: "no metric; untimed", speedup: null, accuracy: null, bytes: 5 }),
  );
});
