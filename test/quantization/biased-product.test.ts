import { describe, expect, it } from "vitest";
import type { Model } from "../../src/ir/index.js";
import type { InputMoments } from "../../src/quantization/inputs/round-in-view.js";
import { insertQdq } from "../../src/quantization/insert-qdq.js";
import { toIntegerOperators } from "../../src/quantization/integer-operators.js";
import { nameAdded } from "../../src/quantization/names.js";
import { planStatic } from "../../src/quantization/plan-static.js";
import { integerTargetNamed } from "../../src/target/integer-kernels.js";
import {
  errorOf,
  opsOf,
  optimizedByRuntime,
  prepared,
  quantizeText,
  relativeError,
  safeTarget,
} from "../support/quantize-text.js";
import { runModel } from "../support/run-model.js";

/** Two products of rows of 8, with something between them and something behind. */
const rows = (shape: string, between = "g = Tanh(a)", behind = "y = Abs(b)", bias = "c: f32[12]"): string =>
  `(x: f32[${shape}]) -> (y) {
    p = MatMul(x, $w: f32[8,12])
    a = Add(p, $${bias})
    ${between}
    q = MatMul(g, $v: f32[12,8])
    b = Add($d: f32[8], q)
    ${behind}
  }`;
const known = "1,5,8";

const opsRun = async (model: Model) => [...(await optimizedByRuntime(model)).graph.nodes()].map(({ op }) => op);
const productsOf = ({ graph }: Model) =>
  [...graph.nodes()].filter(({ op }) => op === "Gemm" || op === "MatMul").map(({ op }) => op);

describe("biasedProducts", () => {
  it.each([
    ["rows of a batch", rows(known)],
    ["several axes of rows", rows("2,3,4,8")],
    ["what reads them as rows again", rows(known, "g = Identity(a)")],
    ["what reads them as rows again, behind a Relu", rows(known, "g = Relu(a)")],
    ["a Relu at the end", rows(known, "g = Relu(a)", "y = Relu(b)")],
    ["results that others read too", rows(known, "g = Relu(a)", "y = Concat<axis=2>(b, a)")],
    ["integers behind a sum", rows(known, "g = Sigmoid(a)")],
    ["a residual sum", rows(known, "s = Sigmoid(a)\n g = Mul(a, s)", "y = Add(b, x)")],
    ["a matrix", rows("5,8")],
    ["a bias of one row", rows(known, "g = Tanh(a)", "y = Abs(b)", "c: f32[1,12]")],
  ])("multiplies and adds %s on integers", async (_, text) => {
    const { float, model, feeds } = await quantizeText(text);
    expect(productsOf(model)).toEqual(["Gemm", "Gemm"]);
    const run = await opsRun(model);
    expect(run.filter((op) => op === "QGemm")).toHaveLength(2);
    expect(run).not.toContain("Gemm");
    expect(relativeError(await runModel(float, feeds), await runModel(model, feeds))).toBeLessThan(0.03);
    expect(await errorOf(float, model, feeds)).toBeLessThan(0.03);
    toIntegerOperators(model);
    expect(relativeError(await runModel(float, feeds), await runModel(model, feeds))).toBeLessThan(0.03);
  });

  it("reads the same rows for all products of a value", async () => {
    const { model } = await quantizeText(`(x: f32[${known}]) -> (y, z) {
      p = MatMul(x, $w: f32[8,12])
      y = Add(p, $c: f32[12])
      q = MatMul(x, $v: f32[8,12])
      z = Add(q, $d: f32[12])
    }`);
    expect(opsOf(model).filter((op) => op === "Reshape")).toHaveLength(3);
  });

  it("adds biases beside which weights are nothing, and does not wrap around", async () => {
    const tiny = new Array(64).fill(0).map((_, i) => (i % 8 === 0 ? (i / 8 - 3.5) / 8 : 1e-6));
    const { float, model, feeds } = await quantizeText(`(x: f32[1,5,8]) -> (y) {
      p = MatMul(x, $w: f32[8,8] = {${tiny.join(", ")}})
      y = Add(p, $c: f32[8] = {0.5, 0.5, 0.5, -0.5, 0.5, 0.5, -0.5, 0.5})
    }`);
    expect(await errorOf(float, model, feeds)).toBeLessThan(0.03);
  });

  it.each(["0,5,8", "2,0,8"])("leaves what has no elements: %s", async (shape) => {
    const { float, model, feeds } = await quantizeText(rows(shape));
    expect(productsOf(model)).toEqual(["MatMul", "MatMul"]);
    const [y, made] = [await runModel(float, feeds), await runModel(model, feeds)].map((results) => results["y"]!);
    expect(made!.dims).toEqual(y!.dims);
  });

  it("minds no other value that is called as its rows are", async () => {
    const { float, model, feeds } = await quantizeText(`(x: f32[${known}]) -> (y, z) {
      x/rows = Mul(x, $n: f32[1] = {90})
      p = MatMul(x, $w: f32[8,12])
      y = Add(p, $c: f32[12])
      q = MatMul(x/rows, $v: f32[8,12])
      z = Add(q, $d: f32[12])
    }`);
    nameAdded(model, new Set());
    expect(await errorOf(float, model, feeds)).toBeLessThan(0.03);
  });

  it("knows the inputs of what it writes where weights are rounded in view of them", async () => {
    const { plan, schemes } = await quantizeText(rows(known));
    expect(plan.nodes).toHaveLength(2);
    const model = await prepared(rows(known));
    const again = planStatic(model, safeTarget, { neighbours: true, depthwise: true });
    const asked: string[] = [];
    const moments = new (class extends Map<string, InputMoments> {
      override get(label: string) {
        asked.push(label);
        return undefined;
      }
    })();
    insertQdq(model, again, schemes, safeTarget, moments);
    expect(asked).toEqual(["x", "g"]);
  });

  it.each([
    ["a Relu", rows(known, "g = Relu(a)"), 1],
    ["nothing", rows(known, "g = Identity(a)"), 1],
    ["an activation that has its own kernel", rows(known), 0],
    ["what others read in float", rows(known, "g = Relu(a)", "y = Concat<axis=2>(b, g)"), 0],
  ])("ends in integers in front of the next product behind %s", async (_, text, count) => {
    const { model } = await quantizeText(text);
    const { graph } = await optimizedByRuntime(model);
    const ends = [...graph.nodes()].filter(({ op, output }) => op === "QGemm" && output.dtype !== "f32");
    expect(ends).toHaveLength(count);
    expect(opsOf(model).filter((op) => op === "Relu")).toHaveLength(text.includes("Relu") ? 1 : 0);
  });

  it("puts no Reshape between two products of the same rows", async () => {
    const { model } = await quantizeText(rows(known, "g = Relu(a)"));
    expect(opsOf(model).filter((op) => op === "Reshape")).toHaveLength(2);
  });

  it("keeps the product's name and the labels of what others read", async () => {
    const { model, plan } = await quantizeText(rows(known, "g = Relu(a)", "y = Concat<axis=2>(b, a)"));
    const nodes = [...model.graph.nodes()];
    const names = plan.nodes.map(({ node }) => node.name);
    for (const { name } of nodes.filter(({ op }) => op === "Gemm")) expect(names).toContain(name);
    const labels = nodes.flatMap(({ outputs }) => outputs.map((value) => value!.label));
    expect(labels).toEqual(expect.arrayContaining(["a", "g", "b"]));
    expect(new Set(labels).size).toBe(labels.length);
  });

  it.each([
    ["a size that is not known", rows("N,5,8"), {}, safeTarget],
    ["a bias of each place", rows(known, "g = Tanh(a)", "y = Abs(b)", "c: f32[5,12]"), {}, safeTarget],
    ["a number for all", rows(known, "g = Tanh(a)", "y = Abs(b)", "c: f32[1]"), {}, safeTarget],
    ["a bias that makes more of it", rows(known, "g = Tanh(a)", "y = Abs(b)", "c: f32[1,1,1,12]"), {}, safeTarget],
    ["a column of biases", rows("1,12,8", "g = Tanh(a)", "y = Abs(b)", "c: f32[12,1]"), {}, safeTarget],
    ["a sum that somebody wants in float", rows(known), { keepFloat: new Map([["Add:a", "asked for"]]) }, safeTarget],
    ["a product that others read", rows(known, "t = Tanh(a)\n g = Mul(t, p)"), {}, safeTarget],
    ["products in float", rows(known), { keepFloat: new Map([["MatMul:p", "asked for"]]) }, safeTarget],
    ["another runtime", rows(known), {}, integerTargetNamed("openvino", safeTarget)],
  ])("leaves %s", async (_, text, options, target) => {
    const { model } = await quantizeText(text, options, target);
    expect(productsOf(model)[0]).toBe("MatMul");
  });
});
