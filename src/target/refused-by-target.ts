import type { Model } from "../ir/index.js";
import { requireTarget } from "./find-target.js";
import { violationsOf } from "./violations.js";

/** What a result still has that its target refuses, in a sentence; null when there is nothing, or no target was named. */
export function refusedByTarget(model: Model, name: string | undefined): string | null {
  if (name === undefined) return null;
  const target = requireTarget(name);
  const [first, ...more] = violationsOf(model, target).filter(({ weight }) => weight === "refused");
  if (!first) return null;
  const where = first.node === null ? "" : `${first.op} node ${first.node}: `;
  const others = more.length === 0 ? "" : ` (and ${more.length} more; \`inspect --target ${name}\` lists them)`;
  return `${target.title} does not take the result: ${where}${first.reason}${others}`;
}
