import { describe, expect, it } from "vitest";
import { renderHtml } from "../../src/report/html/page.js";
import { legendWords, scaleOf } from "../../src/report/html/panels/graph-scale.js";
import { losses } from "../../src/report/losses.js";
import { chainOf, graphResult } from "./graph-result.js";
import { sampleResult } from "./sample-result.js";

const layersOf = (errors: Readonly<Record<string, number | null>>) => ({
  ...{ thresholdDb: 20, samples: 8, compared: 4, uncompared: 0, first: null, worst: [] },
  along: Object.entries(errors).map(([value, sqnrDb]) => ({ value, node: "of the baseline", op: "Conv", sqnrDb })),
});

/** a and c are integers, b and d float. */
const chain = {
  ...chainOf(["a", "b", "c", "d"], ["Conv", "Relu", "Conv", "Add"], [1, 2, 3, 4]),
  precisions: ["i8", "f32", "i8", "f32"],
};
const compared = (errors: Readonly<Record<string, number | null>>) =>
  sampleResult({
    command: "verify",
    quantization: null,
    graphs: { before: null, after: chain },
    layers: layersOf(errors),
  });

describe("losses", () => {
  it("are where there is more noise behind a layer than in what it reads", () => {
    const found = losses(compared({ "a:0": 30, "b:0": 30, "c:0": 20, "d:0": 25 }))!;
    expect(found.by).toBe("along");
    expect(found.rows.map(({ node, sqnrDb, readDb }) => [node, sqnrDb, readDb && Math.round(readDb)])).toEqual([
      ["c", 20, 30],
      ["a", 30, null],
    ]);
    expect(found.rows[0]!.share).toBeCloseTo(0.009 / 0.01, 9);
  });

  it("blame what feeds a float layer, and look past values that were not compared", () => {
    const found = losses(compared({ "a:0": 30, "d:0": 10 }))!;
    expect(found.rows.map(({ node, exclude }) => [node, exclude])).toEqual([
      ["d", ["c"]],
      ["a", ["a"]],
    ]);
  });

  it("are those of a search where it measured each layer alone", () => {
    const result = graphResult();
    expect(losses(result)).toMatchObject({
      by: "alone",
      rows: [{ node: "net/c", sqnrDb: 31.25, share: 1, exclude: ["net/c"] }],
    });
  });

  it("are not known where nothing was measured", () => {
    expect(losses(sampleResult())).toBeNull();
    expect(losses(compared({ "a:0": null }))).toBeNull();
  });

  it("end in a command: the one of the run with the flags, or the one that finds them", () => {
    const panel = (page: string): string => /<section id="losses"[\s\S]*?<\/section>/.exec(page)![0];
    const line = "infer-opt quantize net.onnx -o out.onnx --eval e.npz --exclude first";
    const found = panel(renderHtml({ ...graphResult(), command: "quantize" }, line));
    expect(found).toContain(`${line.replace(" --exclude first", "")} --exclude first --exclude net/c</pre>`);
    const unknown = panel(renderHtml(sampleResult(), line));
    expect(unknown).toContain(
      "infer-opt verify models/net.onnx out/net.int8.onnx --layers --eval e.npz --report layers.html",
    );
  });
});

describe("legends of the graph", () => {
  const boxes = (values: readonly number[]) => values.map((savedMs) => ({ savedMs }) as never);
  const measure = (parts: object) => ({ id: "m", title: "m", show: String, unit: "ms", ...parts }) as never;

  it("have round numbers, and each value in the class that its words say", () => {
    const scale = scaleOf(
      measure({ of: ({ savedMs }: { savedMs: number }) => savedMs, isSigned: true }),
      boxes([-0.739, 0.1, 0.42]),
    );
    expect(legendWords(scale)).toEqual([
      ...["over 0.5 ms lost", "0.1 to 0.5 ms lost", "within 0.1 ms", "0.1 to 0.5 ms saved", "over 0.5 ms saved"],
    ]);
    expect([-0.739, -0.2, 0, 0.42, 0.6, null].map(scale.classOf)).toEqual(["n2", "n1", "h0", "p1", "p2", "h-"]);
  });

  it("go from little to much, for decibels from much noise to little", () => {
    const of = ({ savedMs }: { savedMs: number }) => savedMs;
    const much = scaleOf(measure({ of, unit: "bytes" }), boxes([100, 46_500]));
    expect(legendWords(much)).toEqual([
      "under 10 kB",
      "10 kB to 20 kB",
      "20 kB to 30 kB",
      "30 kB to 40 kB",
      "40 kB and more",
    ]);
    const down = scaleOf(measure({ of, unit: "dB", isDown: true }), boxes([12, 55]));
    expect(legendWords(down)).toEqual(["under 20 dB", "20 to 30 dB", "30 to 40 dB", "40 to 50 dB", "50 dB and more"]);
    expect([12, 55].map(down.classOf)).toEqual(["h4", "h0"]);
  });
});
