import { describe, expect, it } from "vitest";
import { parseModel } from "../../src/ir/index.js";
import { recipes } from "../../src/passes/catalog.js";
import { annotateTypes, magnifierOf, runPasses } from "../../src/rewrite/index.js";
import { describeModel, evaluate } from "../support/ask-runtime.js";

/** The operator that magnifies the rounding of `a`. */
async function foundIn(lines: string): Promise<string | null> {
  const model = parseModel(`(x: f16[2,3], z: f16[2,3]) -> (y) { a = Neg(x) ${lines} }`, { opset: 20 });
  await annotateTypes(model, describeModel);
  return magnifierOf(model.graph.firstNode!.output)?.op ?? null;
}

describe("magnifierOf", () => {
  it.each([
    ["Floor", "y = Floor(a)"],
    ["Less", "y = Less(a, z)"],
    ["Tan", "b = Add(a, z) c = Transpose(b) y = Tan(c)"],
    ["Div", "b = Relu(a) y = Div(z, b)"],
    ["Cast", "y = Cast<to=7>(a)"],
    ["ArgMax", "b = Sigmoid(a) y = ArgMax(b)"],
    ["Floor", "b = Cast<to=1>(a) y = Floor(b)"],
    ["Reciprocal", "b = ReduceMean(a) y = Reciprocal(b)"],
    ["Floor", "b = Expand(a, $s: i64[3] = {50, 2, 3}) c = ReduceMax(b) y = Floor(c)"],
  ])("finds %s", async (op, lines) => expect(await foundIn(lines)).toBe(op));

  it.each([
    ["nobody but the caller reads it", "y = Relu(a)"],
    ["it is divided", "y = Div(a, z)"],
    ["many of them are summed up first", "b = Expand(a, $s: i64[3] = {50, 2, 3}) c = ReduceMean(b) y = Reciprocal(c)"],
    ["a product of matrices comes first", "b = MatMul(a, $w: f16[3,3]) y = Floor(b)"],
    ["it is squared", "y = Pow(a, $two: f16[] = {2})"],
    ["it is made wider", "y = Cast<to=1>(a)"],
  ])("finds nothing where %s", async (_, lines) => expect(await foundIn(lines)).toBeNull());
});

const gelu = (type: string, rest: string): string =>
  `(x: ${type}[2,3]) -> (y) {
    d = Div(x, $r: ${type}[] = {1.4140625})
    e = Erf(d)
    a = Add(e, $one: ${type}[] = {1})
    m = Mul(x, a)
    g = Mul(m, $half: ${type}[] = {0.5})
    ${rest}
  }`;

async function fused(text: string): Promise<{ ops: string[]; reasons: string[] }> {
  const model = parseModel(text, { opset: 20 });
  await annotateTypes(model, describeModel);
  const reports = await runPasses(model, recipes.fuse, { evaluate, check: true });
  return {
    ops: [...model.graph.nodes()].map(({ op }) => op),
    reasons: reports.flatMap(({ skipped }) => skipped.map(({ reason }) => reason)),
  };
}

describe("half precision", () => {
  it("is fused where rounding evens out", async () => {
    expect((await fused(gelu("f16", "y = MatMul(g, $w: f16[3,3])"))).ops).toEqual(["Gelu", "MatMul"]);
  });

  it("stays as it is written where something magnifies its rounding, and the reason is told", async () => {
    const { ops, reasons } = await fused(gelu("f16", "y = Floor(g)"));
    expect(ops).toHaveLength(6);
    expect(reasons).toContain("Floor:y magnifies where its f16 result is rounded");
  });

  it("is the only one to which that applies", async () => {
    expect((await fused(gelu("f32", "y = Floor(g)").replace("1.4140625", "1.41421356"))).ops).toEqual([
      "Gelu",
      "Floor",
    ]);
  });

  it("keeps what reads a value that something else magnifies, since readers decide whether it is rounded", async () => {
    const text = (type: string): string => `(x: ${type}[2,3]) -> (y, z) {
      a = Add(x, $c: ${type}[2,3])
      y = Tan(a)
      r = Reshape(a, $s: i64[2] = {2, 3})
      z = Neg(r)
    }`;
    expect((await fused(text("f16"))).ops).toContain("Reshape");
    expect((await fused(text("f32"))).ops).not.toContain("Reshape");
  });

  it("keeps the second of two roundings to integers", async () => {
    const text = (type: string): string => `(x: ${type}[2,3]) -> (y) {
      a = Abs(x)
      r = Round(a)
      y = Ceil(r)
    }`;
    expect((await fused(text("f16"))).ops).toEqual(["Abs", "Round", "Ceil"]);
    expect((await fused(text("f32"))).ops).toEqual(["Abs", "Round"]);
  });

  it("keeps a constant as it is computed in front of such an operator", async () => {
    const text = (reader: string): string => `(x: f16[]) -> (y) {
      a = Atan($c: f16[] = {6.25})
      m = Mul(x, a)
      y = ${reader}(m)
    }`;
    expect((await fused(text("Tan"))).ops).toEqual(["Atan", "Mul", "Tan"]);
    expect((await fused(text("Relu"))).ops).toEqual(["Mul", "Relu"]);
  });

  it("loses its casts to itself in any case, on which the runtime trips", async () => {
    const text = (cast: string): string => `(x: f16[2,3]) -> (y) {
      a = LogSoftmax(x)
      c = ${cast}
      y = Floor(c)
    }`;
    for (const cast of ["Cast<to=10>(a)", "CastLike(a, x)"])
      expect((await fused(text(cast))).ops).toEqual(["LogSoftmax", "Floor"]);
  });
});
