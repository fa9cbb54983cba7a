import { inlineElu } from "../../../src/passes/fuse/inline-elu.js";
import { testRewrite } from "../../support/test-rewrite.js";

const elu = (attributes = "", type = "f32", size = "3,400"): string =>
  `(x: ${type}[N,${size}]) -> (y) { y = Elu${attributes}(x) }`;

testRewrite(inlineElu, {
  rewrites: {
    "one as it is": elu(),
    "one of unknown size": elu("", "f32", "3,L"),
    "a slope below one": elu("<alpha=0.5>"),
  },
  leaves: {
    "a slope above one": [elu("<alpha=1.5>"), null],
    "a slope that falls": [elu("<alpha=-0.5>"), null],
    "no slope": [elu("<alpha=0.0>"), null],
    "few elements": [elu("", "f32", "3,40"), null],
    doubles: [elu("", "f64"), null],
    "what runs elsewhere": [
      elu(),
      "NVIDIA TensorRT 11: its kernel for Elu takes one element after the other",
      { target: "tensorrt" },
    ],
  },
});
