import { defineRewrite } from "../../rewrite/index.js";
import { constantScalar, isKnown } from "../../rewrite/match.js";

/** Trilu(x, k)  =>  x where the diagonal leaves no element of a matrix out. */
export const eliminateNoOpTrilu = defineRewrite({
  name: "eliminate-no-op-trilu",
  summary: "Remove Trilu where the whole matrix is inside the triangle",
  numerics: "exact",
  roots: ["Trilu"],
  rewrite(trilu) {
    const [x, given] = trilu.inputs;
    const diagonal = given ? constantScalar(given) : 0;
    const [rows, columns] = [x?.shape?.at(-2), x?.shape?.at(-1)];
    if (!x?.shape || diagonal === null || x.shape.length < 2) return null;
    // The upper triangle has j >= i + k, the lower one j <= i + k.
    const isWhole =
      trilu.int("upper", 1) !== 0 ? isKnown(rows) && diagonal <= 1 - rows : isKnown(columns) && diagonal >= columns - 1;
    return isWhole ? x : null;
  },
});
