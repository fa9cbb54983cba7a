import { describe, expect, it } from "vitest";
import type { OptimizeConfig, QuantizeConfig } from "../../../src/pipeline/config.js";
import { corrections } from "../../../src/pipeline/correct/corrections.js";
import { ruledOut, unused } from "../../../src/pipeline/search/without-effect.js";
import type { Form } from "../../../src/quantization/form.js";
import { integersVariant, Stage, staticVariant } from "../../support/candidates.js";
import { graphConfig, optimizeConfig } from "../../support/real-run.js";

const asked = (quantize: Partial<QuantizeConfig>, calibration: string | null = "c.npz"): OptimizeConfig => ({
  ...optimizeConfig("m.onnx", "o.onnx", { mode: "auto", method: null, corrections, ...quantize }),
  data: { calibration, eval: null, metric: null },
});

describe("flags without effect", () => {
  it.each<[string, OptimizeConfig]>([
    ["nothing was asked for", asked({})],
    ["any mode may do", asked({ method: "mse", ranges: "r.json", format: "qoperator", bits: 4 })],
    ["static integers are made", asked({ mode: "static", method: "mse", ranges: "r.json", format: "qoperator" })],
    ["weights of 4 bits are made", asked({ mode: "weights", bits: 4, corrections: ["rounding"] })],
    ["all corrections, or none, need no reason", asked({ mode: "dynamic", corrections: [] }, null)],
    ["one of several corrections is enough", asked({ corrections: ["means", "rounding"] })],
  ])("are none where %s", (_, config) => {
    expect(ruledOut(config)).toEqual([]);
  });

  it("are told in one warning for each reason, as they were typed", () => {
    const flags = { method: "mse", ranges: "r.json", format: "qoperator", corrections: ["means"], bits: 4 } as const;
    expect(ruledOut(asked({ mode: "dynamic", ...flags }))).toEqual([
      "--bits 4: without effect, since --mode dynamic makes no weights of 4 bits: --mode weights does",
      "--format qoperator, --method mse, --corrections means, --ranges r.json: without effect, since --mode dynamic makes no static integers",
    ]);
    const specific = { ...asked({ mode: "static" }), graph: graphConfig({ runtimeSpecific: true }) };
    expect(ruledOut(specific)).toEqual([
      "--runtime-specific: without effect, since --mode static makes no dynamic integers",
    ]);
  });

  it.each<[Partial<QuantizeConfig>, string | null, string]>([
    [{ method: "mse" }, null, "--method mse: without effect, since static integers need --calibration or --ranges"],
    [{ corrections: ["rounding"] }, "c.npz", "rounding is of the weights that --bits 4 makes"],
    [{ corrections: ["rounding"], bits: 4 }, null, "which --calibration gives"],
    [{ corrections: ["join"], ranges: "r.json" }, "c.npz", "the ranges in r.json are of the model without that"],
    [{ corrections: ["outputs"], ranges: "r.json" }, null, "which --calibration gives"],
  ])("are those that lack what they need: %j with data %s", (quantize, calibration, why) => {
    expect(ruledOut(asked(quantize, calibration))).toEqual([expect.stringContaining(why)]);
  });

  describe("in the end", () => {
    const stage = new Stage();
    const made = (form: Form) => {
      const variant = form === "static" ? staticVariant : integersVariant(form as "dynamic");
      const candidate = stage.candidate(form, variant, { accuracy: 1, ms: 1 });
      return { ...candidate, built: { ...candidate.built, forms: new Map([["a", form]]) } };
    };
    const [statics, dynamic, weights4] = [made("static"), made("dynamic"), made("weights4")];

    it("are those about static integers where none were tried", () => {
      const config = asked({ method: "mse", ranges: "r.json" });
      expect(unused(config, [dynamic], dynamic)).toEqual([
        "--method mse, --ranges r.json: without effect, since no static integers were made",
      ]);
      expect(unused(config, [dynamic, statics], dynamic)).toEqual([]);
      // Told before.
      expect(unused(asked({ mode: "dynamic", method: "mse" }), [dynamic], dynamic)).toEqual([]);
    });

    it("are --bits 4 where what is written has no such weights", () => {
      const why = "--bits 4: without effect, since the result has no weights of 4 bits";
      const more = ", which are for --mode weights to make";
      expect(unused(asked({ bits: 4 }), [dynamic, weights4], dynamic)).toEqual([why + more]);
      expect(unused(asked({ bits: 4, mode: "weights" }), [dynamic], dynamic)).toEqual([why]);
      expect(unused(asked({ bits: 4 }), [dynamic, weights4], weights4)).toEqual([]);
      expect(unused(asked({ bits: 4 }), [dynamic], null)).toEqual([]);
    });

    it("are corrections where nothing was made that they correct", () => {
      const config = asked({ bits: 4, corrections: ["means", "rounding"] });
      expect(unused(config, [dynamic], null)).toEqual([
        "--corrections means,rounding: without effect, since neither static integers nor weights of 4 bits were made",
      ]);
      expect(unused(config, [dynamic, weights4], null)).toEqual([]);
      expect(unused(config, [statics], null)).toEqual([]);
      // Of two corrections, one is ruled out by the mode.
      expect(unused({ ...config, quantize: { ...config.quantize, mode: "weights" } }, [dynamic], null)).toEqual([
        "--corrections means,rounding: without effect, since no weights of 4 bits were made",
      ]);
    });
  });
});
