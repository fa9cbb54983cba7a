/** `--require-ep cuda>=95%`: how many of the executed nodes have to be on a provider. */
import { InferOptError } from "../../base/errors.js";
import type { NodeProfile } from "../../runtime/node-profile.js";
import type { ModelFacts } from "../result.js";

export interface RequiredShare {
  readonly provider: string;
  /** 0 to 1, of the nodes. */
  readonly share: number;
}

/** Throws PROVIDER_SHARE for the first that a model misses. */
export function requireShare(
  required: readonly RequiredShare[],
  models: readonly { readonly model: ModelFacts; readonly profile: NodeProfile }[],
): void {
  for (const { provider, share } of required) {
    for (const { model, profile } of models) {
      const { steps: nodes } = profile;
      const elsewhere = nodes.filter((node) => node.provider !== provider);
      const reached = nodes.length === 0 ? 0 : 1 - elsewhere.length / nodes.length;
      if (reached >= share) continue;
      const ops = [...new Set(elsewhere.map(({ op, provider: used }) => `${op} on ${used}`))];
      throw new InferOptError(
        "PROVIDER_SHARE",
        "runtime",
        `${nodes.length - elsewhere.length} of ${nodes.length} nodes of ${model.path} ran on ${provider}, which is ${(100 * reached).toFixed(1)} % and not ${100 * share} %: ${ops.slice(0, MOST_NAMED).join(", ")}`,
        {
          hint: `Export those operators in a form or type that ${provider} takes, or ask for less.`,
          fields: { model: model.path, provider, wanted: share, got: reached, elsewhere: ops },
        },
      );
    }
  }
}

const MOST_NAMED = 6;
