import { inlineRuntimeEmbedding } from "../../../../src/passes/contrib/inline/embedding.js";
import { testRewrite } from "../../../support/test-rewrite.js";

const TABLES = "$words: f32[9,8], $places: f32[6,8]";
const NORM = "$g: f32[8], $b: f32[8]";
/** Ids are made as ONNX Runtime takes them. */
const embedded = (inputs: string, given = "", read = "y", more = ""): string => `(i: i64[N,5]${given}) -> (${read}) {
  ids = Cast<to=6>(i)
  ${more}
  y, l, e = com.microsoft::EmbedLayerNormalization<epsilon=0.001>(${inputs})
}`;

testRewrite(inlineRuntimeEmbedding, {
  rewrites: {
    "words and places": embedded(`ids, _, ${TABLES}, _, ${NORM}`),
    segments: embedded(`ids, ids, ${TABLES}, $kinds: f32[2,8], ${NORM}`),
    "a mask whose lengths are read, and a sum": embedded(
      `ids, ids, ${TABLES}, $kinds: f32[2,8], ${NORM}, mask`,
      ", m: i64[N,5]",
      "y, l, e",
      "mask = Cast<to=6>(m)",
    ),
    "positions that are given": embedded(
      `ids, _, ${TABLES}, _, ${NORM}, _, p`,
      ", q: i64[N,5]",
      "y",
      "p = Cast<to=6>(q)",
    ),
  },
  leaves: {
    "lengths of no mask": [
      embedded(`ids, _, ${TABLES}, _, ${NORM}`, "", "y, l"),
      "lengths are read that it does not count",
    ],
  },
});
