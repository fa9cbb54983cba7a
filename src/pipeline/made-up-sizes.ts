/** Sizes of made-up inputs where the model leaves them open: what is measured with them may be otherwise with others. */
import { type DatasetRef, openDatasetRef } from "../dataset/index.js";

/** Inputs that are named, and sizes of one that varies from sample to sample. */
const [MOST_INPUTS, MOST_SIZES] = [4, 2];

/** In words: "ids 1x9, mask 1x9"; null where nothing is made up, or nothing is open. */
export async function madeUpSizes(data: DatasetRef): Promise<string | null> {
  const { signature = [], shapes = {} } = data.random ?? {};
  const open = signature.filter(({ name, shape }) =>
    shape?.some((dim, axis) => typeof dim !== "number" && shapes[name]?.[axis] == null),
  );
  if (open.length === 0) return null;
  const sizes = new Map(open.map(({ name }) => [name, new Set<string>()]));
  const dataset = await openDatasetRef(data);
  for await (const { feeds } of dataset.samples()) {
    for (const [name, found] of sizes) found.add(feeds.get(name)!.dims.join("x"));
  }
  const told = [...sizes].slice(0, MOST_INPUTS).map(([name, found]) => {
    const more = found.size > MOST_SIZES ? ", ..." : "";
    return `${name} ${[...found].slice(0, MOST_SIZES).join(", ")}${more}`;
  });
  const left = sizes.size - told.length;
  return `${told.join("; ")}${left > 0 ? ` and ${left} more` : ""}`;
}
