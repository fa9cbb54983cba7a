import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { scratchPrefix } from "../../src/base/scratch-root.js";
import { removeAbandoned } from "../../src/cli/abandoned-scratch.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** A process that was, and is no more. */
const gone = Number(execFileSync(process.execPath, ["-p", "process.pid"], { encoding: "utf8" }));
const now = Date.now();
const hours = (count: number): number => count * 3_600_000;

/** Where processes are told apart for sure; "" where that cannot be known. */
const [, here = ""] = /^infer-opt-1-(\w{8})-$/.exec(scratchPrefix(1)) ?? [];

/** @param seenBy who sees its process: nobody knows by default */
function scratchOf(pid: number, ageMs: number, seenBy = ""): string {
  const folder = mkdtempSync(join(temporaryFolder({}), scratchPrefix(pid, seenBy)));
  writeFileSync(join(folder, "weights-1.onnx"), "weights");
  utimesSync(folder, new Date(now - ageMs), new Date(now - ageMs));
  return folder;
}

it("removes what a process left that is gone for a day", () => {
  const folder = scratchOf(gone, hours(25));
  removeAbandoned(join(folder, ".."), now);
  expect(existsSync(folder)).toBe(false);
});

it.runIf(here !== "")("removes at once what a process left that would be seen if it ran", () => {
  const folder = scratchOf(gone, 0, here);
  removeAbandoned(join(folder, ".."), now);
  expect(existsSync(folder)).toBe(false);
});

it.each([
  ["of a process that runs", process.pid, hours(25), ""],
  ["of a process that runs and is seen", process.pid, hours(25), here],
  ["that was written in of late: its process may run in another container", gone, hours(23), ""],
  ["that was written in of late in another container", gone, hours(23), "01234567"],
])("leaves a folder %s", (_, pid, age, seenBy) => {
  const folder = scratchOf(pid, age, seenBy);
  removeAbandoned(join(folder, ".."), now);
  expect(existsSync(folder)).toBe(true);
});

it.each(["infer-opt-test-abcdef", "infer-opt-abcdef", `my-infer-opt-${gone}-abcdef`, `infer-opt-${gone}-abcdef.d`])(
  "leaves %s, which is not of its making",
  (name) => {
    const folder = join(temporaryFolder({}), name);
    mkdirSync(folder);
    utimesSync(folder, 0, 0);
    removeAbandoned(join(folder, ".."), now);
    expect(existsSync(folder)).toBe(true);
  },
);

it("minds no folder that is not there", () => {
  expect(() => removeAbandoned("no-such-folder", now)).not.toThrow();
});
