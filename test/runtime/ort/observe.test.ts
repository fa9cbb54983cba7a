import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { storedById } from "../../../src/dataset/index.js";
import { meanOf, meanPairOf, meanSquareOf, newTap, observeTensor } from "../../../src/observe/index.js";
import { isWorthThread } from "../../../src/runtime/ort/child/observe.js";
import {
  constant,
  intAttribute,
  jsonl,
  node,
  port,
  scaling,
  session,
  startRuntime,
  temporaryFolder,
  writeModel,
} from "./workbench.js";

const samples = [1, -2, 3.5, 0, 1e3].map((x) => ({ x: [[x, x / 2]] }));

function statisticsOf(factor: number) {
  const tap = newTap("y");
  for (const { x } of samples)
    observeTensor(
      tap,
      Float32Array.from(x[0]!, (value) => value * factor),
    );
  return new Map([["y", tap]]);
}

describe("observe", () => {
  it("sees what the tapped outputs hold", async () => {
    const taps = await startRuntime().observe({
      model: scaling(2),
      data: { path: jsonl(...samples) },
      taps: ["y"],
      session,
    });
    expect(taps).toEqual(statisticsOf(2));
  });

  it("gives the same when processes share the samples", async () => {
    const taps = await startRuntime({ workers: 3 }).observe({
      model: scaling(2),
      data: { path: jsonl(...samples) },
      taps: ["y"],
      session,
    });
    expect(taps).toEqual(statisticsOf(2));
  });

  it.each([
    [0, 2],
    [2 ** 30, 1],
  ])("holding %i bytes of activations, runs in %i processes", async (heldBytes, processes) => {
    const runtime = startRuntime({ workers: 2 });
    const alive = new Set<number>();
    const onProgress = () => {
      for (const pid of runtime.pids()) alive.add(pid);
    };
    const data = { path: jsonl(...samples), indices: [0, 1, 2, 3] };
    await runtime.observe({ model: scaling(2), data, taps: ["y"], heldBytes, session, onProgress });
    expect(alive.size).toBe(processes);
  });

  it("has a thread of its own for large samples, and none more for many", () => {
    expect([1, 10, 1000].map((count) => isWorthThread(8 * 2 ** 20, count))).toEqual([false, true, true]);
    expect([1, 10, 1000].map((count) => isWorthThread(6 * 2 ** 20, count))).toEqual([false, false, false]);
  });

  it("counts progress over all processes", async () => {
    const seen: string[] = [];
    await startRuntime({ workers: 2 }).observe({
      model: scaling(2),
      data: { path: jsonl(...samples), indices: [0, 2, 4] },
      taps: ["y"],
      session,
      onProgress: (done, total) => seen.push(`${done}/${total}`),
    });
    expect(seen.at(-1)).toBe("3/3");
  });

  it.each([
    ["in the thread of the model", 0],
    ["in a thread of its own", 2 ** 30],
  ])(
    "sees every sample anew, %s: inputs, what only looks at them, and shapes that depend on values",
    async (_, heldBytes) => {
      const model = writeModel({
        node: [
          node("Identity", ["x"], ["same"]),
          node("Flatten", ["x"], ["flat"]),
          node("Greater", ["x", "zero"], ["above"]),
          node("Reshape", ["above", "all"], ["mask"]),
          node("Compress", ["x", "mask"], ["positive"]),
        ],
        initializer: [
          constant("zero", "f32", [], new Float32Array([0])),
          constant("all", "i64", [1], new BigInt64Array([-1n])),
        ],
        input: [port("x", "f32", ["N", 2])],
        output: ["x", "same", "flat", "positive"].map((name) => port(name, "f32", null)),
      });
      const rows = [
        [[1, -2]],
        [[3, 4]],
        [[-5, -6]],
        [
          [7, 8],
          [-9, 10],
        ],
        [[11, 12]],
        [[0.5, 0]],
      ];
      const taps = await startRuntime({ workers: 1 }).observe({
        model,
        data: { path: jsonl(...rows.map((x) => ({ x }))) },
        taps: ["x", "same", "flat", "positive"],
        heldBytes,
        session: { ...session, optimization: "disabled" },
      });
      for (const name of ["x", "same", "flat", "positive"]) {
        const tap = newTap(name);
        for (const row of rows) {
          observeTensor(tap, Float32Array.from(row.flat().filter((value) => name !== "positive" || value > 0)));
        }
        expect(taps.get(name), name).toEqual(tap);
      }
    },
  );

  it.each([
    [1, 0],
    [1, 2 ** 30],
    [2, 0],
  ])("keeps answers and moments of single samples, in %i processes, holding %i bytes", async (workers, heldBytes) => {
    const path = join(temporaryFolder(), "kept");
    const keep = {
      answers: { path: `${path}-answers`, outputs: ["y"] },
      aside: [],
      moments: { path: `${path}-moments`, axes: new Map([["y", 1]]), positions: [1, 3] },
    };
    const data = { path: jsonl(...samples), indices: [4, 0, 1, 2] };
    const taps = await startRuntime({ workers }).observe({
      model: scaling(2),
      data,
      taps: [],
      heldBytes,
      session,
      keep,
    });
    expect(taps.size).toBe(0);
    const answers = [...storedById(keep.answers.path).values()].map((kept) => [...kept.get("y")!().f32()]);
    expect(answers).toEqual([4, 0, 1, 2].map((i) => samples[i]!.x[0]!.map((value) => 2 * value)));
    const moments = [...storedById(keep.moments.path).values()];
    expect(moments.map((kept) => [...kept.get(meanOf("y"))!().f32()])).toEqual([
      [2, 1],
      [7, 3.5],
    ]);
    expect(moments.map((kept) => [...kept.get(meanSquareOf("y"))!().f32()])).toEqual([
      [4, 1],
      [49, 12.25],
    ]);
    expect([...moments[0]!.get(meanPairOf("y"))!().f32()]).toEqual([0, 0]);
  });

  it("leaves samples out of the statistics whose answers alone are wanted", async () => {
    const path = join(temporaryFolder(), "kept");
    const keep = {
      answers: { path: `${path}-answers`, outputs: ["y"] },
      aside: [0, 2],
      moments: { path: `${path}-moments`, axes: new Map(), positions: [] },
    };
    const observed = async (indices: number[], kept: boolean) =>
      startRuntime().observe({
        model: scaling(2),
        data: { path: jsonl(...samples), indices },
        taps: ["y"],
        session,
        ...(kept && { keep }),
      });
    expect(await observed([4, 0, 1, 2], true)).toEqual(await observed([0, 2], false));
    const answers = [...storedById(keep.answers.path).values()].map((kept) => [...kept.get("y")!().f32()]);
    expect(answers).toHaveLength(4);
    expect(new Set(answers.map((answer) => answer.join())).size).toBe(4);
  });

  it("takes the moments of samples whose answers alone are wanted, where they are", async () => {
    const path = join(temporaryFolder(), "kept");
    const keep = {
      answers: { path: `${path}-answers`, outputs: [] },
      aside: [0, 1],
      moments: { path: `${path}-moments`, axes: new Map([["y", 1]]), positions: [1] },
    };
    await startRuntime().observe({ model: scaling(2), data: { path: jsonl(...samples) }, taps: [], session, keep });
    expect([...storedById(keep.moments.path).keys()]).toHaveLength(1);
  });

  it("reads float16", async () => {
    const model = writeModel({
      node: [node("Cast", ["x"], ["y"], [intAttribute("to", 10)])],
      input: [port("x", "f32", [1, 2])],
      output: [port("y", "f16", [1, 2])],
    });
    const taps = await startRuntime().observe({ model, data: { path: jsonl(...samples) }, taps: ["y"], session });
    expect(taps.get("y")).toMatchObject({ min: -2, max: 1000, count: 10 });
  });

  it("sees all of each tensor once where both threads look at them, the model being the faster", async () => {
    const grid = Float32Array.from({ length: 200_000 }, (_, i) => Math.fround(Math.sin(i)));
    const model = writeModel({
      node: [
        node("Mul", ["x", "grid"], ["scaled"]),
        node("Neg", ["scaled"], ["turned"]),
        node("Abs", ["scaled"], ["size"]),
      ],
      initializer: [constant("grid", "f32", [grid.length], grid)],
      input: [port("x", "f32", [1])],
      output: ["scaled", "turned", "size"].map((name) => port(name, "f32", null)),
    });
    const factors = Array.from({ length: 24 }, (_, i) => i - 11.5);
    const taps = await startRuntime({ workers: 1 }).observe({
      model,
      data: { path: jsonl(...factors.map((x) => ({ x: [x] }))) },
      taps: ["scaled", "turned", "size"],
      heldBytes: 2 ** 30,
      session,
    });
    const forms = { scaled: (x: number) => x, turned: (x: number) => -x, size: Math.abs };
    for (const [name, form] of Object.entries(forms)) {
      const tap = newTap(name);
      for (const factor of factors)
        observeTensor(
          tap,
          grid.map((value) => form(Math.fround(value * factor))),
        );
      expect(taps.get(name), name).toEqual(tap);
    }
  });

  it("tells what goes wrong in a thread of its own", async () => {
    const model = writeModel({
      node: [node("Cast", ["x"], ["y"], [intAttribute("to", 7)])],
      input: [port("x", "f32", [1, 2])],
      output: [port("y", "i64", [1, 2])],
    });
    const path = join(temporaryFolder(), "kept");
    // Integers have no moments.
    const moments = { path: `${path}-moments`, axes: new Map([["y", 1]]), positions: [1] };
    const keep = { answers: { path: `${path}-answers`, outputs: ["y"] }, aside: [], moments };
    const job = { model, data: { path: jsonl(...samples) }, taps: [], session, heldBytes: 2 ** 30, keep };
    await expect(startRuntime().observe(job)).rejects.toThrow("length");
  });

  it("refuses a tap that is no float output", async () => {
    const job = { model: scaling(2), data: { path: jsonl(...samples) }, taps: ["z"], session };
    await expect(startRuntime({ workers: 2 }).observe(job)).rejects.toMatchObject({
      code: "TAP_INVALID",
      message: expect.stringContaining('"z"'),
    });
  });

  it("passes on what is wrong with the data", async () => {
    const job = { model: scaling(2), data: { path: jsonl({ y: [[1, 2]] }) }, taps: ["y"], session };
    await expect(startRuntime().observe(job)).rejects.toMatchObject({ kind: "input", hint: expect.any(String) });
  });
});
