import { availableParallelism } from "node:os";
import { describe, expect, it } from "vitest";
import { beyondProcessors } from "../../src/cli/beyond-processors.js";
import type { RunContext } from "../../src/pipeline/context.js";
import { RunRecord } from "../../src/pipeline/run-record.js";
import { sampleResult } from "../report/sample-result.js";
import { faultOf } from "../support/dataset.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { command } from "./fake-io.js";

describe("beyondProcessors", () => {
  it("has nothing to say of a thread for each", () => {
    expect(beyondProcessors([1, 2], 2)).toBeNull();
    expect(beyondProcessors([64], 64)).toBeNull();
  });

  it("warns of more, the most that are asked for", () => {
    expect(beyondProcessors([1, 3], 2)).toMatch(/^--threads 3 on 2 processors: /);
    expect(beyondProcessors([16], 1)).toMatch(/^--threads 16 on one processor: /);
  });

  it.each([
    [[2, 33], 2, "--threads 33: this machine has 2 processors", "up to 32"],
    [[17], 1, "--threads 17: this machine has one processor", "up to 16"],
  ])("refuses what is plainly a mistake: %j on %i", async (threads, processors, message, hint) => {
    const fault = await faultOf(() => beyondProcessors(threads, processors));
    expect(fault).toMatchObject({ code: "FLAG_INVALID", kind: "usage", message });
    expect(fault.hint).toContain(hint);
  });
});

describe("of a command", () => {
  const processors = availableParallelism();
  const fuse = (...more: readonly string[]) => ["fuse", "m.onnx", "-o", `${temporaryFolder()}/o.onnx`, ...more];
  /** What a run warns of that has nothing to add. */
  const warnings = async (argv: readonly string[]) => {
    const seen: string[][] = [];
    const run = async (_: unknown, context: RunContext) => {
      const { model, verdict } = sampleResult();
      seen.push([...new RunRecord("fuse", context).result({ model, verdict }).warnings]);
      return sampleResult();
    };
    const { stderr, code } = await command(argv, { actions: { fuse: run, sweep: run } });
    return { seen, stderr, code };
  };

  it("are in the result, and told once", async () => {
    const told = `--threads ${processors + 1} on `;
    const { seen, stderr } = await warnings(fuse("--threads", `${processors + 1}`));
    expect(seen).toEqual([[expect.stringContaining(told)]]);
    expect(stderr.split(told)).toHaveLength(2);
    expect((await warnings(fuse())).seen).toEqual([[]]);
  });

  // More than 1024 are no number of threads anywhere.
  it.runIf(processors < 64)("are refused before the run, of several too", async () => {
    const many = String(16 * processors + 1);
    for (const argv of [fuse("--threads", many), ["bench", "m.onnx", "--threads", `1,${many}`]]) {
      expect(await warnings(argv)).toMatchObject({ seen: [], code: 2, stderr: expect.stringContaining(many) });
    }
  });
});
