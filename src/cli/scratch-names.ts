/** What models of the scratch folder are called in errors. */
import { resolve } from "node:path";

/**
 * @param given models of the command, as they were given
 * @param origins what is known of single files; whole paths of models become what was given
 */
export function scratchNames(given: readonly string[], origins: ReadonlyMap<string, string>): (path: string) => string {
  // Of several models nobody knows which one it was.
  const made = given.length === 1 ? `what was made of ${given[0]!}` : "a model made for this run";
  const asGiven = (text: string): string => given.reduce((told, path) => told.replace(resolve(path), () => path), text);
  return (path) => asGiven(origins.get(path) ?? made);
}
