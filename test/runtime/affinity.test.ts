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

describe("threads of a session that move to their processors", () => {
  /** What is told, one after the other; the last again and again. */
  const telling = (...told: number[][][]) => {
    let asked = 0;
    return () => told[Math.min(asked++, told.length - 1)]!;
  };
  const session = { affinity: [2], threads: 3 };
  const [none, one, both] = [
    [[0], [0], [0]],
    [[0], [2], [0]],
    [[0], [2], [2]],
  ];

  it("are waited for, all but the first", async () => {
    expect(await allowedOnceKept(session, telling(none, one, both), 60_000)).toEqual(both);
    expect(await allowedOnceKept({ ...session, threads: 2 }, telling(none, one, both), 60_000)).toEqual(one);
  });

  it("are given up after a while", async () => {
    expect(await allowedOnceKept(session, telling(none, one), 30)).toEqual(one);
  });

  it("are not waited for where nothing tells, or nothing is asked", async () => {
    expect(await allowedOnceKept(session, telling([], both), 60_000)).toEqual([]);
    expect(await allowedOnceKept({ threads: 3 }, telling(both), 60_000)).toEqual([]);
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
