import { type Form, storedBitsOf } from "../pipeline/forms.js";
import type { QuantizationFacts } from "../pipeline/result.js";
import { count, plural } from "./numbers.js";

/** How many nodes have each form, where they differ in more than `nodesText` says: "30 static, 6 dynamic". */
export function formsText({ forms = [] }: QuantizationFacts): string {
  const counts = new Map<Form, number>();
  for (const { form } of forms) counts.set(form, (counts.get(form) ?? 0) + 1);
  const stored = [...counts.keys()].filter((form) => storedBitsOf(form) !== null);
  const isTold = new Set(stored.map(storedBitsOf)).size === stored.length;
  if (isTold && counts.size - stored.length < 2) return "";
  const said = [...counts].filter(([form]) => !isTold || storedBitsOf(form) === null);
  return said.map(([form, nodes]) => `${count(nodes)} ${FORM_WORDS[form]}`).join(", ");
}

const FORM_WORDS: Readonly<Record<Form, string>> = {
  float: "in float",
  static: "static",
  dynamic: "dynamic",
  dynamicRows: "dynamic by rows",
  weights16: "with 16-bit weights",
  weights8: "with 8-bit weights",
  blocks8: "with blocks of 8-bit weights",
  weights4: "with 4-bit weights",
};

/** How many nodes compute with integers, and of how many weights alone are: "30 nodes on integers, 6 with 8-bit weights". */
export function nodesText(quantization: QuantizationFacts): string {
  const { mode, nodes, between = 0, forms } = quantization;
  const stored = storedByBits(forms);
  // Results of earlier versions do not tell of each node.
  if (!stored) return `${plural(nodes, "node")} ${mode === "weights" ? "with integer weights" : "on integers"}`;
  const computing = nodes - storedNodes(quantization)!;
  const groups = [...stored].sort(([a], [b]) => a - b).map(([bits, of]) => [of, `with ${bits}-bit weights`] as const);
  const all = computing > 0 || groups.length === 0 ? [[computing, "on integers"] as const, ...groups] : groups;
  const isAmong = (what: string): boolean => what === "on integers" && between > 0;
  return all
    .map(([of, what], i) => {
      const many = i === 0 ? plural(of, "node") : count(of);
      return `${many} ${what}${isAmong(what) ? ` (${count(between)} of them between products)` : ""}`;
    })
    .join(", ");
}

/** Nodes of which weights alone are integers; null where nobody knows. */
export function storedNodes({ forms }: QuantizationFacts): number | null {
  const stored = storedByBits(forms);
  return stored && [...stored.values()].reduce((sum, each) => sum + each, 0);
}

function storedByBits(forms: QuantizationFacts["forms"]): ReadonlyMap<number, number> | null {
  if (!forms) return null;
  const stored = new Map<number, number>();
  for (const { form } of forms) {
    const bits = storedBitsOf(form);
    if (bits !== null) stored.set(bits, (stored.get(bits) ?? 0) + 1);
  }
  return stored;
}

const MOST_NAMED = 3;

/** What the runtime made of the integers, in a line: "97 of 98 nodes run on integers, 2 conversions; float: relu_7". */
export function integersText({ integers, saturable = 0, target }: QuantizationFacts): string[] {
  const lines: string[] = [];
  // Weights alone are widened: no node is meant to compute with integers.
  if (integers && integers.integer + integers.float.length > 0) {
    const { integer, float, conversions } = integers;
    const named = float.slice(0, MOST_NAMED).map(({ node, op }) => `${node} (${op})`);
    const more = float.length > MOST_NAMED ? `, and ${count(float.length - MOST_NAMED)} more` : "";
    const inFloat = float.length > 0 ? `; in float: ${named.join(", ")}${more}` : "";
    const all = `${count(integer)} of ${plural(integer + float.length, "node")}`;
    lines.push(`the runtime executes ${all} on integers, with ${plural(conversions, "conversion")}${inFloat}`);
  }
  if (saturable > 0 && target !== "ort-cpu-arm64" && target !== "ort-cpu-arm64-dot") {
    lines.push(
      `${plural(saturable, "node")} can saturate on x86 without VNNI: where it is to run there, add --target ort-cpu-avx2`,
    );
  }
  return lines;
}
