/**
 * Sizes that no tensor has, as sums of products of sizes that some have, several at a time:
 *
 *   [h - 4 * (h / 4) + 1, w - 4 * (w / 4) + 1]  =  Shape(x)[2:4] - 4 * Shape(y)[2:4] + 1
 */
import type { Value } from "../../ir/index.js";
import { multiply, type Size, subtract, type Term, termsOf } from "./size.js";
import type { SizeFacts } from "./size-rules.js";

/** The sizes of some axes of a tensor. */
export interface AxisRun {
  readonly kind: "axes";
  readonly of: Value;
  readonly start: number;
  readonly end: number;
}

export interface ShapeSum {
  readonly kind: "sum";
  /** Positive ones first. */
  readonly terms: readonly { readonly factor: number; readonly runs: readonly AxisRun[] }[];
  /** What is added in the end, one for each size. */
  readonly constants: readonly number[];
  /** How many nodes that takes, without those that read the sizes. */
  readonly nodeCount: number;
}

/** Axes by the atom that their sizes are made of, which atomWithin says. */
type Sources = ReadonlyMap<string, readonly { value: Value; axis: number }[]>;

const MOST_TERMS = 3;

/** The longest stretch from the first of `elements` on that one sum gives; null when there is none. */
export function sumOfSources(elements: readonly Size[], sources: Sources, facts: SizeFacts): ShapeSum | null {
  const terms = termsOf(elements[0]!).filter(({ atoms }) => atoms.length > 0);
  if (terms.length === 0 || terms.length > MOST_TERMS) return null;
  terms.sort((a, b) => b.factor - a.factor);
  for (let length = elements.length; length > 0; length--) {
    const found = sumOfLength(elements.slice(0, length), terms, sources, facts);
    if (found) return found;
  }
  return null;
}

function sumOfLength(
  elements: readonly Size[],
  terms: readonly Term[],
  sources: Sources,
  { shapeOf }: SizeFacts,
): ShapeSum | null {
  const runs = terms.map(({ atoms }) =>
    atoms.map(({ name }): AxisRun | null => {
      const found = sources
        .get(name)
        ?.find(({ value, axis }) => elements.every((element, i) => isPartOf(shapeOf(value)?.[axis + i], element)));
      return found ? { kind: "axes", of: found.value, start: found.axis, end: found.axis + elements.length } : null;
    }),
  );
  if (runs.some((factors) => factors.includes(null))) return null;
  const parts = terms.map(({ factor }, i) => ({ factor, runs: runs[i] as AxisRun[] }));
  const constants = elements.map((element, i) => {
    let rest: Size | null = element;
    for (const { factor, runs } of parts) {
      const product = runs.reduce<Size | null>(
        (all, { of, start }) => all && multiply(all, shapeOf(of)![start + i]!),
        factor,
      );
      rest = rest !== null && product !== null ? subtract(rest, product) : null;
    }
    return rest;
  });
  if (!constants.every((rest) => typeof rest === "number")) return null;
  const additions = parts.length - 1 + (constants.some((number) => number !== 0) ? 1 : 0);
  const products = parts.reduce((sum, { factor, runs }, i) => {
    const isScaled = (i === 0 ? factor : Math.abs(factor)) !== 1;
    return sum + runs.length - (isScaled ? 0 : 1);
  }, 0);
  return { kind: "sum", terms: parts, constants, nodeCount: additions + products };
}

/** The name of the atom of a size that is one, but for a number that is added. */
export function atomWithin(size: Size): string | null {
  const [term, ...others] = termsOf(size).filter(({ atoms }) => atoms.length > 0);
  return term?.factor === 1 && term.atoms.length === 1 && others.length === 0 ? term.atoms[0]!.name : null;
}

/** Whether the atom of a size is one of those of another. */
function isPartOf(size: Size | undefined, element: Size): boolean {
  const name = size === undefined ? null : atomWithin(size);
  return name !== null && termsOf(element).some(({ atoms }) => atoms.some((atom) => atom.name === name));
}
