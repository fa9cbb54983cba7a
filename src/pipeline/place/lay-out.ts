/**
 * What is settled about integers before the long work: products joined, and what stays float. It is settled on
 * the model as the passes left it; whether that is right is asked once, of the model that is gone on with.
 */
import type { Draft, Prepared } from "../prepare/prepare.js";
import type { PrepareRequest } from "../prepare/prepare-request.js";
import type { RunRecord } from "../run-record.js";
import type { EarlyPlacement } from "./early-placement.js";
import { type Joined, joinProducts } from "./join-products.js";

export interface LaidOut {
  readonly fused: Prepared;
  /** `fused`, or what was joined of it. */
  readonly prepared: Prepared;
  readonly joined: Joined | null;
  readonly early: EarlyPlacement;
}

export interface LayOutRequest {
  /** What the model was prepared by. */
  readonly request: PrepareRequest;
  readonly mayJoin: (fused: Prepared) => boolean;
  /** Nothing is placed where one of `integers`, the names of nodes, were better left in float. */
  readonly place: (prepared: Prepared, integers?: ReadonlySet<string>) => Promise<EarlyPlacement>;
  readonly record: RunRecord;
}

export async function layOut(fused: Prepared, asked: LayOutRequest, isProven = true): Promise<LaidOut> {
  const { request, mayJoin, place, record } = asked;
  const joined = mayJoin(fused) ? await joinProducts(fused, request, record, isProven) : null;
  if (joined) {
    // As floats, two products are faster than the one.
    const early = await place(joined.prepared, joined.nodes);
    if (early.placed !== null) return { fused, prepared: joined.prepared, joined, early };
  }
  return { fused, prepared: fused, joined: null, early: await place(fused) };
}

/**
 * The same of a model that was not compared with the original yet; what comes back is proven. Where products were joined the
 * float model is compared apart only if it `isWanted` itself.
 */
export async function layOutDraft(draft: Draft, asked: LayOutRequest, isWanted: boolean): Promise<LaidOut> {
  const laid = await layOut(draft.prepared, asked, false);
  const { joined } = laid;
  const prove = async (): Promise<LaidOut | null> => {
    const prepared = joined ? await joined.ifRight() : null;
    if (joined && !prepared) return null;
    const fused = joined && !isWanted ? laid.fused : await draft.ifRight();
    return fused && { ...laid, fused, prepared: prepared ?? fused };
  };
  const proven = await asked.record.stage("fuse", prove, "comparison with the original");
  return proven ?? layOut(await draft.prove(), asked);
}
