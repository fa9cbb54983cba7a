import { describe, expect, it } from "vitest";
import { nodesWithin, parseModel } from "../../src/ir/index.js";
import { fixShapes, shapeChanges, sizedSignature } from "../../src/pipeline/fix-shapes.js";
import { annotateTypes } from "../../src/rewrite/index.js";
import { describeModel } from "../support/ask-runtime.js";
import { faultOf } from "../support/dataset.js";

const given = (shapes: Record<string, (number | string)[]>) => new Map(Object.entries(shapes));

const text = `(ids: i64[batch,sequence], mask: f32[batch,sequence], image: f32[?,3,None,None]) -> (y, z) {
  a = Cast<to=1>(ids)
  y = Add(a, mask)
  z = Relu(image)
}`;

const inputsOf = (shapes: Record<string, (number | string)[]>) => {
  const model = parseModel(text);
  fixShapes(model, given(shapes));
  return model.graph.inputs.map(({ shape }) => shape);
};

describe("fixShapes", () => {
  it("settles an axis wherever it goes by its name", () => {
    expect(inputsOf({ ids: [2, "sequence"] })).toEqual([
      [2, "sequence"],
      [2, "sequence"],
      [null, 3, "None", "None"],
    ]);
  });

  it("names an axis that has no name, and leaves the names that are there", () => {
    expect(inputsOf({ image: ["N", 3, "H", 8] })[2]).toEqual(["N", 3, "None", 8]);
  });

  it("does not take a name that says nothing for one size", () => {
    expect(inputsOf({ image: [1, 3, 4, 8] })[2]).toEqual([1, 3, 4, 8]);
    expect(inputsOf({ image: [1, 3, 4, "W"] })[2]).toEqual([1, 3, 4, "None"]);
  });

  it("makes the declared outputs follow", async () => {
    const model = parseModel(text);
    for (const node of nodesWithin(model.graph)) {
      node.output.type = {
        dtype: "f32",
        shape: node.output.label === "z" ? ["q", 3, "r", "s"] : ["batch", "sequence"],
      };
    }
    fixShapes(model, given({ ids: [2, 7], image: [1, 3, 4, "W"] }));
    await annotateTypes(model, describeModel, { isSized: true });
    expect(model.graph.outputs.map(({ value }) => value.shape)).toEqual([
      [2, 7],
      [1, 3, 4, "None"],
    ]);
  });

  it("is told port by port", () => {
    const model = parseModel(text);
    fixShapes(model, given({ ids: [2, "sequence"] }));
    expect(shapeChanges(parseModel(text), model)).toEqual([
      { port: "input", name: "ids", before: ["batch", "sequence"], after: [2, "sequence"] },
      { port: "input", name: "mask", before: ["batch", "sequence"], after: [2, "sequence"] },
    ]);
    expect(shapeChanges(model, model)).toEqual([]);
  });

  it("leaves a model alone when nothing is given", () => {
    expect(inputsOf({})).toEqual(parseModel(text).graph.inputs.map(({ shape }) => shape));
  });

  const refusal = async (shapes: Record<string, (number | string)[]>) => {
    const fault = await faultOf(async () => fixShapes(parseModel(text), given(shapes)));
    expect(fault.code).toBe("FLAG_INVALID");
    return fault.message;
  };

  it("refuses another size than the one that the model fixes, naming both", async () => {
    expect(await refusal({ image: [1, 4, 8, 8] })).toBe(
      "--shape: image=1,4,8,8 has 4 on axis 1, where the model fixes 3",
    );
  });

  it("refuses to open an axis that the model fixes", async () => {
    expect(await refusal({ image: [1, "C", 8, 8] })).toContain("has C on axis 1, where the model fixes 3");
  });

  it("refuses two sizes for one name, naming both", async () => {
    expect(await refusal({ ids: [2, 7], mask: [3, 7] })).toBe(
      '--shape: mask=3,7 makes batch 3, and the shape of "ids" makes it 2',
    );
    expect(await refusal({ ids: [2, 7], mask: [2, 8] })).toContain("makes sequence 8");
  });

  it("refuses another number of axes", async () => {
    expect(await refusal({ ids: [2] })).toBe("--shape: ids=2 has 1 sizes, and the model takes [batch,sequence]");
  });

  it("refuses an input that the model has not", async () => {
    expect(await refusal({ id: [2, 2] })).toBe('--shape: "id" is no input of the model');
  });
});

describe("sizedSignature", () => {
  it("gives outputs the sizes of their names", () => {
    const port = { dtype: "f32", shape: ["batch", 4] } as const;
    const signature = { inputs: [{ name: "x", ...port }], outputs: [{ name: "y", ...port }] };
    expect(sizedSignature(signature, given({ x: [3, 4] }))).toEqual({
      inputs: [{ name: "x", dtype: "f32", shape: [3, 4] }],
      outputs: [{ name: "y", dtype: "f32", shape: [3, 4] }],
    });
  });
});
