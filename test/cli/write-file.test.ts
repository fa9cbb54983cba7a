import { execFileSync } from "node:child_process";
import { closeSync, lstatSync, openSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { writeWhole } from "../../src/cli/write-file.js";
import { faultOf } from "../support/dataset.js";
import { temporaryFolder } from "../support/temporary-folder.js";

describe("a small file", () => {
  it("replaces what was there, with nothing left beside it", () => {
    const folder = temporaryFolder({ "r.md": "old" });
    writeWhole(join(folder, "r.md"), "new");
    expect([readFileSync(join(folder, "r.md"), "utf8"), readdirSync(folder)]).toEqual(["new", ["r.md"]]);
  });

  it("is refused in words where it cannot be", async () => {
    expect((await faultOf(() => writeWhole(join(temporaryFolder(), "no", "r.md"), "x"))).code).toBe("OUTPUT_FAILED");
  });

  it.runIf(process.platform === "linux")("is added to a file that a link names as open, and the link stays one", () => {
    const folder = temporaryFolder({ "r.md": "first," });
    const fd = openSync(join(folder, "r.md"), "r");
    onTestFinished(() => closeSync(fd));
    symlinkSync(`/proc/self/fd/${fd}`, join(folder, "stdout"));
    writeWhole(join(folder, "stdout"), "second");
    expect(readFileSync(join(folder, "r.md"), "utf8")).toBe("first,second");
    expect(lstatSync(join(folder, "stdout")).isSymbolicLink()).toBe(true);
  });

  it.runIf(process.platform === "linux")("is written into a device, which stays one", async () => {
    const folder = temporaryFolder();
    try {
      execFileSync("mknod", [join(folder, "null"), "c", "1", "3"], { stdio: "ignore" });
      execFileSync("mknod", [join(folder, "full"), "c", "1", "7"], { stdio: "ignore" });
    } catch {
      // Only root may make them, and only where the kernel lets it.
      return;
    }
    writeWhole(join(folder, "null"), "x");
    expect(lstatSync(join(folder, "null")).isCharacterDevice()).toBe(true);
    const fault = await faultOf(() => writeWhole(join(folder, "full"), "x"));
    expect([fault.code, fault.message]).toEqual(["OUTPUT_FAILED", expect.stringContaining("the disk is full")]);
    expect(lstatSync(join(folder, "full")).isCharacterDevice()).toBe(true);
  });
});
