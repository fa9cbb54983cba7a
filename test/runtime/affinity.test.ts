import { chmodSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import {
  affinityMeans,
  allowedOfThreads,
  allowedOnceKept,
  allowedProcessors,
  processorsOf,
  processorText,
  tasksetPath,
  threadAffinities,
} from "../../src/runtime/affinity.js";
import { faultOf } from "../support/dataset.js";
import { temporaryFolder } from "../support/temporary-folder.js";

describe("a list of processors", () => {
  it.each([
    ["0", [0]],
    ["1,0", [0, 1]],
    ["0-2,8", [0, 1, 2, 8]],
    ["3, 3-4", [3, 4]],
  ])("is read: %s", (text, wanted) => expect(processorsOf(text)).toEqual(wanted));

  it.each(["", "a", "1-", "-1", "3-1", "1,,2", "0x1", "1.5"])("is refused: %j", (text) =>
    expect(processorsOf(text)).toBeNull(),
  );

  it("is written as Linux does, and as the runtime takes it", () => {
    expect(processorText([0, 1, 2, 8, 10, 11])).toBe("0-2,8,10-11");
    expect(threadAffinities([0, 3], 3)).toBe("1,4;1,4");
  });
});

/** Folders of programs, as the shell looks for them. */
function withPath(folder: string): void {
  vi.stubEnv("PATH", folder);
}

describe.runIf(process.platform === "linux")("on Linux", () => {
  it("the system tells what this process may use, and so do its threads", () => {
    const allowed = allowedProcessors()!;
    expect(allowed.length).toBeGreaterThan(0);
    expect(allowedOfThreads()).toContainEqual(allowed);
  });

  it("threads are waited for until they are on their processors, or for so long", async () => {
    const allowed = allowedProcessors()!;
    expect(await allowedOnceKept({ affinity: allowed, threads: 2 })).toContainEqual(allowed);
    expect(await allowedOnceKept({ threads: 2 })).toEqual([]);
    // Nobody moves there.
    const elsewhere = await allowedOnceKept({ affinity: [9999], threads: 2 });
    expect(elsewhere).toContainEqual(allowed);
  });

  it("taskset is looked for among the programs, and must be one", () => {
    const folder = temporaryFolder({ taskset: "#!/bin/sh\n" });
    chmodSync(join(folder, "taskset"), 0o755);
    expect(tasksetPath({ PATH: `/nowhere:${folder}` })).toBe(join(folder, "taskset"));
    expect(tasksetPath({ PATH: "/nowhere" })).toBeNull();
    expect(tasksetPath({})).toBeNull();
  });

  it("processors that there are not are refused", async () => {
    const fault = await faultOf(() => affinityMeans([9999], 1));
    expect(fault).toMatchObject({ code: "FLAG_INVALID", kind: "usage" });
    expect(fault.message).toContain("9999");
    expect(fault.hint).toContain(processorText(allowedProcessors()!));
  });

  it("without taskset only the runtime's own threads can be kept, and one thread has none", async () => {
    withPath("/nowhere");
    const [first] = allowedProcessors()!;
    expect(affinityMeans([first!], 2)).toBe("threads");
    expect(await faultOf(() => affinityMeans([first!], 1))).toMatchObject({
      ...{ code: "AFFINITY_UNAVAILABLE", kind: "runtime", hint: expect.stringContaining("taskset") },
    });
    vi.unstubAllEnvs();
  });
});
