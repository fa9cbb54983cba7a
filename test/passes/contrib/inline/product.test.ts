import { inlineRuntimeProduct } from "../../../../src/passes/contrib/inline/product.js";
import { testRewrite } from "../../../support/test-rewrite.js";

const product = (attributes: string, a = "[N,3,4]", b = "[N,4,5]"): string =>
  `(a: f32${a}, b: f32${b}) -> (y) { y = com.microsoft::FusedMatMul<${attributes}>(a, b) }`;

testRewrite(inlineRuntimeProduct, {
  rewrites: {
    "a factor": product("alpha=0.25"),
    "one side turned": product("transB=1", "[N,3,4]", "[N,5,4]"),
    "both, and a factor": product("transA=1, transB=1, alpha=-2.0", "[N,2,4,3]", "[N,2,5,4]"),
    "weights that are turned": "(a: f32[N,4]) -> (y) { y = com.microsoft::FusedMatMul<transB=1>(a, $w: f32[3,4]) }",
    "a line, and nothing turned": product("alpha=0.5", "[N,3,4]", "[4]"),
    "nothing but the name": product("alpha=1.0"),
  },
  leaves: {
    "a batch that is no leading axis": [
      product("transBatchA=1, transBatchB=1", "[3,N,4]", "[4,N,5]"),
      "its batch is no leading axis",
    ],
    "what is a line": [
      product("transA=1", "[N,4,3]", "[4]"),
      "it turns what is a line, or of a rank that is not known",
    ],
    "half precision": [product("alpha=0.5").replaceAll("f32", "f16"), null],
    MatMul: ["(a: f32[N,3,4], b: f32[N,4,5]) -> (y) { y = MatMul(a, b) }", null],
  },
});
