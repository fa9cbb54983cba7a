import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Candidate } from "../../../src/pipeline/candidates/candidate.js";
import { Journal } from "../../../src/pipeline/journal.js";
import { BestSoFar } from "../../../src/pipeline/resume/best-so-far.js";
import { modelFile } from "../../support/model-file.js";
import { sha256 } from "../../support/real-run.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const candidate = (text: string, speedup: number | null): Candidate =>
  ({ built: { path: modelFile(temporaryFolder(), text) }, speedup }) as Candidate;
const relu = (speedup: number | null) => candidate("(x: f32[2]) -> (y) { y = Relu(x) }", speedup);
const abs = (speedup: number | null) => candidate("(x: f32[2]) -> (y) { y = Abs(x) }", speedup);

/** `open` begins a run beside the same output. */
function search(files: Readonly<Record<string, string>> = {}) {
  const folder = temporaryFolder(files);
  const open = () => {
    const journal = new Journal(join(folder, "out.onnx.journal.jsonl"), "this", () => {});
    return { journal, best: new BestSoFar(join(folder, "out.onnx"), journal) };
  };
  return { path: join(folder, "out.best.onnx"), open };
}

/** What the file holds: a word of the operator in it. */
const holds = (path: string, op: string): boolean => readFileSync(path, "latin1").includes(op);

describe("BestSoFar", () => {
  it.each([
    ["a/out.onnx", "a/out.best.onnx"],
    ["OUT.ONNX", "OUT.best.onnx"],
    ["model", "model.best.onnx"],
    ["my.onnx.model", "my.onnx.model.best.onnx"],
  ])("of %s lies at %s", (output, path) => {
    expect(new BestSoFar(output, { mark: () => {}, isMarked: () => false }).path).toBe(path);
  });

  it("is the fastest that was offered, whatever the order", () => {
    const { path, open } = search();
    const { best } = open();
    expect([best.exists, existsSync(path)]).toEqual([false, false]);
    best.offer(relu(1.5));
    expect(best.exists).toBe(true);
    best.offer(abs(1.2));
    expect(holds(path, "Relu")).toBe(true);
    best.offer(abs(1.5));
    expect(holds(path, "Relu")).toBe(true);
    best.offer(abs(1.6));
    expect(holds(path, "Abs")).toBe(true);
  });

  it("is not kept where it cannot be written, and says so", () => {
    const { path, open } = search();
    const { journal } = open();
    const told: string[] = [];
    const best = new BestSoFar(join(path, "no-folder", "out.onnx"), journal, "speed", (warning) => told.push(warning));
    best.offer(relu(1.5));
    expect(told).toEqual([expect.stringMatching(/^the best file so far is not kept: cannot write /)]);
    expect(best.exists).toBe(false);
  });

  it("is the smallest where size is what counts", () => {
    const { path, open } = search();
    const { journal } = open();
    const best = new BestSoFar(path.replace(".best", ""), journal, "size");
    const sized = (made: Candidate, bytes: number) => ({ ...made, built: { ...made.built, bytes } });
    best.offer(sized(relu(1), 100));
    best.offer(sized(abs(3), 110));
    expect(holds(path, "Relu")).toBe(true);
    best.offer(sized(abs(0.5), 90));
    expect(holds(path, "Abs")).toBe(true);
  });

  it("keeps the first of those that were not timed", () => {
    const { path, open } = search();
    const { best } = open();
    best.offer(relu(null));
    best.offer(abs(null));
    expect(holds(path, "Relu")).toBe(true);
  });

  it("is not given up for what is slower than one that an earlier run has offered", () => {
    const { path, open } = search();
    open().best.offer(relu(2));
    const { best } = open();
    best.recall(relu(2));
    best.offer(abs(1.5));
    expect(holds(path, "Relu")).toBe(true);
    best.offer(abs(2.5));
    expect(holds(path, "Abs")).toBe(true);
  });

  it("outlives its candidate's file, and goes when the search is over", () => {
    const { path, open } = search();
    const { best } = open();
    const offered = relu(2);
    best.offer(offered);
    const before = sha256(path);
    writeFileSync(offered.built.path, "gone");
    expect(sha256(path)).toBe(before);
    best.remove();
    expect([best.exists, existsSync(path)]).toEqual([false, false]);
  });

  it("is taken over from an interrupted run, and goes with the search that ends it", () => {
    const { path, open } = search();
    open().best.offer(relu(2));
    const { best } = open();
    expect([best.isTaken, best.exists]).toEqual([false, true]);
    best.offer(abs(1.1));
    expect(holds(path, "Abs")).toBe(true);
    open().best.remove();
    expect(existsSync(path)).toBe(false);
  });

  it("leaves alone what lies there and is somebody else's, in resumed runs too", () => {
    const { path, open } = search({ "out.best.onnx": "mine" });
    for (let run = 0; run < 2; run++) {
      const { best, journal } = open();
      journal.record({ variant: { kind: "fused" }, keptFloat: new Map() } as unknown as Candidate, "error", 1);
      expect(best.isTaken).toBe(true);
      best.offer(relu(2));
      expect(best.exists).toBe(false);
      best.remove();
      expect(readFileSync(path, "utf8")).toBe("mine");
    }
  });
});
