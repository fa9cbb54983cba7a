import { afterEach, describe, expect, it } from "vitest";
import { JobPool } from "../../../src/runtime/ort/job-pool.js";
import { ResidentSum } from "../../../src/runtime/ort/resident-size.js";

describe("processes of a pool", () => {
  const pool = (): JobPool => {
    opened = new JobPool({ memory: new ResidentSum(), fellBack: () => undefined });
    return opened;
  };
  let opened: JobPool | null = null;
  afterEach(async () => {
    await opened?.close();
    opened = null;
  });

  const ask = (own: JobPool, limit: number) =>
    own.call({ job: "facts", args: {}, model: "the runtime", timeoutMs: 60_000 }, limit);

  it("are as many as jobs allow each other", async () => {
    const own = pool();
    await Promise.all([ask(own, 2), ask(own, 2), ask(own, 2)]);
    expect(own.pids()).toHaveLength(2);
  });

  it("leave a job alone that wants to be, whatever comes after it", async () => {
    const own = pool();
    const order: string[] = [];
    await Promise.all([
      ask(own, 1).then(() => order.push("alone")),
      ask(own, 2).then(() => order.push("first")),
      ask(own, 2).then(() => order.push("second")),
    ]);
    expect(order[0]).toBe("alone");
    expect(own.pids()).toHaveLength(2);
    const alone = pool();
    await Promise.all([ask(alone, 1), ask(alone, 2)]);
    expect(alone.pids()).toHaveLength(1);
    await own.close();
  });

  it("end when they have nothing to do, but for those that are kept", async () => {
    const own = pool();
    await Promise.all([ask(own, 2), ask(own, 2)]);
    const before = own.pids();
    await own.dismissIdle(1);
    expect(before).toEqual(expect.arrayContaining([...own.pids()]));
    expect(own.pids()).toHaveLength(1);
    await own.dismissIdle();
    expect(own.pids()).toHaveLength(0);
  });
});
