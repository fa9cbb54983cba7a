import { expect, it } from "vitest";
import type { QuantizationFacts } from "../../src/pipeline/result.js";
import { formsText, nodesText, storedNodes } from "../../src/report/forms-text.js";
import { sampleResult } from "./sample-result.js";

type Forms = NonNullable<QuantizationFacts["forms"]>;
const { forms: _, ...bare } = sampleResult().quantization!;
const facts = (...forms: readonly Forms[number]["form"][]): QuantizationFacts => ({
  ...bare,
  nodes: forms.length,
  forms: forms.map((form, i) => ({ node: `n${i}`, form })),
});

it("counts as integers what computes with them, and by bits of what weights alone are stored so", () => {
  expect(nodesText(facts("static", "dynamic", "dynamicRows"))).toBe("3 nodes on integers");
  expect(nodesText(facts("static", "weights8", "blocks8"))).toBe("1 node on integers, 2 with 8-bit weights");
  expect(nodesText(facts("weights8", "weights16", "weights16", "weights8"))).toBe(
    "2 nodes with 8-bit weights, 2 with 16-bit weights",
  );
  expect(nodesText(facts("weights4"))).toBe("1 node with 4-bit weights");
  expect(nodesText(facts())).toBe("0 nodes on integers");
  expect(nodesText({ ...facts("static", "static", "weights8"), between: 1 })).toBe(
    "2 nodes on integers (1 of them between products), 1 with 8-bit weights",
  );
  expect(storedNodes(facts("static", "weights16"))).toBe(1);
});

it("takes the mode's word in results that do not tell of each node", () => {
  expect(nodesText({ ...bare, mode: "weights", nodes: 4 })).toBe("4 nodes with integer weights");
  expect(nodesText({ ...bare, mode: "static", nodes: 4 })).toBe("4 nodes on integers");
  expect(storedNodes(bare)).toBeNull();
});

it("names forms where they differ in more than that", () => {
  expect(formsText(facts("dynamic", "dynamic", "weights8", "weights16"))).toBe("");
  expect(formsText(facts("static", "dynamic", "weights8"))).toBe("1 static, 1 dynamic");
  expect(formsText(facts("static", "weights8", "blocks8"))).toBe(
    "1 static, 1 with 8-bit weights, 1 with blocks of 8-bit weights",
  );
});
