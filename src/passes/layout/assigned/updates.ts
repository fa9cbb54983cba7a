/** What is written to a box, in the shape of the box. */
import { Tensor, type Value } from "../../../ir/index.js";
import type { RewriteContext } from "../../../rewrite/index.js";
import type { Box } from "./box.js";

const axesInput = ({ constant }: RewriteContext, axes: readonly number[]): Value =>
  constant("axes", Tensor.i64([axes.length], axes));

/** Updates with the axes of the tensor that they go into. */
export function alignedUpdates({ updates, extra, missing }: Box, context: RewriteContext): Value {
  const without = updates.shape?.filter((_, axis) => !extra.includes(axis)) ?? null;
  const squeezed =
    extra.length === 0
      ? updates
      : context.create(
          "Squeeze",
          [updates, axesInput(context, extra)],
          {},
          {
            types: [{ dtype: updates.dtype, shape: without }],
          },
        ).output;
  if (missing.length === 0) return squeezed;
  const rest = without && [...without];
  const shape =
    rest &&
    Array.from({ length: rest.length + missing.length }, (_, axis) => (missing.includes(axis) ? 1 : rest.shift()!));
  const types = [{ dtype: updates.dtype, shape }];
  return context.create("Unsqueeze", [squeezed, axesInput(context, missing)], {}, { types }).output;
}
