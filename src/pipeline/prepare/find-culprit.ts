/** The pass that makes a result wrong, and the one of its rewrites that does, found by trying with fewer of them. */
import type { PrepareRequest } from "./prepare-request.js";

/** What one attempt to prepare a model is allowed to do. */
export interface Attempt {
  readonly raiseOpset: boolean;
  /** Passes to run, in catalog order. */
  readonly only: readonly string[];
  /** By pass: the number of its rewrites after which it stops. */
  readonly maxApplications?: ReadonlyMap<string, number>;
  /** See PrepareRequest. */
  readonly meanwhile?: PrepareRequest["meanwhile"];
}

export interface Trial {
  /** What is wrong with the result; null when it is right. */
  readonly violation: string | null;
  /** By pass: the nodes that it was applied to, in order. */
  readonly appliedAt: ReadonlyMap<string, readonly string[]>;
}

export interface Culprit {
  readonly pass: string;
  /** null when it is no single one. */
  readonly node: string | null;
  readonly reason: string;
}

type TryOut = (attempt: Attempt) => Promise<Trial>;

/**
 * The first pass whose work makes the result wrong, and the node at which it does.
 *
 * @param attempt one that goes wrong, and without any pass does not
 * @param wrong in what way
 */
export async function findCulprit(
  { raiseOpset, only: passes }: Attempt,
  wrong: string,
  tryOut: TryOut,
): Promise<Culprit> {
  // Invariant: the first `good` passes are right, the first `bad` are wrong.
  let good = 0;
  let bad = passes.length;
  let reason = wrong;
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    const { violation } = await tryOut({ raiseOpset, only: passes.slice(0, middle) });
    if (violation === null) good = middle;
    else {
      bad = middle;
      reason = violation;
    }
  }
  const only = passes.slice(0, bad);
  const pass = only.at(-1)!;
  return { pass, node: await findSite(pass, { raiseOpset, only }, tryOut), reason };
}

/** The node at which the work of a pass becomes wrong. */
async function findSite(pass: string, attempt: Attempt, tryOut: TryOut): Promise<string | null> {
  const sites = (await tryOut(attempt)).appliedAt.get(pass) ?? [];
  let right = 0;
  let wrong = sites.length;
  while (wrong - right > 1) {
    const middle = (right + wrong) >> 1;
    const { violation } = await tryOut({ ...attempt, maxApplications: new Map([[pass, middle]]) });
    if (violation === null) right = middle;
    else wrong = middle;
  }
  return sites[wrong - 1] ?? null;
}
