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
  /** Sorted by name; one that occurs twice is squared. */
  readonly atoms: readonly Atom[];
}

/** Atoms of one name are the same size, and made in the same way. */
export interface Atom {
  readonly name: string;
  /** What a quotient by a number, rounded down, is made of. */
  readonly quotient?: { readonly of: Size; readonly by: number };
  /** How many elements were asked for, where it is what the start of a table of two or more gave. */
  readonly tableEnd?: Size;
}

const MAX_TERMS = 12;

const NO_FLOORS: ReadonlyMap<string, number> = new Map();

/** Atoms that may be negative start with this. */
const SIGNED = "±";

/** The size called `name`, which is never negative. */
export const atom = (name: string, made: Omit<Atom, "name"> = {}): Size =>
  polynomialOf([{ factor: 1, atoms: [{ name, ...made }] }])!;

/** The atom that a size is, and nothing else. */
function atomOf(size: Size): Atom | null {
  const [term, ...others] = termsOf(size);
  const [only, ...factors] = term?.atoms ?? [];
  return others.length === 0 && factors.length === 0 && term?.factor === 1 && only ? only : null;
}

/** Of a size that is what the start of a table gave: how many elements were asked for. */
export const endOfTable = (size: Size): Size | undefined => atomOf(size)?.tableEnd;

/** The atom of the size that the model calls `symbol`. */
export const atomNamed = (symbol: string): string => JSON.stringify(symbol);

/** The size that the model calls `symbol`. */
export const named = (symbol: string): Size => atom(atomNamed(symbol));

/** What the model calls a size; null when it has no name for it. */
export function symbolOf(size: Size): string | null {
  const name = atomOf(size)?.name;
  return name?.startsWith('"') ? (JSON.parse(name) as string) : null;
}

export const keyOf = (size: Size): string => (typeof size === "number" ? `${size}` : size.key);

export const areSame = (a: Size | null | undefined, b: Size | null | undefined): boolean =>
  a != null && b != null && keyOf(a) === keyOf(b);

export function add(a: Size, b: Size): Size | null {
  if (b === 0) return a;
  return polynomialOf([...termsOf(a), ...termsOf(b)]);
}

export const subtract = (a: Size, b: Size): Size | null => {
  const negative = multiply(b, -1);
  return negative === null ? null : add(a, negative);
};

export const multiply = (a: Size, b: Size): Size | null =>
  polynomialOf(
    termsOf(a).flatMap((one) =>
      termsOf(b).map((other) => ({
        factor: one.factor * other.factor,
        atoms: [...one.atoms, ...other.atoms].sort((x, y) => (x.name < y.name ? -1 : x.name > y.name ? 1 : 0)),
      })),
    ),
  );

/**
 * The quotient rounded down. A divisor is never zero where a model runs.
 * @param truncates the quotient is rounded towards zero instead: null where that may be another one
 * @param floors of atoms that are known to be more than 0
 */
export function divide(
  a: Size,
  b: Size,
  truncates = false,
  floors: ReadonlyMap<string, number> = NO_FLOORS,
): Size | null {
  if (b === 1) return a;
  const exact = quotient(a, b);
  if (exact !== null) return exact;
  if (!isNonNegative(b) || b === 0 || (truncates && (leastOf(a, floors) ?? -1) < 0)) return null;
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

function rounded(a: Size, b: Size): Size {
  if (typeof a === "number" && typeof b === "number") return Math.floor(a / b);
  const [dividend, divisor] = (typeof b === "number" && b > 0 && nested(a, b)) || [a, b];
  const name = `${isNonNegative(dividend) ? "" : SIGNED}[${keyOf(dividend)}/${keyOf(divisor)}]`;
  return atom(name, typeof divisor === "number" && divisor > 0 ? { quotient: { of: dividend, by: divisor } } : {});
}

/** Rounded down twice is rounded down once: (x / m + c) / n = (x + c * m) / (m * n). */
function nested(a: Size, n: number): readonly [Size, number] | null {
  const terms = termsOf(a);
  const inner = terms.find(({ factor, atoms }) => factor === 1 && atoms.length === 1 && atoms[0]!.quotient);
  const added = terms.filter((term) => term !== inner);
  if (!inner || added.some(({ atoms }) => atoms.length > 0)) return null;
  const { of, by } = inner.atoms[0]!.quotient!;
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
      const at = left.findIndex(({ name }) => name === each.name);
      if (at < 0) return null;
      left.splice(at, 1);
    }
    terms.push({ factor: factor / divisor.factor, atoms: left });
  }
  return polynomialOf(terms);
}

export const isNonNegative = (size: Size): boolean =>
  termsOf(size).every(({ factor, atoms }) => factor >= 0 && atoms.every(({ name }) => !name.startsWith(SIGNED)));

/**
 * No smaller number than this is what a size can be; null when that is not known.
 * @param floors of atoms that are known to be more than 0
 */
export function leastOf(size: Size, floors: ReadonlyMap<string, number>): number | null {
  let sum = 0;
  for (const { factor, atoms } of termsOf(size)) {
    let product = 1;
    for (const each of atoms) {
      const least = leastOfAtom(each, floors);
      if (least === null || least < 0 || factor < 0) return null;
      product *= least;
    }
    sum += factor * product;
  }
  return sum;
}

function leastOfAtom({ name, quotient: made }: Atom, floors: ReadonlyMap<string, number>): number | null {
  const floor = floors.get(name);
  if (floor !== undefined) return floor;
  const least = made ? leastOf(made.of, floors) : null;
  if (made && least !== null) return Math.floor(least / made.by);
  return name.startsWith(SIGNED) ? null : 0;
}

/** Something else that follows from sizes: equal wherever its name and they are. */
export const derived = (name: string, ...from: readonly Size[]): Size => atom(derivedName(name, from));

/** The number of elements that `0:end` takes of a table with `size` of them. */
export const startOfTable = (size: number, end: Size): Size =>
  atom(derivedName("slice 1", [size, 0, end]), { tableEnd: end });

const derivedName = (name: string, from: readonly Size[]): string =>
  `${from.every(isNonNegative) ? "" : SIGNED}${name}(${from.map(keyOf).join(", ")})`;

/** What a size is the sum of. */
export const termsOf = (size: Size): readonly Term[] =>
  typeof size === "number" ? (size === 0 ? [] : [{ factor: size, atoms: [] }]) : size.terms;

/** Like terms taken together; null when that gets too long or too large to be exact. */
function polynomialOf(terms: readonly Term[]): Size | null {
  const byAtoms = new Map<string, Term>();
  for (const term of terms) {
    const key = term.atoms.map(({ name }) => name).join("*");
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
