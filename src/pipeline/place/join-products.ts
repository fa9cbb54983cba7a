/**
 * Makes one product of two where nothing stands between them, for static integers alone: what is between is no longer
 * rounded to 8 bits. The float model would be slower by it, so the joined model is for those candidates only, and
 * only where its products do become integers.
 */
import { loadModel, nodesWithin } from "../../ir/index.js";
import { recipes } from "../../passes/catalog.js";
import { type AnyPass, runPasses } from "../../rewrite/index.js";
import type { CorrectionFacts } from "../correct/correction-facts.js";
import { draftModel, type Prepared } from "../prepare/prepare.js";
import type { PrepareRequest } from "../prepare/prepare-request.js";
import { throughBoth } from "../prepare/provenance.js";
import type { RunRecord } from "../run-record.js";

export interface Joined {
  readonly prepared: Prepared;
  /** The same once it was compared with the original; null where it is wrong. */
  ifRight(): Promise<Prepared | null>;
  /** Names of the nodes that two or more became. */
  readonly nodes: ReadonlySet<string>;
  /** Those between products that are no more. */
  readonly tensors: number;
}

/**
 * @param request what `prepared` was made by
 * @param isProven whether joins that turn out to be wrong are found and left out here
 * @returns null where there is nothing to join, or a check has undone it
 */
export async function joinProducts(
  prepared: Prepared,
  request: PrepareRequest,
  record: RunRecord,
  isProven: boolean,
): Promise<Joined | null> {
  const { skip, only } = request.graph;
  const passes = recipes.integers.filter(({ name }) => !skip.includes(name));
  if (only.length > 0 || passes.length === 0) return null;
  if (!(await appliesAnywhere(passes, prepared.path, record))) return null;
  const draft = await record.stage(
    "fuse",
    () =>
      draftModel(
        {
          ...request,
          model: prepared.path,
          baseline: request.model,
          recipe: "integers",
          graph: { ...request.graph, keepOpset: true },
        },
        record.context,
      ),
    "products in a row",
  );
  const joined = isProven ? await draft.prove() : draft.prepared;
  const present = new Set([...nodesWithin(joined.model.graph)].map(({ name }) => name));
  const sites = [...joined.appliedAt.values()].flat();
  // What was joined may have been joined again, under another name.
  const nodes = new Set(sites.filter((name) => present.has(name)));
  if (nodes.size === 0) return null;
  const withEarlier = (own: Prepared): Prepared => ({
    ...own,
    passes: [...prepared.passes, ...own.passes],
    provenance: throughBoth(prepared.provenance, own.provenance),
    unfused: prepared.unfused,
    warnings: [...new Set([...prepared.warnings, ...own.warnings])],
  });
  const ifRight = async (): Promise<Prepared | null> => {
    const own = isProven ? joined : await draft.ifRight();
    return own && withEarlier(own);
  };
  return { prepared: withEarlier(joined), ifRight, nodes, tensors: sites.length };
}

/** Before anything is run for it: most models have nothing to join. */
async function appliesAnywhere(passes: readonly AnyPass[], path: string, { context }: RunRecord): Promise<boolean> {
  const maxApplications = new Map(passes.map(({ name }) => [name, 1]));
  const reports = await runPasses(loadModel(path), passes, { maxApplications, signal: context.signal });
  return reports.some(({ applied }) => applied > 0);
}

export function joinFacts({ tensors }: Joined): CorrectionFacts {
  const detail = `${tensors} ${tensors === 1 ? "tensor" : "tensors"} less between products`;
  return { correction: "join", isKept: true, detail, beforeDb: null, afterDb: null };
}
