import { inlineRuntimeAttention } from "../../../../src/passes/contrib/inline/attention.js";
import { testRewrite } from "../../../support/test-rewrite.js";

const attention = (inputs = "$w: f32[6,24], $b: f32[24]", attributes = "num_heads=2", given = "", more = ""): string =>
  `(x: f32[N,5,6]${given}) -> (y) {
    ${more}
    y = com.microsoft::Attention<${attributes}>(x, ${inputs})
  }`;
const MASKED = "$w: f32[6,24], $b: f32[24], mask";
const masked = (sizes: string, attributes = "num_heads=2"): string =>
  attention(MASKED, attributes, `, m: i64[${sizes}]`, "mask = Cast<to=6>(m)");

testRewrite(inlineRuntimeAttention, {
  rewrites: {
    "query, key and value of one width": attention(),
    "a value of another width": attention("$w: f32[6,20], $b: f32[20]", "num_heads=2, qkv_hidden_sizes=[8,8,4]"),
    "a mask of tokens": masked("N,5"),
    "a mask of tokens, with another number": masked("N,5", "num_heads=4, mask_filter_value=-3.0, scale=0.25"),
    "a mask of pairs of tokens": masked("N,5,5"),
    lengths: masked("N", "num_heads=2, mask_filter_value=-2.0"),
    "tokens that see those before": attention("$w: f32[6,24], $b: f32[24]", "num_heads=2, unidirectional=1"),
    "tokens that see those before, of which a mask hides some": masked(
      "N,5",
      "num_heads=2, unidirectional=1, mask_filter_value=-2.0",
    ),
    "the same by pairs": masked("N,5,5", "num_heads=2, unidirectional=1, mask_filter_value=3.0"),
    "numbers that are added": attention("$w: f32[6,24], $b: f32[24], _, _, a", "num_heads=2", ", a: f32[1,2,5,5]"),
  },
  leaves: {
    "a past": [
      "(x: f32[N,5,6], p: f32[2,N,2,3,4]) -> (y, q) {\n y, q = com.microsoft::Attention<num_heads=2>(x, $w: f32[6,24], $b: f32[24], _, p)\n}",
      "it keeps keys and values of the past",
    ],
    "what may say where tokens begin": [
      masked("2"),
      "its mask is neither of one number for each token nor of one for each row",
    ],
    "rotated positions": [
      attention("$w: f32[6,24], $b: f32[24]", "num_heads=2, do_rotary=1"),
      "it rotates by position",
    ],
    "half precision": [attention().replaceAll("f32", "f16"), null],
    "Attention of ai.onnx": ["(x: f32[N,2,5,6]) -> (y) {\n y = Attention(x, x, x)\n}", null, { opset: 23 }],
  },
});
