import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { renderJson } from "../../src/report/json.js";

describe("renderJson", () => {
  it("means what JSON.stringify means", () => {
    fc.assert(
      fc.property(fc.object({ withDate: true, withNullPrototype: false }), (value) => {
        expect(JSON.parse(renderJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it("leaves out what is undefined, and writes null for what is not finite", () => {
    expect(renderJson({ a: undefined, b: [undefined, Number.NaN] })).toBe('{\n  "b": [\n    null,\n    null\n  ]\n}\n');
  });

  it("puts lists of numbers and a few words in a line each, and long words in lines of their own", () => {
    const word = "w".repeat(60);
    expect(renderJson({ a: [1, 2], b: [[1], [2, 3]], c: ["x"], d: [word, word] })).toBe(
      `{\n  "a": [1, 2],\n  "b": [[1], [2, 3]],\n  "c": ["x"],\n  "d": [\n    "${word}",\n    "${word}"\n  ]\n}\n`,
    );
  });
});
