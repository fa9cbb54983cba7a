import type { Dim } from "../../ir/index.js";
import type { RewriteContext } from "../../rewrite/index.js";

/**
 * Whether an axis surely has a size above 0. Sizes that are computed may become ones that are inferred, which cannot be done of no
 * elements: a batch has some, and boxes that were found may be none.
 */
export const isNeverEmpty = (size: Dim, axis: number, { model }: Pick<RewriteContext, "model">): boolean =>
  typeof size === "number"
    ? size > 0
    : axis === 0 && size !== null && model.graph.inputs.some(({ shape }) => shape?.[0] === size);
