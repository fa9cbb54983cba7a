import { describe, expect, it } from "vitest";
import { fileNames, modelNames } from "../../src/report/model-names.js";

const named = (...paths: string[]): readonly string[] => modelNames(paths.map((path) => ({ path })));

describe("modelNames", () => {
  it("are names of files where these differ", () => {
    expect(named("a/one.onnx", "b/two.onnx")).toEqual(["one.onnx", "two.onnx"]);
  });

  it("have as many folders as tell files of one name apart", () => {
    expect(named("runs/a/model.onnx", "runs/b/model.onnx", "other.onnx")).toEqual([
      "a/model.onnx",
      "b/model.onnx",
      "other.onnx",
    ]);
    expect(named("a/x/model.onnx", "b/x/model.onnx")).toEqual(["a/x/model.onnx", "b/x/model.onnx"]);
    expect(named("model.onnx", "old/model.onnx")).toEqual(["model.onnx", "old/model.onnx"]);
    expect(named("C:\\a\\model.onnx", "C:\\b\\model.onnx")).toEqual(["a/model.onnx", "b/model.onnx"]);
  });

  it("are whole paths where folders do not tell", () => {
    expect(named("/model.onnx", "./model.onnx")).toEqual(["/model.onnx", "./model.onnx"]);
  });

  it("count a file that is given again", () => {
    expect(named("m/a.onnx", "m/a.onnx", "b.onnx")).toEqual(["a.onnx", "a.onnx (2)", "b.onnx"]);
  });
});

it("fileNames has one for each path, however often it comes", () => {
  const paths = ["m/a.onnx", "n/a.onnx", "m/a.onnx"];
  expect([...fileNames(paths.map((path) => ({ path })))]).toEqual([
    ["m/a.onnx", "m/a.onnx"],
    ["n/a.onnx", "n/a.onnx"],
  ]);
});
