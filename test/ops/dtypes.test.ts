import { describe, expect, it } from "vitest";
import { graphsWithin, parseModel } from "../../src/ir/index.js";
import { dtypesOf } from "../../src/ops/dtypes.js";

/** The dtype of the value that bears a label, wherever it is. */
function dtypeOf(label: string, text: string, opset = 17): string | undefined {
  const model = parseModel(text, { opset });
  const dtypes = dtypesOf(model);
  for (const graph of graphsWithin(model.graph)) {
    const values = [...graph.inputs, ...[...graph.nodes()].flatMap((node) => node.outputs)];
    for (const value of values) if (value?.label === label) return dtypes.get(value);
  }
  throw new Error(`no value ${label}`);
}

describe("dtypesOf", () => {
  it.each([
    ["Add", "f16", "(x: f16[2]) -> (y) { y = Add(x, x) }"],
    ["a comparison", "bool", "(x: f32[2]) -> (y) { y = Less(x, x) }"],
    ["Shape", "i64", "(x: f32[2]) -> (y) { y = Shape(x) }"],
    ["Where", "f64", "(c: bool[2], x: f64[2]) -> (y) { y = Where(c, x, x) }"],
    ["Cast", "i32", "(x: f32[2]) -> (y) { y = Cast<to=6>(x) }"],
    ["CastLike", "u8", "(x: f32[2], l: u8[1]) -> (y) { y = CastLike(x, l) }"],
    ["ConstantOfShape without a value", "f32", "(s: i64[1]) -> (y) { y = ConstantOfShape(s) }"],
    ["ConstantOfShape", "i64", "(s: i64[1]) -> (y) { y = ConstantOfShape<value=i64[1] = {3}>(s) }"],
    ["EyeLike without a type", "i32", "(x: i32[2,2]) -> (y) { y = EyeLike(x) }"],
    ["QuantizeLinear without a zero point", "u8", "(x: f32[2]) -> (y) { y = QuantizeLinear(x, $s: f32[] = {0.5}) }"],
    ["QuantizeLinear", "i8", "(x: f32[2]) -> (y) { y = QuantizeLinear(x, $s: f32[] = {0.5}, $z: i8[] = {0}) }"],
    ["DequantizeLinear", "f32", "(x: i8[2]) -> (y) { y = DequantizeLinear(x, $s: f32[] = {0.5}) }"],
    ["a second output", "i64", "(x: f32[4]) -> (v) { v, y = TopK(x, $k: i64[1] = {2}) }"],
    ["a variadic output", "f16", "(x: f16[4]) -> (v) { v, y = Split(x) }"],
  ])("tells the result of %s", (_, dtype, text) => {
    expect(dtypeOf("y", text)).toBe(dtype);
  });

  it("goes by the opset", () => {
    const text = "(x: i8[2]) -> (y) { y = DequantizeLinear(x, $s: f16[] = {0.5}) }";
    expect(dtypeOf("y", text, 19)).toBe("f16");
  });

  it("learns an operand's type from its neighbours", () => {
    expect(dtypeOf("a", "(x: f32[2]) -> (y) { a = mine::Op(x) y = Add(a, x) }")).toBe("f32");
  });

  it("is silent about what nothing tells", () => {
    expect(dtypeOf("y", "(x: f32[2]) -> (y) { a = mine::Op(x) y = Relu(a) }")).toBeUndefined();
  });

  it("follows values into and out of bodies", () => {
    const loop = `(x: f16[2]) -> (r, s) {
      r, s = Loop<body=(i, c, v) -> (d, n, o) { d = Identity(c) n = mine::Op(v) o = Shape(v) }>($n: i64[] = {3}, $t: bool[] = {1}, x)
    }`;
    expect(["v", "n", "r", "s"].map((label) => dtypeOf(label, loop))).toEqual(["f16", "f16", "f16", "i64"]);
    const choice =
      "(c: bool[], x: f16[2]) -> (y) { y = If<then_branch=() -> (a) { a = Neg(x) }, else_branch=() -> (x) { }>(c) }";
    expect(dtypeOf("y", choice)).toBe("f16");
  });
});
