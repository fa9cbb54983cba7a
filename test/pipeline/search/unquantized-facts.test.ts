import { expect, it } from "vitest";
import { unquantizedFacts } from "../../../src/pipeline/search/unquantized-facts.js";
import type { Form } from "../../../src/quantization/form.js";
import { integersVariant, Stage, staticVariant } from "../../support/candidates.js";
import { prepared, safeTarget } from "../../support/quantize-text.js";

const text = `(x: f32[1,4]) -> (y) {
  a = MatMul(x, $k: f32[4,4])
  b = MatMul(a, $l: f32[4,4])
  y = MatMul(x, b)
}`;
const allowed = { target: safeTarget, excluded: new Map([["MatMul:a", "left out"]]) };

it("gives each node the reason of the table where that spoke against all", async () => {
  const region = {
    ...{ region: "MatMul:b", nodes: ["MatMul:b"], form: "float" as const, reason: "does not pay" },
    ...{ sqnrDb: null, beforeMs: 1, afterMs: 2 },
  };
  const facts = unquantizedFacts(await prepared(text), allowed, { tried: [], regions: [region], why: "hopeless" });
  expect(facts).toMatchObject({ why: "hopeless", regions: [region] });
  expect(facts.float.map(({ node, reason }) => [node, reason])).toEqual([
    ["MatMul:a", "left out"],
    ["MatMul:b", "does not pay"],
    ["MatMul:y", "both factors are activations"],
  ]);
});

it("says of each node of candidates that were not taken what was found out, the static ones' reason first", async () => {
  const stage = new Stage();
  const of = (variant: typeof staticVariant, forms: Readonly<Record<string, Form>>, float: readonly string[]) => {
    const candidate = stage.candidate("c", variant, { accuracy: 1, ms: 9 });
    const left = float.map((node) => ({ node, op: "MatMul", reason: `float in ${Object.values(forms)[0]}` }));
    return { ...candidate, built: { ...candidate.built, forms: new Map(Object.entries(forms)), float: left } };
  };
  const tried = [
    of(integersVariant("dynamic"), { "MatMul:b": "dynamic" }, ["MatMul:a"]),
    of(staticVariant, { "MatMul:b": "static" }, ["MatMul:a"]),
  ];
  const free = { ...allowed, excluded: new Map<string, string>() };
  const facts = unquantizedFacts(await prepared(text), free, { tried, regions: [], why: "" });
  expect(facts.why).toBe("integers were tried, and none were taken");
  expect(facts.float.map(({ node, reason }) => [node, reason])).toEqual([
    ["MatMul:y", "both factors are activations"],
    ["MatMul:a", "float in static"],
    ["MatMul:b", expect.stringContaining("tried as integers")],
  ]);
  expect(facts.regions).toBeUndefined();
});
