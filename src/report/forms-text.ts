import type { QuantizationFacts } from "../pipeline/result.js";
import { count } from "./numbers.js";

/** How many nodes have each form, where they differ: "30 static, 6 weights8". */
export function formsText({ forms = [] }: QuantizationFacts): string {
  const counts = new Map<string, number>();
  for (const { form } of forms) counts.set(form, (counts.get(form) ?? 0) + 1);
  if (counts.size < 2) return "";
  return [...counts].map(([form, nodes]) => `${count(nodes)} ${form}`).join(", ");
}
