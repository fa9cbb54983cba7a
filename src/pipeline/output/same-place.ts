import { existsSync, realpathSync } from "node:fs";

/**
 * Whether two paths lead to one name of a file, however they are spelled, or linked by name. What is written to the one is then
 * read from the other: a file that is written whole replaces a name, and another hard link to what was there keeps it.
 */
export const isSamePlace = (a: string, b: string): boolean =>
  existsSync(a) && existsSync(b) && realpathSync(a) === realpathSync(b);
