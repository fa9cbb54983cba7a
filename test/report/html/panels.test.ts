/** Panels say in their tables what they draw. */
import { describe, expect, it } from "vitest";
import { graphBoxes } from "../../../src/report/graph-boxes.js";
import { renderHtml } from "../../../src/report/html/page.js";
import { layerRows } from "../../../src/report/layer-rows.js";
import { weightGroups } from "../../../src/report/weight-groups.js";
import { chainOf, graphResult } from "../graph-result.js";

const page = renderHtml(graphResult());
const panel = (id: string): string => new RegExp(`<section id="${id}"[\\s\\S]*?</section>`).exec(page)![0];
const cells = (html: string): string[] => [...html.matchAll(/<td[^>]*>([^<]*)<\/td>/g)].map(([, text]) => text!);

describe("panels", () => {
  it("give every chart a sentence", () => {
    const charts = [...page.matchAll(/<(?:svg|div) [^>]*role="(?:img|group)" [^>]*>/g)].map(([tag]) => tag);
    expect(charts.length).toBeGreaterThan(6);
    expect(charts.filter((tag) => !/aria-label="[^"]{20,}"/.test(tag))).toEqual([]);
  });

  it("draw a box for each node, and tell what became of what", () => {
    const graph = panel("graph");
    const drawings = [...graph.matchAll(/<script [^>]*class="drawing">(.*?)<\/script>/g)].map(
      ([, json]) => JSON.parse(json!) as { boxes: unknown[] },
    );
    expect(drawings.map(({ boxes }) => boxes.length)).toEqual([4, 2]);
    expect(graph).toContain("For one, 3 nodes became 1: net/c.");
    expect(cells(graph)).toEqual(expect.arrayContaining(["Conv, BatchNormalization, Relu", "1.00 ms", "31.3 dB"]));
  });

  it("put dots of the depth where their numbers are", () => {
    const dots = [...panel("depth").matchAll(/<circle class="spot taken" cx="([\d.]+)" cy="([\d.]+)"/g)].map(
      ([, x, y]) => [Number(x), Number(y)],
    );
    const ticks = [
      ...panel("depth").matchAll(/<text class="tick" x="[\d.]+" y="([\d.]+)" text-anchor="end">([\d.]+)</g),
    ].map(([, y, value]) => [Number(y) - 4, Number(value)] as const);
    const [low, high] = [ticks[0]!, ticks.at(-1)!];
    const at = (value: number): number => low[0] + ((value - low[1]) / (high[1] - low[1])) * (high[0] - low[0]);
    expect(dots.map(([, y]) => y!.toFixed(0))).toEqual([at(31.5).toFixed(0), at(28.75).toFixed(0)]);
    expect(cells(panel("depth"))).toEqual(expect.arrayContaining(["31.5", "28.8"]));
  });

  it("give each bin and each range of a tensor in a table", () => {
    expect(
      panel("calibration")
        .match(/<path class="bars" d="([^"]*)"/)![1]!
        .match(/z/g),
    ).toHaveLength(4);
    expect(cells(panel("calibration"))).toEqual(
      expect.arrayContaining(["10", "60", "25", "5", "5.0 %", "-1.00 .. 2.00"]),
    );
  });

  it("count answers that add up to the samples", () => {
    expect(cells(panel("answers"))).toEqual(expect.arrayContaining(["3,794", "6", "0", "1,200"]));
    expect(panel("answers")).toContain("6 answers of 5,000 changed: 6 for the worse, 0 for the better.");
  });

  it("head both means of a correction's SQNR by names that tell them apart", () => {
    const result = graphResult();
    const facts = { correction: "means", isKept: true, detail: "weights rounded by means" } as const;
    const corrections = [{ ...facts, beforeDb: 13.4, afterDb: 13.5, beforePooledDb: 14.2, afterPooledDb: 14.1 }];
    const html = renderHtml({ ...result, quantization: { ...result.quantization!, corrections } });
    const decisions = /<section id="decisions"[\s\S]*?<\/section>/.exec(html)![0];
    const found = [...decisions.matchAll(/<table[\s\S]*?<\/table>/g)].map(([table]) => table);
    const table = found.find((each) => each.includes("Corrections"))!;
    const heads = [...table.matchAll(/<th [^>]*>(?:<button[^>]*>)?([^<]*)</g)].map(([, title]) => title);
    expect(Object.fromEntries(heads.map((head, i) => [head, cells(table)[i]]))).toMatchObject({
      ...{ "mean dB before": "13.4", "mean dB after": "13.5" },
      ...{ "pooled dB before": "14.2", "pooled dB after": "14.1" },
    });
  });

  it("have all bytes of weights in some part", () => {
    const graph = graphResult().graphs!.before!;
    const sum = weightGroups(graph, 2).reduce((total, { bytes }) => total + bytes, 0);
    expect(sum).toBe(graph.weightBytes.reduce((total, bytes) => total + bytes, 0));
  });
});

describe("graphBoxes", () => {
  const many = (name: (i: number) => string) =>
    chainOf(
      Array.from({ length: 1000 }, (_, i) => name(i)),
      Array.from({ length: 1000 }, () => "Conv"),
      Array.from({ length: 1000 }, (_, i) => i + 1),
    );

  it.each([
    ["scopes", (i: number) => `/model/layer.${Math.floor(i / 5)}/op${i}`],
    ["no scopes", (i: number) => `conv_${i}`],
    ["one scope", (i: number) => `net/conv_${i}`],
  ])("are few enough with %s, hold every node once, and read only what is before them", (_, name) => {
    const boxes = graphBoxes(many(name), []);
    expect(boxes.length).toBeLessThanOrEqual(300);
    expect(boxes.length).toBeGreaterThan(100);
    expect(boxes.flatMap(({ nodes }) => nodes).sort()).toEqual(Array.from({ length: 1000 }, (_, i) => name(i)).sort());
    for (const [i, { reads }] of boxes.entries()) expect(reads.every((at) => at < i)).toBe(true);
  });

  it("make conversions part of their edges", () => {
    const graph = chainOf(["a", "q", "d", "b"], ["Conv", "QuantizeLinear", "DequantizeLinear", "Conv"], [1, 1, 1, 2]);
    expect(graphBoxes(graph, layerRows(graphResult())).map(({ title, reads }) => [title, reads])).toEqual([
      ["a", []],
      ["b", [0]],
    ]);
  });

  it("stay below a megabyte on a page with a thousand layers", () => {
    const graph = many((i) => `/model/encoder/layer.${Math.floor(i / 4)}/conv${i}/Conv`);
    const regions = graph.nodes.map((region) => ({
      region,
      nodes: [region],
      form: "static" as const,
      sqnrDb: 30,
      beforeMs: 0.1,
      afterMs: 0.05,
      reason: "",
    }));
    const result = graphResult();
    const quantization = { ...result.quantization!, regions, float: [] };
    expect(renderHtml({ ...result, quantization, graphs: { before: graph, after: graph } }).length).toBeLessThan(
      2 ** 20,
    );
  });
});
