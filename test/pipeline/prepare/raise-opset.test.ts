import { describe, expect, it } from "vitest";
import { type Model, opsetOf, parseModel, Tensor } from "../../../src/ir/index.js";
import {
  applyAskedOpset,
  opsetRaiser,
  raiseOpset,
  settleIrVersion,
} from "../../../src/pipeline/prepare/raise-opset.js";
import { requireTarget } from "../../../src/target/find-target.js";
import { faultOf } from "../../support/dataset.js";
import { graphConfig } from "../../support/real-run.js";

const plain = (opset: number): Model => parseModel("(x: f32[2]) -> (y) { y = Relu(x) }", { opset });
const pooled = (opset: number): Model =>
  parseModel(
    "(x: f32[1,1,6,6], r: f32[1,4], b: i64[1]) -> (y) { y = RoiAlign<output_height=2,output_width=2>(x, r, b) }",
    { opset },
  );

describe("raising the opset", () => {
  it("stops where the runtime would lose a kernel", async () => {
    const model = pooled(17);
    expect(raiseOpset(model, 21)).toBeNull();
    expect(raiseOpset(model, 22)).toContain("RoiAlign node RoiAlign:y cannot go from opset 21 to 22");
    expect(opsetOf(model)).toBe(21);
    expect((await faultOf(async () => applyAskedOpset(model, graphConfig({ opset: 25 })))).code).toBe(
      "OPSET_UNCONVERTIBLE",
    );
    // What the runtime refuses already is no reason to stay.
    expect(raiseOpset(pooled(22), 23)).toBeNull();
  });

  it("stops where the runtime would lose the kernel of one type, that of a value in between, too", () => {
    const text = (type: string): string => `(x: ${type}[2]) -> (y) { a = Add(x, x) s = Selu(a) y = Neg(s) }`;
    expect(raiseOpset(parseModel(text("f64"), { opset: 18 }), 20)).toContain("no kernel for Selu of f64 from opset 19");
    expect(raiseOpset(parseModel(text("f32"), { opset: 18 }), 20)).toBeNull();
  });

  it("stops where the target would lose a kernel", async () => {
    const quantizing = () =>
      parseModel("(x: f32[2]) -> (y) { y = QuantizeLinear(x, $s: f32[] = {0.1}, $z: u8[]) }", { opset: 21 });
    expect(raiseOpset(quantizing(), 23, requireTarget("ort-cpu@1.23"))).toContain(
      "ONNX Runtime 1.23, CPU: it has no kernel for QuantizeLinear from opset 23 on",
    );
    expect(raiseOpset(quantizing(), 23)).toBeNull();
    const asked = graphConfig({ opset: 23, target: "ort-cpu@1.23" });
    expect((await faultOf(async () => applyAskedOpset(quantizing(), asked))).code).toBe("OPSET_UNCONVERTIBLE");
  });

  it("goes to what was asked for and leaves alone what is there", () => {
    const model = plain(13);
    applyAskedOpset(model, graphConfig());
    expect(opsetOf(model)).toBe(13);
    applyAskedOpset(model, graphConfig({ opset: 25 }));
    expect([opsetOf(model), model.irVersion]).toEqual([25, 13]);
    applyAskedOpset(model, graphConfig({ opset: 25 }));
  });

  it("needs an opset that the model states", async () => {
    const model = plain(13);
    model.opsets.delete("");
    expect(opsetRaiser(23)(model, 20)).toBe("the model states no opset of ai.onnx");
    expect((await faultOf(async () => applyAskedOpset(model, graphConfig({ opset: 20 })))).code).toBe(
      "OPSET_UNSUPPORTED",
    );
  });
});

describe("the IR version", () => {
  const settled = (model: Model, irVersion: number, target?: string) => {
    model.irVersion = irVersion;
    const leftOut = settleIrVersion(model, graphConfig(target === undefined ? { opset: opsetOf(model) } : { target }));
    return [model.irVersion, leftOut];
  };

  it("stays where neither opset nor target was said", () => {
    const model = plain(13);
    model.irVersion = 12;
    expect(settleIrVersion(model, graphConfig())).toBeNull();
    expect(model.irVersion).toBe(12);
  });

  it.each([
    [9, 4],
    [12, 7],
    [13, 7],
    [17, 8],
    [20, 9],
    [22, 10],
    [23, 11],
    [24, 12],
    [25, 13],
  ])("of opset %i is %i", (opset, irVersion) => {
    expect(settled(plain(opset), 13)).toEqual([irVersion, null]);
    expect(settled(plain(opset), 3)).toEqual([irVersion, null]);
  });

  it("is what the element types need", () => {
    const model = parseModel("(x: f32[2]) -> (y) { y = Relu(x) }", { opset: 17 });
    model.graph.addConstant("w", Tensor.fromBytes("i4", [2], Uint8Array.of(0)));
    expect(settled(model, 13)).toEqual([10, null]);
    const body = `(c: bool[], x: f32[2]) -> (y) {
      y = If<then_branch=() -> (a) { t = Cast<to=24>(x) a = Cast<to=1>(t) }, else_branch=() -> (b) { b = Neg(x) }>(c)
    }`;
    const nested = parseModel(body, { opset: 17 });
    for (const node of nested.graph.nodes()) {
      for (const inner of node.bodies[0]!.nodes())
        if (inner.int("to", 0) === 24) inner.output.type = { dtype: "f8e8m0", shape: null };
    }
    expect(settled(nested, 13)).toEqual([12, null]);
  });

  it("keeps what it states for functions, which are not read", () => {
    const model = { ...plain(17), extras: { functions: [{}] } };
    expect(settled(model, 11)).toEqual([11, null]);
  });

  it("counts the notes of the exporter, and leaves them out for a target that is older", () => {
    const noted = () => {
      const model = plain(17);
      for (const node of model.graph.nodes()) node.extras = { metadata_props: [{ key: "module", value: "relu" }] };
      return model;
    };
    expect(settled(noted(), 13)).toEqual([10, null]);
    expect(settled(noted(), 13, "ort-cpu")).toEqual([10, null]);
    // Of no use where the opset alone is too new.
    const newer = { ...noted(), opsets: new Map([["", 21]]) };
    expect(settled(newer, 13, "ort-cpu@1.17")).toEqual([10, null]);
    const model = noted();
    expect(settled(model, 13, "ort-cpu@1.17")).toEqual([8, expect.stringContaining("reads IR versions up to 9")]);
    expect([...model.graph.nodes()][0]!.extras).toEqual({ metadata_props: [] });
  });
});
