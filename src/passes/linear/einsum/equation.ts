/** What an Einsum adds up, by the letters of its equation. */
import type { Value } from "../../../ir/index.js";
import type { Label } from "../labelled.js";

/** Labels are its letters, and numbers that stand for axes of "...", counted from the back. */
export interface Equation {
  /** Labels of the axes of each operand. */
  readonly terms: readonly (readonly Label[])[];
  readonly output: readonly Label[];
}

const ELLIPSIS = "...";

/**
 * The equation with a label for every axis; null where it is malformed, an operand's rank is unknown or another, or
 * an operand has a letter twice, which takes a diagonal out of it.
 * Letters and the implicit output as in https://onnx.ai/onnx/operators/onnx__Einsum.html.
 */
export function readEquation(text: string, operands: readonly Value[]): Equation | null {
  const [inputs, result, ...more] = text.replace(/\s/g, "").split("->");
  const given = inputs!.split(",");
  if (more.length > 0 || given.length !== operands.length) return null;
  const terms: Label[][] = [];
  for (const [i, term] of given.entries()) {
    const labels = labelsOf(term, operands[i]!.shape?.length ?? -1);
    if (!labels || new Set(labels).size < labels.length) return null;
    terms.push(labels);
  }
  const known = new Set(terms.flat());
  const broadcast = [...known].filter(isOfEllipsis).sort((a, b) => Number(b) - Number(a));
  const output = result === undefined ? implicitOutput(terms, broadcast) : spelledOut(result, broadcast);
  if (!output || new Set(output).size < output.length || !output.every((label) => known.has(label))) return null;
  // Axes of "..." that the output does not tell are nowhere defined.
  return broadcast.every((label) => output.includes(label)) ? { terms, output } : null;
}

/** Labels of a term for a tensor of this rank. */
function labelsOf(term: string, rank: number): Label[] | null {
  const unnamed = rank - term.replace(ELLIPSIS, "").length;
  if (unnamed < 0 || (unnamed > 0 && !term.includes(ELLIPSIS))) return null;
  return spelledOut(
    term,
    Array.from({ length: unnamed }, (_, i) => String(unnamed - i)),
  );
}

/** With these labels for "..."; null where there is anything but letters beside. */
function spelledOut(term: string, broadcast: readonly Label[]): Label[] | null {
  const parts = term.split(ELLIPSIS);
  if (parts.length > 2 || !/^[a-zA-Z]*$/.test(parts.join(""))) return null;
  return parts.length === 1 ? [...term] : [...parts[0]!, ...broadcast, ...parts[1]!];
}

const isOfEllipsis = (label: Label): boolean => /^\d+$/.test(label);

/**
 * Axes of "...", and letters that occur once in the order of the alphabet; null where upper case would have a place in it, which is
 * nowhere defined.
 */
function implicitOutput(terms: readonly (readonly Label[])[], broadcast: readonly Label[]): Label[] | null {
  const letters = terms.flat().filter((label) => !isOfEllipsis(label));
  const once = letters.filter((label) => letters.indexOf(label) === letters.lastIndexOf(label));
  return once.every((label) => label >= "a") ? [...broadcast, ...once.sort()] : null;
}
