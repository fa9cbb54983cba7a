/** Whether somebody meant another file of the same folder: the name is mistyped, or short of its ending. */
import { readdirSync } from "node:fs";
import { basename, dirname, join, parse } from "node:path";
import { likelyName } from "./nearest.js";

const MOST_LOOKED_AT = 1000;

/** Its path, or null where nothing is like it or the folder cannot be looked into. */
export function nearbyFile(path: string): string | null {
  let names: string[];
  try {
    names = readdirSync(dirname(path));
  } catch (error) {
    // What is wrong with the folder is told by whoever reads the file.
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return null;
  }
  // What ends alike is alike in that already: only what stands before counts.
  const { name: wanted, ext } = parse(path);
  const stems = new Map(
    names
      // A link to nothing is there by name only.
      .filter((name) => name !== basename(path))
      .slice(0, MOST_LOOKED_AT)
      .map((name) => [name, parse(name)] as const)
      .filter(([, parts]) => ext === "" || parts.ext === ext)
      .map(([name, parts]) => [parts.name, name] as const),
  );
  const likely = likelyName(wanted, stems.keys());
  return likely === null ? null : join(dirname(path), stems.get(likely)!);
}
