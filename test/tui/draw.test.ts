import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { RunResult } from "../../src/pipeline/result.js";
import { openBook } from "../../src/tui/book.js";
import { widthOf } from "../../src/tui/cells.js";
import { draw } from "../../src/tui/draw.js";
import { look } from "../../src/tui/look.js";
import { press, settle } from "../../src/tui/press.js";
import { firstState, type State, screenNames } from "../../src/tui/state.js";
import { refusedResult, sampleResult } from "../report/sample-result.js";
import { hostileResult } from "./hostile-result.js";

const plain = look(false, true);
const sizes = [
  { columns: 80, rows: 24 },
  { columns: 40, rows: 12 },
  { columns: 200, rows: 60 },
];

/** A reader at a terminal of a size, and what is seen after keys. */
function reader(result: RunResult, size = sizes[0]!, style = plain) {
  const book = openBook(result, "runs/result.json", result.commandLine ?? null);
  let state: State = settle(book, firstState(book), size, style);
  const effects: unknown[] = [];
  return {
    effects,
    press(...keys: string[]): void {
      for (const key of keys) {
        const outcome = press(key, book, state, size, style);
        state = outcome.state;
        if (outcome.effect) effects.push(outcome.effect);
      }
    },
    lines: () => draw(book, state, size, style),
    text: () => draw(book, state, size, style).join("\n"),
    state: () => state,
  };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be there
const controls = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

function expectFrame(lines: readonly string[], { columns, rows }: { columns: number; rows: number }): void {
  expect(lines.length).toBeLessThanOrEqual(rows);
  for (const line of lines) {
    expect(widthOf(line)).toBeLessThanOrEqual(columns);
    expect(line).not.toMatch(controls);
  }
}

/** As stored by a version that knew none of the optional fields. */
function bareResult(): RunResult {
  const { schemaVersion, command, tool, model, verdict, resources, environment } = sampleResult();
  return {
    ...{ schemaVersion, command, tool, model, verdict, resources, environment },
    ...{ output: null, passes: [], quantization: null, accuracy: null, latency: null },
    ...{ candidates: [], precision: null, difference: [], warnings: [], stages: [] },
  };
}

const results: Record<string, () => RunResult> = {
  "a usual result": sampleResult,
  "one that was refused": refusedResult,
  "hostile names": hostileResult,
  "nothing but what must be there": bareResult,
};

describe.each(Object.entries(results))("%s", (_, make) => {
  it.each(sizes)("fits $columns x $rows on every screen, in detail and in help", (size) => {
    for (const [i] of screenNames.entries()) {
      const it = reader(make(), size);
      it.press(`${i + 1}`);
      expectFrame(it.lines(), size);
      expect(it.lines()).toHaveLength(size.rows);
      for (const key of ["enter", "pagedown", "escape", "?", "end"]) {
        it.press(key);
        expectFrame(it.lines(), size);
      }
    }
  });

  it("survives any keys at any size", () => {
    const keys = ["up", "down", "pageup", "pagedown", "home", "end", "left", "right", "enter", "escape", "backspace"];
    const letters = [
      "tab",
      "shift-tab",
      "1",
      "2",
      "3",
      "4",
      "5",
      "6",
      "7",
      "s",
      "x",
      "w",
      "v",
      "/",
      "?",
      " ",
      "z",
      "层",
    ];
    const size = fc.record({ columns: fc.integer({ min: 1, max: 220 }), rows: fc.integer({ min: 1, max: 70 }) });
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...keys, ...letters), { maxLength: 25 }), size, (pressed, where) => {
        const it = reader(make(), where);
        for (const key of pressed) {
          it.press(key);
          expectFrame(it.lines(), where);
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe("screens", () => {
  it("explain what is missing instead of being empty", () => {
    const it = reader(bareResult());
    const said = ["2", "3", "4", "5", "6"].map((key) => {
      it.press(key);
      return it.text();
    });
    for (const [i, words] of [
      "single layers",
      "timed no model",
      "no candidates",
      "No ranges",
      "decides nothing",
    ].entries()) {
      expect(said[i]).toContain(words);
      // Of keys that would do nothing, none is offered.
      expect(said[i]!.split("\n").at(-1)).toBe(" ? help  q quit");
    }
  });

  it("name the open tab without colour, and numbers only where there is no room", () => {
    const wide = reader(sampleResult());
    wide.press("3");
    expect(wide.lines()[1]).toContain("[3 Latency]");
    expect(wide.lines()[1]).toContain("7 Environment");
    const narrow = reader(sampleResult(), sizes[1]);
    narrow.press("3");
    expect(narrow.lines()[1]!.trimEnd()).toBe(" 1  2 [3 Latency] 4  5  6  7");
  });

  it("show the verdict first, in the words of the other reports", () => {
    const text = reader(refusedResult()).text();
    expect(text).toMatch(/^ NO GAIN {2}net\.onnx/);
    expect(text).toMatch(/^ miss +gain/m);
  });

  it("use no escape codes without colour, and the same words with it", () => {
    const colored = reader(sampleResult(), sizes[0], look(true, true));
    const bare = reader(sampleResult());
    for (const key of ["1", "2", "3", "4", "5", "6", "7"]) {
      colored.press(key);
      bare.press(key);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: colours
      expect(colored.lines().map((line) => line.replace(/\u001b\[[\d;]*m/g, "").trimEnd())).toEqual(
        bare.lines().map((line) => line.trimEnd()),
      );
    }
  });

  it("are ASCII where the locale is", () => {
    const it = reader(hostileResult(), sizes[0], look(false, false));
    for (const key of ["3", "v", "v", "4", "5"]) {
      it.press(key);
      expect(it.text()).not.toMatch(/[─-▟⠀-⣿]/);
    }
  });
});

describe("layers", () => {
  const layered = (): RunResult => {
    const sample = sampleResult();
    const region = (name: string, beforeMs: number, afterMs: number, sqnrDb: number | null) => ({
      ...{ region: name, nodes: [name, `${name}/act`], form: "static" as const, sqnrDb, beforeMs, afterMs, reason: "" },
    });
    const regions = [region("/a", 1, 0.9, 40), region("/b", 5, 0.5, 12), region("/c", 2, 1.5, null)];
    const commandLine = "infer-opt quantize models/net.onnx -o out/net.int8.onnx --calibration data.npz --exclude /old";
    return sampleResult({
      command: "quantize",
      commandLine,
      quantization: { ...sample.quantization!, forms: [], regions },
    });
  };
  const order = (text: string): string =>
    [...text.matchAll(/^ [> ][x ]? ? ?(\/[abc]) /gm)].map(([, name]) => name).join("");

  it("are sorted by time, saved time and error, unknown ones last", () => {
    const it = reader(layered());
    it.press("2");
    expect(order(it.text())).toBe("/c/a/b");
    it.press("s");
    expect(order(it.text())).toBe("/b/c/a");
    it.press("s");
    expect(order(it.text())).toBe("/b/a/c");
  });

  it("are sorted only by what is known of any of them", () => {
    const { layers: _, ...rest } = sampleResult({ command: "verify", quantization: null });
    const difference = (node: string, sqnrDb: number) => ({
      value: `${node}_out`,
      node,
      op: "Conv",
      sqnrDb,
      maxAbs: 1,
    });
    const layers = { worst: [difference("/a", 30), difference("/b", 12)] } as unknown as NonNullable<
      RunResult["layers"]
    >;
    const it = reader({ ...rest, layers });
    it.press("2");
    expect(it.text()).toContain("2 rows, most error first");
    expect(order(it.text())).toBe("/b/a");
    expect(it.text()).not.toContain("sort:");
    it.press("s");
    expect(order(it.text())).toBe("/b/a");
  });

  it("have the key that writes marked ones in sight", () => {
    const it = reader(layered());
    it.press("2");
    expect(it.lines().at(-1)).not.toContain("w write list");
    it.press("x");
    expect(it.lines().at(-1)).toContain("w write list");
  });

  it("are filtered as one types, and all there again after escape", () => {
    const it = reader(layered());
    it.press("2", "/", "/", "b");
    expect(order(it.text())).toBe("/b");
    expect(it.text()).toContain("filter: /b_");
    it.press("enter");
    expect(it.text()).toContain('with "/b"');
    it.press("escape");
    expect(order(it.text())).toBe("/c/a/b");
  });

  it("take q and digits as letters of a filter", () => {
    const it = reader(layered());
    it.press("2", "/", "q", "3");
    expect(it.effects).toEqual([]);
    expect(it.text()).toContain("filter: q3_");
  });

  it("are marked, and written with the command that uses the list", () => {
    const it = reader(layered());
    it.press("2", "x", "down", "x");
    expect(it.text()).toContain("2 marked");
    it.press("w");
    expect(it.effects).toEqual([
      {
        type: "write",
        path: "runs/result.exclude.json",
        text: `${JSON.stringify({ exclude: ["/old", "/c", "/a"] }, null, 2)}\n`,
      },
    ]);
    const said = it
      .lines()
      .map((line) => line.trim())
      .join(" ");
    expect(said).toContain(
      "infer-opt quantize models/net.onnx -o out/net.int8.onnx --calibration data.npz --config runs/result.exclude.json",
    );
    it.press("z");
    expect(it.text()).toContain("2 marked");
  });

  it("tell what writing needs", () => {
    const it = reader(layered());
    it.press("2", "w");
    expect(it.text()).toContain("nothing is marked");
    it.press("/", "c", "o", "n", "v", "1", "enter", "x");
    expect(it.text()).toContain("/conv1 is in float already");
    expect(it.effects).toEqual([]);
  });
});

it("windows a list around its cursor", () => {
  const many = Array.from({ length: 500 }, (_, i) => ({ node: `/node${i}`, op: "Conv", reason: "depthwise" }));
  const it = reader(
    sampleResult({ quantization: { ...sampleResult().quantization!, forms: [], float: many } }),
    sizes[1],
  );
  it.press("2", "end");
  expect(it.text()).toContain("> /node499");
  it.press("up");
  expect(it.text()).toContain("> /node498");
  expect(it.text()).toContain("/node499");
  it.press("home");
  expect(it.text()).toContain("> /node0");
});

it.each([
  [true, "up is better"],
  [false, "down is better"],
])("says which way of the chart is better: %s", (higherIsBetter, said) => {
  const sample = sampleResult();
  const point = (name: string, speedup: number, accuracy: number) => ({
    ...{ ...sample.candidates[0]!, name, speedup, accuracy },
  });
  const seen = reader(
    sampleResult({
      accuracy: { ...sample.accuracy!, higherIsBetter },
      candidates: [point("one", 1.5, 0.2), point("other", 2, 0.3)],
    }),
  );
  seen.press(String(screenNames.indexOf("candidates") + 1));
  expect(seen.text()).toContain(said);
});

it("starts among the candidates at the one that was taken, and shows the command of the one under the cursor", () => {
  const it = reader(
    sampleResult({ commandLine: "infer-opt optimize models/net.onnx -o out/net.int8.onnx --report r.json" }),
  );
  it.press("4");
  expect(it.text()).toMatch(/> \* {2}int8 static mse/);
  expect(it.text()).toContain("infer-opt optimize models/net.onnx -o out/net.int8.onnx --report r.json");
  it.press("down");
  expect(it.text()).toContain("infer-opt fuse models/net.onnx -o out/net.int8.other.onnx");
});
