import { existsSync, readdirSync, readlinkSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { openJsonl } from "../../src/dataset/jsonl.js";
import type { DType } from "../../src/ir/index.js";
import { contentsOf, faultOf, input, numbersOf, samplesOf } from "../support/dataset.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const open = (text: string, dtype: DType = "f32") =>
  openJsonl(`${temporaryFolder({ "x.jsonl": text })}/x.jsonl`, [input("x", dtype, null)]);

const readOne = async (value: string, dtype: DType) => {
  const [sample] = await samplesOf(await open(`{"x": ${value}}`, dtype));
  return sample!.feeds.get("x")!;
};

const faultOfReading = (text: string, dtype: DType = "f32") => faultOf(async () => samplesOf(await open(text, dtype)));

describe("openJsonl", () => {
  it("makes each line a sample, blank lines aside", async () => {
    const dataset = await open('{"x": [1, 2]}\r\n\n  \n{"x": [3]}');
    const samples = await samplesOf(dataset);
    expect(dataset).toMatchObject({ count: 2, hasLabels: false });
    expect(samples.map(({ id }) => id)).toEqual(["x.jsonl:1", "x.jsonl:4"]);
    expect(samples.map(({ feeds }) => numbersOf(feeds.get("x")))).toEqual([[1, 2], [3]]);
  });

  it("gives the same samples by index as in one pass", async () => {
    // Lines of other lengths than the chunks of the index, and characters of several bytes.
    const lines = Array.from({ length: 3000 }, (_, i) => `{"x": [${i}], "labels": "${"ä".repeat(i % 200)}"}`);
    const dataset = await open(lines.join("\n"));
    const all = await samplesOf(dataset);
    const order = [2999, 0, 1500, 1501, 7];
    expect(all.map(({ feeds }) => numbersOf(feeds.get("x"))[0])).toEqual(lines.map((_, i) => i));
    expect(contentsOf(await samplesOf(dataset, order))).toEqual(contentsOf(order.map((i) => all[i])));
  });

  it.runIf(existsSync("/proc/self/fd"))("leaves no file open", async () => {
    const folder = temporaryFolder({ "x.jsonl": '{"x": 1}\n{"x": 2}' });
    await samplesOf(await openJsonl(`${folder}/x.jsonl`, [input("x", "f32", null)]));
    const open = readdirSync("/proc/self/fd").flatMap((fd) => {
      try {
        return [readlinkSync(`/proc/self/fd/${fd}`)];
      } catch {
        return []; // The one that lists them.
      }
    });
    expect(open.filter((path) => path.startsWith(folder))).toEqual([]);
  });

  it("hands out labels as they are", async () => {
    const dataset = await open('{"x": 1, "labels": {"boxes": [[1, 2]]}}\n{"x": 2}');
    const samples = await samplesOf(dataset);
    expect(dataset.hasLabels).toBe(true);
    expect(samples.map(({ labels }) => labels)).toEqual([{ json: { boxes: [[1, 2]] } }, null]);
  });

  it.each<[DType, string, number[], number[]]>([
    ["f32", "[[1, 2.5], [3, 4]]", [2, 2], [1, 2.5, 3, 4]],
    ["f16", "[0.5]", [1], [0.5]],
    ["bool", "[true, false, 1]", [3], [1, 0, 1]],
    ["i64", '[1, "-2"]', [2], [1, -2]],
    ["u8", "[0, 255]", [2], [0, 255]],
    ["i32", "7", [], [7]],
    ["f32", "[[], []]", [2, 0], []],
  ])("reads %s from %s", async (dtype, json, dims, values) => {
    const tensor = await readOne(json, dtype);
    expect([tensor.dtype, tensor.dims, numbersOf(tensor)]).toEqual([dtype, dims, values]);
  });

  it("reads texts for a string tensor", async () => {
    const tensor = await readOne('["añb", ""]', "string");
    expect(tensor.utf8().map((text) => Buffer.from(text).toString())).toEqual(["añb", ""]);
  });

  it("keeps integers beyond 2^53 that are written as texts", async () => {
    expect((await readOne('["9223372036854775807"]', "i64")).bigints()).toEqual([9223372036854775807n]);
  });

  it.each<[string, DType, string]>([
    ["[[1, 2], [3]]", "f32", '"x"[1] has 1 elements where its first sibling has 2'],
    ["[1, [2]]", "f32", '"x"[1] is an array where its first sibling is a value'],
    ["[[1], 2]", "f32", '"x"[1] is no array although its first sibling is'],
    ["[1, null]", "f32", '"x"[1] is null'],
    ['[1, "2"]', "f32", '"x"[1] is "2", not a number'],
    ["[[0, 1], [2, 0.5]]", "i64", '"x"[1][1] is 0.5, not an integer'],
    ["[256]", "u8", '"x"[0] is 256, outside the range of u8'],
    ["[9007199254740993]", "i64", "beyond what a JSON number holds exactly"],
    ["[2]", "bool", '"x"[0] is 2, not true or false'],
  ])("refuses %s as %s, naming line and place", async (json, dtype, what) => {
    const fault = await faultOfReading(`{"x": []}\n{"x": ${json}}`, dtype);
    expect(fault.code).toBe("DATASET_LINE_INVALID");
    expect(fault.message).toMatch(/^line 2 of /);
    expect(fault.message).toContain(what);
  });

  it.each(["x", "other"])(
    "refuses thousands of nested arrays for %s, which the model knows or does not",
    async (name) => {
      const fault = await faultOfReading(`{"x": 1}\n{"${name}": ${"[".repeat(20_000)}1${"]".repeat(20_000)}}`);
      expect(fault.code).toBe("DATASET_LINE_INVALID");
      expect(fault.message).toMatch(/^line 2 of /);
      expect(fault.message).toContain(`"${name}" has arrays nested 20000 deep`);
    },
  );

  it.each(["[", '{"a":'])("refuses labels that nest thousands of %s", async (open) => {
    const close = open === "[" ? "]" : "}";
    const fault = await faultOfReading(`{"x": 1}\n{"x": 1, "labels": ${open.repeat(20_000)}1${close.repeat(20_000)}}`);
    expect(fault.code).toBe("DATASET_LINE_INVALID");
    expect(fault.message).toMatch(/^line 2 of .*"labels" nests more than 64 deep/);
  });

  it.each(['{"x": [1,}', '{"x": [NaN]}', "[1]", "3"])("names the line that holds %s", async (line) => {
    const fault = await faultOfReading(`{"x": 1}\n\n${line}`);
    expect(fault.code).toBe("DATASET_LINE_INVALID");
    expect(fault.fields["line"]).toBe(3);
  });

  it("refuses an empty file", async () => {
    expect((await faultOf(() => open("\n \n"))).code).toBe("DATASET_EMPTY");
  });

  it("counts without a signature, but does not guess types", async () => {
    const dataset = await openJsonl(`${temporaryFolder({ "x.jsonl": '{"x": 1}' })}/x.jsonl`);
    expect(dataset.count).toBe(1);
    expect((await faultOf(() => samplesOf(dataset))).code).toBe("DATASET_SIGNATURE_NEEDED");
  });
});
