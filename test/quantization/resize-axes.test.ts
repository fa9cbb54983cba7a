import { describe, expect, it } from "vitest";
import { parseModel } from "../../src/ir/index.js";
import { resizeAllAxes } from "../../src/quantization/resize-axes.js";
import { relativeError } from "../support/quantize-text.js";
import { runModel, seededFeeds } from "../support/run-model.js";

const LINEAR = 'mode="linear", coordinate_transformation_mode="half_pixel"';
const resize = (attributes: string, inputs: string, shape = "1,3,5,6"): string =>
  `(x: f32[${shape}]) -> (y) { y = Resize<${attributes}>(x, ${inputs}) }`;

describe("resizeAllAxes", () => {
  it.each([
    ["scales", resize(`${LINEAR}, axes=[3,2]`, "_, $s: f32[2] = {3.0,2.0}"), [1, 1, 2, 3]],
    ["scales of planes of any size", resize(`${LINEAR}, axes=[-1]`, "_, $s: f32[1] = {3.0}", "N,3,H,W"), [1, 1, 1, 3]],
    ["sizes", resize(`${LINEAR}, axes=[2,3]`, "_, _, $z: i64[2] = {10,9}"), [1, 1, 2, 1.5]],
  ])("says of all axes what is said of some by %s", async (_, text, scales) => {
    const [model, before] = [parseModel(text, { opset: 18 }), parseModel(text, { opset: 18 })];
    resizeAllAxes(model.graph);
    const [node] = model.graph.nodes();
    expect(node!.attributes.has("axes")).toBe(false);
    expect([...node!.inputs[2]!.constant!.toF32()!]).toEqual(scales);
    const feeds = seededFeeds(before);
    expect(relativeError(await runModel(before, feeds), await runModel(model, feeds))).toBe(0);
  });

  it.each([
    ["sizes of what is not known", resize(`${LINEAR}, axes=[2,3]`, "_, _, $z: i64[2] = {10,9}", "1,3,H,6")],
    ["sizes that no ratio comes to", resize(`${LINEAR}, axes=[2]`, "_, _, $z: i64[1] = {13}", "1,3,11,6")],
    ["a policy", resize(`${LINEAR}, axes=[2,3], keep_aspect_ratio_policy="not_larger"`, "_, _, $z: i64[2] = {10,9}")],
    ["no axes", resize(LINEAR, "_, $s: f32[4] = {1.0,1.0,2.0,2.0}")],
  ])("leaves %s", (_, text) => {
    const model = parseModel(text, { opset: 18 });
    const [node] = model.graph.nodes();
    resizeAllAxes(model.graph);
    expect([...model.graph.nodes()]).toEqual([node]);
  });
});
