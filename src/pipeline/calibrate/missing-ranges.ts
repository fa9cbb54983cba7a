/** Files of ranges that do not go with what is to become integers: emptied by hand, or made with other passes. */
import { InferOptError } from "../../base/errors.js";

const SAME_FLAGS =
  "with the flags of this command that change the graph (--skip, --only, --keep-opset, --target, --shape)";

/**
 * What a file lacks, in words; null where it has all. Throws RANGES_MISSING where it has nothing of use.
 *
 * @param path of the file
 * @param known tensors that it has ranges of
 * @param wanted tensors whose ranges integers may need
 */
export function missingRanges(path: string, known: ReadonlySet<string>, wanted: readonly string[]): string | null {
  const missing = wanted.filter((label) => !known.has(label));
  const [first] = missing;
  if (first === undefined) return null;
  if (missing.length < wanted.length) {
    return `${path} has no ranges of ${missing.length} of ${wanted.length} tensors, the first of them ${first}: nodes that need these stay float. Calibrate again ${SAME_FLAGS}`;
  }
  const holds = known.size === 0 ? "none at all" : `those of ${known.size} others, the first of them ${[...known][0]}`;
  throw new InferOptError(
    "RANGES_MISSING",
    "input",
    `${path} has ranges of none of the ${wanted.length} tensors that integers need (the first is ${first}): it has ${holds}`,
    {
      hint: `Make it again: \`infer-opt calibrate MODEL --calibration DATA -o RANGES\`, ${SAME_FLAGS}.`,
      fields: { path, tensors: known.size, wanted: wanted.length },
    },
  );
}
