import { inlineResize } from "../../../src/passes/layout/inline-resize.js";
import { testRewrite } from "../../support/test-rewrite.js";

const resize = (attributes: string, inputs: string, shape = "N,3,9,10"): string =>
  `(x: f32[${shape}]) -> (y) { y = Resize<${attributes}>(x, ${inputs}) }`;
const scales = (...values: number[]): string => `_, $s: f32[${values.length}] = {${values.map((v) => v.toFixed(4))}}`;
const mode = (coordinates: string, of = "linear"): string =>
  `mode="${of}", coordinate_transformation_mode="${coordinates}"`;

testRewrite(inlineResize, {
  rewrites: {
    "half a pixel": resize(mode("half_pixel"), scales(1, 1, 2, 3)),
    "half a pixel of PyTorch": resize(mode("pytorch_half_pixel"), scales(1, 1, 2, 2)),
    "one place, of PyTorch": resize(mode("pytorch_half_pixel"), scales(1, 1, 0.5, 60), "N,3,2,4"),
    corners: resize(mode("align_corners"), scales(1, 1, 3, 2)),
    "no pixel's half": resize(mode("asymmetric"), scales(1, 1, 2, 2)),
    "a scale that gives no whole size": resize(mode("half_pixel"), scales(1, 1, 1.7, 2.25)),
    "sizes, larger and smaller": resize(mode("half_pixel"), "_, _, $z: i64[4] = {2,3,31,7}", "2,3,9,10"),
    "rows alone": resize(mode("half_pixel"), scales(1, 1, 2, 1)),
    "columns alone": resize(mode("align_corners"), scales(1, 1, 1, 3)),
    cubic: resize(mode("half_pixel", "cubic"), scales(1, 1, 2, 4)),
    "cubic corners": resize(mode("align_corners", "cubic"), scales(1, 1, 2, 3)),
    "cubic, by another coefficient": resize(`${mode("asymmetric", "cubic")}, cubic_coeff_a=-0.5`, scales(1, 1, 2.5, 2)),
    "named axes": [resize(`${mode("half_pixel")}, axes=[3,2]`, scales(2, 3)), { opset: 18 }],
    "sizes of named axes": [resize(`${mode("half_pixel")}, axes=[-1,-2]`, "_, _, $z: i64[2] = {19,23}"), { opset: 18 }],
    "a scale that leaves one size, and moves what lies there": resize(mode("half_pixel"), scales(1, 1, 1.1, 2)),
    "rows alone, of a wide plane": resize(mode("half_pixel"), scales(1, 1, 2, 1), "1,1,3,300"),
    "cubic, of more places": resize(mode("half_pixel", "cubic"), scales(1, 1, 1, 2), "1,1,2,100"),
    "what PyTorch has behind a Conv": `(x: f32[1,16,9,10]) -> (y) {
      c = Conv(x, $w: f32[16,16,1,1])
      y = Resize<${mode("pytorch_half_pixel")}>(c, ${scales(1, 1, 2, 2)})
    }`,
    "channels that are not known": resize(mode("half_pixel"), scales(1, 1, 2, 2), "N,C,9,10"),
  },
  leaves: {
    "the nearest": [resize(mode("half_pixel", "nearest"), scales(1, 1, 2, 2)), null],
    "planes of unknown size": [resize(mode("half_pixel"), scales(1, 1, 2, 2), "N,3,H,10"), null],
    "channels that are resized": [resize(mode("half_pixel"), scales(1, 2, 2, 2)), null],
    "a matrix that is larger than what it saves": [resize(mode("half_pixel"), scales(1, 1, 41, 1), "1,1,40,2"), null],
    "small planes": [resize(mode("half_pixel"), scales(1, 1, 2, 2), "1,3,4,4"), null],
    "planes that become smaller": [resize(mode("half_pixel"), scales(1, 1, 0.75, 0.75), "1,3,20,20"), null],
    "scales that leave all sizes": [resize(mode("half_pixel"), scales(1, 1, 1.01, 1.01)), null],
    "a size that is told otherwise": [
      resize(mode("half_pixel"), "_, $s: f32[4] = {1,1,3.33333325,1}", "1,3,15,13"),
      null,
    ],
    "what the runtime computes with channels in blocks": [
      `(x: f32[1,16,9,10]) -> (y) {
        c = Conv(x, $w: f32[16,16,1,1])
        r = Relu(c)
        y = Resize<${mode("half_pixel")}>(r, ${scales(1, 1, 2, 2)})
      }`,
      null,
    ],
    "what lies between Transposes": [
      `(x: f32[1,9,10,16]) -> (y) {
        t = Transpose<perm=[0,3,1,2]>(x)
        y = Resize<${mode("half_pixel")}>(t, ${scales(1, 1, 2, 2)})
      }`,
      null,
    ],
    "what keeps to a ratio": [
      resize(
        `${mode("half_pixel")}, keep_aspect_ratio_policy="not_larger"`,
        "_, _, $z: i64[4] = {2,3,11,40}",
        "2,3,5,6",
      ),
      null,
      { opset: 18 },
    ],
    doubles: [resize(mode("half_pixel"), scales(1, 1, 2, 2)).replace("x: f32", "x: f64"), null],
    "a line": [resize(mode("half_pixel"), scales(1, 1, 2), "1,3,6"), null],
    "large planes": [resize(mode("half_pixel"), scales(1, 1, 2, 2), "1,1,40,40"), null],
    "what is cut out": [
      resize(mode("tf_crop_and_resize"), "$r: f32[8] = {0,0,0,0,1,1,1,1}, $s: f32[4] = {1,1,2,2}"),
      null,
    ],
    "no resizing": [resize(mode("half_pixel"), scales(1, 1, 1, 1)), null],
    "what leaves out the outside": [
      resize(`${mode("half_pixel", "cubic")}, exclude_outside=1`, scales(1, 1, 2, 2)),
      null,
    ],
    "what smooths": [resize(`${mode("half_pixel")}, antialias=1`, scales(1, 1, 0.5, 0.5)), null, { opset: 18 }],
    "what runs elsewhere": [
      resize(mode("half_pixel"), scales(1, 1, 2, 2)),
      "NVIDIA TensorRT 11: its kernel for Resize interpolates one element after the other",
      { target: "tensorrt" },
    ],
  },
});
