import { describe, expect, it } from "vitest";
import { newTap, observeTensor } from "../../../src/observe/index.js";
import type { Candidate } from "../../../src/pipeline/candidates/candidate.js";
import type { Workshop } from "../../../src/pipeline/candidates/workshop.js";
import type { RegionFacts } from "../../../src/pipeline/result.js";
import {
  allFloat,
  chosenRanges,
  missedRuntimeSpecific,
  quantizationFacts,
  whyChosen,
} from "../../../src/pipeline/search/quantization-facts.js";
import type { Form } from "../../../src/quantization/form.js";
import { staticRecipe, withForms } from "../../../src/quantization/recipe.js";
import { integersVariant, Stage, staticVariant } from "../../support/candidates.js";
import { prepared, safeTarget } from "../../support/quantize-text.js";

describe("chosenRanges", () => {
  it("tells of the tensors that became integers alone", async () => {
    const model = await prepared(`(x: f32[1,4,6,6]) -> (y) {
      a = Conv(x, $u: f32[4,4,1,1])
      s = Sigmoid(a)
      y = Conv(s, $v: f32[4,4,1,1])
    }`);
    const taps = new Map(
      ["x", "a", "s", "y"].map((name) => {
        const tap = newTap(name);
        observeTensor(tap, Float32Array.of(-1, 2));
        return [name, tap];
      }),
    );
    const [first, , last] = [...model.graph.nodes()];
    const placement = { neighbours: false, depthwise: true };
    const candidate = (forms: ReadonlyMap<string, Form>): Candidate =>
      ({
        variant: { kind: "integers", recipe: staticRecipe({ placement, method: "percentile" }) },
        built: { forms },
        keptFloat: new Map(),
      }) as unknown as Candidate;
    const workshop = { model, taps, options: { target: safeTarget, excluded: new Map() } } as unknown as Workshop;
    const tensors = (forms: ReadonlyMap<string, Form>) => {
      const facts = chosenRanges(candidate(forms), workshop);
      return facts?.tensors.map(({ tensor, chosen }) => [tensor, chosen]);
    };
    expect(tensors(new Map([[first!.name, "static"]]))).toEqual([
      ["x", "percentile"],
      ["a", "percentile"],
    ]);
    expect(tensors(new Map([[last!.name, "weights8"]]))).toBeUndefined();
  });
});

describe("quantizationFacts", () => {
  it("says that regions cost too much accuracy where a search made them dynamic, and not where nothing else was to be had", () => {
    const choice = { placement: { neighbours: true, depthwise: true }, method: "mse" } as const;
    const asked = new Map<string, Form>([
      ["instead", "dynamicRows"],
      ["stored", "weights8"],
    ]);
    const forms = new Map<string, Form>([["products", "static"], ...asked, ["steps", "dynamic"]]);
    const chosen = {
      ...{ variant: { kind: "integers", recipe: withForms(staticRecipe(choice), asked) }, name: "mixed", speedup: 2 },
      built: { path: "", bytes: 1, forms, float: [], notes: [] },
      ...{ keptFloat: new Map([["kept", "too large an error"]]), times: { float: [], own: [] } },
      errors: new Map([["instead", 12]]),
    } as unknown as Candidate;
    const time = { beforeMs: 3, kernelMs: 1, conversionMs: 1 };
    const workshop = {
      options: { target: { name: "x", isMeasurable: false } },
      taps: null,
      isByTable: () => false,
      regionsOf: () => [...forms.keys(), "kept"].map((name) => ({ name, nodes: [name] })),
      regionTimes: (_: unknown, regions: readonly { readonly name: string }[]) =>
        new Map(regions.map(({ name }) => [name, time])),
    } as unknown as Workshop;
    const found = {
      tried: [chosen],
      corrections: [],
      fit: null,
      workshop,
      integers: null,
      notes: ["opset 9 raised to 23"],
    };
    expect(quantizationFacts(chosen, found)!.notes).toEqual(["opset 9 raised to 23"]);
    expect(quantizationFacts(chosen, found)!.regions!.map(({ region, reason }) => [region, reason])).toEqual([
      ["products", ""],
      ["instead", "costs too much accuracy as static integers: alone they leave 12.0 dB SQNR at the output"],
      ["stored", ""],
      ["steps", ""],
      ["kept", "too large an error"],
    ]);
  });
});

describe("allFloat", () => {
  it("tells of each node why it stays float: left out, no gain, or no kernel", async () => {
    const model = await prepared(`(x: f32[1,4]) -> (y) {
      a = MatMul(x, $k: f32[4,4])
      b = MatMul(a, $l: f32[4,4])
      y = MatMul(x, b)
    }`);
    const allowed = { target: safeTarget, mode: "auto", excluded: new Map([["MatMul:a", "left out"]]) } as const;
    const region: RegionFacts = {
      ...{ region: "MatMul:b", nodes: ["MatMul:b"], form: "float" as const, reason: "does not pay" },
      ...{ sqnrDb: null, beforeMs: 1, afterMs: 2 },
    };
    const { float, regions } = allFloat(model, allowed, "nothing pays", [region]).quantization!;
    expect(float.map(({ node, reason }) => [node, reason])).toEqual([
      ["MatMul:a", "left out"],
      ["MatMul:b", "does not pay"],
      ["MatMul:y", "both factors are activations"],
    ]);
    expect(regions).toEqual([region]);
  });
});

describe("whyChosen", () => {
  const stage = new Stage();
  const chosen = { ...stage.candidate("static", staticVariant, { accuracy: 1, ms: 8 }), estimate: 1.45 };
  const other = stage.candidate("dynamic", integersVariant("dynamic"), { accuracy: 1, ms: 7.3, sqnrDb: 20 });

  it("compares estimates with estimates, and says what was timed apart from that", () => {
    expect(whyChosen(chosen, [other])).toBe(
      "estimated here: static 1.45x at 30.0 dB; against dynamic 1.37x at 20.0 dB; timed in turns with the original, 1.25x",
    );
    const { estimate: _, ...untimed } = chosen;
    expect(whyChosen(untimed, [other])).toBe(
      "estimated here: static 1.25x at 30.0 dB; against dynamic 1.37x at 20.0 dB",
    );
  });

  it("compares times where all were timed", () => {
    expect(whyChosen(chosen, [{ ...other, estimate: 2 }])).toBe(
      "timed in turns with the original: static 1.25x at 30.0 dB; against dynamic 1.37x at 20.0 dB",
    );
  });
});

describe("missedRuntimeSpecific", () => {
  it("counts what --runtime-specific would make integers, without what is left out", async () => {
    const lstm = (name: string): string =>
      `${name} = LSTM<hidden_size=16>(x, $w${name}: f32[1,64,12], $r${name}: f32[1,64,16])`;
    const model = await prepared(`(x: f32[5,2,12]) -> (y, z) { ${lstm("y")}\n ${lstm("z")} }`);
    const missed = (mode: "auto" | "dynamic" | "static", ...excluded: readonly string[]) =>
      missedRuntimeSpecific(model, {
        target: safeTarget,
        mode,
        excluded: new Map(excluded.map((name) => [name, "left out with --exclude"])),
      });
    expect(missed("auto")).toEqual({ runtimeSpecificNodes: 2 });
    expect(missed("dynamic", "LSTM:y")).toEqual({ runtimeSpecificNodes: 1 });
    expect(missed("auto", "LSTM:y", "LSTM:z")).toEqual({});
    expect(missed("static")).toEqual({});
  });
});
