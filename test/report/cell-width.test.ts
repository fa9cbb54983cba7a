import { describe, expect, it } from "vitest";
import { cellsOf, firstCells, lastCells, padEnd, padStart } from "../../src/report/cell-width.js";
import { middle, middles } from "../../src/report/escape.js";
import { plainSheet } from "../../src/report/sheet.js";
import { columns, fitted, wrap } from "../../src/report/table.js";

describe("cells", () => {
  it.each([
    ["abc", 3],
    ["卷积层", 6],
    ["ｆｕｌｌ", 8],
    ["ﾊﾝｶｸ", 4],
    ["한글", 4],
    ["e\u0301t\u00e9", 3],
    ["🚀 up", 5],
    ["𠀀", 2],
    ["é¼Ω", 3],
    ["", 0],
  ])("of %j", (text, cells) => expect(cellsOf(text)).toBe(cells));

  it("are what is cut and padded by", () => {
    expect(firstCells("卷积层", 5)).toBe("卷积");
    expect(lastCells("卷积层", 5)).toBe("积层");
    // The mark belongs to the letter that was cut off.
    expect(lastCells("xe\u0301y", 1)).toBe("y");
    expect([padEnd("层", 4), padStart("层", 4)]).toEqual(["层  ", "  层"]);
    expect(middle("编码器/第一层/卷积/权重", 15)).toBe("编码器.../权重");
    expect(cellsOf(middle("编码器/第一层/卷积/权重".repeat(9), 33))).toBeLessThanOrEqual(33);
  });

  it("keeps what tells names apart that would be cut to the same", () => {
    const names = [12, 13].flatMap((layer) =>
      [0, 2].map((block) => `/features/features.${layer}/block/block.${block}/block/Conv_output_0`),
    );
    const shown = middles([...names, "/classifier/Gemm"], 31);
    expect(shown).toEqual([
      ".../features.12/.../block.0/...",
      ".../features.12/.../block.2/...",
      ".../features.13/.../block.0/...",
      ".../features.13/.../block.2/...",
      "/classifier/Gemm",
    ]);
    expect(middles(["编码器/第一层/卷积/权重", "编码器/第二层/卷积/权重"], 15)).toEqual([
      ".../第一层/...",
      ".../第二层/...",
    ]);
  });

  it("keeps what tells names apart at other depths, without slashes, and once only", () => {
    const deep = ["layer.0/expand_1x1", "layer.10/reduce_1x1", "conv_1x1"].map(
      (part) => `/net/mobilenet_v2/${part}/convolution/Conv`,
    );
    expect(middles([...deep, "/net/classifier/Gemm", deep[0]!], 30)).toEqual([
      ".../layer.0/expand_1x1/...",
      ".../layer.10/reduce_1x1/...",
      ".../conv_1x1/convolution/Conv",
      "/net/classifier/Gemm",
      ".../layer.0/expand_1x1/...",
    ]);
    const flat = [2, 10].map((count) => `int8 static mse +neighbours -${count} regions`);
    expect(middles(flat, 14)).toEqual(["...-2 regions", "...-10 regions"]);
    expect(middles(["one name", "another that is cut"], 11)).toEqual(["one name", "anot... cut"]);
  });

  it("keeps what tells names apart that are cut to the same in groups: which layer, and which of its parts", () => {
    const names = [0, 1].flatMap((layer) =>
      ["attention/self/query", "attention/self/key", "attention/self/value", "intermediate/dense"].map(
        (part) => `/bert/encoder/layer.${layer}/${part}/MatMul`,
      ),
    );
    const shown = middles(names, 34);
    expect(shown.slice(0, 4)).toEqual([
      ".../layer.0/attention/self/query",
      ".../layer.0/attention/self/key/...",
      ".../layer.0/attention/self/value",
      ".../layer.0/intermediate/dense/...",
    ]);
    expect(middles(names, 30)[1]).toBe(".../layer.0/attention/self/key");
    expect(middles(names, 26)[1]).toBe(".../layer.0/.../self/key");
    for (const width of [24, 28, 34, 40]) {
      const all = middles(names, width);
      expect(new Set(all).size).toBe(names.length);
      expect(Math.max(...all.map(cellsOf))).toBeLessThanOrEqual(width);
    }
  });

  it("are found for names of any number of parts", () => {
    const shared = Array.from({ length: 15_000 }, (_, i) => `part${i}`).join("/");
    const names = [1, 2].map((block) => `${shared}/block${block}/${shared}`);
    expect(middles(names, 20)).toEqual([".../block1/...", ".../block2/..."]);
  });

  it("keep columns straight", () => {
    const lines = columns(
      [
        ["卷积", "1"],
        ["conv", "22"],
      ],
      ["left", "right"],
    );
    expect(lines).toEqual(["卷积   1", "conv  22"]);
  });

  it("keep a table within its sheet: closer together first, then shorter names", () => {
    const row = (name: string): string[] => [name, ...Array.from({ length: 5 }, () => "123456789")];
    const align = ["left", ...Array.from({ length: 5 }, () => "right" as const)] as const;
    const widthOf = (name: string) => cellsOf(fitted([row(name)], align, plainSheet)[0]!);
    expect(fitted([row("a name")], align, plainSheet)).toEqual(columns([row("a name")], align));
    expect(fitted([row("n".repeat(27))], align, plainSheet)).toEqual(columns([row("n".repeat(27))], align, 1));
    expect(widthOf("层".repeat(40))).toBeLessThanOrEqual(79);
    expect(fitted([row("层".repeat(40))], align, plainSheet)[0]).toContain("...");
  });

  it("are what lines are broken by; a word that is wider loses nothing", () => {
    expect(wrap("一二三 四五", 8)).toEqual(["一二三", "四五"]);
    const name = "/卷积/".repeat(30);
    const lines = wrap(`node ${name} stays`, 20);
    expect(lines.every((line) => cellsOf(line) <= 20)).toBe(true);
    expect(lines.join("").replaceAll(" ", "")).toBe(`node${name}stays`);
  });
});
