/**
 * Sizes that are not known but can be reckoned with: polynomials with whole coefficients
 * over atoms. An atom is the size of an axis, or a quotient that cannot be taken apart.
 *
 *   N * 4 / N = 4      (h + 6) / 2 = h / 2 + 3      N - N = 0      h / 2 / 2 = h / 4
 */

/** A number when it is one. Two sizes are surely equal when their keys are. */
export type Size = number | Polynomial;

export interface Polynomial {
  readonly terms: readonly Term[];
  readonly key: string;
}

export interface Term {
  readonly factor: number;
  /** Sorted; one that occurs twice is squared. */
  readonly atoms: readonly string[];
}

const MAX_TERMS = 12;

/** Atoms that may be negative start with this. */
const SIGNED = "±";

/** The size called `name`, which is never negative. */
export const atom = (name: string): Size => polynomialOf([{ factor: 1, atoms: [name] }])!;

/** The size that the model calls `symbol`. */
export const named = (symbol: string): Size => atom(JSON.stringify(symbol));

/** What the model calls a size; null when it has no name for it. */
export function symbolOf(size: Size): string | null {
  const [term, ...others] = termsOf(size);
  const [only, ...factors] = term?.atoms ?? [];
  if (others.length > 0 || factors.length > 0 || term?.factor !== 1 || !only?.startsWith('"')) return null;
  return JSON.parse(only) as string;
}

export const keyOf = (size: Size): string => (typeof size === "number" ? `${size}` : size.key);

export const areSame = (a: Size | null | undefined, b: Size | null | undefined): boolean =>
  a != null && b != null && keyOf(a) === keyOf(b);

export const add = (a: Size, b: Size): Size | null => polynomialOf([...termsOf(a), ...termsOf(b)]);

export const subtract = (a: Size, b: Size): Size | null => {
  const negative = multiply(b, -1);
  return negative === null ? null : add(a, negative);
};

export const multiply = (a: Size, b: Size): Size | null =>
  polynomialOf(
    termsOf(a).flatMap((one) =>
      termsOf(b).map((other) => ({
        factor: one.factor * other.factor,
        atoms: [...one.atoms, ...other.atoms].sort(),
      })),
    ),
  );

/**
 * The quotient rounded down. A divisor is never zero where a model runs.
 * @param truncates the quotient is rounded towards zero instead: null where that may be another one
 */
export function divide(a: Size, b: Size, truncates = false): Size | null {
  const exact = quotient(a, b);
  if (exact !== null) return exact;
  if (!isNonNegative(b) || b === 0 || (truncates && !isNonNegative(a))) return null;
  if (typeof b === "number") {
    if (typeof a === "number") return Math.floor(a / b);
    const terms = a.terms;
    // What the divisor divides comes out of the rounding.
    const whole = polynomialOf(
      terms.flatMap((term) => {
        const factor =
          term.atoms.length === 0 ? Math.floor(term.factor / b) : term.factor % b === 0 ? term.factor / b : 0;
        return factor === 0 ? [] : [{ ...term, factor }];
      }),
    );
    const times = whole === null ? null : multiply(whole, b);
    const rest = times === null ? null : subtract(a, times);
    return whole === null || rest === null ? null : add(whole, rounded(rest, b));
  }
  return rounded(a, b);
}

/** What atoms that are quotients by a number are made of: the same whoever asks. */
const quotients = new Map<string, { readonly of: Size; readonly by: number }>();

function rounded(a: Size, b: Size): Size {
  if (typeof a === "number" && typeof b === "number") return Math.floor(a / b);
  const [dividend, divisor] = (typeof b === "number" && b > 0 && nested(a, b)) || [a, b];
  const name = `${isNonNegative(dividend) ? "" : SIGNED}[${keyOf(dividend)}/${keyOf(divisor)}]`;
  if (typeof divisor === "number" && divisor > 0) quotients.set(name, { of: dividend, by: divisor });
  return atom(name);
}

/** Rounded down twice is rounded down once: (x / m + c) / n = (x + c * m) / (m * n). */
function nested(a: Size, n: number): readonly [Size, number] | null {
  const terms = termsOf(a);
  const inner = terms.find(({ factor, atoms }) => factor === 1 && atoms.length === 1 && quotients.has(atoms[0]!));
  const added = terms.filter((term) => term !== inner);
  if (!inner || added.some(({ atoms }) => atoms.length > 0)) return null;
  const { of, by } = quotients.get(inner.atoms[0]!)!;
  const dividend = add(of, added.reduce((sum, { factor }) => sum + factor, 0) * by);
  return dividend === null || typeof dividend === "number" || !Number.isSafeInteger(by * n) ? null : [dividend, by * n];
}

/** a / b where it leaves nothing. */
function quotient(a: Size, b: Size): Size | null {
  const divisors = termsOf(b);
  const [divisor] = divisors;
  if (divisors.length !== 1 || !divisor) return null;
  const terms: Term[] = [];
  for (const { factor, atoms } of termsOf(a)) {
    if (factor % divisor.factor !== 0) return null;
    const left = [...atoms];
    for (const each of divisor.atoms) {
      const at = left.indexOf(each);
      if (at < 0) return null;
      left.splice(at, 1);
    }
    terms.push({ factor: factor / divisor.factor, atoms: left });
  }
  return polynomialOf(terms);
}

export const isNonNegative = (size: Size): boolean =>
  termsOf(size).every(({ factor, atoms }) => factor >= 0 && atoms.every((each) => !each.startsWith(SIGNED)));

/** Something else that follows from sizes: equal wherever its name and they are. */
export const derived = (name: string, ...from: readonly Size[]): Size =>
  atom(`${from.every(isNonNegative) ? "" : SIGNED}${name}(${from.map(keyOf).join(", ")})`);

/** What a size is the sum of. */
export const termsOf = (size: Size): readonly Term[] =>
  typeof size === "number" ? (size === 0 ? [] : [{ factor: size, atoms: [] }]) : size.terms;

/** Like terms taken together; null when that gets too long or too large to be exact. */
function polynomialOf(terms: readonly Term[]): Size | null {
  const byAtoms = new Map<string, Term>();
  for (const term of terms) {
    const key = term.atoms.join("*");
    const held = byAtoms.get(key);
    byAtoms.set(key, held ? { ...held, factor: held.factor + term.factor } : term);
  }
  const kept = [...byAtoms].filter(([, { factor }]) => factor !== 0).sort(([a], [b]) => (a < b ? -1 : 1));
  if (kept.length > MAX_TERMS || kept.some(([, { factor }]) => !Number.isSafeInteger(factor))) return null;
  if (kept.length === 0) return 0;
  if (kept.length === 1 && kept[0]![0] === "") return kept[0]![1].factor;
  const key = kept.map(([atoms, { factor }]) => (atoms === "" ? `${factor}` : `${factor}*${atoms}`)).join("+");
  return { terms: kept.map(([, term]) => term), key };
}
