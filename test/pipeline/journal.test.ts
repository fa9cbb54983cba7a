import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Tensor } from "../../src/ir/index.js";
import { CalibrationJournal } from "../../src/pipeline/calibrate/calibration-journal.js";
import type { Candidate } from "../../src/pipeline/candidates/candidate.js";
import { digestOf, Journal } from "../../src/pipeline/journal.js";
import { integersVariant } from "../support/candidates.js";
import { faultOf } from "../support/dataset.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const candidate = (...kept: string[]) =>
  ({
    variant: integersVariant("dynamic"),
    keptFloat: new Map(kept.map((node) => [node, "why"])),
  }) as unknown as Candidate;

function journal(identity = "this", path = join(temporaryFolder(), "out.onnx.journal.jsonl")) {
  const warnings: string[] = [];
  const open = (as = identity) => new Journal(path, as, (warning) => void warnings.push(warning));
  return { path, warnings, open };
}

describe("Journal", () => {
  it("recalls what another run recorded, by recipe and float nodes in any order", () => {
    const { open, warnings } = journal();
    open().record(candidate("a", "b"), "accuracy", { facts: 1 });
    const again = open();
    expect(again.recall(candidate("b", "a"), "accuracy")).toEqual({ facts: 1 });
    expect(again.recall(candidate("a"), "accuracy")).toBeUndefined();
    expect(again.recall(candidate("a", "b"), "error")).toBeUndefined();
    expect(warnings).toEqual([]);
  });

  it("keeps what has a name apart from candidates, and parts of a run from one another", () => {
    const { open } = journal();
    const first = open();
    first.record("48,32", "speed", 1);
    first.begin("whole");
    first.record("48,32", "speed", 2);
    first.record(candidate("a"), "speed", 3);
    const again = open();
    expect([again.recall("48,32", "speed"), again.recall(candidate("a"), "speed")]).toEqual([1, undefined]);
    again.begin("whole");
    expect([again.recall("48,32", "speed"), again.recall(candidate("a"), "speed")]).toEqual([2, 3]);
  });

  it("keeps candidates of one model apart from those of another that are made alike", () => {
    const { open } = journal();
    const first = open();
    first.apart("joined").record(candidate("a"), "speed", 1);
    expect(first.recall(candidate("a"), "speed")).toBeUndefined();
    first.record(candidate("a"), "speed", 2);
    const again = open();
    expect(again.recall(candidate("a"), "speed")).toBe(2);
    const parts = ["joined", "as it was"].map((model) => again.apart(model).recall(candidate("a"), "speed"));
    expect(parts).toEqual([1, undefined]);
  });

  it("leaves no file where nothing was measured, nor once the search is over", () => {
    const { open, path } = journal();
    const first = open();
    first.remove();
    expect(existsSync(path)).toBe(false);
    first.record(candidate(), "error", 1);
    expect(existsSync(path)).toBe(true);
    first.remove();
    expect(existsSync(path)).toBe(false);
  });

  it("begins anew, with a warning, where the numbers are of something else", () => {
    const { open, warnings } = journal();
    open().record(candidate(), "error", 1);
    const other = open("another model");
    expect(other.recall(candidate(), "error")).toBeUndefined();
    expect(warnings).toEqual([expect.stringContaining("another model, other data or other options")]);
    other.record(candidate(), "error", 2);
    expect(open("another model").recall(candidate(), "error")).toBe(2);
  });

  it("begins anew where the file is no journal", () => {
    const { open, path, warnings } = journal();
    writeFileSync(path, "notes of mine");
    expect(open().size).toBe(0);
    expect(warnings).toEqual([expect.stringContaining("no journal of this version")]);
  });

  it("drops a line that a killed run did not finish, and goes on behind the last whole one", () => {
    const { open, path, warnings } = journal();
    open().record(candidate("a"), "error", 1);
    appendFileSync(path, '{"candidate":"half');
    const again = open();
    expect(again.size).toBe(1);
    expect(warnings).toEqual([]);
    again.record(candidate("b"), "error", 2);
    expect(open().size).toBe(2);
    expect(readFileSync(path, "utf8")).not.toContain("half");
  });

  it("believes nothing behind a damaged line", () => {
    const { open, path, warnings } = journal();
    open().record(candidate("a"), "error", 1);
    appendFileSync(path, "rubbish\n");
    appendFileSync(path, '{"candidate":"x","measure":"error","value":3}\n');
    expect(open().size).toBe(1);
    expect(warnings).toEqual([expect.stringContaining("damaged at line 3")]);
  });
});

describe("Journal, of two searches beside one output", () => {
  it("believes nothing that another one wrote behind its heading", () => {
    const { open, warnings } = journal();
    const [one, other] = [open("one"), open("another")];
    one.record(candidate("a"), "accuracy", 1);
    other.record(candidate("b"), "accuracy", 2);
    one.record(candidate("c"), "accuracy", 3);
    other.record(candidate("d"), "accuracy", 4);
    const again = open("another");
    expect(again.recall(candidate("b"), "accuracy")).toBe(2);
    expect(again.recall(candidate("c"), "accuracy")).toBeUndefined();
    expect(again.recall(candidate("d"), "accuracy")).toBe(4);
    expect(warnings).toEqual([expect.stringContaining("damaged at line 3")]);
  });

  it("leaves the other one's where it ends first", () => {
    const { open } = journal();
    const [one, other] = [open("one"), open("another")];
    one.record(candidate("a"), "accuracy", 1);
    other.record(candidate("b"), "accuracy", 2);
    one.remove();
    expect(open("another").size).toBe(1);
  });

  it("begins one again that a run of the same search took along", () => {
    const { open, warnings } = journal();
    const [one, same] = [open(), open()];
    one.record(candidate("a"), "accuracy", 1);
    same.record(candidate("a"), "accuracy", 1);
    one.remove();
    same.record(candidate("b"), "accuracy", 2);
    expect(open().recall(candidate("b"), "accuracy")).toBe(2);
    expect(warnings).toEqual([]);
  });
});

describe.runIf(process.platform === "linux")("Journal, where nothing more can be written", () => {
  const limited = (path: string, code: string) =>
    execFileSync(
      "bash",
      ["-c", `ulimit -f 0; trap '' XFSZ; exec "$0" --input-type=module -e "$1"`, process.execPath, code],
      {
        cwd: new URL("../../", import.meta.url),
        env: { ...process.env, JOURNAL: path },
      },
    );
  const opened = `
    import { Journal } from "./dist/pipeline/journal.js";
    const journal = new Journal(process.env.JOURNAL, "this", () => {});`;

  it("keeps what is there", () => {
    const { open, path } = journal();
    open().record("a", "accuracy", 1);
    limited(path, opened);
    expect(open().size).toBe(1);
  });

  it("leaves nothing that is no journal", () => {
    const { open, path } = journal();
    limited(path, `${opened} journal.record("a", "accuracy", 1);`);
    expect(existsSync(path)).toBe(false);
    expect(open().size).toBe(0);
  });
});

describe("Journal, of lines that were changed", () => {
  it.each(["3", "null", '"fast"', "[]", '{"facts":null}'])("takes nothing for %s", (value) => {
    const { open, path, warnings } = journal();
    const first = open();
    first.record(candidate("a"), "speed", 1.5);
    first.record(candidate("b"), "speed", { speedup: 1.5 });
    writeFileSync(path, readFileSync(path, "utf8").replace('{"speedup":1.5}', value));
    const again = open();
    expect(again.recall(candidate("a"), "speed")).toBe(1.5);
    expect(again.recall(candidate("b"), "speed")).toBeUndefined();
    expect(warnings).toEqual([expect.stringContaining("damaged at line 3")]);
  });

  it("believes numbers as JSON has them", () => {
    const { open } = journal();
    const value = { 10: -0, b: Number.NaN, 2: undefined, a: [1e21, 0.1] };
    open().record("x", "plan", value);
    expect(open().recall("x", "plan")).toEqual(JSON.parse(JSON.stringify(value)));
  });
});

describe.skipIf(process.platform === "win32")("Journal, where something else lies in its place", () => {
  it.each([
    ["a folder", (path: string) => mkdirSync(path)],
    ["a pipe", (path: string) => execFileSync("mkfifo", [path])],
  ])("names it: %s", async (_, make) => {
    const { open, path } = journal();
    make(path);
    const fault = await faultOf(open);
    expect(fault).toMatchObject({
      code: "OUTPUT_FAILED",
      kind: "input",
      hint: expect.stringContaining("Move it away"),
    });
    expect(fault.message).toContain(path);
    const calibration = new CalibrationJournal(path, "this");
    make(calibration.path);
    expect((await faultOf(() => calibration.read())).message).toContain(calibration.path);
  });
});

describe("digestOf", () => {
  it("tells values apart, in maps and arrays of numbers too, whatever the order of maps", () => {
    const of = (entries: [string, number][], weights: number[]) =>
      digestOf({ map: new Map(entries), weights: Float32Array.from(weights) });
    const first = of(
      [
        ["a", 1],
        ["b", 2],
      ],
      [1, 2],
    );
    expect(
      of(
        [
          ["b", 2],
          ["a", 1],
        ],
        [1, 2],
      ),
    ).toBe(first);
    expect(
      of(
        [
          ["a", 1],
          ["b", 3],
        ],
        [1, 2],
      ),
    ).not.toBe(first);
    expect(
      of(
        [
          ["a", 1],
          ["b", 2],
        ],
        [1, 3],
      ),
    ).not.toBe(first);
  });

  it("tells tensors apart by type, shape and content", () => {
    const of = (dtype: "i8" | "u8", dims: number[], ...bytes: number[]) =>
      digestOf(new Map([["w", { integers: Tensor.fromBytes(dtype, dims, Uint8Array.from(bytes)) }]]));
    const first = of("i8", [2], 1, 2);
    expect(of("i8", [2], 1, 2)).toBe(first);
    for (const other of [of("i8", [2], 1, 3), of("u8", [2], 1, 2), of("i8", [1, 2], 1, 2)])
      expect(other).not.toBe(first);
  });
});
