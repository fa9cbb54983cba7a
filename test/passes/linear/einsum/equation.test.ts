import { describe, expect, it } from "vitest";
import { parseModel } from "../../../../src/ir/index.js";
import { readEquation } from "../../../../src/passes/linear/einsum/equation.js";

const inputs = (shapes: readonly string[]) =>
  parseModel(`(${shapes.map((shape, i) => `x${i}: f32${shape}`).join(", ")}) -> (y) { y = Relu(x0) }`).graph.inputs;

describe("readEquation", () => {
  it.each([
    ["more terms than operands", "ij,jk->ik", ["[2,3]"]],
    ["fewer terms", "ij->ij", ["[2,3]", "[3,4]"]],
    ["two arrows", "ij->ji->ij", ["[2,3]"]],
    ["a letter of the output that none has", "ij->ijk", ["[2,3]"]],
    ["a letter twice in the output", "ij->iij", ["[2,3]"]],
    ["a letter twice in a term", "ii->i", ["[2,2]"]],
    ["... twice", "...i...->...i", ["[2,3]"]],
    ["what is no letter", "i1->i1", ["[2,3]"]],
    ["fewer axes", "ijk->ij", ["[2,3]"]],
    ["more axes", "i", ["[2,3]"]],
    ["axes of ... that the output does not tell", "...i->i", ["[2,3]"]],
    ["an implicit output with upper case", "iJ", ["[2,3]"]],
  ])("refuses %s", (_, text, shapes) => expect(readEquation(text, inputs(shapes))).toBeNull());

  it.each([
    ["[5]", "[2,3,4]"],
    ["[3,5]", "[2,3,4]"],
  ])("counts axes of ... from the back: %s and %s", (a, b) => {
    expect(readEquation("...i,...j", inputs([a, b]))?.output).toEqual(["2", "1", "i", "j"]);
  });
});
