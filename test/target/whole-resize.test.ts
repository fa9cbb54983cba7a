import { describe, expect, it } from "vitest";
import { parseModel } from "../../src/ir/index.js";
import { repeatsOf } from "../../src/target/whole-resize.js";

const repeats = (resize: string, shape: string): readonly number[] | null =>
  repeatsOf([...parseModel(`(x: f32[${shape}]) -> (y) { y = ${resize} }`, { opset: 19 }).graph.nodes()][0]!);

describe("repeatsOf", () => {
  it.each([
    ["Resize<axes=[3,2]>(x, _, $s: f32[2] = {3,2})", "N,4,H,W", [2, 3]],
    ["Resize<axes=[-1]>(x, _, $s: f32[1] = {3})", "N,4,H,W", [1, 3]],
    ["Resize<axes=[2,3]>(x, _, _, $z: i64[2] = {10,12})", "N,4,5,6", [2, 2]],
    ["Resize(x, _, $s: f32[3] = {1,1,5})", "N,4,L", [5]],
    ['Resize<coordinate_transformation_mode="half_pixel_symmetric">(x, _, $s: f32[3] = {1,1,3})', "N,4,L", [3]],
  ])("%s of [%s]", (resize, shape, expected) => {
    expect(repeats(resize, shape)).toEqual(expected);
  });

  it.each([
    ["Resize<axes=[2,3]>(x, _, _, $z: i64[2] = {10,12})", "N,4,H,6"],
    ["Resize<axes=[2,3]>(x, _, _, $z: i64[2] = {11,12})", "N,4,5,6"],
    ['Resize<keep_aspect_ratio_policy="not_larger">(x, _, _, $z: i64[4] = {1,4,10,18})', "1,4,5,6"],
    ["Resize(x, _, $s: f32[4] = {1,2,2,2})", "1,4,5,6"],
    ["Resize(x, _, $s: f32[4] = {2,1,2,2})", "1,4,5,6"],
    ["Resize(x, _, $s: f32[4] = {1,1,1,1})", "1,4,5,6"],
    ["Resize(x, _, $s: f32[4] = {1,1,2,2})", "1,C,5,6"],
    ["Resize(x, _, $s: f32[5] = {1,1,2,2,2})", "1,4,5,6,7"],
    ['Resize<mode="linear">(x, _, $s: f32[4] = {1,1,2,2})', "1,4,5,6"],
  ])("is nothing of %s of [%s]", (resize, shape) => {
    expect(repeats(resize, shape)).toBeNull();
  });
});
